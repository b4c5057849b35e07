//! The layer around an assistant that is reached over HTTP: an application changes its base address and nothing else.
//!
//! Three kinds of requests are understood, streamed or not: `/v1/chat/completions` and `/v1/responses` as OpenAI has them, and
//! `/v1/messages` as Anthropic has it. Everything else is passed on as it is.
//!
//! *Who asks.* The user is named by the header `x-fable-user`, or in the body by `user`, `safety_identifier` or `metadata.user_id`. Of a name
//! in the body only what lasts counts: what follows `_session_`, and members of a JSON object with `session` in their name, are left out. A
//! header that is not visible ASCII names nobody, not somebody else. A conversation is named by the header `x-fable-conversation`, by
//! `conversation` or `previous_response_id`, or else known by what the user has said in it so far. `x-fable-context` may say the context, like
//! `{"task":"coding","risk":0.1,"ambiguity":0.1,"memory_need":0.1,"tool_need":0.1}`; otherwise the rules of [`text`](crate::text) read it
//! from the request, the exchanges before it and what the application tells the assistant.
//!
//! *What is done.* One decision is made for each turn of the user and lasts while the assistant works with tools, and while a request is sent
//! again because there was no answer. What the assistant is told is the very last thing it reads: one more message, or one more block of the
//! last one where the API knows no other way. Every byte before that stays as it was, `tools` included, so a provider's cache goes on
//! working. Which tools are left says `tool_choice` (`allowed_tools`), by the [`ToolTable`]; where an API has no such thing, tools are taken out of the list.
//! A value that needs a tool which the request does not offer is not chosen. Where a request forces a tool (`tool_choice`), only values
//! with that tool can be chosen; if a rule forbids them all nothing is decided, and `x-fable-bypass` says so.
//!
//! *What is said.* The header `x-fable-decision` has the id of the decision, and so has the member `fable` of an answer that is one JSON object, with
//! the action. `x-fable-bypass` says why a request went on as it came.
//!
//! *What is learned.* What the user says next, if it says something about the answer, is its reward; where a request repeats what was said, of the
//! answer that it repeats. Where the assistant asks back, the question is a clarification, and the reaction to what comes of it counts for both
//! answers, with the penalty for the question, unless the user goes on with something else. An application
//! can also say it: `POST /feedback` with the id as `inference_id`. One reward counts, whichever comes first.
//!
//! *What is remembered.* Nothing, unless [`Options::memory`] is on and the user has not said no; then each request and its answer are kept
//! with the user, as much as fits, until `unremember` or `forget`; of an answer that is under way at a `forget` nothing is kept. The chosen memory says what the assistant is told of it: nothing, the last
//! exchanges, those that match the request best, what the user has stated, or what is certain about the user. See [`memory`](crate::memory).
//!
//! *When something is wrong.* The request goes on as it came: no fault of Fable's, a full queue, a damaged user or a store that takes too long,
//! stands between an application and its assistant. What is in memory of requests and answers is bounded, each and together, and so is the time
//! for a request's body: beyond that they go on as they come. A server that cannot be reached is 502, one that takes too long 504, both with
//! a JSON error. A request is never sent twice: it may cost money. One under which the server ends its connection is 502, and then each request
//! has a connection of its own for a minute, as who does that once may do it always. Keys are passed on and neither kept nor logged.
//!
//! The ops of the [service](crate::serve) are below `/fable`, as `POST /fable/v1/profile`: what is known about users, their rules, whether
//! the layer is for them, and forgetting.

mod answer;
mod attentive;
mod bodies;
mod caller;
mod conversations;
mod dialect;
mod heard;
mod mode;
mod splice;
mod tapped;
mod tools;
mod turn;
mod upstream;

pub use mode::{Mode, UserShare};
pub use upstream::{UpstreamAddress, UpstreamAddressError};

