//! What can be known, given what is allowed: against spans of features that were met one by one, and as people see it.

use fable_core::analysis::Span;
use fable_core::catalog::{Effect, When, stopped_by};
use fable_core::journal::Command;
use fable_core::preference::Comparison;
use fable_core::{Action, Catalog, Context, Feasible, HostUser, Policy, Request, Settings, catalog};
use fable_std::identify::{Allowed, SafeSpan};
use fable_std::inspect::{ContrastReport, Question, inspect, inspect_under};
use fable_std::text::{Constraint, OnboardingAdapter, PreferenceText, Rules, feasible};
use serde_json::Value;
use std::process::{Command as Process, Output};

/// Numbers from 0 to 1 that look random.
struct Dice(u64);

impl Dice {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn below(&mut self, count: usize) -> usize {
        (self.unit() * count as f64) as usize
    }
}

fn constraint(dice: &mut Dice, catalog: &Catalog<'_>) -> Constraint {
    let definition = catalog.definition();
    let component = dice.below(definition.components.len());
    let when = match dice.below(3) {
        0 if !definition.tasks.is_empty() => When::Task(dice.below(definition.tasks.len())),
        1 if !definition.signals.is_empty() => When::Signal(dice.below(definition.signals.len())),
        _ => When::Always,
    };
    let effect = if dice.below(2) == 0 { Effect::Forbid } else { Effect::Require };
    let values = vec![dice.below(definition.components[component].values.len()) as u8];
    Constraint { effect, component: component as u8, values, when, words: "a rule".into() }
}

/// The features of everything that is allowed in contexts that come up, one after the other.
fn met(
    policy: &Policy<'_, f64>,
    constraints: &[Constraint],
    dice: &mut Dice,
    times: usize,
) -> Span<Vec<f64>> {
    let catalog = policy.catalog();
    let d = catalog.dimension();
    let mut span = Span::over(d, vec![0.0; Span::<Vec<f64>>::storage_len(d, d)]).unwrap();
    for task in std::iter::once(None).chain((0..catalog.definition().tasks.len()).map(Some)) {
        for time in 0..times {
            let scale = if time % 2 == 0 { 0.5 } else { 1.0 }; // every other time all signals are low
            let signals: Vec<f32> =
                catalog.definition().signals.iter().map(|_| (scale * dice.unit()) as f32).collect();
            let context = Context::new(catalog, task, &signals).unwrap();
            if let Ok(feasible) = feasible(catalog, constraints, &context, &[]) {
                let stopped =
                    |action: &Action| stopped_by(catalog, catalog.rules(), &context, *action).is_some();
                for action in feasible.set().iter().filter(|action| !stopped(action)) {
                    let features =
                        policy.features(&context, action).map(|(index, value)| (index, f64::from(value)));
                    span.insert(features).unwrap();
                }
            }
        }
    }
    span
}

fn agrees(catalog: &Catalog<'_>, rules: usize, times: usize, rounds: u64) {
    let policy = Policy::<f64>::new(catalog, Settings::default()).unwrap();
    let (mut inside, mut outside) = (0, 0);
    for seed in 0..rounds {
        let mut dice = Dice(seed);
        let mut constraints: Vec<Constraint> = (0..rules).map(|_| constraint(&mut dice, catalog)).collect();
        constraints[0].when = When::Always; // so that it takes something away
        let allowed = Allowed::stated(catalog, &constraints).unwrap();
        let (mut quick, mut slow) =
            (SafeSpan::new(&policy, &allowed), met(&policy, &constraints, &mut dice, times));
        assert_eq!(quick.rank(), slow.rank(), "{constraints:?}");
        for _ in 0..100 {
            let tasks = catalog.definition().tasks.len();
            let signals: Vec<f32> = catalog.definition().signals.iter().map(|_| dice.unit() as f32).collect();
            let context =
                Context::new(catalog, Some(dice.below(tasks + 1)).filter(|task| *task < tasks), &signals)
                    .unwrap();
            let [prefer, over] = [0; 2].map(|_| Action(dice.below(catalog.actions()) as u16));
            let difference =
                policy.difference(&context, prefer, over).map(|(index, value)| (index, f64::from(value)));
            let expected = slow.contains(difference).unwrap();
            let asked = Comparison { context, prefer, over, total: false };
            assert_eq!(quick.identifies(&policy, &asked), expected, "{constraints:?} {asked:?}");
            assert_eq!(quick.reason(&policy, &asked).is_none(), expected);
            *(if expected { &mut inside } else { &mut outside }) += 1;
        }
    }
    assert!(inside > 20 && outside > 20, "{inside} {outside}");
}

#[test]
fn the_span_is_that_of_what_is_met() {
    agrees(&catalog::TAU2, 2, 1, 40);
    agrees(&catalog::RUBRIC, 2, 1, 40);
    let lamp =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/catalogs/lamp.toml")).unwrap();
    let arena = fable_std::catalogs::Arena::new();
    agrees(&fable_std::catalogs::read(&arena, "lamp.toml", &lamp).unwrap(), 2, 8, 60);
}

