//! Canonical names of coordinates and actions: writing and looking up.
//!
//! A coordinate's name joins its factors with `*`: the task or signal first, then the components in catalog
//! order. An action is named like the coordinate of a complete-action block. Looking a name up compares it
//! with the written names, so both directions agree. It takes time linear in the catalog and no memory.

use super::{Action, Catalog, Placed, Values};
use core::fmt::{self, Write};

/// Displays the name of a coordinate.
#[derive(Clone, Debug)]
pub struct CoordinateName<'c> {
    catalog: &'c Catalog<'c>,
    block: Placed,
    task: usize,
    values: Values,
}

/// Displays the name of an action.
#[derive(Clone, Debug)]
pub struct ActionName<'c> {
    catalog: &'c Catalog<'c>,
    values: Values,
}

fn write_values(catalog: &Catalog<'_>, mask: u8, values: &[u8], f: &mut impl Write) -> fmt::Result {
    let mut separator = "";
    for (index, (component, &value)) in catalog.definition().components.iter().zip(values).enumerate() {
        if let Some(value) = component.values.get(usize::from(value))
            && mask >> index & 1 == 1
        {
            f.write_str(separator)?;
            f.write_str(component.name)?;
            f.write_str("=")?;
            f.write_str(value.name)?;
            separator = "*";
        }
    }
    Ok(())
}

impl fmt::Display for CoordinateName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let definition = self.catalog.definition();
        if self.block.per_task {
            f.write_str("task=")?;
            f.write_str(definition.tasks.get(self.task).unwrap_or(&""))?;
            f.write_str("*")?;
        }
        if let Some(signal) = self.block.signal {
            f.write_str(definition.signals.get(usize::from(signal)).unwrap_or(&""))?;
            f.write_str("*")?;
        }
        write_values(self.catalog, self.block.mask, &self.values, f)
    }
}

impl fmt::Display for ActionName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_values(self.catalog, u8::MAX, &self.values, f)
    }
}

/// A writer that compares its input with an expected text.
struct Expect<'t>(Option<&'t str>);

impl Write for Expect<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 = self.0.and_then(|rest| rest.strip_prefix(text));
        if self.0.is_some() { Ok(()) } else { Err(fmt::Error) }
    }
}

fn prints(text: &str, name: &impl fmt::Display) -> bool {
    let mut expect = Expect(Some(text));
    write!(expect, "{name}").is_ok() && expect.0 == Some("")
}

impl Catalog<'_> {
    /// The name of a coordinate; `None` past the dimension.
    #[must_use]
    pub fn coordinate_name(&self, coordinate: usize) -> Option<CoordinateName<'_>> {
        let (task, inside) = self.layout().locate(coordinate)?;
        let (block, values) = self.coordinate_parts(task.is_some(), inside)?;
        Some(CoordinateName { catalog: self, block, task: task.unwrap_or(0), values })
    }

    /// The block at an index in a leaf or in the root, and the values of its coordinate. Values of other
    /// components are 0.
    pub(crate) fn coordinate_parts(&self, per_task: bool, inside: usize) -> Option<(Placed, Values)> {
        let block = *self.single_blocks().iter().chain(self.product_blocks()).find(|block| {
            let start = usize::from(block.offset);
            block.per_task == per_task && (start..start + usize::from(block.size)).contains(&inside)
        })?;
        let mut position = inside - usize::from(block.offset);
        let mut values = Values::new();
        for _ in self.definition().components {
            values.push(0).ok()?;
        }
        for (index, slot) in values.iter_mut().enumerate().rev().filter(|(index, _)| block.has(*index)) {
            let radix = self.radix(&block, index).max(1);
            let digit = u8::try_from(position % radix).ok()?;
            position /= radix;
            let null = self.definition().components.get(index)?.null.filter(|_| block.without_null);
            *slot = digit + u8::from(null.is_some_and(|null| digit >= null));
        }
        Some((block, values))
    }

    /// The coordinate with this name.
    ///
    /// ```
    /// use fable_core::catalog::AGENT;
    /// let index = AGENT.coordinate("memory_need*memory=recent_memory").unwrap();
    /// assert_eq!(AGENT.coordinate_name(index).unwrap().to_string(), "memory_need*memory=recent_memory");
    /// assert_eq!(AGENT.coordinate("memory_need*memory=no_memory"), None); // the null value has none
    /// ```
    #[must_use]
    pub fn coordinate(&self, name: &str) -> Option<usize> {
        (0..self.dimension())
            .find(|&index| self.coordinate_name(index).is_some_and(|found| prints(name, &found)))
    }

    /// The name of an action; `None` outside the catalog.
    #[must_use]
    pub fn action_name(&self, action: Action) -> Option<ActionName<'_>> {
        Some(ActionName { catalog: self, values: self.values(action)? })
    }

    /// The action with this name.
    ///
    /// ```
    /// use fable_core::{Action, catalog::RUBRIC};
    /// let name = RUBRIC.action_name(Action(26)).unwrap().to_string();
    /// assert_eq!(name, "rigor=level_5*steps=level_5*examples=level_5");
    /// assert_eq!(RUBRIC.action_named(&name), Some(Action(26)));
    /// ```
    #[must_use]
    pub fn action_named(&self, name: &str) -> Option<Action> {
        (0..self.actions())
            .filter_map(|index| u16::try_from(index).ok().map(Action))
            .find(|&action| self.action_name(action).is_some_and(|found| prints(name, &found)))
    }

    /// Position of the component with this name.
    #[must_use]
    pub fn component(&self, name: &str) -> Option<usize> {
        self.definition().components.iter().position(|component| component.name == name)
    }

    /// Position of the component's value with this name.
    #[must_use]
    pub fn value(&self, component: usize, name: &str) -> Option<u8> {
        let values = self.definition().components.get(component)?.values;
        values.iter().position(|value| value.name == name).and_then(|index| u8::try_from(index).ok())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{AGENT, RUBRIC, TAU2};
    use super::*;

    #[test]
    fn every_coordinate_and_action_is_found_by_its_name() {
        for catalog in [&AGENT, &TAU2, &RUBRIC] {
            for index in 0..catalog.dimension() {
                let name = catalog.coordinate_name(index).unwrap().to_string();
                assert_eq!(catalog.coordinate(&name), Some(index), "{name}");
            }
            assert!(catalog.coordinate_name(catalog.dimension()).is_none());
            for index in 0..catalog.actions() {
                let action = Action(u16::try_from(index).unwrap());
                let name = catalog.action_name(action).unwrap().to_string();
                assert_eq!(catalog.action_named(&name), Some(action), "{name}");
            }
            assert!(catalog.action_name(Action(u16::try_from(catalog.actions()).unwrap())).is_none());
        }
    }

    #[test]
    fn foreign_names_are_not_found() {
        for name in [
            "",
            "style",
            "style=",
            "style=loud",
            "style=concise*",
            "*style=concise",
            "style=concise ",
            "task=coding",
        ] {
            assert_eq!(AGENT.coordinate(name), None, "{name:?}");
            assert_eq!(AGENT.action_named(name), None, "{name:?}");
        }
    }
}
