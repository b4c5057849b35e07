//! Parts of one of two catalogs alone, by name: the parts that a migration removes and adds.

use super::matching::{Matching, RenameKind};
use core::fmt;

/// A part of a catalog that the other catalog does not have. It is written as `component=value`, `task=name`,
/// or kind and name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct LonePart<'a> {
    /// Its kind.
    pub kind: RenameKind,
    /// The component, if the part is a value.
    pub component: Option<&'a str>,
    /// Name of the part.
    pub name: &'a str,
}

impl fmt::Display for LonePart<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let before = match self.kind {
            RenameKind::Component => "component ",
            RenameKind::Value => "=",
            RenameKind::Task => "task=",
            RenameKind::Signal => "signal ",
            RenameKind::Contrast => "contrast ",
        };
        write!(f, "{}{before}{}", self.component.unwrap_or_default(), self.name)
    }
}

impl<'m> Matching<'m> {
    /// The parts of this side alone. A component without any value on the other side is one part. A contrast
    /// counts if its actions or context differ on the other side.
    pub(crate) fn lone(&self) -> impl Iterator<Item = LonePart<'m>> + use<'m> {
        let (own, definition) = (*self, self.definition());
        let part = |kind, name| LonePart { kind, component: None, name };
        let components = definition.components.iter().enumerate();
        let gone = components.clone().filter(move |(at, _)| own.component(*at).is_none());
        let gone = gone.map(move |(_, component)| part(RenameKind::Component, component.name));
        let values = components.filter(move |(at, _)| own.component(*at).is_some()).flat_map(
            move |(at, component)| {
                let values = (0..=u8::MAX)
                    .zip(component.values)
                    .filter(move |(value, _)| own.value(at, *value).is_none());
                let component = Some(component.name);
                values.map(move |(_, value)| LonePart {
                    kind: RenameKind::Value,
                    component,
                    name: value.name,
                })
            },
        );
        let tasks = definition.tasks.iter().enumerate().filter(move |(at, _)| own.task(*at).is_none());
        let signals = definition.signals.iter().enumerate().filter(move |(at, _)| own.signal(*at).is_none());
        let contrasts =
            definition.contrasts.iter().enumerate().filter(move |(at, _)| own.contrast(*at).is_none());
        gone.chain(values)
            .chain(tasks.map(move |(_, name)| part(RenameKind::Task, name)))
            .chain(signals.map(move |(_, name)| part(RenameKind::Signal, name)))
            .chain(contrasts.map(move |(_, contrast)| part(RenameKind::Contrast, contrast.name)))
    }
}
