//! Random lives of many users: every op, mistakes included, each with the answer it must get.

use crate::dice::Dice;
use crate::oracle::{Expected, Oracle, named};
use fable_core::catalog::Part;
use fable_core::catalog::{Direction, Effect, When};
use fable_core::preference::Comparison;
use fable_core::{Action, Catalog, Context, DecisionId, Rule, Scalar, Statement, user_hash};
use serde_json::{Map, Value, json};

/// A pattern: components with their values.
type Pattern = Vec<(u8, Vec<u8>)>;

/// One request, as data.
#[derive(Clone, Debug)]
pub enum Step {
    /// `onboard`: JSON of the statements and what they mean.
    Onboard(String, Vec<(Value, Statement)>),
    /// `decide`
    Decide {
        /// Who.
        user: String,
        /// Where.
        context: Context,
        /// The rules.
        rules: Vec<(Effect, Pattern)>,
        /// A number per action.
        defaults: Option<Vec<f64>>,
        /// Draws for propensities.
        draws: Option<u32>,
        /// When.
        at: u32,
    },
    /// `recommend`: user, context, rules, a number per action.
    Recommend(String, Context, Vec<(Effect, Pattern)>, Option<Vec<f64>>),
    /// `feedback`: decision, reward, weight, time.
    Feedback(DecisionId, f64, f32, u32),
    /// `observe`: user, context, action, reward, a number per action, time.
    Observe(String, Context, Action, f64, Option<Vec<f64>>, u32),
    /// `unlearn`
    Unlearn(DecisionId),
    /// `waiting`: user, time.
    Waiting(String, u32),
    /// `posterior`
    Posterior(String),
    /// `contrast`
    Contrast(String, Comparison),
    /// `contrast` with the name of a declared one.
    Declared(String, usize),
    /// `explain`: decision, the other action, defaults.
    Explain(DecisionId, Option<Action>, Option<Vec<f64>>),
    /// `profile`
    Profile(String),
    /// `promote`: user, time.
    Promote(String, u32),
    /// `remember`: user, request, answer, time.
    Remember(String, String, String, u32),
    /// `memories`
    Memories(String),
    /// `recall` of the recent ones.
    Recall(String),
    /// `unremember`
    Unremember(String),
    /// `forget`
    Forget(String),
}

impl Step {
    /// The request as JSON.
    #[must_use]
    pub fn json(&self, catalog: &Catalog<'_>) -> Value {
        match self {
            Self::Onboard(user, statements) => {
                let statements: Vec<&Value> = statements.iter().map(|(value, _)| value).collect();
                json!({ "op": "onboard", "user": user, "statements": statements })
            }
            Self::Decide { user, context, rules, defaults, draws, at } => {
                let mut request = json!({ "op": "decide", "user": user, "context": context_json(catalog, context), "at": at });
                restrict(catalog, &mut request, rules, defaults.as_ref());
                if let Some(draws) = draws {
                    request["propensities"] = (*draws).into();
                }
                request
            }
            Self::Recommend(user, context, rules, defaults) => {
                let mut request =
                    json!({ "op": "recommend", "user": user, "context": context_json(catalog, context) });
                restrict(catalog, &mut request, rules, defaults.as_ref());
                request
            }
            Self::Feedback(decision, reward, weight, at) => {
                let mut request =
                    json!({ "op": "feedback", "decision": decision.to_string(), "reward": reward, "at": at });
                if *weight != 1.0 {
                    request["weight"] = (*weight).into();
                }
                request
            }
            Self::Observe(user, context, action, reward, defaults, at) => {
                let mut request = json!({ "op": "observe", "user": user, "context": context_json(catalog, context),
                    "action": named(catalog, *action), "reward": reward, "at": at });
                restrict(catalog, &mut request, &[], defaults.as_ref());
                request
            }
            Self::Unlearn(decision) => json!({ "op": "unlearn", "decision": decision.to_string() }),
            Self::Waiting(user, at) => json!({ "op": "waiting", "user": user, "at": at }),
            Self::Posterior(user) => json!({ "op": "posterior", "user": user }),
            Self::Contrast(user, Comparison { context, prefer, over, total }) => {
                json!({ "op": "contrast", "user": user,
                "context": context_json(catalog, context), "prefer": named(catalog, *prefer), "over": named(catalog, *over),
                "total": total })
            }
            Self::Declared(user, contrast) => {
                json!({ "op": "contrast", "user": user, "name": catalog.contrasts()[*contrast].name })
            }
            Self::Explain(decision, against, defaults) => {
                let mut request = json!({ "op": "explain", "decision": decision.to_string() });
                if let Some(against) = against {
                    request["against"] = named(catalog, *against);
                }
                if let Some(defaults) = defaults {
                    request["defaults"] = defaults.clone().into();
                }
                request
            }
            Self::Profile(user) => json!({ "op": "profile", "user": user }),
            Self::Promote(user, at) => json!({ "op": "promote", "user": user, "at": at }),
            Self::Remember(user, request, answer, at) => {
                json!({ "op": "remember", "user": user, "request": request, "answer": answer, "at": at })
            }
            Self::Memories(user) => json!({ "op": "memories", "user": user }),
            Self::Recall(user) => {
                // What the catalog calls it.
                let own =
                    catalog.component("memory").and_then(|memory| catalog.value(memory, "conversation"));
                let memory = if own.is_some() { "conversation" } else { "recent_memory" };
                json!({ "op": "recall", "user": user, "mode": memory, "request": "what?" })
            }
            Self::Unremember(user) => json!({ "op": "unremember", "user": user }),
            Self::Forget(user) => json!({ "op": "forget", "user": user }),
        }
    }

