//! Metrics as rewards: what an application measures, as the one number from -1 to 1 that a decision is learned from.
//!
//! A metric is a boolean, a number in a range, or a comment in words. Each one that comes for a decision becomes a score s in [-1, 1]:
//!
//! | kind | s when higher is better; the opposite when lower is |
//! |---|---|
//! | `boolean` | 1 for true, -1 for false |
//! | `float` | 2 (x - low) / (high - low) - 1; a number beyond the range counts as the nearer end of it |
//! | `comment` | what the rules of [`text`](crate::text) make of it; none if it says nothing about the answer |
//!
//! and the scores of a decision, with the weights w of their metrics, become one reward:
//!
//! | combine | reward |
//! |---|---|
//! | `mean` (the default) | sum w s / sum w, over the metrics that came |
//! | `sum` | sum w s, cut to [-1, 1] |
//! | `first`, `last` | s of the metric that came first, or last, with a score |
//!
//! **A decision is learned from once.** Without `required` the first metric with a score is the reward, at once, and metrics of the same
//! decision that come later are refused. With `required` the metrics of a decision are held *in memory* until all required ones are there,
//! or until `wait` seconds have passed since the first, and then what came is combined; later ones are refused, too. What is held
//! is given to the learner when the service is ended, and is lost when it is killed.
//!
//! ```
//! use fable_std::rewards::{Metrics, Value};
//! let text = r#"
//! [reward]                    # all of it may be left out
//! combine = "mean"            # or sum, first, last
//! required = ["solved"]       # wait for these
//! wait = 600                  # seconds, from 1 to 604800
//!
//! [metrics.solved]
//! kind = "boolean"
//!
//! [metrics.seconds]
//! kind = "float"
//! range = [0, 30]
//! better = "lower"            # or higher, the default
//! weight = 0.5                # from 0.001 to 100; 1 if it is left out
//!
//! [metrics.comment]           # is there even if it is not declared
//! kind = "comment"
//! "#;
//! let metrics = Metrics::read("metrics.toml", text).unwrap();
//! let came = [metrics.score("seconds", Value::Float(7.5)).unwrap(), metrics.score("solved", Value::Boolean(true)).unwrap()];
//! assert_eq!(came.map(|scored| scored.score), [Some(0.5), Some(1.0)]);
//! assert_eq!(metrics.reward(&came), Some((0.5 * 0.5 + 1.0) / 1.5));
//!
//! let wrong = Metrics::read("metrics.toml", "[metrics.seconds]\nkind = \"float\"\nrange = [30, 0]\n").unwrap_err();
//! assert_eq!(wrong.to_string(), "\
//! metrics.toml:3:9: a range goes from a lower number to a higher one: range = [0, 30]
//!     3 | range = [30, 0]
//!       |         ^^^^^^^");
//! ```

mod file;
mod gather;

pub use gather::{Gathered, Gathering, MAX_WAITING, Next, Unheld};

use crate::text::{FeedbackAdapter, Reaction, Rules};
use std::fmt;
use std::time::Duration;

/// The metric that is there even if no file declares it.
pub const COMMENT: &str = "comment";

/// What a metric is measured in.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Kind {
    /// True or false.
    Boolean,
    /// A number.
    Float {
        /// The low end of its range.
        low: f64,
        /// The high end.
        high: f64,
    },
    /// Words of a person.
    Comment,
}

/// One metric.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Metric {
    /// What it is called.
    pub name: String,
    /// What it is measured in.
    pub kind: Kind,
    /// Whether less of it is better.
    pub lower_is_better: bool,
    /// How much it counts beside others.
    pub weight: f64,
}

/// What was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'v> {
    /// For [`Kind::Boolean`].
    Boolean(bool),
    /// For [`Kind::Float`].
    Float(f64),
    /// For [`Kind::Comment`].
    Text(&'v str),
}

/// A metric that came.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Scored {
    /// Its position among [`Metrics::metrics`].
    pub metric: usize,
    /// From -1 to 1; `None` for a comment that says nothing about the answer.
    pub score: Option<f64>,
}

/// How several scores become one reward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Combine {
    /// The weighted mean.
    Mean,
    /// The weighted sum, cut to [-1, 1].
    Sum,
    /// The score that came first.
    First,
    /// The score that came last.
    Last,
}

/// The metrics of an application and how they are combined. See the [module](self).
#[derive(Clone, Debug, PartialEq)]
pub struct Metrics {
    all: Vec<Metric>,
    combine: Combine,
    /// Positions of those that are waited for.
    required: Vec<usize>,
    wait: Duration,
}

