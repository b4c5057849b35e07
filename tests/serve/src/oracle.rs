//! What the service has to answer: learners driven directly through `fable_core`, one per user, nothing stored.

#![expect(clippy::missing_errors_doc, reason = "an expected error is what the service has to answer")]

use fable_core::Observation;
use fable_core::Rule;
use fable_core::{Assessment, Comparison, Part as Share, Standing};
use fable_core::{
    Action, Catalog, Context, DecisionId, Event, Feasible, Learner, UserError, Policy, Request, Scalar, Settings, Statement,
    Workspace, user_hash,
};
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};

/// Room of the service's learners.
const ROOM: usize = 64;

/// A user of the oracle.
#[derive(Clone, Debug)]
struct User<T> {
    learner: Learner<T, Vec<T>, ROOM>,
    /// Whether anything has happened to the user.
    known: bool,
    /// What was decided and learned, by round.
    decided: HashMap<u32, (Context, Action, f64)>,
    learned: HashMap<u32, (f64, f32, bool)>,
    unlearned: HashSet<u32>,
}

/// All users.
#[derive(Clone, Debug)]
pub struct Oracle<T: Scalar> {
    policy: Policy<'static, T>,
    workspace: Workspace<T, Vec<T>>,
    users: HashMap<String, User<T>>,
    names: HashMap<u64, String>,
    incarnation: u32,
}

/// One user, and what every step needs.
type Parts<'o, T> = (&'o mut User<T>, &'o Policy<'static, T>, &'o mut Workspace<T, Vec<T>>);

/// The answer to a request: what the service has to say, or the code of its error.
pub type Expected = Result<Value, &'static str>;

fn code(error: UserError) -> &'static str {
    match error {
        UserError::UnknownDecision => "unknown_decision",
        UserError::ExpiredDecision => "expired",
        UserError::DuplicateFeedback => "duplicate_feedback",
        UserError::Stale => "stale",
        UserError::NotLearned => "not_learned",
        UserError::Comparison => "bad_contrast",
        UserError::Reward | UserError::Onboarding(_) => "out_of_range",
        _ => "internal",
    }
}

impl<T: Scalar> Oracle<T> {
    /// Nobody yet.
    ///
    /// # Panics
    /// For settings out of range.
    #[must_use]
    pub fn new(catalog: &'static Catalog<'static>, settings: Settings<'static>) -> Self {
        Self {
            policy: Policy::new(catalog, settings).unwrap(),
            workspace: Workspace::over(vec![T::ZERO; catalog.workspace_len()]),
            users: HashMap::new(),
            names: HashMap::new(),
            incarnation: 0,
        }
    }

    /// The catalog.
    #[must_use]
    pub const fn catalog(&self) -> &'static Catalog<'static> {
        self.policy.catalog()
    }

    /// Users to whom something has happened.
    #[must_use]
    pub fn known(&self) -> usize {
        self.users.values().filter(|user| user.known).count()
    }

    /// Whether something has happened to a user who was not forgotten since.
    #[must_use]
    pub fn knows(&self, name: &str) -> bool {
        self.users.get(name).is_some_and(|user| user.known)
    }

    /// The incarnation and rounds of a user.
    pub fn rounds(&mut self, name: &str) -> (u32, u32) {
        let user = self.user(name);
        (user.learner.incarnation(), user.learner.rounds())
    }

    fn user(&mut self, name: &str) -> &mut User<T> {
        let (policy, incarnation) = (&self.policy, self.incarnation);
        self.names.insert(user_hash(name), name.to_owned());
        let start = || {
            let mut learner = Learner::over(vec![T::ZERO; policy.catalog().state_len()]);
            let header = fable_core::record::Header::new(fable_core::record::Kind::Journal, policy, user_hash(name), 64);
            learner.start_journal_in(policy, &header, incarnation).unwrap();
            User { learner, known: false, decided: HashMap::new(), learned: HashMap::new(), unlearned: HashSet::new() }
        };
        let user = self.users.entry(name.to_owned()).or_insert_with(start);
        if !user.known {
            *user = start(); // everyone starts in the incarnation of the first event
        }
        user
    }

    fn owner(&mut self, id: DecisionId) -> Result<Parts<'_, T>, &'static str> {
        let name = self.names.get(&id.user).cloned().filter(|name| self.knows(name)).ok_or("unknown_decision")?;
        Ok((self.users.get_mut(&name).unwrap(), &self.policy, &mut self.workspace))
    }

