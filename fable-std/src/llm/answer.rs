//! Checks for the parts of an answer: exactly the keys that were asked for, numbers in their range, names that exist.

use super::LlmError;
use crate::catalogs::lookup;
use fable_core::Catalog;
use fable_core::catalog::When;
use serde_json::{Map, Value, json};

/// An object with exactly these keys.
pub(super) fn object<'v>(value: &'v Value, keys: &[&str]) -> Result<&'v Map<String, Value>, LlmError> {
    let map = value.as_object().ok_or(LlmError::Answer("an object is missing"))?;
    if keys.iter().any(|key| !map.contains_key(*key)) {
        return Err(LlmError::Answer("a key is missing"));
    }
    if map.len() != keys.len() {
        return Err(LlmError::Answer("it has a key that was not asked for"));
    }
    Ok(map)
}

/// One entry of an object.
pub(super) fn entry<'v>(map: &'v Map<String, Value>, key: &str) -> Result<&'v Value, LlmError> {
    map.get(key).ok_or(LlmError::Answer("a key is missing"))
}

/// A list of at most so many entries.
pub(super) fn list<'v>(map: &'v Map<String, Value>, key: &str, most: usize) -> Result<&'v [Value], LlmError> {
    let entries = entry(map, key)?.as_array().ok_or(LlmError::Answer("a list is missing"))?;
    if entries.len() > most { Err(LlmError::Answer("a list is too long")) } else { Ok(entries) }
}

/// A number in a range.
pub(super) fn number(map: &Map<String, Value>, key: &str, least: f64, most: f64) -> Result<f64, LlmError> {
    let number = entry(map, key)?.as_f64().ok_or(LlmError::Answer("a number is missing"))?;
    if (least..=most).contains(&number) {
        Ok(number)
    } else {
        Err(LlmError::Answer("a number is out of range"))
    }
}

/// True or false.
pub(super) fn truth(map: &Map<String, Value>, key: &str) -> Result<bool, LlmError> {
    entry(map, key)?.as_bool().ok_or(LlmError::Answer("a truth value is missing"))
}

/// A text.
pub(super) fn text<'v>(map: &'v Map<String, Value>, key: &str) -> Result<&'v str, LlmError> {
    entry(map, key)?.as_str().ok_or(LlmError::Answer("a text is missing"))
}

/// A text or null.
pub(super) fn text_or_null<'v>(map: &'v Map<String, Value>, key: &str) -> Result<Option<&'v str>, LlmError> {
    if entry(map, key)?.is_null() { Ok(None) } else { text(map, key).map(Some) }
}

/// The value that a name like `style=concise` stands for.
pub(super) fn value(catalog: &Catalog<'_>, name: &str) -> Result<(u8, u8), LlmError> {
    lookup::value(catalog, name)
        .map_err(|_| LlmError::Answer("it names a value that the catalog does not have"))
}

/// The condition that a name like `task=coding` or `risk` stands for.
pub(super) fn when(catalog: &Catalog<'_>, name: Option<&str>) -> Result<When, LlmError> {
    let Some(name) = name else { return Ok(When::Always) };
    let found = match name.strip_prefix("task=") {
        Some(task) => catalog.task(task).map(When::Task),
        None => catalog.signal(name).map(When::Signal),
    };
    found.map_err(|_| LlmError::Answer("it names a condition that the catalog does not have"))
}

/// The schema of an object with these properties, all of them required and no others allowed.
pub(super) fn object_schema<'a>(properties: impl IntoIterator<Item = (&'a str, Value)>) -> Value {
    let properties: Map<String, Value> =
        properties.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
    let required: Vec<&String> = properties.keys().collect();
    json!({ "type": "object", "required": required, "additionalProperties": false, "properties": properties })
}

/// The schema of one of these names, or of null.
pub(super) fn names_schema(names: &[String], or_null: bool) -> Value {
    let mut all: Vec<Value> = names.iter().map(|name| name.as_str().into()).collect();
    if or_null {
        all.push(Value::Null);
        return json!({ "type": ["string", "null"], "enum": all });
    }
    json!({ "type": "string", "enum": all })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fable_core::catalog::AGENT;

    #[test]
    fn every_lie_has_its_sentence() {
        let lie = |result: Result<(), LlmError>| match result {
            Err(LlmError::Answer(what)) => what,
            other => panic!("{other:?}"),
        };
        let map = json!({ "n": 1.5, "t": "x", "b": true, "l": [1, 2], "z": null });
        let map = map.as_object().unwrap();
        assert_eq!(lie(object(&json!([]), &[]).map(|_| ())), "an object is missing");
        assert_eq!(lie(object(&json!({ "a": 1 }), &["b"]).map(|_| ())), "a key is missing");
        assert_eq!(
            lie(object(&json!({ "a": 1, "sk-1": 1 }), &["a"]).map(|_| ())),
            "it has a key that was not asked for"
        );
        assert_eq!(lie(list(map, "t", 9).map(|_| ())), "a list is missing");
        assert_eq!(lie(list(map, "l", 1).map(|_| ())), "a list is too long");
        assert_eq!(lie(number(map, "t", 0.0, 1.0).map(|_| ())), "a number is missing");
        assert_eq!(lie(number(map, "n", 0.0, 1.0).map(|_| ())), "a number is out of range");
        assert_eq!(lie(truth(map, "t").map(|_| ())), "a truth value is missing");
        assert_eq!(lie(text(map, "n").map(|_| ())), "a text is missing");
        assert_eq!(text_or_null(map, "z"), Ok(None));
        for name in ["style", "style=", "style=loud", "mood=good", "=", ""] {
            assert_eq!(
                lie(value(&AGENT, name).map(|_| ())),
                "it names a value that the catalog does not have"
            );
        }
        for name in ["task=golf", "task=", "coding", "mood", ""] {
            assert_eq!(
                lie(when(&AGENT, Some(name)).map(|_| ())),
                "it names a condition that the catalog does not have"
            );
        }
        assert_eq!(
            (value(&AGENT, "tool=web_search"), when(&AGENT, Some("risk"))),
            (Ok((1, 1)), Ok(When::Signal(0)))
        );
    }
}
