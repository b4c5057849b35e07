//! What a line begins with: a command, a sign, or words.

use super::ChatError;
use crate::toml_file::Flaw;

/// What can be typed: `/help`.
pub const TYPED: &str = "  a request      anything you would ask an assistant
  a reaction     after an answer: words that say how it was, like \"too long\",
                 \"thanks\" or \"no, I meant the other one\"; or +, -, ++ and --.
                 Any other line is the next request; \"thanks, now ...\" is both.
                 One reaction counts for each answer, the last one only.
                 Without one nothing is learned, unless --expiry says what.
  /ask TEXT      TEXT is a request, whatever it sounds like
  /prefer TEXT   what you like, in words: \"I like short answers, never search
                 the web\". Likes are soft, reactions can revise them. Never and
                 must are rules, which are always kept.
  /forbid VALUE  a rule: VALUE is never chosen, like /forbid tool=web_search
  /allow VALUE   takes back each rule that stands against VALUE
  /why           why the assistant was to act like that, and not otherwise
  /whynot VALUE  why VALUE, or several, was not chosen instead
  /profile       everything that is known about you, in words
  /memory        what is kept of what was said; or /memory on, off or forget
  /values        each VALUE, and what it makes the assistant do
  /forget        erases all about you once you say yes; /forget yes does it
  /quit          the end, like Ctrl-D. What you have seen is on disk already.
  /help words    what the words at the left of the screen mean";

/// What is seen: `/help words`.
pub const SEEN: &str = "  request        what the line was taken for: its task, and the signals above a
                 half: risk (what is at stake), ambiguity (how unclear it is),
                 memory_need and tool_need (what has to be known or looked up)
  chosen         the action: a VALUE of each component (memory, tool and style)
  instruction    what the assistant is told: what is certain about you, unless
                 no_memory was chosen, then what each VALUE means
  memory         what else it is told of before; `no memory` says why not
  assistant      its answer, with an --endpoint; `no answer` says why not
  reaction       yours as a number from -1 to 1, all that is learned from; a
                 correction costs 0.15 more, a question back 0.08
  why            what made the choice better than another, with its share of
                 the score; `the draw` and `the bonus` are exploring
  probe          with --probe: a fair coin chose between two values, to be sure
                 of a preference; /why alone tells what was intended
  certain        a preference that is told from now on: by coins or the model;
                 `doubtful` or `revoked` if reactions speak against it. It can
                 be wrong if you react only when you are pleased
  tried          what coins have shown so far of what is not certain
  prefers, rule  a stated preference, and what is never broken, as understood
  leaning        what you seem to like (+) and dislike (-) so far
  by rules       fixed rules read the line instead; `by words` words compared
  not used       words that were not understood as a preference
  not done       what could not be done and why; nothing has changed";

