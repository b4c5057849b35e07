//! Lines from a person or a pipe, and replies to them.
//!
//! A terminal gets a line editor whose history ends with the process, labels in a quiet colour and text broken to its width. A
//! pipe gets plain lines: no prompt, nothing that moves, no colour.

use console::{Style, Term};
use fable_std::chat::Reply;
use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;
use std::io::{self, BufRead, IsTerminal, Read, Write};

/// Most bytes in a line. More than anybody types; the rules read the first 4 KiB of it.
const MAX_LINE: usize = 64 << 10;

/// What was typed.
pub(super) enum Typed {
    Line(String),
    /// A line that is not text, and why.
    Refused(&'static str),
}

/// See the [module](self).
pub(super) struct Terminal {
    editor: Option<DefaultEditor>,
    label: Style,
    trouble: Style,
    /// Whether a sign of life is shown while somebody waits for a reply.
    slow: bool,
}

impl Terminal {
    /// `slow` if replies may take seconds.
    pub(super) fn open(slow: bool) -> io::Result<Self> {
        let plain = Self { editor: None, label: Style::new(), trouble: Style::new(), slow: false };
        if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
            return Ok(plain);
        }
        let editor = Some(DefaultEditor::new().map_err(io::Error::other)?);
        let colourless = std::env::var_os("NO_COLOR").is_some_and(|set| !set.is_empty())
            || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        if colourless {
            return Ok(Self { editor, ..plain });
        }
        let (label, trouble) =
            (Style::new().cyan().force_styling(true), Style::new().yellow().force_styling(true));
        Ok(Self { editor, label, trouble, slow })
    }

    /// Whether somebody sits there.
    pub(super) const fn is_interactive(&self) -> bool {
        self.editor.is_some()
    }

    /// The next line; `None` at the end of input, which Ctrl-C is too.
    pub(super) fn read(&mut self) -> io::Result<Option<Typed>> {
        let Some(editor) = &mut self.editor else { return read_line(&mut io::stdin().lock()) };
        match editor.readline("> ") {
            Ok(line) => {
                if !line.trim().is_empty() {
                    let _ = editor.add_history_entry(&line); // in memory alone
                    if self.slow {
                        Term::stdout().write_str("...")?;
                    }
                }
                Ok(Some(if line.len() > MAX_LINE { Typed::Refused(TOO_LONG) } else { Typed::Line(line) }))
            }
            Err(ReadlineError::Eof | ReadlineError::Interrupted) => Ok(None),
            Err(ReadlineError::Io(error)) if error.kind() == io::ErrorKind::InvalidData => {
                Ok(Some(Typed::Refused(NO_TEXT)))
            }
            Err(ReadlineError::Io(error)) => Err(error),
            Err(error) => Err(io::Error::other(error)),
        }
    }

    pub(super) fn show(&self, reply: &Reply) -> io::Result<()> {
        if !self.is_interactive() {
            io::stdout().write_all(reply.to_string().as_bytes())?;
            return io::stdout().flush();
        }
        self.settle()?;
        let width = usize::from(Term::stdout().size().1);
        let mut out = io::stdout().lock();
        for line in &reply.lines {
            let style = if line.label.starts_with("no") { &self.trouble } else { &self.label };
            let (mut label, indent) = (line.label, line.indent());
            for text in line.wrapped(Some(width)) {
                writeln!(out, "{}{text}", style.apply_to(format!("{label:indent$}")))?;
                label = "";
            }
        }
        out.flush()
    }

    /// Takes the sign of life away.
    fn settle(&self) -> io::Result<()> {
        if self.slow { Term::stdout().clear_line() } else { Ok(()) }
    }

    /// A line that nothing can be done with.
    pub(super) fn refuse(&self, why: &str) -> io::Result<()> {
        self.settle()?;
        writeln!(io::stdout(), "{}{why}", self.trouble.apply_to("not done     "))
    }
}

const TOO_LONG: &str = "a line may have at most 65536 bytes";
const NO_TEXT: &str = "the line is no text in UTF-8";

/// The next line of a pipe. Of one that is too long nothing is kept in memory.
fn read_line(input: &mut impl BufRead) -> io::Result<Option<Typed>> {
    let mut bytes = Vec::new();
    input.take(MAX_LINE as u64 + 1).read_until(b'\n', &mut bytes)?;
    if bytes.is_empty() {
        return Ok(None);
    }
    if bytes.last() != Some(&b'\n') && bytes.len() > MAX_LINE {
        input.skip_until(b'\n')?;
        return Ok(Some(Typed::Refused(TOO_LONG)));
    }
    Ok(Some(String::from_utf8(bytes).map_or(Typed::Refused(NO_TEXT), Typed::Line)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_line_does_not_take_the_next_one_with_it() {
        let long = "x".repeat(3 * MAX_LINE);
        let fits = "y".repeat(MAX_LINE);
        let input = [b"one\r\n\n", long.as_bytes(), b"\n", fits.as_bytes(), b"\n\xff\xfe\nlast"].concat();
        let (mut input, mut read) = (io::Cursor::new(input), Vec::new());
        while let Some(typed) = read_line(&mut input).unwrap() {
            read.push(match typed {
                Typed::Line(line) => line.trim().to_owned(),
                Typed::Refused(why) => why.to_owned(),
            });
        }
        assert_eq!(read, ["one", "", TOO_LONG, &fits, NO_TEXT, "last"]);
    }
}
