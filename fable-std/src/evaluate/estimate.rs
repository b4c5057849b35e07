//! From the terms of the lines to estimates, intervals and warnings.

use fable_core::settings::REWARD;
use std::fmt;

/// Standard errors on either side of an estimate: 95% of a normal distribution.
const WIDTH: f64 = 1.959_963_985;
/// Below this share of the lines, or below so many, the effective lines are few.
const FEW: (f64, f64) = (0.05, 50.0);
/// A line with more than this share of the weight dominates.
const DOMINANT: f64 = 0.05;
/// More than this share of the target's choices without support is too much.
const UNSUPPORTED: f64 = 0.02;
/// More than this share of the target's choices among what is rare in the log is too much.
const RARE_SHARE: f64 = 0.005;
/// More than this share of lines without chance makes a log one without chance.
const SURE: f64 = 0.95;
/// The mean weight may be off by so many standard errors and by so much.
const OFF: (f64, f64) = (4.0, 0.05);

/// What one line says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Term {
    /// pi(a) / p(a)
    pub(super) weight: f64,
    pub(super) reward: f64,
    /// q(x, a)
    pub(super) predicted: f64,
    /// The target's mean of q
    pub(super) expected: f64,
    /// The probability with which the target does what the log does not support.
    pub(super) unsupported: f64,
    /// The probability with which the target does what would have a large weight.
    pub(super) rare: f64,
    /// Whether the logged policy could have done nothing else.
    pub(super) sure: bool,
    /// The target's mean of the true rewards.
    pub(super) truth: Option<f64>,
}

/// A mean and its normal 95% interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// Its standard error; infinite when one line has all the weight of SNIPS.
    pub error: f64,
    /// Lower end of the interval.
    pub lower: f64,
    /// Upper end of the interval.
    pub upper: f64,
}

impl Estimate {
    /// The mean of the terms.
    fn mean(terms: impl ExactSizeIterator<Item = f64> + Clone) -> Self {
        let count = terms.len() as f64;
        let value = terms.clone().sum::<f64>() / count;
        Self::around(value, terms.map(|term| term - value))
    }

    /// A value with deviations that add up to 0.
    fn around(value: f64, deviations: impl ExactSizeIterator<Item = f64>) -> Self {
        let count = deviations.len() as f64;
        let variance =
            deviations.map(|deviation| deviation * deviation).sum::<f64>() / (count - 1.0).max(1.0);
        let error = (variance / count).sqrt();
        Self { value, error, lower: value - WIDTH * error, upper: value + WIDTH * error }
    }

    /// Ends the interval where values end.
    fn within(self, least: f64, most: f64) -> Self {
        Self { lower: self.lower.max(least), upper: self.upper.min(most), ..self }
    }

    /// Whether a number lies in the interval.
    #[must_use]
    pub fn covers(&self, number: f64) -> bool {
        (self.lower..=self.upper).contains(&number)
    }
}

/// What a log says about a target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// Lines that were evaluated.
    pub lines: usize,
    /// Users that the log is about.
    pub users: usize,
    /// The mean reward in these lines: what the logged policy got.
    pub logged: Estimate,
    /// Inverse propensity scores.
    pub ips: Estimate,
    /// Self-normalized inverse propensity scores; `None` when every weight is 0.
    pub snips: Option<Estimate>,
    /// Doubly robust.
    pub doubly_robust: Estimate,
    /// The doubly robust estimate less what the logged policy got, line by line.
    pub gain: Estimate,
    /// (sum of w)^2 / sum of w^2: so many lines of the target's own would say as much.
    pub effective_lines: f64,
    /// The largest weight as a share of all.
    pub largest_weight: f64,
    /// The mean weight, which should be 1 less what is unsupported.
    pub mean_weight: Estimate,
    /// The share of the target's choices that the log does not support.
    pub unsupported: f64,
    /// The share of the target's choices that are rare in the log: their weight is above 10.
    pub rare: f64,
    /// The share of the lines in which the logged policy could have done nothing else, though more was allowed.
    pub sure: f64,
    /// The true value, where it is known.
    pub truth: Option<f64>,
}

