//! Whole chat completions: a request as the caller wrote it, and the parts of the answer that an experiment keeps.
//!
//! The readings of this module ask for JSON and fall back on rules; whoever measures a model must not. So nothing stands in
//! here, an answer that breaks off is an answer, calls of tools are kept, and a refusal says when to come back.

use super::client::Client;
use super::{Endpoint, Key, LlmError};
use serde_json::{Value, json};
use std::fmt;
use std::time::Duration;

/// Most bytes of a completion that are read: models that think aloud send much more than their answer.
const MAX_COMPLETION: usize = 4 << 20;

/// A client for whole chat completions.
#[derive(Clone, Debug)]
pub struct Chat {
    client: Client,
}

/// What is kept of a completion. The key is not in it, even if the server repeats it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// The text, without space around it; empty where there is only a call of a tool.
    pub content: String,
    /// The tools that the model wants called, in its order.
    pub calls: Vec<ToolCall>,
    /// Why the model stopped, as the server says it: `stop`, `length`, `tool_calls`; empty where it does not.
    pub finish: String,
    /// The model as the server names it; empty where it does not.
    pub model: String,
    /// Tokens of the request and of the answer, where the server counts them.
    pub tokens: Option<(u64, u64)>,
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall {
    /// What its result has to name.
    pub id: String,
    /// The function.
    pub name: String,
    /// Its arguments, JSON as the model wrote it: to be checked like anything that a model writes.
    pub arguments: String,
}

/// Why there is no completion, and when to come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What went wrong.
    pub error: LlmError,
    /// How long the server wants to be left alone, if it says so in seconds.
    pub retry_after: Option<Duration>,
}

impl Refusal {
    /// Whether the same request may be answered later: too many requests, a server that fails, is slow or away.
    #[must_use]
    pub const fn may_pass(&self) -> bool {
        match self.error {
            LlmError::Status(status) => matches!(status, 408 | 409 | 425 | 429 | 500..=599),
            LlmError::Timeout | LlmError::Unreachable(_) | LlmError::NotAnAnswer => true,
            _ => false,
        }
    }
}

impl From<LlmError> for Refusal {
    fn from(error: LlmError) -> Self {
        Self { error, retry_after: None }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl std::error::Error for Refusal {}

impl Chat {
    /// A client of this endpoint. Nothing is sent yet. The endpoint's model and temperature are not used: a request has its own.
    ///
    /// # Errors
    /// An address that is not one, or a key that would travel unencrypted.
    pub fn new(endpoint: Endpoint, key: Option<Key>) -> Result<Self, LlmError> {
        Ok(Self { client: Client::new(endpoint, key)? })
    }

    /// Sends a request, the whole body of `/chat/completions`.
    ///
    /// # Errors
    /// [`Refusal`] when there is no completion.
    pub fn complete(&self, request: &Value) -> Result<Completion, Refusal> {
        let body = self.client.post_patiently("chat/completions", request, MAX_COMPLETION)?;
        let envelope: Value = serde_json::from_slice(&body).map_err(|_| LlmError::NotAnAnswer)?;
        Ok(self.kept(&envelope)?)
    }

    fn kept(&self, envelope: &Value) -> Result<Completion, LlmError> {
        let choice =
            envelope.get("choices").and_then(|choices| choices.get(0)).ok_or(LlmError::NotAnAnswer)?;
        let message =
            choice.get("message").filter(|message| message.is_object()).ok_or(LlmError::NotAnAnswer)?;
        let text = |value: &Value, key: &str| {
            let text = value.get(key).and_then(Value::as_str).unwrap_or_default();
            self.client.without_key(text.trim().to_owned())
        };
        if message.get("content").is_some_and(|content| !content.is_string() && !content.is_null()) {
            return Err(LlmError::NotAnAnswer);
        }
        let mut calls = Vec::new();
        for call in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            let function =
                call.get("function").filter(|function| function.is_object()).ok_or(LlmError::NotAnAnswer)?;
            calls.push(ToolCall {
                id: text(call, "id"),
                name: text(function, "name"),
                arguments: text(function, "arguments"),
            });
        }
        let count = |key: &str| envelope.get("usage")?.get(key)?.as_u64();
        Ok(Completion {
            content: text(message, "content"),
            calls,
            finish: text(choice, "finish_reason"),
            model: text(envelope, "model"),
            tokens: count("prompt_tokens").zip(count("completion_tokens")),
        })
    }
}

impl Completion {
    /// The message that a conversation goes on with after this answer.
    #[must_use]
    pub fn message(&self) -> Value {
        let mut message = json!({ "role": "assistant", "content": self.content });
        if !self.calls.is_empty() {
            let call = |call: &ToolCall| {
                let function = json!({ "name": call.name, "arguments": call.arguments });
                json!({ "id": call.id, "type": "function", "function": function })
            };
            message["tool_calls"] = self.calls.iter().map(call).collect();
        }
        message
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chat() -> Chat {
        Chat::new(Endpoint::new("https://host/v1", "m"), Some(Key::new("sk-secret").unwrap())).unwrap()
    }

    #[test]
    fn calls_of_tools_are_kept_and_the_key_is_not() {
        let function = json!({ "name": "web_search", "arguments": "{\"query\":\"sk-secret\"}" });
        let message = json!({ "content": null, "tool_calls": [{ "id": "c1", "type": "function", "function": function }] });
        let usage = json!({ "prompt_tokens": 7, "completion_tokens": 3 });
        let choice = json!({ "message": message, "finish_reason": "tool_calls" });
        let kept = chat().kept(&json!({ "model": "m", "choices": [choice], "usage": usage })).unwrap();
        assert_eq!(
            (kept.content.as_str(), kept.finish.as_str(), kept.tokens),
            ("", "tool_calls", Some((7, 3)))
        );
        assert_eq!(kept.calls[0].arguments, "{\"query\":\"[key]\"}");
        assert_eq!(kept.message()["tool_calls"][0]["function"]["name"], "web_search");
        let said = json!({ "choices": [{ "message": { "content": " your key is sk-secret " }, "finish_reason": "length" }] });
        let kept = chat().kept(&said).unwrap();
        assert_eq!(
            (kept.content.as_str(), kept.finish.as_str(), kept.tokens),
            ("your key is [key]", "length", None)
        );
        assert_eq!(kept.message(), json!({ "role": "assistant", "content": "your key is [key]" }));
    }

    #[test]
    fn what_is_not_a_completion_is_not_taken_for_one() {
        for body in [
            "{}",
            "[]",
            "{\"choices\":[]}",
            "{\"choices\":[{}]}",
            "{\"choices\":[{\"message\":{\"content\":3}}]}",
        ] {
            assert_eq!(
                chat().kept(&serde_json::from_str(body).unwrap()),
                Err(LlmError::NotAnAnswer),
                "{body}"
            );
        }
    }

    #[test]
    fn only_what_may_pass_is_worth_another_try() {
        let may_pass = |error: LlmError| Refusal::from(error).may_pass();
        for error in [LlmError::Status(429), LlmError::Status(503), LlmError::Timeout, LlmError::NotAnAnswer]
        {
            assert!(may_pass(error), "{error}");
        }
        for error in [
            LlmError::Status(400),
            LlmError::Status(401),
            LlmError::Status(404),
            LlmError::Redirect,
            LlmError::TooLong,
        ] {
            assert!(!may_pass(error), "{error}");
        }
    }
}