/// Five contexts a task span the signals, and six of the twelve are those in which no rule of a signal holds.
#[test]
fn the_span_of_the_agent_is_that_of_what_is_met() {
    agrees(&catalog::AGENT, 3, 12, 2);
}

fn named<'r>(contrasts: &'r [ContrastReport], name: &str) -> &'r ContrastReport {
    contrasts.iter().find(|contrast| contrast.name == name).unwrap()
}

/// A user without memory, in whose profile nothing about memory will ever be.
#[test]
fn a_user_without_memory_is_not_promised_to_be_known() {
    let policy = Policy::<f64>::new(&catalog::AGENT, Settings::default()).unwrap();
    let mut ana = HostUser::<f64>::new(&policy, "ana").unwrap();
    let context = catalog::AGENT
        .context(None, [("risk", 0.1), ("ambiguity", 0.2), ("memory_need", 0.7), ("tool_need", 0.3)])
        .unwrap();
    let off = Feasible::all(&catalog::AGENT).require(&catalog::AGENT, &[("memory", "no_memory")]).unwrap();
    let (all, memory, style) =
        (Feasible::all(&catalog::AGENT), "recent_memory_over_none", "concise_over_detailed");
    for (feasible, known) in [(&all, true), (&off, false), (&all, true)] {
        for _ in 0..5 {
            let mut command = Command::decide(Request::new(&context, feasible));
            ana.user().run(&mut command).unwrap();
            let decision = command.decision(&ana.user()).unwrap();
            ana.user().feedback(decision.id, 0.5).unwrap();
        }
        let report = inspect(&mut ana.user(), &[]).unwrap().contrasts;
        assert!(named(&report, style).identifiable && named(&report, style).needs.contains("more rewards"));
        let found = named(&report, memory);
        assert_eq!((found.identifiable, found.rewards_to_go.is_some()), (known, known), "{}", found.needs);
        assert_eq!(found.needs.contains("more rewards"), known, "{}", found.needs);
        if !known {
            assert_eq!(found.needs, "more than rewards can tell: no allowed action has memory=recent_memory");
        }
    }
    // What is said about the user counts, whatever the last decision had to choose from.
    let said = Rules
        .onboarding(&catalog::AGENT, PreferenceText::new("Never use memory."))
        .unwrap()
        .value
        .constraints;
    let allowed = Allowed::stated(&catalog::AGENT, &said).unwrap();
    let asked = Question::parse(&catalog::AGENT, "memory=recent_memory:profile_summary@coding").unwrap();
    let report = inspect_under(&mut ana.user(), &[asked], &allowed).unwrap().contrasts;
    assert!(!named(&report, memory).identifiable && !report.last().unwrap().identifiable);
}

fn fable(arguments: &[&str]) -> Output {
    Process::new(env!("CARGO_BIN_EXE_fable")).args(arguments).output().unwrap()
}

fn printed(arguments: &[&str]) -> String {
    let output = fable(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_command_says_what_can_be_known() {
    let text = printed(&["identify", "--require", "memory=no_memory"]);
    let page = include_str!("../../README.md");
    assert!(
        page.contains(&format!("$ fable identify --require memory=no_memory\n{text}```\n")),
        "the page says otherwise: {text}"
    );
    assert!(text.contains("allowed      36 of 180 actions\n"), "{text}");
    assert!(text.contains("198 of 254 can move"), "{text}");
    assert!(text.contains("cannot be known: no allowed action has memory=recent_memory\n"), "{text}");
    let report: Value = serde_json::from_str(&printed(&[
        "identify",
        "--catalog",
        "tau2",
        "--forbid",
        "tool=verify",
        "--json",
    ]))
    .unwrap();
    assert_eq!((&report["allowed"], &report["actions"]), (&12.into(), &18.into()));
    assert!(report["not_movable"].as_array().unwrap().contains(&"tool=verify".into()));
    assert!(report["directions"].as_u64() < report["directions_without_rules"].as_u64());
    let all: Value = serde_json::from_str(&printed(&["identify", "--json"])).unwrap();
    assert!(
        all["contrasts"].as_array().unwrap().iter().all(|contrast| contrast["identifiable"] == true),
        "{all}"
    );
    assert_eq!(all["not_movable"], Value::Array(Vec::new()));
    assert_eq!(fable(&["identify", "--forbid", "tool=hammer"]).status.code(), Some(2));
    assert_eq!(fable(&["identify", "--user", "ana"]).status.code(), Some(2));
}

/// What a catalog forbids in every context can never be told, whoever asks.
#[test]
fn the_rules_of_a_catalog_count() {
    use fable_core::catalog::{AGENT, Catalog, Definition, Part, agent};
    use fable_core::{Rule, values};
    const NO_MEMORY: &[Part<'static>] = &[Part::new(agent::MEMORY, values![agent::Memory::NoMemory])];
    let rules = [Rule::require("private", NO_MEMORY).always()];
    let private = Catalog::try_new(Definition { rules: &rules, ..*AGENT.definition() }).unwrap();
    let (open, closed) = (
        Allowed::everywhere(&AGENT, &Feasible::all(&AGENT)),
        Allowed::everywhere(&private, &Feasible::all(&private)),
    );
    assert_eq!((open.counts().next(), closed.counts().next()), (Some(180), Some(36)));
}
