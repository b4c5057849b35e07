//! What a service needs, whoever brings requests to it: flags that several commands share, and how it is run to its end.

use crate::amount;
use crate::failure::Failure;
use crate::input::read;
use crate::memory_arguments::MemoryArguments;
use crate::policy_arguments::{PolicyArguments, ScalarName};
use crate::prior_argument;
use crate::store_key;
use clap::{Args, ValueEnum};
use fable_core::{Catalog, Scalar, Settings};
use fable_std::serve::{Options, ServeError, user_bytes};
use fable_std::store::{self, History};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use signal_hook::iterator::Signals;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What is served, and where it is kept.
#[derive(Args)]
pub(crate) struct ServiceArguments {
    #[command(flatten)]
    pub(crate) policy: PolicyArguments,
    /// What keeps the users: a file, or a database (postgres://USER@HOST/DATABASE), which any number of processes may share. It is made
    /// if there is none. Without it everything ends with the process.
    #[arg(long, value_name = "FILE|URL")]
    store: Option<PathBuf>,
    /// What new users begin with, from `fable prior fit`; without it the isotropic prior. The store keeps it, and users who are
    /// there go on with the one they began with.
    #[arg(long, value_name = "FILE")]
    prior: Option<PathBuf>,
    /// The numbers in which users are kept. If it is left out, as the store has them; a new one has f32.
    #[arg(long, value_enum)]
    scalar: Option<ScalarName>,
    /// What an answer waits for.
    #[arg(long, value_enum, default_value_t = Durability::Commit)]
    durability: Durability,
    /// Memory for users: bytes, or a number with a unit (KB, MB, GB, KiB, MiB, GiB). Others are brought back from the store when
    /// they are needed. One of `agent` takes 219 KB in f64 and 113 KB in f32, and one always has room.
    #[arg(long, value_name = "BYTES", default_value = "256MiB", value_parser = amount::bytes)]
    cache: usize,
    /// Events that are kept of a user, half of them at the least, or `all`. What came before is a snapshot: the user goes on as before, but
    /// a reward from then cannot be taken back. The store keeps to it; a new one begins with 4096.
    #[arg(long, value_name = "EVENTS", value_parser = history)]
    history: Option<History>,
    /// Threads that have users. If it is left out, twice as many as the machine has cores, or one with a database, where many small
    /// transactions cost more than a few large ones. What is decided does not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=16))]
    threads: Option<u8>,
    #[command(flatten)]
    pub(crate) memory: MemoryArguments,
}

/// Brings requests to a service until a signal comes.
pub(crate) trait Front {
    fn serve<T: Scalar>(
        self,
        catalog: &'static Catalog<'static>,
        settings: Settings<'static>,
        options: &Options,
        signals: Signals,
    ) -> Result<(), ServeError>;
}

fn history(text: &str) -> Result<History, String> {
    match text {
        "all" => Ok(History::All),
        number => {
            number.parse().map(History::Last).map_err(|_| "a number of events above 0, or `all`".into())
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum Durability {
    /// Until what it says is on disk.
    Commit,
    /// For nothing: a machine that stops may take the last second with it.
    None,
}

impl ServiceArguments {
    /// Runs a service to its end.
    pub(crate) fn run(
        &self,
        catalog: &'static Catalog<'static>,
        settings: Settings<'static>,
        front: impl Front,
    ) -> Result<String, Failure> {
        let Self { policy: _, store, prior, scalar, durability, cache, history, threads, memory } = self;
        let bytes = prior.as_deref().map(read).transpose()?;
        let durable = matches!(durability, Durability::Commit);
        let keeping = store::Options {
            history: history.unwrap_or(History::AsItIs),
            memory: memory.bounds(),
            ..store_key::options()?
        };
        let (store, threads) = (store.clone(), threads.map(usize::from));
        let options =
            Options { store, keeping, prior: bytes, durable, cache: *cache, threads, memory: memory.is_on() };
        let scalar =
            ScalarName::of(*scalar, options.store.as_deref(), &options.keeping, options.prior.as_deref());
        let each = match scalar {
            ScalarName::F32 => user_bytes::<f32>(catalog),
            ScalarName::F64 => user_bytes::<f64>(catalog),
        };
        if *cache < each {
            tracing::warn!(
                cache,
                each,
                "--cache is bytes, fewer here than one user takes: one is in memory at a time"
            );
        }
        let ending = heeded();
        let signals = Signals::new(&ending).map_err(|error| Failure::Trouble(error.to_string()))?;
        // Whoever reads the answers may have stopped, and the service waits: the second signal does not.
        let once = Arc::new(AtomicBool::new(false));
        for signal in ending {
            flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&once))
                .and_then(|_| flag::register(signal, Arc::clone(&once)))
                .map_err(|error| Failure::Trouble(error.to_string()))?;
        }
        let served = match scalar {
            ScalarName::F32 => front.serve::<f32>(catalog, settings, &options, signals),
            ScalarName::F64 => front.serve::<f64>(catalog, settings, &options, signals),
        };
        match served {
            Ok(()) => Ok(String::new()),
            // Nobody reads the answers any more; what was answered is kept.
            Err(ServeError::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(String::new()),
            Err(ServeError::Http(error)) => Err(Failure::mistake(error)),
            Err(ServeError::Settings(error)) => Err(Failure::Mistake(error.to_string())),
            Err(ServeError::Prior(error)) => {
                let (path, bytes) =
                    (prior.as_deref().unwrap_or(Path::new("")), options.prior.as_deref().unwrap_or_default());
                Err(prior_argument::refused(path, bytes, catalog, settings, &error))
            }
            Err(ServeError::Store(error)) => Err(error.into()),
            Err(error) => Err(Failure::Trouble(error.to_string())),
        }
    }
}

/// Tells whoever has started it where it listens; who does not read it knows.
pub(crate) fn say_where(places: &[String]) {
    let _ = writeln!(io::stdout(), "{}", serde_json::json!({ "listening": places }));
}

/// Does something at the first signal.
pub(crate) fn at_a_signal(mut signals: Signals, stop: impl FnOnce() + Send + 'static) {
    let wait = move || {
        if signals.forever().next().is_some() {
            stop();
        }
    };
    if let Err(error) = std::thread::Builder::new().name("signals".into()).spawn(wait) {
        tracing::error!(%error, "signals cannot be waited for");
    }
}

/// The signals that end the service. One that whoever started it has ignored is none of them: under nohup a terminal that closes
/// takes nothing with it.
fn heeded() -> Vec<i32> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default(); // other systems do not tell
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    [SIGTERM, SIGINT, SIGHUP].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0).collect()
}
