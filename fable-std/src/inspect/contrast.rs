//! Contrasts and what is missing until they are promoted.

use super::Question;
use crate::identify::SafeSpan;
use crate::text::wording;
use fable_core::preference::{Assessment, Average, Comparison, Standing, Trial, Verdict};
use fable_core::{Policy, Promotion, Scalar, User, UserError};
use serde::Serialize;

/// A contrast: how much one action is preferred to another, and how sure that is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ContrastReport {
    /// Its name in the catalog, or the question.
    pub name: String,
    /// Whether the catalog declares it. Only those are ever promoted.
    pub declared: bool,
    /// The action that a positive contrast prefers.
    pub prefer: String,
    /// The other one.
    pub over: String,
    /// The task it is asked for.
    pub task: Option<String>,
    /// Estimate.
    pub mean: f64,
    /// Standard deviation of the working posterior.
    pub sd: f64,
    /// The working posterior's probability that the contrast is positive.
    pub probability: f64,
    /// Lower end of the interval that holds for all time.
    pub lower: f64,
    /// Its upper end.
    pub upper: f64,
    /// Learned rewards of actions that use one of the two values.
    pub evidence: u32,
    /// As many of those promotion takes.
    pub min_evidence: u32,
    /// -1, 0 or 1: which side is certain now.
    pub verdict: i8,
    /// How far the nearer end of the interval is on the wrong side of zero; negative once it is past zero.
    pub distance: f64,
    /// Whether enough rewards of what is allowed would tell, see [`identify`](crate::identify).
    pub identifiable: bool,
    /// About how many more rewards that bear on it are needed; `None` when there is no end in sight, or none at all.
    pub rewards_to_go: Option<u32>,
    /// What is missing until it is certain, or what it is, in words.
    pub needs: String,
    /// What coins have shown; of a declared contrast.
    pub trial: Option<TrialReport>,
    /// The entry in the profile.
    pub promotion: Option<PromotionReport>,
}

/// What fair coins have shown about a declared contrast.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrialReport {
    /// Coins with a reward.
    pub trials: u16,
    /// The larger of the two wealths.
    pub e_value: f64,
    /// What it takes.
    pub needed: f64,
    /// The average difference in reward over the coins.
    pub mean: f64,
    /// Lower end of its interval.
    pub lower: f64,
    /// Upper end of its interval.
    pub upper: f64,
    /// -1, 0 or 1: which side is certified, and not withdrawn.
    pub certified: i8,
    /// Whether the guarantee holds as far as the learner can know.
    pub valid: bool,
    /// The same in words.
    pub words: String,
}

impl TrialReport {
    fn new(trial: &Trial) -> Self {
        let Trial { trials, e_value, needed, average: Average { mean, lower, upper }, certified, valid } =
            *trial;
        let (certified, words) = (certified.sign(), wording::trial(trial));
        Self { trials, e_value, needed, mean, lower, upper, certified, valid, words }
    }
}

/// A promoted preference: where it comes from and what has become of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PromotionReport {
    /// What the assistant is told.
    pub sentence: String,
    /// -1 or 1: which side.
    pub verdict: i8,
    /// `coins` or `ellipsoid`: which rule made it certain.
    pub by: &'static str,
    /// `holds`, `doubtful` or `revoked`.
    pub standing: &'static str,
    /// Whether the guarantee held when it was promoted.
    pub valid: bool,
    /// Decisions made by then.
    pub round: u32,
    /// The caller's time then.
    pub at: u32,
    /// Evidence by then: rewards that bear on it, or coins.
    pub evidence: u32,
    /// Lower end of the interval then.
    pub lower: f64,
    /// Upper end of the interval then.
    pub upper: f64,
    /// By which rule, since when and on how much, in words.
    pub provenance: String,
}

/// The declared contrasts and the questions.
pub(super) fn contrasts<T: Scalar>(
    user: &mut User<'_, T>,
    questions: &[Question],
    span: &mut SafeSpan,
) -> Result<Vec<ContrastReport>, UserError> {
    let catalog = user.policy().catalog();
    let declared = (0..).zip(catalog.contrasts()).filter_map(|(index, contrast)| {
        Some((contrast.name, Comparison::declared(catalog, index)?, Some(index)))
    });
    let asked = questions.iter().map(|question| (question.name.as_str(), question.comparison, None));
    let all = declared.chain(asked).map(|(name, comparison, declared)| {
        let found = user.assess(&comparison)?;
        let promotion = user
            .profile()
            .iter()
            .find(|promotion| Some(usize::from(promotion.contrast)) == declared)
            .copied();
        let promotion = match promotion {
            Some(promotion) => Some((promotion, user.standing(&promotion)?)),
            None => None,
        };
        let trial = declared.map(|contrast| user.trial(contrast)).transpose()?;
        let blind = span.reason(user.policy(), &comparison);
        Ok(report(user.policy(), (name, &comparison, blind), &found, trial.as_ref(), promotion))
    });
    all.collect()
}

