//! Explanations: the score of a decision taken apart exactly, and compared with the score of another action.
//!
//! A score is default - lambda cost + sum over blocks of phi.mu + exploration. Every block adds one entry.
//! Exploration adds phi.(theta - mu) for a draw, or c standard deviations. The parts add up to the score, to
//! rounding.
//!
//! An explanation draws again from the present posterior, so it is exact until the user's next update. Later,
//! replay the journal up to the decision. It takes two back-solves and stores nothing.
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
use super::late::Pending;
use super::{DecisionId, Request, User, UserError, supported};
use crate::catalog::score::{self, Scalar};
use crate::catalog::{
    Action, BlockSet, Catalog, Context, ContrastSet, Feasible, Rule, StandingRule, removed_by, stopped_by,
};
use crate::numbers::Purpose;
use crate::posterior::Scoring;
use core::fmt;

/// The source of a share of a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Source {
    /// The default score b.
    Default,
    /// The cost, -lambda cost.
    Cost,
    /// A learned block of the dictionary, by its position in the definition.
    Block(u8),
    /// Exploration by a draw.
    Draw,
    /// Exploration by a bonus for uncertainty.
    Bonus,
}

/// The shares of one source in two scores.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Share {
    /// The source.
    pub source: Source,
    /// Its share of the score of the chosen action.
    pub chosen: f64,
    /// Its share of the score of the other action.
    pub other: f64,
    /// The coordinate of the block that the chosen action has, if any.
    pub chosen_coordinate: Option<usize>,
    /// The coordinate of the block that the other action has, if any.
    pub other_coordinate: Option<usize>,
}

/// A comparison of a decision's action with another action. It prints as text with numbers in thousandths.
#[derive(Clone, Copy, Debug)]
pub struct Explanation<'e, T> {
    /// The action that was played.
    pub chosen: Action,
    /// The action with the highest score. Probes may have played another one.
    pub intended: Action,
    /// The contrasts that the decision probed.
    pub probed: ContrastSet,
    /// The other action: the one asked about, or `intended` if it was not played, or the runner-up. With one
    /// feasible action it equals `chosen`.
    pub other: Action,
    /// The other action was feasible.
    pub feasible: bool,
    /// Another feasible action has a higher mean score than the chosen action.
    pub explored: bool,
    /// The score of the chosen action.
    pub chosen_score: f64,
    /// The score of the other action.
    pub other_score: f64,
    catalog: &'e Catalog<'e>,
    context: Context,
    cost_weight: f64,
    /// The retained blocks; `None` if all are.
    retained: Option<BlockSet>,
    /// The source of the share of exploration.
    explores: Source,
    /// b of the two actions; `None` for the catalog's.
    defaults: Option<[f64; 2]>,
    /// mu over the active part.
    mean: &'e [T],
}

impl<T: Scalar> User<'_, T> {
    /// Compares the action of a decision in the ring with `other`, or with the runner-up.
    ///
    /// The feasible set is the last recorded one, and `defaults` are those of the decision. So ask before the
    /// next decision and before the reward. The result borrows the workspace.
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
        let catalog = policy.catalog();
        let Pending { context, action: chosen, baseline, round, time, probed, .. } =
            *self.memory.view().settled_or_waiting(self.state().round_of(id)?)?;
        let feasible = Feasible::from_set(catalog, self.state().permissions).map_err(UserError::Feasible)?;
        let request = Request { defaults, time, ..Request::new(&context, &feasible) };
        if let Some(other) = other {
            self.admit_action(&context, other)?;
        }

        let default = |action: Action| defaults.and_then(|defaults| defaults.get(action.index()).copied());
        self.admit_request(&request)?;
        let outlook = self.score_by(round, Purpose::Decision);
        let optimistic = !matches!(outlook, ScoreBy::Draw { .. });
        let (intended, _) = self.best(&request, outlook)?;
        if !self.led_to(intended, chosen, &probed)
            || policy.baseline(&context, chosen, default(chosen)) != baseline
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
            probed,
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
    /// True if probes can have led from one action to another: they differ only in probed components.
    fn led_to(&self, intended: Action, played: Action, probed: &ContrastSet) -> bool {
        let catalog = self.policy.catalog();
        let (Some(from), Some(to)) = (catalog.values(intended), catalog.values(played)) else { return false };
        from.iter().zip(&to).enumerate().all(|(component, (from, to))| {
            let mut sides = probed.iter().filter_map(|contrast| catalog.contrasts().get(contrast)?.sides());
            *from == *to || sides.any(|sides| sides.component == component && sides.other(*from) == Some(*to))
        })
    }
}

impl<T: Scalar> Explanation<'_, T> {
    /// The shares: default, cost, every block in which either action has a coordinate, the draw or the bonus.
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

    /// The shares of the blocks, at mu.
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

    /// The first of some rules that removed the other action.
    #[must_use]
    pub fn removed_by<'r>(&self, rules: &'r [Rule<'r>]) -> Option<&'r Rule<'r>> {
        removed_by(self.catalog, rules, self.other)
    }

    /// The first of some standing rules that removed the other action in the context of the decision.
    #[must_use]
    pub fn stopped_by<'r>(&self, rules: &'r [StandingRule<'r>]) -> Option<&'r Rule<'r>> {
        stopped_by(self.catalog, rules, &self.context, self.other)
    }

    /// The context of the decision. With it [`User::forbidding_rule`] finds the user's own rule against the
    /// other action.
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

/// One line per action and per share. Numbers are thousandths, without floating-point formatting.
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
