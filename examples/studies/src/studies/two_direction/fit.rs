//! Which contexts and settings give the paper's four probabilities after its own 20 actions.
//!
//! Unknown are three numbers, the cost weight, the base precision and the noise variance, and the contexts: which tasks, which
//! tool needs. The scale of the draw is not among them: the probabilities are of the posterior, and the actions are given. For each
//! kind of contexts the three numbers are found on a coarse grid and then by a pattern search: every number is moved up and down by a
//! step, the best move is kept, and where none helps all steps are halved.
//!
//! Prints as published, which is the most that three digits can tell: each probability is within 0.0005. The loss is the sum of squares
//! in that unit.

use super::lives::probe;
use super::stage::{Contexts, ONLINE, PART, PUBLISHED, Stage, Tasks};
use crate::parallel;
use crate::policies::{Agent, FULL};
use crate::setup::{Setup, StudyError};
use fable_core::{Exploration, Policy, Settings};

/// Half of the last digit that the paper prints.
pub(super) const ROUNDING: f64 = 0.0005;

/// The three numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scales {
    pub(super) cost_weight: f64,
    pub(super) precision: f64,
    pub(super) noise: f64,
}

/// A kind of contexts with the numbers that suit it best.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fit {
    pub(super) contexts: Contexts,
    pub(super) scales: Scales,
    /// Current and stable, before and after.
    pub(super) probabilities: [[f64; 2]; 2],
    pub(super) loss: f64,
}

impl Scales {
    /// The learner of the paper with these numbers.
    pub(super) fn settings(self, nu: f64) -> Settings<'static> {
        Settings {
            cost_weight: self.cost_weight,
            base_precision: Some(self.precision),
            noise_variance: self.noise,
            exploration: Exploration::Constant(nu),
            ..Settings::PAPER
        }
    }

    /// As the search moves them: the cost weight as it is, the others by their logarithm.
    fn coordinates(self) -> [f64; 3] {
        [self.cost_weight, libm::log(self.precision), libm::log(self.noise)]
    }

    fn at([cost_weight, precision, noise]: [f64; 3]) -> Self {
        Self { cost_weight: cost_weight.max(0.0), precision: libm::exp(precision), noise: libm::exp(noise) }
    }
}

/// The four probabilities when the paper's actions and rewards are learned from.
pub(super) fn replay(
    stage: &Stage,
    contexts: &Contexts,
    scales: Scales,
) -> Result<[[f64; 2]; 2], StudyError> {
    let policy = Policy::new(stage.catalog, scales.settings(1.0))?;
    let mut agent = Agent::new(&policy, FULL, 0)?;
    let rounds = stage.rounds(contexts)?;
    let before = probe(stage, &mut agent, &rounds)?;
    for ((context, target), letter) in rounds.iter().zip(ONLINE.chars()) {
        let action = stage.written(letter);
        agent.observe(context, action, if action == stage.action(*target) { 1.0 } else { -1.0 })?;
    }
    Ok([before, probe(stage, &mut agent, &rounds)?])
}

fn loss(probabilities: [[f64; 2]; 2]) -> f64 {
    let unit = |(ours, paper): (&f64, &f64)| (ours - paper) / ROUNDING;
    probabilities
        .as_flattened()
        .iter()
        .zip(PUBLISHED.as_flattened())
        .map(unit)
        .map(|error| error * error)
        .sum()
}

/// The numbers that suit these contexts best.
pub(super) fn fit(contexts: Contexts) -> Result<Fit, StudyError> {
    let at = |scales: Scales| -> Result<Fit, StudyError> {
        let probabilities = replay(&PART, &contexts, scales)?;
        Ok(Fit { contexts, scales, probabilities, loss: loss(probabilities) })
    };
    let mut best: Option<Fit> = None;
    for cost_weight in [0.0, 0.3, 0.6, 0.9, 1.2, 2.0] {
        for precision in [0.5, 2.0, 8.0] {
            for noise in [0.02, 0.1, 0.5] {
                let found = at(Scales { cost_weight, precision, noise })?;
                best = best.filter(|best| best.loss <= found.loss).or(Some(found));
            }
        }
    }
    let mut best = best.ok_or_else(|| StudyError::Failed("there is no grid".into()))?;
    let mut steps = [0.15, 0.7, 0.8];
    while steps.iter().any(|step| *step > 1e-3) {
        let before = best.loss;
        for (number, step) in steps.into_iter().enumerate() {
            for step in [step, -step] {
                let mut coordinates = best.scales.coordinates();
                if let Some(coordinate) = coordinates.get_mut(number) {
                    *coordinate += step;
                }
                let moved = at(Scales::at(coordinates))?;
                if moved.loss < best.loss {
                    best = moved;
                }
            }
        }
        if best.loss >= before {
            steps = steps.map(|step| step / 2.0);
        }
    }
    Ok(best)
}

