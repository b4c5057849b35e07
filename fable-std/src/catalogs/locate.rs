//! Where in a file a refusal of core comes from.
//!
//! [`Catalog::try_new`] says what is wrong, not where. The definition is therefore built up again item by item, in the order
//! in which core checks, and the first item with which core gives that same reason is the one to blame. No rule is written twice.

use super::document::{ContrastTable, Document, Item, RuleTable, TermTable};
use crate::toml_file::{Blame, Flaw};
use fable_core::Catalog;
use fable_core::catalog::{Block, CatalogError, Component, Definition, MAX_VALUES, Value};
use std::ops::Range;
use toml::Spanned;

const BASE_VALUES: &[Value<'static>] = &[Value::new("base", "", 0.0)];

/// The smallest sound catalog, to which items are added.
const BASE: Definition<'static> = Definition {
    name: "base",
    components: &[Component::new("base", BASE_VALUES)],
    blocks: &[Block::main(0)],
    ..Definition::EMPTY
};

/// An item of a definition by its position.
enum Spot {
    Catalog,
    Task(usize),
    Signal(usize),
    Component(usize),
    Value(usize, usize),
    Blocks,
    Block(usize),
    Term(usize),
    Contrast(usize),
    Rule(usize),
}

/// The refusal with the place it comes from.
pub(super) fn blame(document: &Document, definition: &Definition<'_>, error: CatalogError) -> Blame {
    let spot = Search { definition, error }.spot().unwrap_or(Spot::Catalog);
    let at =
        place(document, &spot, error).or_else(|| document.name.as_ref().map(Spanned::span)).unwrap_or(0..0);
    Blame::new(at, Flaw::Catalog { error, advice: advice(definition, &spot, error) })
}

struct Search<'d, 'a> {
    definition: &'d Definition<'a>,
    error: CatalogError,
}

impl<'a> Search<'_, 'a> {
    /// Whether core refuses a definition for the reason that is looked for.
    fn refused(&self, definition: Definition<'_>) -> bool {
        Catalog::try_new(definition).err() == Some(self.error)
    }

    /// The position of the first item of a list with which core refuses.
    fn first<T>(&self, list: &'a [T], with: impl Fn(&'a [T]) -> Definition<'a>) -> Option<usize> {
        (1..=list.len()).find(|&count| self.refused(with(first(list, count)))).map(|count| count - 1)
    }

    fn spot(&self) -> Option<Spot> {
        let Definition { name, components, tasks, signals, blocks, terms, contrasts, rules } =
            *self.definition;
        if components.is_empty() || self.refused(Definition { name, ..BASE }) {
            return Some(Spot::Catalog);
        }
        let sound = Definition { name, components, tasks, signals, ..BASE };
        let empty =
            || (blocks.is_empty() && self.refused(Definition { blocks, ..sound })).then_some(Spot::Blocks);
        None.or_else(|| self.first(tasks, |tasks| Definition { tasks, ..BASE }).map(Spot::Task))
            .or_else(|| self.first(signals, |signals| Definition { signals, ..BASE }).map(Spot::Signal))
            .or_else(|| {
                self.first(components, |components| Definition { components, ..BASE })
                    .map(|index| self.inside(index))
            })
            .or_else(empty)
            .or_else(|| self.first(blocks, |blocks| Definition { blocks, ..sound }).map(Spot::Block))
            .or_else(|| self.first(terms, |terms| Definition { terms, ..sound }).map(Spot::Term))
            .or_else(|| {
                self.first(contrasts, |contrasts| Definition { contrasts, ..sound }).map(Spot::Contrast)
            })
            .or_else(|| self.first(rules, |rules| Definition { rules, ..sound }).map(Spot::Rule))
    }

    /// The value of a refused component that is to blame, or the component itself.
    fn inside(&self, index: usize) -> Spot {
        let components = first(self.definition.components, index + 1);
        let Some((component, before)) = components.split_last() else { return Spot::Component(index) };
        let renamed = [before, &[Component::new(component.name, BASE_VALUES)]].concat();
        if self.refused(Definition { components: &renamed, ..BASE }) {
            return Spot::Component(index); // its name
        }
        let alone =
            |values| self.refused(Definition { components: &[Component::new("alone", values)], ..BASE });
        let value =
            (1..=component.values.len().min(MAX_VALUES)).find(|&count| alone(first(component.values, count)));
        value.map_or(Spot::Component(index), |count| Spot::Value(index, count - 1))
    }
}

fn first<T>(list: &[T], count: usize) -> &[T] {
    list.get(..count).unwrap_or(list)
}

