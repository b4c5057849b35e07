//! Arrays of numpy's, taken as one block each: they are checked and copied once, before other threads of Python go on, since those may
//! write to them. numpy is imported when the first array comes.

use crate::fault::{Answer, Fault};
use numpy::{Element, PyArrayDyn, PyArrayMethods};
use pyo3::prelude::*;

/// The numbers of an array, row after row, and its shape.
pub struct Block<T> {
    pub numbers: Vec<T>,
    pub shape: Vec<usize>,
}

/// As an array of some kinds of numbers, in the letters of `dtype.kind`.
fn array<'py>(
    value: &Bound<'py, PyAny>,
    what: &str,
    kinds: &str,
    of: &str,
) -> Answer<(Bound<'py, PyAny>, char)> {
    let py = value.py();
    let numpy = py.import("numpy")?;
    let array = numpy.call_method1("asarray", (value,));
    let array =
        array.map_err(|error| Fault::of_value(error, py, format_args!("{what} must be an array of {of}")))?;
    let kind: char = array.getattr("dtype")?.getattr("kind")?.extract()?;
    if kinds.contains(kind) {
        Ok((array, kind))
    } else if array.getattr("size")?.extract::<usize>()? == 0 {
        Ok((array, kinds.chars().next().unwrap_or(kind))) // an empty list has no kind of its own
    } else {
        let dtype = array.getattr("dtype")?;
        Err(Fault::kind(format_args!("{what} must be an array of {of}, not of {dtype}")))
    }
}

/// One copy of an array in C order, in the type of the target.
fn block<T: Element + Copy>(array: &Bound<'_, PyAny>, dtype: &str) -> Answer<Block<T>> {
    let numpy = array.py().import("numpy")?;
    let shape = array.getattr("shape")?.extract()?;
    let contiguous = numpy.call_method1("require", (array, dtype, ["C_CONTIGUOUS", "ALIGNED"]))?;
    let contiguous = contiguous
        .cast_into::<PyArrayDyn<T>>()
        .map_err(|_| Fault::kind("this is not an array of numpy's"))?;
    let numbers = contiguous.to_vec().map_err(|_| Fault::internal("an array is not in one piece"))?;
    Ok(Block { numbers, shape })
}

/// Numbers in single precision.
pub fn singles(value: &Bound<'_, PyAny>, what: &str) -> Answer<Block<f32>> {
    let (array, _) = array(value, what, "fiu", "numbers")?;
    if array.getattr("dtype")?.getattr("itemsize")?.extract::<usize>()? == 4
        && array.getattr("dtype")?.eq("float32")?
    {
        return block(&array, "float32");
    }
    // Rounded here: numpy would warn of numbers that are too large.
    let Block { numbers, shape } = block::<f64>(&array, "float64")?;
    Ok(Block { numbers: numbers.into_iter().map(|number| number as f32).collect(), shape })
}

/// Numbers in double precision.
pub fn doubles(value: &Bound<'_, PyAny>, what: &str) -> Answer<Block<f64>> {
    block(&array(value, what, "fiu", "numbers")?.0, "float64")
}

/// Whole numbers; those that are too large are the largest.
pub fn wholes(value: &Bound<'_, PyAny>, what: &str) -> Answer<Block<i64>> {
    let (array, kind) = array(value, what, "iu", "whole numbers")?;
    if kind == 'i' {
        return block(&array, "int64");
    }
    let Block { numbers, shape } = block::<u64>(&array, "uint64")?;
    Ok(Block {
        numbers: numbers.into_iter().map(|number| i64::try_from(number).unwrap_or(i64::MAX)).collect(),
        shape,
    })
}

/// Truth values.
pub fn truths(value: &Bound<'_, PyAny>, what: &str) -> Answer<Block<bool>> {
    block(&array(value, what, "b", "truth values")?.0, "bool")
}

/// Positions below `count`: whole numbers, or where a mask of `count` truth values is true.
pub fn positions(value: &Bound<'_, PyAny>, what: &str, count: usize) -> Answer<Vec<usize>> {
    let (found, kind) = array(value, what, "iub", "whole numbers or truth values")?;
    if kind == 'b' {
        let Block { numbers, shape } = block::<bool>(&found, "bool")?;
        if shape != [count] {
            return Err(Fault::range(format_args!(
                "{what}, a mask, must have the shape ({count},), not {shape:?}"
            )));
        }
        return Ok((0..count)
            .zip(numbers)
            .filter(|(_, chosen)| *chosen)
            .map(|(position, _)| position)
            .collect());
    }
    let Block { numbers, shape } = wholes(&found, what)?;
    if shape.len() != 1 {
        return Err(Fault::range(format_args!("{what} must have one dimension, not the shape {shape:?}")));
    }
    let known = |number: i64| usize::try_from(number).ok().filter(|position| *position < count);
    let outside = |number| Fault::range(format_args!("{what} has {number}, and there are {count}"));
    numbers.into_iter().map(|number| known(number).ok_or_else(|| outside(number))).collect()
}
