//! What the assistant answers, overheard while it passes: its words, its id, and whether it asks for tools.
//!
//! Nothing is changed or held back here, and not more than [`MOST`] bytes are kept.

use super::dialect::Dialect;
use serde_json::Value;

/// Bytes of an answer's words that are kept, and of one line of a stream that are looked at.
const MOST: usize = 64 << 10;

/// What was heard of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Heard {
    /// The words.
    pub(super) text: String,
    /// The answer's own id, which the next request may name.
    pub(super) id: Option<String>,
    /// Whether a tool is to be used before there is an answer.
    pub(super) calls: bool,
}

/// Listens to an answer that comes in pieces.
#[derive(Debug)]
pub(super) struct Listener {
    dialect: Dialect,
    heard: Heard,
    /// The line that has not ended yet; `None` once it is too long to be looked at.
    line: Option<Vec<u8>>,
}

impl Listener {
    pub(super) fn new(dialect: Dialect) -> Self {
        Self { dialect, heard: Heard::default(), line: Some(Vec::new()) }
    }

    /// The next piece of a stream of events.
    pub(super) fn feed(&mut self, mut piece: &[u8]) {
        while let Some(end) = memchr::memchr(b'\n', piece) {
            let (line, rest) = piece.split_at(end);
            self.hold(line);
            if let Some(whole) = self.line.replace(Vec::new()) {
                self.event(&whole);
            }
            piece = rest.get(1..).unwrap_or_default();
        }
        self.hold(piece);
    }

    fn hold(&mut self, piece: &[u8]) {
        match &mut self.line {
            Some(line) if line.len() + piece.len() <= MOST => line.extend_from_slice(piece),
            line => *line = None,
        }
    }

    fn event(&mut self, line: &[u8]) {
        let Some(data) = line.strip_prefix(b"data:") else { return };
        if let Ok(event) = serde_json::from_slice::<Value>(data) {
            self.take(&event);
        }
    }

    /// A whole answer, not streamed.
    pub(super) fn whole(mut self, body: &[u8]) -> Heard {
        if let Ok(answer) = serde_json::from_slice::<Value>(body) {
            self.take(&answer);
        }
        self.heard
    }

    /// What was heard until the end.
    pub(super) fn end(&mut self) -> Heard {
        if let Some(line) = self.line.take() {
            self.event(&line);
        }
        std::mem::take(&mut self.heard)
    }

    fn take(&mut self, event: &Value) {
        match self.dialect {
            Dialect::Chat => self.chat(event),
            Dialect::Responses => self.responses(event),
            Dialect::Messages => self.messages(event),
        }
    }

    fn say(&mut self, text: Option<&Value>) {
        let Some(text) = text.and_then(Value::as_str) else { return };
        let room = MOST - self.heard.text.len().min(MOST);
        self.heard.text.extend(text.chars().scan(0, |used, letter| {
            *used += letter.len_utf8();
            (*used <= room).then_some(letter)
        }));
    }

    fn chat(&mut self, event: &Value) {
        let Some(choice) = event.pointer("/choices/0") else { return };
        for part in ["message", "delta"] {
            let Some(part) = choice.get(part) else { continue };
            self.say(part.get("content"));
            self.heard.calls |=
                ["tool_calls", "function_call"].iter().any(|name| is_something(part.get(*name)));
        }
    }

    fn responses(&mut self, event: &Value) {
        let whole = event.get("response").unwrap_or(event);
        if whole.get("object").and_then(Value::as_str) == Some("response") {
            self.heard.id = whole.get("id").and_then(Value::as_str).map(str::to_owned);
        }
        match event.get("type").and_then(Value::as_str) {
            Some("response.output_text.delta") => self.say(event.get("delta")),
            Some("response.output_item.added") => self.heard.calls |= is_call(event.get("item")),
            Some(_) => {}
            None => {
                for item in event.get("output").and_then(Value::as_array).into_iter().flatten() {
                    self.heard.calls |= is_call(Some(item));
                    for part in item.get("content").and_then(Value::as_array).into_iter().flatten() {
                        self.say(part.get("text"));
                    }
                }
            }
        }
    }

    fn messages(&mut self, event: &Value) {
        self.say(event.pointer("/delta/text"));
        let blocks = event
            .get("content")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .chain(event.get("content_block"));
        for block in blocks {
            self.say(block.get("text"));
            self.heard.calls |= block.get("type").and_then(Value::as_str) == Some("tool_use");
        }
    }
}

