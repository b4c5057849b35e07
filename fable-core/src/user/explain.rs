//! Why an action was chosen, and why not another one: the score taken apart, exactly.
//!
//! The score that an action is chosen for is default - lambda cost + sum over blocks of phi.mu + what
//! exploration adds: every block adds the one entry it has for the action, and a draw adds phi.(theta - mu),
//! optimism c sd. The parts add up to the score, to rounding. An explanation is exact until the user's next
//! learn, since it draws again from the posterior as it is now; later, replay the journal up to the decision.
//! Two back-solves; nothing is stored.
//!
//! ```
//! use fable_core::catalog::TAU2;
//! use fable_core::explain::Source;
//! use fable_core::{Feasible, HostUser, Policy, Settings};
//!
//! let policy = Policy::<f64>::new(&TAU2, Settings::default())?;
//! let mut ana = HostUser::<f64>::new(&policy, "ana")?;
//! let (context, all) = (TAU2.context(None, [])?, Feasible::all(&TAU2));
//! let decision = ana.decide(&context, &all)?;
//!
//! let mut user = ana.user();
//! let why = user.explain(decision.id, None, None)?;
//! assert_eq!(why.chosen, decision.action);
//! let sum: f64 = why.shares().map(|share| share.chosen).sum();
//! assert!((sum - why.chosen_score).abs() < 1e-12 && why.chosen_score >= why.other_score);
//! let cost = why.shares().find(|share| share.source == Source::Cost).unwrap();
//! assert_eq!(cost.chosen + 0.0, decision.baseline); // `tau2` has no default score
//! println!("{why}");
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

use super::decide::ScoreBy;
use super::fixed3::Fixed3;
use super::{DecisionId, Request, User, UserError, supported};
use crate::catalog::score::{self, Scalar};
use crate::catalog::{
    Action, BlockSet, Catalog, Context, ContrastSet, Feasible, Rule, StandingRule, removed_by, stopped_by,
};
use crate::numbers::Purpose;
use crate::posterior::Scoring;
use core::fmt;

/// What a share of a score comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Source {
    /// The known default score b.
    Default,
    /// The known cost, -lambda cost.
    Cost,
    /// What was learned in a block of the dictionary, by its position in the definition.
    Block(u8),
    /// What the draw adds: exploration.
    Draw,
    /// What is added for being uncertain: exploration, too.
    Bonus,
}

/// What one part adds to the two scores.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Share {
    /// Where it comes from.
    pub source: Source,
    /// What it adds to the score of the action chosen.
    pub chosen: f64,
    /// What it adds to the score of the other action.
    pub other: f64,
    /// The coordinate of a block that the action chosen has, if any.
    pub chosen_coordinate: Option<usize>,
    /// The coordinate of a block that the other action has, if any.
    pub other_coordinate: Option<usize>,
}

/// An explanation of one decision against one other action. It prints as lines of text with numbers in
/// thousandths.
#[derive(Clone, Copy, Debug)]
pub struct Explanation<'e, T> {
    /// The action that was chosen, and played.
    pub chosen: Action,
    /// What the rule chose before coins were tossed; the same if none fell the other way.
    pub intended: Action,
    /// The contrasts that coins were tossed for.
    pub probed: ContrastSet,
    /// The action it is compared with: the one asked about, or what the rule had chosen before the coins, or
    /// the runner-up. With one feasible action, the same.
    pub other: Action,
    /// Whether the other action was feasible.
    pub feasible: bool,
    /// Whether another feasible action has a higher mean score than the one chosen.
    pub explored: bool,
    /// The score it was chosen for.
    pub chosen_score: f64,
    /// The same of the other action.
    pub other_score: f64,
    catalog: &'e Catalog<'e>,
    context: Context,
    cost_weight: f64,
    /// The blocks that count, if not all do.
    retained: Option<BlockSet>,
    /// What exploration adds.
    explores: Source,
    /// b of the two actions if the caller gave it.
    defaults: Option<[f64; 2]>,
    /// The mean over the active part.
    mean: &'e [T],
}

