//! A decision as it was made, so that it can be explained after its reward too.

use super::person::Person;
use super::{ChatError, Reply};
use crate::rules;
use crate::text::Constraint;
use crate::text::wording;
use fable_core::catalog::removed_by;
use fable_core::{Action, Catalog, Context, HostUser, Rule, UserError};

/// Reasons that are given.
const REASONS: usize = 3;

/// What a decision was made from.
#[derive(Debug)]
pub(super) struct Moment<'p> {
    then: HostUser<'p, f64>,
    context: Context,
    constraints: Vec<Constraint>,
}

impl<'p> Moment<'p> {
    /// The decision that a person has just had in a context.
    pub(super) fn now(person: &Person<'p>, context: Context) -> Result<Self, UserError> {
        Ok(Self { then: person.now()?, context, constraints: person.wishes.rules.clone() })
    }

    /// The last decision of a person, from the journal; the constraints are those of now.
    pub(super) fn last(person: &Person<'p>) -> Result<Option<Self>, ChatError> {
        let found = person.at_last_decision()?;
        Ok(found.map(|(then, context)| Self { then, context, constraints: person.wishes.rules.clone() }))
    }

    /// Why the action was chosen rather than the runner-up, or rather than the same with other values. The constraints are those
    /// of now.
    pub(super) fn why(
        &mut self,
        constraints: &[Constraint],
        values: Option<&[rules::Value]>,
        reply: &mut Reply,
    ) -> Result<(), ChatError> {
        let (catalog, mut user) = (self.then.policy().catalog(), self.then.user());
        let last = user.id(user.state().rounds());
        let chosen = user.explain(last, None, None)?.chosen;
        let other = values.map(|values| replaced(catalog, chosen, values)).transpose()?;
        if other == Some(chosen) {
            reply.plain("That is what was chosen.");
            return Ok(());
        }
        let why = user.explain(last, None, other)?;
        let against = |constraints: &[Constraint]| {
            let mut held = constraints.iter().filter(|constraint| constraint.holds(&self.context));
            let found = held.find(|constraint| {
                let rule = Rule { name: "", effect: constraint.effect, pattern: &[constraint.part()] };
                removed_by(catalog, &[rule], why.other).is_some()
            });
            found.map(|rule| rules::described(catalog, rule))
        };
        if why.feasible {
            reply.add(
                "why",
                format!("{}, {}", wording::action(catalog, chosen), wording::reasons(catalog, &why, REASONS)),
            );
            reply.add_all("rule", against(constraints).map(|rule| format!("and from now on {rule}")));
        } else {
            let stood = || "a rule stood against it that you have taken back since".to_owned();
            let own = || against(&self.constraints).map_or_else(stood, |rule| format!("your rule is {rule}"));
            let declared =
                why.stopped_by_catalog().map(|rule| format!("the catalog's rule is {}", rule.name));
            reply.add("why", declared.unwrap_or_else(own));
        }
        Ok(())
    }
}

/// An action with some of its values replaced.
fn replaced(catalog: &Catalog<'_>, action: Action, values: &[rules::Value]) -> Result<Action, ChatError> {
    let mut all = catalog.values(action).unwrap_or_default();
    for (component, value) in values {
        if let Some(slot) = all.get_mut(usize::from(*component)) {
            *slot = *value;
        }
    }
    catalog.action(&all).ok_or(ChatError::NoAnswer)
}
