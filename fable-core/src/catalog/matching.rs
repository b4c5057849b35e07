//! Matching parts of two catalogs: by name, or by a [`Rename`].
//!
//! A coordinate has no name: it is a block with a task, a signal and values, and is the same where all of
//! them are. So blocks need no names and any order will do, and a component can get values in the middle.
//! Nothing is stored here. Looking a part up takes no memory and a few comparisons of names.

use super::{Action, ActionSet, Catalog, Context, Definition, MAX_COMPONENTS, MAX_SIGNALS, Placed, Values};

/// A part with another name in the new catalog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Rename<'a> {
    /// Its kind.
    pub kind: RenameKind,
    /// Its name in the old catalog. For a value this is `component=value`, both with old names.
    pub from: &'a str,
    /// Its name in the new catalog. For a value this is `component=value`, both with new names.
    pub to: &'a str,
}

/// The kinds of parts that can be renamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum RenameKind {
    /// A component. Its values keep their names.
    Component,
    /// A value, given as `component=value`.
    Value,
    /// A task.
    Task,
    /// A signal.
    Signal,
    /// A declared contrast.
    Contrast,
}

impl<'a> Rename<'a> {
    /// A renamed component.
    #[must_use]
    pub const fn component(from: &'a str, to: &'a str) -> Self {
        Self { kind: RenameKind::Component, from, to }
    }

    /// A renamed value, with both names as `component=value`.
    #[must_use]
    pub const fn value(from: &'a str, to: &'a str) -> Self {
        Self { kind: RenameKind::Value, from, to }
    }

    /// A renamed task.
    #[must_use]
    pub const fn task(from: &'a str, to: &'a str) -> Self {
        Self { kind: RenameKind::Task, from, to }
    }

    /// A renamed signal.
    #[must_use]
    pub const fn signal(from: &'a str, to: &'a str) -> Self {
        Self { kind: RenameKind::Signal, from, to }
    }

    /// A renamed contrast.
    #[must_use]
    pub const fn contrast(from: &'a str, to: &'a str) -> Self {
        Self { kind: RenameKind::Contrast, from, to }
    }

    /// True if both names exist, and a value stays in its component.
    fn is_known(&self, old: &Matching<'_>) -> bool {
        let (from, to) = (old.from.definition(), old.to.definition());
        match self.kind {
            RenameKind::Component => {
                old.from.component(self.from).is_some() && old.to.component(self.to).is_some()
            }
            RenameKind::Task => from.tasks.contains(&self.from) && to.tasks.contains(&self.to),
            RenameKind::Signal => from.signals.contains(&self.from) && to.signals.contains(&self.to),
            RenameKind::Contrast => {
                old.from.contrast(self.from).is_some() && old.to.contrast(self.to).is_some()
            }
            RenameKind::Value => {
                let find = |catalog: &Catalog<'_>, name: &str| {
                    let (component, value) = split(name)?;
                    let component = catalog.component(component)?;
                    catalog.value(component, value).map(|_| component)
                };
                match (find(old.from, self.from), find(old.to, self.to)) {
                    (Some(from), Some(to)) => old.component(from) == Some(to),
                    _ => false,
                }
            }
        }
    }
}

/// The component and the value of a name `component=value`.
fn split(name: &str) -> Option<(&str, &str)> {
    let at = name.bytes().position(|byte| byte == b'=')?;
    Some((name.get(..at)?, name.get(at + 1..)?))
}

/// A direction between two catalogs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Matching<'m> {
    from: &'m Catalog<'m>,
    to: &'m Catalog<'m>,
    renames: &'m [Rename<'m>],
    /// True for the direction from the new catalog to the old one.
    back: bool,
}

