//! The assistant's server, and what is passed on to it and back.

use super::attentive::Connector;
use axum::body::Body;
use axum::http::header::{
    ACCEPT_ENCODING, CONNECTION, EXPECT, HOST, HeaderName, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use axum::http::request::Parts;
use axum::http::uri::{Authority, PathAndQuery, Scheme};
use axum::http::{HeaderMap, HeaderValue, Request, Response, Uri, Version};
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::{Client, Error};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use std::error::Error as _;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{fmt, io};
use tokio::time::timeout;

/// Common servers close a connection that nobody uses after five seconds: it is not used again shortly before that.
const IDLE: Duration = Duration::from_secs(4);

/// A server that has ended a connection under a request gets a connection for each request, for so long.
const CAREFUL: Duration = Duration::from_mins(1);

/// Headers of Fable's own begin like this; they are not passed on.
const OWN: &str = "x-fable-";

/// The address of a server: what stands before `/v1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpstreamAddress {
    scheme: Scheme,
    authority: Authority,
    prefix: String,
}

/// An address that is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UpstreamAddressError;

impl fmt::Display for UpstreamAddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an upstream is an address like https://api.openai.com or http://localhost:11434, without a user, a query or a fragment")
    }
}

impl std::error::Error for UpstreamAddressError {}

impl std::str::FromStr for UpstreamAddress {
    type Err = UpstreamAddressError;

    /// ```
    /// use fable_std::proxy::UpstreamAddress;
    /// let address = |text: &str| text.parse::<UpstreamAddress>().map(|address| address.to_string());
    /// assert_eq!(address("https://api.openai.com/v1/").unwrap(), "https://api.openai.com");
    /// assert_eq!(address("https://openrouter.ai/api/v1").unwrap(), "https://openrouter.ai/api");
    /// assert!(address("api.openai.com").is_err() && address("https://me:key@host").is_err());
    /// ```
    fn from_str(text: &str) -> Result<Self, UpstreamAddressError> {
        let uri: Uri = text.parse().map_err(|_| UpstreamAddressError)?;
        let parts = uri.into_parts();
        let (scheme, authority) = parts.scheme.zip(parts.authority).ok_or(UpstreamAddressError)?;
        let known = scheme == Scheme::HTTP || scheme == Scheme::HTTPS;
        let path = parts.path_and_query.unwrap_or_else(|| PathAndQuery::from_static("/"));
        if !known
            || authority.as_str().contains('@')
            || path.query().is_some()
            || text.contains('#')
            || authority.host().is_empty()
        {
            return Err(UpstreamAddressError);
        }
        let path = path.path().trim_end_matches('/');
        let prefix = path.strip_suffix("/v1").unwrap_or(path).to_owned();
        Ok(Self { scheme, authority, prefix })
    }
}

impl fmt::Display for UpstreamAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}{}", self.scheme, self.authority, self.prefix)
    }
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lost {
    /// It cannot be reached.
    Unreachable,
    /// It broke off, or what it says is no answer.
    Broken,
    /// It takes too long.
    Late,
}

type Connections = Client<HttpsConnector<Connector>, Body>;

/// A server that is reached.
pub(super) struct Upstream {
    address: UpstreamAddress,
    /// Connections that are used again.
    kept: Connections,
    /// Connections for one request each.
    single: Connections,
    /// When a connection ended under a request, as far as that matters.
    ended: Ended,
    patience: Duration,
}

impl fmt::Debug for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Upstream({})", self.address)
    }
}

impl Upstream {
    /// A server that has so long to connect, and so long to begin with its answer.
    pub(super) fn new(address: UpstreamAddress, connecting: Duration, patience: Duration) -> Self {
        let mut http = HttpConnector::new();
        http.set_connect_timeout(Some(connecting));
        http.set_nodelay(true);
        http.enforce_http(false);
        let tls = HttpsConnectorBuilder::new().with_webpki_roots().https_or_http().enable_http1();
        Self::over(tls.wrap_connector(Connector(http)), address, patience)
    }

    /// The same over connections that are made like this.
    pub(super) fn over(
        connector: HttpsConnector<Connector>,
        address: UpstreamAddress,
        patience: Duration,
    ) -> Self {
        let mut clients = Client::builder(TokioExecutor::new());
        let kept = clients.pool_timer(TokioTimer::new()).pool_idle_timeout(IDLE).build(connector.clone());
        let single = clients.pool_max_idle_per_host(0).build(connector);
        Self { address, kept, single, ended: Ended::default(), patience }
    }

