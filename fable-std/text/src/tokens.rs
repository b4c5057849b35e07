//! A text as the rules see it: lower-case words with their places, and one mark for whatever is not the person's own prose.
//!
//! Code in fences, in backticks or on lines that look like code becomes `<code>`, quoted text `<quote>`, an address
//! `<url>`, the name of a file `<file>`, a formula in LaTeX `<math>`: a request to translate "delete all my files" deletes nothing. Punctuation stays as
//! words of its own. Case, typographic apostrophes and [`SPELLINGS`] are evened out, hyphens separate words.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

/// Bytes of a text that are read; what follows is ignored, so that no text takes long.
pub const MAX_TEXT: usize = 4 * 1024;

/// Stands for code.
pub(crate) const CODE: &str = "<code>";
/// Stands for quoted text.
pub(crate) const QUOTE: &str = "<quote>";
/// Stands for an address on the web.
pub(crate) const URL: &str = "<url>";
/// Stands for the name of a file.
pub(crate) const FILE: &str = "<file>";
/// Stands for an operator between numbers.
pub(crate) const OPERATOR: &str = "<operator>";
/// Stands for a formula.
pub(crate) const MATH: &str = "<math>";
/// Stands for a sign of a currency.
pub(crate) const MONEY: &str = "<money>";

/// Words that are read as others: missing apostrophes, abbreviations, common slips.
pub(crate) const SPELLINGS: &[(&str, &str)] = &[
    ("dont", "don't"),
    ("doesnt", "doesn't"),
    ("didnt", "didn't"),
    ("isnt", "isn't"),
    ("arent", "aren't"),
    ("wasnt", "wasn't"),
    ("wont", "won't"),
    ("cant", "can't"),
    ("cannot", "can't"),
    ("couldnt", "couldn't"),
    ("wouldnt", "wouldn't"),
    ("shouldnt", "shouldn't"),
    ("im", "i'm"),
    ("ive", "i've"),
    ("whats", "what's"),
    ("thats", "that's"),
    ("its", "it's"),
    ("pls", "please"),
    ("plz", "please"),
    ("thx", "thanks"),
    ("thanx", "thanks"),
    ("ty", "thanks"),
    ("u", "you"),
    ("ur", "your"),
    ("ok", "okay"),
    ("k", "okay"),
    ("teh", "the"),
    ("wich", "which"),
    ("wat", "what"),
    ("wats", "what's"),
    ("hows", "how's"),
    ("whos", "who's"),
    ("wheres", "where's"),
    ("r", "are"),
    ("havent", "haven't"),
    ("hasnt", "hasn't"),
    ("youre", "you're"),
    ("theres", "there's"),
    ("gimme", "give"),
    ("wanna", "want"),
    ("rec", "recommend"),
    ("recs", "recommend"),
    ("fav", "favourite"),
    ("favorite", "favourite"),
    ("msg", "message"),
    ("abt", "about"),
    ("bc", "because"),
    ("cuz", "because"),
    ("tho", "though"),
    ("tmrw", "tomorrow"),
    ("calc", "calculate"),
    ("diff", "difference"),
    ("versus", "vs"),
    ("js", "javascript"),
    ("py", "python"),
    ("func", "function"),
    ("repo", "git"),
    ("db", "database"),
    ("tysm", "thanks"),
    ("thnx", "thanks"),
    ("tnx", "thanks"),
    ("cheers", "thanks"),
    ("gr8", "great"),
    ("yup", "yep"),
    ("yea", "yeah"),
    ("ya", "yeah"),
    ("awsome", "awesome"),
    ("kk", "okay"),
    ("okey", "okay"),
    ("ain't", "isn't"),
    ("aint", "isn't"),
    ("tldr", "tl;dr"),
    ("node.js", "javascript"),
    ("vue.js", "javascript"),
    ("next.js", "javascript"),
];

/// Words that are parted from an "is": "what's" is read as "what is".
pub(crate) const ASKED: &[&str] = &["what", "who", "where", "when", "how", "why"];

/// Endings by which the name of a file is known.
pub(crate) const ENDINGS: &[&str] = &[
    "c", "cpp", "css", "csv", "doc", "docx", "h", "html", "java", "jpg", "js", "json", "log", "md", "pdf",
    "png", "ppt", "pptx", "py", "rs", "sh", "sql", "tex", "toml", "ts", "txt", "xls", "xlsx", "xml", "yaml",
    "yml", "zip",
];

/// How a line of code begins.
pub(crate) const CODE_STARTS: &[&str] =
    &["#include", "#!/", "def ", "class ", "fn ", "import ", "let ", "const ", "$ ", "</"];

/// How a line of an error report begins.
pub(crate) const TRACE_STARTS: &[&str] =
    &["Traceback (", "File \"", "Exception in thread", "panicked at", "Caused by:"];

