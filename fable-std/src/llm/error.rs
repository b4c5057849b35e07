//! Why a model's answer could not be had or was not taken.

use std::fmt;

/// What went wrong. No text of a server is ever in here: it might repeat the key or try to persuade somebody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LlmError {
    /// The address is not like `https://host/v1`: http or https, a host, no user, no query.
    BaseUrl,
    /// The key is empty or has characters that a key cannot have.
    Key,
    /// The key would travel unencrypted.
    Insecure,
    /// No answer in time.
    Timeout,
    /// No connection, or it broke.
    Unreachable(&'static str),
    /// The server wants to send the request elsewhere, which is not done.
    Redirect,
    /// The server refuses: 401 and 403 are about the key, 429 is about too many requests.
    Status(u16),
    /// The answer is longer than anything that was asked for.
    TooLong,
    /// The server does not speak the protocol.
    NotAnAnswer,
    /// The model stopped in the middle.
    Truncated,
    /// The model declined.
    Declined,
    /// The model's answer is not what was asked for.
    Answer(&'static str),
}

impl fmt::Display for LlmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BaseUrl => f.write_str(
                "the address of the endpoint must be like https://host/v1, without user and query",
            ),
            Self::Key => f.write_str("the API key is empty or has characters that a key cannot have"),
            Self::Insecure => {
                f.write_str("the API key would travel unencrypted; use an https address, or no key")
            }
            Self::Timeout => f.write_str("the endpoint did not answer in time"),
            Self::Unreachable(why) => write!(f, "the endpoint cannot be reached: {why}"),
            Self::Redirect => f.write_str("the endpoint redirects elsewhere, which is not followed"),
            Self::Status(status @ (401 | 403)) => {
                write!(f, "the endpoint refused the API key (status {status})")
            }
            Self::Status(429) => f.write_str("the endpoint has had too many requests (status 429)"),
            Self::Status(status) => write!(f, "the endpoint failed (status {status})"),
            Self::TooLong => f.write_str("the endpoint's answer is too long"),
            Self::NotAnAnswer => f.write_str("the endpoint's answer is no chat completion"),
            Self::Truncated => f.write_str("the model's answer breaks off"),
            Self::Declined => f.write_str("the model declined to answer"),
            Self::Answer(what) => write!(f, "the model's answer is not usable: {what}"),
        }
    }
}

impl std::error::Error for LlmError {}
