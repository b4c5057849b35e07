//! Names for positions in a generated Rust file: an enum for each component, constants for the rest.

use super::identifiers::{Case, identifiers};
use fable_core::Catalog;
use fable_core::catalog::Component;
use std::fmt::{self, Write};

/// The enums of the components, the constants of tasks, signals, contrasts and rules, and a typed `action`.
pub(super) fn positions(out: &mut String, catalog: &Catalog<'_>) -> fmt::Result {
    let definition = catalog.definition();
    let names = || definition.components.iter().map(|component| component.name);
    let types = identifiers(Case::Camel, "component", names());
    let mut later = catalog.actions();
    let mut strides = Vec::new();
    for (position, (own, component)) in types.iter().zip(definition.components).enumerate() {
        later /= component.values.len().max(1);
        strides.push(later);
        component_enum(out, own, component, &Place { position, stride: later, actions: catalog.actions() })?;
    }
    action(out, &types, &identifiers(Case::Snake, "component", names()), &strides)?;
    constants(out, "task", definition.tasks.iter().copied())?;
    constants(out, "signal", definition.signals.iter().copied())?;
    constants(out, "contrast", definition.contrasts.iter().map(|contrast| contrast.name))?;
    constants(out, "rule", definition.rules.iter().map(|standing| standing.rule.name))
}

/// Where a component is, and how actions are made of its values.
struct Place {
    position: usize,
    stride: usize,
    actions: usize,
}

fn component_enum(out: &mut String, own: &str, component: &Component<'_>, place: &Place) -> fmt::Result {
    let variants = identifiers(Case::Camel, "value", component.values.iter().map(|value| value.name));
    writeln!(out, "\n/// The component `{}`.", component.name)?;
    out.push_str("#[allow(dead_code)]\n#[allow(clippy::enum_variant_names)]\n");
    writeln!(out, "#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]\n#[repr(u8)]\npub enum {own} {{")?;
    for (variant, value) in variants.iter().zip(component.values) {
        writeln!(out, "    /// `{}`\n    {variant},", value.name)?;
    }
    writeln!(out, "}}\n\n#[allow(dead_code)]\nimpl {own} {{")?;
    writeln!(
        out,
        "    /// Position of the component in the catalog.\n    pub const POSITION: u8 = {};",
        place.position
    )?;
    out.push_str("\n    /// Position of this value in the component.\n    #[must_use]\n");
    out.push_str("    pub const fn index(self) -> u8 {\n        self as u8\n    }\n");
    out.push_str(
        "\n    /// The value at a position.\n    #[allow(clippy::too_many_lines)]\n    #[must_use]\n",
    );
    out.push_str(
        "    pub const fn from_index(index: u8) -> core::option::Option<Self> {\n        match index {\n",
    );
    for (index, variant) in variants.iter().enumerate() {
        writeln!(out, "            {index} => Some(Self::{variant}),")?;
    }
    if variants.len() < 256 {
        out.push_str("            _ => None,\n");
    }
    out.push_str(
        "        }\n    }\n\n    /// The value in an action; `None` past the last action.\n    #[must_use]\n",
    );
    let Place { stride, actions, .. } = place;
    let values = variants.len();
    let digit = match (values, *stride) {
        (1, _) => "0".into(),
        (_, 1) if values == *actions => "action.0 as u8".into(),
        (_, 1) => format!("(action.0 % {values}) as u8"),
        _ => format!("(action.0 / {stride} % {values}) as u8"),
    };
    out.push_str("    #[allow(clippy::cast_possible_truncation)]\n");
    out.push_str("    pub const fn of(action: fable_core::Action) -> core::option::Option<Self> {\n");
    writeln!(out, "        match action.0 {{\n            0..{actions} => Self::from_index({digit}),")?;
    out.write_str("            _ => None,\n        }\n    }\n}\n")
}

fn action(out: &mut String, types: &[String], parameters: &[String], strides: &[usize]) -> fmt::Result {
    let typed: Vec<String> =
        types.iter().zip(parameters).map(|(own, name)| format!("{name}: {own}")).collect();
    let terms: Vec<String> = parameters
        .iter()
        .zip(strides)
        .map(
            |(name, stride)| {
                if *stride == 1 { format!("{name} as u16") } else { format!("{name} as u16 * {stride}") }
            },
        )
        .collect();
    out.push_str("\n/// The action with these values.\n#[rustfmt::skip]\n#[allow(dead_code)]\n");
    out.push_str("#[allow(clippy::many_single_char_names, clippy::similar_names, clippy::too_many_arguments)]\n#[must_use]\n");
    writeln!(out, "pub const fn action({}) -> fable_core::Action {{", typed.join(", "))?;
    writeln!(out, "    fable_core::Action({})\n}}", terms.join(" + "))
}

fn constants<'n>(out: &mut String, kind: &str, names: impl Iterator<Item = &'n str> + Clone) -> fmt::Result {
    let constants = identifiers(Case::Upper, kind, names.clone());
    if constants.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n/// Positions of the {kind}s.\n#[allow(dead_code)]\npub mod {kind} {{")?;
    for (position, (constant, name)) in constants.iter().zip(names).enumerate() {
        writeln!(out, "    /// The {kind} `{name}`.\n    pub const {constant}: usize = {position};")?;
    }
    out.write_str("}\n")
}