/// Risk and ambiguity of both contexts. Where they are the same in both they hardly count; a test says how little.
pub(super) const CALM: [f32; 2] = [0.1, 0.1];

/// A fit for every kind of contexts: four kinds of tasks, tool needs in tenths.
pub(super) fn every(setup: &Setup) -> Result<Vec<Fit>, StudyError> {
    let (current, stable): (&[f32], &[f32]) = if setup.reduced {
        (&[0.8, 1.0], &[0.1, 0.2])
    } else {
        (&[0.6, 0.7, 0.8, 0.9, 1.0], &[0.0, 0.1, 0.2, 0.3, 0.4, 0.5])
    };
    let mut kinds = Vec::new();
    for tasks in Tasks::ALL {
        for current in current {
            kinds.extend(stable.iter().map(|stable| Contexts {
                tasks,
                tool_need: [*current, *stable],
                calm: CALM,
            }));
        }
    }
    let chosen =
        |index: usize| kinds.get(index).copied().ok_or_else(|| StudyError::Failed("no such contexts".into()));
    parallel::map(setup, "two-direction, fit", kinds.len(), |index| fit(chosen(index)?))
}

impl Fit {
    /// Which of the four print as published.
    pub(super) fn printed(&self) -> [bool; 4] {
        let [[a, b], [c, d]] = self.probabilities;
        let [[e, f], [g, h]] = PUBLISHED;
        [(a, e), (b, f), (c, g), (d, h)].map(|(ours, paper)| (ours - paper).abs() <= ROUNDING)
    }

    /// Whether the first three do, and the last is not lower than printed: what "about .999" leaves open.
    pub(super) fn fits(&self) -> bool {
        let [first, second, third, _] = self.printed();
        first && second && third && self.probabilities[1][1] >= PUBLISHED[1][1] - ROUNDING
    }
}

/// The least and the most that each of the three numbers can be, in these contexts, for the probabilities to [fit](Fit::fits): a scan
/// around the best ones.
pub(super) fn ranges(setup: &Setup, best: &Fit) -> Result<[(f64, f64); 3], StudyError> {
    let half = setup.scale(30, 6);
    let [cost_weight, precision, noise] = best.scales.coordinates();
    // Either way 0.2 for the cost weight, and by the logarithm 0.3 for the precision and the noise. The third probability leaves the noise
    // little room once the others are chosen, so its steps are finer.
    let fine = 5 * half;
    let steps = [0.2 / half as f64, 0.3 / half as f64, 0.3 / fine as f64];
    let places = |half: usize| (0..=2 * half).map(move |place| place as f64 - half as f64);
    let slices = parallel::map(setup, "two-direction, ranges", 2 * half + 1, |slice| {
        let mut ranges = [(f64::INFINITY, f64::NEG_INFINITY); 3];
        let cost_weight = cost_weight + (slice as f64 - half as f64) * steps[0];
        for precision in places(half).map(|place| precision + place * steps[1]) {
            for noise in places(fine).map(|place| noise + place * steps[2]) {
                let scales = Scales::at([cost_weight, precision, noise]);
                let probabilities = replay(&PART, &best.contexts, scales)?;
                let fit = Fit { scales, probabilities, loss: 0.0, ..*best };
                let [first, second, ..] = fit.printed();
                if !(first && second) {
                    break; // neither depends on the noise
                }
                if fit.fits() {
                    let numbers = [scales.cost_weight, scales.precision, scales.noise];
                    for ((least, most), number) in ranges.iter_mut().zip(numbers) {
                        (*least, *most) = (least.min(number), most.max(number));
                    }
                }
            }
        }
        Ok(ranges)
    })?;
    let join = |number: usize| {
        let of = |slice: &[(f64, f64); 3]| {
            slice.get(number).copied().unwrap_or((f64::INFINITY, f64::NEG_INFINITY))
        };
        slices
            .iter()
            .map(of)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |all, one| (all.0.min(one.0), all.1.max(one.1)))
    };
    Ok([join(0), join(1), join(2)])
}

#[cfg(test)]
mod tests {
    use super::super::stage::WHOLE;
    use super::*;

    const SCALES: Scales = Scales { cost_weight: 0.6, precision: 2.0, noise: 0.08 };

