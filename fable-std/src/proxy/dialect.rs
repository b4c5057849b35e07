//! The three ways in which applications ask an assistant, and what Fable needs to know of a request in each.
//!
//! A body is read without being rebuilt: what Fable does not change stays byte for byte, and places are kept as ranges of bytes.

use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::ops::Range;

/// An API that is understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// OpenAI's `/v1/chat/completions`.
    Chat,
    /// OpenAI's `/v1/responses`.
    Responses,
    /// Anthropic's `/v1/messages`.
    Messages,
}

impl Dialect {
    /// The API behind a path, with or without `/v1`, and with or without a slash at its end.
    pub(super) fn of(path: &str) -> Option<Self> {
        let path = path.strip_suffix('/').unwrap_or(path);
        match path.strip_prefix("/v1").unwrap_or(path) {
            "/chat/completions" => Some(Self::Chat),
            "/responses" => Some(Self::Responses),
            "/messages" => Some(Self::Messages),
            _ => None,
        }
    }
}

/// Who says something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    User,
    Assistant,
    /// The application: a system or developer message.
    Application,
    /// What a tool has found.
    Tool,
}

/// One thing that was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) who: Who,
    pub(super) text: String,
}

/// A tool that the request offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tool {
    pub(super) name: String,
    /// Its `type`: `function`, or one that the provider has built in.
    pub(super) kind: String,
    /// Whether the application's own `allowed_tools` leaves it.
    pub(super) allowed: bool,
    /// Where its definition stands.
    pub(super) place: Range<usize>,
}

/// What the application says about the choice of tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// Nothing, or `auto`: the model chooses.
    Auto,
    /// One of the tools has to be used.
    Required,
    /// This one of the tools has to be used.
    Forced(String),
    /// None is to be used.
    None,
    /// Anything else, which is the application's affair.
    Own,
}

/// A request as far as Fable looks at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) dialect: Dialect,
    /// The user that the body names.
    pub(super) user: Option<String>,
    /// The conversation that the body names.
    pub(super) conversation: Option<String>,
    /// The response that this one goes on from.
    pub(super) previous: Option<String>,
    /// What was said so far, oldest first.
    pub(super) said: Vec<Said>,
    /// What the application has told the assistant before that.
    pub(super) background: String,
    pub(super) tools: Vec<Tool>,
    pub(super) choice: Choice,
    /// Where the instruction can be put.
    pub(super) tail: Tail,
    /// Where `tools` stands.
    pub(super) tools_at: Option<Range<usize>>,
    /// Where `tool_choice` stands.
    pub(super) choice_at: Option<Range<usize>>,
}

/// Where the last of what was said stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Tail {
    /// A list, to which something can be added.
    List(Range<usize>),
    /// One text instead of a list.
    Text(Range<usize>),
    /// The assistant is to go on with words of its own: nothing can come between.
    Begun,
}

/// Why a body is left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unread(pub(super) &'static str);

#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow)]
    messages: Option<&'a RawValue>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    instructions: Option<&'a RawValue>,
    #[serde(borrow)]
    system: Option<&'a RawValue>,
    #[serde(borrow)]
    tools: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_choice: Option<&'a RawValue>,
    #[serde(borrow)]
    user: Option<&'a RawValue>,
    #[serde(borrow)]
    safety_identifier: Option<&'a RawValue>,
    #[serde(borrow)]
    metadata: Option<&'a RawValue>,
    #[serde(borrow)]
    conversation: Option<&'a RawValue>,
    #[serde(borrow)]
    previous_response_id: Option<&'a RawValue>,
}

/// A message, an item or a part of one; whatever else it has is not looked at.
#[derive(Deserialize)]
struct Item<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    role: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    text: Option<&'a RawValue>,
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    function: Option<Named<'a>>,
    #[serde(borrow, default)]
    custom: Option<Named<'a>>,
}

#[derive(Deserialize)]
struct Named<'a> {
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
}

