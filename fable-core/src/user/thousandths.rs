//! Numbers for people without the cost of printing floats: on a Cortex-M0 one `{:.3}` takes 24 KB of flash.

use core::fmt;

/// Prints a number as signed thousandths, `+0.312`, with integer arithmetic alone; what is too large prints as `+large`.
///
/// ```
/// use fable_core::Thousandths;
/// assert_eq!(Thousandths(0.3125).to_string(), "+0.313");
/// assert_eq!(Thousandths(-12.0).to_string(), "-12.000");
/// assert_eq!(Thousandths(-0.0001).to_string(), "0.000");
/// assert_eq!(Thousandths(f64::NEG_INFINITY).to_string(), "-large");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thousandths(pub f64);

impl fmt::Display for Thousandths {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below a million after rounding away from zero")]
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
