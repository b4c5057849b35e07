//! Rust as words and marks with their lines, without comments, strings and lifetimes: all that paths are made of.

/// A word, `::`, or a single mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) text: String,
    pub(crate) line: usize,
}

impl Token {
    pub(crate) fn is(&self, text: &str) -> bool {
        self.text == text
    }

    pub(crate) fn is_word(&self) -> bool {
        self.text.starts_with(|c: char| c.is_alphabetic() || c == '_')
    }
}

/// Reads a source file.
pub(crate) fn read(source: &str) -> Vec<Token> {
    let characters: Vec<char> = source.chars().collect();
    let at = |index: usize| characters.get(index).copied().unwrap_or('\0');
    let (mut tokens, mut index, mut line) = (Vec::new(), 0, 1);
    while index < characters.len() {
        let start = index;
        match at(index) {
            '/' if at(index + 1) == '/' => {
                index += characters[index..].iter().take_while(|c| **c != '\n').count();
            }
            '/' if at(index + 1) == '*' => index = block_comment(&characters, index),
            '"' => index = string(&characters, index + 1),
            'r' | 'b' | 'c' if raw_string(&characters, index).is_some() => {
                index = raw_string(&characters, index).unwrap_or(index);
            }
            'b' | 'c' if at(index + 1) == '"' => index = string(&characters, index + 2),
            // A character, or else a lifetime.
            '\'' if at(index + 1) == '\\' => {
                index += 3 + characters[index + 3..].iter().take_while(|c| **c != '\'').count() + 1;
            }
            '\'' if at(index + 2) == '\'' => index += 3,
            c if c.is_alphanumeric() || c == '_' => {
                index += characters[index..].iter().take_while(|c| c.is_alphanumeric() || **c == '_').count();
                tokens.push(Token { text: characters[start..index].iter().collect(), line });
            }
            ':' if at(index + 1) == ':' => {
                index += 2;
                tokens.push(Token { text: "::".into(), line });
            }
            c => {
                index += 1;
                if !c.is_whitespace() && c != '\'' {
                    tokens.push(Token { text: c.into(), line });
                }
            }
        }
        index = index.min(characters.len());
        line += characters[start..index].iter().filter(|c| **c == '\n').count();
    }
    tokens
}

/// After a comment that begins here; comments nest.
fn block_comment(characters: &[char], mut index: usize) -> usize {
    let mut depth = 0;
    while index < characters.len() {
        match (characters[index], characters.get(index + 1)) {
            ('/', Some('*')) => (depth, index) = (depth + 1, index + 2),
            ('*', Some('/')) => (depth, index) = (depth - 1, index + 2),
            _ => index += 1,
        }
        if depth == 0 {
            break;
        }
    }
    index
}

/// After the end of a string whose first character is here.
fn string(characters: &[char], mut index: usize) -> usize {
    while index < characters.len() && characters[index] != '"' {
        index += if characters[index] == '\\' { 2 } else { 1 };
    }
    index + 1
}

/// After the end of a raw string that begins here, if one does: `r"`, `r#"`, `br"`.
fn raw_string(characters: &[char], index: usize) -> Option<usize> {
    let prefix = characters[index..].iter().take_while(|c| matches!(c, 'b' | 'c' | 'r')).count();
    let hashes = characters[index + prefix..].iter().take_while(|c| **c == '#').count();
    let start = index + prefix + hashes;
    if characters[index + prefix - 1] != 'r' || characters.get(start) != Some(&'"') {
        return None;
    }
    let ends = |end: usize| {
        characters[end] == '"'
            && characters[end + 1..].iter().take(hashes).filter(|c| **c == '#').count() == hashes
    };
    (start + 1..characters.len()).find(|end| ends(*end)).map(|end| end + 1 + hashes)
}
