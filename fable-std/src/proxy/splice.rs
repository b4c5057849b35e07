//! Changes to a body of which every other byte stays as it was.

use super::dialect::{Asked, Dialect, Tail};
use super::tools::Offer;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::ops::Range;

/// Text instead of some bytes.
struct Edit {
    at: Range<usize>,
    text: String,
}

/// What is changed in a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Changes<'c> {
    /// What the assistant is told, after everything else.
    pub(super) instruction: &'c str,
    /// Who says so, where the API has it: `system` or `developer`.
    pub(super) role: &'c str,
    /// Which tools are left.
    pub(super) offer: &'c Offer,
}

/// The body with the changes; `None` where the instruction has no place.
pub(super) fn splice(body: &[u8], asked: &Asked, changes: &Changes<'_>) -> Option<Vec<u8>> {
    let mut edits = vec![instruct(body, asked, changes)?];
    edits.extend(choose(body, asked, changes.offer));
    edits.extend(filter(body, asked, changes.offer));
    edits.sort_by_key(|edit| edit.at.start);
    let grown: usize = edits.iter().map(|edit| edit.text.len()).sum();
    let (mut spliced, mut from) = (Vec::with_capacity(body.len() + grown), 0);
    for Edit { at, text } in edits {
        spliced.extend_from_slice(body.get(from..at.start)?);
        spliced.extend_from_slice(text.as_bytes());
        from = at.end;
    }
    spliced.extend_from_slice(body.get(from..)?);
    Some(spliced)
}

