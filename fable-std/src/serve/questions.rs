//! What can be asked about a user without changing anything, answered from what is at hand: the same whoever has the user in
//! memory, a service or a program of its own.

use super::answer::{Answer, Contrasted, Labels, Promoted, line};
use super::op::Op;
use super::refusal::{Code, Refusal};
use crate::identify::{Allowed, SafeSpan};
use crate::inspect::marginals;
use crate::store::wishes::Wishes;
use crate::text::Constraint;
use fable_core::catalog::FeasibleError;
use fable_core::preference::{Comparison, UserRule};
use fable_core::{Catalog, Exploration, Feasible, Promotion, Request, Scalar, Settings, User, UserError};

/// Whether chance is in coins alone, so that the probability of every action is known without draws.
#[must_use]
pub fn knows_chances(settings: &Settings<'_>) -> bool {
    settings.probe > 0.0 && matches!(settings.exploration, Exploration::Optimistic(_))
}

/// Why nothing was decided; what leaves nothing to choose is named, of the catalog's rules and of what the user wishes.
pub fn refuse_decision(
    catalog: &Catalog<'_>,
    error: UserError,
    request: &Request<'_>,
    wishes: impl Iterator<Item = UserRule>,
) -> Refusal {
    let UserError::Feasible(FeasibleError::Empty) = error else { return error.into() };
    let declared = catalog.rules().iter().filter(|standing| standing.when.holds(request.context));
    let declared = declared.map(|standing| format!("the catalog's rule '{}'", standing.rule.name));
    let own = wishes.filter_map(|wish| Constraint::of(&[wish]));
    let own = own
        .filter(|rule| rule.holds(request.context))
        .map(|rule| format!("the user's rule '{}'", rule.describe(catalog)));
    let held: Vec<String> = declared.chain(own).collect();
    let message = format!("what the request allows is not feasible together with {}", held.join(", "));
    Refusal::new(Code::Infeasible, if held.is_empty() { error.to_string() } else { message })
}

/// Answers questions about users whom a program has in memory itself, in the words of the protocol.
///
/// ```
/// use fable_core::{HostUser, Policy, Settings, catalog::TAU2};
/// use fable_std::serve::{Op, Questions};
///
/// let policy = Policy::<f32>::new(&TAU2, Settings::default())?;
/// let mut ana = HostUser::<f32>::new(&policy, "ana")?;
/// let answer = Questions::new(&TAU2).ask(&mut ana.user(), &Op::Profile { user: "ana".into() })?;
/// assert_eq!(answer, br#"{"profile":[],"text":""}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Questions(Labels);

impl Questions {
    /// For the users of a catalog.
    #[must_use]
    pub fn new(catalog: &Catalog<'_>) -> Self {
        Self(Labels::new(catalog))
    }

    /// The answer to an op that asks about a user and changes nothing, as one line of JSON; whom the op names does not matter.
    ///
    /// # Errors
    /// As the service says it; an op that is not such a question is not known here.
    pub fn ask<T: Scalar>(&self, user: &mut User<'_, T>, op: &Op) -> Result<Vec<u8>, Refusal> {
        let answer = self.0.ask(user, op)?;
        let answer =
            answer.ok_or_else(|| Refusal::new(Code::UnknownOp, "this is not a question about a user"))?;
        Ok(line(None, Ok(&answer)))
    }
}

/// Whether rewards can ever tell, where rules of the request, the user's own or the catalog's leave less than everything.
fn identifies<T: Scalar>(
    user: &User<'_, T>,
    comparison: &Comparison,
    allowed: Option<&Feasible>,
) -> Result<Option<bool>, Refusal> {
    let (policy, catalog) = (user.policy(), user.policy().catalog());
    let own = Wishes::of(catalog, user.user_rules(), &[])?.rules; // their words do not matter
    if allowed.is_none() && own.is_empty() && catalog.rules().is_empty() {
        return Ok(None);
    }
    let possible = Allowed::stated(catalog, &own)?;
    let possible = if let Some(allowed) = allowed { possible.within(allowed) } else { possible };
    Ok(Some(SafeSpan::new(policy, &possible).identifies(policy, comparison)))
}

impl Labels {
    /// The answer to a question about a user; `None` to everything else.
    pub(super) fn ask<T: Scalar>(
        &self,
        user: &mut User<'_, T>,
        op: &Op,
    ) -> Result<Option<Answer<'_>>, Refusal> {
        Ok(Some(match op {
            Op::Recommend { context, feasible, defaults, .. } => {
                let request = Request { context, feasible, defaults: defaults.as_deref(), time: 0 };
                let left = user.narrow(&request)?.len();
                let (action, score) = user.recommend(&request)?;
                Answer::Recommended(self.recommended(action, score.to_f64(), left))
            }
            Op::Waiting { at, .. } => {
                Answer::Waiting { waiting: user.waiting(*at).map(|id| id.to_string()).collect() }
            }
            Op::Posterior { .. } => self.posterior(user)?,
            Op::Contrast { comparison, declared, allowed, .. } => {
                let trial = declared.map(|contrast| user.trial(contrast)).transpose()?;
                let identifiable = identifies(user, comparison, allowed.as_ref())?;
                Answer::Contrast(Contrasted::new(user.assess(comparison)?, trial, identifiable))
            }
            Op::Explain { decision, against, defaults } => {
                let why = user.explain(*decision, defaults.as_deref(), *against)?;
                let (mut explained, context, other) = (self.explained(&why), *why.context(), why.other);
                let own = user.forbidding_rule(&context, other).and_then(|wish| Constraint::of(&[wish]));
                explained.name_rule(own.map(|rule| rule.describe(user.policy().catalog())));
                Answer::Explained(explained)
            }
            Op::Profile { .. } => self.profile(user)?,
            _ => return Ok(None),
        }))
    }

    fn posterior<T: Scalar>(&self, user: &mut User<'_, T>) -> Result<Answer<'_>, Refusal> {
        let (mean, variances) = marginals(user)?;
        Ok(Answer::Posterior {
            rounds: user.state().rounds(),
            observations: user.state().observations(),
            mean: self.coordinates(mean),
            sd: self.coordinates(variances.into_iter().map(f64::sqrt).collect()),
            log_det_ratio: user.posterior().log_det_ratio(),
        })
    }

    fn profile<T: Scalar>(&self, user: &mut User<'_, T>) -> Result<Answer<'_>, Refusal> {
        let promotions: Vec<Promotion> = user.profile().to_vec();
        let mut profile = Vec::with_capacity(promotions.len());
        for promotion in &promotions {
            let trial = user.trial(promotion.contrast.into())?;
            let standing = user.standing(promotion)?;
            profile.push(Promoted::new(
                user.policy().catalog(),
                self.contrast(promotion.contrast.into()),
                promotion,
                standing,
                trial,
            ));
        }
        let mut text = String::new();
        user.write_profile(&mut text)?;
        Ok(Answer::Profile { profile, text })
    }
}
