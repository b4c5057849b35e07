//! A request from its head to its answer.

use super::HttpOptions;
use super::counters::{Counters, Now};
use super::fault::Fault;
use super::limits::{Limit, Share};
use super::openapi;
use super::routes::{Kind, ROUTES, Route};
use super::tokens::{Role, Tokens};
use crate::rewards::{Gathering, Metrics};
use crate::serve::MAX_LINE;
use crate::serve::incoming::Incoming;
use crate::serve::op::Op;
use crate::serve::refusal::{Code, Refusal};
use crate::serve::service::{Answered, Service};
use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, HOST, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use axum::routing::{MethodFilter, on, post};
use fable_core::{Catalog, DecisionId};
use futures_util::future::BoxFuture;
use http_body_util::BodyExt;
use ring::rand::SystemRandom;
use serde_json::json;
use std::borrow::Cow;
use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use tokio::time::timeout;

/// Bytes of bodies that are in memory at a time.
const BODIES: usize = 64 << 20;
/// Bytes of a body that is too long which are read and thrown away, so that its sender comes to read the answer.
const DISCARDED: usize = 8 * MAX_LINE;

/// The header with a token where `authorization` is for others.
const TOKEN: &str = "x-fable-token";

/// What answers the requests that are not for the service.
pub(crate) type Beside = Arc<dyn Fn(Request) -> BoxFuture<'static, Response> + Send + Sync>;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const PROMETHEUS: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");

/// Where a request came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Door {
    Tcp,
    Socket,
}

/// What all requests share.
#[derive(Debug)]
pub(crate) struct Front {
    pub(super) service: Service,
    tokens: Tokens,
    pub(super) metrics: Metrics,
    pub(super) gathering: Mutex<Gathering>,
    pub(super) random: SystemRandom,
    pub(super) counters: Counters,
    pub(super) connections: Limit,
    in_flight: Limit,
    bodies: Limit,
    document: Bytes,
    timeout: Duration,
    /// Who else has to know.
    pub(crate) listening: OnceLock<Listening>,
}

/// What somebody beside the service has to know.
#[derive(Clone, Copy, Debug)]
pub(crate) enum News<'n> {
    /// A user is forgotten.
    Forgotten(&'n str),
    /// A decision has got its reward.
    Rewarded(DecisionId, f64),
}

/// Called with news.
pub(crate) struct Listening(pub(crate) Box<dyn Fn(News<'_>) + Send + Sync>);

impl fmt::Debug for Listening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Listening")
    }
}

/// A refused request.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) fault: Fault,
    message: Cow<'static, str>,
}

impl Refused {
    /// What is told.
    pub(super) fn into_message(self) -> String {
        self.message.into_owned()
    }

    /// The service ends and answers nothing more.
    pub(super) const GONE: Self = Self::new(Fault::Busy, "the service is ending");
    const BUSY: Self = Self::new(Fault::Busy, "so much is under way that it is better to come again");

    pub(super) const fn new(fault: Fault, message: &'static str) -> Self {
        Self { fault, message: Cow::Borrowed(message) }
    }
}

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Self {
        Self { fault: Fault::Code(refusal.code), message: refusal.message.into() }
    }
}

impl Front {
    pub(super) fn new(service: Service, options: HttpOptions) -> Self {
        let document = openapi::document(service.catalog(), &options.metrics, !options.tokens.is_empty());
        Self {
            service,
            tokens: options.tokens,
            metrics: options.metrics,
            gathering: Mutex::default(),
            random: SystemRandom::new(),
            counters: Counters::new(),
            connections: Limit::new(options.connections),
            in_flight: Limit::new(options.in_flight),
            bodies: Limit::new(BODIES),
            document: document.to_string().into(),
            timeout: options.timeout,
            listening: OnceLock::new(),
        }
    }

    /// The table of routes as a service.
    pub(super) fn router(self: &Arc<Self>, door: Door) -> Router {
        let mut router = Router::new();
        for (place, route) in ROUTES.iter().enumerate() {
            let front = Arc::clone(self);
            let handler = move |request: Request| Arc::clone(&front).handle(door, place, request);
            let method = MethodFilter::try_from(route.method()).unwrap_or(MethodFilter::GET); // every method of the table is one
            router = router.route(route.path, on(method, handler));
        }
        let refuse = |fault, message| {
            let front = Arc::clone(self);
            move || {
                let refused = front.refuse(&Refused::new(fault, message));
                async { refused }
            }
        };
        let router = router
            .fallback(refuse(Fault::NotFound, "there is nothing at this path; GET /openapi.json lists all"));
        router.method_not_allowed_fallback(refuse(
            Fault::MethodNotAllowed,
            "the header 'allow' lists the methods of this path",
        ))
    }