/// The text that a value is, if it is one.
fn text_of(value: Option<&RawValue>) -> Option<String> {
    value.and_then(|value| serde_json::from_str::<String>(value.get()).ok()).filter(|text| !text.is_empty())
}

/// The member of an object that is a text.
fn member(value: Option<&RawValue>, name: &str) -> Option<String> {
    let object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(value?.get()).ok()?;
    object.get(name)?.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Where a part of a body stands in it.
fn place(body: &[u8], part: &str) -> Range<usize> {
    let start = part.as_ptr().addr().wrapping_sub(body.as_ptr().addr());
    start..start.wrapping_add(part.len())
}

fn list(value: &RawValue) -> Option<Vec<&RawValue>> {
    serde_json::from_str(value.get()).ok()
}

fn is_list(value: &RawValue) -> bool {
    value.get().starts_with('[')
}

/// The words of a content: a text, or the texts among its parts.
fn words(content: Option<&RawValue>) -> String {
    let Some(content) = content else { return String::new() };
    if !is_list(content) {
        return text_of(Some(content)).unwrap_or_default();
    }
    let parts = list(content).unwrap_or_default();
    let items = parts.iter().filter_map(|part| serde_json::from_str::<Item<'_>>(part.get()).ok());
    let texts: Vec<String> = items.filter_map(|item| text_of(item.text)).collect();
    texts.join("\n")
}

/// Whether a content has the result of a tool among its parts.
fn has_result(content: Option<&RawValue>) -> bool {
    let parts = content.filter(|content| is_list(content)).and_then(list).unwrap_or_default();
    let items = parts.iter().filter_map(|part| serde_json::from_str::<Item<'_>>(part.get()).ok());
    items.filter_map(|item| item.kind).any(|kind| kind.ends_with("tool_result"))
}

fn who(item: &Item<'_>) -> Who {
    match (item.kind.as_deref(), item.role.as_deref()) {
        (Some(kind), None) if kind.ends_with("_output") || kind.ends_with("_response") => Who::Tool,
        (_, Some("user")) if has_result(item.content) => Who::Tool,
        (_, Some("user")) => Who::User,
        (_, Some("system" | "developer")) => Who::Application,
        (_, Some("tool" | "function")) => Who::Tool,
        _ => Who::Assistant,
    }
}

impl Asked {
    /// Reads a body.
    pub(super) fn read(dialect: Dialect, body: &[u8]) -> Result<Self, Unread> {
        let read: Body<'_> =
            serde_json::from_slice(body).map_err(|_| Unread("the body is not understood"))?;
        let spoken = if dialect == Dialect::Responses { read.input } else { read.messages };
        let spoken = spoken.ok_or(Unread("nothing was asked"))?;
        let (said, tail) = if is_list(spoken) {
            heard(dialect, body, spoken)?
        } else {
            let text = text_of(Some(spoken)).ok_or(Unread("nothing was asked"))?;
            (vec![Said { who: Who::User, text }], Tail::Text(place(body, spoken.get())))
        };
        if dialect != Dialect::Responses && !is_list(spoken) {
            return Err(Unread("the messages are no list"));
        }
        let applications =
            said.iter().filter(|said| said.who == Who::Application).map(|said| said.text.clone());
        let before =
            [words(read.system), words(read.instructions)].into_iter().filter(|text| !text.is_empty());
        let background = before.chain(applications).collect::<Vec<_>>().join("\n");
        let named = text_of(read.user).or_else(|| text_of(read.safety_identifier));
        let mut tools = read.tools.map_or_else(Vec::new, |tools| offered(body, tools));
        let choice = choice(read.tool_choice, &mut tools);
        let conversation = text_of(read.conversation).or_else(|| member(read.conversation, "id"));
        Ok(Self {
            dialect,
            user: named.or_else(|| member(read.metadata, "user_id")),
            conversation,
            previous: text_of(read.previous_response_id),
            said,
            background,
            tools,
            choice,
            tail,
            tools_at: read.tools.map(|tools| place(body, tools.get())),
            choice_at: read.tool_choice.map(|choice| place(body, choice.get())),
        })
    }

    /// Whoever spoke last, the application aside, which may add to what others say.
    pub(super) fn last(&self) -> Option<&Said> {
        self.said.iter().rev().find(|said| said.who != Who::Application)
    }

    /// Whether the assistant is at work for the user already: it is given what a tool has found, or is to go on.
    pub(super) fn continues(&self) -> bool {
        self.last().is_some_and(|said| said.who != Who::User)
    }

    /// What the assistant said right before the user's last words, as the request repeats it: the last item alone, and all of them since
    /// somebody else has spoken. Nothing, if it does not repeat it.
    pub(super) fn last_answer(&self) -> Option<[String; 2]> {
        let last = self.said.iter().rposition(|said| said.who == Who::User)?;
        let before = self.said.get(..last)?.iter().rev().filter(|said| said.who != Who::Application);
        let items: Vec<&str> =
            before.take_while(|said| said.who == Who::Assistant).map(|said| said.text.as_str()).collect();
        let alone = items.iter().find(|text| !text.trim().is_empty())?;
        Some([(*alone).to_owned(), items.iter().rev().copied().collect()])
    }

    /// What the user said, oldest first.
    pub(super) fn by_user(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.said.iter().filter(|said| said.who == Who::User).map(|said| said.text.as_str())
    }
}

/// What was said in a list of messages or items, and where more can be added.
fn heard(dialect: Dialect, body: &[u8], spoken: &RawValue) -> Result<(Vec<Said>, Tail), Unread> {
    const ODD: Unread = Unread("a message is not understood");
    let raw = list(spoken).ok_or(ODD)?;
    let items: Vec<Item<'_>> =
        raw.iter().map(|item| serde_json::from_str(item.get())).collect::<Result<_, _>>().map_err(|_| ODD)?;
    let Some(last) = items.last() else { return Err(Unread("nothing was asked")) };
    let tail = match (dialect, last.content) {
        (Dialect::Messages, _) if last.role.as_deref() != Some("user") => Tail::Begun,
        (Dialect::Messages, Some(content)) if is_list(content) => Tail::List(place(body, content.get())),
        (Dialect::Messages, Some(content)) => Tail::Text(place(body, content.get())),
        (Dialect::Messages, None) => return Err(ODD),
        (Dialect::Chat | Dialect::Responses, _) => Tail::List(place(body, spoken.get())),
    };
    let said = items.iter().map(|item| Said { who: who(item), text: words(item.content) });
    Ok((said.collect(), tail))
}

fn offered(body: &[u8], tools: &RawValue) -> Vec<Tool> {
    let tool = |raw: &&RawValue| {
        let item: Item<'_> = serde_json::from_str(raw.get()).ok()?;
        let name = item_name(&item).to_owned();
        let kind = item.kind.map_or_else(|| "function".to_owned(), Cow::into_owned);
        Some(Tool { name, kind, allowed: true, place: place(body, raw.get()) })
    };
    list(tools).unwrap_or_default().iter().filter_map(tool).collect()
}

/// A `tool_choice` that is an object. `allowed_tools` has its list beside its type, or one level deeper in a chat.
#[derive(Deserialize)]
struct Chosen<'a> {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    name: Option<String>,
    #[serde(borrow, default)]
    function: Option<Named<'a>>,
    #[serde(borrow, default)]
    custom: Option<Named<'a>>,
    #[serde(default)]
    mode: Option<String>,
    #[serde(borrow, default)]
    tools: Option<Vec<Item<'a>>>,
    #[serde(borrow, default)]
    allowed_tools: Option<Allowed<'a>>,
}

#[derive(Deserialize)]
struct Allowed<'a> {
    #[serde(default)]
    mode: Option<String>,
    #[serde(borrow, default)]
    tools: Option<Vec<Item<'a>>>,
}

/// What is said about the choice among tools. Those that the application does not allow are marked.
fn choice(value: Option<&RawValue>, tools: &mut [Tool]) -> Choice {
    let Some(value) = value.filter(|value| value.get() != "null") else { return Choice::Auto };
    let by_name = |name: &str| match name {
        "auto" => Choice::Auto,
        "required" | "any" => Choice::Required,
        "none" => Choice::None,
        _ => Choice::Own,
    };
    if let Some(name) = text_of(Some(value)) {
        return by_name(&name);
    }
    let Ok(chosen) = serde_json::from_str::<Chosen<'_>>(value.get()) else { return Choice::Own };
    if chosen.kind == "allowed_tools" {
        let nested = chosen.allowed_tools.map(|allowed| (allowed.mode, allowed.tools));
        let (mode, Some(allowed)) = nested.unwrap_or((chosen.mode, chosen.tools)) else { return Choice::Own };
        for tool in tools {
            tool.allowed = allowed.iter().any(|item| item_name(item) == tool.name);
        }
        return by_name(mode.as_deref().unwrap_or("auto"));
    }
    let inner = chosen.function.or(chosen.custom).and_then(|named| named.name).map(Cow::into_owned);
    match (by_name(&chosen.kind), inner.or(chosen.name)) {
        (Choice::Own, Some(name)) => Choice::Forced(name),
        // Tools of the provider's own have no other name than their type.
        (Choice::Own, None) if tools.iter().any(|tool| tool.name == chosen.kind) => {
            Choice::Forced(chosen.kind)
        }
        (choice, _) => choice,
    }
}

/// What a tool is called: tools of the provider's own have no other name than their type.
fn item_name<'i>(item: &'i Item<'_>) -> &'i str {
    let inner = item.function.as_ref().or(item.custom.as_ref()).and_then(|named| named.name.as_deref());
    inner.or(item.name.as_deref()).or(item.kind.as_deref()).unwrap_or("function")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(dialect: Dialect, body: &str) -> Asked {
        Asked::read(dialect, body.as_bytes()).unwrap()
    }

    #[test]
    fn paths_have_their_api() {
        assert_eq!(Dialect::of("/v1/chat/completions"), Some(Dialect::Chat));
        assert_eq!(Dialect::of("/v1/chat/completions/"), Some(Dialect::Chat));
        assert_eq!(Dialect::of("/responses"), Some(Dialect::Responses));
        assert_eq!(Dialect::of("/v1/messages"), Some(Dialect::Messages));
        for other in [
            "/v1/models",
            "/v1/threads/t/messages",
            "/v1/messages/count_tokens",
            "/v1/responses/r1",
            "/v1",
            "/v1//",
            "/",
            "",
        ] {
            assert_eq!(Dialect::of(other), None, "{other}");
        }
    }

    #[test]
    fn a_chat_is_read() {
        let body = r#"{"model":"m","messages":[{"role":"system","content":"You write code."},{"role":"user","content":[{"type":"text","text":"Fix"},{"type":"image_url","image_url":{"url":"data:"}},{"type":"text","text":"this"}]}],"tools":[{"type":"function","function":{"name":"browse"}}],"user":"ana"}"#;
        let asked = read(Dialect::Chat, body);
        assert_eq!((asked.user.as_deref(), asked.background.as_str()), (Some("ana"), "You write code."));
        assert_eq!(asked.by_user().collect::<Vec<_>>(), ["Fix\nthis"]);
        assert!(!asked.continues());
        assert_eq!(
            (asked.tools[0].name.as_str(), &body[asked.tools[0].place.clone()]),
            ("browse", r#"{"type":"function","function":{"name":"browse"}}"#)
        );
        assert!(
            matches!(&asked.tail, Tail::List(range) if body[range.clone()].starts_with("[{\"role\":\"system\""))
        );

        let looped = read(
            Dialect::Chat,
            r#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":null,"tool_calls":[]},{"role":"tool","content":"4"}]}"#,
        );
        assert!(looped.continues());
        let told = read(
            Dialect::Chat,
            r#"{"messages":[{"role":"user","content":"a"},{"role":"system","content":"be kind"}]}"#,
        );
        assert!(!told.continues());
    }

    #[test]
    fn the_last_answer_is_the_one_before_the_last_request() {
        let chat =
            |messages: &str| read(Dialect::Chat, &format!(r#"{{"messages":[{messages}]}}"#)).last_answer();
        let user = r#"{"role":"user","content":"a"}"#;
        assert_eq!(chat(user), None);
        assert_eq!(chat(&format!("{user},{user}")), None);
        let tools =
            r#"{"role":"assistant","content":"Let me see.","tool_calls":[]},{"role":"tool","content":"4"}"#;
        assert_eq!(chat(&format!("{user},{tools},{user}")), None);
        let both = r#"{"role":"assistant","content":"It is"},{"role":"assistant","content":" 4."},{"role":"system","content":"s"}"#;
        assert_eq!(
            chat(&format!("{user},{tools},{both},{user}")),
            Some([" 4.".to_owned(), "It is 4.".to_owned()])
        );
    }

    #[test]
    fn responses_are_read() {
        let asked = read(
            Dialect::Responses,
            r#"{"input":"hi","safety_identifier":"u7","previous_response_id":"resp_1","instructions":"Be kind."}"#,
        );
        assert_eq!(
            (asked.user.as_deref(), asked.previous.as_deref(), asked.background.as_str()),
            (Some("u7"), Some("resp_1"), "Be kind.")
        );
        assert!(matches!(asked.tail, Tail::Text(_)));
        let asked = read(
            Dialect::Responses,
            r#"{"input":[{"role":"user","content":"a"},{"type":"function_call","name":"f","call_id":"c","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"4"}],"conversation":{"id":"conv_1"},"tools":[{"type":"web_search_preview"},{"type":"function","name":"f"}],"tool_choice":"required"}"#,
        );
        assert!(asked.continues());
        assert_eq!(asked.conversation.as_deref(), Some("conv_1"));
        assert_eq!(
            asked.tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(),
            ["web_search_preview", "f"]
        );
        assert_eq!(asked.choice, Choice::Required);
    }

    #[test]
    fn messages_are_read() {
        let asked = read(
            Dialect::Messages,
            r#"{"system":[{"type":"text","text":"Be kind."}],"messages":[{"role":"user","content":"a"}],"metadata":{"user_id":"ana"},"tool_choice":{"type":"auto","disable_parallel_tool_use":true}}"#,
        );
        assert_eq!(
            (asked.user.as_deref(), asked.background.as_str(), asked.choice),
            (Some("ana"), "Be kind.", Choice::Auto)
        );
        assert!(matches!(asked.tail, Tail::Text(_)));
        let result = read(
            Dialect::Messages,
            r#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"4"}]}]}"#,
        );
        assert!(result.continues() && matches!(result.tail, Tail::List(_)));
        let begun = read(
            Dialect::Messages,
            r#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"{"}]}"#,
        );
        assert_eq!((begun.continues(), begun.tail), (true, Tail::Begun));
    }

    #[test]
    fn what_is_not_understood_is_left_alone() {
        for body in [
            "",
            "[]",
            "{}",
            "{\"messages\":3}",
            "{\"messages\":[]}",
            "{\"messages\":[1]}",
            "{\"messages\":\"hi\"}",
            "{\"messages\":[{\"role\":\"user\"}],\"messages\":[]}",
        ] {
            assert!(Asked::read(Dialect::Chat, body.as_bytes()).is_err(), "{body}");
        }
        assert!(Asked::read(Dialect::Responses, br#"{"prompt":{"id":"p"}}"#).is_err());
    }
}
