//! What is said to a line: labelled lines of text, safe to show on any terminal.

use std::fmt;

/// Columns of the labels.
const INDENT: usize = 13;

/// A text, and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// One of those that [`SEEN`](super::SEEN) explains; empty for a text that speaks for itself.
    pub label: &'static str,
    /// The text, without control characters except line breaks.
    pub text: String,
}

/// What is said to a line. It prints as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// The lines.
    pub lines: Vec<Line>,
    /// Whether the chat is over.
    pub ends: bool,
}

impl Reply {
    pub(super) fn add(&mut self, label: &'static str, text: impl fmt::Display) {
        self.lines.push(Line { label, text: printable(&text.to_string()) });
    }

    pub(super) fn add_all(
        &mut self,
        label: &'static str,
        texts: impl IntoIterator<Item = impl fmt::Display>,
    ) {
        for text in texts {
            self.add(label, text);
        }
    }

    pub(super) fn plain(&mut self, text: impl fmt::Display) {
        self.add("", text);
    }
}

impl Line {
    /// The text in lines of at most `width` columns, if that is known; without the label, which stands before the first.
    #[must_use]
    pub fn wrapped(&self, width: Option<usize>) -> Vec<String> {
        let most = width.map_or(usize::MAX, |width| width.saturating_sub(self.indent()).max(20));
        let mut lines = Vec::new();
        for text in self.text.lines() {
            let (mut line, mut columns) = (String::new(), 0);
            for word in text.split_inclusive(' ') {
                let length = word.chars().count();
                if columns > 0 && columns + word.trim_end().chars().count() > most {
                    lines.push(std::mem::take(&mut line).trim_end().to_owned());
                    columns = 0;
                }
                line.push_str(word);
                columns += length;
            }
            lines.push(line);
        }
        lines
    }

    /// Columns before the text.
    #[must_use]
    pub const fn indent(&self) -> usize {
        if self.label.is_empty() { 0 } else { INDENT }
    }
}

impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.lines {
            let (mut label, indent) = (line.label, line.indent());
            for text in line.wrapped(None) {
                writeln!(f, "{label:indent$}{text}")?;
                label = "";
            }
        }
        Ok(())
    }
}

/// A text that tells a terminal nothing but itself: an assistant may say anything.
fn printable(text: &str) -> String {
    let shown = |letter: char| match letter {
        '\n' => '\n',
        '\t' => ' ',
        // Marks that turn the direction of writing can make a text look like another one.
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        letter if letter.is_control() => '\u{fffd}',
        letter => letter,
    };
    text.replace("\r\n", "\n").chars().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_commands_a_terminal() {
        let mut reply = Reply::default();
        reply.add("assistant", "one\r\ntwo\x1b[31m\x07\t\u{9b}2J\u{202e}");
        reply.plain("three");
        assert_eq!(
            reply.to_string(),
            "assistant    one\n             two\u{fffd}[31m\u{fffd} \u{fffd}2J\u{fffd}\nthree\n"
        );
    }

    #[test]
    fn lines_are_broken_between_words() {
        let line = Line { label: "chosen", text: "a bb ccc dddd eeeee ffffff ggggggg\n\nhh".into() };
        assert_eq!(line.wrapped(Some(33)), ["a bb ccc dddd eeeee", "ffffff ggggggg", "", "hh"]);
        let long = Line { label: "", text: "x".repeat(50) };
        assert_eq!(long.wrapped(Some(20)), ["x".repeat(50)]);
    }
}
