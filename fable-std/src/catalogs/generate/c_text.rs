//! Texts of a catalog as literals of C and C++.

use fable_core::catalog::Definition;
use std::fmt::{self, Write};

/// What compilers have to take as one literal, C99 5.2.4.1, with its zero byte.
const LONGEST: usize = 4095;

/// Every text of a catalog that is not a name.
pub(super) fn texts<'d>(definition: &'d Definition<'_>) -> impl Iterator<Item = &'d str> {
    let values =
        definition.components.iter().flat_map(|component| component.values).map(|value| value.instruction);
    values.chain(definition.contrasts.iter().flat_map(|contrast| [contrast.positive, contrast.negative]))
}

/// Literals, and arrays for texts that are longer than a literal may be.
pub(super) struct CText<'t> {
    prefix: &'t str,
    long: Vec<&'t str>,
}

impl<'t> CText<'t> {
    pub(super) fn new(prefix: &'t str, texts: impl Iterator<Item = &'t str>) -> Self {
        Self { prefix, long: texts.filter(|text| text.len() >= LONGEST).collect() }
    }

    /// The arrays.
    pub(super) fn declare_long(&self, out: &mut String) -> fmt::Result {
        for (position, text) in self.long.iter().enumerate() {
            writeln!(out, "static const char {}_text_{position}[] = {{", self.prefix)?;
            for line in text.as_bytes().chunks(16) {
                let bytes: Vec<String> =
                    line.iter().map(|byte| format!("'{}'", escaped(*byte, '\''))).collect();
                writeln!(out, "    {},", bytes.join(", "))?;
            }
            out.push_str("    0};\n");
        }
        Ok(())
    }

    /// A text that is a literal, or an array that was declared.
    pub(super) fn quoted(&self, text: &str) -> String {
        match self.long.iter().position(|long| *long == text) {
            Some(position) => format!("{}_text_{position}", self.prefix),
            None => format!("\"{}\"", text.bytes().map(|byte| escaped(byte, '"')).collect::<String>()),
        }
    }

    /// The same, null for an empty one.
    pub(super) fn quoted_or_null(&self, text: &str) -> String {
        if text.is_empty() { "NULL".into() } else { self.quoted(text) }
    }
}

/// A byte in a literal. Question marks could make a trigraph, and an escape in octal has three digits, so that none after it
/// can be taken for a part of it.
fn escaped(byte: u8, quote: char) -> String {
    match char::from(byte) {
        '\n' => "\\n".into(),
        '\t' => "\\t".into(),
        letter if letter == quote || letter == '\\' || letter == '?' => format!("\\{letter}"),
        letter if letter == ' ' || letter.is_ascii_graphic() => letter.into(),
        _ => format!("\\{byte:03o}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_ends_its_literal_or_is_read_as_another_one() {
        let text = CText::new("x", [].into_iter());
        assert_eq!(text.quoted("a\"b\\c\n\td'"), r#""a\"b\\c\n\td'""#);
        assert_eq!(text.quoted("??/\u{7}1é1"), r#""\?\?/\0071\303\2511""#);
        assert_eq!((text.quoted_or_null(""), text.quoted_or_null("x")), ("NULL".into(), "\"x\"".into()));
    }

    #[test]
    fn what_is_too_long_for_a_literal_is_an_array() {
        let (most, more) = ("'".repeat(LONGEST - 1), "'".repeat(LONGEST));
        let text = CText::new("x", [most.as_str(), more.as_str()].into_iter());
        assert!(text.quoted(&most).starts_with('"'));
        assert_eq!(text.quoted(&more), "x_text_0");
        let mut out = String::new();
        text.declare_long(&mut out).unwrap();
        assert_eq!(out.matches("'\\''").count(), LONGEST);
    }
}