fn is_something(value: Option<&Value>) -> bool {
    value.is_some_and(|value| !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty()))
}

/// Whether an item is a call that the application has to answer.
fn is_call(item: Option<&Value>) -> bool {
    let kind = item.and_then(|item| item.get("type")).and_then(Value::as_str);
    matches!(
        kind,
        Some(
            "function_call"
                | "custom_tool_call"
                | "computer_call"
                | "local_shell_call"
                | "shell_call"
                | "apply_patch_call"
                | "mcp_approval_request"
        )
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn streamed(dialect: Dialect, stream: &str, size: usize) -> Heard {
        let mut listener = Listener::new(dialect);
        stream.as_bytes().chunks(size).for_each(|piece| listener.feed(piece));
        listener.end()
    }

    fn heard(text: &str, id: Option<&str>, calls: bool) -> Heard {
        Heard { text: text.into(), id: id.map(Into::into), calls }
    }

    #[test]
    fn answers_are_overheard_in_any_pieces() {
        let chat = "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\r\n\r\ndata:{\"choices\":[{\"delta\":{\"content\":\"caf\\u00e9\"}}]}\n\n: ping\n\ndata: {\"choices\":[{\"delta\":{\"content\":\" né\"},\"finish_reason\":null}]}\n\ndata: {\"choices\":[],\"usage\":{}}\n\ndata: [DONE]\n\n";
        let responses = "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"object\":\"response\",\"id\":\"resp_1\"}}\n\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"hi\"}\n\ndata: {\"type\":\"response.completed\",\"response\":{\"object\":\"response\",\"id\":\"resp_1\",\"output\":[{\"content\":[{\"text\":\"hi\"}]}]}}";
        let messages = "data: {\"type\":\"message_start\",\"message\":{\"content\":[]}}\n\ndata: {\"type\":\"content_block_start\",\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"hi\"}}\n\n";
        for size in [1, 2, 7, 1000] {
            assert_eq!(streamed(Dialect::Chat, chat, size), heard("café né", None, false));
            assert_eq!(streamed(Dialect::Responses, responses, size), heard("hi", Some("resp_1"), false));
            assert_eq!(streamed(Dialect::Messages, messages, size), heard("hi", None, false));
        }
        let call = "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0}]}}]}\n\n";
        assert!(streamed(Dialect::Chat, call, 9).calls);
        let call =
            "data: {\"type\":\"response.output_item.added\",\"item\":{\"type\":\"function_call\"}}\n\n";
        assert!(streamed(Dialect::Responses, call, 9).calls);
        let call = "data: {\"type\":\"content_block_start\",\"content_block\":{\"type\":\"tool_use\"}}\n\n";
        assert!(streamed(Dialect::Messages, call, 9).calls);
    }

    #[test]
    fn whole_answers_are_read() {
        let whole = |dialect, body: &str| Listener::new(dialect).whole(body.as_bytes());
        assert_eq!(
            whole(Dialect::Chat, r#"{"id":"c","choices":[{"message":{"content":"hi","tool_calls":[]}}]}"#),
            heard("hi", None, false)
        );
        assert_eq!(
            whole(Dialect::Chat, r#"{"choices":[{"message":{"content":null,"tool_calls":[{}]}}]}"#),
            heard("", None, true)
        );
        assert_eq!(
            whole(
                Dialect::Responses,
                r#"{"object":"response","id":"resp_1","output":[{"type":"reasoning"},{"type":"message","content":[{"type":"output_text","text":"hi"}]}]}"#
            ),
            heard("hi", Some("resp_1"), false)
        );
        assert_eq!(
            whole(
                Dialect::Messages,
                r#"{"id":"m","content":[{"type":"text","text":"hi"},{"type":"tool_use"}]}"#
            ),
            heard("hi", None, true)
        );
        assert_eq!(whole(Dialect::Messages, "<html>"), Heard::default());
    }

    #[test]
    fn not_more_than_so_much_is_kept() {
        let mut listener = Listener::new(Dialect::Chat);
        let (word, long) = ("é".repeat(1000), "x".repeat(2 * MOST));
        listener
            .feed(format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{long}\"}}}}]}}\n").as_bytes());
        assert!(listener.line.as_ref().is_some_and(Vec::is_empty));
        for _ in 0..100 {
            listener.feed(
                format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{word}\"}}}}]}}\n").as_bytes(),
            );
        }
        let text = listener.end().text;
        assert!(text.len() <= MOST && text.len() > MOST - 2 && text.starts_with('é'));
    }
}
