//! Any body goes on as it came or with one addition; every byte that is not changed on purpose
//! stays.
//! Any answer is overheard alike in whatever pieces it comes.

use fable_std::catalogs::ToolTable;
use fable_std::proxy::{instructed, overheard};
use serde_json::Value;

const TOLD: &str = "Answer \"briefly\".\n";
const PATHS: [(&str, &str); 3] =
    [("/v1/chat/completions", "messages"), ("/v1/responses", "input"), ("/v1/messages", "messages")];

/// A body without what was added to it.
fn undone(mut told: Value, key: &str, in_block: bool) -> Option<Value> {
    let said = told.get_mut(key)?.as_array_mut()?;
    let list = if in_block { said.last_mut()?.get_mut("content")?.as_array_mut()? } else { said };
    let added = list.pop()?;
    let text = added.get(if in_block { "text" } else { "content" })?;
    (text == TOLD).then_some(told)
}

pub fn proxy(data: &[u8]) {
    let Some((size, data)) = data.split_first() else { return };
    for (path, key) in PATHS {
        if let Some(told) = instructed(path, data, TOLD, &ToolTable::usual(), None) {
            // A body too deep or with too large numbers for a reader is passed on all the same.
            let Ok(before) = serde_json::from_slice::<Value>(data) else { continue };
            let after: Value = serde_json::from_slice(&told).unwrap();
            let mut left = undone(after, key, path == "/v1/messages").unwrap();
            // A text has become a list of itself.
            let place = if path == "/v1/messages" {
                let last = before[key].as_array().unwrap().len() - 1;
                format!("/{key}/{last}/content")
            } else {
                format!("/{key}")
            };
            let was = before.pointer(&place).unwrap().clone();
            if was.is_string() {
                let now = left.pointer_mut(&place).unwrap();
                let only = now[0]["content"].as_str().or(now[0]["text"].as_str());
                assert_eq!((now.as_array().unwrap().len(), only), (1, was.as_str()));
                *now = was;
            }
            assert_eq!(left, before);
        }
        if let Some(told) = instructed(path, data, TOLD, &ToolTable::usual(), Some("no_tool")) {
            assert!(
                serde_json::from_slice::<Value>(data).is_err()
                    || serde_json::from_slice::<Value>(&told).is_ok()
            );
        }
        let whole = overheard(path, [data]).unwrap();
        assert_eq!(overheard(path, data.chunks(usize::from(*size).max(1))).unwrap(), whole);
    }
}
