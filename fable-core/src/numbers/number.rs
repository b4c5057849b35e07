//! The two number types of a posterior.
//!
//! [`Number`] is sealed: `f32` is for devices, `f64` for hosts that want the extra digits. Only operations
//! that IEEE 754 defines to the last bit are used, `+ - * /` and comparisons, never a fused multiply-add.
//! Transcendental functions come from `libm`. So every target with IEEE 754 single and double precision gives
//! the same bits.
//!
//! ```
//! fn rounded<T: fable_core::Scalar>(number: f64) -> f64 {
//!     T::from_f64(number).to_f64() // rounded once, widened exactly
//! }
//! assert_eq!(rounded::<f32>(0.1), f64::from(0.1_f32));
//! assert_eq!(rounded::<f64>(0.1), 0.1);
//! ```

use super::loops::Loops;
use core::fmt::Debug;
use core::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

/// Memory for numbers: `[T; N]`, `Vec<T>`, `&mut [T]` and the like.
pub trait Storage<T>: AsRef<[T]> + AsMut<[T]> {}

impl<T, S: AsRef<[T]> + AsMut<[T]>> Storage<T> for S {}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// The operations of `f32` and `f64` that the posterior needs. A learner needs a [`Scalar`](crate::Scalar).
pub trait Number:
    sealed::Sealed
    + Loops
    + Copy
    + Debug
    + Default
    + PartialEq
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + Send
    + Sync
    + 'static
{
    /// Zero; its bits are all zero.
    const ZERO: Self;
    /// One.
    const ONE: Self;
    /// Distance from 1 to the next number.
    const EPSILON: f64;
    /// Bits of the significand, 24 or 53. Records name the scalar by them.
    const DIGITS: u32;

    /// Rounds once to the nearest value of this type.
    fn from_f64(value: f64) -> Self;
    /// Widens exactly.
    fn to_f64(self) -> f64;
    /// Widens or keeps an `f32` exactly.
    fn from_f32(value: f32) -> Self;
    /// The bit pattern, zero-extended.
    fn bits(self) -> u64;
    /// The number with a bit pattern. Bits that do not fit are ignored.
    fn from_bits(bits: u64) -> Self;
    /// True if the number is neither NaN nor infinite.
    fn finite(self) -> bool;
    /// self + other, for the loops. With software arithmetic it takes less time than the operator.
    #[doc(hidden)]
    #[must_use]
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self + other
    }
    /// self times other, for the loops.
    #[doc(hidden)]
    #[must_use]
    #[inline(always)]
    fn times(self, other: Self) -> Self {
        self * other
    }
    /// self + a b, for the loops: rounded after the product and after the sum, as written.
    #[doc(hidden)]
    #[must_use]
    #[inline(always)]
    fn add_product(self, a: Self, b: Self) -> Self {
        self.plus(a.times(b))
    }
    /// Square root of a positive number to a few units in the last place.
    ///
    /// Halving the exponent gives 1/sqrt(x) to 3.5%, and each Newton step `r += r/2 (1 - x r^2)` squares that
    /// error. Scaling a random draw needs no correct rounding. A loop of products vectorises on a host, and
    /// takes a quarter of the time of an integer square root on a Cortex-M4F.
    #[must_use]
    fn root(self) -> Self;
    /// Square root, rounded correctly: for few numbers. Computed in integers if the processor has no
    /// instruction.
    #[must_use]
    fn exact_root(self) -> Self;
}

impl Number for f32 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const EPSILON: f64 = Self::EPSILON as f64;
    const DIGITS: u32 = Self::MANTISSA_DIGITS;

    #[expect(clippy::cast_possible_truncation, reason = "rounding to nearest is the point")]
    fn from_f64(value: f64) -> Self {
        value as Self
    }
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
    fn from_f32(value: f32) -> Self {
        value
    }
    fn bits(self) -> u64 {
        u64::from(self.to_bits())
    }
    #[expect(clippy::cast_possible_truncation, reason = "as documented")]
    fn from_bits(bits: u64) -> Self {
        Self::from_bits(bits as u32)
    }
    fn finite(self) -> bool {
        self.is_finite()
    }
    fn exact_root(self) -> Self {
        libm::sqrtf(self)
    }
    #[cfg(all(fable_softfloat, target_arch = "arm"))]
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        super::soft::add(self, other)
    }
    #[cfg(all(fable_softfloat, target_arch = "arm"))]
    #[inline(always)]
    fn times(self, other: Self) -> Self {
        super::soft::multiply(self, other)
    }
    #[cfg_attr(feature = "dispatch", inline(always))]
    fn root(self) -> Self {
        let half = self.times(0.5);
        let mut r = Self::from_bits(0x5f37_5a86_u32.wrapping_sub(self.to_bits() >> 1));
        for _ in 0..3 {
            r = r.add_product(r, 0.5_f32.add_product(-half.times(r), r));
        }
        self.times(r)
    }
}

impl Number for f64 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const EPSILON: f64 = Self::EPSILON;
    const DIGITS: u32 = Self::MANTISSA_DIGITS;

    fn from_f64(value: f64) -> Self {
        value
    }
    fn to_f64(self) -> f64 {
        self
    }
    fn from_f32(value: f32) -> Self {
        Self::from(value)
    }
    fn bits(self) -> u64 {
        self.to_bits()
    }
    fn from_bits(bits: u64) -> Self {
        Self::from_bits(bits)
    }
    fn finite(self) -> bool {
        self.is_finite()
    }
    fn exact_root(self) -> Self {
        libm::sqrt(self)
    }
    #[cfg_attr(feature = "dispatch", inline(always))]
    fn root(self) -> Self {
        let half = 0.5 * self;
        let mut r = Self::from_bits(0x5fe6_eb50_c7b5_37a9_u64.wrapping_sub(self.to_bits() >> 1));
        r += r * (0.5 - half * r * r);
        r += r * (0.5 - half * r * r);
        r += r * (0.5 - half * r * r);
        r += r * (0.5 - half * r * r);
        self * r
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_is_within_two_units_in_the_last_place() {
        let mut x = 1e-12_f64;
        while x < 1e12 {
            let exact = x.sqrt();
            assert!((x.root() - exact).abs() <= 2.0 * f64::EPSILON * exact, "{x}");
            let narrow = f32::from_f64(x);
            assert!((narrow.root() - narrow.sqrt()).abs() <= 2.0 * f32::EPSILON * narrow.sqrt(), "{narrow}");
            x *= 1.000_37;
        }
    }

    #[test]
    fn root_has_pinned_bits() {
        assert_eq!(2.0_f32.root().to_bits(), 0x3fb5_04f3);
        assert_eq!(0.1_f32.root().to_bits(), 0x3ea1_e89b);
        assert_eq!(2.0_f64.root().to_bits(), 0x3ff6_a09e_667f_3bcc);
    }
}
