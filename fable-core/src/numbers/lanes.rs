//! Arithmetic of several numbers at once: a vector where the processor has one, plain arithmetic elsewhere.
//!
//! The width of registers changes speed and not one bit. Lanes do not mix, nothing is fused, and [`Plain`]
//! and `Avx2` do the same operations.

#[cfg(all(feature = "dispatch", target_arch = "x86_64"))]
pub(crate) use fearless_simd::Avx2;

use super::Number;
use core::ops::{Add, Mul};

/// A way to compute with `N` numbers at once.
pub(crate) trait Lanes<T, const N: usize>: Copy {
    /// `N` numbers.
    type Vector: Copy + Add<Output = Self::Vector> + Mul<Output = Self::Vector>;

    fn load(self, numbers: &[T; N]) -> Self::Vector;
    fn splat(self, number: T) -> Self::Vector;
    fn store(self, vector: Self::Vector) -> [T; N];
    /// sum + a b, rounded after the product and after the sum.
    #[inline(always)]
    fn add_product(self, sum: Self::Vector, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        sum + a * b
    }
}

/// The registers that the target is known to have at compile time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plain;

macro_rules! lanes {
    ($($scalar:ident $count:literal $vector:ident)*) => {$(
        impl Lanes<$scalar, $count> for Plain {
            type Vector = wide::$vector;

            #[inline(always)]
            fn load(self, numbers: &[$scalar; $count]) -> Self::Vector {
                Self::Vector::new(*numbers)
            }
            #[inline(always)]
            fn splat(self, number: $scalar) -> Self::Vector {
                Self::Vector::splat(number)
            }
            #[inline(always)]
            fn store(self, vector: Self::Vector) -> [$scalar; $count] {
                vector.to_array()
            }
            #[cfg(fable_softfloat)]
            #[inline(always)]
            fn add_product(self, sum: Self::Vector, a: Self::Vector, b: Self::Vector) -> Self::Vector {
                let mut sums = sum.to_array();
                let a = a.to_array();
                let b = b.to_array();
                for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
                    *sum = sum.add_product(a, b);
                }
                Self::Vector::new(sums)
            }
        }

        #[cfg(all(feature = "dispatch", target_arch = "x86_64"))]
        impl Lanes<$scalar, $count> for Avx2 {
            type Vector = fearless_simd::$vector<Self>;

            #[inline(always)]
            fn load(self, numbers: &[$scalar; $count]) -> Self::Vector {
                fearless_simd::SimdFrom::simd_from(self, *numbers)
            }
            #[inline(always)]
            fn splat(self, number: $scalar) -> Self::Vector {
                fearless_simd::SimdFrom::simd_from(self, number)
            }
            #[inline(always)]
            fn store(self, vector: Self::Vector) -> [$scalar; $count] {
                vector.into()
            }
        }
    )*};
}

lanes! { f32 4 f32x4 f32 8 f32x8 f64 4 f64x4 f64 8 f64x8 }

macro_rules! single {
    ($($scalar:ident)*) => {$(
        /// Arithmetic of one number at a time.
        impl Lanes<$scalar, 1> for Plain {
            type Vector = $scalar;

            #[inline(always)]
            fn load(self, [number]: &[$scalar; 1]) -> $scalar {
                *number
            }
            #[inline(always)]
            fn splat(self, number: $scalar) -> $scalar {
                number
            }
            #[inline(always)]
            fn store(self, number: $scalar) -> [$scalar; 1] {
                [number]
            }
            #[inline(always)]
            fn add_product(self, sum: $scalar, a: $scalar, b: $scalar) -> $scalar {
                sum.add_product(a, b)
            }
        }
    )*};
}

single! { f32 f64 }

/// Runs an expression with the widest registers that the processor has: `widest!(v => f(v, x))`.
///
/// Functions in the expression are compiled for these registers only if they are `#[inline(always)]`.
#[cfg(all(feature = "dispatch", target_arch = "x86_64"))]
macro_rules! widest {
    ($v:ident => $call:expr) => {
        if let Some($v) = fearless_simd::Level::new().as_avx2() {
            fearless_simd::Simd::vectorize(
                $v,
                #[inline(always)]
                || $call,
            )
        } else {
            let $v = $crate::numbers::lanes::Plain;
            $call
        }
    };
}

/// Runs an expression with the registers that the target is known to have.
#[cfg(not(all(feature = "dispatch", target_arch = "x86_64")))]
macro_rules! widest {
    ($v:ident => $call:expr) => {{
        let $v = $crate::numbers::lanes::Plain;
        $call
    }};
}

pub(crate) use widest;
