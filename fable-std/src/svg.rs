//! What the pictures share: how they begin, and how text and numbers stand in them.

/// The first line of a picture: its size and its font.
#[must_use]
pub fn opening(width: f64, height: f64) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"-apple-system, 'Segoe UI', 'Helvetica Neue', Helvetica, Arial, sans-serif\" font-size=\"13\">"
    )
}

/// A number with its sign, and a minus that is as wide as a plus.
#[must_use]
pub fn with_sign(value: f64, decimals: usize) -> String {
    format!("{value:+.decimals$}").replace('-', "\u{2212}")
}

/// Text as it stands between tags; letters that XML cannot have are left out.
#[must_use]
pub fn escaped(text: &str) -> String {
    let text: String = text
        .chars()
        .filter(|letter| !letter.is_control() && !matches!(letter, '\u{fffe}' | '\u{ffff}'))
        .collect();
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The next round number: one or two digits and a power of ten. 0.1 for nothing.
#[must_use]
pub fn round_up(value: f64) -> f64 {
    if !(value > 0.0 && value.is_finite()) {
        return 0.1;
    }
    let scale = 10_f64.powi(value.log10().floor() as i32);
    [1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0]
        .into_iter()
        .map(|step| step * scale)
        .find(|round| *round >= value * (1.0 - 1e-9))
        .unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_are_round() {
        let rounded = [0.0, 0.25, 0.5, 0.625, 7.0, 11.0, f64::NAN].map(round_up);
        let wanted = [0.1, 0.3, 0.5, 0.8, 8.0, 15.0, 0.1];
        assert!(
            rounded.iter().zip(wanted).all(|(found, wanted): (&f64, f64)| (found - wanted).abs() < 1e-12),
            "{rounded:?}"
        );
    }
}
