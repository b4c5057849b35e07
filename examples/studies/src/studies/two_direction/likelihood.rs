//! How likely the paper's actions are in each round, given the fit, and what they say about the scale of the draw.
//!
//! With two actions the probability of a choice is exact: the difference of their scores has mean m and standard deviation s in the
//! posterior, so with the scale nu the first is chosen with probability Phi(m / (nu s)).

use super::fit::Fit;
use super::stage::{FROZEN_RUN, ONLINE, PART};
use crate::policies::{Agent, FROZEN, FULL, Method};
use crate::setup::StudyError;
use fable_core::Policy;

/// m / s of the paper's choice in every round of one of its runs, before it is learned from.
pub(super) fn strengths(fit: &Fit, method: Method, letters: &str) -> Result<Vec<f64>, StudyError> {
    let policy = Policy::new(PART.catalog, fit.scales.settings(1.0))?;
    let mut agent = Agent::new(&policy, method, 0)?;
    let mut strengths = Vec::new();
    for ((context, target), letter) in PART.rounds(&fit.contexts)?.into_iter().zip(letters.chars()) {
        let (chosen, right) = (PART.written(letter), PART.action(target));
        let assessment = agent.assess(&PART.probe(context, target))?;
        let strength = assessment.mean / assessment.sd;
        strengths.push(if chosen == right { strength } else { -strength });
        agent.observe(&context, chosen, if chosen == right { 1.0 } else { -1.0 })?;
    }
    Ok(strengths)
}

/// Of both runs: online, frozen.
pub(super) fn both(fit: &Fit) -> Result<[Vec<f64>; 2], StudyError> {
    Ok([strengths(fit, FULL, ONLINE)?, strengths(fit, FROZEN, FROZEN_RUN)?])
}

/// The probability of a choice of this strength under a scale.
pub(super) fn probability(strength: f64, nu: f64) -> f64 {
    0.5 * libm::erfc(-strength / nu / core::f64::consts::SQRT_2)
}

pub(super) fn log_likelihood(strengths: &[f64], nu: f64) -> f64 {
    strengths.iter().map(|strength| libm::log(probability(*strength, nu))).sum()
}

/// Scales from 0.01 to 10, evenly by their logarithm: 20 to a factor of ten.
pub(super) fn scales() -> impl Iterator<Item = f64> {
    (0..=60).map(|place| libm::pow(10.0, f64::from(place) / 20.0 - 2.0))
}

/// The scale under which these choices are likeliest, and those within 1.92 of it, the usual interval of 95%.
pub(super) fn likeliest(likelihood: impl Fn(f64) -> f64) -> (f64, (f64, f64)) {
    let best = scales().fold((1.0, f64::NEG_INFINITY), |best, nu| {
        if likelihood(nu) > best.1 { (nu, likelihood(nu)) } else { best }
    });
    let within = scales().filter(|nu| likelihood(*nu) > best.1 - 1.92);
    (best.0, within.fold((f64::INFINITY, 0.0), |(least, most), nu| (nu.min(least), nu.max(most))))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Eight of ten right at one strength: the likeliest scale has a probability of 0.8.
    #[test]
    fn the_likeliest_scale_gives_the_share_that_was_seen() {
        let strengths: Vec<f64> = (0..10).map(|round| if round < 8 { 0.07 } else { -0.07 }).collect();
        let (nu, (least, most)) = likeliest(|nu| log_likelihood(&strengths, nu));
        assert!((probability(0.07, nu) - 0.8).abs() < 0.03, "{nu}");
        assert!(least < nu && nu < most);
        assert!(
            (probability(0.0, 3.0) - 0.5).abs() < 1e-15 && (probability(0.529, 1.0) - 0.7016).abs() < 1e-3
        );
    }
}