impl Report {
    pub(super) fn new(terms: &[Term], users: usize) -> Self {
        let each = |of: fn(&Term) -> f64| terms.iter().map(of);
        let doubly = |term: &Term| term.expected + term.weight * (term.reward - term.predicted);
        let sum: f64 = each(|term| term.weight).sum();
        let squares: f64 = each(|term| term.weight * term.weight).sum();
        let count = terms.len() as f64;
        let snips = (sum > 0.0).then(|| {
            let value = each(|term| term.weight * term.reward).sum::<f64>() / sum;
            // The jackknife: how far each line moves the ratio. The usual linear term, with `sum` below, is 0 for a line that
            // has all the weight, as if one line were certain.
            let moved = |term: &Term| match sum - term.weight {
                rest if rest > 0.0 => (count - 1.0) * term.weight * (term.reward - value) / rest,
                _ => f64::INFINITY,
            };
            Estimate::around(value, terms.iter().map(moved)).within(REWARD.least, REWARD.most)
        });
        Self {
            lines: terms.len(),
            users,
            logged: Estimate::mean(each(|term| term.reward)),
            ips: Estimate::mean(each(|term| term.weight * term.reward)),
            snips,
            doubly_robust: Estimate::mean(terms.iter().map(doubly)),
            gain: Estimate::mean(terms.iter().map(|term| doubly(term) - term.reward)),
            effective_lines: if sum > 0.0 { sum * sum / squares } else { 0.0 },
            largest_weight: if sum > 0.0 { each(|term| term.weight).fold(0.0, f64::max) / sum } else { 0.0 },
            mean_weight: Estimate::mean(each(|term| term.weight)),
            unsupported: each(|term| term.unsupported).sum::<f64>() / count,
            rare: each(|term| term.rare).sum::<f64>() / count,
            sure: each(|term| f64::from(u8::from(term.sure))).sum::<f64>() / count,
            truth: terms.iter().map(|term| term.truth).sum::<Option<f64>>().map(|sum| sum / count),
        }
    }

    /// What makes the estimates doubtful.
    #[must_use]
    pub fn warnings(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        if self.sure > SURE {
            warnings.push(Warning::NoChance { share: self.sure });
        }
        if self.effective_lines == 0.0 {
            warnings.push(Warning::NoOverlap);
            return warnings;
        }
        if self.effective_lines < (FEW.0 * self.lines as f64).max(FEW.1) {
            warnings.push(Warning::FewLines { effective: self.effective_lines, lines: self.lines });
        }
        if self.largest_weight > DOMINANT {
            warnings.push(Warning::Dominated { share: self.largest_weight });
        }
        if self.unsupported > UNSUPPORTED {
            warnings.push(Warning::Unsupported { share: self.unsupported });
        }
        if self.rare > RARE_SHARE {
            warnings.push(Warning::Rare { share: self.rare });
        }
        let off = (self.mean_weight.value - (1.0 - self.unsupported)).abs();
        if off > OFF.0 * self.mean_weight.error && off > OFF.1 {
            warnings.push(Warning::MeanWeight { mean: self.mean_weight.value });
        }
        warnings
    }
}

/// A reason not to trust an estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Warning {
    /// The log was made without chance: by optimism without probes, or greedily.
    NoChance {
        /// The share of its lines.
        share: f64,
    },
    /// The target would never have done what was done.
    NoOverlap,
    /// The log says little about the target.
    FewLines {
        /// Lines of the target's own that would say as much.
        effective: f64,
        /// Lines evaluated.
        lines: usize,
    },
    /// One line decides.
    Dominated {
        /// Its share of the weight.
        share: f64,
    },
    /// The target does what the logged policy never did.
    Unsupported {
        /// The share of its choices.
        share: f64,
    },
    /// The target does what the logged policy did rarely.
    Rare {
        /// The share of its choices.
        share: f64,
    },
    /// The weights do not average to what they should.
    MeanWeight {
        /// Their mean.
        mean: f64,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoChance { share } => write!(
                f,
                "in {:.1}% of the lines nothing else could have been done: such lines cannot tell what anything else would have \
                 earned. A service tosses coins with --probe 0.5, or draws with --nu 0.3",
                100.0 * share
            ),
            Self::NoOverlap => f.write_str(
                "in no line would the target have done what was done: the log says nothing about it",
            ),
            Self::FewLines { effective, lines } => write!(
                f,
                "the support is thin: the {lines} lines are worth {effective:.0} of the target's own, so the intervals may be too short"
            ),
            Self::Dominated { share } => {
                write!(f, "one line has {:.0}% of the weight; the estimate hangs on it", 100.0 * share)
            }
            Self::Unsupported { share } => write!(
                f,
                "{:.1}% of the target's choices are actions that the logged policy did not choose in any draw: what they would \
                 have earned is not in the log, and IPS counts it as 0",
                100.0 * share
            ),
            Self::Rare { share } => write!(
                f,
                "{:.1}% of the target's choices are rare in the log, with a weight above {}: the intervals of IPS and SNIPS may \
                 be too short",
                100.0 * share,
                super::target::RARE
            ),
            Self::MeanWeight { mean } => write!(
                f,
                "the weights have mean {mean:.2} instead of 1: the propensities are not those of the policy that made the log, or \
                 were estimated from draws that the log does not tell (`draws`)"
            ),
        }
    }
}
