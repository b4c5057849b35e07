//! Arbitrary bits at every public function, mixed with mostly valid ones that pass the first checks. Nothing
//! panics. A refused call changes nothing, and an accepted call leaves a sound state.

use crate::common::{CUBE, MIXED, Random, bits, start};
use fable_core::catalog::{
    AGENT, Block, BlockSet, Catalog, Component, Condition, Definition, Part, TAU2, Term, Value,
};
use fable_core::catalog::{ActionSet, ContrastSet, Direction, FeasibleError, When, removed_by};
use fable_core::journal::{Command, Event, Observation};
use fable_core::posterior::{Factor, Key, Layout, Posterior, Prior, Purpose, Update};
use fable_core::preference::{Certifier, Probe, Probes, Verdict};
use fable_core::settings::{Deadline, Expiry, ONBOARDING_PRECISION, REWARD, Range, VARIANCE, WEIGHT, table};
use fable_core::{
    Action, Context, DecisionId, Exploration, Feasible, HostUser, Policy, Promotion, Request, Rule, Scalar,
    Settings, Statement, Workspace,
};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::cell::Cell;

/// Numbers of every kind: any bit pattern, the special ones and the ends of every range.
fn number() -> impl Strategy<Value = f64> {
    let special = prop::sample::select(vec![
        0.0,
        -0.0,
        1.0,
        -1.0,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MIN_POSITIVE,
        f64::MAX,
        f64::MIN,
        5e-324,
        100.0,
        1e4,
        1e-3,
        1e-4,
        1e-6,
        1e6,
        1e3,
        10.0,
        0.5,
        1e-12,
        2e4,
    ]);
    prop_oneof![1 => any::<u64>().prop_map(f64::from_bits), 2 => special, 1 => -1.0..1.0, 1 => 0.0..30.0]
}

/// Mostly a number from a range, its ends included, sometimes anything.
fn mostly(range: Range) -> impl Strategy<Value = f64> {
    prop_oneof![6 => range.least..=range.most, 2 => Just(range.least), 2 => Just(range.most), 1 => number()]
}

/// What is kept: mostly from 0 to 1.
fn mostly_share() -> impl Strategy<Value = f32> {
    prop_oneof![6 => 0.0_f32..1.0, 1 => Just(0.0), 1 => Just(0.5), 1 => Just(1.0), 1 => any::<f32>()]
}

/// Runs a property and reports how often its body reached the end of the interesting part. A test without
/// effect does not pass.
fn run<S: Strategy>(strategy: S, least: u32, property: impl Fn(S::Value) -> Result<bool, TestCaseError>) {
    let accepted = Cell::new(0);
    TestRunner::new(config())
        .run(&strategy, |value| {
            accepted.set(accepted.get() + u32::from(property(value)?));
            Ok(())
        })
        .unwrap();
    println!("{} cases accepted", accepted.get());
    assert!(accepted.get() >= least, "only {} cases were accepted", accepted.get());
}

fn config() -> ProptestConfig {
    ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() }
}

fn context(catalog: &'static Catalog<'static>) -> impl Strategy<Value = Context> {
    any::<u64>().prop_map(|seed| Random(seed).context(catalog))
}

/// Contexts of this catalog and of others.
fn any_context() -> impl Strategy<Value = Context> {
    prop_oneof![3 => context(&MIXED), 1 => context(&AGENT), 1 => context(&CUBE)]
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![3 => (0..24_u16).prop_map(Action), 1 => any::<u16>().prop_map(Action)]
}

fn set() -> impl Strategy<Value = ActionSet> {
    prop::collection::vec(action(), 0..6).prop_map(|actions| {
        let mut set = ActionSet::EMPTY;
        for action in actions {
            set.insert(action);
        }
        set
    })
}

fn round() -> impl Strategy<Value = u32> {
    prop_oneof![3 => 0_u32..6, 1 => any::<u32>()]
}

fn weight() -> impl Strategy<Value = f32> {
    mostly(WEIGHT).prop_map(|weight| weight as f32)
}

