//! Whom the tools ask: a service in this process, or one that runs elsewhere.

use crate::llm::{Key, LlmError, is_here};
use crate::serve::{Incoming, Service};
use serde_json::Value;
use std::fmt;
use std::sync::mpsc::channel;
use std::time::Duration;
use ureq::Agent;
use ureq::http::Uri;
use ureq::http::header::{AUTHORIZATION, CONTENT_TYPE};

/// How long an op may take.
const PATIENCE: Duration = Duration::from_mins(1);
/// Most bytes of an answer.
const MAX_ANSWER: u64 = 16 << 20;

/// Why an op was refused: the code for programs, a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The code of the protocol, or of HTTP.
    pub code: String,
    /// The sentence.
    pub message: String,
}

impl Refused {
    /// A refusal with its sentence.
    pub fn new(code: &str, message: impl fmt::Display) -> Self {
        Self { code: code.to_owned(), message: message.to_string() }
    }

    /// Whether the service does not know the op.
    #[must_use]
    pub fn is_unknown_op(&self) -> bool {
        ["unknown_op", "not_found"].contains(&self.code.as_str())
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refused {}

/// Answers ops of the [protocol](crate::serve).
pub trait Backend: Send + Sync {
    /// The answer to an op with these keys, `op` aside.
    ///
    /// # Errors
    /// As the service refuses it, or no answer.
    fn ask(&self, op: &str, body: &Value) -> Result<Value, Refused>;
}

impl<B: Backend + ?Sized> Backend for &B {
    fn ask(&self, op: &str, body: &Value) -> Result<Value, Refused> {
        (**self).ask(op, body)
    }
}

/// An answer as an answer or a refusal.
fn answered(json: &[u8]) -> Result<Value, Refused> {
    let answer: Value =
        serde_json::from_slice(json).map_err(|_| Refused::new("internal", "the answer is not JSON"))?;
    let Some(error) = answer.get("error") else { return Ok(answer) };
    // `backup` alone has an error that is a text, and no tool asks for it.
    let text = |key: &str| error.get(key).and_then(Value::as_str).unwrap_or("unknown");
    Err(Refused::new(text("code"), text("message")))
}

/// A service in this process.
#[derive(Clone, Debug)]
pub struct Local(pub Service);

impl Backend for Local {
    fn ask(&self, op: &str, body: &Value) -> Result<Value, Refused> {
        let (told, answer) = channel();
        let incoming = Incoming::of_op(self.0.catalog(), op, body.to_string().as_bytes());
        // Whoever has gone does not need the answer.
        let reply = move |answered| drop(told.send(answered));
        self.0.submit(incoming, reply).map_err(|busy| Refused::new("busy", busy))?;
        let done = answer
            .recv_timeout(PATIENCE)
            .map_err(|_| Refused::new("internal", "the service does not answer"))?;
        answered(&done.json)
    }
}

/// A service that runs elsewhere: `fable serve --http`.
#[derive(Clone, Debug)]
pub struct Remote {
    base: String,
    token: Option<Key>,
    agent: Agent,
}

/// Why a service cannot be asked like this.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RemoteError {
    /// The address is not one.
    Address,
    /// The token would travel unencrypted.
    Insecure,
    /// The token cannot be sent.
    Token,
}

impl fmt::Display for RemoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Address => "the address of a service is http:// or https://, a host, and perhaps a path",
            Self::Insecure => "a token is not sent unencrypted to another machine: use https",
            Self::Token => "FABLE_TOKEN is empty or has anything but visible ASCII characters",
        })
    }
}

impl std::error::Error for RemoteError {}

impl Remote {
    /// A service at an address, before `/v1/OP`.
    ///
    /// # Errors
    /// An address that is not one, or a token that cannot be sent there.
    pub fn new(address: &str, token: Option<&str>) -> Result<Self, RemoteError> {
        let base = address.trim_end_matches('/').to_owned();
        let uri: Uri = base.parse().map_err(|_| RemoteError::Address)?;
        let host = uri.host().filter(|host| !host.is_empty()).ok_or(RemoteError::Address)?;
        if uri.authority().is_some_and(|authority| authority.as_str().contains('@'))
            || uri.query().is_some()
            || base.contains('#')
        {
            return Err(RemoteError::Address);
        }
        match uri.scheme_str() {
            Some("https") => {}
            Some("http") if token.is_none() || is_here(host) => {}
            Some("http") => return Err(RemoteError::Insecure),
            _ => return Err(RemoteError::Address),
        }
        let token = token.map(Key::new).transpose().map_err(|_: LlmError| RemoteError::Token)?;
        let config = Agent::config_builder()
            .timeout_global(Some(PATIENCE))
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .proxy(None)
            .user_agent(concat!("fable/", env!("CARGO_PKG_VERSION")))
            .build();
        Ok(Self { base, token, agent: config.new_agent() })
    }
}

impl Backend for Remote {
    fn ask(&self, op: &str, body: &Value) -> Result<Value, Refused> {
        let away = |_| Refused::new("unreachable", "the service cannot be reached");
        let mut request =
            self.agent.post(format!("{}/v1/{op}", self.base)).header(CONTENT_TYPE, "application/json");
        if let Some(token) = &self.token {
            request = request.header(AUTHORIZATION, token.header());
        }
        let mut response = request.send(body.to_string()).map_err(away)?;
        let bytes = response.body_mut().with_config().limit(MAX_ANSWER).read_to_vec().map_err(away)?;
        answered(&bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_one_and_a_token_stays_secret() {
        for wrong in
            ["", "localhost:8080", "ftp://here", "http://", "http://a@b", "http://a/?q", "http://a/#f"]
        {
            assert_eq!(Remote::new(wrong, None).unwrap_err(), RemoteError::Address, "{wrong}");
        }
        let token = "a-token-of-16-or-more";
        assert_eq!(Remote::new("http://db.example", Some(token)).unwrap_err(), RemoteError::Insecure);
        assert_eq!(Remote::new("https://db.example", Some("")).unwrap_err(), RemoteError::Token);
        for right in ["http://127.0.0.1:8080/", "https://db.example/fable", "http://[::1]:1"] {
            assert!(!format!("{:?}", Remote::new(right, Some(token)).unwrap()).contains(token), "{right}");
        }
        assert!(Remote::new("http://db.example", None).is_ok());
    }

    #[test]
    fn errors_are_refusals() {
        assert_eq!(answered(br#"{"forgotten":true}"#).unwrap()["forgotten"], true);
        let refused = answered(br#"{"error":{"code":"unknown_op","message":"there is no op"}}"#).unwrap_err();
        assert!(refused.is_unknown_op() && refused.message == "there is no op");
        assert_eq!(answered(b"<html>").unwrap_err().code, "internal");
    }
}