impl Default for Metrics {
    /// For those who declare nothing: `reward`, a number from -1 to 1, and `comment`.
    fn default() -> Self {
        let reward = Kind::Float { low: -1.0, high: 1.0 };
        let reward = Metric { name: "reward".into(), kind: reward, lower_is_better: false, weight: 1.0 };
        Self {
            all: vec![reward, Metric::comment()],
            combine: Combine::Mean,
            required: Vec::new(),
            wait: file::WAIT,
        }
    }
}

impl Metric {
    fn comment() -> Self {
        Self { name: COMMENT.into(), kind: Kind::Comment, lower_is_better: false, weight: 1.0 }
    }

    fn score(&self, value: Value<'_>) -> Result<Option<f64>, MetricError> {
        let score = match (self.kind, value) {
            (Kind::Boolean, Value::Boolean(value)) => Some(if value { 1.0 } else { -1.0 }),
            (Kind::Float { .. }, Value::Float(x)) if !x.is_finite() => return Err(MetricError::NotFinite),
            // Every step keeps the order of numbers, rounding included, so the whole is monotone and stays in its range.
            (Kind::Float { low, high }, Value::Float(x)) => {
                Some(2.0 * ((x.clamp(low, high) - low) / (high - low)) - 1.0)
            }
            (Kind::Comment, Value::Text(text)) => {
                Rules.feedback(Reaction::new(text)).value.map(|feedback| feedback.reward())
            }
            (kind, _) => return Err(MetricError::Kind { metric: self.name.clone(), kind }),
        };
        Ok(score.map(|score| if self.lower_is_better { -score } else { score }))
    }
}

impl Metrics {
    /// All of them, in the order of their names.
    #[must_use]
    pub fn metrics(&self) -> &[Metric] {
        &self.all
    }

    /// Whether a decision waits for several metrics.
    #[must_use]
    pub fn waits(&self) -> bool {
        !self.required.is_empty()
    }

    /// What a metric is worth.
    ///
    /// # Errors
    /// No such metric, or a value of another kind than it has.
    pub fn score(&self, name: &str, value: Value<'_>) -> Result<Scored, MetricError> {
        let metric = self.all.iter().position(|metric| metric.name == name);
        let unknown = || MetricError::Unknown {
            name: name.to_owned(),
            known: self.all.iter().map(|metric| metric.name.clone()).collect(),
        };
        let metric = metric.ok_or_else(unknown)?;
        let score = self.all.get(metric).map_or(Ok(None), |metric| metric.score(value))?;
        Ok(Scored { metric, score })
    }

    /// The reward of the metrics that came, in the order in which they did; `None` when none of them has a score.
    #[must_use]
    pub fn reward(&self, came: &[Scored]) -> Option<f64> {
        let mut scores =
            came.iter().filter_map(|scored| Some((self.all.get(scored.metric)?.weight, scored.score?)));
        match self.combine {
            Combine::First => scores.next().map(|(_, score)| score),
            Combine::Last => scores.next_back().map(|(_, score)| score),
            Combine::Mean | Combine::Sum => {
                let (mut sum, mut weights) = (0.0, 0.0);
                for (weight, score) in scores {
                    sum += weight * score;
                    weights += weight;
                }
                let divisor = if self.combine == Combine::Mean { weights } else { 1.0 };
                (weights > 0.0).then(|| (sum / divisor).clamp(-1.0, 1.0))
            }
        }
    }
}

/// Why a metric cannot be used.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum MetricError {
    /// There is no such metric.
    Unknown {
        /// Its name.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// The value is of another kind than the metric.
    Kind {
        /// The metric.
        metric: String,
        /// What it is.
        kind: Kind,
    },
    /// The number is infinite, or not a number.
    NotFinite,
}

impl fmt::Display for MetricError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name, known } => {
                write!(f, "there is no metric '{name}'; known: {}", known.join(", "))
            }
            Self::Kind { metric, kind } => {
                let kind = match kind {
                    Kind::Boolean => "true or false",
                    Kind::Float { .. } => "a number",
                    Kind::Comment => "a text",
                };
                write!(f, "the value of '{metric}' is {kind}")
            }
            Self::NotFinite => f.write_str("a metric is a finite number"),
        }
    }
}

impl std::error::Error for MetricError {}

#[cfg(test)]
mod tests;