/// Settings at and between the ends of their ranges.
fn settings() -> impl Strategy<Value = Settings<'static>> {
    let exploration = prop_oneof![
        mostly(table::NU.range).prop_map(Exploration::Constant),
        mostly(table::DELTA.range).prop_map(|delta| Exploration::Theorem { delta }),
    ];
    let retained = prop_oneof![4 => Just(BlockSet::FULL), 4 => (1_u128..512).prop_map(BlockSet::from_bits), 1 => any::<u128>().prop_map(BlockSet::from_bits)];
    let waits = (
        prop_oneof![
            Just(Deadline::None),
            (0_u32..4).prop_map(Deadline::Rounds),
            (0_u32..4).prop_map(Deadline::Time)
        ],
        prop_oneof![Just(Expiry::Nothing), (-1.0..=1.0).prop_map(Expiry::Impute)],
    );
    let trust = (
        table::ALPHA.range.least..=table::ALPHA.range.most,
        prop::option::of(0.0..=table::PRIOR_RADIUS.range.most),
        1_u32..30,
    );
    let numbers = (
        mostly(table::NOISE_VARIANCE.range),
        mostly(table::BASE_PRECISION.range),
        mostly(table::COST_WEIGHT.range),
    );
    (numbers, exploration, retained, any::<u64>(), waits, trust).prop_map(
        |(numbers, exploration, retained, seed, waits, trust)| {
            let (deadline, expiry) = waits;
            Settings {
                noise_variance: numbers.0,
                base_precision: Some(numbers.1),
                cost_weight: numbers.2,
                exploration,
                retained,
                seed,
                deadline,
                expiry,
                alpha: trust.0,
                prior_radius: trust.1,
                min_evidence: trust.2,
                ..Settings::PAPER
            }
        },
    )
}

/// A step in the life of a learner: a proper one, or an event made of anything.
#[derive(Clone, Debug)]
enum Step {
    Decide(Context, ActionSet),
    Feedback(usize, f64, f32),
    Event(Event),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (context(&MIXED), set()).prop_map(|(context, set)| Step::Decide(context, set)),
        4 => (0_usize..4, mostly(REWARD), weight()).prop_map(|(back, reward, weight)| Step::Feedback(back, reward, weight)),
        4 => event().prop_map(Step::Event),
    ]
}

fn direction() -> impl Strategy<Value = Direction> {
    let entries = prop::collection::vec((0_usize..260, -2.0..2.0), 1..4);
    prop_oneof![
        entries.clone().prop_filter_map("valid", |entries| Direction::new(&MIXED, entries).ok()),
        entries.prop_filter_map("valid", |entries| Direction::new(&AGENT, entries).ok()),
    ]
}

fn observation() -> impl Strategy<Value = Observation> {
    (any_context(), action(), mostly(BASELINE), mostly(REWARD), weight()).prop_map(
        |(context, action, baseline, reward, weight)| Observation {
            context,
            action,
            baseline,
            reward,
            weight,
        },
    )
}

fn coins() -> impl Strategy<Value = Probes> {
    let coin = (0_u8..4, -1.25_f32..1.25).prop_map(|(contrast, expected)| Probe { contrast, expected });
    prop::collection::vec(coin, 0..4).prop_map(|coins| coins.into_iter().collect())
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        1 => set().prop_map(Event::Permissions),
        2 => (direction(), mostly(REWARD), mostly(ONBOARDING_PRECISION)).prop_map(|(direction, response, precision)| Event::Onboarding(Statement {
            direction,
            response,
            precision
        })),
        1 => (round(), action(), mostly(BASELINE), any_context(), any::<u32>(), coins())
            .prop_map(|(round, action, baseline, context, at, coins)| Event::Decision { round, action, baseline, context, time: at, probes: coins }),
        1 => (round(), mostly(REWARD), weight()).prop_map(|(round, reward, weight)| Event::Feedback { round, reward, weight }),
        2 => observation().prop_map(Event::Observation),
        1 => (observation(), any::<bool>(), mostly_share(), any::<[u32; 2]>())
            .prop_map(|(observation, imputed, kept, probed)| Event::Unlearn { observation, imputed, kept, probed: ContrastSet::from_words(probed) }),
        1 => mostly_share().prop_map(|keep| Event::Fade { keep }),
        1 => (round(), prop::option::of(mostly(REWARD))).prop_map(|(round, imputed)| Event::Expiry { round, imputed }),
        1 => (any::<u8>(), round(), any::<u32>(), any::<bool>()).prop_map(|(contrast, round, at, coins)| {
            let verdict = Verdict::For;
            let valid = true;
            let evidence = 10;
            let by = if coins { Certifier::Probes } else { Certifier::Ellipsoid };
            Event::Promotion(Promotion { contrast, verdict, valid, by, round, time: at, evidence, lower: 0.1, upper: 0.2 })
        }),
        1 => any::<u32>().prop_map(|guarantee_fingerprint| Event::Forget { guarantee_fingerprint }),
    ]
}

