//! Flags of what is served over HTTP.

use crate::failure::Failure;
use clap::{ArgGroup, Args};
use fable_std::rewards::Metrics;
use fable_std::serve::http::{HttpOptions, HttpOptionsError, Tokens};
use fable_std::toml_file::FileError;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// What `--help` says about tokens.
pub(crate) const TOKENS: &str = "\
Over HTTP, FABLE_TOKENS_DECIDE and FABLE_TOKENS_ALL have tokens between commas, of at least 16 characters each; FABLE_TOKENS_DECIDE_FILE and
FABLE_TOKENS_ALL_FILE name files with them. With any of these a request needs `authorization: Bearer TOKEN` or `x-fable-token: TOKEN`: the first allow to
decide and to say how it went, the others everything. Without them only addresses of this machine are served, and everything is allowed.";

/// Where to listen, and what may come.
#[derive(Args)]
#[command(next_help_heading = "HTTP", group(ArgGroup::new("listens").args(["http", "socket"]).multiple(true)))]
pub(crate) struct HttpArguments {
    /// Serves over HTTP at this address, as 127.0.0.1:8080, instead of standard input and output; port 0 is any that is free. One line
    /// on standard output says where.
    #[arg(long, value_name = "ADDRESS")]
    http: Option<SocketAddr>,
    /// Allows an address that others can reach. It needs tokens, and a proxy with TLS before it.
    #[arg(long, requires = "http")]
    http_public: bool,
    /// Serves HTTP at a UNIX socket, for this user alone (mode 0600); it is removed at the end. May be given beside --http.
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// What the metrics of POST /feedback are worth; without it `reward`, a number from -1 to 1, and `comment`, a text.
    #[arg(long, value_name = "FILE.toml", requires = "listens")]
    metrics: Option<String>,
    #[command(flatten)]
    limits: HttpLimits,
}

/// How much may come at a time, and how slowly.
#[derive(Args)]
#[command(next_help_heading = "HTTP")]
pub(crate) struct HttpLimits {
    /// Most connections at a time.
    #[arg(long = "http-connections", value_name = "COUNT", default_value_t = 4096)]
    connections: usize,
    /// Most requests that wait for the learners at a time; more are answered with 503.
    #[arg(long = "http-in-flight", value_name = "COUNT", default_value_t = 1024)]
    in_flight: usize,
    /// Seconds for a head, for a body, and between two requests of a connection.
    #[arg(long = "http-timeout", value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: u64,
}

impl HttpArguments {
    /// How to serve over HTTP, if that is asked for.
    pub(crate) fn options(&self) -> Result<Option<HttpOptions>, Failure> {
        if self.http.is_none() && self.socket.is_none() {
            return Ok(None);
        }
        let place = HttpOptions {
            address: self.http,
            public: self.http_public,
            socket: self.socket.clone(),
            ..self.limits.options(self.metrics.as_deref())?
        };
        checked(place, "--http-public").map(Some)
    }
}

/// Options that can be served with; `flag` lets others in.
pub(crate) fn checked(place: HttpOptions, flag: &str) -> Result<HttpOptions, Failure> {
    match place.check() {
        Ok(()) => Ok(place),
        Err(error @ HttpOptionsError::NotLoopback) => Err(Failure::Mistake(format!("{error}: {flag}"))),
        Err(error) => Err(Failure::mistake(error)),
    }
}

impl HttpLimits {
    /// How to serve, but for where.
    pub(crate) fn options(&self, metrics: Option<&str>) -> Result<HttpOptions, Failure> {
        let metrics = metrics.map(Metrics::open).transpose().map_err(|error| match error {
            FileError::Unreadable { .. } => Failure::Trouble(error.to_string()),
            error => Failure::mistake(error),
        })?;
        Ok(HttpOptions {
            tokens: Tokens::from_env().map_err(Failure::mistake)?,
            metrics: metrics.unwrap_or_default(),
            connections: self.connections,
            in_flight: self.in_flight,
            timeout: Duration::from_secs(self.timeout),
            ..HttpOptions::default()
        })
    }
}