impl<T: Scalar> User<'_, T> {
    /// Explains a decision that is still in the ring against `other`, or against the runner-up.
    ///
    /// The feasible set is the last one recorded, and `defaults` are those that the decision was made with,
    /// so ask before the next decision and before its reward. The result borrows the workspace.
    ///
    /// # Errors
    /// An unknown or expired decision, an action of another catalog, defaults that do not fit, a workspace
    /// that is too small, [`UserError::Stale`] when the draw does not lead to the decision any more, and
    /// without the feature `explain` [`UserError::Unsupported`].
    pub fn explain(
        &mut self,
        id: DecisionId,
        defaults: Option<&[f64]>,
        other: Option<Action>,
    ) -> Result<Explanation<'_, T>, UserError> {
        supported(cfg!(feature = "explain"))?;
        self.admit()?;
        let policy = self.policy;
        let pending = *self.memory.view().settled_or_waiting(self.state().round_of(id)?)?;
        let context = pending.context;
        let chosen = pending.action;
        let catalog = policy.catalog();
        let feasible = Feasible::from_set(catalog, self.state().permissions).map_err(UserError::Feasible)?;
        let request = Request { defaults, time: pending.time, ..Request::new(&context, &feasible) };
        if let Some(other) = other {
            self.admit_action(&context, other)?;
        }

        let default = |action: Action| defaults.and_then(|defaults| defaults.get(action.index()).copied());
        self.admit_request(&request)?;
        let outlook = self.score_by(pending.round, Purpose::Decision);
        let optimistic = !matches!(outlook, ScoreBy::Draw { .. });
        let (intended, _) = self.best(&request, outlook)?;
        if !self.led_to(intended, chosen, &pending.probed)
            || policy.baseline(&context, chosen, default(chosen)) != pending.baseline
        {
            return Err(UserError::Stale);
        }
        let Scoring { scores, .. } = self.scoring()?;
        let mut rest = *feasible.set();
        rest.remove(chosen);
        let other = other.or_else(|| (intended != chosen).then_some(intended));
        let other = other.or_else(|| score::best(&rest, scores).map(|(action, _)| action)).unwrap_or(chosen);
        let score = |action: Action| scores.get(action.index()).map_or(0.0, |score| score.to_f64());
        let (chosen_score, other_score) = (score(chosen), score(other));

        let (_, highest) = self.best(&request, ScoreBy::Mean)?;
        let Scoring { theta: mean, scores: means, .. } = self.scoring()?;
        let explored = means.get(chosen.index()).is_some_and(|mean| *mean < highest);
        Ok(Explanation {
            chosen,
            intended,
            probed: pending.probed,
            other,
            feasible: feasible.set().contains(other),
            explored,
            chosen_score,
            other_score,
            catalog,
            context,
            cost_weight: policy.settings().cost_weight,
            retained: policy.mask(),
            explores: if optimistic { Source::Bonus } else { Source::Draw },
            defaults: default(chosen).zip(default(other)).map(|(chosen, other)| [chosen, other]),
            mean,
        })
    }
}

impl<T: Scalar> User<'_, T> {
    /// Whether coins can have led from what the rule chose to what was played: only what they were tossed for
    /// differs.
    fn led_to(&self, intended: Action, played: Action, coins: &ContrastSet) -> bool {
        let catalog = self.policy.catalog();
        let (Some(from), Some(to)) = (catalog.values(intended), catalog.values(played)) else { return false };
        from.iter().zip(&to).enumerate().all(|(component, (from, to))| {
            let mut sides = coins.iter().filter_map(|contrast| catalog.contrasts().get(contrast)?.sides());
            *from == *to || sides.any(|sides| sides.component == component && sides.other(*from) == Some(*to))
        })
    }
}