/// How a line of code ends.
pub(crate) const CODE_ENDS: &[&str] = &[";", "{", "}", "):", ");", "*/"];

/// A word, a sign of punctuation or a mark, and its bytes in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) text: String,
    pub(crate) place: Range<usize>,
}

impl Word {
    /// Whether it is punctuation or the end of a line.
    pub(crate) fn is_break(&self) -> bool {
        matches!(self.text.as_str(), "." | "," | "!" | "?" | ":" | ";" | "(" | ")" | "\n")
    }
}

/// The words of a text.
pub(crate) fn read(text: &str) -> Vec<Word> {
    let text = read_part(text);
    let mut reader = Reader { text, words: Vec::new() };
    let (mut start, mut fenced) = (0, false);
    for line in text.split_inclusive('\n') {
        let place = start..start + line.len();
        start = place.end;
        let bare = line.trim();
        let fence = bare.starts_with("```") || bare.starts_with("~~~");
        if fence || fenced || (is_code(line) && !line.match_indices('\\').any(|(at, _)| latex(line, at) > 0))
        {
            fenced ^= fence;
            reader.mark(CODE, place);
        } else if bare.starts_with('>') {
            reader.mark(QUOTE, place);
        } else {
            reader.prose(place.clone());
            reader.mark("\n", place.end..place.end);
        }
    }
    reader.words
}

/// The part of a text that is read.
#[must_use]
pub fn read_part(text: &str) -> &str {
    let mut end = text.len().min(MAX_TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or(text)
}

/// Whether a line looks like code. One symbol alone says little, so ordinary sentences stay prose.
fn is_code(line: &str) -> bool {
    let bare = line.trim();
    let indented = line.starts_with("    ") || line.starts_with('\t');
    let symbols = bare.chars().filter(|c| "(){}[]=<>;_/\\".contains(*c)).count();
    let begins = CODE_STARTS.iter().any(|start| bare.starts_with(start));
    let ends = CODE_ENDS.iter().any(|end| bare.ends_with(end));
    let trace = TRACE_STARTS.iter().any(|start| bare.starts_with(start));
    trace || (symbols >= 3 && (indented || begins)) || (symbols >= 4 && ends)
}

struct Reader<'t> {
    text: &'t str,
    words: Vec<Word>,
}

impl Reader<'_> {
    /// Adds a mark, once for what follows itself.
    fn mark(&mut self, text: &str, place: Range<usize>) {
        if self.words.last().is_none_or(|last| last.text != text) {
            self.words.push(Word { text: text.to_owned(), place });
        }
    }

    /// Adds a word in its usual spelling.
    fn word(&mut self, text: &str, place: Range<usize>) {
        let lower: String =
            text.chars().map(|c| if c == '\u{2019}' { '\'' } else { c.to_ascii_lowercase() }).collect();
        let usual =
            SPELLINGS.iter().find(|(found, _)| *found == lower).map_or(lower.as_str(), |(_, usual)| usual);
        if usual.rsplit_once('.').is_some_and(|(_, ending)| ENDINGS.contains(&ending)) {
            self.mark(FILE, place);
        } else if let Some((first, second)) = parted(usual) {
            self.words.push(Word { text: first.to_owned(), place: place.clone() });
            self.words.push(Word { text: second.to_owned(), place });
        } else {
            self.words.push(Word { text: usual.to_owned(), place });
        }
    }

    /// Reads a stretch of one line.
    fn prose(&mut self, place: Range<usize>) {
        let Some(line) = self.text.get(place.clone()) else { return };
        let mut skip_to = 0;
        for (at, c) in line.char_indices() {
            if at < skip_to {
                continue;
            }
            let rest = line.get(at..).unwrap_or("");
            let before = line.get(..at).and_then(|text| text.chars().next_back());
            let (mark, length) = Self::special(rest, before);
            let length = if length > 0 {
                self.mark(mark, place.start + at..place.start + at + length);
                length
            } else if c.is_alphanumeric() {
                let length = word_length(rest);
                self.word(rest.get(..length).unwrap_or(""), place.start + at..place.start + at + length);
                length
            } else {
                self.sign(c, before, rest, place.start + at);
                c.len_utf8()
            };
            skip_to = at + length;
        }
    }

    /// What is here instead of the person's own prose, and its length; 0 for nothing.
    fn special(rest: &str, before: Option<char>) -> (&'static str, usize) {
        let apart = before.is_none_or(|c| c.is_whitespace() || "([".contains(c));
        if apart && ["http://", "https://", "www."].iter().any(|start| rest.starts_with(start)) {
            return (URL, rest.find(char::is_whitespace).unwrap_or(rest.len()));
        }
        let enclosed = |mark, closing: &[char]| {
            let mut inside = rest.char_indices().skip(1);
            (mark, inside.find(|(_, c)| closing.contains(c)).map_or(0, |(at, c)| at + c.len_utf8()))
        };
        let formula =
            if before.is_none_or(|c| !c.is_alphabetic() && !":\\".contains(c)) { latex(rest, 0) } else { 0 };
        if formula > 0 {
            return (MATH, formula);
        }
        match rest.chars().next() {
            Some('`') => enclosed(CODE, &['`']),
            Some('"') => enclosed(QUOTE, &['"']),
            Some('\u{201c}' | '\u{201e}') => enclosed(QUOTE, &['\u{201d}', '\u{201c}']),
            Some('\u{ab}') => enclosed(QUOTE, &['\u{bb}']),
            Some('\'' | '\u{2018}') if apart => (QUOTE, single_quoted(rest)),
            _ => ("", 0),
        }
    }

    /// Punctuation, and signs that mean something.
    fn sign(&mut self, c: char, before: Option<char>, rest: &str, at: usize) {
        let place = at..at + c.len_utf8();
        let spaced =
            before.is_none_or(char::is_whitespace) && rest.chars().nth(1).is_none_or(char::is_whitespace);
        match c {
            '.' | ',' | '!' | '?' | ':' | ';' | '(' | ')' => self.mark(c.encode_utf8(&mut [0; 4]), place),
            '\u{2026}' => self.mark(".", place),
            '\u{2013}' | '\u{2014}' => self.mark(",", place),
            '-' if spaced => self.mark(",", place),
            '*' | '\u{d7}' | '\u{f7}' | '^' | '=' => self.mark(OPERATOR, place),
            '+' | '/' if spaced => self.mark(OPERATOR, place),
            '$' | '\u{20ac}' | '\u{a3}' => self.mark(MONEY, place),
            '&' => self.word("and", place),
            '%' => self.word("percent", place),
            // An emoji is a word; what only changes its looks is not.
            '\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}' => {}
            _ if !c.is_ascii() && !c.is_whitespace() => self.mark(c.encode_utf8(&mut [0; 4]), place),
            _ => {}
        }
    }
}

