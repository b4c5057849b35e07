//! The protocol over HTTP: on a port of this machine, on a UNIX socket, or, with tokens, for others.
//!
//! | request | what it is |
//! |---|---|
//! | `POST /v1/OP` | an op of the [protocol](super); the body is its object without `op`, the answer the same as over a pipe |
//! | `POST /feedback` | a metric of a decision, in the shape of TensorZero: `inference_id` or `episode_id` is the id of the decision, `metric_name`, `value`; optional `tags` (not kept) and `dryrun`. It is answered with `feedback_id` and the `reward` that was learned, `null` if the words say nothing about the answer; or with `pending`, the metrics that are waited for, and is then in memory alone. See [`rewards`](crate::rewards) |
//! | `GET /metrics` | counts for Prometheus, without names of users |
//! | `GET /healthz` | `{"status":"ok"}` |
//! | `GET /openapi.json` | the OpenAPI 3.1 document of all of this, for the catalog that is served |
//!
//! A refused request has the status of its code, `{"error":{"code":"...","message":"..."}}`, and has changed nothing.
//!
//! | status | codes |
//! |---|---|
//! | 400 | `bad_json`, `bad_request` |
//! | 401, 403 | `unauthorized`, `forbidden`: a token is missing or unknown, or does not allow it |
//! | 404 | `not_found`, `unknown_decision` |
//! | 405, 408, 415 | `method_not_allowed`, `timeout` (the body did not come in time), `unsupported_media_type` (bodies are `application/json`) |
//! | 409 | `duplicate_feedback`, `stale`, `not_learned`, `exhausted` |
//! | 410 | `expired` |
//! | 413 | `too_long`: a body has at most 1 MiB |
//! | 422 | `unknown_name`, `out_of_range`, `incomplete_action`, `bad_context`, `bad_pattern`, `infeasible`, `bad_direction`, `no_coordinate`, `bad_contrast` |
//! | 423 | `damaged` |
//! | 500 | `internal` |
//! | 503 | `storage`, `uncertain`, `busy`; `retry-after` says when to come again |
//!
//! What is not HTTP, or has a head of more than 64 KiB, is answered with 400 or 431 and no body.
//!
//! *Who may.* Without tokens everything is allowed to whoever can connect, and only addresses of this machine are served; requests
//! for a host of another name are refused, so that no page of the web leads here. With [`Tokens`] a request needs
//! `authorization: Bearer TOKEN` or `x-fable-token: TOKEN`: a token of `FABLE_TOKENS_DECIDE` allows `decide`, `recommend`, `read`, both ways of feedback and the document, one of
//! `FABLE_TOKENS_ALL` everything. `healthz` is open. There is no TLS: before others comes a proxy that has it.
//!
//! *Limits.* So many connections and so many requests under way at a time; more are answered with 503. A connection on which no whole
//! head comes in time is closed, idle ones included, and a body that does not come in time is answered with 408.

mod counters;
mod fault;
mod feedback;
mod feedback_id;
mod front;
mod limits;
mod listen;
mod openapi;
mod routes;
mod schemas;
mod tokens;

pub use feedback::metric_in;
pub(crate) use front::{Beside, Front, Listening, News, is_json};
pub use listen::HttpStop;
pub use tokens::{MIN_TOKEN, Role, TokenError, Tokens};

use super::ServeError;
use super::service::Service;
use crate::rewards::Metrics;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How to serve over HTTP.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// The address to listen at; port 0 is any that is free.
    pub address: Option<SocketAddr>,
    /// Whether the address may be one that others can reach.
    pub public: bool,
    /// The UNIX socket to listen at. It is made for this user alone and removed at the end.
    pub socket: Option<PathBuf>,
    /// Who may do what.
    pub tokens: Tokens,
    /// What metrics are worth.
    pub metrics: Metrics,
    /// Most connections at a time.
    pub connections: usize,
    /// Most requests that wait for the learners at a time.
    pub in_flight: usize,
    /// Time for a head, for a body, and between requests of a connection.
    pub timeout: Duration,
    /// Time for what is under way when the service is told to end.
    pub linger: Duration,
}