    /// The name of the op.
    #[must_use]
    pub const fn op(&self) -> &'static str {
        match self {
            Self::Onboard(..) => "onboard",
            Self::Decide { .. } => "decide",
            Self::Recommend(..) => "recommend",
            Self::Feedback(..) => "feedback",
            Self::Observe(..) => "observe",
            Self::Unlearn(..) => "unlearn",
            Self::Waiting(..) => "waiting",
            Self::Posterior(..) => "posterior",
            Self::Contrast(..) | Self::Declared(..) => "contrast",
            Self::Explain(..) => "explain",
            Self::Profile(..) => "profile",
            Self::Promote(..) => "promote",
            Self::Remember(..) => "remember",
            Self::Memories(..) => "memories",
            Self::Recall(..) => "recall",
            Self::Unremember(..) => "unremember",
            Self::Forget(..) => "forget",
        }
    }

    /// The user it names, if it may be the first thing that happens to one.
    #[must_use]
    pub fn user(&self) -> Option<&str> {
        match self {
            Self::Onboard(user, _)
            | Self::Decide { user, .. }
            | Self::Observe(user, ..)
            | Self::Promote(user, _)
            | Self::Remember(user, ..) => Some(user),
            _ => None,
        }
    }

    /// The number of the user that it is about.
    #[must_use]
    pub fn number(&self) -> u64 {
        match self {
            Self::Feedback(decision, ..) | Self::Unlearn(decision) | Self::Explain(decision, ..) => {
                decision.user
            }
            Self::Onboard(user, _)
            | Self::Decide { user, .. }
            | Self::Recommend(user, ..)
            | Self::Observe(user, ..)
            | Self::Waiting(user, _)
            | Self::Posterior(user)
            | Self::Contrast(user, _)
            | Self::Declared(user, _)
            | Self::Profile(user)
            | Self::Promote(user, _)
            | Self::Remember(user, ..)
            | Self::Memories(user)
            | Self::Recall(user)
            | Self::Unremember(user)
            | Self::Forget(user) => user_hash(user),
        }
    }

    /// What the answer has to be.
    ///
    /// # Errors
    /// The code of the error that has to be answered.
    pub fn play<T: Scalar>(&self, oracle: &mut Oracle<T>) -> Expected {
        match self {
            Self::Onboard(user, statements) => {
                let statements: Vec<Statement> =
                    statements.iter().map(|(_, statement)| statement.clone()).collect();
                oracle.onboard(user, &statements)
            }
            Self::Decide { user, context, rules, defaults, draws, at } => {
                let parts = parts(rules);
                oracle.decide(user, context, &ruled(rules, &parts), defaults.as_deref(), *draws, *at)
            }
            Self::Recommend(user, context, rules, defaults) => {
                let parts = parts(rules);
                oracle.recommend(user, context, &ruled(rules, &parts), defaults.as_deref())
            }
            Self::Feedback(decision, reward, weight, at) => oracle.feedback(*decision, *reward, *weight, *at),
            Self::Observe(user, context, action, reward, defaults, at) => {
                oracle.observe(user, context, *action, *reward, defaults.as_deref(), *at)
            }
            Self::Unlearn(decision) => oracle.unlearn(*decision),
            Self::Waiting(user, at) => oracle.waiting(user, *at),
            Self::Posterior(user) => oracle.posterior(user),
            Self::Contrast(user, comparison) => oracle.contrast(user, comparison),
            Self::Declared(user, contrast) => oracle.declared(user, *contrast),
            Self::Explain(decision, against, defaults) => {
                oracle.explain(*decision, *against, defaults.as_deref())
            }
            Self::Profile(user) => oracle.profile(user),
            Self::Promote(user, at) => oracle.promote(user, *at),
            Self::Remember(user, request, answer, at) => oracle.remember(user, request, answer, *at),
            Self::Memories(user) => oracle.memories(user),
            Self::Recall(user) => oracle.recall(user),
            Self::Unremember(user) => oracle.unremember(user),
            Self::Forget(user) => oracle.forget(user),
        }
    }
}

