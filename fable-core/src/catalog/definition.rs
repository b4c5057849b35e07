//! The data of a catalog, and the limits of its parts.

use super::{Block, Component, Contrast, StandingRule, Term};

/// Most components a catalog can have.
pub const MAX_COMPONENTS: usize = 8;
/// Most values a component can have.
pub const MAX_VALUES: usize = 256;
/// Most actions a catalog can have.
pub const MAX_ACTIONS: usize = 1024;
/// Most signals a context can have.
pub const MAX_SIGNALS: usize = 16;
/// Most blocks a dictionary can have.
pub const MAX_BLOCKS: usize = 128;
/// Most terms a default score can have.
pub const MAX_TERMS: usize = 64;
/// Most contrasts a catalog can declare.
pub const MAX_CONTRASTS: usize = 64;
/// Numbers of a learner for the user's own rules and switches.
pub(crate) const USER_RULE_LEN: usize = 24;
/// Most rules a catalog can declare.
pub const MAX_RULES: usize = 32;
/// Largest magnitude of a cost or of a term's weight.
pub const MAX_WEIGHT: f64 = 100.0;

/// The data of a catalog.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Definition<'a> {
    /// Name of the catalog.
    pub name: &'a str,
    /// 1 to 8 components.
    pub components: &'a [Component<'a>],
    /// Names of the task types, up to 64; may be empty.
    pub tasks: &'a [&'a str],
    /// Names of the signals, up to 16; may be empty.
    pub signals: &'a [&'a str],
    /// The dictionary.
    pub blocks: &'a [Block],
    /// The terms of the default score.
    pub terms: &'a [Term<'a>],
    /// The declared contrasts, up to 64; may be empty.
    pub contrasts: &'a [Contrast<'a>],
    /// The standing rules, up to 32; may be empty.
    pub rules: &'a [StandingRule<'a>],
}

impl Definition<'_> {
    /// An empty definition, for `..Definition::EMPTY`.
    pub const EMPTY: Self = Self {
        name: "",
        components: &[],
        tasks: &[],
        signals: &[],
        blocks: &[],
        terms: &[],
        contrasts: &[],
        rules: &[],
    };
}