const BASELINE: Range = Range { least: -19_999.0, most: 19_999.0 };

/// Runs the steps; true when something was learned from feedback, from an observation and from a statement.
fn arbitrary_steps<T: Scalar>(settings: Settings<'_>, steps: &[Step]) -> Result<bool, TestCaseError> {
    let Ok(policy) = Policy::<T>::new(&MIXED, settings) else { return Ok(false) };
    let mut ana = start::<T, 3>(&policy, 9);
    let mut learned = [false; 3];
    for step in steps {
        let before = ana.clone();
        let event = match step {
            Step::Decide(context, set) => {
                let feasible = Feasible::from_set(&MIXED, *set).unwrap_or(Feasible::all(&MIXED));
                let decision = ana.user().decide(&Request::new(context, &feasible));
                prop_assert!(decision.is_ok_and(|decision| feasible.set().contains(decision.action)));
                continue;
            }
            Step::Feedback(back, reward, weight) => {
                let round = ana.state().rounds().saturating_sub(u32::try_from(*back).unwrap());
                Event::Feedback { round, reward: *reward, weight: *weight }
            }
            Step::Event(event) => event.clone(),
        };
        match ana.user().check(&event).map(fable_core::journal::Step::apply) {
            Err(_) => {
                prop_assert_eq!(bits(&ana), bits(&before));
                prop_assert!(ana == before);
            }
            Ok(update) => match &event {
                Event::Feedback { .. } => learned[0] = check_update(update, &ana, &before)?,
                Event::Observation(_) => learned[1] = check_update(update, &ana, &before)?,
                Event::Onboarding(statement) if statement.precision != 0.0 => {
                    prop_assert!(update.is_some());
                    learned[2] = true;
                }
                _ => {}
            },
        }
        let posterior = ana.learner().posterior();
        let packed = posterior.packed();
        prop_assert!(packed.iter().all(|value| value.finite()), "{event:?}");
        prop_assert!(packed[..MIXED.dimension()].iter().all(|inverse| *inverse > T::ZERO));
        let ratio = posterior.log_det_ratio(); // unlearning leaves rounding behind
        prop_assert!(ratio >= -0.01 && ratio.is_finite());
    }
    Ok(learned == [true; 3])
}

/// Whatever was accepted was learned.
fn check_update<T: Scalar>(
    update: Option<Update<T>>,
    ana: &HostUser<'_, T, 3>,
    before: &HostUser<'_, T, 3>,
) -> Result<bool, TestCaseError> {
    prop_assert!(update.is_some_and(|update| update.innovation.finite() && update.variance.finite()));
    prop_assert_eq!(ana.state().observations(), before.state().observations() + 1);
    Ok(true)
}

#[test]
fn arbitrary_events_leave_a_sound_state() {
    let lives = || (settings(), prop::collection::vec(step(), 0..80));
    run(lives(), 20, |(settings, steps)| arbitrary_steps::<f32>(settings, &steps));
    run(lives(), 20, |(settings, steps)| arbitrary_steps::<f64>(settings, &steps));
}

/// Entries; response, variance and base precision; the shape; which thing is wrong.
type PosteriorCase = (Vec<(usize, f64)>, [f64; 3], [usize; 3], usize);

