//! Metrics of decisions that wait for others.
//!
//! All of it is in memory: whoever is told that a metric waits is told just that.

use super::{Metrics, Scored};
use fable_core::DecisionId;
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::time::Instant;

/// Decisions that can wait at a time; a few megabytes.
pub const MAX_WAITING: usize = 65_536;

/// What becomes of a metric.
#[derive(Clone, Debug, PartialEq)]
pub enum Next<'m> {
    /// All that was waited for is there.
    Ready(Gathered),
    /// It is held until these have come.
    Waits(Vec<&'m str>),
}

/// The metrics of a decision, as they came.
#[derive(Clone, Debug, PartialEq)]
pub struct Gathered {
    /// Of which decision.
    pub decision: DecisionId,
    /// In the order in which they came.
    pub came: Vec<Scored>,
    /// When the first one did.
    since: Instant,
}

/// Why a metric is not held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unheld {
    /// The decision has had this metric.
    Twice,
    /// As many decisions wait as can.
    Full,
}

impl fmt::Display for Unheld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Twice => "the decision has had this metric",
            Self::Full => "too many decisions wait for their metrics",
        })
    }
}

impl std::error::Error for Unheld {}

/// The metrics that wait, by decision. See the [module](super).
#[derive(Debug, Default)]
pub struct Gathering {
    waiting: HashMap<DecisionId, Gathered>,
    /// As they began to wait; those that wait no longer are skipped.
    pub(super) order: VecDeque<(Instant, DecisionId)>,
}

impl Gathering {
    /// How many decisions wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether none does.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// What would become of a metric; changes nothing.
    ///
    /// # Errors
    /// See [`Unheld`].
    pub fn look<'m>(
        &self,
        metrics: &'m Metrics,
        decision: DecisionId,
        scored: Scored,
    ) -> Result<Vec<&'m str>, Unheld> {
        let held = self.waiting.get(&decision).map_or(&[][..], |held| held.came.as_slice());
        if held.iter().any(|held| held.metric == scored.metric) {
            return Err(Unheld::Twice);
        }
        let came = |place: usize| place == scored.metric || held.iter().any(|held| held.metric == place);
        let missing = metrics.required.iter().filter(|place| !came(**place));
        let missing: Vec<&str> =
            missing.filter_map(|place| metrics.all.get(*place)).map(|metric| metric.name.as_str()).collect();
        if held.is_empty() && !missing.is_empty() && self.waiting.len() >= MAX_WAITING {
            return Err(Unheld::Full);
        }
        Ok(missing)
    }

    /// What a decision would have had with one more metric.
    #[must_use]
    pub fn with(&self, decision: DecisionId, scored: Scored) -> Vec<Scored> {
        let held = self.waiting.get(&decision).map_or(&[][..], |held| held.came.as_slice());
        held.iter().copied().chain([scored]).collect()
    }

    /// Takes a metric that came at a time. What is [`Ready`](Next::Ready) is not held any more.
    ///
    /// # Errors
    /// See [`Unheld`].
    pub fn add<'m>(
        &mut self,
        metrics: &'m Metrics,
        decision: DecisionId,
        scored: Scored,
        now: Instant,
    ) -> Result<Next<'m>, Unheld> {
        let missing = self.look(metrics, decision, scored)?;
        let mut gathered =
            self.waiting.remove(&decision).unwrap_or(Gathered { decision, came: Vec::new(), since: now });
        gathered.came.push(scored);
        if missing.is_empty() {
            return Ok(Next::Ready(gathered));
        }
        self.hold(gathered);
        Ok(Next::Waits(missing))
    }

    fn hold(&mut self, gathered: Gathered) {
        if gathered.came.len() == 1 {
            if self.order.len() > 2 * self.waiting.len() + 1024 {
                let waiting = &self.waiting;
                self.order.retain(|(since, decision)| {
                    waiting.get(decision).is_some_and(|held| held.since == *since)
                });
            }
            self.order.push_back((gathered.since, gathered.decision));
        }
        self.waiting.insert(gathered.decision, gathered);
    }

    /// Holds again what could not be learned just now, without the metric that came last, whose sender knows.
    pub fn put_back(&mut self, mut gathered: Gathered) {
        gathered.came.pop();
        self.hold_again(gathered);
    }

    /// Holds again what could not be learned just now.
    pub fn hold_again(&mut self, gathered: Gathered) {
        if !gathered.came.is_empty() && !self.waiting.contains_key(&gathered.decision) {
            let place = self.order.partition_point(|(since, _)| *since <= gathered.since);
            self.order.insert(place, (gathered.since, gathered.decision));
            self.waiting.insert(gathered.decision, gathered);
        }
    }

    /// A decision that has waited long enough by now.
    pub fn due(&mut self, metrics: &Metrics, now: Instant) -> Option<Gathered> {
        while let Some((since, decision)) = self.order.front().copied() {
            let waits = self.waiting.get(&decision).is_some_and(|held| held.since == since);
            if waits && now.saturating_duration_since(since) < metrics.wait {
                return None;
            }
            self.order.pop_front();
            if waits {
                return self.waiting.remove(&decision);
            }
        }
        None
    }

    /// All that wait, at the end.
    pub fn rest(&mut self) -> impl Iterator<Item = Gathered> {
        self.order.clear();
        std::mem::take(&mut self.waiting).into_values()
    }
}
