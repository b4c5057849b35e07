//! The known reference: a default score made of terms (Appendix F) and the costs of the values.
//!
//! b(c, a) is a sum of terms. A term adds its weight when its condition holds for the context and the action
//! uses any of the values it names. The cost of an action is the sum of its values' costs; the baseline is
//! b - lambda cost.

use super::{Context, Part};

/// When a term counts.
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
    /// The task is one of these.
    Tasks(&'a [u8]),
}

impl Condition<'_> {
    /// Whether the condition holds in `context`; a signal that the context lacks makes it false.
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
    /// The contexts in which it counts.
    pub when: Condition<'a>,
    /// The values it applies to; an action needs only one of them, in any of the components.
    pub applies: &'a [Part<'a>],
}

impl<'a> Term<'a> {
    /// A term of the default score.
    #[must_use]
    pub const fn new(weight: f64, when: Condition<'a>, applies: &'a [Part<'a>]) -> Self {
        Self { weight, when, applies }
    }

    /// Whether an action with these values is meant.
    #[inline]
    pub(crate) fn meets(&self, values: &[u8]) -> bool {
        self.applies
            .iter()
            .any(|part| values.get(usize::from(part.component)).is_some_and(|&value| part.contains(value)))
    }
}
