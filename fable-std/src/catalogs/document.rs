//! A catalog file as it is written: what serde makes of the TOML, with the place of everything in the text.
//!
//! Tables with fixed keys are derived. Where the keys are the catalog's own names (`any_of.style`, `context.risk`) an
//! [`Item`] holds what is there, and the reader looks the names up.

use crate::settings::SettingsArguments;
use crate::toml_file::{Blame, Flaw, Mistake, Source};
use clap::Args;
use fable_core::catalog::Effect;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;
use toml::Spanned;

pub(crate) type Name = Spanned<String>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Document {
    pub(crate) name: Option<Name>,
    #[serde(default)]
    pub(crate) tasks: Vec<Name>,
    #[serde(default)]
    pub(crate) signals: Vec<Name>,
    #[serde(default)]
    pub(crate) components: Vec<ComponentTable>,
    pub(crate) dictionary: Option<DictionaryTable>,
    #[serde(default)]
    pub(crate) terms: Vec<TermTable>,
    #[serde(default)]
    pub(crate) contrasts: Vec<ContrastTable>,
    pub(crate) tools: Option<Spanned<Item>>,
    #[serde(default)]
    pub(crate) rules: Vec<RuleTable>,
    pub(crate) settings: Option<SettingsArguments>,
}

impl Document {
    pub(crate) fn parse(source: Source<'_>) -> Result<Self, Mistake> {
        source.parse().map_err(|mut mistake: Mistake| {
            // A setting at the top of a file only lacks its head. Clap knows the names of the settings.
            let settings = SettingsArguments::augment_args(clap::Command::new("settings"));
            if let Flaw::Unknown { name, known, .. } = &*mistake.flaw
                && known.iter().any(|key| key == "settings")
                && settings.get_arguments().any(|setting| setting.get_id() == name)
            {
                *mistake.flaw = Flaw::Form(format!("'{name}' is a setting; write it below [settings]"));
            }
            mistake
        })
    }
}

#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a component like { name = \"light\", values = [{ name = \"warm\" }] }"
)]
pub(crate) struct ComponentTable {
    pub(crate) name: Name,
    pub(crate) null: Option<Name>,
    pub(crate) values: Vec<ValueTable>,
}

#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a value like { name = \"warm\", cost = 0.1, instruction = \"Use warm light.\" }"
)]
pub(crate) struct ValueTable {
    pub(crate) name: Name,
    pub(crate) cost: Option<Spanned<f64>>,
    #[serde(default)]
    pub(crate) instruction: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table with blocks = [{ of = \"light\" }]")]
pub(crate) struct DictionaryTable {
    pub(crate) blocks: Spanned<Vec<Spanned<BlockTable>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a block like { of = \"light\", per_task = true }")]
pub(crate) struct BlockTable {
    pub(crate) of: Spanned<Item>,
    #[serde(default)]
    pub(crate) per_task: bool,
    pub(crate) scaled_by: Option<Name>,
    #[serde(default)]
    pub(crate) without_null: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a term like { weight = 0.1, any_of = { light = \"warm\" } }")]
pub(crate) struct TermTable {
    pub(crate) weight: Spanned<f64>,
    pub(crate) when: Option<Spanned<Item>>,
    pub(crate) any_of: Spanned<Item>,
}

#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a contrast like { name = \"x\", prefer = { light = \"warm\" }, over = { light = \"cold\" } }"
)]
pub(crate) struct ContrastTable {
    pub(crate) name: Name,
    pub(crate) prefer: Spanned<Item>,
    pub(crate) over: Spanned<Item>,
    pub(crate) with: Option<Spanned<Item>>,
    pub(crate) context: Option<Spanned<Item>>,
    #[serde(default)]
    pub(crate) positive: String,
    #[serde(default)]
    pub(crate) negative: String,
}

#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a rule like { name = \"quiet\", when.risk.above = 0.7, forbid.light = \"cold\" }"
)]
pub(crate) struct RuleTable {
    pub(crate) name: Name,
    pub(crate) when: Option<Spanned<Item>>,
    pub(crate) forbid: Option<Spanned<Item>>,
    pub(crate) require: Option<Spanned<Item>>,
    pub(crate) only: Option<Spanned<Item>>,
}

impl RuleTable {
    /// What the rule does, and to what; `None` unless it does exactly one thing.
    pub(crate) fn pattern(&self) -> Option<(Effect, &Spanned<Item>)> {
        match (&self.forbid, &self.require, &self.only) {
            (Some(item), None, None) => Some((Effect::Forbid, item)),
            (None, Some(item), None) => Some((Effect::Require, item)),
            (None, None, Some(item)) => Some((Effect::Only, item)),
            _ => None,
        }
    }
}

/// Anything that a table keyed by the catalog's names can hold.
pub(crate) enum Item {
    Text(String),
    Number(f64),
    List(Vec<Spanned<Item>>),
    Table(Vec<(Name, Spanned<Item>)>),
}

impl<'de> Deserialize<'de> for Item {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ItemVisitor)
    }
}

struct ItemVisitor;

impl<'de> Visitor<'de> for ItemVisitor {
    type Value = Item;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name, a list of names, a number or a table")
    }

    fn visit_str<E>(self, text: &str) -> Result<Item, E> {
        Ok(Item::Text(text.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Item, E> {
        Ok(Item::Number(number))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Item, E> {
        Ok(Item::Number(number as f64))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Item, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Item::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Item, A::Error> {
        let mut table = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            table.push(entry);
        }
        Ok(Item::Table(table))
    }
}

fn expected(item: &Spanned<Item>, what: &str) -> Blame {
    Blame::new(item.span(), Flaw::Syntax(format!("expected {what}")))
}

/// One name.
pub(crate) fn one_name(item: &Spanned<Item>) -> Result<Name, Blame> {
    match item.get_ref() {
        Item::Text(text) => Ok(Spanned::new(item.span(), text.clone())),
        _ => Err(expected(item, "a name in quotes")),
    }
}

/// One name, or a list of at least one.
pub(crate) fn names(item: &Spanned<Item>) -> Result<Vec<Name>, Blame> {
    match item.get_ref() {
        Item::List(list) if list.is_empty() => {
            Err(Blame::form(item.span(), "this list is empty; write at least one name"))
        }
        Item::List(list) => list.iter().map(one_name).collect(),
        Item::Text(_) => Ok(vec![one_name(item)?]),
        _ => Err(expected(item, "a name in quotes, or a list of names")),
    }
}

/// A number.
pub(crate) fn number(item: &Spanned<Item>) -> Result<f64, Blame> {
    match item.get_ref() {
        Item::Number(number) => Ok(*number),
        _ => Err(expected(item, "a number")),
    }
}

/// A table, of which `example` shows one.
pub(crate) fn table<'i>(
    item: &'i Spanned<Item>,
    example: &str,
) -> Result<&'i [(Name, Spanned<Item>)], Blame> {
    match item.get_ref() {
        Item::Table(table) => Ok(table),
        _ => Err(expected(item, &format!("a table like {example}"))),
    }
}
