//! Declared contrasts: named preferences that a catalog's author wants to know.

use super::{Action, Catalog, Context};
use crate::numbers::Bits;

/// A named comparison of two complete actions that differ in one component, in a reference context (Appendix
/// G).
///
/// ```
/// use fable_core::catalog::Contrast;
/// use fable_core::catalog::tau2::{Memory, Style, Tool};
/// use fable_core::values;
/// // In `tau2`, with the usual other components: brief answers over guided answers.
/// const BRIEF: Contrast = Contrast::new(
///     "brief_over_guided",
///     values![Memory::Conversation, Tool::Standard, Style::Concise],
///     values![Memory::Conversation, Tool::Standard, Style::Guided],
/// )
/// .says("The customer prefers brief answers.", "The customer prefers to be guided.");
/// # let _ = BRIEF;
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Contrast<'a> {
    /// Canonical name.
    pub name: &'a str,
    /// Task of the reference context, if any.
    pub task: Option<u8>,
    /// Every signal of the reference context, in catalog order.
    pub signals: &'a [f32],
    /// Value positions of the preferred action of a positive contrast, one per component.
    pub prefer: &'a [u8],
    /// Value positions of the other action.
    pub over: &'a [u8],
    /// The sentence for the host's prompt when `prefer` is promoted. Empty: a plain sentence made of the
    /// names.
    pub positive: &'a str,
    /// The sentence when `over` is promoted.
    pub negative: &'a str,
}

impl<'a> Contrast<'a> {
    /// A contrast in the context without a task and without signals.
    #[must_use]
    pub const fn new(name: &'a str, prefer: &'a [u8], over: &'a [u8]) -> Self {
        Self { name, task: None, signals: &[], prefer, over, positive: "", negative: "" }
    }

    /// The contrast in another reference context.
    #[must_use]
    pub const fn when(mut self, task: Option<u8>, signals: &'a [f32]) -> Self {
        self.task = task;
        self.signals = signals;
        self
    }

    /// The contrast with sentences for the prompt.
    #[must_use]
    pub const fn says(mut self, positive: &'a str, negative: &'a str) -> Self {
        self.positive = positive;
        self.negative = negative;
        self
    }

    /// The component in which the two actions differ.
    #[must_use]
    pub fn component(&self) -> Option<usize> {
        self.prefer.iter().zip(self.over).position(|(prefer, over)| prefer != over)
    }
}

/// Numbers that a learner keeps for the trials of each declared contrast.
pub(crate) const TRIAL_LEN: usize = 15;

/// A set of declared contrasts, by position.
pub type ContrastSet = Bits<2>;

/// The two values that a contrast compares, of one component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sides {
    pub(crate) component: usize,
    /// The preferred value of a positive contrast.
    pub(crate) prefer: u8,
    pub(crate) over: u8,
}

impl Sides {
    /// The other of the two values; `None` for a third value.
    pub(crate) const fn other(&self, value: u8) -> Option<u8> {
        if value == self.prefer {
            Some(self.over)
        } else if value == self.over {
            Some(self.prefer)
        } else {
            None
        }
    }
}

impl Contrast<'_> {
    /// True if a round in this context is informative about the contrast.
    ///
    /// The tasks agree if the contrast has one. Signals above one half in the reference context are above one
    /// half in this context.
    #[must_use]
    pub fn applies(&self, context: &Context) -> bool {
        let task = self.task.is_none_or(|task| context.task() == Some(usize::from(task)));
        task && self.signals.iter().zip(context.signals()).all(|(own, signal)| *own <= 0.5 || *signal > 0.5)
    }

    /// The component in which the two actions differ, and their values of this component.
    pub(crate) fn sides(&self) -> Option<Sides> {
        let component = self.component()?;
        Some(Sides { component, prefer: *self.prefer.get(component)?, over: *self.over.get(component)? })
    }
}

impl<'a> Catalog<'a> {
    /// The declared contrasts.
    #[must_use]
    pub const fn contrasts(&self) -> &'a [Contrast<'a>] {
        self.definition().contrasts
    }

    /// Position of the contrast with this name.
    #[must_use]
    pub fn contrast(&self, name: &str) -> Option<usize> {
        self.contrasts().iter().position(|contrast| contrast.name == name)
    }

    /// Context and actions of a declared contrast.
    #[inline]
    pub(crate) fn contrast_parts(&self, index: usize) -> Option<ContrastParts> {
        let contrast = self.contrasts().get(index)?;
        let context = Context::new(self, contrast.task.map(usize::from), contrast.signals).ok()?;
        Some(ContrastParts {
            context,
            prefer: self.action(contrast.prefer)?,
            over: self.action(contrast.over)?,
        })
    }
}

/// The context and the actions of a declared contrast.
pub(crate) struct ContrastParts {
    pub(crate) context: Context,
    pub(crate) prefer: Action,
    pub(crate) over: Action,
}
