//! The assistant itself: the instruction that was chosen for it, the request, and its answer as text.
//!
//! Unlike the readings this is what the model is for: nothing is checked but that there is an answer and that it does not
//! repeat the key. Whoever shows it on a terminal has to take control characters out.

use super::{Llm, LlmError};
use crate::memory::Exchange;
use serde_json::{Value, json};

impl Llm {
    /// The assistant's answer to a request under an instruction; `before` is the conversation so far, oldest first.
    ///
    /// # Errors
    /// [`LlmError`] when there is no answer.
    pub fn answer<'e>(
        &self,
        instruction: &str,
        before: impl IntoIterator<Item = &'e Exchange>,
        request: &str,
    ) -> Result<String, LlmError> {
        let message = |role: &str, content: &str| json!({ "role": role, "content": content });
        let mut messages = vec![message("system", instruction)];
        for Exchange { request, answer, .. } in before {
            messages.extend([message("user", request), message("assistant", answer)]);
        }
        messages.push(message("user", request));
        let answer = self.client.without_key(self.client.complete(&Value::Array(messages), None)?);
        if answer.is_empty() { Err(LlmError::Answer("it is empty")) } else { Ok(answer) }
    }
}
