//! Bearer tokens and what they allow. Only their hashes are kept, and nothing shows one.

use axum::http::HeaderValue;
use ring::digest::{Digest, SHA256, digest};
use std::fmt;
use std::io;
use std::path::PathBuf;

/// Fewest bytes of a token.
pub const MIN_TOKEN: usize = 16;
/// Largest file of tokens.
const LARGEST: u64 = 1 << 20;

/// What a request may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Whoever asks.
    Anyone,
    /// Decide, and say how it went.
    Decide,
    /// Everything.
    All,
}

/// The tokens of a service. None at all, the default, allow everything to whoever can connect.
#[derive(Clone, Default)]
pub struct Tokens(Vec<(Role, Digest)>);

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tokens({} hidden)", self.0.len())
    }
}

impl Tokens {
    /// The tokens of `FABLE_TOKENS_DECIDE` and `FABLE_TOKENS_ALL`, between commas, or of the files that `FABLE_TOKENS_DECIDE_FILE` and
    /// `FABLE_TOKENS_ALL_FILE` name, between commas or line ends.
    ///
    /// # Errors
    /// See [`TokenError`].
    pub fn from_env() -> Result<Self, TokenError> {
        Self::from_variables(|name| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned()))
    }

    fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<Self, TokenError> {
        let mut tokens = Self::default();
        for (role, name) in [(Role::Decide, "FABLE_TOKENS_DECIDE"), (Role::All, "FABLE_TOKENS_ALL")] {
            let file = format!("{name}_FILE");
            let text = match (variable(name), variable(&file)) {
                (None, None) => continue,
                (Some(_), Some(_)) => return Err(TokenError::Both { variable: name }),
                (Some(text), None) => text,
                (None, Some(path)) => read(path.into())?,
            };
            tokens.add(role, &text).map_err(|wrong| wrong(name))?;
        }
        Ok(tokens)
    }

    /// Adds tokens between commas or line ends.
    fn add(&mut self, role: Role, text: &str) -> Result<(), fn(&'static str) -> TokenError> {
        let before = self.0.len();
        for token in text.split([',', '\n']).map(str::trim).filter(|token| !token.is_empty()) {
            if token.len() < MIN_TOKEN || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
                return Err(|variable| TokenError::Unfit { variable });
            }
            self.0.push((role, digest(&SHA256, token.as_bytes())));
        }
        // What is empty was meant to hold something, and must not open the door.
        if self.0.len() == before { Err(|variable| TokenError::Empty { variable }) } else { Ok(()) }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What the header `Authorization` allows; `None` for a token that is not known. Every token is compared, and all of it.
    pub(super) fn role(&self, header: Option<&HeaderValue>) -> Option<Role> {
        if self.0.is_empty() {
            return Some(Role::All);
        }
        let (scheme, token) = header?.as_bytes().split_at_checked(7)?;
        if !scheme.eq_ignore_ascii_case(b"bearer ") {
            return None;
        }
        let given = digest(&SHA256, token.trim_ascii());
        let matches = |known: &Digest| {
            let bytes = known.as_ref().iter().zip(given.as_ref());
            bytes.fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
        };
        self.0
            .iter()
            .filter(|(_, known)| matches(known))
            .map(|(role, _)| *role)
            .fold(None, |best, role| best.max(Some(role)))
    }
}

fn read(path: PathBuf) -> Result<String, TokenError> {
    let length = std::fs::metadata(&path).map(|data| data.len());
    let read = match length {
        Ok(length) if length > LARGEST => Err(io::ErrorKind::FileTooLarge.into()),
        Ok(_) => std::fs::read_to_string(&path),
        Err(error) => Err(error),
    };
    read.map_err(|error| TokenError::Unreadable { file: path, error })
}