    /// The same below `/fable`, feedback also where it always is, and `beside` for everything else.
    pub(super) fn router_beside(self: &Arc<Self>, door: Door, beside: &Beside) -> Router {
        let (front, beside) = (Arc::clone(self), Arc::clone(beside));
        let other = move |request: Request| {
            let (front, beside) = (Arc::clone(&front), Arc::clone(&beside));
            async move {
                match front.admit_beside(door, request.headers()) {
                    Ok(()) => beside(request).await,
                    Err(refused) => front.refuse(&refused),
                }
            }
        };
        let mut router = Router::new().nest("/fable", self.router(door));
        if let Some(place) = ROUTES.iter().position(|route| matches!(route.kind, Kind::Feedback)) {
            let front = Arc::clone(self);
            let feedback = post(move |request: Request| Arc::clone(&front).handle(door, place, request));
            router = router.route("/feedback", feedback.fallback(other.clone()));
        }
        router.fallback(other)
    }

    async fn handle(self: Arc<Self>, door: Door, place: usize, request: Request) -> Response {
        let began = Instant::now();
        let response = match ROUTES.get(place) {
            Some(route) => self.answer(door, route, request).await,
            None => Err(Refused::BUSY),
        };
        self.counters.took(place, began.elapsed());
        response.unwrap_or_else(|refused| self.refuse(&refused))
    }

