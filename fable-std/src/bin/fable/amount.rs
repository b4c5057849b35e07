//! Amounts of memory as people write them.

/// Units and what they are.
const UNITS: [(&str, u64); 8] = [
    ("", 1),
    ("b", 1),
    ("kb", 1_000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
];

/// Bytes, of a number with or without a unit. More than there can be is all there is.
pub(crate) fn bytes(text: &str) -> Result<usize, String> {
    let (number, unit) =
        text.split_at(text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len()));
    let unit = unit.trim().to_ascii_lowercase();
    let number = number.parse::<u64>().ok();
    let unit = UNITS.iter().find(|(name, _)| *name == unit);
    let (Some(number), Some((_, each))) = (number, unit) else {
        return Err(
            "an amount is a whole number of bytes, or of KB, MB, GB, KiB, MiB or GiB, like 256MiB".into()
        );
    };
    Ok(usize::try_from(number.saturating_mul(*each)).unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_units() {
        for (text, amount) in [
            ("0", 0),
            ("1048576", 1 << 20),
            ("7B", 7),
            ("3KB", 3_000),
            ("3MB", 3_000_000),
            ("2GB", 2_000_000_000),
            ("3KiB", 3 << 10),
            ("256MiB", 256 << 20),
            ("1 gib", 1 << 30),
            ("18446744073709551615", usize::MAX),
            ("18446744073709551615GiB", usize::MAX),
        ] {
            assert_eq!(bytes(text), Ok(amount), "{text}");
        }
        for text in ["", "MiB", "-1", "1.5GiB", "256 users", "1e9", "18446744073709551616", "1MiB2"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }
}
