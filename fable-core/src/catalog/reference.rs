//! The reference score: a default score made of terms (Appendix F), minus the weighted costs of values.
//!
//! b(c, a) is a sum of terms. A term adds its weight if its condition holds for the context and the action
//! has any of its values. The cost of an action is the sum of its values' costs. The baseline is b - lambda
//! cost.

use super::{Context, Part};

/// The condition of a term or a rule.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Condition<'a> {
    /// In every context.
    Always,
    /// The signal is strictly above the threshold.
    Above(u8, f32),
    /// The signal is at least the threshold.
    AtLeast(u8, f32),
    /// The signal is at most the threshold.
    AtMost(u8, f32),
    /// The signal is strictly below the threshold.
    Below(u8, f32),
    /// The task is in the list.
    Tasks(&'a [u8]),
}

impl Condition<'_> {
    /// True if the condition holds in `context`. A condition on a signal that the context lacks is false.
    #[must_use]
    #[inline(never)]
    pub fn holds(&self, context: &Context) -> bool {
        let (signal, threshold) = match *self {
            Self::Always => return true,
            Self::Tasks(tasks) => {
                return context.task().is_some_and(|task| tasks.iter().any(|&t| usize::from(t) == task));
            }
            Self::Above(signal, threshold)
            | Self::AtLeast(signal, threshold)
            | Self::AtMost(signal, threshold)
            | Self::Below(signal, threshold) => (signal, threshold),
        };
        let Some(level) = context.signal(usize::from(signal)) else { return false };
        match self {
            Self::Above(..) => level > threshold,
            Self::AtLeast(..) => level >= threshold,
            Self::AtMost(..) => level <= threshold,
            Self::Below(..) => level < threshold,
            Self::Always | Self::Tasks(_) => false,
        }
    }
}

/// One term of the default score: `weight` if `when` holds and the action uses any value of `applies`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Term<'a> {
    /// Added to the default score.
    pub weight: f64,
    /// The contexts of the term.
    pub when: Condition<'a>,
    /// The values of the term. An action needs one of them, in any of the components.
    pub applies: &'a [Part<'a>],
}

impl<'a> Term<'a> {
    /// A term of the default score.
    #[must_use]
    pub const fn new(weight: f64, when: Condition<'a>, applies: &'a [Part<'a>]) -> Self {
        Self { weight, when, applies }
    }

    /// True if an action has any of the term's values.
    #[inline]
    pub(crate) fn meets(&self, values: &[u8]) -> bool {
        self.applies
            .iter()
            .any(|part| values.get(usize::from(part.component)).is_some_and(|&value| part.contains(value)))
    }
}
