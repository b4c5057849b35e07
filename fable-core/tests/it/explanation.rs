//! Explanations against the oracle: each part is equal, the parts add up to the maximized score, and the
//! runner-up is the second best. Asking changes nothing.

use crate::common::{self, MIXED, Random, Sums, features, features_by_name};
use fable_core::catalog::ActionSet;
use fable_core::catalog::{AGENT, Catalog, Part, RUBRIC, TAU2};
use fable_core::explain::{Explanation, Source};
use fable_core::journal::Command;
use fable_core::posterior::PosteriorError;
use fable_core::{
    Action, Context, DecisionId, Exploration, Feasible, HostUser, Policy, Request, Rule, Scalar, Settings,
    UserError,
};
use std::cell::Cell;
use std::collections::BTreeMap;

/// Every tolerance in one place: (`f64`, `f32`). Sums are of a dozen numbers of the size of a reward.
const SUM: (f64, f64) = (1e-14, 1e-6);
const BLOCK: (f64, f64) = (1e-11, 5e-5);

fn pick<T: Scalar>(tolerance: (f64, f64)) -> f64 {
    if T::DIGITS == 53 { tolerance.0 } else { tolerance.1 }
}

fn one(action: Action) -> ActionSet {
    let mut set = ActionSet::EMPTY;
    set.insert(action);
    set
}

fn start<'p, T: Scalar, const R: usize>(policy: &Policy<'p, T>) -> HostUser<'p, T, R> {
    common::start(policy, 7)
}

/// The blocks of each catalog by name, in the order of the definition.
fn block_names(catalog: &Catalog<'_>) -> Vec<&'static str> {
    let names = match catalog.definition().name {
        "rubric" => "rigor steps examples",
        "tau2" => "memory tool style memory*tool memory*style tool*style",
        "mixed" => "b*c a task*c b t*c task*s*a*b a*b*c t*a*c task*t*a",
        _ => {
            "memory tool style task*style task*tool memory_need*memory tool_need*tool risk*style ambiguity*style \
             memory*tool memory*style tool*style"
        }
    };
    names.split(' ').collect()
}

/// `task=coding*style=concise` belongs to the block `task*style`.
fn block_of(catalog: &Catalog<'_>, coordinate: usize) -> String {
    let name = catalog.coordinate_name(coordinate).unwrap().to_string();
    name.split('*').map(|factor| factor.split('=').next().unwrap()).collect::<Vec<_>>().join("*")
}

/// Contribution of each block to the score of an action at the oracle's mean, by the names of the coordinates
/// alone.
fn blocks(
    catalog: &Catalog<'_>,
    mean: &[f64],
    context: &Context,
    action: Action,
) -> BTreeMap<String, (usize, f64)> {
    let features = features_by_name(catalog, context, action).into_iter();
    features.map(|(index, value)| (block_of(catalog, index), (index, mean[index] * value))).collect()
}

/// What the parts add to the action chosen and to the other one.
fn of<T: Scalar>(explanation: &Explanation<'_, T>, source: Source) -> [f64; 2] {
    let mut found = explanation.shares().filter(|share| share.source == source);
    let share = found.next().unwrap();
    assert!(found.next().is_none(), "{source:?} comes twice");
    [share.chosen, share.other]
}

/// One decision, explained against every action.
struct Asked<'a, T> {
    policy: &'a Policy<'a, T>,
    /// The same with draws twice as wide.
    wider: &'a Policy<'a, T>,
    /// How often a wider draw led to the same decision.
    compared: &'a Cell<u32>,
    mean: &'a [f64],
    context: Context,
    defaults: Option<Vec<f64>>,
    feasible: Feasible,
}

