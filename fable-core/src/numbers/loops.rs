//! The loops that take most of the time, as functions of this crate for each scalar.
//!
//! Generic code is compiled in the crate that uses it, with the settings of that crate. These loops are
//! compiled here. So firmware that is optimized for size can have this crate optimized for speed, for a few
//! kilobytes.
//!
//! With the feature `dispatch` each loop exists twice on x86-64, and the processor decides which one runs.
//! Both give the same bits.

use super::inverse::{self, Entries};
use super::kernel;
use super::lanes::widest;
use super::normal::Stream;
use super::number::Number;

/// The loops of a posterior.
pub trait Loops: Sized {
    /// [`kernel::sweep`]
    fn sweep<'w>(
        inverse: &mut [Self],
        columns: &mut [Self],
        w: &'w mut [Self],
        t: Self,
    ) -> (Self, &'w mut [Self]);
    /// [`kernel::forward`]
    fn forward<'w>(
        inverse: &[Self],
        columns: &[Self],
        w: &'w mut [Self],
        variance: Self,
    ) -> (Self, &'w mut [Self]);
    /// [`kernel::back_solve`]
    fn back_solve(columns: &[Self], unknown: usize, x: &mut [Self]);
    /// [`kernel::back_solve`] for two right-hand sides: a host reads the factor once for both.
    #[cfg(fable_host)]
    fn back_solve_both(columns: &[Self], unknown: usize, x: [&mut [Self]; 2]);
    /// [`inverse::back_rows`]
    fn back_rows(columns: &[Self], length: usize, unknown: usize, x: &mut [Entries<Self>]);
    /// Standard normals, one after the other.
    fn normals(stream: Stream, out: &mut [Self]);
    /// x *= scale sqrt(e)
    fn spread(scale: Self, variances: &[Self], x: &mut [Self]);
}

macro_rules! loops {
    ($scalar:ty) => {
        impl Loops for $scalar {
            #[inline(never)]
            fn sweep<'w>(
                inverse: &mut [Self],
                columns: &mut [Self],
                w: &'w mut [Self],
                t: Self,
            ) -> (Self, &'w mut [Self]) {
                widest!(v => kernel::sweep(v, inverse, columns, w, t))
            }

            #[inline(never)]
            fn forward<'w>(
                inverse: &[Self],
                columns: &[Self],
                w: &'w mut [Self],
                variance: Self,
            ) -> (Self, &'w mut [Self]) {
                widest!(v => kernel::forward(v, inverse, columns, w, variance))
            }

            #[inline(never)]
            fn back_solve(columns: &[Self], unknown: usize, x: &mut [Self]) {
                widest!(v => kernel::back_solve(v, columns, unknown, x));
            }

            #[cfg(fable_host)]
            #[inline(never)]
            fn back_solve_both(columns: &[Self], unknown: usize, x: [&mut [Self]; 2]) {
                widest!(v => kernel::back_solve_both(v, columns, unknown, x));
            }

            #[inline(never)]
            fn back_rows(columns: &[Self], length: usize, unknown: usize, x: &mut [Entries<Self>]) {
                widest!(v => inverse::back_rows(v, columns, length, unknown, x));
            }

            #[inline(never)]
            fn normals(mut stream: Stream, out: &mut [Self]) {
                for x in out {
                    *x = stream.normal().into();
                }
            }

            #[inline(never)]
            fn spread(scale: Self, variances: &[Self], x: &mut [Self]) {
                widest!(_v => spread(scale, variances, x));
            }
        }
    };
}

/// x *= scale sqrt(e)
#[cfg_attr(feature = "dispatch", inline(always))]
fn spread<T: Number>(scale: T, variances: &[T], x: &mut [T]) {
    for (x, e) in x.iter_mut().zip(variances) {
        *x = x.times(scale.times(e.root()));
    }
}

loops!(f32);
loops!(f64);

#[cfg(all(test, feature = "dispatch"))]
mod tests {
    use super::super::inverse::ROWS;
    use super::super::kernel::Vectors;
    use super::super::lanes::{Lanes, Plain};
    use super::*;

