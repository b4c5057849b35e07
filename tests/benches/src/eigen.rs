//! Eigen, when it is installed: a C++ program that is compiled on first use and obeys commands on a pipe.

use std::env;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use fable_core::{Action, Policy, Scalar};

use crate::peer::Tables;
use crate::user::Moment;

const HEADERS: &str = "/usr/include/eigen3";
const SOURCE: &str = include_str!("eigen.cpp");

/// The running program.
pub struct Eigen {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Eigen {
    /// Compiles if need be, starts, and hands over the rounds; `None` when Eigen is not installed.
    ///
    /// # Errors
    /// A compiler that is missing or fails.
    pub fn start<T: Scalar>(policy: &Policy<'_, T>, moments: &[Moment<T>]) -> io::Result<Option<Self>> {
        if !Path::new(HEADERS).exists() {
            return Ok(None);
        }
        let scalar = if size_of::<T>() == 4 { "f32" } else { "f64" };
        let mut child =
            Command::new(program()?).arg(scalar).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let missing = || io::Error::other("no pipe");
        let mut input = child.stdin.take().ok_or_else(missing)?;
        let output = BufReader::new(child.stdout.take().ok_or_else(missing)?);
        input.write_all(tables(policy, moments).as_bytes())?;
        Ok(Some(Self { child, input, output }))
    }

    fn ask(&mut self, command: &str) -> io::Result<Vec<f64>> {
        writeln!(self.input, "{command}")?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        line.split_whitespace().map(|number| number.parse().map_err(io::Error::other)).collect()
    }

    /// Runs rounds and returns the nanoseconds they took.
    ///
    /// # Errors
    /// A program that died.
    pub fn rounds(&mut self, count: usize) -> io::Result<f64> {
        self.ask(&format!("round {count}"))?
            .first()
            .copied()
            .ok_or_else(|| io::Error::other("eigen gave no answer"))
    }

    /// Learns the reward of an action.
    ///
    /// # Errors
    /// A program that died.
    pub fn learn(&mut self, moment: usize, action: Action) -> io::Result<()> {
        self.ask(&format!("learn {moment} {}", action.index())).map(drop)
    }

    /// The mean score of every action.
    ///
    /// # Errors
    /// A program that died.
    pub fn scores(&mut self, moment: usize) -> io::Result<Vec<f64>> {
        self.ask(&format!("scores {moment}"))
    }
}

impl Drop for Eigen {
    fn drop(&mut self) {
        let _ = self.child.kill(); // it may have ended already
        let _ = self.child.wait();
    }
}

/// Everything the program reads before the first command.
fn tables<T: Scalar>(policy: &Policy<'_, T>, moments: &[Moment<T>]) -> String {
    let (catalog, settings, tables) = (policy.catalog(), policy.settings(), Tables::new(policy.catalog()));
    let (tasks, signals) = (catalog.definition().tasks.len(), catalog.definition().signals.len());
    let mut text =
        format!("{} {tasks} {} {signals} {}", catalog.dimension(), catalog.actions(), moments.len());
    let mut put = |number: f64| write!(text, " {number}").unwrap_or(());
    put(policy.base_precision());
    put(1.0 / settings.noise_variance);
    put(settings.exploration.nu(1, catalog.dimension()));
    tables.features.iter().flatten().flatten().chain(&tables.source).for_each(|&index| put(index.into()));
    for Moment { context, baselines, rewards } in moments {
        put(u32::try_from(context.task().unwrap_or(0)).unwrap_or(0).into());
        put(1.0);
        let signals = context.signals().iter().map(|&signal| f64::from(signal));
        let baselines = baselines.iter().map(|baseline| baseline.to_f64());
        signals.chain(baselines).chain(rewards.iter().copied()).for_each(&mut put);
    }
    text + "\n"
}

/// The compiled program, beside this one, named for its source and flags.
fn program() -> io::Result<PathBuf> {
    let march = if cfg!(target_feature = "avx2") { "-march=x86-64-v3" } else { "-march=x86-64" };
    let mut hasher = DefaultHasher::new();
    (SOURCE, march).hash(&mut hasher);
    let executable = env::current_exe()?.with_file_name(format!("eigen-{:016x}", hasher.finish()));
    if !executable.exists() {
        let source = executable.with_extension("cpp");
        let unfinished = executable.with_extension(format!("{}", std::process::id()));
        std::fs::write(&source, SOURCE)?;
        let options = ["-std=c++17", "-O3", "-DNDEBUG", march, "-isystem", HEADERS, "-o"];
        let status = Command::new("g++").args(options).arg(&unfinished).arg(&source).status()?;
        if !status.success() {
            return Err(io::Error::other("g++ could not compile eigen.cpp"));
        }
        std::fs::rename(unfinished, &executable)?;
    }
    Ok(executable)
}