    async fn answer(&self, door: Door, route: &Route, request: Request) -> Result<Response, Refused> {
        self.admit(door, route.role, request.headers())?;
        match route.kind {
            Kind::Op(op) => {
                let (body, share) = self.body(request).await?;
                let incoming = Incoming::of_op(self.service.catalog(), op, &body);
                drop((body, share));
                let mut rewarded = None;
                match &incoming.op {
                    Ok(Op::Forget { user }) => self.tell(News::Forgotten(user)),
                    Ok(Op::Feedback { decision, reward, .. }) => {
                        rewarded = Some(News::Rewarded(*decision, *reward));
                    }
                    _ => {}
                }
                let answered = self.ask(incoming)?.await.map_err(|_| Refused::GONE)?;
                if let Some(news) = rewarded.filter(|_| answered.code.is_none()) {
                    self.tell(news);
                }
                Ok(self.answered(answered))
            }
            Kind::Feedback => {
                let (body, _share) = self.body(request).await?;
                self.feedback(&body).await
            }
            Kind::Metrics => {
                let waiting = self.gathering.lock().map_or(0, |gathering| gathering.len());
                let (service, in_flight, connections) =
                    (self.service.gauges(), self.in_flight.taken(), self.connections.taken());
                let text = self.counters.write(&Now { service, in_flight, connections, waiting });
                Ok(respond(StatusCode::OK, PROMETHEUS, text.into()))
            }
            Kind::Health => Ok(respond(StatusCode::OK, JSON, Body::from(r#"{"status":"ok"}"#))),
            Kind::Document => Ok(respond(StatusCode::OK, JSON, self.document.clone().into())),
        }
    }

    /// Tells whoever listens.
    pub(super) fn tell(&self, news: News<'_>) {
        if let Some(Listening(listen)) = self.listening.get() {
            listen(news);
        }
    }

    /// Whether whoever asks may have something passed on. The header `authorization` is for others there.
    fn admit_beside(&self, door: Door, headers: &HeaderMap) -> Result<(), Refused> {
        self.admit_host(door, headers)?;
        match self.own_role(headers) {
            None => Err(Refused::new(Fault::Unauthorized, "this needs a token: x-fable-token: TOKEN")),
            Some(_) => Ok(()),
        }
    }

    /// What the token in Fable's own header allows.
    fn own_role(&self, headers: &HeaderMap) -> Option<Role> {
        let token =
            headers.get(TOKEN).map(|token| HeaderValue::from_bytes(&[b"Bearer ", token.as_bytes()].concat()));
        self.tokens.role(token.and_then(Result::ok).as_ref())
    }

    fn admit_host(&self, door: Door, headers: &HeaderMap) -> Result<(), Refused> {
        // Without tokens whoever is on this machine may do everything, but not a page of the web whose host was made to lead here.
        if self.tokens.is_empty() && door == Door::Tcp && !headers.get(HOST).is_none_or(is_this_machine) {
            return Err(Refused::new(
                Fault::Forbidden,
                "without tokens a request is to an address of this machine, as localhost",
            ));
        }
        Ok(())
    }

    /// Whether whoever asks may do this.
    fn admit(&self, door: Door, needed: Role, headers: &HeaderMap) -> Result<(), Refused> {
        self.admit_host(door, headers)?;
        if needed == Role::Anyone {
            return Ok(());
        }
        // Applications of a proxy have a key of somebody else in `authorization`.
        match self.tokens.role(headers.get(AUTHORIZATION)).max(self.own_role(headers)) {
            None => Err(Refused::new(
                Fault::Unauthorized,
                "this needs a token: authorization: Bearer TOKEN, or x-fable-token: TOKEN",
            )),
            Some(role) if role < needed => {
                Err(Refused::new(Fault::Forbidden, "this token does not allow that"))
            }
            Some(_) => Ok(()),
        }
    }

    /// The body, with its share of the memory for bodies.
    async fn body(&self, request: Request) -> Result<(Bytes, Share), Refused> {
        if !request.headers().get(CONTENT_TYPE).is_some_and(is_json) {
            return Err(Refused::new(
                Fault::UnsupportedMediaType,
                "a body is JSON: content-type: application/json",
            ));
        }
        let body = request.into_body();
        let length = body.size_hint().exact().map(|length| usize::try_from(length).unwrap_or(usize::MAX));
        let share = self.bodies.take(length.unwrap_or(MAX_LINE).min(MAX_LINE)).ok_or(Refused::BUSY)?;
        let late = |_| Refused::new(Fault::Timeout, "the body did not come in time");
        Ok((timeout(self.timeout, collect(body)).await.map_err(late)??, share))
    }

    /// Hands an op to the learners; `None` when so much is under way that it is better to do without.
    pub(crate) fn ask_op(&self, op: Op) -> Option<oneshot::Receiver<Answered>> {
        self.ask(Incoming { id: None, op: Ok(op) }).ok()
    }

    /// Time for a body.
    pub(crate) const fn timeout(&self) -> Duration {
        self.timeout
    }

    /// The catalog that is served.
    pub(crate) fn catalog(&self) -> &'static Catalog<'static> {
        self.service.catalog()
    }

    /// Hands a request to the learners, before anything is waited for.
    pub(super) fn ask(&self, incoming: Incoming) -> Result<oneshot::Receiver<Answered>, Refused> {
        let share = self.in_flight.take(1).ok_or(Refused::BUSY)?;
        let (sender, receiver) = oneshot::channel();
        let reply = move |answered| {
            drop(share); // it is under way until here, even if nobody waits any more
            let _ = sender.send(answered);
        };
        self.service.submit(incoming, reply).map_err(|_| Refused::BUSY)?;
        Ok(receiver)
    }

    /// An answer of the learners as one of HTTP.
    pub(super) fn answered(&self, Answered { json, code }: Answered) -> Response {
        let Some(fault) = code.map(Fault::Code) else { return respond(StatusCode::OK, JSON, json.into()) };
        self.counters.refused(fault);
        again(respond(fault.status(), JSON, json.into()))
    }

    fn refuse(&self, Refused { fault, message }: &Refused) -> Response {
        self.counters.refused(*fault);
        let body = json!({"error": {"code": fault.name(), "message": message}}).to_string();
        let mut response = again(respond(fault.status(), JSON, body.into()));
        if *fault == Fault::Unauthorized {
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

pub(super) fn respond(status: StatusCode, kind: HeaderValue, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

/// A JSON object as an answer.
pub(super) fn respond_json(value: &serde_json::Value) -> Response {
    respond(StatusCode::OK, JSON, value.to_string().into())
}

/// Whoever was too much is told to come again.
fn again(mut response: Response) -> Response {
    if response.status() == StatusCode::SERVICE_UNAVAILABLE {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

async fn collect(mut body: Body) -> Result<Bytes, Refused> {
    let (mut whole, mut length) = (Vec::new(), 0_usize);
    while let Some(frame) = body.frame().await {
        let broken = |_| {
            Refused::new(
                Fault::Code(Code::BadRequest),
                "the body ended too early, or is not coded as it says",
            )
        };
        let Ok(data) = frame.map_err(broken)?.into_data() else { continue };
        length = length.saturating_add(data.len());
        if length == data.len() && body.is_end_stream() && length <= MAX_LINE {
            return Ok(data); // in one piece, as most are
        }
        if length <= MAX_LINE {
            whole.extend_from_slice(&data);
        } else if length > DISCARDED {
            break;
        }
    }
    if length > MAX_LINE {
        return Err(Refused::new(Fault::Code(Code::TooLong), "a body can have at most 1 MiB"));
    }
    Ok(whole.into())
}

/// `application/json`, with or without parameters.
pub(crate) fn is_json(value: &HeaderValue) -> bool {
    let kind = value.as_bytes().split(|byte| *byte == b';').next().unwrap_or_default();
    kind.trim_ascii().eq_ignore_ascii_case(b"application/json")
}

/// A host as it is named on this machine: `localhost` or a loopback address, with or without a port.
fn is_this_machine(host: &HeaderValue) -> bool {
    let Ok(host) = host.to_str() else { return false };
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost") || name.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_this_machine() {
        let is = |host| is_this_machine(&HeaderValue::from_static(host));
        assert!(
            ["localhost", "LOCALHOST:80", "127.0.0.1:8080", "127.9.9.9", "[::1]", "[::1]:80"]
                .into_iter()
                .all(is)
        );
        assert!(
            !["", "example.com", "localhost.example.com", "127.0.0.1.example.com:80", "10.0.0.1", "[::2]:80"]
                .into_iter()
                .any(is)
        );
    }

    #[test]
    fn json_is_json() {
        let is = |kind| is_json(&HeaderValue::from_static(kind));
        assert!(["application/json", "Application/JSON; charset=utf-8"].into_iter().all(is));
        assert!(
            !["", "text/plain", "application/jsonp", "application/x-www-form-urlencoded"].into_iter().any(is)
        );
    }
}
