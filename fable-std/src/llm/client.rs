//! One question to an endpoint, one JSON object or one text back.

use super::{Key, LlmError, Refusal};
use serde_json::{Value, json};
use std::io;
use std::time::Duration;
use ureq::http::Uri;
use ureq::http::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use ureq::{Agent, Proxy};

/// Most bytes of an answer that are read.
pub const MAX_ANSWER: usize = 64 * 1024;

/// Where a model is, and how to ask it.
#[derive(Clone, Debug, PartialEq)]
pub struct Endpoint {
    /// The address before `/chat/completions`, like `https://api.openai.com/v1` or `http://localhost:11434/v1`.
    pub base_url: String,
    /// The name of the model.
    pub model: String,
    /// How long one call may take in all; 10 seconds unless said otherwise.
    pub timeout: Duration,
    /// The temperature; 0 unless said otherwise. `None` leaves it out, for models that refuse it.
    pub temperature: Option<f64>,
    /// The name of a model that makes vectors of texts, if the endpoint has one.
    pub embeddings: Option<String>,
}

impl Endpoint {
    /// An endpoint with the usual time limit.
    #[must_use]
    pub fn new(base_url: impl Into<String>, model: impl Into<String>) -> Self {
        let (base_url, model, timeout) = (base_url.into(), model.into(), Duration::from_secs(10));
        Self { base_url, model, timeout, temperature: Some(0.0), embeddings: None }
    }
}

/// What to ask: instructions, the text to read as a JSON value, and the schema of the answer.
pub(super) struct Question {
    pub(super) name: &'static str,
    pub(super) instructions: String,
    pub(super) text: Value,
    pub(super) schema: Value,
}

/// A checked endpoint.
#[derive(Clone, Debug)]
pub(super) struct Client {
    endpoint: Endpoint,
    /// What the path of a call is added to.
    base: String,
    key: Option<Key>,
    agent: Agent,
}

impl Client {
    pub(super) fn new(endpoint: Endpoint, key: Option<Key>) -> Result<Self, LlmError> {
        let base = endpoint.base_url.trim_end_matches('/').to_owned();
        let uri: Uri = format!("{base}/chat/completions").parse().map_err(|_| LlmError::BaseUrl)?;
        let host = uri.host().filter(|host| !host.is_empty()).ok_or(LlmError::BaseUrl)?;
        let authority = uri.authority().map_or("", |authority| authority.as_str());
        if authority.contains('@') || uri.query().is_some() || endpoint.base_url.contains('#') {
            return Err(LlmError::BaseUrl);
        }
        let here = is_here(host);
        match uri.scheme_str() {
            Some("https") => {}
            Some("http") if here || key.is_none() => {}
            Some("http") => return Err(LlmError::Insecure),
            _ => return Err(LlmError::BaseUrl),
        }
        let config = Agent::config_builder()
            .timeout_global(Some(endpoint.timeout))
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .proxy(if here { None } else { Proxy::try_from_env() })
            .user_agent(concat!("fable/", env!("CARGO_PKG_VERSION")))
            .build();
        Ok(Self { endpoint, base, key, agent: config.new_agent() })
    }

    /// Asks, and returns the object that the model answers with. Its contents are still to be checked.
    pub(super) fn ask(&self, question: Question) -> Result<Value, LlmError> {
        let Question { name, instructions, text, schema } = question;
        let messages = json!([
            { "role": "system", "content": instructions },
            { "role": "user", "content": text.to_string() },
        ]);
        let format = json!({ "type": "json_schema", "json_schema": { "name": name, "strict": true, "schema": schema } });
        object(&self.complete(&messages, Some(format))?)
    }

    /// A text of the server's without the key.
    pub(super) fn without_key(&self, text: String) -> String {
        match &self.key {
            Some(key) => key.hidden_in(&text),
            None => text,
        }
    }

    /// The text with which the model goes on.
    pub(super) fn complete(&self, messages: &Value, format: Option<Value>) -> Result<String, LlmError> {
        let mut body = json!({ "model": self.endpoint.model, "messages": messages });
        if let Some(body) = body.as_object_mut() {
            body.extend(format.map(|format| ("response_format".to_owned(), format)));
            body.extend(
                self.endpoint.temperature.map(|temperature| ("temperature".to_owned(), temperature.into())),
            );
        }
        content(&self.post("chat/completions", &body, MAX_ANSWER)?)
    }

    /// The model that makes vectors, if there is one.
    pub(super) const fn embeddings(&self) -> Option<&String> {
        self.endpoint.embeddings.as_ref()
    }

    /// The bytes that a call is answered with.
    pub(super) fn post(&self, path: &str, body: &Value, most: usize) -> Result<Vec<u8>, LlmError> {
        self.post_patiently(path, body, most).map_err(|refusal| refusal.error)
    }

    /// The same; a refusal says when to come back, if the server does.
    pub(super) fn post_patiently(&self, path: &str, body: &Value, most: usize) -> Result<Vec<u8>, Refusal> {
        let url = format!("{}/{path}", self.base);
        let mut request = self.agent.post(&url).header(CONTENT_TYPE, "application/json");
        if let Some(key) = &self.key {
            request = request.header(AUTHORIZATION, key.header());
        }
        let mut response = request.send(body.to_string()).map_err(|error| fault(&error))?;
        match response.status().as_u16() {
            200 => {}
            300..=399 => return Err(LlmError::Redirect.into()),
            status => {
                let after = response
                    .headers()
                    .get(RETRY_AFTER)
                    .and_then(|after| after.to_str().ok()?.trim().parse().ok());
                return Err(Refusal {
                    error: LlmError::Status(status),
                    retry_after: after.map(Duration::from_secs),
                });
            }
        }
        let limited = response.body_mut().with_config().limit(most as u64);
        Ok(limited.read_to_vec().map_err(|error| fault(&error))?)
    }
}

