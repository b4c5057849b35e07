//! From a [`Document`] to a [`Catalog`]: names become positions, and core checks the rest.
//!
//! Only names are looked up here, because core knows positions alone. Every rule about counts, ranges and duplicates is
//! [`Catalog::try_new`]'s, the same for constants and for files; [`locate`](super::locate) finds where its refusal comes from.

use super::document::{
    BlockTable, ContrastTable, Document, Item, Name, RuleTable, TermTable, names, number, one_name, table,
};
use super::{locate, tools};
use crate::toml_file::{Blame, Flaw, Mistake, Source};
use bumpalo::Bump;
use fable_core::catalog::{
    Block, Component, Condition, Contrast, Definition, Part, StandingRule, Term, Value,
};
use fable_core::{Catalog, Rule};
use toml::Spanned;

/// Stands for every component in a block.
pub(super) const EVERY: &str = "*";
/// Blocks that every catalog could have.
const ANY_BLOCKS: &[Block] = &[Block::main(0)];
/// The comparisons of a condition.
pub(super) const COMPARISONS: [&str; 4] = ["above", "at_least", "at_most", "below"];

/// Reads a catalog from the text of a TOML file; what it holds lives in the arena. See the [module](super) for the format.
///
/// `file` is what mistakes call the file.
///
/// # Errors
/// The first mistake found, with its place.
pub fn read<'a>(arena: &'a Bump, file: &str, text: &str) -> Result<Catalog<'a>, Mistake> {
    let source = Source { file, text };
    let document = Document::parse(source)?;
    catalog(arena, &document).map_err(|blame| source.mistake(blame))
}

fn catalog<'a>(arena: &'a Bump, document: &Document) -> Result<Catalog<'a>, Blame> {
    let Some(name) = &document.name else {
        return Err(Blame::form(0..0, "a catalog needs a name; write name = \"...\" at the top"));
    };
    let Some(dictionary) = &document.dictionary else {
        let text = "a catalog needs a dictionary; write [dictionary] and below it blocks = [{ of = \"...\" }], with a component";
        return Err(Blame::form(name.span(), text));
    };
    let reader = Reader {
        arena,
        components: components(arena, document)?,
        tasks: Names::new(arena, "there is no task", &document.tasks),
        signals: Names::new(arena, "there is no signal", &document.signals),
    };
    let nouns = Definition {
        name: arena.alloc_str(name.get_ref()),
        components: reader.components,
        tasks: reader.tasks.names,
        signals: reader.signals.names,
        blocks: ANY_BLOCKS,
        ..Definition::EMPTY
    };
    // Names that are unsound themselves are told before those that are not found among them.
    Catalog::try_new(nouns).map_err(|error| locate::blame(document, &nouns, error))?;
    let definition = Definition {
        blocks: reader.each(dictionary.blocks.get_ref(), |block| reader.block(block.get_ref()))?,
        terms: reader.each(&document.terms, |term| reader.term(term))?,
        contrasts: reader.each(&document.contrasts, |contrast| reader.contrast(contrast))?,
        rules: reader.each(&document.rules, |rule| reader.rule(rule))?,
        ..nouns
    };
    let catalog =
        Catalog::try_new(definition).map_err(|error| locate::blame(document, &definition, error))?;
    tools::rows(document, &catalog)?; // now, not when somebody asks for them
    Ok(catalog)
}

fn components<'a>(arena: &'a Bump, document: &Document) -> Result<&'a [Component<'a>], Blame> {
    let mut list = Vec::new();
    for component in &document.components {
        let values = component.values.iter().map(|value| Value {
            name: arena.alloc_str(value.name.get_ref()),
            instruction: arena.alloc_str(&value.instruction),
            cost: value.cost.as_ref().map_or(0.0, |cost| *cost.get_ref()),
        });
        let made =
            Component::new(arena.alloc_str(component.name.get_ref()), arena.alloc_slice_fill_iter(values));
        let null = component.null.as_ref().map(|null| value(&made, null)).transpose()?;
        list.push(Component { null, ..made });
    }
    Ok(arena.alloc_slice_copy(&list))
}

/// Names of one kind in catalog order.
struct Names<'a> {
    lack: &'static str,
    names: &'a [&'a str],
}

impl<'a> Names<'a> {
    fn new(arena: &'a Bump, lack: &'static str, names: &[Name]) -> Self {
        Self {
            lack,
            names: arena.alloc_slice_fill_iter(names.iter().map(|name| &*arena.alloc_str(name.get_ref()))),
        }
    }

    fn find(&self, name: &Name) -> Result<u8, Blame> {
        find(self.lack, name, self.names.iter().copied())
    }
}