    fn contexts(tasks: Tasks, calm: [f32; 2]) -> Contexts {
        Contexts { tasks, tool_need: [0.9, 0.2], calm }
    }

    /// The part of the catalog that is used gives what the whole gives.
    #[test]
    fn a_part_of_the_catalog_is_enough() {
        for tasks in Tasks::ALL {
            let both = [PART, WHOLE].map(|stage| replay(&stage, &contexts(tasks, CALM), SCALES).unwrap());
            for (part, whole) in both[0].as_flattened().iter().zip(both[1].as_flattened()) {
                assert!((part - whole).abs() < 1e-12, "{tasks:?}: {part} {whole}");
            }
        }
    }

    /// Dense and without weights: the scores of four pairs of context and action as a Gaussian process with the kernel phi.phi' / precision,
    /// conditioned on one observation after the other.
    #[test]
    fn the_replay_is_that_of_a_kernel() {
        use super::super::stage::{PROMPTS, Target};
        use nalgebra::{DMatrix, DVector};
        let chosen = contexts(Tasks::Factual, CALM);
        let features = |(target, letter): (Target, char)| {
            let context = PART.context(&chosen, target).unwrap();
            let mut dense = DVector::<f64>::zeros(PART.catalog.dimension());
            for (coordinate, value) in PART.catalog.features(&context, PART.written(letter)) {
                dense[coordinate] += f64::from(value);
            }
            dense
        };
        // Appendix F, by hand: 0.06 for brevity in factual tasks, 0.18 for a tool where it is needed, 0.08 for a search.
        let known = |(target, letter): (Target, char)| {
            let search = if target == Target::Current { 0.18 } else { 0.0 } - SCALES.cost_weight * 0.08;
            0.06 + if letter == 'w' { search } else { 0.0 }
        };
        let points =
            [(Target::Current, 'w'), (Target::Current, 'n'), (Target::Stable, 'n'), (Target::Stable, 'w')];
        let right = |(target, letter): (Target, char)| (target == Target::Current) == (letter == 'w');
        let x = DMatrix::from_columns(&points.map(features));
        let (mut kernel, mut mean) =
            (x.transpose() * &x / SCALES.precision, DVector::from_iterator(4, points.map(known)));
        let normal = |z: f64| 0.5 * libm::erfc(-z / core::f64::consts::SQRT_2);
        let probes = |kernel: &DMatrix<f64>, mean: &DVector<f64>| {
            [(0, 1), (2, 3)].map(|(prefer, over)| {
                let variance = kernel[(prefer, prefer)] + kernel[(over, over)] - 2.0 * kernel[(prefer, over)];
                normal((mean[prefer] - mean[over]) / variance.sqrt())
            })
        };
        let before = probes(&kernel, &mean);
        for seen in PROMPTS.into_iter().zip(ONLINE.chars()) {
            let at = points.iter().position(|point| *point == seen).unwrap();
            let (column, total) = (kernel.column(at).clone_owned(), kernel[(at, at)] + SCALES.noise);
            let surprise = if right(seen) { 1.0 } else { -1.0 } - mean[at];
            mean += &column * (surprise / total);
            kernel -= &column * column.transpose() / total;
        }
        let ours = replay(&PART, &chosen, SCALES).unwrap();
        for (ours, dense) in ours.as_flattened().iter().zip([before, probes(&kernel, &mean)].as_flattened()) {
            assert!((ours - dense).abs() < 1e-9, "{ours} {dense}");
        }
    }

    /// What both contexts have in common moves no probability by more than the last digit that is printed.
    #[test]
    fn common_signals_hardly_count() {
        for tasks in [Tasks::Absent, Tasks::Factual] {
            let [calm, tense] =
                [[0.0, 0.0], [0.6, 0.6]].map(|calm| replay(&PART, &contexts(tasks, calm), SCALES).unwrap());
            for (calm, tense) in calm.as_flattened().iter().zip(tense.as_flattened()) {
                assert!((calm - tense).abs() < 2.0 * ROUNDING, "{calm} {tense}");
            }
        }
    }

    /// What is replayed from known numbers is found again.
    #[test]
    fn the_search_ends_at_the_numbers_that_fit() {
        let found = fit(contexts(Tasks::Absent, CALM)).unwrap();
        assert!(found.fits(), "{found:?}");
        assert!(
            (0.55..0.65).contains(&found.scales.cost_weight) && (1.8..2.3).contains(&found.scales.precision)
        );
        assert!((0.05..0.12).contains(&found.scales.noise));
        assert!(!fit(contexts(Tasks::Own, CALM)).unwrap().fits());
    }
}
