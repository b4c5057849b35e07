//! Vectors of texts, from an endpoint that has a model for them: OpenAI's `/embeddings`.
//!
//! As with every answer nothing is believed: there must be one vector for each text, all of the same length, and every number finite.

use super::{Llm, LlmError};
use serde_json::{Value, json};

/// Most numbers in a vector.
const MOST: usize = 8_192;
/// Most bytes of an answer: a few dozen vectors of a few thousand numbers.
const MAX_VECTORS: usize = 16 << 20;

impl Llm {
    /// Whether the endpoint was said to have a model for vectors.
    #[must_use]
    pub const fn has_embeddings(&self) -> bool {
        self.client.embeddings().is_some()
    }

    /// A vector of each text, in order.
    ///
    /// # Errors
    /// [`LlmError`] when there is no answer, it is not usable, or the endpoint has no model for this.
    pub fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, LlmError> {
        let model = self.client.embeddings().ok_or(LlmError::Answer("no model for embeddings was named"))?;
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let body = json!({ "model": model, "input": texts, "encoding_format": "float" });
        let answer = self.client.post("embeddings", &body, MAX_VECTORS)?;
        let answer: Value = serde_json::from_slice(&answer).map_err(|_| LlmError::NotAnAnswer)?;
        let data = answer.get("data").and_then(Value::as_array).ok_or(LlmError::NotAnAnswer)?;
        if data.len() != texts.len() {
            return Err(LlmError::Answer("it has not one vector for each text"));
        }
        let mut vectors = vec![Vec::new(); data.len()];
        for (place, entry) in data.iter().enumerate() {
            let index = entry.get("index").map_or(Some(place), |index| usize::try_from(index.as_u64()?).ok());
            let slot = index.and_then(|index| vectors.get_mut(index)).filter(|slot| slot.is_empty());
            let slot = slot.ok_or(LlmError::Answer("its vectors are not in an order"))?;
            *slot = vector(
                entry
                    .get("embedding")
                    .and_then(Value::as_array)
                    .ok_or(LlmError::Answer("a vector is missing"))?,
            )?;
        }
        let length = vectors.first().map_or(0, Vec::len);
        if vectors.iter().any(|vector| vector.len() != length) {
            return Err(LlmError::Answer("its vectors have different lengths"));
        }
        Ok(vectors)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "what is too large is found then")]
fn vector(numbers: &[Value]) -> Result<Vec<f32>, LlmError> {
    if numbers.is_empty() || numbers.len() > MOST {
        return Err(LlmError::Answer("a vector has too few or too many numbers"));
    }
    let number =
        |number: &Value| number.as_f64().map(|number| number as f32).filter(|number| number.is_finite());
    let vector: Option<Vec<f32>> = numbers.iter().map(number).collect();
    vector.ok_or(LlmError::Answer("a vector has something that is no number"))
}