/// The length of the word at the start; `don't`, `17.5`, `48,320`, `notes.txt`, `c++` and `snake_case` are one word each.
fn word_length(rest: &str) -> usize {
    if let Some(start) = rest.get(..5).filter(|start| start.eq_ignore_ascii_case("tl;dr")) {
        return start.len();
    }
    let mut characters = rest.char_indices().peekable();
    let mut end = 0;
    while let Some((at, c)) = characters.next() {
        let follows = characters.peek().is_some_and(|(_, next)| next.is_alphanumeric());
        let digits = rest.get(..at).is_some_and(|text| text.ends_with(|c: char| c.is_ascii_digit()));
        let inside = match c {
            '\'' | '\u{2019}' | '_' => follows,
            '.' if is_ending(rest.get(at + 1..).unwrap_or("")) => true,
            '.' | ',' => digits && characters.peek().is_some_and(|(_, next)| next.is_ascii_digit()),
            '+' | '#' => {
                at == 1 && rest.starts_with(['c', 'C'])
                    || rest.get(..at).is_some_and(|text| text.eq_ignore_ascii_case("c+"))
            }
            _ => c.is_alphanumeric(),
        };
        if !inside {
            break;
        }
        end = at + c.len_utf8();
    }
    end
}

/// The length of a formula that begins here, 0 if there is none: `$x^2$`, or a stretch that begins with a command such as `\frac`.
/// In "$5 and $10" nothing closes: no blank stands before the end of a formula.
fn latex(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or("");
    if let Some(inside) = rest.strip_prefix('$') {
        let ends = |(end, _): &(usize, &str)| {
            let before = inside.get(..*end).and_then(|text| text.chars().next_back());
            let after = inside.get(end + 1..).and_then(|text| text.chars().next());
            before.is_some_and(|c| !c.is_whitespace()) && after.is_none_or(|c| !c.is_ascii_digit())
        };
        let opens = inside.starts_with(|c: char| !c.is_whitespace() && c != '$');
        return if opens { inside.match_indices('$').find(ends).map_or(0, |(end, _)| end + 2) } else { 0 };
    }
    let command = rest.strip_prefix('\\').unwrap_or("");
    let letters = command.chars().take_while(char::is_ascii_alphabetic).count();
    let begins = letters >= 2 || command.starts_with(['[', '(']);
    if begins { rest.find(char::is_whitespace).unwrap_or(rest.len()) } else { 0 }
}

