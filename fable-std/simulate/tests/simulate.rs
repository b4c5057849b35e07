//! The simulated user keeps what its documentation promises.

use fable_core::catalog::{AGENT, Block, Component, Condition, Definition, Part, RUBRIC, TAU2, Term, Value};
use fable_core::preference::Comparison;
use fable_core::{Action, Catalog, Context, Feasible};
use fable_simulate::{SimulateError, SimulatedUser, scenarios};

/// A catalog that no request table knows.
const LAMP: Catalog<'static> = Catalog::new(Definition {
    name: "lamp",
    components: &[
        Component::new(
            "light",
            &[
                Value::new("off", "", 0.0),
                Value::new("warm", "Use warm light.", 0.02),
                Value::new("cold", "Use cold light.", 0.02),
            ],
        )
        .with_null(0),
        Component::new(
            "speech",
            &[Value::new("silent", "", 0.0), Value::new("spoken", "Say what you do.", 0.05)],
        ),
    ],
    tasks: &["reading", "dinner"],
    signals: &["daylight", "noise"],
    blocks: &[
        Block::main(0),
        Block::main(1).per_task(),
        Block::main(0).scaled_by(0).without_null(),
        Block::pair(0, 1),
    ],
    terms: &[
        Term::new(-0.2, Condition::Above(0, 0.5), &[Part::new(0, &[1, 2])]),
        Term::new(0.1, Condition::Tasks(&[0]), &[Part::new(0, &[2]), Part::new(1, &[0])]),
    ],
    ..Definition::EMPTY
});

fn all() -> [&'static Catalog<'static>; 4] {
    [&AGENT, &TAU2, &RUBRIC, &LAMP]
}

#[test]
fn preferences_have_length_1_and_belong_to_the_seed() {
    for catalog in all() {
        let mut seen = Vec::new();
        for seed in 0..20 {
            let user = SimulatedUser::new(catalog, seed);
            let length = user.theta().iter().map(|weight| weight * weight).sum::<f64>().sqrt();
            assert!((length - 1.0).abs() < 1e-12, "{length}");
            assert_eq!(user.theta(), SimulatedUser::new(catalog, seed).theta());
            assert!(!seen.contains(&user.theta().to_vec()));
            seen.push(user.theta().to_vec());
        }
    }
}

/// Pinned: studies and the demo's picture are made of these numbers.
#[test]
fn the_numbers_are_pinned() {
    let user = SimulatedUser::new(&AGENT, 4);
    let asked = user.request(1).unwrap();
    assert_eq!(asked.text, "The usual, please.");
    let numbers = [
        user.theta()[0],
        user.theta()[253],
        user.reward(1, &asked.context, Action(0)),
        user.expected(&asked.context, Action(0)),
    ];
    assert_eq!(numbers.map(f64::to_bits), PINNED);
}

const PINNED: [u64; 4] =
    [0x3f7c_7f60_cae5_c1af, 0xbf71_0f43_f89f_a8fa, 0x3fc6_253c_d96a_48a8, 0x3faf_7b39_0081_1816];

#[test]
fn every_scenario_fits_its_catalog_and_all_of_them_are_asked() {
    for catalog in [&AGENT, &TAU2, &RUBRIC] {
        let user = SimulatedUser::new(catalog, 1);
        let asked: Vec<_> = (1..=1_000).map(|round| user.request(round).unwrap()).collect();
        for scenario in scenarios(catalog) {
            let task = Some(scenario.task).filter(|task| !task.is_empty());
            let task = task.map(|task| catalog.task(task).unwrap_or_else(|_| panic!("{task}")));
            let context = Context::new(catalog, task, scenario.signals)
                .unwrap_or_else(|error| panic!("{}: {error}", scenario.text));
            assert!(
                asked.iter().any(|asked| asked.text == scenario.text && asked.context == context),
                "{}",
                scenario.text
            );
        }
    }
    let tasks: Vec<&str> = scenarios(&AGENT).iter().map(|scenario| scenario.task).collect();
    assert!(AGENT.definition().tasks.iter().all(|task| tasks.contains(task)));
}

#[test]
fn a_catalog_without_a_table_gets_every_task_none_and_spread_signals() {
    let user = SimulatedUser::new(&LAMP, 1);
    let asked: Vec<_> = (1..=200).map(|round| user.request(round).unwrap()).collect();
    for task in [None, Some(0), Some(1)] {
        assert!(asked.iter().any(|asked| asked.context.task() == task));
    }
    for level in 0..=10_u8 {
        assert!(asked.iter().any(|asked| asked.context.signal(0) == Some(f32::from(level) / 10.0)));
    }
    assert!(asked.iter().any(|asked| asked.text.starts_with("A request: dinner, daylight 0.")));
}

#[test]
fn requests_and_noise_depend_on_life_and_round_and_on_nothing_else() {
    let user = SimulatedUser::new(&AGENT, 3);
    let other = user.clone().in_life(1);
    let texts = |user: &SimulatedUser<'_>| {
        (1..=50).map(|round| user.request(round).unwrap().text).collect::<Vec<_>>()
    };
    assert_eq!(texts(&user), texts(&user.clone().in_life(0)));
    assert_ne!(texts(&user), texts(&other));
    assert_eq!(user.theta(), other.theta());
    // The same mood meets every action of a round: rewards inside (-1, 1) differ as their means do.
    let context = user.request(1).unwrap().context;
    let noise = |user: &SimulatedUser<'_>, round, action| {
        user.reward(round, &context, action) - user.expected(&context, action)
    };
    assert!((noise(&user, 1, Action(0)) - noise(&user, 1, Action(1))).abs() < 1e-12);
    assert!((noise(&user, 1, Action(0)) - noise(&user, 2, Action(0))).abs() > 1e-6);
    assert!((noise(&user, 1, Action(0)) - noise(&other, 1, Action(0))).abs() > 1e-6);
}