impl<T: Scalar> Asked<'_, T> {
    /// Returns whether the decision explored.
    fn explain_against_all(
        &self,
        ana: &mut HostUser<'_, T, 4>,
        id: DecisionId,
        chosen: Action,
        baseline: f64,
    ) -> bool {
        let policy = self.policy;
        let catalog = self.policy.catalog();
        let defaults = self.defaults.as_deref();
        let mut wider = HostUser::from_learner(self.wider, ana.learner().clone()).unwrap();
        let mut scores = vec![];
        for action in catalog.all_actions().iter() {
            let mut user = ana.user();
            let why = user.explain(id, defaults, Some(action)).unwrap();
            assert_eq!(
                (why.chosen, why.other, why.feasible),
                (chosen, action, self.feasible.set().contains(action))
            );
            assert!(!why.feasible || why.chosen_score >= why.other_score, "{why}");
            scores.push((why.chosen_score, why.other_score));

            // The parts add up to the two scores.
            let sums =
                why.shares().fold([0.0; 2], |sums, share| [sums[0] + share.chosen, sums[1] + share.other]);
            assert!((sums[0] - why.chosen_score).abs() <= pick::<T>(SUM), "{sums:?} {why}");
            assert!((sums[1] - why.other_score).abs() <= pick::<T>(SUM), "{sums:?} {why}");

            // Default and cost are the baseline that the reward is compared with.
            let (known, cost) = (of(&why, Source::Default), of(&why, Source::Cost));
            let default = defaults.map(|defaults| defaults[action.index()]);
            let other = policy.baseline(&self.context, action, default).to_f64();
            assert!((known[0] + cost[0] - baseline).abs() <= pick::<T>(SUM) && cost[0] <= 0.0);
            assert!((known[1] + cost[1] - other).abs() <= pick::<T>(SUM) && cost[1] <= 0.0);
            assert!((cost[1] + 0.7 * catalog.cost(action)).abs() <= pick::<T>(SUM));

            self.blocks_are_the_oracles(&why);
            let draw = of(&why, Source::Draw);
            assert_eq!(why.shares().last().unwrap().source, Source::Draw);

            // What the draw adds is linear in nu: nothing else hides in it. A wider draw may lead elsewhere.
            let mut wider = wider.user();
            let why = match wider.explain(id, defaults, Some(action)) {
                Err(UserError::Stale) => continue,
                why => why.unwrap(),
            };
            self.compared.set(self.compared.get() + 1);
            let wider = of(&why, Source::Draw);
            for (draw, wider) in draw.into_iter().zip(wider) {
                assert!((2.0 * draw - wider).abs() <= 20.0 * pick::<T>(SUM), "{draw} {wider}");
            }
        }
        // The runner-up by all those answers; of equals the earliest.
        assert!(scores.windows(2).all(|pair| pair[0].0 == pair[1].0));
        let rest = self.feasible.set().iter().filter(|action| *action != chosen);
        let second = rest.fold(None, |best: Option<Action>, action| match best {
            Some(best) if scores[best.index()].1 >= scores[action.index()].1 => Some(best),
            _ => Some(action),
        });
        let mut user = ana.user();
        let why = user.explain(id, defaults, None).unwrap();
        assert_eq!((why.other, why.feasible), (second.unwrap_or(chosen), true));
        assert_eq!(why.other_score, scores[why.other.index()].1);
        let explored = why.explored;
        let request = Request { defaults, ..Request::new(&self.context, &self.feasible) };
        let (_, best) = ana.user().recommend(&request).unwrap();
        let only = Feasible::from_set(policy.catalog(), one(chosen)).unwrap();
        let request = Request { defaults, ..Request::new(&self.context, &only) };
        let (_, own) = ana.user().recommend(&request).unwrap();
        assert_eq!(explored, own < best);
        explored
    }

    fn blocks_are_the_oracles(&self, why: &Explanation<'_, T>) {
        let catalog = self.policy.catalog();
        let [mut chosen, mut other] =
            [why.chosen, why.other].map(|action| blocks(catalog, self.mean, &self.context, action));
        for share in why.shares() {
            let Source::Block(index) = share.source else { continue };
            let name = block_names(catalog)[usize::from(index)];
            let [chosen, other] = [chosen.remove(name), other.remove(name)];
            assert!(chosen.is_some() || other.is_some(), "{name}");
            assert_eq!(share.chosen_coordinate, chosen.map(|(coordinate, _)| coordinate));
            assert_eq!(share.other_coordinate, other.map(|(coordinate, _)| coordinate));
            assert!(
                (share.chosen - chosen.map_or(0.0, |(_, part)| part)).abs() <= pick::<T>(BLOCK),
                "{name}"
            );
            assert!((share.other - other.map_or(0.0, |(_, part)| part)).abs() <= pick::<T>(BLOCK), "{name}");
        }
        assert!(chosen.is_empty() && other.is_empty(), "left out: {chosen:?} {other:?}");
    }
}

