//! Signed thousandths in integer arithmetic: one `{:.3}` of a float takes 24 KB of flash on a Cortex-M0.

use core::fmt;

/// Prints a number as signed thousandths, `+0.312`. Magnitudes of a million and more print as `+large`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Fixed3(pub(super) f64);

impl fmt::Display for Fixed3 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "below a million after rounding away from zero"
    )]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let magnitude = self.0.abs();
        let sign = if self.0 < 0.0 { "-" } else { "+" };
        if magnitude.is_nan() {
            return f.write_str("unknown");
        }
        if magnitude >= 1e6 {
            return write!(f, "{sign}large");
        }
        let rounded = (magnitude * 1000.0 + 0.5) as u32;
        let sign = if rounded == 0 { "" } else { sign };
        write!(f, "{sign}{}.{:03}", rounded / 1000, rounded % 1000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 4_096,
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        /// The text of the standard library, except for the sign of zero. Half-way cases are left out: the
        /// product with 1,000 is rounded there.
        #[test]
        fn thousandths_are_what_the_standard_library_prints(
            magnitude in -5.0..5.0_f64,
            mantissa in -1.0..1.0_f64,
        ) {
            let x = mantissa * 10.0_f64.powf(magnitude);
            let part = (x.abs() * 1_000.0).fract();
            prop_assume!((part - 0.5).abs() > 1e-6);
            let printed = format!("{x:+.3}");
            let printed = if printed.ends_with("0.000") && x.abs() < 0.1 { "0.000" } else { &printed };
            prop_assert_eq!(Fixed3(x).to_string(), printed);
        }
    }

    #[test]
    fn thousandths_at_the_ends() {
        for (x, text) in [
            (0.0, "0.000"),
            (-0.0, "0.000"),
            (0.000_5, "+0.001"),
            (-0.000_499, "0.000"),
            (f64::MIN_POSITIVE, "0.000"),
            (0.999_6, "+1.000"),
            (-9.999_6, "-10.000"),
            (999_999.999_4, "+999999.999"),
            (1e6, "+large"),
            (-1e300, "-large"),
            (f64::INFINITY, "+large"),
            (f64::NAN, "unknown"),
        ] {
            assert_eq!(Fixed3(x).to_string(), text, "{x}");
        }
    }
}