/// The expected reward is the mean of the rewards, at the clamp and without noise too.
#[test]
fn expected_is_the_mean_of_the_rewards() {
    let context = Context::new(&RUBRIC, None, &[]).unwrap();
    for (strength, noise) in [
        (0.0, 0.35),
        (0.3, 0.35),
        (0.55, 0.35),
        (-0.8, 0.9),
        (2.0, 0.35),
        (0.2, 0.0),
        (0.2, -1.0),
        (0.2, f64::NAN),
    ] {
        let theta = [strength; 9].map(|weight| weight / 3.0).to_vec();
        let user = SimulatedUser::with_theta(&RUBRIC, theta, 5).unwrap().noisy(noise);
        let rounds = 40_000;
        let rewards: Vec<f64> = (1..=rounds).map(|round| user.reward(round, &context, Action(0))).collect();
        assert!(rewards.iter().all(|reward| (-1.0..=1.0).contains(reward)));
        let mean = rewards.iter().sum::<f64>() / f64::from(rounds);
        let expected = user.expected(&context, Action(0));
        assert!(
            (mean - expected).abs() < 4.0 * noise.max(0.0) / (3.0 * f64::from(rounds)).sqrt() + 1e-9,
            "{mean} {expected}"
        );
    }
}

#[test]
fn the_best_action_is_the_best_and_respects_what_is_allowed() {
    let user = SimulatedUser::new(&AGENT, 2);
    let context = user.request(1).unwrap().context;
    let everything = Feasible::all(&AGENT);
    let (best, value) = user.best(&context, &everything);
    assert!(everything.set().iter().all(|action| user.expected(&context, action) <= value));
    let mut rest = *everything.set();
    rest.remove(best);
    let (second, less) = user.best(&context, &Feasible::from_set(&AGENT, rest).unwrap());
    assert!(second != best && less <= value);
}

#[test]
fn contrasts_are_differences_of_likings() {
    let user = SimulatedUser::new(&TAU2, 2);
    let context = Context::new(&TAU2, None, &[]).unwrap();
    let comparison = Comparison { context, prefer: Action(1), over: Action(0), total: false };
    let [one, other] = [1, 0].map(|action| {
        TAU2.features(&context, Action(action))
            .map(|(index, value)| user.theta()[index] * f64::from(value))
            .sum::<f64>()
    });
    assert!((user.contrast(&comparison) - (one - other)).abs() < 1e-15);
    let total = user.contrast(&Comparison { total: true, ..comparison });
    assert!((total - (one - other - TAU2.cost(Action(1)) + TAU2.cost(Action(0)))).abs() < 1e-15);
}

/// A complaint names the one change that would have helped most.
#[test]
fn reactions_are_about_what_hurt() {
    let everything = Feasible::all(&TAU2);
    let context = Context::new(&TAU2, None, &[]).unwrap();
    let mut theta = vec![0.0; TAU2.dimension()];
    theta[TAU2.coordinate("style=guided").unwrap()] = -0.7;
    theta[TAU2.coordinate("tool=verify").unwrap()] = 0.3;
    let user = SimulatedUser::with_theta(&TAU2, theta, 1).unwrap();
    let guided = TAU2.action_named("memory=current_turn*tool=standard*style=guided").unwrap();
    let brief = TAU2.action_named("memory=current_turn*tool=standard*style=concise").unwrap();
    let say = |action, reward| user.reaction(&context, &everything, action, reward);
    assert_eq!(say(guided, -0.7), "Just answer."); // direct and concise are as good; the earlier one is named
    assert_eq!(say(brief, 0.0), "Please check that first.");
    assert_eq!(
        [0.9, 0.5, 0.3].map(|reward| say(guided, reward)),
        ["Exactly what I wanted!", "Thanks, good.", "Fine."]
    );

    // What is not allowed is not asked for.
    let only = Feasible::from_set(&TAU2, {
        let mut set = *everything.set();
        TAU2.all_actions()
            .iter()
            .filter(|action| TAU2.values(*action).unwrap()[1] == 1)
            .for_each(|action| set.remove(action));
        set
    })
    .unwrap();
    assert_eq!(user.reaction(&context, &only, brief, 0.0), "Hm, well.");
    assert_eq!(user.reaction(&context, &only, brief, -0.1), "No.");

    // Values that nobody wrote a sentence for are named.
    let user =
        SimulatedUser::with_theta(&RUBRIC, vec![-0.5, 0.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], 1).unwrap();
    let said =
        user.reaction(&Context::new(&RUBRIC, None, &[]).unwrap(), &Feasible::all(&RUBRIC), Action(0), -0.5);
    assert_eq!(said, "Not rigor level_1: level_5.");
}

#[test]
fn wrong_preferences_are_refused() {
    let refused = |theta| SimulatedUser::with_theta(&RUBRIC, theta, 0).err();
    assert_eq!(refused(vec![0.0; 8]), Some(SimulateError::Length { expected: 9 }));
    assert_eq!(
        refused(vec![0.0, 0.0, f64::NAN, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
        Some(SimulateError::NotFinite { coordinate: 2 })
    );
    assert_eq!(refused(vec![0.0; 9]), None);
    assert!(SimulateError::Length { expected: 9 }.to_string().contains("9 numbers"));
}