/// Learns at random and explains some decisions; returns how many explored and how many did not.
fn explanations_are_the_oracles<T: Scalar>(catalog: &Catalog<'static>, seed: u64) -> [u32; 2] {
    let mut random = Random(seed);
    let settings = Settings {
        noise_variance: 0.3,
        base_precision: Some(2.0),
        cost_weight: 0.7,
        exploration: Exploration::Constant(0.5),
        ..Settings::PAPER
    };
    let policy = Policy::<T>::new(catalog, settings).unwrap();
    let wider =
        Policy::new(catalog, Settings { exploration: Exploration::Constant(1.0), ..settings }).unwrap();
    let mut ana = start::<T, 4>(&policy);
    let mut dense = Sums::isotropic(catalog.dimension(), 2.0);
    for _ in 0..200 {
        let context = random.context(catalog);
        let action = random.action(catalog);
        let reward = random.signed();
        ana.user().observe(&context, action, reward).unwrap();
        let reference = catalog.default_score(&context, action) - 0.7 * catalog.cost(action);
        dense.observe(&features(catalog, &context, action), reward - reference, 0.3);
    }
    let mean = dense.solved().mean;
    let (mut counts, compared) = ([0; 2], Cell::new(0));
    for round in 0..12 {
        let mut set = ActionSet::EMPTY;
        set.insert(random.action(catalog));
        let open = random.unit(); // from one action to nearly all
        catalog.all_actions().iter().filter(|_| random.unit() < open).for_each(|action| set.insert(action));
        let feasible = Feasible::from_set(catalog, set).unwrap();
        let defaults =
            (round % 3 == 0).then(|| (0..catalog.actions()).map(|_| 0.2 * random.signed()).collect());
        let context = random.context(catalog);
        let asked = Asked {
            policy: &policy,
            wider: &wider,
            compared: &compared,
            mean: mean.as_slice(),
            context,
            defaults,
            feasible,
        };

        // Several decisions wait; each has its own draw and is explained by it.
        let request =
            Request { defaults: asked.defaults.as_deref(), ..Request::new(&asked.context, &asked.feasible) };
        let decisions = [(); 2].map(|()| ana.user().decide(&request).unwrap());
        let before = ana.clone();
        for decision in decisions {
            let explored =
                asked.explain_against_all(&mut ana, decision.id, decision.action, decision.baseline);
            counts[usize::from(explored)] += 1;
        }
        assert_eq!(ana, before);
    }
    assert!(compared.get() > 10, "{}", compared.get());
    counts
}

#[test]
fn explanations_take_the_score_apart() {
    for (seed, catalog) in [&RUBRIC, &TAU2, &MIXED, &AGENT].into_iter().enumerate() {
        let double = explanations_are_the_oracles::<f64>(catalog, seed as u64);
        let single = explanations_are_the_oracles::<f32>(catalog, 100 + seed as u64);
        assert!(
            double.iter().chain(&single).all(|count| *count > 0),
            "{} {double:?} {single:?}",
            catalog.definition().name
        );
    }
}

