//! JSON that a model was asked for: found in what it wrote, checked, and asked for again when it is not usable.
//!
//! Endpoints differ in what they know of schemas, so none is sent. The object may stand in a sentence or in a fence.

use super::model::Model;
use super::wording::{Role, message};
use crate::setup::StudyError;
use serde_json::Value;

/// How often a model is asked again for what it was asked for.
const AGAIN: usize = 2;
/// Most of an unusable answer that is sent back.
const QUOTED: usize = 500;
/// Most tokens of such an answer. Models that think first need room for it.
pub const SHORT: u32 = 1000;

const AGAIN_TEXT: &str =
    "That is not the JSON object that was asked for. Answer with this object and nothing else.";

/// The last object in a text that is one; what comes before it may be thoughts.
fn object(text: &str) -> Option<Value> {
    let end = text.rfind('}')? + 1;
    let mut starts = text.match_indices('{').map(|(start, _)| start);
    starts.find_map(|start| serde_json::from_str::<Value>(text.get(start..end)?).ok())
}

/// Asks until `read` makes something of the object, at most three times. `None` when it never does; the transcripts tell why.
///
/// # Errors
/// What [`Model::ask`] says.
pub fn ask<T>(
    model: &Model,
    role: Role,
    place: &str,
    mut messages: Vec<Value>,
    read: impl Fn(&Value) -> Option<T>,
) -> Result<Option<T>, StudyError> {
    for turn in 0..=AGAIN {
        let place = if turn == 0 { place.to_owned() } else { format!("{place}-{}", turn + 1) };
        let answer = model.ask(place, model.wording.request(role, &messages, SHORT, None))?;
        if let Some(found) = object(&answer.content).as_ref().and_then(&read) {
            return Ok(Some(found));
        }
        messages.push(message("assistant", &answer.content.chars().take(QUOTED).collect::<String>()));
        messages.push(message("user", AGAIN_TEXT));
    }
    Ok(None)
}

/// A truth value of an object; 0 and 1 count as such.
#[must_use]
pub fn truth(object: &Value, key: &str) -> Option<bool> {
    match object.get(key)? {
        Value::Bool(truth) => Some(*truth),
        Value::Number(number) if number.as_u64() == Some(0) => Some(false),
        Value::Number(number) if number.as_u64() == Some(1) => Some(true),
        _ => None,
    }
}

/// A number of an object within bounds.
#[must_use]
pub fn number(object: &Value, key: &str, (least, most): (f64, f64)) -> Option<f64> {
    object.get(key)?.as_f64().filter(|number| (least..=most).contains(number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_object_is_found_in_what_stands_around_it() {
        for text in [
            "{\"a\": 1}",
            "```json\n{\"a\": 1}\n```",
            "Set {1, 2}. So: {\"a\": 1} Done.",
            "{x} {y} {\"a\":1}",
        ] {
            assert_eq!(object(text), Some(json!({ "a": 1 })), "{text}");
        }
        for text in ["", "no", "{\"a\": 1", "}{", "{\"a\": }"] {
            assert_eq!(object(text), None, "{text}");
        }
    }

    #[test]
    fn values_are_checked() {
        let object = json!({ "yes": true, "one": 1, "two": 2, "text": "true", "score": 70.5 });
        assert_eq!(
            ["yes", "one", "two", "text", "none"].map(|key| truth(&object, key)),
            [Some(true), Some(true), None, None, None]
        );
        assert_eq!(number(&object, "score", (0.0, 100.0)), Some(70.5));
        assert_eq!([number(&object, "score", (0.0, 1.0)), number(&object, "text", (0.0, 1.0))], [None, None]);
    }
}
