//! The loops that take the time, as functions of this crate for each scalar.
//!
//! What is generic is compiled where it is used, with the settings of that crate. These are compiled here: firmware that is
//! optimized for size can have this crate optimized for speed, and pays for it with a few kilobytes.

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
                kernel::sweep(inverse, columns, w, t)
            }

            #[inline(never)]
            fn back_solve(columns: &[Self], unknown: usize, x: &mut [Self]) {
                kernel::back_solve(columns, unknown, x);
            }

            #[inline(never)]
            fn back_rows(columns: &[Self], length: usize, unknown: usize, x: &mut [Entries<Self>]) {
                inverse::back_rows(columns, length, unknown, x);
            }

            #[inline(never)]
            fn normals(mut stream: Stream, out: &mut [Self]) {
                for x in out {
                    *x = stream.normal().into();
                }
            }

            #[inline(never)]
            fn spread(scale: Self, variances: &[Self], x: &mut [Self]) {
                for (x, e) in x.iter_mut().zip(variances) {
                    *x *= scale * super::Number::root(*e);
                }
            }
        }
    };
}

loops!(f32);
loops!(f64);