/// The instruction as the last thing that is said.
fn instruct(body: &[u8], asked: &Asked, changes: &Changes<'_>) -> Option<Edit> {
    let Changes { instruction, role, .. } = changes;
    let added = match asked.dialect {
        Dialect::Chat | Dialect::Responses => json!({ "role": role, "content": instruction }),
        Dialect::Messages => json!({ "type": "text", "text": instruction }),
    };
    match &asked.tail {
        Tail::List(range) => {
            let inside = body.get(range.start + 1..range.end - 1)?;
            let comma = if inside.iter().all(u8::is_ascii_whitespace) { "" } else { "," };
            Some(Edit { at: range.end - 1..range.end - 1, text: format!("{comma}{added}") })
        }
        Tail::Text(range) => {
            let said = std::str::from_utf8(body.get(range.clone())?).ok()?;
            let before = match asked.dialect {
                Dialect::Messages => format!(r#"{{"type":"text","text":{said}}}"#),
                Dialect::Chat | Dialect::Responses => format!(r#"{{"role":"user","content":{said}}}"#),
            };
            Some(Edit { at: range.clone(), text: format!("[{before},{added}]") })
        }
        Tail::Begun => None,
    }
}

/// `tool_choice`, where it has to say something else than it does.
fn choose(body: &[u8], asked: &Asked, offer: &Offer) -> Option<Edit> {
    let choice: &Value = offer.choice.as_ref()?;
    if let Some(range) = &asked.choice_at {
        return Some(Edit { at: range.clone(), text: choice.to_string() });
    }
    let end = body.iter().rposition(|byte| *byte == b'}')?;
    Some(Edit { at: end..end, text: format!(r#","tool_choice":{choice}"#) })
}

/// `tools` without those that are not left, for providers that know no other way.
fn filter(body: &[u8], asked: &Asked, offer: &Offer) -> Option<Edit> {
    let (left, range) = (offer.filtered.as_ref()?, asked.tools_at.clone()?);
    let tools = left.iter().filter_map(|index| asked.tools.get(*index));
    let texts: Vec<&str> = tools
        .filter_map(|tool| body.get(tool.place.clone()).and_then(|text| std::str::from_utf8(text).ok()))
        .collect();
    Some(Edit { at: range, text: format!("[{}]", texts.join(",")) })
}

/// A JSON object with one more member, the last; `None` for anything else.
pub(super) fn with_member(object: &[u8], name: &str, value: &Value) -> Option<Vec<u8>> {
    let members: HashMap<String, &RawValue> = serde_json::from_slice(object).ok()?;
    let end = object.iter().rposition(|byte| *byte == b'}')?;
    let comma = if members.is_empty() { "" } else { "," };
    let (before, after) = object.split_at_checked(end)?;
    Some([before, format!("{comma}{}:{value}", Value::from(name)).as_bytes(), after].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spliced(dialect: Dialect, body: &str, offer: &Offer) -> Option<String> {
        let asked = Asked::read(dialect, body.as_bytes()).unwrap();
        let changes = Changes { instruction: "Answer \"briefly\".", role: "system", offer };
        let whole = splice(body.as_bytes(), &asked, &changes)?;
        serde_json::from_slice::<Value>(&whole).unwrap();
        Some(String::from_utf8(whole).unwrap())
    }

    #[test]
    fn the_instruction_is_last_and_the_rest_is_as_it_was() {
        let none = Offer::default();
        let chat = r#"{ "model":"m", "messages" : [ {"role":"user","content":"caf\u00e9"} ] , "n":1.0e0}"#;
        let told = spliced(Dialect::Chat, chat, &none).unwrap();
        assert_eq!(
            told,
            r#"{ "model":"m", "messages" : [ {"role":"user","content":"caf\u00e9"} ,{"role":"system","content":"Answer \"briefly\"."}] , "n":1.0e0}"#
        );
        let told = spliced(Dialect::Responses, r#"{"input":"caf\u00e9","model":"m"}"#, &none).unwrap();
        assert_eq!(
            told,
            r#"{"input":[{"role":"user","content":"caf\u00e9"},{"role":"system","content":"Answer \"briefly\"."}],"model":"m"}"#
        );
        let told =
            spliced(Dialect::Messages, r#"{"messages":[{"role":"user","content":"a"}],"system":"s"}"#, &none)
                .unwrap();
        assert_eq!(
            told,
            r#"{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"Answer \"briefly\"."}]}],"system":"s"}"#
        );
        let told =
            spliced(Dialect::Messages, r#"{"messages":[{"role":"user","content":[]}]}"#, &none).unwrap();
        assert_eq!(
            told,
            r#"{"messages":[{"role":"user","content":[{"type":"text","text":"Answer \"briefly\"."}]}]}"#
        );
        let begun = r#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"{"}]}"#;
        assert_eq!(spliced(Dialect::Messages, begun, &none), None);
    }

    #[test]
    fn tools_are_chosen_or_filtered() {
        let body = r#"{"messages":[{"role":"user","content":"a"}],"tools":[{"name":"a"}, {"name":"b"}]}"#;
        let none = Offer { choice: Some(json!({ "type": "none" })), filtered: None };
        assert!(
            spliced(Dialect::Messages, body, &none)
                .unwrap()
                .ends_with(r#""tools":[{"name":"a"}, {"name":"b"}],"tool_choice":{"type":"none"}}"#)
        );
        let one = Offer { choice: None, filtered: Some(vec![1]) };
        assert!(spliced(Dialect::Messages, body, &one).unwrap().ends_with(r#""tools":[{"name":"b"}]}"#));
        let body = r#"{"tool_choice":"auto","messages":[{"role":"user","content":"a"}]}"#;
        let none = Offer { choice: Some(json!("none")), filtered: None };
        assert!(
            spliced(Dialect::Chat, body, &none).unwrap().starts_with(r#"{"tool_choice":"none","messages""#)
        );
    }

    #[test]
    fn a_member_is_added_to_an_object_alone() {
        let with = |object: &str| {
            with_member(object.as_bytes(), "fable", &json!(1)).map(|bytes| String::from_utf8(bytes).unwrap())
        };
        assert_eq!(with("{\"a\": {}}\n").as_deref(), Some("{\"a\": {},\"fable\":1}\n"));
        assert_eq!(with("{ }").as_deref(), Some("{ \"fable\":1}"));
        for other in ["", "[]", "{", "{}}", "\"}\"", "{\"a\":1} x"] {
            assert_eq!(with(other), None, "{other}");
        }
    }
}