/// The draw's share of a fixed action is normal with mean 0 and variance nu^2 phi.Sigma.phi.
#[test]
fn the_draw_is_the_draw() {
    let policy = Policy::<f64>::new(&TAU2, Settings::PAPER).unwrap();
    let mut ana = start::<f64, 1>(&policy);
    let (context, all) = (Context::new(&TAU2, None, &[]).unwrap(), Feasible::all(&TAU2));
    for action in 0..9 {
        ana.user().observe(&context, Action(action), 0.5).unwrap();
    }
    let asked = Action(5);
    let variance = 0.3 * 0.3 * ana.user().predict(&context, asked, None).unwrap().variance;
    let count = 10_000;
    let mut sum = 0.0;
    let mut squares = 0.0;
    for _ in 0..count {
        let decision = ana.user().decide(&Request::new(&context, &all)).unwrap();
        let mut user = ana.user();
        let why = user.explain(decision.id, None, Some(asked)).unwrap();
        let draw = of(&why, Source::Draw)[1];
        (sum, squares) = (sum + draw, squares + draw * draw);
    }
    let count = f64::from(count);
    assert!((sum / count).abs() < 4.5 * (variance / count).sqrt(), "{sum}");
    assert!((squares / count / variance - 1.0).abs() < 4.5 * (2.0 / count).sqrt(), "{squares}");
}

const RULES: [Rule<'static>; 2] = [
    Rule::forbid("no verification", &[Part::new(1, &[1])]),
    Rule::require("keep the conversation", &[Part::new(0, &[1])]),
];

#[test]
fn an_infeasible_action_is_charged_to_its_rule() {
    let policy = Policy::<f32>::new(&TAU2, Settings::PAPER).unwrap();
    let mut ana = start::<f32, 4>(&policy);
    let context = Context::new(&TAU2, None, &[]).unwrap();
    let feasible = Feasible::new(&TAU2, &RULES).unwrap();
    let mut user = ana.user();
    let decision = user.decide(&Request::new(&context, &feasible)).unwrap();
    for (values, rule) in [
        ([1, 1, 0], Some("no verification")),
        ([0, 1, 0], Some("no verification")),
        ([0, 0, 0], Some("keep the conversation")),
        ([1, 0, 2], None),
    ] {
        let action = TAU2.action(&values).unwrap();
        let why = user.explain(decision.id, None, Some(action)).unwrap();
        assert_eq!((why.feasible, why.removed_by(&RULES).map(|rule| rule.name)), (rule.is_none(), rule));
        assert_eq!(why.to_string().contains(", not feasible\n"), rule.is_some());
    }
    let runner_up = user.explain(decision.id, None, None).unwrap();
    assert!(runner_up.feasible && runner_up.removed_by(&RULES).is_none());
}

