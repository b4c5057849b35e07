//! The key to an endpoint, which is never shown.

use super::LlmError;
use std::fmt;
use ureq::http::HeaderValue;

/// Where a key is looked for, in this order.
const VARIABLES: [&str; 2] = ["FABLE_API_KEY", "OPENAI_API_KEY"];

/// An API key.
#[derive(Clone)]
pub struct Key(HeaderValue);

impl Key {
    /// The key of `FABLE_API_KEY`, or else of `OPENAI_API_KEY`; `None` when neither is set, which is fine for a server of
    /// one's own.
    ///
    /// # Errors
    /// [`LlmError::Key`] for a key that cannot be sent in a header.
    pub fn from_env() -> Result<Option<Self>, LlmError> {
        Self::from_variables(|name| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned()))
    }

    fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, LlmError> {
        let found = VARIABLES.into_iter().filter_map(variable).find(|text| !text.trim().is_empty());
        found.map(|text| Self::new(text.trim())).transpose()
    }

    /// A key from elsewhere.
    ///
    /// # Errors
    /// [`LlmError::Key`] for a key that is empty or has anything but visible ASCII characters.
    pub fn new(text: &str) -> Result<Self, LlmError> {
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(LlmError::Key);
        }
        let mut value = HeaderValue::from_str(&format!("Bearer {text}")).map_err(|_| LlmError::Key)?;
        value.set_sensitive(true);
        Ok(Self(value))
    }

    /// A text without the key, should a server repeat it.
    pub(super) fn hidden_in(&self, text: &str) -> String {
        let token = self.0.to_str().ok().and_then(|header| header.strip_prefix("Bearer "));
        token.map_or_else(|| text.to_owned(), |token| text.replace(token, "[key]"))
    }

    /// For the header `Authorization`.
    pub(crate) fn header(&self) -> HeaderValue {
        self.0.clone()
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(hidden)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fables_own_key_comes_first_and_an_empty_one_is_none() {
        let pick = |own: Option<&str>, other: Option<&str>| {
            let given = |name: &str| if name == "FABLE_API_KEY" { own } else { other }.map(str::to_owned);
            Key::from_variables(given).map(|key| key.map(|key| key.0.to_str().unwrap().to_owned()))
        };
        let bearer = |key: &str| Ok(Some(format!("Bearer {key}")));
        assert_eq!(pick(Some("sk-own"), Some("sk-other")), bearer("sk-own"));
        assert_eq!(pick(None, Some("sk-other\n")), bearer("sk-other"));
        assert_eq!(pick(Some(" "), Some("sk-other")), bearer("sk-other"));
        assert_eq!(pick(None, None), Ok(None));
        for bad in ["sk own", "sk\nown", "schl\u{fc}ssel"] {
            assert_eq!(pick(Some(bad), Some("sk-other")), Err(LlmError::Key));
        }
    }

    #[test]
    fn a_key_does_not_show_itself() {
        let key = Key::new("sk-secret").unwrap();
        assert_eq!(format!("{key:?} {:?}", Some(&key)), "Key(hidden) Some(Key(hidden))");
        assert!(!format!("{:?}", key.header()).contains("secret"));
    }
}
