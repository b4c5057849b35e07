//! The unhappy half-plane: arbitrary bits at every public function. Nothing panics, every fault has its own error, and after
//! an error the state is what it was, bit for bit.

mod common;

use common::{CUBE, MIXED, Random};
use fable_core::Update;
use fable_core::catalog::{AGENT, Block, Catalog, CatalogError, Component, Condition, Definition, Part, TAU2, Term, Value};
use fable_core::event::Decision;
use fable_core::feasible::{ActionSet, removed_by};
use fable_core::normal::{Key, Purpose};
use fable_core::policy::{self, Range};
use fable_core::posterior::VARIANCE;
use fable_core::{
    Action, Arrow, Checked, Context, DecisionId, Direction, Event, Exploration, Factor, Feasible, FeasibleError, Learner,
    LearnerError, Observation, OnboardingError, Policy, Posterior, PosteriorError, Prior, PriorError, Rule, Scalar, Settings,
    Statement, When, Workspace,
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

/// Runs a property and says how often its body got to the end of the interesting part, so that a test cannot pass idly.
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

fn bits<T: Scalar, S: fable_core::Storage<T>, const R: usize>(learner: &Learner<T, S, R>) -> Vec<u64> {
    let counters =
        [u64::from(learner.rounds()), u64::from(learner.observations()), u64::from(learner.incarnation()), learner.user()];
    let packed = learner.posterior().packed().iter().map(|value| value.bits());
    counters.into_iter().chain([learner.posterior().log_det_ratio().to_bits()]).chain(packed).collect()
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

fn id() -> impl Strategy<Value = DecisionId> {
    let ours = (0_u32..3, 0_u32..6).prop_map(|(incarnation, round)| DecisionId { user: 9, incarnation, round });
    let any_id = (any::<u64>(), any::<u32>(), any::<u32>());
    prop_oneof![3 => ours, 1 => any_id.prop_map(|(user, incarnation, round)| DecisionId { user, incarnation, round })]
}

/// Settings at and between the ends of their ranges.
fn settings() -> impl Strategy<Value = Settings<'static>> {
    let exploration = prop_oneof![
        mostly(policy::NU).prop_map(Exploration::Constant),
        mostly(policy::DELTA).prop_map(|delta| Exploration::Theorem { delta }),
    ];
    (mostly(policy::NOISE_VARIANCE), mostly(policy::BASE_PRECISION), mostly(policy::COST_WEIGHT), exploration, any::<u64>())
        .prop_map(|(noise_variance, base_precision, cost_weight, exploration, seed)| Settings {
            noise_variance,
            base_precision,
            cost_weight,
            exploration,
            seed,
            ..Settings::default()
        })
}

/// A step in the life of a learner: a proper one, or an event made of anything.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "a test")]
enum Step {
    Decide(Context, ActionSet),
    Feedback(usize, f64, f64),
    Event(Event),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (context(&MIXED), set()).prop_map(|(context, set)| Step::Decide(context, set)),
        3 => (0_usize..4, mostly(policy::REWARD), mostly(policy::WEIGHT)).prop_map(|(back, reward, weight)| Step::Feedback(back, reward, weight)),
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

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        set().prop_map(Event::Permissions),
        (direction(), number(), number()).prop_map(|(direction, response, precision)| Event::Onboarding(Statement {
            direction,
            response,
            precision
        })),
        (id(), action(), mostly(BASELINE), any_context())
            .prop_map(|(id, action, baseline, context)| Event::Decision { decision: Decision { id, action, baseline }, context }),
        (id(), mostly(policy::REWARD), mostly(policy::WEIGHT)).prop_map(|(id, reward, weight)| Event::Feedback {
            id,
            reward,
            weight
        }),
        (any_context(), action(), mostly(BASELINE), mostly(policy::REWARD), mostly(policy::WEIGHT)).prop_map(
            |(context, action, baseline, reward, weight)| {
                Event::Observation(Observation { context, action, baseline, reward, weight })
            }
        ),
        Just(Event::Forget),
    ]
}

const BASELINE: Range = Range { least: -19_999.0, most: 19_999.0 };