#[test]
fn what_cannot_be_explained() {
    let policy = Policy::<f64>::new(&MIXED, Settings::PAPER).unwrap();
    let mut ana = start::<f64, 2>(&policy);
    let (context, all) = (Context::new(&MIXED, Some(0), &[0.5, 0.5]).unwrap(), Feasible::all(&MIXED));
    let decisions = [(); 3].map(|()| ana.user().decide(&Request::new(&context, &all)).unwrap());
    let (ids, chosen) = (decisions.map(|decision| decision.id), decisions[2].action);
    let before = ana.clone();
    let known = ids[2];
    let mut refuse = |id: DecisionId, defaults: Option<&[f64]>, other: Option<Action>, error: UserError| {
        let answer = ana.user().explain(id, defaults, other).map(|why| why.to_string());
        assert_eq!(answer, Err(error));
        assert_eq!(ana, before);
    };
    refuse(ids[0], None, None, UserError::ExpiredDecision);
    for round in [0, 4, u32::MAX] {
        refuse(DecisionId { round, ..known }, None, None, UserError::UnknownDecision);
    }
    refuse(DecisionId { user: 8, ..known }, None, None, UserError::UnknownDecision);
    refuse(DecisionId { incarnation: 1, ..known }, None, None, UserError::UnknownDecision);
    refuse(known, None, Some(Action(24)), UserError::UnknownAction);
    refuse(known, Some(&[0.0; 23]), None, UserError::DefaultCount { expected: 24 });
    let mut defaults = [0.0; 24];
    defaults[5] = f64::NAN;
    refuse(known, Some(&defaults), None, UserError::DefaultRange { action: 5 });
    let small = UserError::Posterior(PosteriorError::WorkspaceLength);
    let mut learner = ana.learner().clone();
    assert_eq!(learner.bind(&policy, &mut vec![0.0; MIXED.workspace_len() - 1]).map(|_| ()), Err(small));
    let noisier = Policy::<f64>::new(&MIXED, Settings { noise_variance: 1.0, ..Settings::PAPER }).unwrap();
    let foreign = UserError::ForeignPolicy;
    assert_eq!(learner.bind(&noisier, &mut vec![0.0; MIXED.workspace_len()]).map(|_| ()), Err(foreign));

    // With other defaults, another seed or later learning, no wrong explanation is given.
    let stale = |answer: Result<Explanation<'_, f64>, UserError>| {
        assert_eq!(answer.map(|_| ()), Err(UserError::Stale));
    };
    stale(ana.user().explain(known, Some(&[0.5; 24]), None));
    let reseeded =
        (1..).map(|seed| Policy::<f64>::new(&MIXED, Settings { seed, ..Settings::PAPER }).unwrap());
    let another = |policy: Policy<'_, f64>| {
        HostUser::from_learner(&policy, learner.clone()).unwrap().user().explain(known, None, None).is_err()
    };
    assert!(reseeded.take(4).map(another).filter(|refused| *refused).count() > 1);
    for _ in 0..20 {
        ana.user().observe(&context, chosen, -1.0).unwrap();
    }
    stale(ana.user().explain(known, None, None));
    ana.user().forget().unwrap();
    let answer = ana.user().explain(known, None, None).map(|why| why.to_string());
    assert_eq!(answer, Err(UserError::UnknownDecision));
}

#[test]
fn the_text_is_pinned() {
    let policy = Policy::<f64>::new(&MIXED, Settings::PAPER).unwrap();
    let mut ana = start::<f64, 1>(&policy);
    let (context, all) = (Context::new(&MIXED, Some(2), &[0.75, 0.25]).unwrap(), Feasible::all(&MIXED));
    for action in 0..24 {
        let reward = if action % 4 == 3 { 0.9 } else { -0.3 };
        ana.user().observe(&context, Action(action), reward).unwrap();
    }
    let decision = ana.user().decide(&Request::new(&context, &all)).unwrap();
    let other = MIXED.action_named("a=a0*b=b1*c=c2");
    let text = ana.user().explain(decision.id, None, other).unwrap().to_string();
    assert_eq!(text, GOLDEN);
    // Every number is in thousandths.
    let numbers = text.split_whitespace().filter(|word| word.contains('.'));
    assert!(numbers.clone().count() > 20);
    for number in numbers {
        let (whole, thousandths) = number.split_once('.').unwrap();
        let digits = whole.trim_start_matches(['+', '-']).chars().chain(thousandths.chars());
        assert!(thousandths.len() == 3 && digits.into_iter().all(|digit| digit.is_ascii_digit()), "{number}");
    }
}