/// Why tokens cannot be used. No variant has one in it.
#[derive(Debug)]
#[non_exhaustive]
pub enum TokenError {
    /// A token is too short, or has anything but visible ASCII characters.
    Unfit {
        /// Where it is.
        variable: &'static str,
    },
    /// The variable, or its file, is there and has no token in it.
    Empty {
        /// Which.
        variable: &'static str,
    },
    /// The variable is given, and so is the one that names a file.
    Both {
        /// Which.
        variable: &'static str,
    },
    /// The file cannot be read.
    Unreadable {
        /// Which.
        file: PathBuf,
        /// The system's reason.
        error: io::Error,
    },
}

impl fmt::Display for TokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unfit { variable } => {
                write!(
                    f,
                    "{variable}: a token has at least {MIN_TOKEN} visible ASCII characters; `openssl rand -hex 32` makes one"
                )
            }
            Self::Empty { variable } => write!(f, "{variable} has no token in it"),
            Self::Both { variable } => write!(f, "give {variable} or {variable}_FILE, not both"),
            Self::Unreadable { file, error } => write!(f, "{}: {error}", file.display()),
        }
    }
}

impl std::error::Error for TokenError {}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "one-token-of-16b";
    const TWO: &str = "two-tokens-of-more-than-16-bytes";

    fn given(variables: &[(&str, &str)]) -> Result<Tokens, String> {
        let find =
            |name: &str| variables.iter().find(|(own, _)| *own == name).map(|(_, value)| (*value).to_owned());
        Tokens::from_variables(find).map_err(|error| error.to_string())
    }

    #[test]
    fn a_token_has_its_role_and_no_other() {
        let tokens = given(&[
            ("FABLE_TOKENS_DECIDE", &format!("{ONE}, {TWO}")),
            ("FABLE_TOKENS_ALL", "all-is-mine-to-do"),
        ])
        .unwrap();
        let role = |header: &str| tokens.role(Some(&HeaderValue::from_str(header).unwrap()));
        assert_eq!(role(&format!("Bearer {ONE}")), Some(Role::Decide));
        assert_eq!(role(&format!("bearer {TWO}")), Some(Role::Decide));
        assert_eq!(role("Bearer all-is-mine-to-do"), Some(Role::All));
        for wrong in [
            "",
            "Bearer",
            "Bearer ",
            "Basic b25lOnR3bw==",
            ONE,
            &format!("Bearer {ONE}x"),
            "Bearer one-token-of-16",
        ] {
            assert_eq!(role(wrong), None, "{wrong}");
        }
        assert_eq!(tokens.role(None), None);
        assert_eq!(Tokens::default().role(None), Some(Role::All));
        assert_eq!(format!("{tokens:?}"), "Tokens(3 hidden)");
    }

    #[test]
    fn files_and_what_is_wrong() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), format!("{ONE}\n{TWO}\n")).unwrap();
        let path = file.path().to_str().unwrap();
        let tokens = given(&[("FABLE_TOKENS_ALL_FILE", path)]).unwrap();
        assert_eq!(
            tokens.role(Some(&HeaderValue::from_str(&format!("Bearer {TWO}")).unwrap())),
            Some(Role::All)
        );
        assert!(given(&[]).unwrap().is_empty());
        let wrong = |variables: &[(&str, &str)]| given(variables).unwrap_err();
        assert_eq!(wrong(&[("FABLE_TOKENS_ALL", " ,")]), "FABLE_TOKENS_ALL has no token in it");
        assert_eq!(
            wrong(&[("FABLE_TOKENS_ALL", ONE), ("FABLE_TOKENS_ALL_FILE", path)]),
            "give FABLE_TOKENS_ALL or FABLE_TOKENS_ALL_FILE, not both"
        );
        for unfit in ["short", "with a blank in it", "schl\u{fc}ssel-der-zu-uns"] {
            let said = wrong(&[("FABLE_TOKENS_DECIDE", unfit)]);
            assert!(
                said.starts_with("FABLE_TOKENS_DECIDE: a token has at least 16") && !said.contains(unfit),
                "{said}"
            );
        }
        assert!(wrong(&[("FABLE_TOKENS_ALL_FILE", "/nowhere/at-all")]).starts_with("/nowhere/at-all: "));
    }
}