impl<T: Scalar> Explanation<'_, T> {
    /// The parts: default, cost, every block of the dictionary that either action has a coordinate in, the
    /// draw or the bonus.
    pub fn shares(&self) -> impl Iterator<Item = Share> {
        let known = |source, [chosen, other]: [f64; 2]| Share {
            source,
            chosen,
            other,
            chosen_coordinate: None,
            other_coordinate: None,
        };
        let actions = [self.chosen, self.other];
        let default = self
            .defaults
            .unwrap_or_else(|| actions.map(|action| self.catalog.default_score(&self.context, action)));
        let cost = actions.map(|action| -self.cost_weight * self.catalog.cost(action));
        let [chosen_mean, other_mean] = [0, 1].map(|side| {
            let blocks =
                self.blocks().map(|share| if side == 0 { share.chosen } else { share.other }).sum::<f64>();
            blocks + if side == 0 { default[0] + cost[0] } else { default[1] + cost[1] }
        });
        let explored = [self.chosen_score - chosen_mean, self.other_score - other_mean];
        let first = [known(Source::Default, default), known(Source::Cost, cost)];
        first.into_iter().chain(self.blocks()).chain([known(self.explores, explored)])
    }

    /// What the blocks add at the mean.
    fn blocks(&self) -> impl Iterator<Item = Share> {
        let entry = |feature: Option<(usize, f32)>| {
            let Some((coordinate, value)) = feature else { return 0.0 };
            let Some((task, inside)) = self.catalog.layout().locate(coordinate) else { return 0.0 };
            let place =
                if task.is_some() { inside } else { usize::from(self.catalog.layout().leaf) + inside };
            self.mean.get(place).map_or(0.0, |theta| theta.to_f64() * f64::from(value))
        };
        self.catalog.block_features(self.retained, &self.context, self.chosen, self.other).map(
            move |(block, chosen, other)| Share {
                source: Source::Block(block),
                chosen: entry(chosen),
                other: entry(other),
                chosen_coordinate: chosen.map(|(coordinate, _)| coordinate),
                other_coordinate: other.map(|(coordinate, _)| coordinate),
            },
        )
    }

    /// The rule that removed the other action, if it was not feasible under these rules.
    #[must_use]
    pub fn removed_by<'r>(&self, rules: &'r [Rule<'r>]) -> Option<&'r Rule<'r>> {
        removed_by(self.catalog, rules, self.other)
    }

    /// The standing rule that removed the other action in the context of the decision.
    #[must_use]
    pub fn stopped_by<'r>(&self, rules: &'r [StandingRule<'r>]) -> Option<&'r Rule<'r>> {
        stopped_by(self.catalog, rules, &self.context, self.other)
    }

    /// Where the decision was made. [`User::unwished`] says there which of the user's own rules stands
    /// against the other action.
    #[must_use]
    pub const fn context(&self) -> &Context {
        &self.context
    }

    /// The rule of the catalog that removed the other action.
    #[must_use]
    pub fn stopped_by_catalog(&self) -> Option<&Rule<'_>> {
        self.stopped_by(self.catalog.rules())
    }
}

/// A line per action and per part, numbers in thousandths, no floats printed.
impl<T: Scalar> fmt::Display for Explanation<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |f: &mut fmt::Formatter<'_>, action: Action| match self.catalog.action_name(action) {
            Some(name) => write!(f, "{name}"),
            None => f.write_str("?"),
        };
        write!(f, "chosen {} ", Fixed3(self.chosen_score))?;
        name(f, self.chosen)?;
        f.write_str(match (self.intended == self.chosen, self.explored) {
            (false, _) => ", the other way, to be sure\n",
            (true, true) => ", to explore\n",
            (true, false) => "\n",
        })?;
        for contrast in self.probed.iter().filter_map(|contrast| self.catalog.contrasts().get(contrast)) {
            writeln!(f, "a coin was tossed for {}", contrast.name)?;
        }
        write!(f, "not    {} ", Fixed3(self.other_score))?;
        name(f, self.other)?;
        f.write_str(if self.feasible { "" } else { ", not feasible" })?;
        if let Some(rule) = self.stopped_by_catalog() {
            write!(f, ": {}", rule.name)?;
        }
        f.write_str("\n")?;
        for share in self.shares() {
            write!(f, "  {} {} ", Fixed3(share.chosen), Fixed3(share.other))?;
            match share.source {
                Source::Default => f.write_str("default score")?,
                Source::Cost => f.write_str("cost")?,
                Source::Draw => f.write_str("the draw")?,
                Source::Bonus => f.write_str("bonus for what is uncertain")?,
                Source::Block(_) => {
                    let names = [share.chosen_coordinate, share.other_coordinate];
                    for (coordinate, word) in names.into_iter().zip(["", " against "]) {
                        f.write_str(word)?;
                        match coordinate.and_then(|coordinate| self.catalog.coordinate_name(coordinate)) {
                            Some(name) => write!(f, "{name}")?,
                            None => f.write_str("nothing")?,
                        }
                    }
                }
            }
            f.write_str("\n")?;
        }
        Ok(())
    }
}