/// The known part by hand: b is 0.3 for s > 0.5 with c3 and 0.05 for t >= 0.25 with a0; c3 costs 0.4.
const GOLDEN: &str = "\
chosen +0.677 a=a0*b=b1*c=c3, to explore
not    -0.048 a=a0*b=b1*c=c2
  +0.350 +0.050 default score
  -0.400 0.000 cost
  -0.009 -0.009 a=a0 against a=a0
  +0.566 -0.125 task=z*c=c3 against task=z*c=c2
  +0.035 0.000 t*c=c3 against nothing
  -0.001 -0.001 task=z*t*a=a0 against task=z*t*a=a0
  -0.044 -0.044 task=z*s*a=a0*b=b1 against task=z*s*a=a0*b=b1
  +0.078 -0.034 a=a0*b=b1*c=c3 against a=a0*b=b1*c=c2
  +0.014 -0.002 t*a=a0*c=c3 against t*a=a0*c=c2
  +0.087 +0.117 the draw
";

#[test]
fn the_only_feasible_action_is_compared_with_itself() {
    let policy = Policy::<f64>::new(&TAU2, Settings::PAPER).unwrap();
    let mut ana = start::<f64, 1>(&policy);
    let context = Context::new(&TAU2, None, &[]).unwrap();
    let mut set = ActionSet::EMPTY;
    set.insert(Action(11));
    let only = Feasible::from_set(&TAU2, set).unwrap();
    let mut user = ana.user();
    let decision = user.decide(&Request::new(&context, &only)).unwrap();
    let why = user.explain(decision.id, None, None).unwrap();
    assert_eq!((why.chosen, why.other, why.feasible, why.explored), (Action(11), Action(11), true, false));
    assert_eq!(why.chosen_score, why.other_score);
    assert!(why.shares().all(|share| share.chosen == share.other));
}

/// A scored command reports about its action the same as a later explanation of the decision. Asking for
/// scores changes nothing.
#[test]
fn a_scored_command_agrees_with_the_explanation() {
    fn run<T: Scalar>(catalog: &Catalog<'_>) {
        let policy = Policy::<T>::new(
            catalog,
            Settings { exploration: Exploration::Constant(1.0), ..Settings::PAPER },
        )
        .unwrap();
        let mut ana = start::<T, 4>(&policy);
        let (mut random, mut explored) = (Random(11), 0);
        for round in 0..200 {
            let task =
                (!catalog.definition().tasks.is_empty()).then(|| round % catalog.definition().tasks.len());
            let signals: Vec<f32> =
                catalog.definition().signals.iter().map(|_| random.unit() as f32).collect();
            let context = Context::new(catalog, task, &signals).unwrap();
            let defaults: Vec<f64> = (0..catalog.actions()).map(|_| random.unit()).collect();
            let feasible = if round % 3 == 0 {
                Feasible::from_set(catalog, ActionSet::first(catalog.actions() / 2)).unwrap()
            } else {
                Feasible::all(catalog)
            };
            let mut request = Request::new(&context, &feasible).at(7);
            if round % 2 == 0 {
                request = request.with_defaults(&defaults);
            }
            let before = ana.clone();
            let mut command = Command::decide(request).scored();
            assert!(ana.user().next(&mut command).unwrap().is_some());
            assert_eq!(ana, before);
            let (mut user, mut plain) = (ana.user(), before);
            user.run(&mut command).unwrap();
            let (decision, scores) = (command.decision(&user).unwrap(), command.scores().unwrap());
            assert_eq!(decision, plain.user().decide(&request).unwrap());
            let default = request.defaults.map(|defaults| defaults[decision.action.index()]);
            let mean = user.predict(&context, decision.action, default).unwrap().mean.to_f64();
            assert!((scores.score - mean).abs() <= pick::<T>(BLOCK), "{} {mean}", scores.score);
            let why = user.explain(decision.id, request.defaults, None).unwrap();
            assert_eq!((scores.sampled_score, scores.explored), (why.chosen_score, why.explored));
            explored += usize::from(why.explored);
            assert_eq!(ana, plain);
            ana.user().feedback(decision.id, 2.0 * random.unit() - 1.0).unwrap();
        }
        assert!((10..190).contains(&explored), "{explored}");
    }
    run::<f64>(&AGENT);
    run::<f32>(&TAU2);
    run::<f64>(&MIXED);
}
