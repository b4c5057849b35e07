//! What another configuration would have earned, from a log of what was done.
//!
//! The log has the probability with which each action was chosen ([`Record`]). A *target*, a catalog with settings and a prior, is judged
//! by it without being tried: what it would do in each line is compared with what was done. With x the context, a the action, r
//! the reward, p the log's probabilities and pi the target's, a line's weight is w = pi(a) / p(a), and
//!
//! | estimator | value | |
//! |---|---|---|
//! | IPS | mean of w r | unbiased where the log has support; scatters |
//! | SNIPS | sum of w r / sum of w | a bias that vanishes with the lines; scatters less; its intervals are short |
//! | doubly robust | mean of sum over b of pi(b) q(x, b) + w (r - q(x, a)) | unbiased like IPS; scatters least when q is good |
//!
//! # What is estimated
//!
//! The mean, over the lines evaluated, of the reward that the target's choice would have had in that line. A target
//! that *learns along* ([`Mode::Learning`]) has, at each line, learned from the log's earlier lines of the same user: it is
//! judged by what it makes of the log's experience, which is not what it would have made of experience of its own. A *frozen*
//! target ([`Mode::Frozen`]) has learned from the first lines ([`Options::train`], those are not evaluated) and then no more;
//! without such lines it is at the prior. Either way the target explores as its settings say, unless it is
//! [`greedy`](Options::greedy).
//!
//! # How
//!
//! *The target's probabilities*, if it draws, have no formula; pi(a) is the share of [`Options::draws`] draws that choose a. Being
//! unbiased and independent of the log, it leaves the estimators unbiased. A greedy or optimistic target has one action with 1, and
//! an optimistic one that [probes](fable_core::Settings::probe) has exact probabilities.
//!
//! *The log's probabilities*, when they were estimated from K draws as (n + 1) / (K + allowed), are not: smoothing makes all of
//! them too small or too large. For those lines the weight uses (n + 1) / (K + 1), because E[1 / (n + 1)] is
//! (1 - (1 - p)^(K + 1)) / ((K + 1) p): right but for actions so rare that K draws do not show them, which count as
//! unsupported. A line in which something allowed has propensity 0 was not estimated so, and its numbers are taken as they are. Rounds of
//! an optimistic learner are such lines. Without probes what was done has 1, and they say nothing about a target that does something
//! else ([`Warning::NoChance`]). With probes the chance is in the coins: a few actions around what the rule chose have exact probabilities,
//! and a log tells about targets that do not go further from it. A log of a learner that draws tells about most others.
//!
//! *The reward model* q is core's posterior mean, clamped to [-1, 1]. It is cross-fitted in the only way that logs of a learner
//! allow: q in a line has learned from the user's lines before it. Folds would let it learn from later lines,
//! and what a learner did later depends on the reward that is being predicted.
//!
//! *Intervals* are normal: estimate +- 1.96 standard errors of the lines' terms. SNIPS, a ratio, has the jackknife's standard error,
//! from leaving out a line at a time, and its interval ends at -1 and 1, as it does itself. Given the past each term is unbiased,
//! so the intervals hold for logs that were made while learning, if no few lines dominate; that is what the
//! [`warnings`](Report::warnings) are about. SNIPS's are short all the same, 90% where 95% is meant: its errors are skewed, for where
//! the few bad lines are missing it is too high and looks certain. They hold for these users, not for others.
//!
//! ```
//! use fable_core::{Exploration, Policy, Settings, catalog::TAU2};
//! use fable_std::evaluate::{self, Options};
//! use fable_std::simulate::SimulatedUser;
//!
//! // A log of 400 rounds that explored boldly ...
//! let user = SimulatedUser::new(&TAU2, 1);
//! let bold = Settings { exploration: Exploration::Constant(2.0), ..Settings::default() };
//! let log = evaluate::simulate(&user, &Policy::new(&TAU2, bold)?, 400, 500)?;
//! // ... says what the default settings would have earned.
//! let truth = |record: &evaluate::Record, action| user.expected(&record.context, action);
//! let options = Options { truth: Some(&truth), ..Options::default() };
//! let report = evaluate::evaluate(&TAU2, Settings::default(), "log", &log, &options)?;
//! assert!(report.doubly_robust.covers(report.truth.unwrap()));
//! assert!(report.doubly_robust.lower > report.logged.upper);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod estimate;
mod log;
mod simulated;
mod target;