/// Whether a host is this machine.
pub(crate) fn is_here(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || address.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The model's text inside a chat completion.
fn content(body: &[u8]) -> Result<String, LlmError> {
    let envelope: Value = serde_json::from_slice(body).map_err(|_| LlmError::NotAnAnswer)?;
    let choice = envelope.get("choices").and_then(|choices| choices.get(0)).ok_or(LlmError::NotAnAnswer)?;
    match choice.get("finish_reason").and_then(Value::as_str) {
        Some("length") => return Err(LlmError::Truncated),
        Some("content_filter") => return Err(LlmError::Declined),
        _ => {}
    }
    let message = choice.get("message").ok_or(LlmError::NotAnAnswer)?;
    if message.get("refusal").is_some_and(|refusal| !refusal.is_null()) {
        return Err(LlmError::Declined);
    }
    let text = message.get("content").and_then(Value::as_str).ok_or(LlmError::NotAnAnswer)?;
    Ok(text.trim().to_owned())
}

/// The object that a text is.
fn object(text: &str) -> Result<Value, LlmError> {
    // Servers that take no notice of the schema tend to put a fence around the object.
    let bare =
        text.strip_prefix("```json").or(text.strip_prefix("```")).and_then(|text| text.strip_suffix("```"));
    match serde_json::from_str::<Value>(bare.unwrap_or(text)) {
        Ok(value) if value.is_object() => Ok(value),
        Ok(_) => Err(LlmError::Answer("it is no object")),
        Err(error) if error.is_eof() => Err(LlmError::Truncated),
        Err(_) => Err(LlmError::Answer("it is no JSON")),
    }
}

/// A client's error without anything that a server said.
fn fault(error: &ureq::Error) -> LlmError {
    match error {
        ureq::Error::Timeout(_) => LlmError::Timeout,
        ureq::Error::BodyExceedsLimit(_) | ureq::Error::LargeResponseHeader(..) => LlmError::TooLong,
        ureq::Error::HostNotFound => LlmError::Unreachable("no such host"),
        ureq::Error::Protocol(_) => LlmError::NotAnAnswer,
        ureq::Error::Tls(_) | ureq::Error::Rustls(_) => LlmError::Unreachable("TLS failed"),
        ureq::Error::Io(error) => match error.kind() {
            io::ErrorKind::ConnectionRefused => LlmError::Unreachable("connection refused"),
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => LlmError::Timeout,
            _ => LlmError::Unreachable("the connection broke"),
        },
        _ => LlmError::Unreachable("the connection failed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(url: &str, key: bool) -> Result<(), LlmError> {
        let key = key.then(|| Key::new("sk-secret").unwrap());
        Client::new(Endpoint::new(url, "m"), key).map(|_| ())
    }

    #[test]
    fn addresses_are_checked_before_anything_is_sent() {
        for good in [
            "https://api.openai.com/v1",
            "http://localhost:11434/v1/",
            "http://127.0.0.1:8080",
            "http://[::1]:8080/v1",
        ] {
            assert_eq!(open(good, true), Ok(()), "{good}");
        }
        assert_eq!(open("http://192.168.0.7:8080/v1", false), Ok(()));
        assert_eq!(open("http://192.168.0.7:8080/v1", true), Err(LlmError::Insecure));
        assert_eq!(open("http://localhost.example.org/v1", true), Err(LlmError::Insecure));
        for bad in [
            "",
            "api.openai.com",
            "ftp://host/v1",
            "https://",
            "https://me:sk-1@host/v1",
            "https://host/v1?key=1",
            "https://h/#a",
        ] {
            assert_eq!(open(bad, false), Err(LlmError::BaseUrl), "{bad}");
        }
    }

    #[test]
    fn a_client_does_not_show_its_key() {
        let client =
            Client::new(Endpoint::new("https://host/v1", "m"), Some(Key::new("sk-secret").unwrap())).unwrap();
        assert!(!format!("{client:?} {client:#?}").contains("secret"));
    }

    #[test]
    fn only_a_complete_object_is_taken_from_an_envelope() {
        let answer = |message: Value, finish: &str| {
            let body = json!({ "choices": [{ "message": message, "finish_reason": finish }] }).to_string();
            content(body.as_bytes()).and_then(|text| object(&text))
        };
        let says = |text: &str| answer(json!({ "content": text }), "stop");
        assert_eq!(says("{\"a\":1}"), Ok(json!({ "a": 1 })));
        assert_eq!(says("```json\n{\"a\":1}\n```"), Ok(json!({ "a": 1 })));
        assert_eq!(says("{\"a\":1"), Err(LlmError::Truncated));
        assert_eq!(says("Sure! {\"a\":1}"), Err(LlmError::Answer("it is no JSON")));
        assert_eq!(says("[1]"), Err(LlmError::Answer("it is no object")));
        assert_eq!(answer(json!({ "content": "{}" }), "length"), Err(LlmError::Truncated));
        assert_eq!(answer(json!({ "content": "{}" }), "content_filter"), Err(LlmError::Declined));
        assert_eq!(answer(json!({ "content": "{}", "refusal": "no" }), "stop"), Err(LlmError::Declined));
        assert_eq!(answer(json!({ "content": null }), "stop"), Err(LlmError::NotAnAnswer));
        assert_eq!(answer(json!({ "content": 3 }), "stop"), Err(LlmError::NotAnAnswer));
        for body in ["", "{}", "[]", "{\"choices\":[]}", "{\"choices\":{}}", "<html>", "{\"choices\":[{}]}"] {
            assert_eq!(content(body.as_bytes()), Err(LlmError::NotAnAnswer), "{body}");
        }
    }
}