/// Runs the steps; true when something was learned from feedback, from an observation and from a statement.
fn arbitrary_steps<T: Scalar>(settings: Settings<'_>, steps: &[Step]) -> Result<bool, TestCaseError> {
    let Ok(policy) = Policy::<T>::new(&MIXED, settings) else { return Ok(false) };
    let mut learner = Learner::<T, Vec<T>, 3>::over(vec![T::ZERO; MIXED.state_len()]);
    let mut workspace = Workspace::over(vec![T::ZERO; MIXED.workspace_len()]);
    learner.start(&policy, 9).unwrap();
    let mut learned = [false; 3];
    for step in steps {
        let before = learner.clone();
        let event = match step {
            Step::Decide(context, set) => {
                let feasible = Feasible::from_set(&MIXED, *set).unwrap_or(Feasible::all(&MIXED));
                let decision = learner.decide(&policy, &mut workspace, context, &feasible, None);
                prop_assert!(decision.is_ok_and(|decision| feasible.set().contains(decision.action)));
                continue;
            }
            Step::Feedback(back, reward, weight) => {
                let round = learner.rounds().saturating_sub(u32::try_from(*back).unwrap());
                let id = DecisionId { user: 9, incarnation: learner.incarnation(), round };
                Event::Feedback { id, reward: *reward, weight: *weight }
            }
            Step::Event(event) => event.clone(),
        };
        match learner.check(&policy, &mut workspace, &event).map(Checked::apply) {
            Err(_) => {
                prop_assert_eq!(bits(&learner), bits(&before));
                prop_assert!(learner == before);
            }
            Ok(update) => match &event {
                Event::Feedback { .. } => learned[0] = check_update(update, &learner, &before)?,
                Event::Observation(_) => learned[1] = check_update(update, &learner, &before)?,
                Event::Onboarding(statement) if statement.precision != 0.0 => {
                    prop_assert!(update.is_some());
                    learned[2] = true;
                }
                _ => {}
            },
        }
        let packed = learner.posterior().packed();
        prop_assert!(packed.iter().all(|value| value.finite()), "{event:?}");
        prop_assert!(packed[..MIXED.dimension()].iter().all(|inverse| *inverse > T::ZERO));
        prop_assert!(learner.posterior().log_det_ratio() >= 0.0 && learner.posterior().log_det_ratio().is_finite());
    }
    Ok(learned == [true; 3])
}