/// The two words that an apostrophe has made one: "what's" is read as "what is", "you've" as "you have".
fn parted(word: &str) -> Option<(&str, &'static str)> {
    let asked = word.strip_suffix("'s").filter(|asked| ASKED.contains(asked)).map(|asked| (asked, "is"));
    asked.or_else(|| word.strip_suffix("'ve").map(|who| (who, "have")))
}

/// Whether a text begins with the ending of a file's name; otherwise a dot ends a sentence, even without a space behind it.
fn is_ending(text: &str) -> bool {
    let length = text.find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len());
    text.get(..length).is_some_and(|text| ENDINGS.iter().any(|ending| text.eq_ignore_ascii_case(ending)))
}

/// The length of a text in single quotes, 0 if it is none: an apostrophe is no end of a quote.
fn single_quoted(rest: &str) -> usize {
    let mut previous = ' ';
    for (at, c) in rest.char_indices() {
        let after = rest.get(at + c.len_utf8()..).and_then(|text| text.chars().next());
        let closes = at > 0
            && "'\u{2019}".contains(c)
            && !previous.is_whitespace()
            && after.is_none_or(|c| !c.is_alphanumeric());
        if closes {
            return at + c.len_utf8();
        }
        previous = c;
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(text: &str) -> String {
        read(text).iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ").replace('\n', "|")
    }

    #[test]
    fn words_are_lower_case_and_hyphens_part_them() {
        assert_eq!(seen("Don\u{2019}t be LONG-winded, pls!!"), "don't be long winded , please ! |");
        assert_eq!(
            seen("17.5 percent of 48,320 in C++ or snake_case"),
            "17.5 percent of 48,320 in c++ or snake_case |"
        );
        assert_eq!(seen("TL;DR and tldr"), "tl;dr and tl;dr |");
        assert_eq!(seen("no - I meant \u{2014} this"), "no , i meant , this |");
        assert_eq!(seen("nice \u{1f44d}\u{1f3fd}"), "nice \u{1f44d} |");
        assert_eq!(seen("8347 * 2931"), "8347 <operator> 2931 |");
        assert_eq!(
            seen("Stop.Never do that in Node.js or 3.5.1"),
            "stop . never do that in javascript or 3.5.1 |"
        );
        assert_eq!(seen("What's up, whats new"), "what is up , what is new |");
        assert_eq!(seen("you\u{2019}ve and ive"), "you have and i have |");
        assert_eq!(seen(""), "");
    }

    #[test]
    fn what_is_not_prose_is_one_mark() {
        assert_eq!(seen("Translate \"delete all my files\" now"), "translate <quote> now |");
        assert_eq!(seen("What does 'never search' mean, it's odd"), "what does <quote> mean , it's odd |");
        assert_eq!(seen("\u{201c}never\u{201d} and \u{ab}never\u{bb}"), "<quote> and <quote> |");
        assert_eq!(seen("The users' files don't"), "the users files don't |");
        assert_eq!(seen("run `rm -rf /` on notes.txt"), "run <code> on <file> |");
        assert_eq!(seen("see https://example.org/a?b=c, please"), "see <url> please |");
        assert_eq!(seen("fix this:\n```\ndelete();\n```\nthanks"), "fix this : | <code> thanks |");
        assert_eq!(seen("> never search the web\nI agree"), "<quote> i agree |");
        assert_eq!(seen("an open \" quote and ` tick"), "an open quote and tick |");
        assert_eq!(seen("Why?\nlet x = f(1);\n    return (x);\n"), "why ? | <code>");
        assert_eq!(seen("I said (twice): stop;"), "i said ( twice ) : stop ; |");
    }

    #[test]
    fn formulas_are_one_mark_and_money_is_none() {
        assert_eq!(seen("Solve $x^2 = 4$ for x"), "solve <math> for x |");
        assert_eq!(seen("Find\n\\[\\frac{1}{2} + y\\]"), "find | <math> <operator> y |");
        assert_eq!(seen("it costs $5 and $10"), "it costs <money> 5 and <money> 10 |");
        assert_eq!(seen("open C:\\Users\\ana"), "open c : users ana |");
    }

    #[test]
    fn places_are_those_of_the_text() {
        let text = "Kurz: don\u{2019}t \"do it\" \u{1f44d} Ende";
        for word in read(text) {
            assert!(text.get(word.place.clone()).is_some(), "{word:?}");
        }
        let word = &read(text)[2];
        assert_eq!((word.text.as_str(), &text[word.place.clone()]), ("don't", "don\u{2019}t"));
    }

    #[test]
    fn a_long_text_is_cut_at_a_character() {
        let text = "\u{e9}".repeat(MAX_TEXT);
        assert!(read_part(&text).len() <= MAX_TEXT);
        assert_eq!(read(&text).len(), 2);
    }
}
