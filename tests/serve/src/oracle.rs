//! What the service has to answer: learners driven directly through `fable_core`, one per user, nothing stored.

#![expect(clippy::missing_errors_doc, reason = "an expected error is what the service has to answer")]

use fable_core::catalog::ContrastSet;
use fable_core::explain::Source;
use fable_core::host::{HOST_CAPACITY, HostLearner};
use fable_core::journal::{Command, Event, Observation, State};
use fable_core::preference::{Assessment, Certifier, Comparison, Standing, Trial};
use fable_core::record::{Header, Kind};
use fable_core::settings::Deadline;
use fable_core::{
    Action, Catalog, Context, DecisionId, Exploration, Feasible, HostUser, Policy, Promotion, Request, Rule,
    Scalar, Settings, Statement, UserError, user_hash,
};
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};

/// A user of the oracle.
#[derive(Clone, Debug)]
struct Life<T: Scalar> {
    user: HostUser<'static, T>,
    /// Whether anything has happened to the user.
    known: bool,
    /// What was decided and learned, by round.
    decided: HashMap<u32, (Context, Action, f64, ContrastSet)>,
    learned: HashMap<u32, (f64, f32, bool)>,
    unlearned: HashSet<u32>,
    /// What was exchanged, as it is told.
    exchanges: Vec<Value>,
}

/// Exchanges that are kept of a user; those of a script are short.
const EXCHANGES: usize = 64;
/// Exchanges that are brought back as recent ones.
const RECENT: usize = 6;

