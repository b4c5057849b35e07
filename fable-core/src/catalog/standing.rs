//! Standing rules: hard constraints with the contexts in which they hold.
//!
//! A catalog declares rules ([`Definition::rules`](super::Definition::rules)): mandatory confirmation above a
//! risk, incompatible values. A user has rules of their own ([`UserRule`](crate::preference::UserRule)). Both
//! are enforced when a decision begins, before anything is drawn. Only actions in the request's set that all
//! rules of the context leave are compared, probed, played and recorded. Adapters enforce nothing.
//!
//! ```
//! use fable_core::catalog::{Block, Catalog, Component, Condition, Definition, Part, Value};
//! use fable_core::{Feasible, HostUser, Policy, Rule, Settings};
//!
//! const RISK: u8 = 0;
//! const CONFIRM: &[Part] = &[Part::new(1, &[1])];
//! const CLERK: Catalog<'static> = Catalog::new(Definition {
//!     name: "clerk",
//!     components: &[
//!         Component::new("tool", &[Value::new("none", "", 0.0), Value::new("pay", "Pay the bill.", 0.0)]),
//!         Component::new("style", &[
//!             Value::new("direct", "", 0.0),
//!             Value::new("confirm", "Ask before you act.", 0.1),
//!         ]),
//!     ],
//!     signals: &["risk"],
//!     blocks: &[Block::main(0), Block::main(1)],
//!     rules: &[Rule::require("confirm_risks", CONFIRM).when(Condition::Above(RISK, 0.7))],
//!     ..Definition::EMPTY
//! });
//! let mut ana = HostUser::<f32>::new(&Policy::new(&CLERK, Settings::default())?, "ana")?;
//! let risky = CLERK.context(None, [("risk", 0.9)])?;
//! let decision = ana.decide(&risky, &Feasible::all(&CLERK))?; // of all actions, the rule leaves half
//! assert_eq!(CLERK.values(decision.action).unwrap()[1], 1);
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

use super::feasible::removed;
use super::{Action, Catalog, Condition, Context, Effect, Rule};

/// A user's rule for a signal holds above this level.
pub const SIGNAL_HIGH: f32 = 0.5;

/// A hard constraint with the contexts in which it holds.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct StandingRule<'a> {
    /// The rule.
    pub rule: Rule<'a>,
    /// The contexts.
    pub when: Condition<'a>,
}

impl<'a> Rule<'a> {
    /// The rule in the contexts of a condition.
    #[must_use]
    pub const fn when(self, when: Condition<'a>) -> StandingRule<'a> {
        StandingRule { rule: self, when }
    }

    /// The rule in every context.
    #[must_use]
    pub const fn always(self) -> StandingRule<'a> {
        self.when(Condition::Always)
    }
}

/// The first standing rule that removes an action in a context; `None` if no rule does.
///
/// For an action that matches no `only` rule of the context this is the first of them.
#[must_use]
pub fn stopped_by<'r>(
    catalog: &Catalog<'_>,
    rules: &'r [StandingRule<'r>],
    context: &Context,
    action: Action,
) -> Option<&'r Rule<'r>> {
    let values = catalog.values(action)?;
    removed(held(rules, context), &values)
}

/// The rules that hold in a context.
fn held<'r>(rules: &'r [StandingRule<'r>], context: &Context) -> impl Iterator<Item = &'r Rule<'r>> + Clone {
    rules.iter().filter(|standing| standing.when.holds(context)).map(|standing| &standing.rule)
}

impl<'a> Catalog<'a> {
    /// The rules that the catalog declares.
    #[must_use]
    pub const fn rules(&self) -> &'a [StandingRule<'a>] {
        self.definition.rules
    }

    /// True if a rule of the catalog removes an action in a context.
    #[inline(never)]
    pub(crate) fn forbids(&self, context: &Context, action: Action) -> bool {
        let Some(values) =
            self.values(action).filter(|_| cfg!(feature = "rules") && !self.rules().is_empty())
        else {
            return false;
        };
        // The rule of `removed`, in one pass.
        let (mut lists, mut listed) = (false, false);
        for StandingRule { rule, when } in self.rules() {
            if when.holds(context) {
                let matches = rule.matches(&values);
                match rule.effect {
                    Effect::Forbid if matches => return true,
                    Effect::Require if !matches => return true,
                    Effect::Only => (lists, listed) = (true, listed | matches),
                    Effect::Forbid | Effect::Require => {}
                }
            }
        }
        lists && !listed
    }
}