/// The position of a name.
fn find<'n>(lack: &str, name: &Name, names: impl Iterator<Item = &'n str> + Clone) -> Result<u8, Blame> {
    match names.clone().position(|known| known == name.get_ref()) {
        // Core refuses lists that are too long for a byte before it looks at any position.
        Some(position) => Ok(u8::try_from(position).unwrap_or(u8::MAX)),
        None => Err(unknown(lack, name, names)),
    }
}

fn unknown<'n>(lack: &str, name: &Name, known: impl Iterator<Item = &'n str>) -> Blame {
    Blame::new(name.span(), Flaw::unknown(lack, name.get_ref(), known))
}

fn value(component: &Component<'_>, name: &Name) -> Result<u8, Blame> {
    find(&format!("'{}' has no value", component.name), name, component.values.iter().map(|value| value.name))
}

/// The positions of one or several names, none of them twice.
fn distinct(item: &Spanned<Item>, find: impl Fn(&Name) -> Result<u8, Blame>) -> Result<Vec<u8>, Blame> {
    let mut positions = Vec::new();
    for name in names(item)? {
        let position = find(&name)?;
        if positions.contains(&position) {
            return Err(Blame::form(name.span(), format!("'{}' is named twice", name.get_ref())));
        }
        positions.push(position);
    }
    Ok(positions)
}

struct Reader<'a> {
    arena: &'a Bump,
    components: &'a [Component<'a>],
    tasks: Names<'a>,
    signals: Names<'a>,
}