impl<'m> Matching<'m> {
    /// The matchings from the old catalog to the new one and back, or the index of the first wrong rename.
    pub(crate) fn both(
        old: &'m Catalog<'m>,
        new: &'m Catalog<'m>,
        renames: &'m [Rename<'m>],
    ) -> Result<[Self; 2], usize> {
        let forward = Self { from: old, to: new, renames, back: false };
        for (index, rename) in renames.iter().enumerate() {
            let earlier = renames.iter().take(index).filter(|other| other.kind == rename.kind);
            let again = earlier.clone().any(|other| other.from == rename.from || other.to == rename.to);
            if again || !rename.is_known(&forward) {
                return Err(index);
            }
        }
        Ok([forward, Self { from: new, to: old, renames, back: true }])
    }

    /// The definition of this side.
    pub(super) const fn definition(&self) -> &'m Definition<'m> {
        self.from.definition()
    }

    /// Renamed parts of one kind: name on this side, name on the other side.
    fn renamed(&self, kind: RenameKind) -> impl Iterator<Item = (&'m str, &'m str)> {
        let back = self.back;
        let pair =
            move |rename: &Rename<'m>| if back { (rename.to, rename.from) } else { (rename.from, rename.to) };
        self.renames.iter().filter(move |rename| rename.kind == kind).map(pair)
    }

    /// The name of a part on the other side; `None` if another part has its name there.
    fn name(&self, kind: RenameKind, name: &'m str) -> Option<&'m str> {
        match self.renamed(kind).find(|(from, _)| *from == name) {
            Some((_, to)) => Some(to),
            None if self.renamed(kind).any(|(_, to)| to == name) => None,
            None => Some(name),
        }
    }

    /// The component on the other side.
    #[inline(never)]
    pub(crate) fn component(&self, component: usize) -> Option<usize> {
        let own = self.from.definition().components.get(component)?;
        self.to.component(self.name(RenameKind::Component, own.name)?)
    }

    /// The value on the other side.
    #[inline(never)]
    pub(crate) fn value(&self, component: usize, value: u8) -> Option<u8> {
        let other = self.component(component)?;
        let own = self.from.definition().components.get(component)?;
        let (own, name) = (own.name, own.values.get(usize::from(value))?.name);
        let there = self.to.definition().components.get(other)?.name;
        let is = |text: &str, component: &str| split(text) == Some((component, name));
        let name = match self.renamed(RenameKind::Value).find(|(from, _)| is(from, own)) {
            Some((_, to)) => split(to)?.1,
            None if self.renamed(RenameKind::Value).any(|(_, to)| is(to, there)) => return None,
            None => name,
        };
        self.to.value(other, name)
    }

    /// The task on the other side.
    pub(crate) fn task(&self, task: usize) -> Option<usize> {
        let name = self.name(RenameKind::Task, self.from.definition().tasks.get(task)?)?;
        self.to.definition().tasks.iter().position(|task| *task == name)
    }

    /// The signal on the other side.
    pub(crate) fn signal(&self, signal: usize) -> Option<usize> {
        let name = self.name(RenameKind::Signal, self.from.definition().signals.get(signal)?)?;
        self.to.definition().signals.iter().position(|signal| *signal == name)
    }

    /// The declared contrast on the other side with the same name, values and context.
    #[inline(never)]
    pub(crate) fn contrast(&self, contrast: usize) -> Option<usize> {
        let own = self.from.contrasts().get(contrast)?;
        let index = self.to.contrast(self.name(RenameKind::Contrast, own.name)?)?;
        let other = self.to.contrasts().get(index)?;
        if own.task.map(|task| self.task(usize::from(task))) != other.task.map(|task| Some(usize::from(task)))
        {
            return None;
        }
        // A signal of one catalog alone must not restrict the contexts of the contrast.
        let same_signal = |(signal, level): (usize, &f32)| match self.signal(signal) {
            Some(there) => other.signals.get(there) == Some(level),
            None => *level <= 0.5,
        };
        let unknown = |signal: usize| (0..own.signals.len()).all(|own| self.signal(own) != Some(signal));
        let added = |(signal, level): (usize, &f32)| *level <= 0.5 || !unknown(signal);
        let same =
            own.signals.iter().enumerate().all(same_signal) && other.signals.iter().enumerate().all(added);
        let same_values = |own: &[u8], other: &[u8]| {
            own.iter().enumerate().all(|(component, value)| match self.component(component) {
                Some(there) => self.value(component, *value).as_ref() == other.get(there),
                None => true,
            })
        };
        let same = same && same_values(own.prefer, other.prefer) && same_values(own.over, other.over);
        (same && own.component().and_then(|component| self.component(component)) == other.component())
            .then_some(index)
    }

    /// The coordinate on the other side, by its index in a leaf or in the root.
    #[inline(never)]
    pub(crate) fn place(&self, per_task: bool, inside: usize) -> Option<usize> {
        let (block, values) = self.from.coordinate_parts(per_task, inside)?;
        let mut mask = 0;
        let mut there = [0; MAX_COMPONENTS];
        for (component, value) in values.iter().enumerate().filter(|(component, _)| block.has(*component)) {
            let other = self.component(component)?;
            *there.get_mut(other)? = self.value(component, *value)?;
            mask |= 1 << other;
        }
        let signal = match block.signal {
            Some(signal) => Some(u8::try_from(self.signal(usize::from(signal))?).ok()?),
            None => None,
        };
        let same =
            |other: &&Placed| other.per_task == per_task && other.mask == mask && other.signal == signal;
        let other = self.to.single_blocks().iter().chain(self.to.product_blocks()).find(same)?;
        let count = self.to.definition().components.len();
        Some(usize::from(other.offset) + self.to.position(other, there.get(..count)?)?)
    }

    /// True if the other side has all values of a coordinate.
    pub(crate) fn has_values(&self, per_task: bool, inside: usize) -> bool {
        let Some((block, values)) = self.from.coordinate_parts(per_task, inside) else { return false };
        let mut values = values.iter().enumerate().filter(|(component, _)| block.has(*component));
        values.all(|(component, value)| self.value(component, *value).is_some())
    }

    /// The action on the other side: its values, and the null values of components that this side does not
    /// have.
    #[inline(never)]
    pub(crate) fn action(&self, action: Action) -> Option<Action> {
        let values = self.from.values(action)?;
        let mut there = Values::new();
        for component in self.to.definition().components {
            there.push(component.null.unwrap_or(u8::MAX)).ok()?;
        }
        for (component, value) in values.iter().enumerate() {
            *there.get_mut(self.component(component)?)? = self.value(component, *value)?;
        }
        self.to.action(&there)
    }

    /// The actions of this side, the new one, that a set of the other side, the old one, permits: see
    /// [`Migration`](crate::migrate::Migration). A set that forbids nothing stays so, and a forbidden action
    /// stays forbidden.
    #[inline(never)]
    pub(crate) fn allowed(&self, set: &ActionSet) -> ActionSet {
        let (from, to) = (self.from, self.to);
        let mut kept = 0_u32;
        for component in 0..from.definition().components.len() {
            kept |= self.component(component).map_or(0, |old| 1 << old);
        }
        // Removed values that were feasible with no action do not forbid the others.
        let same_rest = |one: &[u8], other: &[u8]| {
            one.iter()
                .zip(other)
                .enumerate()
                .all(|(component, (one, other))| kept & 1 << component != 0 || one == other)
        };
        let all = |catalog: &Catalog<'_>| (0..).map(Action).take(catalog.actions());
        let mut forbidden = ActionSet::EMPTY;
        for action in all(to).filter(|action| !set.contains(*action)) {
            let values = to.values(action).unwrap_or_default();
            let mut others = all(to).filter(|other| set.contains(*other));
            if others.any(|other| same_rest(&values, &to.values(other).unwrap_or_default())) {
                forbidden.insert(action);
            }
        }
        let mut allowed = ActionSet::EMPTY;
        for action in all(from).filter(|_| !set.is_empty()) {
            if self.agrees_with_none(action, &forbidden) {
                allowed.insert(action);
            }
        }
        allowed
    }

    /// True if no action of a set on the other side has all common values of an action of this side.
    fn agrees_with_none(&self, action: Action, set: &ActionSet) -> bool {
        let components = self.to.definition().components;
        let (mut there, mut known) = ([0; MAX_COMPONENTS], 0_u32);
        for (component, value) in self.from.values(action).unwrap_or_default().iter().enumerate() {
            let other = self.component(component).unwrap_or(MAX_COMPONENTS);
            if let (Some(slot), Some(value)) = (there.get_mut(other), self.value(component, *value)) {
                *slot = value;
                known |= 1 << other;
            }
        }
        let there = there.get_mut(..components.len()).unwrap_or_default();
        loop {
            if self.to.action(there).is_some_and(|action| set.contains(action)) {
                return false;
            }
            // The next values of the components that this side does not have.
            let open = there
                .iter_mut()
                .zip(components)
                .enumerate()
                .filter(|(component, _)| known & 1 << component == 0);
            let mut next = open.map(|(_, (value, own))| {
                *value = if usize::from(*value) + 1 < own.values.len() { *value + 1 } else { 0 };
                *value > 0
            });
            if !next.any(|stepped| stepped) {
                return true;
            }
        }
    }

    /// The context on the other side: its task and signals. A signal that this side does not have is 0, so
    /// nothing is learned about it.
    #[inline(never)]
    pub(crate) fn context(&self, context: &Context) -> Option<Context> {
        let task = match context.task() {
            Some(task) => Some(self.task(task)?),
            None => None,
        };
        let mut signals = [0.0; MAX_SIGNALS];
        for (signal, level) in context.signals().iter().enumerate() {
            *signals.get_mut(self.signal(signal)?)? = *level;
        }
        Context::new(self.to, task, signals.get(..self.to.definition().signals.len())?).ok()
    }
}