/// A line, read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Command<'a> {
    Said(&'a str),
    Sign(&'a str),
    Ask(&'a str),
    Prefer(&'a str),
    Forbid(&'a str),
    Allow(&'a str),
    Why,
    WhyNot(&'a str),
    Profile,
    Memory,
    Remember(bool),
    Unremember,
    Forget { sure: bool },
    Values,
    Help,
    HelpWords,
    Quit,
}

const NAMES: [&str; 12] = [
    "/ask", "/prefer", "/forbid", "/allow", "/why", "/whynot", "/profile", "/memory", "/forget", "/values",
    "/help", "/quit",
];

impl<'a> Command<'a> {
    /// Reads a line that is not empty.
    pub(super) fn read(line: &'a str) -> Result<Self, ChatError> {
        let line = line.trim();
        if matches!(line, "+" | "++" | "-" | "--") {
            return Ok(Self::Sign(line));
        }
        if NAMES.into_iter().chain(["/exit"]).any(|name| name.strip_prefix('/') == Some(&line.to_lowercase()))
        {
            return Err(ChatError::Usage(
                "commands begin with /, as in /help; if this is a request, write /ask before it",
            ));
        }
        if !line.starts_with('/') {
            return Ok(Self::Said(line));
        }
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        let about = |usage| if rest.is_empty() { Err(ChatError::Usage(usage)) } else { Ok(rest) };
        let alone =
            |command: Self, usage| if rest.is_empty() { Ok(command) } else { Err(ChatError::Usage(usage)) };
        match name.to_lowercase().as_str() {
            "/ask" => about("/ask needs the request behind it").map(Self::Ask),
            "/prefer" => {
                about("/prefer needs your words, like /prefer I like short answers").map(Self::Prefer)
            }
            "/forbid" => about("/forbid needs a value, like /forbid tool=web_search; /values lists them")
                .map(Self::Forbid),
            "/allow" => about("/allow needs a value, like /allow tool=web_search; /profile lists your rules")
                .map(Self::Allow),
            "/why" => alone(Self::Why, "/why stands alone; /whynot asks about another value"),
            "/whynot" => about("/whynot needs a value, like /whynot style=concise; /values lists them")
                .map(Self::WhyNot),
            "/profile" => alone(Self::Profile, "/profile stands alone"),
            "/memory" => match rest.to_lowercase().as_str() {
                "" => Ok(Self::Memory),
                "on" => Ok(Self::Remember(true)),
                "off" => Ok(Self::Remember(false)),
                "forget" => Ok(Self::Unremember),
                _ => Err(ChatError::Usage("/memory stands alone, or with on, off or forget")),
            },
            "/forget" if rest.eq_ignore_ascii_case("yes") => Ok(Self::Forget { sure: true }),
            "/forget" => alone(
                Self::Forget { sure: false },
                "/forget stands alone, or with yes; it erases everything about you",
            ),
            "/values" => alone(Self::Values, "/values stands alone"),
            "/help" | "/?" if rest.eq_ignore_ascii_case("words") => Ok(Self::HelpWords),
            "/help" | "/?" => Ok(Self::Help),
            "/quit" | "/exit" | "/q" => Ok(Self::Quit),
            _ => {
                let name: String = name.chars().take(40).collect();
                Err(ChatError::NoCommand(Flaw::unknown("there is no command", &name, NAMES)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_commands_signs_or_words() {
        let read = |line| Command::read(line).unwrap();
        assert_eq!(read(" too long "), Command::Said("too long"));
        assert_eq!(read("--"), Command::Sign("--"));
        assert_eq!(read("-1 is what I want"), Command::Said("-1 is what I want"));
        assert_eq!(read("/ASK  -"), Command::Ask("-"));
        assert_eq!(read("/forget  YES"), Command::Forget { sure: true });
        assert_eq!(read("/forget"), Command::Forget { sure: false });
        assert_eq!(read("/Quit now"), Command::Quit);
        assert_eq!((read("/memory"), read("/memory OFF")), (Command::Memory, Command::Remember(false)));
        assert_eq!(
            (read("/memory on"), read("/memory forget")),
            (Command::Remember(true), Command::Unremember)
        );
        for wrong in [
            "quit",
            "Why",
            "/forget me",
            "/forbid",
            "/why not",
            "/whynot",
            "/prefer  ",
            "/",
            "/etc/passwd",
            "memory",
            "/memory of",
        ] {
            assert!(Command::read(wrong).is_err(), "{wrong}");
        }
        let told = Command::read("/forbit tool=web_search").unwrap_err().to_string();
        assert!(told.contains("there is no command '/forbit'; did you mean '/forbid'?"), "{told}");
    }

    /// Nothing can be typed that the help does not explain.
    #[test]
    fn the_help_has_every_command() {
        for name in NAMES {
            assert!(TYPED.contains(name), "{name}");
        }
        for text in [TYPED, SEEN] {
            assert!(
                text.lines().count() < 24 && text.lines().all(|line| line.len() < 80),
                "a small terminal shows it"
            );
        }
    }
}