fn parts(rules: &[(Effect, Pattern)]) -> Vec<Vec<Part<'_>>> {
    rules
        .iter()
        .map(|(_, pattern)| pattern.iter().map(|(component, values)| Part::new(*component, values)).collect())
        .collect()
}

fn ruled<'r>(rules: &[(Effect, Pattern)], parts: &'r [Vec<Part<'r>>]) -> Vec<Rule<'r>> {
    rules
        .iter()
        .zip(parts)
        .map(|((effect, _), pattern)| Rule { name: "", effect: *effect, pattern })
        .collect()
}

/// Whether an answer is the expected one. Numbers are compared exactly.
///
/// # Errors
/// What differs, for people.
pub fn compare(expected: &Expected, answer: &Value) -> Result<(), String> {
    let same = match expected {
        Ok(value) => value == answer,
        Err(code) => {
            answer["error"]["code"] == *code && answer.as_object().is_some_and(|answer| answer.len() == 1)
        }
    };
    if same { Ok(()) } else { Err(format!("expected {expected:?}\nfound {answer}")) }
}

/// The context as a request has it.
#[must_use]
pub fn context_json(catalog: &Catalog<'_>, context: &Context) -> Value {
    let definition = catalog.definition();
    let signals = definition
        .signals
        .iter()
        .zip(context.signals())
        .map(|(name, value)| ((*name).to_owned(), json!(value)));
    let task = context.task().map(|task| definition.tasks[task]);
    Value::Object(std::iter::once(("task".to_owned(), json!(task))).chain(signals).collect())
}

/// Adds rules and default scores to a request.
fn restrict(
    catalog: &Catalog<'_>,
    request: &mut Value,
    rules: &[(Effect, Pattern)],
    defaults: Option<&Vec<f64>>,
) {
    for (effect, key) in [(Effect::Forbid, "forbid"), (Effect::Require, "require"), (Effect::Only, "only")] {
        let patterns: Vec<Value> =
            rules.iter().filter(|rule| rule.0 == effect).map(|rule| pattern_json(catalog, &rule.1)).collect();
        if !patterns.is_empty() {
            request[key] = patterns.into();
        }
    }
    if let Some(defaults) = defaults {
        request["defaults"] = defaults.clone().into();
    }
}

fn pattern_json(catalog: &Catalog<'_>, pattern: &Pattern) -> Value {
    let part = |(component, values): &(u8, Vec<u8>)| {
        let component = &catalog.definition().components[usize::from(*component)];
        let names: Vec<&str> =
            values.iter().map(|value| component.values[usize::from(*value)].name).collect();
        (component.name.to_owned(), if let [one] = names[..] { json!(one) } else { json!(names) })
    };
    Value::Object(pattern.iter().map(part).collect::<Map<_, _>>())
}

/// Makes steps; the seed decides everything.
#[derive(Clone, Debug)]
pub struct Script {
    dice: Dice,
    users: Vec<String>,
    /// One forget in so many steps; 0 for none.
    forgets: usize,
    /// The caller's time.
    now: u32,
    last_defaults: Option<Vec<f64>>,
    /// Whether users like the first value of the first component, and show it.
    taste: bool,
    /// Whether there is something to be remembered.
    memory: bool,
}

impl Script {
    /// A script over some users.
    #[must_use]
    pub fn new(seed: u64, users: usize, forgets: usize) -> Self {
        let users = (0..users).map(|user| format!("user {user} \"\u{e4}\" of script {seed}")).collect();
        Self {
            dice: Dice::new(seed),
            users,
            forgets,
            now: 0,
            last_defaults: None,
            taste: false,
            memory: false,
        }
    }

    /// The same with users who like the first value of the first component better than the others, so that it can become certain.
    #[must_use]
    pub const fn with_taste(mut self) -> Self {
        self.taste = true;
        self
    }

    /// The same with exchanges that are kept, for a service with memory.
    #[must_use]
    pub const fn with_memory(mut self) -> Self {
        self.memory = true;
        self
    }

    /// The users' names.
    #[must_use]
    pub fn users(&self) -> &[String] {
        &self.users
    }

    /// From now on it is about these users.
    pub fn pick_from(&mut self, users: &[String]) {
        self.users = users.to_vec();
    }

    /// The next step of a life that has come as far as the oracle's.
    pub fn step<T: Scalar>(&mut self, oracle: &mut Oracle<T>) -> Step {
        let catalog = oracle.catalog();
        let user = self.dice.pick(&self.users).clone();
        self.now += self.dice.below(3) as u32;
        if self.forgets > 0 && self.dice.once_in(self.forgets) {
            return Step::Forget(user);
        }
        if self.memory && self.dice.once_in(3) {
            let words =
                |dice: &mut Dice| "\"\u{e4}\n ".repeat(dice.below(40)) + &dice.below(1_000).to_string();
            return match self.dice.below(20) {
                0 => Step::Unremember(user),
                1..=3 => Step::Memories(user),
                4..=6 => Step::Recall(user),
                _ => Step::Remember(user, words(&mut self.dice), words(&mut self.dice), self.now),
            };
        }
        match self.dice.below(100) {
            0..=3 => self.onboard(catalog, user),
            4..=40 => self.decide(catalog, user),
            41..=43 => {
                let (context, rules, defaults) =
                    (self.context(catalog), self.rules(catalog), self.defaults(catalog, 4));
                Step::Recommend(user, context, rules, defaults)
            }
            44..=77 => {
                let reward = if self.dice.once_in(40) { 1.5 } else { 2.0 * self.dice.unit() - 1.0 };
                let weight = if self.dice.once_in(20) { 0.25 } else { 1.0 };
                let decision = self.decision(oracle, &user);
                let first = oracle
                    .action(decision)
                    .and_then(|action| catalog.values(action))
                    .map(|values| values[0] == 0);
                let reward = match first {
                    Some(first) if self.taste => 0.25 * reward + if first { 0.6 } else { -0.6 },
                    _ => reward,
                };
                Step::Feedback(decision, reward, weight, self.now)
            }
            78 => Step::Waiting(user, self.now),
            79..=82 => {
                let (context, action, defaults) =
                    (self.context(catalog), self.action(catalog), self.defaults(catalog, 3));
                Step::Observe(user, context, action, self.dice.unit(), defaults, self.now)
            }
            // What is taken back starts again what coins have shown, and nothing would ever be certain.
            83..=86 if !self.taste || self.dice.once_in(20) => Step::Unlearn(self.decision(oracle, &user)),
            87 => Step::Posterior(user),
            88..=91 if self.dice.once_in(3) => {
                Step::Declared(user, self.dice.below(catalog.contrasts().len()))
            }
            88..=91 => {
                let prefer = self.action(catalog);
                let over =
                    if self.dice.once_in(4) { self.action(catalog) } else { self.neighbour(catalog, prefer) };
                Step::Contrast(
                    user,
                    Comparison { context: self.context(catalog), prefer, over, total: self.dice.once_in(2) },
                )
            }
            92..=95 => {
                let (incarnation, rounds) = oracle.rounds(&user);
                let last = DecisionId { user: user_hash(&user), incarnation, site: 0, round: rounds };
                let against = self.dice.once_in(2).then(|| self.action(catalog));
                Step::Explain(last, against, self.last_defaults.clone().filter(|_| self.dice.once_in(2)))
            }
            _ if self.dice.once_in(2) => Step::Promote(user, self.now),
            _ => Step::Profile(user),
        }
    }

    fn onboard(&mut self, catalog: &'static Catalog<'static>, user: String) -> Step {
        let definition = catalog.definition();
        let mut statements = Vec::new();
        for _ in 0..self.dice.below(3) {
            let (response, precision) = (self.dice.unit(), 8.0 * self.dice.unit() + 0.01);
            let component = self.dice.below(definition.components.len());
            let own = &definition.components[component];
            let (wanted, unwanted) = (self.dice.below(own.values.len()), self.dice.below(own.values.len()));
            if self.dice.once_in(2) {
                let name = format!("{}={}", own.name, own.values[wanted].name);
                let coefficient = 2.0 * self.dice.unit() + 0.1;
                if let Ok(direction) = Direction::from_names(catalog, &[(&name, coefficient)]) {
                    let direction_json: Map<String, Value> =
                        std::iter::once((name, json!(coefficient))).collect();
                    let value =
                        json!({ "direction": direction_json, "response": response, "precision": precision });
                    statements.push((value, Statement { direction, response, precision }));
                }
                continue;
            }
            let task = (!definition.tasks.is_empty() && self.dice.once_in(2))
                .then(|| self.dice.below(definition.tasks.len()));
            let when = task.map_or(When::Always, When::Task);
            let (prefer, over) = ([(component as u8, wanted as u8)], [(component as u8, unwanted as u8)]);
            if let Ok(direction) = Direction::prefer(catalog, &prefer, &over, when) {
                let mut value = json!({ "prefer": { own.name: own.values[wanted].name },
                    "over": { own.name: own.values[unwanted].name }, "response": response, "precision": precision });
                if let Some(task) = task {
                    value["when"] = json!({ "task": definition.tasks[task] });
                }
                statements.push((value, Statement { direction, response, precision }));
            }
        }
        Step::Onboard(user, statements)
    }

    fn decide(&mut self, catalog: &'static Catalog<'static>, user: String) -> Step {
        let (context, rules, defaults) =
            (self.context(catalog), self.rules(catalog), self.defaults(catalog, 8));
        self.last_defaults.clone_from(&defaults);
        let draws = self.dice.once_in(20).then(|| self.dice.below(30) as u32);
        Step::Decide { user, context, rules, defaults, draws, at: self.now }
    }

    fn rules(&mut self, catalog: &Catalog<'_>) -> Vec<(Effect, Pattern)> {
        let mut rules = Vec::new();
        for effect in [Effect::Forbid, Effect::Require, Effect::Only] {
            if self.dice.once_in(4) {
                rules.push((effect, self.pattern(catalog)));
            }
        }
        rules
    }

    /// A number per action, once in so many times.
    fn defaults(&mut self, catalog: &Catalog<'_>, times: usize) -> Option<Vec<f64>> {
        self.dice.once_in(times).then(|| (0..catalog.actions()).map(|_| self.dice.unit()).collect())
    }

    fn context(&mut self, catalog: &Catalog<'_>) -> Context {
        let definition = catalog.definition();
        let task = (!definition.tasks.is_empty() && !self.dice.once_in(8))
            .then(|| self.dice.below(definition.tasks.len()));
        let signals: Vec<f32> = definition.signals.iter().map(|_| self.dice.unit() as f32).collect();
        Context::new(catalog, task, &signals).unwrap()
    }

    fn action(&mut self, catalog: &Catalog<'_>) -> Action {
        Action(self.dice.below(catalog.actions()) as u16)
    }

    /// The action with another value in one component.
    fn neighbour(&mut self, catalog: &Catalog<'_>, action: Action) -> Action {
        let mut values = catalog.values(action).unwrap();
        let component = self.dice.below(values.len());
        let count = catalog.definition().components[component].values.len();
        values[component] =
            (usize::from(values[component]) + 1 + self.dice.below(count - 1)) as u8 % count as u8;
        catalog.action(&values).unwrap()
    }

    fn pattern(&mut self, catalog: &Catalog<'_>) -> Pattern {
        let components = catalog.definition().components;
        let (first, count) = (self.dice.below(components.len()), 1 + self.dice.below(2));
        let mut pattern = Vec::new();
        for component in (0..components.len()).cycle().skip(first).take(count) {
            let mut values: Vec<u8> =
                (0..components[component].values.len() as u8).filter(|_| self.dice.once_in(2)).collect();
            if values.is_empty() {
                values.push(0);
            }
            pattern.push((component as u8, values));
        }
        pattern
    }

    /// Most often a decision that waits, sometimes an old one, one that never was, or another user's.
    fn decision<T: Scalar>(&mut self, oracle: &mut Oracle<T>, user: &str) -> DecisionId {
        let (incarnation, rounds) = oracle.rounds(user);
        let back = if self.dice.once_in(10) { self.dice.below(200) } else { self.dice.below(6) };
        let round = if self.dice.once_in(50) { rounds + 1 } else { rounds.saturating_sub(back as u32) };
        let incarnation = if self.dice.once_in(50) { incarnation + 1 } else { incarnation };
        DecisionId { user: user_hash(user), incarnation, site: 0, round }
    }
}