fn arbitrary_posterior<T: Scalar>(
    (entries, [response, variance, precision], shape, wrong): PosteriorCase,
) -> Result<bool, TestCaseError> {
    let Some(layout) = Layout::new(shape[0], shape[1], shape[2]) else { return Ok(false) };
    let length = if wrong == 1 { shape[0] } else { layout.packed_len() };
    let mut posterior = Posterior::<T, _>::from_storage(vec![T::ZERO; length]);
    let mut workspace = Workspace::from_storage(vec![
        T::from_f64(f64::NAN);
        if wrong == 2 { shape[1] } else { layout.active_len() }
    ]);
    let dimension = layout.dimension().max(1);
    let entries = || {
        entries
            .iter()
            .map(|&(index, value)| (if wrong == 3 { index } else { index % dimension }, T::from_f64(value)))
    };
    prop_assert!(posterior.update(&mut workspace, entries(), T::ONE, T::ONE).is_err()); // vacant
    let started = posterior.start(layout, &Prior::Isotropic, precision);
    let before: Vec<u64> = posterior.packed().iter().map(|value| value.bits()).collect();
    let _ = posterior.contrast(&mut workspace, entries());
    let _ = posterior.mean(&mut workspace, &mut vec![T::ZERO; layout.dimension()]);
    let _ = posterior.mean(&mut workspace, &mut vec![T::ZERO; shape[0]]);
    let _ = (layout.locate(wrong.wrapping_sub(1)), layout.leaf_coordinate(usize::MAX, usize::MAX));
    let updated = posterior.update(&mut workspace, entries(), T::from_f64(response), T::from_f64(variance));
    if updated.is_err() {
        prop_assert_eq!(before, posterior.packed().iter().map(|value| value.bits()).collect::<Vec<_>>());
        return Ok(false);
    }
    prop_assert!(started.is_ok() && posterior.packed().iter().all(|value| value.finite()));
    Ok(true)
}

#[test]
fn arbitrary_numbers_for_the_posterior() {
    let coefficient = Range { least: -100.0, most: 100.0 };
    let response = Range { least: -2e4, most: 2e4 };
    let cases = || {
        let entries =
            prop::collection::vec((prop_oneof![0_usize..70, any::<usize>()], mostly(coefficient)), 0..6);
        let numbers = (mostly(response), mostly(VARIANCE), mostly(table::BASE_PRECISION.range))
            .prop_map(|(a, b, c)| [a, b, c]);
        let shape =
            prop_oneof![9 => [0_usize..5, 0..6, 0..40], 1 => [0..1_usize << 40, 0..1 << 40, 0..1 << 40]];
        (entries, numbers, shape, 0_usize..8)
    };
    run(cases(), 20, arbitrary_posterior::<f32>);
    run(cases(), 20, arbitrary_posterior::<f64>);
}

#[test]
fn arbitrary_settings_and_priors() {
    let d = CUBE.dimension();
    let mean = prop::collection::vec(prop_oneof![40 => -1.0..1.0, 1 => number()], d);
    let precision = prop::collection::vec(prop_oneof![40 => 0.1..50.0, 1 => number()], d);
    let factor = prop::collection::vec(prop_oneof![200 => -0.3..0.3, 1 => number()], CUBE.state_len());
    run(
        (settings(), mean, precision, factor, 0_u8..3),
        25,
        |(settings, mean, precision, mut factor, kind)| {
            let mut workspace = Workspace::from_storage(vec![0.0; CUBE.workspace_len()]);
            for inverse in factor.iter_mut().take(d) {
                *inverse = f64::abs(*inverse);
            }
            let prior = match kind {
                0 => Prior::Isotropic,
                1 => Prior::Diagonal { mean: &mean, precision: &precision },
                _ => match Factor::new(CUBE.layout(), &factor, &mut workspace) {
                    Ok(factor) => Prior::Factor(factor),
                    Err(_) => return Ok(false),
                },
            };
            let Ok(policy) = Policy::<f64>::with_prior(&CUBE, settings, prior) else { return Ok(false) };
            let mut ana = start::<f64, 1>(&policy, 1);
            let context = Context::new(&CUBE, Some(0), &[]).unwrap();
            for _ in 0..3 {
                let decision = ana.user().decide(&Request::new(&context, &Feasible::all(&CUBE))).unwrap();
                prop_assert!(ana.user().feedback(decision.id, 1.0).is_ok());
            }
            prop_assert!(ana.learner().posterior().packed().iter().all(|value| value.is_finite()));
            Ok(true)
        },
    );
}