    fn parts(&mut self, name: &str) -> Parts<'_, T> {
        self.user(name);
        (self.users.get_mut(name).unwrap(), &self.policy, &mut self.workspace)
    }

    /// `onboard`
    pub fn onboard(&mut self, name: &str, statements: &[Statement]) -> Expected {
        let (user, policy, workspace) = self.parts(name);
        let mut trial = user.learner.clone();
        for statement in statements {
            trial.onboard(policy, workspace, statement.clone()).map_err(code)?;
        }
        user.learner = trial;
        user.known |= !statements.is_empty();
        Ok(json!({ "accepted": statements.len() }))
    }

    /// `decide`
    ///
    /// # Panics
    /// When the learner contradicts itself.
    pub fn decide(
        &mut self,
        name: &str,
        context: &Context,
        rules: &[Rule<'_>],
        defaults: Option<&[f64]>,
        draws: Option<u32>,
        at: u32,
    ) -> Expected {
        let catalog = self.catalog();
        let feasible = Feasible::new(catalog, rules).map_err(|_| "infeasible")?;
        let (user, policy, workspace) = self.parts(name);
        let request = Request { context, feasible: &feasible, defaults, at };
        user.learner.recommend(policy, workspace, &request).map_err(code)?;
        // What expires is found by watching: the service has it from its journal.
        let learner = &mut user.learner;
        while let Some(event) = learner.propose_expiry(policy, at).or_else(|| learner.propose_room(policy)) {
            if let Event::Expiry { round, imputed: Some(reward) } = event {
                user.learned.insert(round, (reward, 1.0, true));
            }
            learner.check(policy, workspace, &event).unwrap().apply();
        }
        let mut propensities = vec![0.0; catalog.actions()];
        if let Some(draws) = draws {
            learner.propensities(policy, workspace, &request, draws, &mut propensities).unwrap();
        }
        let (_, highest) = learner.recommend(policy, workspace, &request).unwrap();
        let decision = learner.decide(policy, workspace, &request).unwrap();
        let why = learner.explain(policy, workspace, decision.id, defaults, None).unwrap();
        let sampled_score = why.chosen_score;
        assert_eq!(why.chosen, decision.action);
        let explored = why.explored;
        // The mean score comes out of the scores of all actions if the action is the only feasible one.
        let mut only = fable_core::ActionSet::EMPTY;
        only.insert(decision.action);
        let only = Feasible::from_set(catalog, only).unwrap();
        let (_, score) = learner.recommend(policy, workspace, &Request { feasible: &only, ..request }).unwrap();
        assert_eq!(explored, score < highest);
        user.known = true;
        user.decided.insert(decision.id.round, (*context, decision.action, decision.baseline));
        let mut instruction = String::new();
        catalog.instruct(decision.action, &mut instruction).unwrap();
        let mut answer = json!({
            "decision": decision.id.to_string(),
            "action": named(catalog, decision.action),
            "instruction": instruction,
            "explored": explored,
            "score": score.to_f64(),
            "sampled_score": sampled_score,
            "feasible": feasible.len(),
        });
        if draws.is_some() {
            answer["propensities"] = propensities.into();
        }
        Ok(answer)
    }

    /// `feedback`
    pub fn feedback(&mut self, id: DecisionId, reward: f64, weight: f32, at: u32) -> Expected {
        let (user, policy, workspace) = self.owner(id)?;
        let event = user.learner.propose_feedback(policy, id, reward, weight, at).map_err(code)?;
        user.learner.check(policy, workspace, &event).map_err(code)?.apply();
        user.learned.insert(id.round, (reward, weight, false));
        Ok(json!({ "observations": user.learner.observations() }))
    }

    /// `observe`
    pub fn observe(&mut self, name: &str, context: &Context, action: Action, reward: f64, weight: f32) -> Expected {
        let (user, policy, workspace) = self.parts(name);
        let event = user.learner.propose_observation(policy, context, action, reward, weight).map_err(code)?;
        user.learner.check(policy, workspace, &event).map_err(code)?.apply();
        user.known = true;
        Ok(json!({ "observations": user.learner.observations() }))
    }

    /// `unlearn`
    pub fn unlearn(&mut self, id: DecisionId) -> Expected {
        let (user, policy, workspace) = self.owner(id)?;
        if id.incarnation != user.learner.incarnation() {
            return Err("unknown_decision");
        }
        let (context, action, baseline) = *user.decided.get(&id.round).ok_or("unknown_decision")?;
        let learned = user.learned.get(&id.round).filter(|_| !user.unlearned.contains(&id.round));
        let (reward, weight, imputed) = *learned.ok_or("not_learned")?;
        let observation = Observation { context, action, baseline, reward, weight };
        user.learner.check(policy, workspace, &Event::Unlearn { observation, imputed }).map_err(code)?.apply();
        user.unlearned.insert(id.round);
        Ok(json!({ "observations": user.learner.observations() }))
    }

    /// `posterior`
    ///
    /// # Panics
    /// When the learner cannot be read.
    pub fn posterior(&mut self, name: &str) -> Expected {
        let catalog = self.catalog();
        let (user, _, workspace) = self.parts(name);
        let posterior = user.learner.posterior();
        let mut mean = vec![T::ZERO; catalog.dimension()];
        posterior.mean(workspace, &mut mean).unwrap();
        let name = |index| catalog.coordinate_name(index).unwrap().to_string();
        let means: Map<String, Value> = (0..).zip(&mean).map(|(index, mean)| (name(index), mean.to_f64().into())).collect();
        let mut sd = |index| posterior.marginal_variance(workspace, index).unwrap().to_f64().sqrt();
        let sds: Map<String, Value> = (0..catalog.dimension()).map(|index| (name(index), sd(index).into())).collect();
        Ok(json!({
            "rounds": user.learner.rounds(),
            "observations": user.learner.observations(),
            "mean": means,
            "sd": sds,
            "log_det_ratio": posterior.log_det_ratio(),
        }))
    }

    /// `contrast`
    pub fn contrast(&mut self, name: &str, comparison: &Comparison) -> Expected {
        let (user, policy, workspace) = self.parts(name);
        let Assessment { mean, sd, probability, lower, upper, beta, evidence, valid, verdict, .. } =
            user.learner.assess(policy, workspace, comparison).map_err(code)?;
        let promoted = verdict.sign();
        Ok(json!({ "mean": mean, "sd": sd, "probability": probability, "lower": lower, "upper": upper, "beta": beta,
            "evidence": evidence, "valid": valid, "promoted": promoted }))
    }

    /// `explain`
    pub fn explain(&mut self, id: DecisionId, against: Option<Action>, defaults: Option<&[f64]>) -> Expected {
        let catalog = self.catalog();
        let (user, policy, workspace) = self.owner(id)?;
        let why = user.learner.explain(policy, workspace, id, defaults, against).map_err(code)?;
        let name = |index: Option<usize>| index.and_then(|index| catalog.coordinate_name(index)).map(|name| name.to_string());
        let shares = why.shares().map(|share| {
            let part = match share.part {
                Share::Default => "default",
                Share::Cost => "cost",
                Share::Block(_) => "block",
                Share::Draw => "draw",
            };
            json!({ "part": part, "chosen": share.chosen, "other": share.other,
                "chosen_coordinate": name(share.chosen_coordinate), "other_coordinate": name(share.other_coordinate) })
        });
        Ok(json!({
            "chosen": named(catalog, why.chosen),
            "other": named(catalog, why.other),
            "feasible": why.feasible,
            "explored": why.explored,
            "chosen_score": why.chosen_score,
            "other_score": why.other_score,
            "shares": shares.collect::<Vec<_>>(),
        }))
    }

    /// `profile`
    ///
    /// # Panics
    /// When the learner contradicts itself.
    pub fn profile(&mut self, name: &str, promote: bool, at: u32) -> Expected {
        let catalog = self.catalog();
        let (user, policy, workspace) = self.parts(name);
        if promote && user.learner.promote_all(policy, workspace, at).map_err(code)? > 0 {
            user.known = true;
        }
        let mut entries = Vec::new();
        for promotion in user.learner.profile() {
            let mut sentence = String::new();
            promotion.write_sentence(catalog, &mut sentence).unwrap();
            let standing = match user.learner.standing(policy, workspace, promotion).unwrap() {
                Standing::Holds => "holds",
                Standing::Doubtful => "doubtful",
                Standing::Revoked => "revoked",
            };
            entries.push(json!({
                "contrast": catalog.contrasts()[usize::from(promotion.contrast)].name,
                "verdict": promotion.verdict.sign(), "standing": standing, "sentence": sentence, "valid": promotion.valid,
                "round": promotion.round, "at": promotion.at, "evidence": promotion.evidence,
                "lower": f64::from(promotion.lower), "upper": f64::from(promotion.upper),
            }));
        }
        let mut text = String::new();
        user.learner.write_profile(policy, workspace, &mut text).unwrap();
        Ok(json!({ "profile": entries, "text": text }))
    }

    /// `forget`
    pub fn forget(&mut self, name: &str) -> Expected {
        let forgotten = self.knows(name);
        self.users.remove(name);
        self.incarnation += u32::from(forgotten);
        Ok(json!({ "forgotten": forgotten }))
    }
}

/// The values of an action by component.
#[must_use]
pub fn named(catalog: &Catalog<'_>, action: Action) -> Value {
    let values = catalog.values(action).unwrap_or_default();
    let values = catalog.definition().components.iter().zip(&values);
    Value::Object(
        values.map(|(component, value)| (component.name.into(), component.values[usize::from(*value)].name.into())).collect(),
    )
}