pub use error::{LogError, LogFlaw};
pub use estimate::{Estimate, Report, Warning};
pub use log::{MAX_LINE, MAX_LOG, Record, read};
pub use simulated::simulate;

use crate::prior_file::{PriorFileError, informed};
use estimate::Term;
use fable_core::settings::SettingsError;
use fable_core::{Action, Catalog, Settings};
use std::fmt;
use target::Judge;

/// When the target learns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Mode {
    /// From every line, after it was judged in it.
    #[default]
    Learning,
    /// From the first lines only.
    Frozen,
}

/// The mean reward of an action in a line.
pub type Truth<'t> = dyn Fn(&Record, Action) -> f64 + 't;

/// How to evaluate.
#[derive(Clone, Copy)]
pub struct Options<'o> {
    /// The packed numbers of the prior that the target's users begin with, see [`prior_file`](crate::prior_file); without it the
    /// isotropic one.
    pub prior: Option<&'o [f32]>,
    /// When the target learns.
    pub mode: Mode,
    /// The log's first lines that are learned from and not evaluated.
    pub train: usize,
    /// The target takes its best action and does not explore.
    pub greedy: bool,
    /// Draws that the target's probabilities are estimated from, at least 1.
    pub draws: u32,
    /// Draws behind the propensities of lines that do not say.
    pub logged_draws: Option<u32>,
    /// The mean reward of an action in a line, where it is known: in simulations.
    pub truth: Option<&'o Truth<'o>>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            prior: None,
            mode: Mode::Learning,
            train: 0,
            greedy: false,
            draws: 200,
            logged_draws: None,
            truth: None,
        }
    }
}

/// Estimates the value of a target, a catalog with settings, from a log; `file` is the log's name in errors.
///
/// Deadlines and expiry do not matter: every line has its reward.
///
/// # Errors
/// A setting out of range, nothing to evaluate, or a line that the target's catalog does not take.
pub fn evaluate(
    catalog: &Catalog<'_>,
    settings: Settings<'_>,
    file: &str,
    log: &[Record],
    options: &Options<'_>,
) -> Result<Report, EvaluateError> {
    let base = Judge::policy(catalog, settings).map_err(EvaluateError::Settings)?;
    let policy = informed(&base, options.prior).map_err(EvaluateError::Prior)?;
    if log.len().saturating_sub(options.train) < 2 {
        return Err(EvaluateError::TooShort { lines: log.len(), train: options.train });
    }
    let mut users: Vec<&str> = log.iter().map(|record| record.user.as_str()).collect();
    users.sort_unstable();
    users.dedup();
    let mut terms: Vec<Term> = Vec::with_capacity(log.len());
    // Users have learners of their own: one user after the other, so that there is never more than one.
    for user in &users {
        let mut judge = None;
        for (index, record) in log.iter().enumerate().filter(|(_, record)| record.user == *user) {
            let wrong = |flaw| EvaluateError::Log(LogError { file: file.into(), line: record.line, flaw });
            record.check(catalog).map_err(wrong)?;
            let judge = match &mut judge {
                Some(judge) => judge,
                vacant => {
                    vacant.insert(Judge::new(&policy, user, options).map_err(|error| wrong(error.into()))?)
                }
            };
            if index >= options.train {
                terms.push(judge.term(record).map_err(wrong)?);
            }
            judge.learn(record, index < options.train).map_err(wrong)?;
        }
    }
    Ok(Report::new(&terms, users.len()))
}

/// Why there is no estimate.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum EvaluateError {
    /// A setting of the target is out of range.
    Settings(SettingsError),
    /// What the target's users are to begin with is not a prior of the catalog.
    Prior(PriorFileError),
    /// Less than two lines to evaluate.
    TooShort {
        /// Lines in the log.
        lines: usize,
        /// Lines that were to be learned from.
        train: usize,
    },
    /// A line that cannot be used.
    Log(LogError),
}

impl fmt::Display for EvaluateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Settings(error) => error.fmt(f),
            Self::Prior(error) => error.fmt(f),
            Self::TooShort { lines, train } => {
                write!(
                    f,
                    "the log has {lines} lines, {train} of them to learn from; at least 2 are needed to evaluate"
                )
            }
            Self::Log(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for EvaluateError {}
