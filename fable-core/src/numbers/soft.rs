//! Products and sums for software floating point, as on a Cortex-M0.
//!
//! Nearly all loops of this crate are `sum + a b` of normal numbers, rounded after the product and after the
//! sum. For these, the functions here take a third fewer instructions than the compiler's library, which has
//! a 64-bit product in software. The bits are those of IEEE 754. Operands and results that are not normal
//! numbers are left to the library.

/// The exponent of infinity and NaN.
const SPECIAL: u32 = 255;
const SIGN: u32 = 1 << 31;

/// `a * b`, bit for bit.
#[inline(always)]
pub(super) fn multiply(a: f32, b: f32) -> f32 {
    f32::from_bits(product(a.to_bits(), b.to_bits()))
}

/// `a + b`, bit for bit.
#[inline(always)]
pub(super) fn add(a: f32, b: f32) -> f32 {
    f32::from_bits(sum(a.to_bits(), b.to_bits()))
}

/// The stored exponent: 0 of zero and subnormal numbers, [`SPECIAL`] of infinity and NaN.
#[inline(always)]
const fn exponent(bits: u32) -> u32 {
    bits << 1 >> 24
}

/// Compares bits. Comparing numbers would call the floating-point library.
#[inline(never)]
fn product(a: u32, b: u32) -> u32 {
    let (first, second) = (exponent(a), exponent(b));
    if first.wrapping_sub(1) >= SPECIAL - 1 || second.wrapping_sub(1) >= SPECIAL - 1 {
        let zero = a << 1 == 0 && second != SPECIAL || b << 1 == 0 && first != SPECIAL;
        return if zero { (a ^ b) & SIGN } else { product_by_library(a, b) };
    }
    // 24 by 24 bits in halves of 16: the upper 32 of 48 bits. Lower bits fold into a sticky bit.
    let ((a_high, a_low), (b_high, b_low)) =
        ((a >> 16 & 0x7f | 0x80, a & 0xffff), (b >> 16 & 0x7f | 0x80, b & 0xffff));
    let low = a_low * b_low;
    let mut product = ((a_high * b_high) << 16) + a_high * b_low + a_low * b_high + (low >> 16);
    let mut exponent = (first + second).wrapping_sub(127);
    if low << 16 != 0 {
        product |= 1;
    }
    if product >> 31 == 0 {
        product <<= 1;
        exponent = exponent.wrapping_sub(1);
    }
    if exponent >= SPECIAL - 2 {
        return product_by_library(a, b);
    }
    rounded(exponent, product) | (a ^ b) & SIGN
}

/// Rounds an exponent and 32 bits of significand, the first of which is 1, to the nearest number, and ties to
/// even. The hidden bit is added to the exponent, and so is a carry.
#[inline(always)]
const fn rounded(exponent: u32, significand: u32) -> u32 {
    let mut number = (exponent << 23) + (significand >> 8);
    let rest = significand << 24;
    if rest >> 31 != 0 {
        number += 1;
        if rest == SIGN {
            number &= !1;
        }
    }
    number
}

#[cold]
#[inline(never)]
fn product_by_library(a: u32, b: u32) -> u32 {
    (f32::from_bits(a) * f32::from_bits(b)).to_bits()
}

#[inline(never)]
fn sum(a: u32, b: u32) -> u32 {
    // The operand with the larger magnitude comes first.
    let (a, b) = if a << 1 >= b << 1 { (a, b) } else { (b, a) };
    let (mut larger, smaller) = (exponent(a), exponent(b));
    if smaller == 0 || larger == SPECIAL {
        if b << 1 != 0 || larger == SPECIAL {
            return sum_by_library(a, b);
        }
        // The sum of two zeros is negative if both are.
        return if a << 1 == 0 { a & b } else { a };
    }
    // A number below a quarter of the last bit changes nothing.
    let apart = larger - smaller;
    if apart > 26 {
        return a;
    }
    // Eight more bits. The last of them is a sticky bit.
    let (large, small) = (a << 8 | SIGN, b << 8 | SIGN);
    let mut shifted = small >> apart;
    if apart > 8 && shifted << apart != small {
        shifted |= 1;
    }
    let mut sum;
    if (a ^ b) >> 31 == 0 {
        let carried;
        (sum, carried) = large.overflowing_add(shifted);
        if carried {
            sum = sum >> 1 | sum & 1 | SIGN;
            larger += 1;
        }
    } else {
        sum = large - shifted;
        if sum == 0 {
            return 0;
        }
        while sum >> 31 == 0 {
            sum <<= 1;
            larger = larger.wrapping_sub(1);
        }
    }
    let exponent = larger.wrapping_sub(1);
    if exponent >= SPECIAL - 2 {
        return sum_by_library(a, b);
    }
    rounded(exponent, sum) | a & SIGN
}

#[cold]
#[inline(never)]
fn sum_by_library(a: u32, b: u32) -> u32 {
    (f32::from_bits(a) + f32::from_bits(b)).to_bits()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sum: f32, a: f32, b: f32) {
        let (here, there) = (add(sum, multiply(a, b)), sum + a * b);
        assert!(
            here.to_bits() == there.to_bits() || here.is_nan() && there.is_nan(),
            "{sum:e} + {a:e} * {b:e}: {here:e}, not {there:e}"
        );
    }

    /// Bits from a linear congruence of 64 bits.
    fn words() -> impl FnMut() -> u32 {
        let mut state = 1_u64;
        move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 32) as u32
        }
    }

    #[test]
    fn any_bits_give_those_of_the_processor() {
        let mut next = words();
        for _ in 0..2_000_000 {
            check(f32::from_bits(next()), f32::from_bits(next()), f32::from_bits(next()));
        }
    }

    /// Numbers of about the same size, sums close to the product, few bits set: ties of rounding, and sums
    /// that cancel.
    #[test]
    fn ties_and_cancellation_are_those_of_the_processor() {
        let mut next = words();
        for _ in 0..2_000_000 {
            let mut number = |spread: u32| {
                let (word, kind) = (next(), next());
                let exponent = 127 - spread / 2 + (word >> 24) % spread;
                let significand = match kind % 3 {
                    0 => word & 0x7f_ffff,
                    1 => (word & 0xfff) << 11,
                    _ => 0x7f_ffff ^ (word & 7),
                };
                f32::from_bits((kind & 0x8000) << 16 | exponent << 23 | significand)
            };
            let sum = number(60);
            let a = number(8);
            let b = number(8);
            check(sum, a, b);
            for near in [-2_i32, -1, 0, 1, 2] {
                let product = (a * b).to_bits().wrapping_add_signed(near);
                check(-f32::from_bits(product), a, b);
                check(f32::from_bits(product), a, b);
            }
        }
    }

    #[test]
    fn what_is_not_ordinary_is_that_of_the_processor() {
        let ends = [
            0.0,
            1.0,
            1.5,
            f32::MIN_POSITIVE,
            1e-45,
            1e-40,
            f32::MAX,
            f32::INFINITY,
            f32::NAN,
            1.8e19,
            1.844_674_4e19,
            1.1e-19,
            1.084_202_2e-19,
        ];
        let signed = || ends.into_iter().flat_map(|end| [end, -end]);
        for sum in signed() {
            for a in signed() {
                for b in signed() {
                    check(sum, a, b);
                }
            }
        }
    }
}
