//! What is believed about one user: a learner as plain numbers and words, for screens, pictures and scripts.
//!
//! [`inspect`] reads a learner and changes nothing. The weights of the dictionary come block by block, with mean and standard
//! deviation of the working posterior; the contrasts with the interval that holds for all time and with what is missing
//! until they are promoted; the state with its counters, its numerical health and the reason if a guarantee has ended. It
//! depends on the state, and on the [rules](inspect_under) of the user if there are any, alone, so a store, an exported user and a device's snapshot of the same life give the same report.
//!
//! Single weights are less certain than what is made of them: many settings of the weights give every action the same
//! score. Trust the contrasts. One report costs a forward solve per weight and contrast.
//!
//! ```
//! use fable_core::{Action, HostUser, Policy, Settings, catalog::TAU2};
//! use fable_std::inspect::{Question, inspect};
//!
//! let policy = Policy::<f64>::new(&TAU2, Settings::default())?;
//! let mut ana = HostUser::<f64>::new(&policy, "ana")?;
//! ana.user().observe(&TAU2.context(None, [])?, Action(4), 0.5)?;
//!
//! let question = Question::parse(&TAU2, "style=concise:guided")?;
//! let report = inspect(&mut ana.user(), &[question])?;
//! let style = &report.blocks[2];
//! assert_eq!((style.name.as_str(), style.weights[0].name.as_str(), style.weights[0].evidence), ("style", "style=concise", 1));
//! assert_eq!((report.state.rewards, report.state.guarantee.holds()), (1, true));
//! assert_eq!(report.contrasts.last().unwrap().name, "style=concise:guided");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod contrast;
pub mod picture;
mod question;
mod state;

pub use contrast::{ContrastReport, PromotionReport, TrialReport};
pub use question::{Question, QuestionError};
pub use state::{Guarantee, Pivots, StateReport};

use crate::catalogs::lookup;
use crate::identify::{Allowed, SafeSpan};
use crate::settings::block_name;
use crate::text::wording;
use fable_core::{Feasible, Scalar, User, UserError};
use serde::Serialize;

/// Everything there is to see about one learner. See the [module](self).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Inspection {
    /// Counters, sizes and health.
    pub state: StateReport,
    /// The weights, block by block in the order of the dictionary.
    pub blocks: Vec<BlockReport>,
    /// The declared contrasts, then those that were asked for.
    pub contrasts: Vec<ContrastReport>,
}

/// A block of the dictionary.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BlockReport {
    /// Its name, as in `fable catalog show`.
    pub name: String,
    /// What its weights are about, in words.
    pub words: String,
    /// Whether it is learned at all.
    pub retained: bool,
    /// Its weights, those with the largest mean in magnitude first.
    pub weights: Vec<Weight>,
}

/// One coordinate of the posterior.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Weight {
    /// Its canonical name.
    pub name: String,
    /// The same in words.
    pub words: String,
    /// Mean of the working posterior.
    pub mean: f64,
    /// Standard deviation of the working posterior.
    pub sd: f64,
    /// Learned rewards of actions with these values. A state counts them by value alone.
    pub evidence: u32,
    /// Whether `evidence` is exact; otherwise it is the smallest count among the values, of which the task, the signal or the
    /// other values may take away.
    pub exact: bool,
}

/// Weights that are shown of each block unless all are.
const STRONGEST: usize = 4;

/// Which weights of a report are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// The strongest of each block.
    Strongest,
    /// All.
    All,
}

impl Selection {
    /// The weights of a block that are shown, and how many are not.
    #[must_use]
    pub fn of(self, block: &BlockReport) -> (&[Weight], usize) {
        let moved = block.weights.iter().take_while(|weight| weight.mean != 0.0).count();
        let count = if self == Self::All { block.weights.len() } else { moved.min(STRONGEST) };
        (block.weights.get(..count).unwrap_or_default(), block.weights.len() - count)
    }
}

/// Looks at a user, of whom allowed is what the last decision had to choose from, everywhere; anything before the first one.
///
/// # Errors
/// None that a user of any policy leads to.
pub fn inspect<T: Scalar>(user: &mut User<'_, T>, questions: &[Question]) -> Result<Inspection, UserError> {
    let catalog = user.policy().catalog();
    let last =
        Feasible::from_set(catalog, *user.state().permissions()).unwrap_or_else(|_| Feasible::all(catalog));
    inspect_under(user, questions, &Allowed::everywhere(catalog, &last))
}

/// The same for a user of whom it is known what is allowed: what can never be known says so.
///
/// # Errors
/// As for [`inspect`].
pub fn inspect_under<T: Scalar>(
    user: &mut User<'_, T>,
    questions: &[Question],
    allowed: &Allowed,
) -> Result<Inspection, UserError> {
    let mut span = SafeSpan::new(user.policy(), allowed);
    let contrasts = contrast::contrasts(user, questions, &mut span)?;
    let (means, variances) = marginals(user)?;
    let blocks = 0..user.policy().catalog().definition().blocks.len();
    let blocks = blocks.map(|block| block_report(user, block, &means, &variances)).collect();
    Ok(Inspection { state: state::state(user, &variances), blocks, contrasts })
}

/// Mean and variance of every coordinate.
///
/// # Errors
/// None that a user of any policy leads to.
pub fn marginals<T: Scalar>(user: &mut User<'_, T>) -> Result<(Vec<f64>, Vec<f64>), UserError> {
    let dimension = user.policy().catalog().dimension();
    let mut mean = vec![T::ZERO; dimension];
    let (posterior, scratch) = user.posterior_and_scratch();
    posterior.mean(scratch, &mut mean)?;
    let variance = |coordinate| Ok(posterior.marginal_variance(scratch, coordinate)?.to_f64());
    let variances = (0..dimension).map(variance).collect::<Result<_, UserError>>()?;
    Ok((mean.into_iter().map(T::to_f64).collect(), variances))
}

fn block_report<T: Scalar>(
    user: &User<'_, T>,
    block: usize,
    means: &[f64],
    variances: &[f64],
) -> BlockReport {
    let catalog = user.policy().catalog();
    let mut weights = Vec::new();
    for coordinate in catalog.block_ranges(block).flatten() {
        let (Some(mean), Some(variance)) = (means.get(coordinate), variances.get(coordinate)) else {
            continue;
        };
        let name = catalog.coordinate_name(coordinate).map_or_else(String::new, |name| name.to_string());
        let (evidence, exact) = evidence(user, &name);
        let words = wording::coordinate(catalog, coordinate);
        weights.push(Weight { name, words, mean: *mean, sd: variance.max(0.0).sqrt(), evidence, exact });
    }
    weights.sort_by(|one, other| other.mean.abs().total_cmp(&one.mean.abs()));
    let retained = user.policy().settings().retained.contains(block);
    let name = block_name(catalog, block).unwrap_or_default();
    BlockReport { name, words: wording::block(catalog, block), retained, weights }
}

/// The rewards that a coordinate can have been learned from, and whether that is exactly those it was.
fn evidence<T: Scalar>(user: &User<'_, T>, coordinate: &str) -> (u32, bool) {
    let factors: Vec<&str> = coordinate.split('*').collect();
    let values = factors.iter().filter_map(|factor| lookup::value(user.policy().catalog(), factor).ok());
    let counts: Vec<u32> =
        values.map(|(component, value)| user.evidence(usize::from(component), value)).collect();
    let least = counts.iter().copied().min().unwrap_or(0);
    (least, (counts.len() == 1 && factors.len() == 1) || least == 0)
}