/// All users.
#[derive(Clone, Debug)]
pub struct Oracle<T: Scalar> {
    policy: Policy<'static, T>,
    lives: HashMap<String, Life<T>>,
    names: HashMap<u64, String>,
    incarnation: u32,
}

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
        let policy = Policy::new(catalog, settings).unwrap();
        Self { policy, lives: HashMap::new(), names: HashMap::new(), incarnation: 0 }
    }

    /// The catalog.
    #[must_use]
    pub const fn catalog(&self) -> &'static Catalog<'static> {
        self.policy.catalog()
    }

    /// Users to whom something has happened.
    #[must_use]
    pub fn known(&self) -> usize {
        self.lives.values().filter(|life| life.known).count()
    }

    /// Whether something has happened to a user who was not forgotten since.
    #[must_use]
    pub fn knows(&self, name: &str) -> bool {
        self.lives.get(name).is_some_and(|life| life.known)
    }

    /// Users that were forgotten so far; the incarnation in which a new user starts.
    #[must_use]
    pub const fn incarnation(&self) -> u32 {
        self.incarnation
    }

    /// The incarnation and rounds of a user.
    pub fn rounds(&mut self, name: &str) -> (u32, u32) {
        let life = self.life(name);
        (life.user.state().incarnation(), life.user.state().rounds())
    }

    /// What was chosen in a decision that is known.
    #[must_use]
    pub fn action(&self, id: DecisionId) -> Option<Action> {
        let life = self.names.get(&id.user).and_then(|name| self.lives.get(name))?;
        life.decided.get(&id.round).map(|(_, action, ..)| *action)
    }

    fn life(&mut self, name: &str) -> &mut Life<T> {
        let (policy, incarnation) = (&self.policy, self.incarnation);
        self.names.insert(user_hash(name), name.to_owned());
        let start = || {
            let mut learner = HostLearner::for_policy(policy);
            let header = Header::new(Kind::Journal, policy, user_hash(name), HOST_CAPACITY as u16);
            learner.start_journal_in(policy, &header, incarnation).unwrap();
            let user = HostUser::from_learner(policy, learner).unwrap();
            let (decided, learned, unlearned) = (HashMap::new(), HashMap::new(), HashSet::new());
            Life { user, known: false, decided, learned, unlearned, exchanges: Vec::new() }
        };
        let life = self.lives.entry(name.to_owned()).or_insert_with(start);
        if !life.known {
            *life = start(); // everyone starts in the incarnation of the first event
        }
        life
    }

    fn owner(&mut self, id: DecisionId) -> Result<&mut Life<T>, &'static str> {
        let name =
            self.names.get(&id.user).cloned().filter(|name| self.knows(name)).ok_or("unknown_decision")?;
        Ok(self.lives.get_mut(&name).unwrap())
    }

    /// `onboard`
    pub fn onboard(&mut self, name: &str, statements: &[Statement]) -> Expected {
        let life = self.life(name);
        let mut trial = life.user.clone();
        for statement in statements {
            trial.user().onboard(statement).map_err(code)?;
        }
        life.user = trial;
        life.known |= !statements.is_empty();
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
        let life = self.life(name);
        let request = Request { context, feasible: &feasible, defaults, time: at };
        // What expires before the decision, event by event on a copy; the user itself goes the direct way.
        let (mut copy, mut command) = (life.user.clone(), Command::decide(request));
        let coins = loop {
            let mut user = copy.user();
            let step = user.next(&mut command).map_err(code)?.unwrap();
            match step.event() {
                Event::Decision { probes: coins, .. } => break coins.clone(),
                Event::Expiry { round, imputed: Some(reward) } => {
                    let _ = life.learned.insert(*round, (*reward, 1.0, true));
                }
                _ => {}
            }
            step.apply();
        };
        let settings = *life.user.policy().settings();
        let exact = settings.probe > 0.0 && matches!(settings.exploration, Exploration::Optimistic(_));
        let mut propensities = vec![0.0; catalog.actions()];
        if exact || draws.is_some() {
            copy.user().propensities(&request, draws.unwrap_or(9), &mut propensities).unwrap();
        }
        let (_, highest) = copy.user().recommend(&request).unwrap();
        copy.user().run(&mut command).unwrap();
        let mut user = life.user.user();
        let decision = user.decide(&request).unwrap();
        let why = user.explain(decision.id, defaults, None).unwrap();
        let (sampled_score, explored) = (why.chosen_score, why.explored);
        assert_eq!(why.chosen, decision.action);
        // The mean score comes out of the scores of all actions if the action is the only feasible one.
        let mut only = fable_core::catalog::ActionSet::EMPTY;
        only.insert(decision.action);
        let only = Feasible::from_set(catalog, only).unwrap();
        let (_, score) = user.recommend(&Request { feasible: &only, ..request }).unwrap();
        assert_eq!(explored, score < highest);
        assert_eq!(copy, life.user, "a command is the direct way, event by event");
        life.known = true;
        let mut probed = ContrastSet::EMPTY;
        coins.iter().for_each(|coin| probed.insert(usize::from(coin.contrast)));
        life.decided.insert(decision.id.round, (*context, decision.action, decision.baseline, probed));
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
        if exact {
            answer["propensity"] = propensities[decision.action.index()].into();
        }
        if draws.is_some() {
            answer["propensities"] = propensities.into();
        }
        // In the order of the catalog's contrasts, whatever that of the components is.
        let probes = probed.iter().map(|contrast| {
            let own = &catalog.contrasts()[contrast];
            let coin = coins.iter().find(|coin| usize::from(coin.contrast) == contrast).unwrap();
            let component = own.component().unwrap();
            let preferred = catalog.values(decision.action).unwrap()[component] == own.prefer[component];
            json!({ "contrast": own.name, "preferred": preferred, "expected": f64::from(coin.expected) })
        });
        if !probed.is_empty() {
            answer["probes"] = probes.collect();
        }
        Ok(answer)
    }

    /// `recommend`
    ///
    /// # Panics
    /// When the learner contradicts itself.
    pub fn recommend(
        &mut self,
        name: &str,
        context: &Context,
        rules: &[Rule<'_>],
        defaults: Option<&[f64]>,
    ) -> Expected {
        let catalog = self.catalog();
        let feasible = Feasible::new(catalog, rules).map_err(|_| "infeasible")?;
        let mut user = self.life(name).user.user();
        // One by one, as if nothing else were feasible; of those that are as good the first.
        let mut best: Option<(Action, T)> = None;
        for action in feasible.set().iter() {
            let mut only = fable_core::catalog::ActionSet::EMPTY;
            only.insert(action);
            let only = Feasible::from_set(catalog, only).unwrap();
            let request = Request { context, feasible: &only, defaults, time: 0 };
            let (_, score) = user.recommend(&request).map_err(code)?;
            if best.is_none_or(|(_, highest)| score > highest) {
                best = Some((action, score));
            }
        }
        let (action, score) = best.unwrap();
        let mut instruction = String::new();
        catalog.instruct(action, &mut instruction).unwrap();
        let action = named(catalog, action);
        Ok(
            json!({ "action": action, "instruction": instruction, "score": score.to_f64(), "feasible": feasible.len() }),
        )
    }

    /// `feedback`
    pub fn feedback(&mut self, id: DecisionId, reward: f64, weight: f32, at: u32) -> Expected {
        let life = self.owner(id)?;
        let mut user = life.user.user();
        if weight == 1.0 {
            user.feedback_at(id, reward, at).map_err(code)?;
        } else {
            user.run(&mut Command::feedback(id, reward).weighted(weight).at(at)).map_err(code)?;
        }
        life.learned.insert(id.round, (reward, weight, false));
        Ok(learned(life.user.state()))
    }

    /// `observe`
    pub fn observe(
        &mut self,
        name: &str,
        context: &Context,
        action: Action,
        reward: f64,
        defaults: Option<&[f64]>,
        at: u32,
    ) -> Expected {
        let life = self.life(name);
        let mut user = life.user.user();
        if defaults.is_some() {
            user.run(&mut Command::observe(context, action, reward).with_defaults(defaults).at(at))
                .map_err(code)?;
        } else {
            user.observe_at(context, action, reward, at).map_err(code)?;
        }
        life.known = true;
        Ok(learned(life.user.state()))
    }

    /// `unlearn`
    pub fn unlearn(&mut self, id: DecisionId) -> Expected {
        let life = self.owner(id)?;
        if id.incarnation != life.user.state().incarnation() {
            return Err("unknown_decision");
        }
        let (context, action, baseline, probed) = *life.decided.get(&id.round).ok_or("unknown_decision")?;
        let learned = life.learned.get(&id.round).filter(|_| !life.unlearned.contains(&id.round));
        let (reward, weight, imputed) = *learned.ok_or("not_learned")?;
        let observation = Observation { context, action, baseline, reward, weight };
        let probed = if imputed { ContrastSet::EMPTY } else { probed };
        life.user
            .user()
            .check(&Event::Unlearn { observation, imputed, kept: 1.0, probed })
            .map_err(code)?
            .apply();
        life.unlearned.insert(id.round);
        Ok(json!({ "observations": life.user.state().observations() }))
    }

    /// `waiting`, from what was decided and learned; without deadlines those of the last 64 rounds.
    pub fn waiting(&mut self, name: &str, at: u32) -> Expected {
        let life = self.life(name);
        let bounded = !matches!(life.user.policy().settings().deadline, Deadline::None);
        let user = life.user.user();
        let mut rounds: Vec<u32> =
            life.decided.keys().copied().filter(|round| !life.learned.contains_key(round)).collect();
        rounds.retain(|round| round + HOST_CAPACITY as u32 > user.state().rounds());
        rounds.sort_unstable();
        let own: Vec<String> = rounds.iter().map(|round| user.id(*round).to_string()).collect();
        // What has passed its deadline is known to the learner alone.
        let waiting: Vec<String> =
            if bounded { user.waiting(at).map(|id| id.to_string()).collect() } else { own };
        Ok(json!({ "waiting": waiting }))
    }

    /// `posterior`
    ///
    /// # Panics
    /// When the learner cannot be read.
    pub fn posterior(&mut self, name: &str) -> Expected {
        let catalog = self.catalog();
        let life = self.life(name);
        let mut user = life.user.user();
        let (posterior, scratch) = user.posterior_and_scratch();
        let mut mean = vec![T::ZERO; catalog.dimension()];
        posterior.mean(scratch, &mut mean).unwrap();
        let name = |index| catalog.coordinate_name(index).unwrap().to_string();
        let means: Map<String, Value> =
            (0..).zip(&mean).map(|(index, mean)| (name(index), mean.to_f64().into())).collect();
        let mut sd = |index| posterior.marginal_variance(scratch, index).unwrap().to_f64().sqrt();
        let sds: Map<String, Value> =
            (0..catalog.dimension()).map(|index| (name(index), sd(index).into())).collect();
        Ok(json!({
            "rounds": life.user.state().rounds(),
            "observations": life.user.state().observations(),
            "mean": means,
            "sd": sds,
            "log_det_ratio": life.user.learner().posterior().log_det_ratio(),
        }))
    }

    /// `contrast` with a name
    ///
    /// # Panics
    /// When the catalog does not have it.
    pub fn declared(&mut self, name: &str, contrast: usize) -> Expected {
        let comparison = Comparison::declared(self.catalog(), contrast).unwrap();
        let mut answer = self.contrast(name, &comparison)?;
        let trial = self.life(name).user.user().trial(contrast).map_err(code)?;
        answer.as_object_mut().unwrap().append(&mut tried(&trial));
        Ok(answer)
    }

    /// `contrast`
    pub fn contrast(&mut self, name: &str, comparison: &Comparison) -> Expected {
        let Assessment { mean, sd, probability, lower, upper, beta, evidence, valid, verdict, .. } =
            self.life(name).user.user().assess(comparison).map_err(code)?;
        let promoted = verdict.sign();
        Ok(
            json!({ "mean": mean, "sd": sd, "probability": probability, "lower": lower, "upper": upper, "beta": beta,
            "evidence": evidence, "valid": valid, "promoted": promoted }),
        )
    }

    /// `explain`
    pub fn explain(&mut self, id: DecisionId, against: Option<Action>, defaults: Option<&[f64]>) -> Expected {
        let catalog = self.catalog();
        let mut user = self.owner(id)?.user.user();
        let why = user.explain(id, defaults, against).map_err(code)?;
        let name = |index: Option<usize>| {
            index.and_then(|index| catalog.coordinate_name(index)).map(|name| name.to_string())
        };
        let shares = why.shares().map(|share| {
            let part = match share.source {
                Source::Default => "default",
                Source::Cost => "cost",
                Source::Block(_) => "block",
                Source::Draw => "draw",
                Source::Bonus => "bonus",
            };
            json!({ "part": part, "chosen": share.chosen, "other": share.other,
                "chosen_coordinate": name(share.chosen_coordinate), "other_coordinate": name(share.other_coordinate) })
        });
        let mut answer = json!({
            "chosen": named(catalog, why.chosen),
            "other": named(catalog, why.other),
            "feasible": why.feasible,
            "explored": why.explored,
            "chosen_score": why.chosen_score,
            "other_score": why.other_score,
            "shares": shares.collect::<Vec<_>>(),
        });
        if !why.probed.is_empty() {
            answer["intended"] = named(catalog, why.intended);
            answer["probed"] = why.probed.iter().map(|contrast| catalog.contrasts()[contrast].name).collect();
        }
        Ok(answer)
    }

    /// `profile`
    ///
    /// # Panics
    /// When the learner contradicts itself.
    pub fn profile(&mut self, name: &str) -> Expected {
        let catalog = self.catalog();
        let mut user = self.life(name).user.user();
        let promotions: Vec<Promotion> = user.profile().to_vec();
        let mut entries = Vec::new();
        for promotion in &promotions {
            let mut sentence = String::new();
            promotion.write_sentence(catalog, &mut sentence).unwrap();
            let standing = match user.standing(promotion).unwrap() {
                Standing::Holds => "holds",
                Standing::Doubtful => "doubtful",
                Standing::Revoked => "revoked",
            };
            let by = match promotion.by {
                Certifier::Probes => "coins",
                Certifier::Ellipsoid => "ellipsoid",
            };
            let mut entry = json!({
                "contrast": catalog.contrasts()[usize::from(promotion.contrast)].name,
                "verdict": promotion.verdict.sign(), "standing": standing, "sentence": sentence, "valid": promotion.valid,
                "round": promotion.round, "at": promotion.time, "evidence": promotion.evidence, "by": by,
                "lower": f64::from(promotion.lower), "upper": f64::from(promotion.upper),
            });
            entry
                .as_object_mut()
                .unwrap()
                .append(&mut tried(&user.trial(promotion.contrast.into()).unwrap()));
            entries.push(entry);
        }
        let mut text = String::new();
        user.write_profile(&mut text).unwrap();
        Ok(json!({ "profile": entries, "text": text }))
    }

    /// `promote`
    pub fn promote(&mut self, name: &str, at: u32) -> Expected {
        let life = self.life(name);
        let promoted = life.user.user().promote(at).map_err(code)?;
        life.known |= promoted > 0;
        Ok(json!({ "promoted": promoted }))
    }

    /// `remember`, of a service with memory.
    pub fn remember(&mut self, name: &str, request: &str, answer: &str, at: u32) -> Expected {
        let life = self.life(name);
        life.known = true;
        life.exchanges.push(json!({ "request": request, "answer": answer, "at": at }));
        let leave = life.exchanges.len().saturating_sub(EXCHANGES);
        life.exchanges.drain(..leave);
        Ok(json!({ "remembered": true, "exchanges": life.exchanges.len() }))
    }

    /// `memories`
    pub fn memories(&mut self, name: &str) -> Expected {
        Ok(json!({ "memory": "on", "exchanges": self.life(name).exchanges }))
    }

    /// `recall` of the recent ones.
    pub fn recall(&mut self, name: &str) -> Expected {
        let exchanges = &self.life(name).exchanges;
        let recent = &exchanges[exchanges.len().saturating_sub(RECENT)..];
        let line =
            |kept: &Value| format!("{{\"user\":{},\"assistant\":{}}}\n", kept["request"], kept["answer"]);
        let lines: String = recent.iter().map(line).collect();
        let what = "arlier exchanges with this user";
        let text = format!("E{what}, for reference only, one JSON object a line:\n{lines}End of e{what}.");
        Ok(json!({ "text": if recent.is_empty() { String::new() } else { text }, "exchanges": recent }))
    }

    /// `unremember`
    pub fn unremember(&mut self, name: &str) -> Expected {
        Ok(json!({ "unremembered": std::mem::take(&mut self.life(name).exchanges).len() }))
    }

    /// `forget`
    pub fn forget(&mut self, name: &str) -> Expected {
        let forgotten = self.knows(name);
        self.lives.remove(name);
        self.incarnation += u32::from(forgotten);
        Ok(json!({ "forgotten": forgotten }))
    }
}

/// What a reward is answered with.
fn learned(user: &State) -> Value {
    let mut answer = json!({ "observations": user.observations() });
    if user.rewards_since_change() == Some(0) {
        answer["changed"] = true.into();
    }
    answer
}

/// The keys of a trial.
fn tried(trial: &Trial) -> Map<String, Value> {
    let Trial { trials, e_value, needed, average, certified, .. } = *trial;
    let average = json!({ "mean": average.mean, "lower": average.lower, "upper": average.upper });
    let keys = [
        ("trials", json!(trials)),
        ("e_value", json!(e_value)),
        ("needed", json!(needed)),
        ("average", average),
        ("certified", json!(certified.sign())),
    ];
    keys.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// The values of an action by component.
#[must_use]
pub fn named(catalog: &Catalog<'_>, action: Action) -> Value {
    let values = catalog.values(action).unwrap_or_default();
    let values = catalog.definition().components.iter().zip(&values);
    Value::Object(
        values
            .map(|(component, value)| {
                (component.name.into(), component.values[usize::from(*value)].name.into())
            })
            .collect(),
    )
}
