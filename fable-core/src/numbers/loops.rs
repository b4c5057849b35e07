//! The loops that take the time, as functions of this crate for each scalar.
//!
//! What is generic is compiled where it is used, with the settings of that crate. These are compiled here: firmware that is
//! optimized for size can have this crate optimized for speed, and pays for it with a few kilobytes.
//!
//! With the feature `dispatch` those that gain by it exist twice, once for processors with AVX2, and the first call finds out which
//! one it is. Both have the same bits: lanes do not mix, and nothing is fused.

use super::inverse::{self, Entries};
use super::kernel;
use super::normal::Stream;

/// What a posterior spends its time in.
pub trait Loops: Sized {
    /// [`kernel::sweep`]
    fn sweep<'w>(inverse: &mut [Self], columns: &mut [Self], w: &'w mut [Self], t: Self) -> (Self, &'w mut [Self]);
    /// [`kernel::back_solve`]
    fn back_solve(columns: &[Self], unknown: usize, x: &mut [Self]);
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
            fn sweep<'w>(inverse: &mut [Self], columns: &mut [Self], w: &'w mut [Self], t: Self) -> (Self, &'w mut [Self]) {
                #[cfg_attr(feature = "dispatch", multiversion::multiversion(targets("x86_64+avx2")))]
                fn widest<'w>(
                    e: &mut [$scalar],
                    l: &mut [$scalar],
                    w: &'w mut [$scalar],
                    t: $scalar,
                ) -> ($scalar, &'w mut [$scalar]) {
                    kernel::sweep(e, l, w, t)
                }
                widest(inverse, columns, w, t)
            }

            #[inline(never)]
            fn back_solve(columns: &[Self], unknown: usize, x: &mut [Self]) {
                kernel::back_solve(columns, unknown, x);
            }

            #[inline(never)]
            fn back_rows(columns: &[Self], length: usize, unknown: usize, x: &mut [Entries<Self>]) {
                #[cfg_attr(feature = "dispatch", multiversion::multiversion(targets("x86_64+avx2")))]
                fn widest(columns: &[$scalar], length: usize, unknown: usize, x: &mut [Entries<$scalar>]) {
                    inverse::back_rows(columns, length, unknown, x);
                }
                widest(columns, length, unknown, x);
            }

            #[inline(never)]
            fn normals(mut stream: Stream, out: &mut [Self]) {
                for x in out {
                    *x = stream.normal().into();
                }
            }

            #[inline(never)]
            fn spread(scale: Self, variances: &[Self], x: &mut [Self]) {
                #[cfg_attr(feature = "dispatch", multiversion::multiversion(targets("x86_64+avx2")))]
                fn widest(scale: $scalar, variances: &[$scalar], x: &mut [$scalar]) {
                    for (x, e) in x.iter_mut().zip(variances) {
                        *x *= scale * super::Number::root(*e);
                    }
                }
                widest(scale, variances, x);
            }
        }
    };
}

loops!(f32);
loops!(f64);

#[cfg(all(test, feature = "dispatch"))]
mod tests {
    use super::*;
    use crate::numbers::Number;
    use crate::numbers::inverse::ROWS;

    /// A factor of `n` columns, and what is swept through it, from a linear congruence.
    fn factor<T: Number>(n: usize) -> (Vec<T>, Vec<T>, Vec<T>) {
        let mut state = 1_u32;
        let mut next = move || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            T::from_f64(f64::from(state >> 8) / 16_777_216.0 - 0.5)
        };
        let columns = (0..n * (n + 1) / 2).map(|_| next()).collect();
        let inverse = (0..n).map(|_| T::ONE + next()).collect();
        (columns, inverse, (0..=n).map(|_| next()).collect())
    }

    fn bits<T: Number>(numbers: &[T]) -> Vec<u64> {
        numbers.iter().map(|number| number.bits()).collect()
    }

    /// What is chosen here, the clone for AVX2 where the processor has it, against the loop as this test is compiled.
    fn same_bits<T: Number>() {
        for n in [1, 2, 7, 8, 9, 29, 146] {
            let (columns, inverse, w) = factor::<T>(n);
            let (mut here, mut there) =
                ((columns.clone(), inverse.clone(), w.clone()), (columns.clone(), inverse.clone(), w.clone()));
            let (t, _) = T::sweep(&mut here.1, &mut here.0, &mut here.2, T::ONE);
            let (plain, _) = kernel::sweep(&mut there.1, &mut there.0, &mut there.2, T::ONE);
            assert_eq!((t.bits(), bits(&here.0), bits(&here.1)), (plain.bits(), bits(&there.0), bits(&there.1)), "{n}");
            assert_eq!(bits(&here.2), bits(&there.2), "{n}");

            let rows: Vec<Entries<T>> = w.iter().take(n).map(|x| [*x; ROWS]).collect();
            let (mut here, mut there) = (rows.clone(), rows);
            T::back_rows(&columns, n, n, &mut here);
            inverse::back_rows(&columns, n, n, &mut there);
            assert_eq!(bits(here.as_flattened()), bits(there.as_flattened()), "{n}");

            let mut here: Vec<T> = w.iter().take(n).copied().collect();
            T::spread(T::from_f64(0.3), &inverse, &mut here);
            let there: Vec<T> = w.iter().zip(&inverse).map(|(x, e)| *x * (T::from_f64(0.3) * e.root())).collect();
            assert_eq!(bits(&here), bits(&there), "{n}");
        }
    }

    #[test]
    fn clones_have_the_same_bits() {
        same_bits::<f32>();
        same_bits::<f64>();
    }
}