/// Entries that look harmless one by one and describe an impossible distribution.
#[test]
fn a_treacherous_factor_is_refused() {
    let mut factor = vec![-1e4_f32; TAU2.state_len()];
    factor[..TAU2.dimension()].fill(1.0);
    let mut workspace = Workspace::from_storage(vec![0.0; TAU2.workspace_len()]);
    assert!(Factor::new(TAU2.layout(), &factor, &mut workspace).is_err());
}

#[test]
fn arbitrary_definitions() {
    const NAMES: [&str; 12] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];
    let counts = prop::collection::vec(prop_oneof![20 => 1_usize..5, 8 => 5_usize..=12, 1 => Just(0)], 1..6);
    let blocks = prop::collection::vec((0_u8..4, 0_u8..6, 0_u8..6, any::<u8>()), 1..5);
    let cost = prop_oneof![10 => 0.0..1.0, 1 => number()];
    let threshold = prop_oneof![10 => 0.0_f32..1.0, 1 => any::<f32>()];
    run(
        (counts, blocks, 1_usize..4, 1_usize..4, cost, threshold, 0_u8..12),
        10,
        |(counts, masks, tasks, signals, cost, threshold, null)| {
            let values: Vec<Vec<Value<'_>>> = counts
                .iter()
                .map(|&count| (0..count).map(|index| Value::new(NAMES[index], "", cost)).collect())
                .collect();
            let components: Vec<Component<'_>> = values
                .iter()
                .enumerate()
                .map(|(index, values)| {
                    let component = Component::new(NAMES[index], values);
                    if null < 3 { component.with_null(null) } else { component }
                })
                .collect();
            let count = u8::try_from(counts.len()).unwrap();
            let blocks: Vec<Block> = masks
                .iter()
                .map(|&(kind, first, second, extra)| {
                    let inside = |component: u8| if extra < 250 { component % count } else { component };
                    let mut block = match kind {
                        0 => Block::main(inside(first)),
                        1 => Block::pair(inside(first), inside(second)),
                        2 => Block::product(&[inside(first), inside(second), inside(extra % 7)]),
                        _ => Block::complete(),
                    };
                    if extra & 1 == 1 {
                        block = block.per_task();
                    }
                    if extra & 6 == 6 {
                        block = block.without_null();
                    }
                    if extra & 8 == 8 {
                        block = block.scaled_by(second % u8::try_from(signals).unwrap());
                    }
                    block
                })
                .collect();
            let applied = [null % 2];
            let parts = [Part::new(null % count, &applied)];
            let terms = [Term::new(cost - 0.5, Condition::Above(null % 2, threshold), &parts)];
            let rules = [fable_core::Rule::forbid("r", &parts).when(Condition::Below(null % 2, threshold))];
            let definition = Definition {
                name: "arbitrary",
                components: &components,
                tasks: &NAMES[..tasks],
                signals: &NAMES[..signals],
                blocks: &blocks,
                terms: if null % 2 == 0 { &terms } else { &[] },
                contrasts: &[],
                rules: if null % 3 == 0 { &rules } else { &[] },
            };
            let Ok(catalog) = Catalog::try_new(definition) else { return Ok(false) };
            for index in 0..catalog.dimension() {
                prop_assert_eq!(
                    catalog.coordinate(&catalog.coordinate_name(index).unwrap().to_string()),
                    Some(index)
                );
            }
            let every = catalog.all_blocks().bits();
            let some = u128::from(Random(catalog.fingerprint()).bits()) & every;
            let retained = if some == 0 { BlockSet::FULL } else { BlockSet::from_bits(some) };
            let policy = Policy::<f64>::new(&catalog, Settings { retained, ..Settings::PAPER }).unwrap();
            let mut ana = start::<f64, 2>(&policy, 1);
            let mut random = Random(1);
            for _ in 0..5 {
                let context = random.context(&catalog);
                let decision = ana.user().decide(&Request::new(&context, &Feasible::all(&catalog))).unwrap();
                ana.user().feedback(decision.id, random.signed()).unwrap();
                // The scorer against one forward solve per action.
                let (best, score) =
                    ana.user().recommend(&Request::new(&context, &Feasible::all(&catalog))).unwrap();
                for action in catalog.all_actions().iter() {
                    prop_assert_eq!(catalog.action(&catalog.values(action).unwrap()), Some(action));
                    let predicted = ana.user().predict(&context, action, None).unwrap().mean;
                    let stopped =
                        fable_core::catalog::stopped_by(&catalog, catalog.rules(), &context, action)
                            .is_some();
                    prop_assert!(!stopped || action != best);
                    prop_assert!(
                        (stopped || predicted <= score + 1e-12)
                            && (action != best || (predicted - score).abs() < 1e-12)
                    );
                }
            }
            Ok(true)
        },
    );
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn arbitrary_requests_change_nothing_when_refused(
        context in any_context(), set in set(), action in action(), reward in number(), weight in number(),
        defaults in prop::option::of(prop::collection::vec(number(), 20..28)), scratch in 0_usize..200,
    ) {
        let policy = Policy::<f32>::new(&MIXED, Settings::PAPER).unwrap();
        let mut ana = start::<f32, 3>(&policy, 9).into_learner();
        let mut workspace = vec![f32::NAN; scratch];
        let before = ana.clone();
        if ana.bind(&policy, &mut workspace).is_err() {
            prop_assert!(ana == before && scratch < MIXED.workspace_len());
            return Ok(());
        }
        let feasible = Feasible::from_set(&AGENT, set).unwrap_or(Feasible::all(&AGENT));
        match ana.bind(&policy, &mut workspace).unwrap().decide(&Request { defaults: defaults.as_deref(), ..Request::new(&context, &feasible) }) {
            Ok(decision) => prop_assert!(feasible.set().contains(decision.action) && MIXED.values(decision.action).is_some()),
            Err(_) => prop_assert!(ana == before),
        }
        let before = ana.clone();
        let _ = ana.bind(&policy, &mut workspace).unwrap().recommend(&Request { defaults: defaults.as_deref(), ..Request::new(&context, &feasible) });
        let _ = ana.bind(&policy, &mut workspace).unwrap().predict(&context, action, Some(reward));
        let mut command = Command::observe(&context, action, reward).weighted(weight as f32);
        let _ = ana.bind(&policy, &mut workspace).unwrap().next(&mut command);
        prop_assert!(ana == before);
        if ana.bind(&policy, &mut workspace).unwrap().observe(&context, action, reward).is_err() {
            prop_assert!(ana == before);
        }
    }

    #[test]
    fn arbitrary_rules_and_statements(
        parts in prop::collection::vec((any::<u8>(), prop::collection::vec(0_u8..5, 0..4)), 0..4), effect in 0_u8..3,
        sides in prop::collection::vec((0_u8..12, 0_u8..7), 0..5), when in 0_usize..70, name in ".{0,30}",
    ) {
        let pattern: Vec<Part<'_>> = parts.iter().map(|(component, values)| Part::new(component % 5, values)).collect();
        let make = [Rule::forbid, Rule::require, Rule::only][usize::from(effect)];
        let rule = make("rule", &pattern);
        match Feasible::new(&MIXED, &[rule]) {
            Ok(feasible) => {
                for action in MIXED.all_actions().iter() {
                    prop_assert_eq!(feasible.set().contains(action), removed_by(&MIXED, &[rule], action).is_none());
                }
            }
            Err(FeasibleError::Empty) => prop_assert!(MIXED.all_actions().iter().all(|action| removed_by(&MIXED, &[rule], action).is_some())),
            Err(_) => {}
        }
        for when in [When::Always, When::Task(when), When::Signal(when)] {
            let _ = Direction::prefer(&MIXED, &sides, &sides[..sides.len() / 2], when);
        }
        let _ = Direction::from_names(&MIXED, &[(&name, 1.0)]);
        let _ = (MIXED.coordinate(&name), MIXED.action_named(&name), name.parse::<DecisionId>());
        let _ = MIXED.context(&*name, [(&*name, 0.5)]);
    }

    #[test]
    fn arbitrary_keys(seed: u64, user: u64, incarnation: u32, round: u32, draw: u32) {
        for purpose in [Purpose::Decision, Purpose::Propensity(draw)] {
            let key = Key { seed, user, incarnation, site: 0, round, purpose };
            prop_assert!(key.stream().normal().is_finite());
        }
    }
}
