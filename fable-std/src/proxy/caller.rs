//! Whoever asks: the user, and what headers say about a request. A request that names nobody for sure goes on as it came.

use super::dialect::Asked;
use super::turn::Bypass;
use crate::serve::MAX_NAME;
use axum::http::HeaderMap;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// What is known of a request besides its body.
#[derive(Debug)]
pub(super) struct Caller {
    pub(super) user: String,
    pub(super) conversation: Option<String>,
    pub(super) context: Option<String>,
}

impl Caller {
    /// Whoever asks, by a header or the body.
    pub(super) fn of(headers: &HeaderMap, asked: &Asked) -> Result<Self, Bypass> {
        let user = match header(headers, "x-fable-user")? {
            Some(user) => Some(user),
            None => asked.user.as_deref().and_then(lasting),
        };
        let user = user.ok_or(Bypass::new(
            "no user: x-fable-user, user, safety_identifier or metadata.user_id names one",
        ))?;
        if user.len() > MAX_NAME {
            return Err(Bypass::new("the name of the user is too long"));
        }
        let conversation = header(headers, "x-fable-conversation")?;
        Ok(Self { user, conversation, context: header(headers, "x-fable-context")? })
    }
}

/// What a header says, if it is there. One that cannot be read is not one that is not there: somebody else would be meant.
fn header(headers: &HeaderMap, name: &'static str) -> Result<Option<String>, Bypass> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    let wrong = |how: &str| Bypass(Cow::Owned(format!("{name} {how}")));
    let text = value.to_str().map_err(|_| wrong("has other than visible ASCII characters"))?.trim();
    if values.any(|other| other != value) {
        return Err(wrong("says two things"));
    }
    Ok(Some(text.to_owned()).filter(|text| !text.is_empty()))
}

/// The part of a name that lasts: some clients put the session after the user, or beside it in a JSON object.
///
/// | name | user |
/// |---|---|
/// | `user_a1_account_b2_session_c3` | `user_a1_account_b2` |
/// | `{"device_id":"a1","account_uuid":"b2","session_id":"c3"}` | `user_a1_account_b2`, as the same client has said it before |
/// | `{"session_id":"c3","id":"ana"}` | `ana` |
/// | `{"b":2,"a":"1","sessionId":"c3"}` | `{"a":"1","b":2}` |
/// | `{"session_id":"c3"}` | nobody |
fn lasting(name: &str) -> Option<String> {
    if !name.trim_start().starts_with('{') {
        return Some(name.split_once("_session_").map_or(name, |(user, _)| user).to_owned());
    }
    let Ok(members) = serde_json::from_str::<Map<String, Value>>(name) else { return Some(name.to_owned()) };
    let text = |name: &str| members.get(name).and_then(Value::as_str);
    if let Some(device) = text("device_id") {
        return Some(format!("user_{device}_account_{}", text("account_uuid").unwrap_or_default()));
    }
    let lasts =
        |(name, value): &(&String, &Value)| !name.to_ascii_lowercase().contains("session") && **value != "";
    let left: BTreeMap<&String, &Value> = members.iter().filter(lasts).collect();
    match left.values().collect::<Vec<_>>().as_slice() {
        [] => None,
        [Value::String(user)] => Some(user.clone()),
        _ => serde_json::to_string(&left).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proxy::dialect::Dialect;
    use axum::http::HeaderValue;

    fn asked(user: &str) -> Asked {
        let body = serde_json::json!({ "messages": [{ "role": "user", "content": "hi" }], "metadata": { "user_id": user } });
        Asked::read(Dialect::Messages, body.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn a_session_is_not_a_user() {
        let none = HeaderMap::new();
        let user = |name: &str| Caller::of(&none, &asked(name)).map(|caller| caller.user).ok();
        for (name, expected) in [
            ("ana", Some("ana")),
            ("user_a1_account_b2_session_c3", Some("user_a1_account_b2")),
            (r#"{"device_id":"a1","account_uuid":"b2","session_id":"c3"}"#, Some("user_a1_account_b2")),
            (r#"{"device_id":"a1","account_uuid":"","session_id":"c4"}"#, Some("user_a1_account_")),
            (r#" {"session_id":"c3","id":"ana"}"#, Some("ana")),
            (r#"{"b":2,"a":"1","sessionId":"c3"}"#, Some(r#"{"a":"1","b":2}"#)),
            (r#"{"session_id":"c3"}"#, None),
            ("{ana}", Some("{ana}")),
        ] {
            assert_eq!(user(name).as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn a_header_that_cannot_be_read_names_nobody_else() {
        let with = |name: &'static str, values: &[&[u8]]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(name, HeaderValue::from_bytes(value).unwrap());
            }
            Caller::of(&headers, &asked("body"))
                .map(|caller| caller.user)
                .map_err(|Bypass(reason)| reason.into_owned())
        };
        assert_eq!(with("x-fable-user", &[b" ana "]).as_deref(), Ok("ana"));
        assert_eq!(with("x-fable-user", &[b" "]).as_deref(), Ok("body"));
        for (name, values, why) in [
            ("x-fable-user", &[&b"\xe1na"[..]][..], "x-fable-user has other than visible ASCII characters"),
            ("x-fable-user", &[b"ana", b"ben"], "x-fable-user says two things"),
            (
                "x-fable-conversation",
                &["\u{e9}".as_bytes()],
                "x-fable-conversation has other than visible ASCII characters",
            ),
        ] {
            assert_eq!(with(name, values), Err(why.to_owned()));
        }
    }
}