    /// Sends a request on. `read` is whether its answer is to be read on the way, for which it must not be compressed.
    ///
    /// A kept connection that is found to have [ended](super::attentive) gives a request back that it has not taken: the client then sends
    /// it on another one by itself. A request that may have been sent is not sent again, as it may have been heard and may cost money. It is
    /// lost where the server ends a kept connection at that very moment. Who does that once may do it always, so connections are not kept
    /// for a while: then there is no such moment.
    pub(super) async fn send(
        &self,
        parts: Parts,
        body: Body,
        read: bool,
    ) -> Result<Response<Incoming>, Lost> {
        let path = parts.uri.path_and_query().map_or("/", PathAndQuery::as_str);
        let uri = Uri::builder()
            .scheme(self.address.scheme.clone())
            .authority(self.address.authority.clone())
            .path_and_query(format!("{}{path}", self.address.prefix))
            .build()
            .map_err(|_| Lost::Broken)?;
        let mut headers = end_to_end(parts.headers);
        for gone in [HOST, EXPECT] {
            headers.remove(gone); // they are made anew
        }
        if read {
            headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        }
        let mut request = Request::new(body);
        *request.method_mut() = parts.method;
        *request.uri_mut() = uri;
        *request.version_mut() = Version::HTTP_11;
        *request.headers_mut() = headers;
        let client = if self.ended.lately(Instant::now()) { &self.single } else { &self.kept };
        let sent = timeout(self.patience, client.request(request)).await.map_err(|_| Lost::Late)?;
        sent.map_err(|error| {
            tracing::debug!(%error, "the upstream did not answer");
            if ended(&error) {
                self.ended.note(Instant::now());
            }
            if error.is_connect() { Lost::Unreachable } else { Lost::Broken }
        })
    }
}

/// Whether a connection ended under a request, before there was an answer.
fn ended(error: &Error) -> bool {
    let Some(cause) = error.source().and_then(|cause| cause.downcast_ref::<hyper::Error>()) else {
        return false;
    };
    // What is wrong with a request's own body is told otherwise.
    let below: Option<&io::Error> = cause.source().and_then(|below| below.downcast_ref());
    cause.is_incomplete_message() || below.is_some()
}

/// When a connection ended under a request for the last time.
#[derive(Debug, Default)]
struct Ended(Mutex<Option<Instant>>);

impl Ended {
    fn note(&self, now: Instant) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
    }

    fn lately(&self, now: Instant) -> bool {
        let last = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        last.is_some_and(|last| now.saturating_duration_since(last) < CAREFUL)
    }
}

/// The headers that are meant for the other end: not those of one connection, and none of Fable's own.
pub(super) fn end_to_end(headers: HeaderMap) -> HeaderMap {
    const HOP: [HeaderName; 5] = [CONNECTION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE];
    let named: Vec<String> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|name| name.trim().to_ascii_lowercase())
        .collect();
    let (mut kept, mut last) = (HeaderMap::with_capacity(headers.len()), None);
    for (name, value) in headers {
        last = name.or(last);
        let Some(name) = &last else { continue };
        let hop = HOP.contains(name)
            || ["keep-alive", "proxy-connection"].contains(&name.as_str())
            || named.iter().any(|other| other == name.as_str());
        if !hop && !name.as_str().starts_with(OWN) {
            kept.append(name.clone(), value);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_meant_for_the_other_end_is_passed_on() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("authorization", "Bearer k"),
            ("connection", "close, X-Hop"),
            ("x-hop", "1"),
            ("x-fable-user", "ana"),
            ("te", "trailers"),
            ("accept", "a"),
            ("accept", "b"),
            ("keep-alive", "1"),
        ] {
            headers.append(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        let kept = end_to_end(headers);
        let shown: Vec<_> =
            kept.iter().map(|(name, value)| format!("{name}={}", value.to_str().unwrap())).collect();
        assert_eq!(shown, ["authorization=Bearer k", "accept=a", "accept=b"]);
    }

    #[test]
    fn a_server_is_trusted_with_kept_connections_again_after_a_while() {
        let (ended, now) = (Ended::default(), Instant::now());
        assert!(!ended.lately(now));
        ended.note(now);
        assert!(ended.lately(now) && ended.lately(now + CAREFUL / 2) && !ended.lately(now + CAREFUL));
    }
}
