//! Variances of the scores of all feasible actions, from the rows of L^-1.

use super::Round;
use super::product::{Sum, add};
use crate::catalog::{Action, ActionSet, Placed, Values};
use crate::numbers::Number;
use crate::numbers::inverse::{self, Entries, ROWS};
use crate::numbers::lanes::Lanes;

impl Round<'_> {
    /// Adds E (w.phi)^2 to the variance of every feasible action, for some rows w of L^-1.
    ///
    /// Entries of the rows from `top` on are zero. `table` has one entry per value, and one more per value of
    /// the last component.
    #[cfg_attr(feature = "dispatch", inline(always))]
    pub(super) fn add_squares<T: Number, V: Lanes<T, ROWS>>(
        &self,
        v: V,
        (rows, top): (&[Entries<T>], usize),
        inverse: &Entries<T>,
        table: &mut [Entries<T>],
        feasible: &ActionSet,
        variances: &mut [T],
    ) {
        let components = self.catalog.definition().components;
        table.fill([T::ZERO; ROWS]);
        self.add_singles(v, rows, top, table);
        let (Some(start), Some(count)) = (self.starts.get(self.last), self.counts.get(self.last)) else {
            return;
        };
        let Some((table, run)) = table.split_at_mut_checked(start + count) else { return };
        let mut values = Values::new();
        let _ = values.resize(self.last, 0); // fewer than there are components
        let mut first = 0_u16;
        for variances in variances.chunks_exact_mut((*count).max(1)) {
            let actions = || (first..).take(*count).map(Action);
            if actions().any(|action| feasible.contains(action)) {
                for (slot, number) in run.iter_mut().zip(table.iter().skip(*start)) {
                    *slot = *number;
                }
                let mut shared = [T::ZERO; ROWS];
                for (start, value) in self.starts.iter().zip(&values) {
                    if let Some(number) = table.get(start + usize::from(*value)) {
                        shared.add(v, number);
                    }
                }
                for block in self.catalog.product_blocks() {
                    if let Some((entries, factor)) = self.entries(block, rows, top) {
                        self.add_run(v, block, &values, entries, factor, &mut shared, run);
                    }
                }
                for ((action, variance), own) in actions().zip(variances).zip(&mut *run) {
                    own.add(v, &shared);
                    if feasible.contains(action) {
                        *variance = inverse::add_squares(v, *variance, inverse, own);
                    }
                }
            }
            // The next combination of the components before the last.
            first = first.saturating_add(u16::try_from(*count).unwrap_or(u16::MAX));
            for (value, component) in values.iter_mut().zip(components).rev() {
                *value += 1;
                if usize::from(*value) < component.values.len() {
                    break;
                }
                *value = 0;
            }
        }
    }

    /// Adds a product block for given values of all components but the last: to the sum that their actions
    /// share, or to each.
    #[expect(clippy::too_many_arguments, reason = "a part of add_squares")]
    #[cfg_attr(feature = "dispatch", inline(always))]
    fn add_run<T: Number, V: Lanes<T, ROWS>>(
        &self,
        v: V,
        block: &Placed,
        values: &[u8],
        entries: &[Entries<T>],
        factor: T,
        shared: &mut Entries<T>,
        run: &mut [Entries<T>],
    ) {
        let Some(position) = self.catalog.position(block, values) else { return };
        if block.has(self.last) {
            let radix = self.catalog.radix(block, self.last);
            if let Some(entries) = entries.get(position * radix..(position + 1) * radix) {
                add(v, run, entries, factor, self.left_out(block, self.last));
            }
        } else if let Some(entry) = entries.get(position) {
            shared.add_scaled(v, factor, entry);
        }
    }
}
