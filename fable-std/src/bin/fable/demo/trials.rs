//! What coins have shown in the life that is played, beside the truth, which the learner does not see.

use fable_core::preference::{ProbeOutcome, Trial};
use fable_core::{Action, Catalog, Context, Decision, User, UserError};
use fable_std::simulate::SimulatedUser;
use fable_std::text::wording;

/// For each declared contrast the coins so far and the sum of the true differences between what they decided between.
pub(super) struct Trials(Vec<(u16, f64)>);

impl Trials {
    pub(super) fn new(catalog: &Catalog<'_>) -> Self {
        Self(vec![(0, 0.0); catalog.contrasts().len()])
    }

    /// Counts the coins of a decision.
    pub(super) fn count(
        &mut self,
        person: &SimulatedUser<'_>,
        context: &Context,
        decision: &Decision,
        probes: impl Iterator<Item = ProbeOutcome>,
    ) {
        for probe in probes {
            let contrast = usize::from(probe.contrast);
            let (Some(slot), Some(sides)) =
                (self.0.get_mut(contrast), sides(person.catalog(), contrast, decision.action))
            else {
                continue;
            };
            let [prefer, over] = sides.map(|action| person.expected(context, action));
            *slot = (slot.0.saturating_add(1), slot.1 + prefer - over);
        }
    }

    /// The true average difference over the coins of a trial, if they are all of those that were counted.
    pub(super) fn truth(&self, contrast: usize, trial: &Trial) -> Option<f64> {
        let (coins, sum) = self.0.get(contrast).filter(|(coins, _)| *coins == trial.trials && *coins > 0)?;
        Some(sum / f64::from(*coins))
    }
}

/// What was played, with either value of a contrast.
fn sides(catalog: &Catalog<'_>, contrast: usize, played: Action) -> Option<[Action; 2]> {
    let contrast = catalog.contrasts().get(contrast)?;
    let component = contrast.component()?;
    let with = |values: &[u8]| {
        let mut all = catalog.values(played)?;
        *all.get_mut(component)? = *values.get(component)?;
        catalog.action(&all)
    };
    Some([with(contrast.prefer)?, with(contrast.over)?])
}

/// What is certain by now, in a line: the last preference that has become so, or how far the nearest has come.
pub(super) fn standing(user: &User<'_, f32>) -> Result<String, UserError> {
    let catalog = user.policy().catalog();
    let last = user.profile().iter().max_by_key(|promotion| promotion.round);
    if let Some(promotion) = last {
        return Ok(format!("{} (round {})", wording::promotion(catalog, promotion), promotion.round));
    }
    let mut nearest: Option<(&str, Trial)> = None;
    for (contrast, index) in catalog.contrasts().iter().zip(0..) {
        let trial = user.trial(index)?;
        if nearest.is_none_or(|(_, most)| trial.e_value / trial.needed > most.e_value / most.needed) {
            nearest = Some((contrast.name, trial));
        }
    }
    Ok(nearest.map_or_else(String::new, |(name, trial)| {
        format!("nothing yet; {name} has {}", wording::progress(&trial))
    }))
}