use crate::catalogs::ToolTable;
use crate::serve::http::{Beside, Front, HttpOptions, HttpStop, Listening, News, is_json, serve_beside};
use crate::serve::{ServeError, Service};
use answer::{Heard, Listener};
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, Response, StatusCode};
use bodies::{Begun, Room, Taken, Why};
use caller::Caller;
use conversations::Conversations;
use dialect::{Asked, Dialect};
use fable_core::settings::Deadline;
use hyper::body::Incoming;
use serde_json::json;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;
use tapped::{Hearing, Tapped};
use tokio::time::timeout;
use turn::{Bypass, Decider, Prepared};
use upstream::{Lost, Upstream, end_to_end};

/// Bytes of an answer that is taken as a whole, to add a member to it; a longer one goes on as it comes, after what was taken of it.
const WHOLE: usize = 8 << 20;

/// How to be between an application and its assistant.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where the assistant is.
    pub upstream: UpstreamAddress,
    /// What is done.
    pub mode: Mode,
    /// For whom; the others' requests go on as they came.
    pub share: UserShare,
    /// Which tools belong to which value.
    pub tools: ToolTable,
    /// Whether tools are taken out of the list where `tool_choice` could say it.
    pub filter_tools: bool,
    /// Who tells the assistant what was decided, where the API has it: `system`, `developer` or `user`.
    pub role: &'static str,
    /// How long a request is held up at most; then it goes on as it came.
    pub patience: Duration,
    /// How long the assistant has to begin with its answer.
    pub upstream_patience: Duration,
    /// Whether what users and the assistant exchange is kept, which the [service](crate::serve::Options) has to allow.
    pub memory: bool,
    /// Longest body that is read; a longer one goes on as it comes.
    pub body: usize,
    /// Bytes of requests in memory at a time, until they are sent on; where there is no room a request goes on as it comes.
    pub bodies: usize,
    /// Bytes of answers in memory at a time, until they are sent; where there is no room an answer goes on as it comes, without the member `fable`.
    pub answers: usize,
    /// Conversations that are in memory.
    pub conversations: NonZeroUsize,
    /// What the policy's deadline counts.
    pub deadline: Deadline,
}

impl Options {
    /// The usual options for an assistant.
    #[must_use]
    pub fn new(upstream: UpstreamAddress) -> Self {
        Self {
            upstream,
            mode: Mode::Apply,
            share: UserShare::ALL,
            tools: ToolTable::usual(),
            filter_tools: false,
            role: "system",
            patience: Duration::from_millis(250),
            upstream_patience: Duration::from_mins(10),
            memory: false,
            body: 16 << 20,
            bodies: 256 << 20,
            answers: 256 << 20,
            conversations: NonZeroUsize::new(10_000).unwrap_or(NonZeroUsize::MIN),
            deadline: Deadline::None,
        }
    }
}

/// Serves a service and what is around an assistant over HTTP until `stop` is used; `ready` gets where it listens. The policies have to name
/// the rules of [`text`](crate::text) as those who read.
///
/// # Errors
/// As for [`serve_http`](crate::serve::http::serve_http).
pub fn serve_proxy(
    service: Service,
    http: HttpOptions,
    options: Options,
    stop: &HttpStop,
    ready: impl FnOnce(&[String]),
) -> Result<(), ServeError> {
    serve_beside(service, http, stop, ready, |front| {
        Some(Arc::new(Proxy::new(Arc::clone(front), options)).handler())
    })
}

/// What becomes of a body that is posted to a path: the same with an instruction at its end, without the tools of other values than `tool`.
/// `None` where it is not understood, and goes on as it came.
///
/// ```
/// use fable_std::catalogs::ToolTable;
/// use fable_std::proxy::instructed;
/// let body = br#"{"messages":[{"role":"user","content":"caf\u00e9"}]}"#;
/// let told = instructed("/v1/chat/completions", body, "Answer briefly.", &ToolTable::usual(), None).unwrap();
/// let expected = r#"{"messages":[{"role":"user","content":"caf\u00e9"},{"role":"system","content":"Answer briefly."}]}"#;
/// assert_eq!(std::str::from_utf8(&told), Ok(expected));
/// assert_eq!(instructed("/v1/models", body, "Answer briefly.", &ToolTable::usual(), None), None);
/// ```
#[must_use]
pub fn instructed(
    path: &str,
    body: &[u8],
    instruction: &str,
    tools: &ToolTable,
    tool: Option<&str>,
) -> Option<Vec<u8>> {
    let asked = Asked::read(Dialect::of(path)?, body).ok()?;
    let offer = tools.offer(&asked, tool, false);
    splice::splice(body, &asked, &splice::Changes { instruction, role: "system", offer: &offer })
}