/// Whatever was accepted was learned.
fn check_update<T: Scalar>(
    update: Option<Update<T>>,
    learner: &Learner<T, Vec<T>, 3>,
    before: &Learner<T, Vec<T>, 3>,
) -> Result<bool, TestCaseError> {
    prop_assert!(update.is_some_and(|update| update.innovation.finite() && update.variance.finite()));
    prop_assert_eq!(learner.observations(), before.observations() + 1);
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
    let Some(arrow) = Arrow::new(shape[0], shape[1], shape[2]) else { return Ok(false) };
    let length = if wrong == 1 { shape[0] } else { arrow.packed_len() };
    let mut posterior = Posterior::<T, _>::over(vec![T::ZERO; length]);
    let mut workspace = Workspace::over(vec![T::from_f64(f64::NAN); if wrong == 2 { shape[1] } else { arrow.active_len() }]);
    let dimension = arrow.dimension().max(1);
    let entries =
        || entries.iter().map(|&(index, value)| (if wrong == 3 { index } else { index % dimension }, T::from_f64(value)));
    prop_assert!(posterior.update(&mut workspace, entries(), T::ONE, T::ONE).is_err()); // vacant
    let started = posterior.start(arrow, &Prior::Isotropic, precision);
    let before: Vec<u64> = posterior.packed().iter().map(|value| value.bits()).collect();
    let _ = posterior.contrast(&mut workspace, entries());
    let _ = posterior.mean(&mut workspace, &mut vec![T::ZERO; arrow.dimension()]);
    let _ = posterior.mean(&mut workspace, &mut vec![T::ZERO; shape[0]]);
    let _ = (arrow.locate(wrong.wrapping_sub(1)), arrow.leaf_coordinate(usize::MAX, usize::MAX));
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
        let entries = prop::collection::vec((prop_oneof![0_usize..70, any::<usize>()], mostly(coefficient)), 0..6);
        let numbers = (mostly(response), mostly(VARIANCE), mostly(policy::BASE_PRECISION)).prop_map(|(a, b, c)| [a, b, c]);
        let shape = prop_oneof![9 => [0_usize..5, 0..6, 0..40], 1 => [0..1_usize << 40, 0..1 << 40, 0..1 << 40]];
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
    run((settings(), mean, precision, factor, 0_u8..3), 25, |(settings, mean, precision, mut factor, kind)| {
        let mut workspace = Workspace::over(vec![0.0; CUBE.workspace_len()]);
        for inverse in factor.iter_mut().take(d) {
            *inverse = f64::abs(*inverse);
        }
        let prior = match kind {
            0 => Prior::Isotropic,
            1 => Prior::Diagonal { mean: &mean, precision: &precision },
            _ => match Factor::new(CUBE.arrow(), &factor, &mut workspace) {
                Ok(factor) => Prior::Factor(factor),
                Err(_) => return Ok(false),
            },
        };
        let Ok(policy) = Policy::<f64>::with_prior(&CUBE, settings, prior) else { return Ok(false) };
        let mut learner = Learner::<f64, Vec<f64>, 1>::over(vec![0.0; CUBE.state_len()]);
        learner.start(&policy, 1).unwrap();
        let context = Context::new(&CUBE, Some(0), &[]).unwrap();
        for _ in 0..3 {
            let decision = learner.decide(&policy, &mut workspace, &context, &Feasible::all(&CUBE), None).unwrap();
            prop_assert!(learner.feedback(&policy, &mut workspace, decision.id, 1.0).unwrap().is_some());
        }
        prop_assert!(learner.posterior().packed().iter().all(|value| value.is_finite()));
        Ok(true)
    });
}

/// Entries that look harmless one by one and describe an impossible distribution.
#[test]
fn a_treacherous_factor_is_refused() {
    let mut factor = vec![-1e4_f32; TAU2.state_len()];
    factor[..TAU2.dimension()].fill(1.0);
    let mut workspace = Workspace::over(vec![0.0; TAU2.workspace_len()]);
    assert!(Factor::new(TAU2.arrow(), &factor, &mut workspace).is_err());
}

