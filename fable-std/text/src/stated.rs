//! What a person has stated: soft preferences and, kept apart, hard constraints.
//!
//! A preference is evidence that behaviour can revise later. A constraint decides what may be done at all and is never
//! learned; it may hold in one task or while a signal is high, and [`feasible`] applies those that hold in a context.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fable_core::catalog::Effect;
use fable_core::catalog::Part;
use fable_core::catalog::{Direction, FeasibleError, OnboardingError, When};
use fable_core::preference::UserRule;
use fable_core::{Catalog, Context, Feasible, Rule, Statement};

pub use fable_core::catalog::SIGNAL_HIGH;

/// What a person said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Onboarding {
    /// Soft: evidence for the learner, see [`Preference::statement`].
    pub preferences: Vec<Preference>,
    /// Hard: rules for the feasible set, see [`feasible`].
    pub constraints: Vec<Constraint>,
    /// Hard, if the person says yes: what an adapter takes for a rule where nothing that was said forbids or obliges. Not a rule before
    /// that.
    pub proposed: Vec<Constraint>,
    /// What sounds like a preference and was not understood, or cannot be said in this catalog. Worth showing to the person.
    pub unused: Vec<String>,
}

/// "Prefer this value over that one", with the words it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Preference {
    /// Component and value.
    pub prefer: (u8, u8),
    /// What it is compared with, if anything.
    pub over: Option<(u8, u8)>,
    /// Where it holds.
    pub when: When,
    /// How much it is wanted, from -1 to 1.
    pub response: f64,
    /// How sure one can be of it.
    pub precision: f64,
    /// The person's own words.
    pub words: String,
}

impl Preference {
    /// The statement to give to the learner.
    ///
    /// # Errors
    /// [`OnboardingError`] when the catalog has no such coordinate.
    pub fn statement(&self, catalog: &Catalog<'_>) -> Result<Statement, OnboardingError> {
        let direction = Direction::prefer(catalog, &[self.prefer], self.over.as_slice(), self.when)?;
        Ok(Statement { direction, response: self.response, precision: self.precision })
    }

    /// In the catalog's names: `style=concise over style=detailed when task=coding`, `not tool=web_search`.
    #[must_use]
    pub fn describe(&self, catalog: &Catalog<'_>) -> String {
        let not = if self.response < 0.0 { "not " } else { "" };
        let over = self.over.map_or_else(String::new, |over| format!(" over {}", value_name(catalog, over)));
        format!("{not}{}{over}{}", value_name(catalog, self.prefer), when_name(catalog, self.when))
    }
}

/// A rule that the person sets, with the words it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraint {
    /// [`Effect::Forbid`] or [`Effect::Require`].
    pub effect: Effect,
    /// The component.
    pub component: u8,
    /// The values that are forbidden, or of which one is required.
    pub values: Vec<u8>,
    /// Where it holds.
    pub when: When,
    /// The person's own words.
    pub words: String,
}

impl Constraint {
    /// The pattern of its rule.
    #[must_use]
    pub fn part(&self) -> Part<'_> {
        Part::new(self.component, &self.values)
    }

    /// The rule that wishes make, of which no words are known; `None` for several that are not alternatives, and for a switch.
    #[must_use]
    pub fn of(wishes: &[UserRule]) -> Option<Self> {
        let rule = |wish: &UserRule| match *wish {
            UserRule::Never { component, value, when } => Some((Effect::Forbid, component, value, when)),
            UserRule::Always { component, value, when } => Some((Effect::Require, component, value, when)),
            _ => None,
        };
        let (effect, component, _, when) = rule(wishes.first()?)?;
        let values = wishes.iter().map(|wish| {
            rule(wish)
                .filter(|other| (other.0, other.1, other.3) == (effect, component, when))
                .map(|other| other.2)
        });
        Some(Self { effect, component, values: values.collect::<Option<_>>()?, when, words: String::new() })
    }

    /// The same for the learner, which obeys it: a wish for each value.
    pub fn wishes(&self) -> impl Iterator<Item = UserRule> {
        let Self { effect, component, when, .. } = *self;
        self.values.iter().map(move |&value| match effect {
            Effect::Forbid => UserRule::Never { component, value, when },
            Effect::Require | Effect::Only => UserRule::Always { component, value, when },
        })
    }

    /// Whether it holds in a context: in its task, or while its signal is above [`SIGNAL_HIGH`].
    #[must_use]
    pub fn holds(&self, context: &Context) -> bool {
        match self.when {
            When::Always => true,
            When::Task(task) => context.task() == Some(task),
            When::Signal(signal) => context.signal(signal).is_some_and(|level| level > SIGNAL_HIGH),
        }
    }

    /// In the catalog's names: `never tool=web_search`, `always style=confirm_first when risk is high`.
    #[must_use]
    pub fn describe(&self, catalog: &Catalog<'_>) -> String {
        let effect = if self.effect == Effect::Forbid { "never" } else { "always" };
        let values: Vec<String> =
            self.values.iter().map(|value| value_name(catalog, (self.component, *value))).collect();
        format!("{effect} {}{}", values.join(" or "), when_name(catalog, self.when))
    }
}

/// The actions that the constraints leave in a context, and other rules with them.
///
/// # Errors
/// [`FeasibleError`] when nothing is left, or when a constraint is of another catalog.
pub fn feasible(
    catalog: &Catalog<'_>,
    constraints: &[Constraint],
    context: &Context,
    others: &[Rule<'_>],
) -> Result<Feasible, FeasibleError> {
    let held: Vec<(&Constraint, [Part<'_>; 1])> = constraints
        .iter()
        .filter(|constraint| constraint.holds(context))
        .map(|constraint| (constraint, [constraint.part()]))
        .collect();
    let own = held.iter().map(|(constraint, part)| Rule {
        name: &constraint.words,
        effect: constraint.effect,
        pattern: part,
    });
    let rules: Vec<Rule<'_>> = own.chain(others.iter().copied()).collect();
    Feasible::new(catalog, &rules)
}

fn value_name(catalog: &Catalog<'_>, (component, value): (u8, u8)) -> String {
    let component = catalog.definition().components.get(usize::from(component));
    let value = component.and_then(|component| component.values.get(usize::from(value)));
    component
        .zip(value)
        .map_or_else(String::new, |(component, value)| format!("{}={}", component.name, value.name))
}

fn when_name(catalog: &Catalog<'_>, when: When) -> String {
    let name = |names: &[&str], index: usize| names.get(index).map_or_else(String::new, ToString::to_string);
    match when {
        When::Always => String::new(),
        When::Task(task) => format!(" when task={}", name(catalog.definition().tasks, task)),
        When::Signal(signal) => format!(" when {} is high", name(catalog.definition().signals, signal)),
    }
}