/// The words of an answer to a request at a path, as they are overheard while it passes in pieces, and whether it asks for tools; `None` for
/// a path that is not understood.
pub fn overheard<'a>(path: &str, pieces: impl IntoIterator<Item = &'a [u8]>) -> Option<(String, bool)> {
    let mut listener = Listener::new(Dialect::of(path)?);
    pieces.into_iter().for_each(|piece| listener.feed(piece));
    let heard = listener.end();
    Some((heard.text, heard.calls))
}

/// What is between.
#[derive(Debug)]
struct Proxy {
    decider: Arc<Decider>,
    upstream: Upstream,
    bodies: Room,
    answers: Room,
    options: Options,
}

impl Proxy {
    fn new(front: Arc<Front>, options: Options) -> Self {
        let conversations = Conversations::new(options.conversations);
        let decider = Arc::new(Decider { front, conversations });
        let listening = Arc::downgrade(&decider);
        let listen = move |news: News<'_>| {
            let Some(decider) = listening.upgrade() else { return };
            match news {
                News::Forgotten(user) => decider.conversations.forget(user),
                News::Rewarded(decision, reward) => decider.conversations.rewarded(decision, reward),
            }
        };
        let _ = decider.front.listening.set(Listening(Box::new(listen))); // there is one proxy
        Self {
            decider,
            upstream: Upstream::new(
                options.upstream.clone(),
                Duration::from_secs(10),
                options.upstream_patience,
            ),
            bodies: Room::new(options.bodies),
            answers: Room::new(options.answers),
            options,
        }
    }

    fn handler(self: Arc<Self>) -> Beside {
        Arc::new(move |request| {
            let proxy = Arc::clone(&self);
            Box::pin(async move { proxy.answer(request).await })
        })
    }

    async fn answer(&self, request: Request) -> Response<Body> {
        let (parts, body) = request.into_parts();
        let dialect = Dialect::of(parts.uri.path()).filter(|_| parts.method == Method::POST);
        let Some(dialect) = dialect else { return self.pass(parts, body, None).await };
        if self.options.mode == Mode::Bypass {
            return self.pass(parts, body, Some(&Bypass::new("mode"))).await;
        }
        let patience = self.decider.front.timeout();
        // Its room is given back when it has been sent on.
        let (whole, _room) = match bodies::take(body, self.options.body, &self.bodies, Some(patience)).await {
            Ok(Taken::Whole(whole, room)) => (whole, room),
            Ok(Taken::Part(body, why)) => {
                let bypass = Bypass::new(match why {
                    Why::TooLong => "the body is too long",
                    Why::NoRoom => "busy",
                    Why::Late => "the body takes too long",
                });
                return self.pass(parts, Body::new(body), Some(&bypass)).await;
            }
            Err(_) => return failed(StatusCode::BAD_REQUEST, "the body ended too early"),
        };
        match self.prepare(&parts, dialect, &whole).await {
            Ok((caller, prepared)) => self.apply(parts, dialect, whole, caller, prepared).await,
            Err(bypass) => self.pass(parts, whole.into(), Some(&bypass)).await,
        }
    }

    async fn prepare(
        &self,
        parts: &Parts,
        dialect: Dialect,
        body: &[u8],
    ) -> Result<(Caller, Prepared), Bypass> {
        let asked = Asked::read(dialect, body)?;
        let caller = Caller::of(&parts.headers, &asked)?;
        if !self.options.share.has(&caller.user) {
            return Err(Bypass::new("share"));
        }
        let work = self.decider.prepare(&self.options, &caller, body, &asked);
        let prepared =
            timeout(self.options.patience, work).await.map_err(|_| Bypass::new("it took too long"))??;
        Ok((caller, prepared))
    }

    /// Passes a request on as it came.
    async fn pass(&self, parts: Parts, body: Body, bypass: Option<&Bypass>) -> Response<Body> {
        let mut response = match self.upstream.send(parts, body, false).await {
            Ok(response) => back(response).map(Body::new),
            Err(lost) => gone(lost),
        };
        if let Some(Bypass(reason)) = bypass {
            tracing::debug!(%reason, "passed on");
            let reason = HeaderValue::from_str(reason).unwrap_or(HeaderValue::from_static("internal"));
            response.headers_mut().insert("x-fable-bypass", reason);
        }
        response
    }

    /// Passes a request on with what was decided, and listens to the answer.
    async fn apply(
        &self,
        mut parts: Parts,
        dialect: Dialect,
        whole: Bytes,
        caller: Caller,
        prepared: Prepared,
    ) -> Response<Body> {
        let Prepared { body, turn, decided } = prepared;
        let remembers = self.options.memory && self.options.mode == Mode::Apply;
        let hearing = Hearing::new(Arc::clone(&self.decider), turn, caller.user, remembers);
        parts.headers.remove(CONTENT_LENGTH); // it is another one
        let sent = self.upstream.send(parts, body.map_or_else(|| whole.into(), Body::from), true).await;
        let mut response = match sent {
            Ok(response) => self.listen(back(response), dialect, hearing, &decided).await,
            Err(lost) => gone(lost),
        };
        if let Ok(id) = HeaderValue::from_str(&decided.id.to_string()) {
            response.headers_mut().insert("x-fable-decision", id);
        }
        response
    }

    async fn listen(
        &self,
        response: Response<Incoming>,
        dialect: Dialect,
        hearing: Hearing,
        decided: &conversations::Decided,
    ) -> Response<Body> {
        let (mut parts, body) = response.into_parts();
        let plain = parts.headers.get(CONTENT_ENCODING).is_none_or(|coding| coding == "identity");
        if !parts.status.is_success() || !plain {
            if parts.status.is_success() {
                hearing.end(&Heard::default()); // it cannot be read, but it is one
            }
            return Response::from_parts(parts, Body::new(body));
        }
        if !parts.headers.get(CONTENT_TYPE).is_some_and(is_json) {
            let tapped = Tapped::new(Begun::not_yet(body), Listener::new(dialect), hearing);
            return Response::from_parts(parts, Body::new(tapped));
        }
        let (answer, room) = match bodies::take(body, WHOLE, &self.answers, None).await {
            Ok(Taken::Whole(answer, room)) => (answer, room),
            Ok(Taken::Part(body, _)) => {
                return Response::from_parts(
                    parts,
                    Body::new(Tapped::new(body, Listener::new(dialect), hearing)),
                );
            }
            Err(_) => return gone(Lost::Broken),
        };
        let said = json!({ "decision": decided.id.to_string(), "action": decided.action });
        let answer = if let Some(more) = splice::with_member(&answer, "fable", &said) {
            hearing.end(&Listener::new(dialect).whole(&answer));
            more.into()
        } else {
            answer // it says that it is JSON, and is not: nobody has heard one
        };
        parts.headers.remove(CONTENT_LENGTH);
        Response::from_parts(parts, Body::new(Begun::whole(answer, room)))
    }
}

/// An answer as it is passed back.
fn back(response: Response<Incoming>) -> Response<Incoming> {
    let (mut parts, body) = response.into_parts();
    parts.headers = end_to_end(parts.headers);
    Response::from_parts(parts, body)
}

/// There is no answer to pass back.
fn gone(lost: Lost) -> Response<Body> {
    match lost {
        Lost::Unreachable => failed(StatusCode::BAD_GATEWAY, "the upstream cannot be reached"),
        Lost::Broken => {
            failed(StatusCode::BAD_GATEWAY, "the upstream broke off, or what it says is no answer")
        }
        Lost::Late => failed(StatusCode::GATEWAY_TIMEOUT, "the upstream takes too long"),
    }
}

fn failed(status: StatusCode, message: &str) -> Response<Body> {
    let body = json!({ "error": { "message": message, "type": "upstream_error", "param": null, "code": "upstream" } });
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
