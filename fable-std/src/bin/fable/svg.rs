//! What the pictures share: how they begin, and how text and numbers stand in them.

/// The first line of a picture: its size and its font.
pub(crate) fn opening(width: f64, height: f64) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"-apple-system, 'Segoe UI', 'Helvetica Neue', Helvetica, Arial, sans-serif\" font-size=\"13\">"
    )
}

/// A number with its sign, and a minus that is as wide as a plus.
pub(crate) fn with_sign(value: f64, decimals: usize) -> String {
    format!("{value:+.decimals$}").replace('-', "\u{2212}")
}

/// Text as it stands between tags; letters that XML cannot have are left out.
pub(crate) fn escaped(text: &str) -> String {
    let text: String = text.chars().filter(|letter| !letter.is_control() && !matches!(letter, '\u{fffe}' | '\u{ffff}')).collect();
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