#[test]
fn arbitrary_definitions() {
    const NAMES: [&str; 10] = ["a", "b", "c", "d", "e", "f", "g", "h", "task", ""];
    let counts = prop::collection::vec(prop_oneof![20 => 1_usize..5, 1 => Just(0)], 1..6);
    let blocks = prop::collection::vec((0_u8..4, 0_u8..6, 0_u8..6, any::<u8>()), 1..5);
    let cost = prop_oneof![10 => 0.0..1.0, 1 => number()];
    let threshold = prop_oneof![10 => 0.0_f32..1.0, 1 => any::<f32>()];
    run(
        (counts, blocks, 1_usize..4, 1_usize..4, cost, threshold, 0_u8..12),
        10,
        |(counts, masks, tasks, signals, cost, threshold, null)| {
            let values: Vec<Vec<Value<'_>>> =
                counts.iter().map(|&count| (0..count).map(|index| Value::new(NAMES[index], "", cost)).collect()).collect();
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
            let definition = Definition {
                name: "arbitrary",
                components: &components,
                tasks: &NAMES[..tasks],
                signals: &NAMES[..signals],
                blocks: &blocks,
                terms: if null % 2 == 0 { &terms } else { &[] },
            };
            let Ok(catalog) = Catalog::try_new(definition) else { return Ok(false) };
            for index in 0..catalog.dimension() {
                prop_assert_eq!(catalog.coordinate(&catalog.coordinate_name(index).unwrap().to_string()), Some(index));
            }
            let policy = Policy::<f64>::new(&catalog, Settings::default()).unwrap();
            let mut learner = Learner::<f64, Vec<f64>, 2>::over(vec![0.0; catalog.state_len()]);
            let mut workspace = Workspace::over(vec![0.0; catalog.workspace_len()]);
            learner.start(&policy, 1).unwrap();
            let mut random = Random(1);
            for _ in 0..5 {
                let context = random.context(&catalog);
                let decision = learner.decide(&policy, &mut workspace, &context, &Feasible::all(&catalog), None).unwrap();
                learner.feedback(&policy, &mut workspace, decision.id, random.signed()).unwrap();
                // The scorer against one forward solve per action.
                let (best, score) = learner.recommend(&policy, &mut workspace, &context, &Feasible::all(&catalog), None).unwrap();
                for action in catalog.all_actions().iter() {
                    prop_assert_eq!(catalog.action(&catalog.values(action).unwrap()), Some(action));
                    let predicted = learner.predict(&policy, &mut workspace, &context, action, None).unwrap().mean;
                    prop_assert!(predicted <= score + 1e-12 && (action != best || (predicted - score).abs() < 1e-12));
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
        let policy = Policy::<f32>::new(&MIXED, Settings::default()).unwrap();
        let mut learner = Learner::<f32, Vec<f32>, 3>::over(vec![0.0; MIXED.state_len()]);
        let mut workspace = Workspace::over(vec![f32::NAN; scratch]);
        learner.start(&policy, 9).unwrap();
        let before = learner.clone();
        let feasible = Feasible::from_set(&AGENT, set).unwrap_or(Feasible::all(&AGENT));
        match learner.decide(&policy, &mut workspace, &context, &feasible, defaults.as_deref()) {
            Ok(decision) => prop_assert!(feasible.set().contains(decision.action) && MIXED.values(decision.action).is_some()),
            Err(_) => prop_assert!(learner == before),
        }
        let before = learner.clone();
        let _ = learner.recommend(&policy, &mut workspace, &context, &feasible, defaults.as_deref());
        let _ = learner.predict(&policy, &mut workspace, &context, action, Some(reward));
        let _ = learner.propose_observation(&policy, &context, action, reward, weight);
        prop_assert!(learner == before);
        if learner.observe(&policy, &mut workspace, &context, action, reward).is_err() {
            prop_assert!(learner == before);
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
        let _ = Context::from_names(&MIXED, Some(&name), &[(&name, 0.5)]);
    }

    #[test]
    fn arbitrary_keys(seed: u64, user: u64, incarnation: u32, round: u32, draw: u32) {
        for purpose in [Purpose::Decision, Purpose::Propensity(draw)] {
            let key = Key { seed, user, incarnation, round, purpose };
            prop_assert!(key.stream().normal().is_finite());
        }
    }
}

/// One line per fault: the error it gives, and the state untouched.
#[test]
fn every_fault_has_its_own_error() {
    let policy = Policy::<f32>::new(&MIXED, Settings::default()).unwrap();
    let mut workspace = Workspace::over(vec![0.0; MIXED.workspace_len()]);
    let mut learner = Learner::<f32, Vec<f32>, 2>::over(vec![0.0; MIXED.state_len()]);
    let context = Context::new(&MIXED, Some(1), &[0.5, 0.5]).unwrap();
    let all = Feasible::all(&MIXED);

    let vacant = LearnerError::Posterior(PosteriorError::Vacant);
    assert_eq!(learner.decide(&policy, &mut workspace, &context, &all, None), Err(vacant));
    assert_eq!(learner.forget(&policy, &mut workspace), Err(vacant));
    let mut short = Learner::<f32, Vec<f32>, 2>::over(vec![0.0; MIXED.state_len() - 1]);
    let length = PosteriorError::StorageLength { expected: MIXED.state_len() };
    assert_eq!(short.start(&policy, 1), Err(LearnerError::Posterior(length)));
    assert_eq!(short, Learner::over(vec![0.0; MIXED.state_len() - 1]));

    learner.start(&policy, 1).unwrap();
    let decisions: Vec<_> = (0..3).map(|_| learner.decide(&policy, &mut workspace, &context, &all, None).unwrap()).collect();
    learner.feedback(&policy, &mut workspace, decisions[1].id, 0.5).unwrap();
    let before = learner.clone();
    let mut refuse = |event: Event, error: LearnerError| {
        assert_eq!(learner.check(&policy, &mut workspace, &event).map(|_| ()), Err(error), "{event:?}");
        assert_eq!(bits(&learner), bits(&before));
        assert_eq!(learner, before);
    };
    let next = DecisionId { user: 1, incarnation: 0, round: 4 };
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1.0 + f64::EPSILON, -1.5] {
        refuse(Event::Feedback { id: decisions[2].id, reward: bad, weight: 1.0 }, LearnerError::Reward);
        let observation = Observation { context, action: Action(0), baseline: 0.0, reward: bad, weight: 1.0 };
        refuse(Event::Observation(observation), LearnerError::Reward);
    }
    for bad in [f64::NAN, f64::INFINITY, 0.0, -1.0, 100.1, 1e-4] {
        refuse(Event::Feedback { id: decisions[2].id, reward: 0.0, weight: bad }, LearnerError::Weight);
    }
    for bad in [f64::NAN, f64::INFINITY, 2e4] {
        let observation = Observation { context, action: Action(0), baseline: bad, reward: 0.0, weight: 1.0 };
        refuse(Event::Observation(observation), LearnerError::Baseline);
        refuse(
            Event::Decision { decision: Decision { id: next, action: Action(0), baseline: bad }, context },
            LearnerError::Baseline,
        );
    }
    refuse(Event::Feedback { id: decisions[0].id, reward: 0.0, weight: 1.0 }, LearnerError::ExpiredDecision);
    refuse(Event::Feedback { id: decisions[1].id, reward: 0.0, weight: 1.0 }, LearnerError::DuplicateFeedback);
    refuse(Event::Feedback { id: next, reward: 0.0, weight: 1.0 }, LearnerError::UnknownDecision);
    for id in [DecisionId { user: 2, ..next }, DecisionId { incarnation: 1, round: 2, ..next }, DecisionId { round: 0, ..next }] {
        refuse(Event::Feedback { id, reward: 0.0, weight: 1.0 }, LearnerError::UnknownDecision);
    }
    for id in
        [decisions[2].id, DecisionId { user: 2, ..next }, DecisionId { incarnation: 1, ..next }, DecisionId { round: 5, ..next }]
    {
        refuse(
            Event::Decision { decision: Decision { id, action: Action(0), baseline: 0.0 }, context },
            LearnerError::OutOfOrder,
        );
    }
    let foreign = Context::new(&AGENT, Some(7), &[0.5; 4]).unwrap();
    let decision = Decision { id: next, action: Action(0), baseline: 0.0 };
    refuse(Event::Decision { decision, context: foreign }, LearnerError::ForeignContext);
    refuse(Event::Decision { decision: Decision { action: Action(24), ..decision }, context }, LearnerError::UnknownAction);
    refuse(Event::Permissions(ActionSet::EMPTY), LearnerError::Feasible(FeasibleError::Empty));
    refuse(Event::Permissions(ActionSet::first(25)), LearnerError::Feasible(FeasibleError::UnknownAction));
    let direction = Direction::new(&MIXED, [(0, 1.0)]).unwrap();
    let statement = Statement { direction: direction.clone(), response: 0.5, precision: 1.0 };
    for bad in [f64::NAN, 1.01, f64::NEG_INFINITY] {
        let event = Event::Onboarding(Statement { response: bad, ..statement.clone() });
        refuse(event, LearnerError::Onboarding(OnboardingError::Response));
    }
    for bad in [f64::NAN, -1.0, f64::INFINITY, 1e-7, 1e7] {
        let event = Event::Onboarding(Statement { precision: bad, ..statement.clone() });
        refuse(event, LearnerError::Onboarding(OnboardingError::Precision));
    }
    let far = Direction::new(&AGENT, [(253, 1.0)]).unwrap();
    let event = Event::Onboarding(Statement { direction: far, ..statement.clone() });
    refuse(event, LearnerError::Onboarding(OnboardingError::UnknownCoordinate));
    let two_tasks = Direction::new(&TAU2, [(0, 1.0), (20, 1.0)]).unwrap(); // the root of `tau2`, two leaves of this catalog
    refuse(
        Event::Onboarding(Statement { direction: two_tasks, ..statement.clone() }),
        LearnerError::Onboarding(OnboardingError::TwoTasks),
    );

    // Precision 0 is no fault: the statement is skipped.
    let skipped = Event::Onboarding(Statement { precision: 0.0, ..statement });
    assert_eq!(learner.check(&policy, &mut workspace, &skipped).unwrap().apply(), None);
    assert_eq!(learner, before);

    let mut one = ActionSet::EMPTY;
    one.insert(Action(5));
    learner.check(&policy, &mut workspace, &Event::Permissions(one)).unwrap().apply();
    let forbidden = Event::Decision { decision, context };
    assert_eq!(learner.check(&policy, &mut workspace, &forbidden).map(|_| ()), Err(LearnerError::Forbidden));
    let mut tiny = Workspace::over(vec![0.0; 3]);
    let error = learner.check(&policy, &mut tiny, &Event::Forget).map(|_| ());
    assert_eq!(error, Err(LearnerError::Posterior(PosteriorError::WorkspaceLength)));
    let other = Policy::<f32>::new(&MIXED, Settings { noise_variance: 0.3, ..Settings::default() }).unwrap();
    let error = learner.forget(&other, &mut workspace).unwrap_err();
    assert_eq!(error, LearnerError::ForeignPolicy { expected: policy.fingerprint(), found: other.fingerprint() });
    let counts = [
        (vec![0.0; 23], LearnerError::DefaultCount { expected: 24 }),
        (vec![f64::NAN; 24], LearnerError::DefaultRange { action: 0 }),
    ];
    let vacant = &mut Learner::<f32, Vec<f32>, 2>::over(vec![0.0; MIXED.state_len()]);
    assert!(vacant.decide_or_default(&policy, &mut workspace, &context, &[], None).is_err());
    for (defaults, error) in counts {
        assert_eq!(learner.decide(&policy, &mut workspace, &context, &all, Some(&defaults)), Err(error));
    }
}

#[test]
fn every_bad_prior_has_its_own_error() {
    fn policy(prior: Prior<'_, f64>) -> String {
        Policy::with_prior(&TAU2, Settings::default(), prior).map(|_| ()).unwrap_err().to_string()
    }
    let (mean, precision) = ([0.0; 29], [1.0; 29]);
    let mut bad = mean;
    bad[3] = f64::NAN;
    assert_eq!(policy(Prior::Diagonal { mean: &bad, precision: &precision }), PriorError::Mean { coordinate: 3 }.to_string());
    bad[3] = -1.0;
    assert_eq!(policy(Prior::Diagonal { mean: &mean, precision: &bad }), PriorError::Precision { coordinate: 0 }.to_string());
    let mut workspace = Workspace::over(vec![0.0; TAU2.workspace_len()]);
    let mut reject = |factor: &[f64]| Factor::new(TAU2.arrow(), factor, &mut workspace).unwrap_err();
    assert_eq!(reject(&[1.0; 463]), PriorError::Length { expected: 464 });
    let mut factor = [0.0; 464];
    factor[..29].fill(1.0);
    factor[400] = f64::INFINITY;
    assert_eq!(reject(&factor), PriorError::Entry { index: 400 });
    factor[400] = 0.0;
    factor[28] = -1.0;
    assert_eq!(reject(&factor), PriorError::Precision { coordinate: 28 });
    factor[28] = 1.0;
    factor[463] = 2e4; // the information row of the last coordinate
    assert!(matches!(reject(&factor), PriorError::Mean { .. }));
    assert_eq!(Factor::new(TAU2.arrow(), &[1.0; 464], &mut Workspace::over([0.0; 3])), Err(PriorError::WorkspaceLength));
    factor[463] = 0.0;
    let fitting = Factor::new(TAU2.arrow(), &factor, &mut workspace).unwrap();
    let error = Policy::with_prior(&AGENT, Settings::default(), Prior::Factor(fitting)).map(|_| ()).unwrap_err();
    assert_eq!(error.to_string(), PriorError::Length { expected: AGENT.state_len() }.to_string());
}

/// One definition per mistake.
#[test]
fn every_bad_catalog_has_its_own_error() {
    const VALUES: &[Value<'static>] = &[Value::new("v", "", 0.0), Value::new("w", "", 0.0)];
    const COMPONENTS: &[Component<'static>] = &[Component::new("a", VALUES), Component::new("b", VALUES).with_null(0)];
    let good = Definition {
        name: "good",
        components: COMPONENTS,
        tasks: &["x"],
        signals: &["s"],
        blocks: &[Block::main(0)],
        terms: &[],
    };
    let reject = |definition: Definition<'_>| Catalog::try_new(definition).map(|_| ()).unwrap_err();
    let blocks = |blocks: &[Block]| reject(Definition { blocks, ..good });
    let terms = |when: Condition<'_>, weight: f64, parts: &[Part<'_>]| {
        reject(Definition { terms: &[Term::new(weight, when, parts)], ..good })
    };
    let names: Vec<String> = (0..300).map(|index| format!("n{index}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let many: Vec<Value<'_>> = names.iter().map(|name| Value::new(name, "", 0.0)).collect();
    let part: &[Part<'_>] = &[Part::new(0, &[0])];

    assert!(Catalog::try_new(good).is_ok());
    assert_eq!(reject(Definition { components: &[], ..good }), CatalogError::ComponentCount);
    assert_eq!(reject(Definition { components: &[Component::new("a", &[])], ..good }), CatalogError::ValueCount);
    assert_eq!(reject(Definition { components: &[Component::new("a", &many[..257])], ..good }), CatalogError::ValueCount);
    let wide = [Component::new("a", &many[..33]), Component::new("b", &many[..32])];
    assert_eq!(reject(Definition { components: &wide, ..good }), CatalogError::ActionCount);
    assert_eq!(reject(Definition { tasks: &names[..65], ..good }), CatalogError::TaskCount);
    assert_eq!(reject(Definition { signals: &names[..17], ..good }), CatalogError::SignalCount);
    assert_eq!(blocks(&[]), CatalogError::BlockCount);
    assert_eq!(blocks(&[Block::main(0); 129]), CatalogError::BlockCount);
    for name in ["", "a b", "a=b", "a*b", "ä"] {
        assert_eq!(reject(Definition { name, ..good }), CatalogError::BadName);
        assert_eq!(reject(Definition { tasks: &[name], ..good }), CatalogError::BadName);
        assert_eq!(reject(Definition { components: &[Component::new(name, VALUES)], ..good }), CatalogError::BadName);
    }
    assert_eq!(reject(Definition { tasks: &["x", "x"], ..good }), CatalogError::DuplicateName);
    assert_eq!(reject(Definition { signals: &["task"], ..good }), CatalogError::ReservedName);
    assert_eq!(reject(Definition { components: &[Component::new("task", VALUES)], ..good }), CatalogError::ReservedName);
    assert_eq!(reject(Definition { components: &[Component::new("a", VALUES).with_null(2)], ..good }), CatalogError::UnknownNull);
    for block in [Block::main(2), Block::main(200), Block::pair(0, 0), Block::product(&[])] {
        assert_eq!(blocks(&[block]), CatalogError::BlockComponents);
    }
    assert_eq!(blocks(&[Block::main(0).scaled_by(1)]), CatalogError::BlockSignal);
    assert_eq!(reject(Definition { tasks: &[], blocks: &[Block::main(0).per_task()], ..good }), CatalogError::BlockTask);
    assert_eq!(blocks(&[Block::main(0).without_null()]), CatalogError::BlockNull);
    assert_eq!(blocks(&[Block::pair(0, 1), Block::complete()]), CatalogError::DuplicateBlock);
    assert_eq!(blocks(&[Block::main(1), Block::main(1).without_null()]), CatalogError::DuplicateBlock);
    for cost in [-0.1, 100.1, f64::NAN, f64::INFINITY] {
        assert_eq!(
            reject(Definition { components: &[Component::new("a", &[Value::new("v", "", cost)])], ..good }),
            CatalogError::BadCost
        );
    }
    for weight in [-100.1, f64::NAN, f64::INFINITY] {
        assert_eq!(terms(Condition::Always, weight, part), CatalogError::BadWeight);
    }
    for threshold in [-0.1, 1.1, f32::NAN] {
        assert_eq!(terms(Condition::Below(0, threshold), 0.1, part), CatalogError::BadThreshold);
    }
    for when in [Condition::AtMost(1, 0.5), Condition::Tasks(&[1]), Condition::Tasks(&[])] {
        assert_eq!(terms(when, 0.1, part), CatalogError::TermCondition);
    }
    for parts in [&[][..], &[Part::new(2, &[0])], &[Part::new(0, &[2])], &[Part::new(0, &[])], &[Part::new(0, &[1, 1])]] {
        assert_eq!(terms(Condition::Always, 0.1, parts), CatalogError::TermValues);
    }
    let tasks = &names[..64];
    let large = [Component::new("a", &many[..1]), Component::new("b", &many[..256])];
    let dimension = Definition { components: &large, tasks, blocks: &[Block::main(1).per_task()], ..good };
    assert_eq!(reject(dimension), CatalogError::DimensionTooLarge);
}

/// The largest reference score that settings and a catalog allow is still a baseline that can be decided with and learned from.
#[test]
fn the_heaviest_reference_works() {
    let values = [Value::new("v", "", 100.0), Value::new("w", "", 100.0)];
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let components = names.map(|name| Component::new(name, &values));
    let part = [Part::new(0, &[0, 1])];
    let terms = [Term::new(-100.0, Condition::Always, &part); 64];
    let definition =
        Definition { name: "heavy", components: &components, blocks: &[Block::main(0)], terms: &terms, ..Definition::EMPTY };
    let catalog = Catalog::try_new(definition).unwrap();
    let policy = Policy::<f32>::new(&catalog, Settings { cost_weight: 10.0, ..Settings::default() }).unwrap();
    let mut learner = Learner::<f32, Vec<f32>, 2>::over(vec![0.0; catalog.state_len()]);
    let mut workspace = Workspace::over(vec![0.0; catalog.workspace_len()]);
    learner.start(&policy, 1).unwrap();
    let context = Context::new(&catalog, None, &[]).unwrap();
    let decision = learner.decide(&policy, &mut workspace, &context, &Feasible::all(&catalog), None).unwrap();
    assert_eq!(decision.baseline, -14_400.0);
    assert!(learner.feedback(&policy, &mut workspace, decision.id, 1.0).unwrap().is_some());
}

/// The promised sizes: 8 components, 1,024 actions, 64 tasks and 16 signals in one catalog that works.
#[test]
fn the_largest_catalog_works() {
    let names: Vec<String> = (0..64).map(|index| format!("n{index}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let pair = [Value::new("off", "", 0.0), Value::new("on", "", 0.1)];
    let eight: Vec<Value<'_>> = names[..8].iter().map(|name| Value::new(name, "", 0.01)).collect();
    let components: Vec<Component<'_>> =
        (0..8).map(|index| Component::new(names[index], if index == 3 { &eight } else { &pair })).collect();
    let mut blocks: Vec<Block> = (0..8)
        .flat_map(|index| [Block::main(index), Block::main(index).per_task(), Block::main(index).scaled_by(15 - index)])
        .collect();
    blocks.extend([Block::pair(0, 7), Block::product(&[1, 3, 5])]);
    let definition = Definition {
        name: "largest",
        components: &components,
        tasks: &names,
        signals: &names[..16],
        blocks: &blocks,
        terms: &[],
    };
    let catalog = Catalog::try_new(definition).unwrap();
    assert_eq!(catalog.actions(), 1024);
    let policy = Policy::<f32>::new(&catalog, Settings::default()).unwrap();
    let mut learner = Learner::<f32, Vec<f32>, 2>::over(vec![0.0; catalog.state_len()]);
    let mut workspace = Workspace::over(vec![0.0; catalog.workspace_len()]);
    learner.start(&policy, 1).unwrap();
    let mut random = Random(8);
    for _ in 0..20 {
        let context = random.context(&catalog);
        let decision = learner.decide(&policy, &mut workspace, &context, &Feasible::all(&catalog), None).unwrap();
        learner.feedback(&policy, &mut workspace, decision.id, random.signed()).unwrap();
    }
    assert_eq!(learner.observations(), 20);
}