/// The bytes of the item, or of the part of it that the refusal is about.
fn place(document: &Document, spot: &Spot, error: CatalogError) -> Option<Range<usize>> {
    Some(match *spot {
        Spot::Catalog => document.name.as_ref()?.span(),
        Spot::Task(index) => document.tasks.get(index)?.span(),
        Spot::Signal(index) => document.signals.get(index)?.span(),
        Spot::Component(index) => document.components.get(index)?.name.span(),
        Spot::Value(component, index) => {
            let value = document.components.get(component)?.values.get(index)?;
            let cost = value.cost.as_ref().filter(|_| error == CatalogError::BadCost);
            cost.map_or(value.name.span(), Spanned::span)
        }
        Spot::Blocks => document.dictionary.as_ref()?.blocks.span(),
        Spot::Block(index) => document.dictionary.as_ref()?.blocks.get_ref().get(index)?.span(),
        Spot::Term(index) => term_place(document.terms.get(index)?, error),
        Spot::Contrast(index) => contrast_place(document.contrasts.get(index)?, error),
        Spot::Rule(index) => rule_place(document.rules.get(index)?, error),
    })
}

fn term_place(term: &TermTable, error: CatalogError) -> Range<usize> {
    match error {
        CatalogError::TermValues => term.any_of.span(),
        CatalogError::BadThreshold | CatalogError::TermCondition => {
            term.when.as_ref().and_then(wrong_number).unwrap_or(term.weight.span())
        }
        _ => term.weight.span(),
    }
}

fn contrast_place(contrast: &ContrastTable, error: CatalogError) -> Range<usize> {
    match error {
        CatalogError::ContrastActions => contrast.over.span(),
        CatalogError::ContrastContext => {
            contrast.context.as_ref().and_then(wrong_number).unwrap_or(contrast.name.span())
        }
        _ => contrast.name.span(),
    }
}

fn rule_place(rule: &RuleTable, error: CatalogError) -> Range<usize> {
    let pattern = || rule.pattern().map_or(rule.name.span(), |(_, item)| item.span());
    match error {
        CatalogError::RuleValues | CatalogError::RuleLeavesNothing => pattern(),
        CatalogError::BadThreshold | CatalogError::RuleCondition => {
            rule.when.as_ref().and_then(wrong_number).unwrap_or(rule.name.span())
        }
        _ => rule.name.span(),
    }
}

/// The first number that is not a signal.
fn wrong_number(item: &Spanned<Item>) -> Option<Range<usize>> {
    match item.get_ref() {
        Item::Number(number) => (!(0.0..=1.0).contains(number)).then(|| item.span()),
        Item::Table(entries) => entries.iter().find_map(|(_, item)| wrong_number(item)),
        Item::Text(_) | Item::List(_) => None,
    }
}

/// What to do about it, where the refusal itself does not say.
fn advice(definition: &Definition<'_>, spot: &Spot, error: CatalogError) -> String {
    let again =
        |name: Option<&str>| name.map_or_else(String::new, |name| format!("'{name}' is taken already"));
    match (error, spot) {
        (CatalogError::ComponentCount, Spot::Catalog) => "write [[components]] with a name and values".into(),
        (CatalogError::ActionCount, Spot::Component(index)) => {
            let counts =
                first(definition.components, index + 1).iter().map(|component| component.values.len());
            format!("with this component there are {}", counts.fold(1, usize::saturating_mul))
        }
        (CatalogError::DimensionTooLarge, _) => {
            "this block is too much; leave it out, or take values or tasks away".into()
        }
        (CatalogError::DuplicateName, Spot::Task(index)) => again(definition.tasks.get(*index).copied()),
        (CatalogError::DuplicateName, Spot::Signal(index)) => again(definition.signals.get(*index).copied()),
        (CatalogError::DuplicateName, Spot::Component(index)) => {
            again(definition.components.get(*index).map(|own| own.name))
        }
        (CatalogError::DuplicateName, Spot::Value(component, index)) => {
            let values = definition.components.get(*component).map_or(&[][..], |component| component.values);
            again(values.get(*index).map(|value| value.name))
        }
        (CatalogError::DuplicateName, Spot::Contrast(index)) => {
            again(definition.contrasts.get(*index).map(|own| own.name))
        }
        (CatalogError::DuplicateName, Spot::Rule(index)) => {
            again(definition.rules.get(*index).map(|own| own.rule.name))
        }
        (CatalogError::BlockTask, _) => "write tasks = [\"...\"] at the top, or leave per_task out".into(),
        (CatalogError::BlockNull, _) => {
            "write null = \"...\" in the component, or leave without_null out".into()
        }
        (CatalogError::ContrastActions, _) => "this one compares a value with itself".into(),
        _ => String::new(),
    }
}
