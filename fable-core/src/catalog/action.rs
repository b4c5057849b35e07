//! Actions: the index of an action, its values, its cost and its instruction.
//!
//! The index is a mixed-radix number. Its digits are the value positions of the components.

use super::{ActionSet, Catalog, MAX_COMPONENTS};
use core::fmt;

/// A complete action: its index in catalog order. The first component varies slowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Action(pub u16);

impl Action {
    /// The index as `usize`.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The value positions of one action, one per component.
pub type Values = heapless::Vec<u8, MAX_COMPONENTS>;

impl Catalog<'_> {
    /// The action with these value positions, one per component.
    #[must_use]
    pub fn action(&self, values: &[u8]) -> Option<Action> {
        if values.len() != self.definition.components.len() {
            return None;
        }
        let mut index = 0;
        for (component, &value) in self.definition.components.iter().zip(values) {
            if usize::from(value) >= component.values.len() {
                return None;
            }
            index = index * component.values.len() + usize::from(value);
        }
        u16::try_from(index).ok().map(Action)
    }

    /// The value positions of an action; `None` for an index outside the catalog.
    #[must_use]
    #[inline]
    pub fn values(&self, action: Action) -> Option<Values> {
        if action.0 >= self.actions {
            return None;
        }
        let mut values = Values::new();
        let mut rest = action.index();
        let mut stride = self.actions();
        for component in self.definition.components {
            stride /= component.values.len().max(1);
            let digit = rest / stride.max(1);
            rest -= digit * stride;
            values.push(u8::try_from(digit).ok()?).ok()?;
        }
        Some(values)
    }

    /// The value position of one component in an action; `None` for an action or a component outside the
    /// catalog.
    #[must_use]
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "a component has at most 256 values")]
    pub const fn value_of(&self, action: Action, component: usize) -> Option<u8> {
        if action.0 >= self.actions {
            return None;
        }
        let Some((_, [own, ..])) = self.definition.components.split_at_checked(component) else {
            return None;
        };
        let Some(quotient) = action.index().checked_div(self.stride(component)) else { return None };
        match quotient.checked_rem(own.values.len()) {
            Some(value) => Some(value as u8),
            None => None,
        }
    }

    /// The set of all actions.
    #[must_use]
    #[inline]
    pub const fn all_actions(&self) -> ActionSet {
        ActionSet::first(self.actions())
    }

    /// Distance in catalog order of two actions whose values of one component differ by one.
    pub(crate) const fn stride(&self, component: usize) -> usize {
        let mut stride = 1;
        let mut later = match self.definition.components.split_at_checked(component.saturating_add(1)) {
            Some((_, later)) => later,
            None => &[],
        };
        while let [own, rest @ ..] = later {
            stride *= own.values.len();
            later = rest;
        }
        stride
    }

    /// Position of a value among the values of all components.
    pub(crate) fn value_place(&self, component: usize, value: u8) -> Option<usize> {
        let (before, rest) = self.definition.components.split_at_checked(component)?;
        let own = rest.first().filter(|own| usize::from(value) < own.values.len());
        own.map(|_| before.iter().map(|component| component.values.len()).sum::<usize>() + usize::from(value))
    }

    /// Writes the instruction for the assistant: the texts of the chosen values, in component order.
    ///
    /// # Errors
    /// Only errors of the writer. An action outside the catalog writes nothing.
    ///
    /// ```
    /// use fable_core::catalog::agent::{self, AGENT, Memory, Style, Tool};
    /// let mut text = String::new();
    /// AGENT.instruct(agent::action(Memory::NoMemory, Tool::WebSearch, Style::Concise), &mut text)?;
    /// assert_eq!(text, "Do not use stored memory. Search the web before answering. Answer briefly.");
    /// # Ok::<(), core::fmt::Error>(())
    /// ```
    pub fn instruct(&self, action: Action, out: &mut impl fmt::Write) -> fmt::Result {
        let values = self.values(action).unwrap_or_default();
        let texts = self.definition.components.iter().zip(&values);
        let mut separator = "";
        for (component, &value) in texts {
            let text = component.values.get(usize::from(value)).map_or("", |value| value.instruction);
            if !text.is_empty() {
                out.write_str(separator)?;
                out.write_str(text)?;
                separator = " ";
            }
        }
        Ok(())
    }
}