fn report<T: Scalar>(
    policy: &Policy<'_, T>,
    (name, comparison, blind): (&str, &Comparison, Option<String>),
    found: &Assessment,
    trial: Option<&Trial>,
    promotion: Option<(Promotion, Standing)>,
) -> ContrastReport {
    let catalog = policy.catalog();
    let action = |action| catalog.action_name(action).map_or_else(String::new, |name| name.to_string());
    let task = comparison.context.task().and_then(|task| catalog.definition().tasks.get(task));
    let min_evidence = policy.settings().min_evidence;
    let declared = trial.is_some();
    let promotion = promotion.map(|(promotion, standing)| {
        let (sentence, standing) = (wording::promotion(catalog, &promotion), wording::standing(standing));
        let (by, provenance) = (wording::certifier(promotion.by), wording::provenance(&promotion));
        let Promotion { verdict, valid, round, time: at, evidence, lower, upper, .. } = promotion;
        let (verdict, lower, upper) = (verdict.sign(), f64::from(lower), f64::from(upper));
        PromotionReport {
            sentence,
            verdict,
            by,
            standing,
            valid,
            round,
            at,
            evidence,
            lower,
            upper,
            provenance,
        }
    });
    ContrastReport {
        name: name.to_owned(),
        declared,
        prefer: action(comparison.prefer),
        over: action(comparison.over),
        task: task.map(|task| (*task).to_owned()),
        mean: found.mean,
        sd: found.sd,
        probability: found.probability,
        lower: found.lower,
        upper: found.upper,
        evidence: found.evidence,
        min_evidence,
        verdict: found.verdict.sign(),
        distance: found.gap.distance,
        identifiable: blind.is_none(),
        rewards_to_go: found.gap.rounds.filter(|_| blind.is_none()),
        needs: needs(found, min_evidence, declared, promotion.as_ref(), blind),
        trial: trial.map(TrialReport::new),
        promotion,
    }
}

/// What is missing until a contrast is promoted, or what has become of it.
fn needs(
    found: &Assessment,
    min_evidence: u32,
    declared: bool,
    promotion: Option<&PromotionReport>,
    blind: Option<String>,
) -> String {
    if let Some(PromotionReport { standing, provenance, .. }) = promotion {
        return format!("promoted {provenance}: {standing}");
    }
    if found.sd == 0.0 {
        return "nothing can be learned: both actions look the same".into();
    }
    let missing = min_evidence.saturating_sub(found.evidence);
    // However many come.
    if let (Verdict::Open, Some(reason)) = (found.verdict, blind) {
        return format!("more than rewards can tell: {reason}");
    }
    match (found.verdict, found.gap.rounds) {
        (Verdict::For | Verdict::Against, _) if declared => "nothing: certain, and can be promoted".into(),
        (Verdict::For | Verdict::Against, _) => "nothing: certain".into(),
        (Verdict::Open, _) if found.gap.distance < 0.0 => {
            format!("{missing} more rewards: the interval is past zero already")
        }
        (Verdict::Open, Some(rounds)) => format!("about {} more rewards", about(rounds)),
        (Verdict::Open, None) => "more than can be foreseen: the estimate is close to zero".into(),
    }
}

/// A number to two digits, with commas: nobody counts on more.
fn about(number: u32) -> String {
    let unit = 10_u32.pow(number.max(1).ilog10().saturating_sub(1));
    let digits = (u64::from(number.div_ceil(unit)) * u64::from(unit)).to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| std::str::from_utf8(group).ok()).collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::about;

    #[test]
    fn large_numbers_are_rounded_up() {
        let told = [0, 9, 10, 99, 101, 1_000, 727_600, u32::MAX].map(about);
        assert_eq!(told, ["0", "9", "10", "99", "110", "1,000", "730,000", "4,300,000,000"]);
    }
}
