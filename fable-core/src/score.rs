//! The best feasible action for a given theta (Equation 4), without forming a single feature vector.
//!
//! Reference and one-component blocks add up to one number per value. An action's score is the sum of its values' numbers
//! and one entry per product block; products of the last component are contiguous, so a whole row of actions is scored with
//! a few vector additions.

use crate::Scalar;
use crate::catalog::{Action, Catalog, Placed, Values, spans_components};
use crate::context::Context;
use crate::feasible::ActionSet;

/// What scoring needs to know about the round.
pub(crate) struct Round<'r> {
    pub(crate) catalog: &'r Catalog<'r>,
    pub(crate) context: &'r Context,
    pub(crate) cost_weight: f64,
    /// b per action instead of the catalog's.
    pub(crate) defaults: Option<&'r [f64]>,
}

impl Round<'_> {
    /// The feasible action with the highest score and that score; of equals the earliest. `theta` is the active part of a
    /// draw, `table` holds a number per value, `row` one per value of the last component.
    pub(crate) fn best<T: Scalar>(
        &self,
        feasible: &ActionSet,
        theta: &[T],
        table: &mut [T],
        row: &mut [T],
    ) -> Option<(Action, T)> {
        self.tabulate(theta, table);
        let components = self.catalog.definition().components;
        let (last, earlier) = components.split_last()?;
        let (earlier_table, last_table) = table.split_at_checked(table.len().checked_sub(last.values.len())?)?;
        let spanning = self.defaults.is_none() && self.catalog.active_terms(self.context).any(spans_components);
        let mut best: Option<(Action, T)> = None;
        let mut digits = Values::new();
        digits.extend(earlier.iter().map(|_| 0));
        let mut first = 0_u16;
        loop {
            let mut prefix = T::ZERO;
            let mut rest = earlier_table;
            for (component, &digit) in earlier.iter().zip(&digits) {
                let (numbers, later) = rest.split_at_checked(component.values.len())?;
                prefix += *numbers.get(usize::from(digit))?;
                rest = later;
            }
            for (slot, value) in row.iter_mut().zip(last_table) {
                *slot = prefix + *value;
            }
            for block in self.catalog.product_blocks() {
                self.add_product(block, theta, &digits, earlier.len(), row);
            }
            if spanning {
                self.add_spanning(&digits, row);
            }
            for (action, slot) in (first..).map(Action).zip(row.iter()) {
                let mut score = *slot;
                if !feasible.contains(action) {
                    continue;
                }
                if let Some(default) = self.defaults.and_then(|defaults| defaults.get(action.index())) {
                    score += T::from_f64(*default);
                }
                if best.is_none_or(|(_, highest)| score > highest) {
                    best = Some((action, score));
                }
            }
            first = first.checked_add(u16::try_from(last.values.len()).ok()?)?;
            if !advance(&mut digits, earlier.iter().map(|component| component.values.len())) {
                return best;
            }
        }
    }

    /// One number per value: reference and one-component blocks.
    fn tabulate<T: Scalar>(&self, theta: &[T], table: &mut [T]) {
        let components = self.catalog.definition().components;
        let mut rest = &mut *table;
        for (index, component) in components.iter().enumerate() {
            let Some((numbers, later)) = rest.split_at_mut_checked(component.values.len()) else { return };
            for (number, value) in numbers.iter_mut().zip(component.values) {
                *number = T::from_f64(-self.cost_weight * value.cost);
            }
            if self.defaults.is_none() {
                for term in self.catalog.active_terms(self.context).filter(|term| !spans_components(term)) {
                    for part in term.applies.iter().filter(|part| usize::from(part.component) == index) {
                        for &value in part.values {
                            if let Some(number) = numbers.get_mut(usize::from(value)) {
                                *number += T::from_f64(term.weight);
                            }
                        }
                    }
                }
            }
            for block in self.catalog.single_blocks().iter().filter(|block| block.has(index)) {
                if let Some((entries, factor)) = self.entries(block, theta) {
                    let null = component.null.filter(|_| block.without_null).map(usize::from);
                    let coordinates = numbers.iter_mut().enumerate().filter(|(value, _)| Some(*value) != null);
                    for ((_, number), entry) in coordinates.zip(entries) {
                        *number += factor * *entry;
                    }
                }
            }
            rest = later;
        }
    }

    /// The coordinates of a block in the active part and the factor they are scaled with.
    fn entries<'t, T: Scalar>(&self, block: &Placed, theta: &'t [T]) -> Option<(&'t [T], T)> {
        let arrow = self.catalog.arrow();
        let start = if block.per_task {
            arrow.leaf_of(self.context.task())?;
            usize::from(block.offset)
        } else {
            usize::from(arrow.leaf) + usize::from(block.offset)
        };
        let factor = match block.signal {
            Some(signal) => T::from_f32(self.context.signal(usize::from(signal))?),
            None => T::ONE,
        };
        Some((theta.get(start..start + usize::from(block.size))?, factor))
    }

    /// Adds a block of several components to a row.
    fn add_product<T: Scalar>(&self, block: &Placed, theta: &[T], digits: &[u8], last: usize, row: &mut [T]) {
        let (Some((entries, factor)), Some(position)) = (self.entries(block, theta), self.catalog.position(block, digits)) else {
            return;
        };
        if block.has(last) {
            let radix = self.catalog.radix(block, last);
            let null = self.catalog.definition().components.get(last).and_then(|component| component.null);
            let skip = null.filter(|_| block.without_null).map(usize::from);
            let entries = entries.get(position * radix..).unwrap_or(&[]);
            match skip {
                None => {
                    for (slot, entry) in row.iter_mut().zip(entries) {
                        *slot += factor * *entry;
                    }
                }
                Some(null) => {
                    for ((_, slot), entry) in row.iter_mut().enumerate().filter(|(value, _)| *value != null).zip(entries) {
                        *slot += factor * *entry;
                    }
                }
            }
        } else if let Some(entry) = entries.get(position) {
            for slot in row {
                *slot += factor * *entry;
            }
        }
    }

    /// Adds the terms that span several components to a row.
    fn add_spanning<T: Scalar>(&self, digits: &Values, row: &mut [T]) {
        for (value, slot) in (0_u8..=u8::MAX).zip(row) {
            let mut values = digits.clone();
            if values.push(value).is_err() {
                return;
            }
            for term in self.catalog.active_terms(self.context) {
                if spans_components(term) && term.meets(&values) {
                    *slot += T::from_f64(term.weight);
                }
            }
        }
    }
}

/// Steps an odometer whose last digit runs fastest; false when it comes round.
fn advance(digits: &mut [u8], radices: impl DoubleEndedIterator<Item = usize> + ExactSizeIterator) -> bool {
    for (digit, radix) in digits.iter_mut().rev().zip(radices.rev()) {
        if usize::from(*digit) + 1 < radix {
            *digit += 1;
            return true;
        }
        *digit = 0;
    }
    false
}