impl<'a> Reader<'a> {
    fn each<I, T: Copy>(&self, items: &[I], make: impl Fn(&I) -> Result<T, Blame>) -> Result<&'a [T], Blame> {
        let list: Vec<T> = items.iter().map(make).collect::<Result<_, _>>()?;
        Ok(self.arena.alloc_slice_copy(&list))
    }

    fn component(&self, name: &Name) -> Result<(u8, &'a Component<'a>), Blame> {
        let position =
            find("there is no component", name, self.components.iter().map(|component| component.name))?;
        let found = self.components.get(usize::from(position)).map(|component| (position, component));
        found.ok_or_else(|| unknown("there is no component", name, [].into_iter()))
    }

    fn block(&self, block: &BlockTable) -> Result<Block, Blame> {
        let mut made = if matches!(block.of.get_ref(), Item::Text(text) if text == EVERY) {
            Block::complete()
        } else {
            Block::product(&distinct(&block.of, |name| Ok(self.component(name)?.0))?)
        };
        if let Some(signal) = &block.scaled_by {
            made = made.scaled_by(self.signals.find(signal)?);
        }
        if block.per_task {
            made = made.per_task();
        }
        Ok(if block.without_null { made.without_null() } else { made })
    }

    fn term(&self, term: &TermTable) -> Result<Term<'a>, Blame> {
        let when = term.when.as_ref().map_or(Ok(Condition::Always), |when| self.condition(when, "term"))?;
        Ok(Term::new(*term.weight.get_ref(), when, self.parts(&term.any_of)?))
    }

    fn parts(&self, item: &Spanned<Item>) -> Result<&'a [Part<'a>], Blame> {
        self.each(table(item, "{ style = [\"direct\", \"concise\"] }")?, |(name, item)| {
            let (position, component) = self.component(name)?;
            let values = distinct(item, |name| value(component, name))?;
            Ok(Part::new(position, self.arena.alloc_slice_copy(&values)))
        })
    }

    fn rule(&self, rule: &RuleTable) -> Result<StandingRule<'a>, Blame> {
        let when = rule.when.as_ref().map_or(Ok(Condition::Always), |when| self.condition(when, "rule"))?;
        let Some((effect, item)) = rule.pattern() else {
            let text =
                "a rule has one of 'forbid', 'require' and 'only', like forbid = { style = \"direct\" }";
            return Err(Blame::form(rule.name.span(), text));
        };
        let name = self.arena.alloc_str(rule.name.get_ref());
        Ok(Rule { name, effect, pattern: self.parts(item)? }.when(when))
    }

    fn condition(&self, when: &Spanned<Item>, of: &str) -> Result<Condition<'a>, Blame> {
        const EXAMPLE: &str = "{ risk.above = 0.6 } or { task = \"coding\" }";
        let [(name, item)] = table(when, EXAMPLE)? else {
            let text =
                format!("a {of} has one condition, like {EXAMPLE}; write another {of} for another condition");
            return Err(Blame::form(when.span(), text));
        };
        if name.get_ref() == "task" {
            return Ok(Condition::Tasks(self.each(&names(item)?, |name| self.tasks.find(name))?));
        }
        let signal = self.signals.find(name)?;
        let [(comparison, threshold)] = table(item, "{ above = 0.6 }")? else {
            return Err(Blame::form(
                item.span(),
                format!("a condition is one of {}", COMPARISONS.join(", ")),
            ));
        };
        let level = number(threshold)? as f32;
        match comparison.get_ref().as_str() {
            "above" => Ok(Condition::Above(signal, level)),
            "at_least" => Ok(Condition::AtLeast(signal, level)),
            "at_most" => Ok(Condition::AtMost(signal, level)),
            "below" => Ok(Condition::Below(signal, level)),
            _ => Err(unknown("there is no comparison", comparison, COMPARISONS.into_iter())),
        }
    }

    fn contrast(&self, contrast: &ContrastTable) -> Result<Contrast<'a>, Blame> {
        let (component, prefer) = self.side(&contrast.prefer)?;
        let (other, over) = self.side(&contrast.over)?;
        if component != other {
            let text = "'prefer' and 'over' must name the same component; what both actions share belongs into 'with'";
            return Err(Blame::form(contrast.over.span(), text));
        }
        let (prefer, over) = self.actions(contrast, component, prefer, over)?;
        let (task, signals) = self.context(contrast)?;
        let name = self.arena.alloc_str(contrast.name.get_ref());
        let says = |text: &str| &*self.arena.alloc_str(text);
        Ok(Contrast::new(name, prefer, over)
            .when(task, signals)
            .says(says(&contrast.positive), says(&contrast.negative)))
    }

    /// The component and value on one side of a contrast.
    fn side(&self, side: &Spanned<Item>) -> Result<(u8, u8), Blame> {
        const EXAMPLE: &str = "{ style = \"concise\" }";
        let [(name, item)] = table(side, EXAMPLE)? else {
            let text = format!(
                "a contrast compares two values of one component; write one, like {EXAMPLE}, and the rest into 'with'"
            );
            return Err(Blame::form(side.span(), text));
        };
        let (position, component) = self.component(name)?;
        Ok((position, value(component, &one_name(item)?)?))
    }

    /// The two complete actions: `with`, and one value that differs.
    fn actions(
        &self,
        contrast: &ContrastTable,
        differs: u8,
        prefer: u8,
        over: u8,
    ) -> Result<(&'a [u8], &'a [u8]), Blame> {
        let with =
            contrast.with.as_ref().map_or(Ok(&[][..]), |with| table(with, "{ tool = \"no_tool\" }"))?;
        for (name, _) in with {
            let (position, _) = self.component(name)?;
            if position == differs {
                let text =
                    format!("'with' is what both actions share, but they differ in '{}'", name.get_ref());
                return Err(Blame::form(name.span(), text));
            }
        }
        let place = contrast.with.as_ref().map_or(contrast.name.span(), Spanned::span);
        let mut shared = Vec::new();
        for (position, component) in self.components.iter().enumerate() {
            let said = with.iter().find(|(name, _)| name.get_ref() == component.name);
            shared.push(match said {
                _ if position == usize::from(differs) => over,
                Some((_, item)) => value(component, &one_name(item)?)?,
                None => {
                    let first = component.values.first().map_or("...", |value| value.name);
                    let (name, text) = (component.name, "the two actions are not complete; write the");
                    return Err(Blame::form(
                        place,
                        format!("{text} {name} of both into 'with': with.{name} = \"{first}\""),
                    ));
                }
            });
        }
        let over = self.arena.alloc_slice_copy(&shared);
        if let Some(value) = shared.get_mut(usize::from(differs)) {
            *value = prefer;
        }
        Ok((self.arena.alloc_slice_copy(&shared), over))
    }

    /// Task and signals of a contrast's context.
    fn context(&self, contrast: &ContrastTable) -> Result<(Option<u8>, &'a [f32]), Blame> {
        const EXAMPLE: &str = "{ task = \"coding\", risk = 0.1 }";
        let entries = contrast.context.as_ref().map_or(Ok(&[][..]), |context| table(context, EXAMPLE))?;
        let mut task = None;
        for (name, item) in entries {
            if name.get_ref() == "task" {
                task = Some(self.tasks.find(&one_name(item)?)?);
            } else {
                self.signals.find(name)?;
            }
        }
        let place = contrast.context.as_ref().map_or(contrast.name.span(), Spanned::span);
        let levels = self.each(self.signals.names, |signal| {
            let said = entries.iter().find(|(name, _)| name.get_ref() == signal);
            let missing =
                || format!("a context has every signal; write how high '{signal}' is, from 0 to 1: context.{signal} = 0.1");
            let (_, level) = said.ok_or_else(|| Blame::form(place.clone(), missing()))?;
            Ok(number(level)? as f32)
        })?;
        Ok((task, levels))
    }
}