    /// A factor of `n` columns and the information row, 1/D, and a vector along them, from a linear
    /// congruence. Every third entry in the first half of the vector is zero.
    fn factor<T: Number>(n: usize) -> Case<T> {
        let mut state = 1_u32;
        let mut next = move || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            T::from_f64(f64::from(state >> 8) / 16_777_216.0 - 0.5)
        };
        let columns = (0..n * (n + 1) / 2).map(|_| next()).collect();
        let inverse = (0..n).map(|_| T::ONE + next()).collect();
        let w = (0..=n).map(|row| if row < n / 2 && row % 3 == 0 { T::ZERO } else { next() }).collect();
        Case { columns, inverse, w }
    }

    struct Case<T> {
        columns: Vec<T>,
        inverse: Vec<T>,
        w: Vec<T>,
    }

    fn bits<T: Number>(numbers: &[T]) -> Vec<u64> {
        numbers.iter().map(|number| number.bits()).collect()
    }

    /// The chosen loops, and the loops for AVX2 if the processor has it, against the plain loops.
    fn same_bits<T: Number>()
    where
        Plain: Vectors<T> + Lanes<T, ROWS>,
    {
        for n in (1..20).chain([29, 63, 64, 65, 134, 146]) {
            let Case { columns, inverse, w } = factor::<T>(n);
            let (mut here, mut there) = (
                (columns.clone(), inverse.clone(), w.clone()),
                (columns.clone(), inverse.clone(), w.clone()),
            );
            let (t, rest) = T::sweep(&mut here.1, &mut here.0, &mut here.2, T::ONE);
            let (plain, other) = kernel::sweep(Plain, &mut there.1, &mut there.0, &mut there.2, T::ONE);
            assert_eq!((t.bits(), bits(rest)), (plain.bits(), bits(other)), "{n}");
            assert_eq!((bits(&here.0), bits(&here.1)), (bits(&there.0), bits(&there.1)), "{n}");

            let (mut here, mut there) = (w.clone(), w.clone());
            let (variance, rest) = T::forward(&inverse, &columns, &mut here, T::ZERO);
            let (plain, other) = kernel::forward(Plain, &inverse, &columns, &mut there, T::ZERO);
            assert_eq!((variance.bits(), bits(rest)), (plain.bits(), bits(other)), "{n}");
            assert_eq!(bits(&here), bits(&there), "{n}");

            let (mut here, mut there) = (w.clone(), w.clone());
            T::back_solve(&columns, n, &mut here);
            kernel::back_solve(Plain, &columns, n, &mut there);
            assert_eq!(bits(&here), bits(&there), "{n}");
            let (mut first, mut second) = (inverse.clone(), w.clone());
            first.push(-T::ONE);
            let mut alone = first.clone();
            T::back_solve(&columns, n, &mut alone);
            T::back_solve_both(&columns, n, [&mut first, &mut second]);
            assert_eq!((bits(&first), bits(&second)), (bits(&alone), bits(&here)), "{n}");

            let rows: Vec<Entries<T>> = w.iter().take(n).map(|x| [*x; ROWS]).collect();
            let (mut here, mut there) = (rows.clone(), rows);
            T::back_rows(&columns, n, n, &mut here);
            inverse::back_rows(Plain, &columns, n, n, &mut there);
            assert_eq!(bits(here.as_flattened()), bits(there.as_flattened()), "{n}");

            let (mut here, mut there) = (w.clone(), w);
            T::spread(T::from_f64(0.3), &inverse, &mut here);
            there.iter_mut().zip(&inverse).for_each(|(x, e)| *x *= T::from_f64(0.3) * e.root());
            assert_eq!(bits(&here), bits(&there), "{n}");
        }
    }

    #[test]
    fn the_same_bits_on_every_processor() {
        same_bits::<f32>();
        same_bits::<f64>();
    }

    /// One column at a time, as in the recurrence: w -= p l, l += b w.
    #[test]
    fn columns_go_through_one_after_the_other() {
        for n in [1, 2, 3, 4, 5, 7, 8, 12, 17, 64, 146] {
            let Case { columns, inverse, w } = factor::<f32>(n);
            let mut swept = columns.clone();
            let mut e = inverse.clone();
            let mut x = w.clone();
            let (t, rest) = f32::sweep(&mut e, &mut swept, &mut x, 1.0);
            let mut l = columns;
            let mut d = inverse;
            let mut v = w;
            let mut grown = 1.0_f32;
            let mut start = 0;
            for column in 0..n {
                let p = v[column];
                if p != 0.0 {
                    let (before, f) = (grown, p * d[column]);
                    grown = before + p * f;
                    d[column] *= before / grown;
                    for (l, w) in l[start..start + n - column].iter_mut().zip(&mut v[column + 1..]) {
                        *w -= p * *l;
                        *l += f / grown * *w;
                    }
                }
                start += n - column;
            }
            assert_eq!((t.to_bits(), bits(rest)), (grown.to_bits(), bits(&v[n..])), "{n}");
            assert_eq!((bits(&swept), bits(&e)), (bits(&l), bits(&d)), "{n}");
        }
    }

    /// Pair after pair, as on devices. A column's sum is eight lanes of whole chunks from the far end, added
    /// up halving, then the remaining rows. The row of the same pair comes last.
    #[test]
    fn solves_go_through_pair_after_pair() {
        fn sum(column: &[f32], x: &[f32]) -> f32 {
            let whole = x.len() / 8 * 8;
            let (near, mut lanes) = (x.len() - whole, [0.0_f32; 8]);
            for row in (near..x.len()).step_by(8).rev() {
                for (lane, sum) in lanes.iter_mut().enumerate() {
                    *sum += column[row + lane] * x[row + lane];
                }
            }
            let [a, b, c, d, e, f, g, h] = lanes;
            let total = ((a + e) + (c + g)) + ((b + f) + (d + h));
            (0..near).rev().fold(total, |total, row| total + column[row] * x[row])
        }
        for n in (1..40).chain([64, 134, 146]) {
            for solved in 1..=n.min(18) {
                let Case { columns, w: x, .. } = factor::<f32>(n);
                // The last columns are solved already.
                let unknown = n + 1 - solved;
                let starts: Vec<usize> =
                    (0..n).map(|column| column * n - column * (column + 1) / 2 + column).collect();
                let used = &columns[..starts.get(unknown).copied().unwrap_or(columns.len())];
                let (mut here, mut there) = (x.clone(), x);
                f32::back_solve(used, unknown, &mut here);
                let mut left = unknown;
                while left > 0 {
                    let c2 = &columns[starts[left - 1]..];
                    let sum_2 = sum(c2, &there[left..]);
                    if left == 1 {
                        there[0] -= sum_2;
                        break;
                    }
                    let c1 = &columns[starts[left - 2]..];
                    let sum_1 = sum(&c1[1..], &there[left..]);
                    there[left - 1] -= sum_2;
                    there[left - 2] = (there[left - 2] - sum_1) - c1[0] * there[left - 1];
                    left -= 2;
                }
                assert_eq!(bits(&here), bits(&there), "{n} {solved}");
            }
        }
    }
}