impl Default for HttpOptions {
    /// Nowhere yet.
    fn default() -> Self {
        Self {
            address: None,
            public: false,
            socket: None,
            tokens: Tokens::default(),
            metrics: Metrics::default(),
            connections: 4096,
            in_flight: 1024,
            timeout: Duration::from_secs(30),
            linger: Duration::from_secs(10),
        }
    }
}

/// Why options cannot be served with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HttpOptionsError {
    /// Neither an address nor a socket.
    Nowhere,
    /// Others can reach the address, and nobody has said that they may.
    NotLoopback,
    /// Others may reach the address, and there are no tokens.
    NoTokens,
}

impl fmt::Display for HttpOptionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nowhere => "there is neither an address nor a socket to listen at",
            Self::NotLoopback => {
                "others can reach this address: give one of this machine, as 127.0.0.1, or say that it may be public"
            }
            Self::NoTokens => "an address that others can reach needs tokens: FABLE_TOKENS_DECIDE or FABLE_TOKENS_ALL",
        })
    }
}

impl std::error::Error for HttpOptionsError {}

impl HttpOptions {
    /// Whether it is safe to serve with them.
    ///
    /// # Errors
    /// See [`HttpOptionsError`].
    pub fn check(&self) -> Result<(), HttpOptionsError> {
        match self.address {
            None if self.socket.is_none() => Err(HttpOptionsError::Nowhere),
            Some(address) if !address.ip().is_loopback() && !self.public => {
                Err(HttpOptionsError::NotLoopback)
            }
            Some(_) if self.public && self.tokens.is_empty() => Err(HttpOptionsError::NoTokens),
            _ => Ok(()),
        }
    }
}

/// Serves a service over HTTP until `stop` is used; `ready` gets where it listens. What is under way then is answered, as far as
/// [`HttpOptions::linger`] goes.
///
/// ```
/// use fable_core::{Settings, catalog::TAU2};
/// use fable_std::serve::http::{HttpOptions, HttpStop, serve_http};
/// use fable_std::serve::{Options, Service};
/// use std::io::{Read, Write};
///
/// let http = HttpOptions { address: Some("127.0.0.1:0".parse()?), ..HttpOptions::default() };
/// let stop = HttpStop::default();
/// Service::run::<f64>(&TAU2, Settings::default(), &Options::default(), |service| {
///     serve_http(service, http, &stop.clone(), move |places| {
///         let address = places[0].strip_prefix("http://").unwrap().to_owned();
///         std::thread::spawn(move || {
///             let mut stream = std::net::TcpStream::connect(address).unwrap();
///             stream.write_all(b"GET /healthz HTTP/1.1\r\nconnection: close\r\n\r\n").unwrap();
///             let mut answer = String::new();
///             stream.read_to_string(&mut answer).unwrap();
///             assert!(answer.ends_with(r#"{"status":"ok"}"#));
///             stop.stop();
///         });
///     })
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Options that [`HttpOptions::check`] refuses, and a place that cannot be listened at.
pub fn serve_http(
    service: Service,
    options: HttpOptions,
    stop: &HttpStop,
    ready: impl FnOnce(&[String]),
) -> Result<(), ServeError> {
    serve_beside(service, options, stop, ready, |_| None)
}

/// The same with something else beside it: the ops are below `/fable` then, and `beside` gets what is not theirs.
pub(crate) fn serve_beside(
    service: Service,
    options: HttpOptions,
    stop: &HttpStop,
    ready: impl FnOnce(&[String]),
    beside: impl FnOnce(&Arc<Front>) -> Option<Beside>,
) -> Result<(), ServeError> {
    options.check().map_err(ServeError::Http)?;
    let failing = stop.clone();
    service.on_failure(move || failing.stop());
    listen::run(service, options, stop, ready, beside)
}
