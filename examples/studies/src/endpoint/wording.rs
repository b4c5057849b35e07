//! How requests are written.

use serde_json::{Value, json};

/// Who is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The model that is measured.
    Host,
    /// The model that judges it.
    Judge,
}

/// How requests are written: what is the same in all of them.
#[derive(Clone, Debug)]
pub struct Wording {
    /// The name of the model that is measured.
    pub host: String,
    /// The name of the judge.
    pub judge: String,
    /// The temperature; `None` leaves it out, for models that refuse it.
    pub temperature: Option<f64>,
    /// Whether the limit of tokens is called `max_completion_tokens`.
    pub new_limit: bool,
    /// Tokens on top of every limit, for a model that thinks before it answers.
    pub thoughts: u32,
    /// Whether equal requests share one answer.
    pub share: bool,
}

impl Wording {
    /// The body of a request.
    #[must_use]
    pub fn request(&self, role: Role, messages: &[Value], most: u32, tools: Option<&Value>) -> Value {
        let model = if role == Role::Host { &self.host } else { &self.judge };
        let mut body = json!({ "model": model, "messages": messages });
        if let Some(temperature) = self.temperature {
            body["temperature"] = temperature.into();
        }
        body[if self.new_limit { "max_completion_tokens" } else { "max_tokens" }] =
            most.saturating_add(self.thoughts).into();
        if let Some(tools) = tools {
            body["tools"] = tools.clone();
        }
        body
    }
}

/// A message of a conversation.
#[must_use]
pub fn message(role: &str, content: &str) -> Value {
    json!({ "role": role, "content": content })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_what_was_asked_for_and_nothing_else() {
        let wording = Wording {
            host: "h".into(),
            judge: "j".into(),
            temperature: Some(0.0),
            new_limit: false,
            thoughts: 0,
            share: false,
        };
        let request = wording.request(Role::Host, &[message("user", "hi")], 10, None);
        let expected = json!({ "model": "h", "messages": [{ "role": "user", "content": "hi" }], "temperature": 0.0, "max_tokens": 10 });
        assert_eq!(request, expected);
        let other = Wording { temperature: None, new_limit: true, thoughts: 90, ..wording };
        let request = other.request(Role::Judge, &[], 10, Some(&json!([])));
        assert_eq!(
            request,
            json!({ "model": "j", "messages": [], "max_completion_tokens": 100, "tools": [] })
        );
    }
}
