//! A decision as it was made, so that it can be explained after its reward too.

use super::person::Person;
use super::{ChatError, Reply, permissions};
use crate::store::revive::HostLearner;
use crate::text::Constraint;
use crate::text::wording;
use fable_core::removed_by;
use fable_core::{Action, Catalog, Context, Rule};

/// Reasons that are given.
const REASONS: usize = 3;

/// What a decision was made from.
#[derive(Debug)]
pub(super) struct Moment {
    learner: HostLearner<f64>,
    context: Context,
    constraints: Vec<Constraint>,
}

impl Moment {
    /// The decision that a person has just had in a context.
    pub(super) fn now(person: &Person<'_>, context: Context) -> Self {
        Self { learner: person.learner.clone(), context, constraints: person.constraints.clone() }
    }

    /// The last decision of a person, from the journal; the constraints are those of now.
    pub(super) fn last(person: &mut Person<'_>) -> Result<Option<Self>, ChatError> {
        let found = person.at_last_decision()?;
        Ok(found.map(|(learner, context)| Self { learner, context, constraints: person.constraints.clone() }))
    }

    /// Why the action was chosen rather than the runner-up, or rather than the same with other values.
    pub(super) fn why(
        &self,
        person: &mut Person<'_>,
        values: Option<&[permissions::Value]>,
        reply: &mut Reply,
    ) -> Result<(), ChatError> {
        let last = person.last().ok_or(ChatError::NoAnswer)?;
        let Person { policy, workspace, constraints, .. } = person;
        let catalog = policy.catalog();
        let chosen = self.learner.explain(policy, workspace, last, None, None)?.chosen;
        let other = values.map(|values| replaced(catalog, chosen, values)).transpose()?;
        if other == Some(chosen) {
            reply.plain("That is what was chosen.");
            return Ok(());
        }
        let why = self.learner.explain(policy, workspace, last, None, other)?;
        let against = |constraints: &[Constraint]| {
            let mut held = constraints.iter().filter(|constraint| constraint.holds(&self.context));
            let found = held.find(|constraint| {
                let rule = Rule { name: "", effect: constraint.effect, pattern: &[constraint.part()] };
                removed_by(catalog, &[rule], why.other).is_some()
            });
            found.map(|rule| format!("{} (\"{}\")", rule.describe(catalog), rule.words))
        };
        if why.feasible {
            reply.add("why", format!("{}, {}", wording::action(catalog, chosen), wording::reasons(catalog, &why, REASONS)));
            reply.add_all("rule", against(constraints).map(|rule| format!("and from now on {rule}")));
        } else {
            let stood = || "a rule stood against it that you have taken back since".to_owned();
            reply.add("why", against(&self.constraints).map_or_else(stood, |rule| format!("your rule is {rule}")));
        }
        Ok(())
    }
}

/// An action with some of its values replaced.
fn replaced(catalog: &Catalog<'_>, action: Action, values: &[permissions::Value]) -> Result<Action, ChatError> {
    let mut all = catalog.values(action).unwrap_or_default();
    for (component, value) in values {
        if let Some(slot) = all.get_mut(usize::from(*component)) {
            *slot = *value;
        }
    }
    catalog.action(&all).ok_or(ChatError::NoAnswer)
}
