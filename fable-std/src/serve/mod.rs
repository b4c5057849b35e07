#![doc = include_str!("protocol.md")]

mod answer;
mod backup;
mod counters;
mod engine;
pub mod http;
mod incoming;
mod json;
mod op;
mod pipe;
mod questions;
mod read;
mod refusal;
mod residents;
mod service;
mod shards;
mod worker;

pub use counters::Gauges;
pub use incoming::{Incoming, OPS};
pub use op::{MAX_DRAWS, MAX_NAME, Op};
pub use pipe::Stop;
pub use questions::{Questions, knows_chances, refuse_decision};
pub use read::{Past, ReadAs, Words};
pub use refusal::{Code, Refusal};
pub use residents::user_bytes;
pub use service::{Answered, Busy, Service};

use crate::prior_file::PriorFileError;
use crate::store::{self, StoreError};
use fable_core::settings::SettingsError;
use fable_core::{Catalog, Scalar, Settings};
use std::fmt;
use std::io::{self, Read, Write};
use std::path::PathBuf;

/// This page.
pub const PROTOCOL: &str = include_str!("protocol.md");

/// Longest line, in bytes.
pub const MAX_LINE: usize = 1 << 20;

/// Bytes for users in memory unless something else is said.
pub const CACHE: usize = 256 << 20;

/// How to serve.
#[derive(Clone, Debug)]
pub struct Options {
    /// The store, a file or the URL of a database; without one everything ends with the process.
    pub store: Option<PathBuf>,
    /// How the store is kept.
    pub keeping: store::Options,
    /// What new users begin with, see [`prior_file`](crate::prior_file); the isotropic prior without one. Users who are there go on with theirs.
    pub prior: Option<Vec<u8>>,
    /// Whether an answer waits until what it says is on disk.
    pub durable: bool,
    /// Bytes for users in memory, see [`user_bytes`]; one user always has room.
    pub cache: usize,
    /// Threads that have users; as many as suit the machine if nothing is said.
    pub threads: Option<usize>,
    /// Whether what users and assistants exchange may be kept, see [`memory`](crate::memory); how much is for [`keeping`](Self::keeping) to say.
    pub memory: bool,
}

impl Default for Options {
    /// No store, the isotropic prior, answers that wait for nothing, and no memory.
    fn default() -> Self {
        let keeping = store::Options::default();
        Self { store: None, keeping, prior: None, durable: false, cache: CACHE, threads: None, memory: false }
    }
}

/// Serves requests from `input` on `output`, in the scalar `T`, until the input ends or `ready`'s [`Stop`] is used. What was
/// answered is on disk when this returns.
///
/// ```
/// use fable_core::{Settings, catalog::TAU2};
/// use fable_std::serve::{CACHE, Options, serve};
/// let input = br#"{"op":"decide","user":"ana","context":{}}"#;
/// let mut output = Vec::new();
/// let options = Options { durable: true, ..Options::default() };
/// serve::<f64>(&TAU2, Settings::default(), &options, &input[..], &mut output, |_| {})?;
/// assert!(output.starts_with(br#"{"decision":"e6f79c19051ffb05-0-1","action":{"memory":"#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Settings out of range, a prior or a store that cannot be used, an output that cannot be written, an input that cannot be read, a
/// panic in any of its threads.
pub fn serve<T: Scalar>(
    catalog: &'static Catalog<'static>,
    settings: Settings<'static>,
    options: &Options,
    input: impl Read + Send + 'static,
    output: impl Write,
    ready: impl FnOnce(Stop),
) -> Result<(), ServeError> {
    Service::run::<T>(catalog, settings, options, |service| pipe::run(&service, input, output, ready))
}

/// Why a service ended.
#[derive(Debug)]
#[non_exhaustive]
pub enum ServeError {
    /// A setting is out of its range.
    Settings(SettingsError),
    /// What new users are to begin with is not a prior here; nothing was opened.
    Prior(PriorFileError),
    /// The store cannot be used.
    Store(StoreError),
    /// The output cannot be written, or a thread cannot be started.
    Output(io::Error),
    /// The input cannot be read; what was read before is answered.
    Input(io::Error),
    /// The service cannot be served over HTTP like this.
    Http(http::HttpOptionsError),
    /// The service cannot listen where it was told to.
    Listen {
        /// Where.
        place: String,
        /// The reason.
        error: io::Error,
    },
    /// A thread has panicked, here or in the input or the output. What was answered is kept; what was not may have happened.
    Panicked {
        /// Which.
        thread: &'static str,
        /// What it said.
        reason: String,
    },
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Settings(error) => error.fmt(f),
            Self::Prior(error) => error.fmt(f),
            Self::Store(error) => error.fmt(f),
            Self::Output(error) => write!(f, "the output cannot be written: {error}"),
            Self::Input(error) => write!(f, "the input cannot be read: {error}"),
            Self::Http(error) => error.fmt(f),
            Self::Listen { place, error } => write!(f, "{place}: {error}"),
            Self::Panicked { thread, reason } => {
                write!(f, "the service has panicked, thread '{thread}': {reason}")
            }
        }
    }
}

impl std::error::Error for ServeError {}

crate::from!(ServeError: StoreError => Store, PriorFileError => Prior);
