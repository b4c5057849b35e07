//! Unlearning is learning with the sign turned round: the identity to rounding, and refused where it cannot be true.

mod common;

use common::{MIXED, Random, bits};
use fable_core::catalog::{AGENT, Catalog, TAU2};
use fable_core::event::Observation;
use fable_core::policy::{Deadline, Expiry};
use fable_core::{
    Action, Context, Direction, Event, Feasible, Learner, LearnerError, Policy, Prior, Request, Scalar, Settings, Statement,
    Workspace,
};
use proptest::prelude::*;

type Host<T> = Learner<T, Vec<T>, 4>;

fn start<T: Scalar>(policy: &Policy<'_, T>) -> (Host<T>, Workspace<T, Vec<T>>) {
    let mut learner = Learner::over(vec![T::ZERO; policy.catalog().state_len()]);
    learner.start(policy, 1).unwrap();
    (learner, Workspace::over(vec![T::ZERO; policy.catalog().workspace_len()]))
}

fn random_observation<T: Scalar>(policy: &Policy<'_, T>, random: &mut Random) -> Observation {
    let (context, action) = (random.context(policy.catalog()), random.action(policy.catalog()));
    let weight = if random.below(3) == 0 { 0.25 + random.unit() as f32 } else { 1.0 };
    let baseline = policy.baseline(&context, action, None).to_f64();
    Observation { context, action, baseline, reward: random.signed(), weight }
}

fn state<T: Scalar>(learner: &mut Host<T>, policy: &Policy<'_, T>, workspace: &mut Workspace<T, Vec<T>>, random: &mut Random) {
    let direction = Direction::new(policy.catalog(), [(random.below(policy.catalog().dimension()), 1.0)]).unwrap();
    learner.onboard(policy, workspace, Statement { direction, response: 0.5, precision: 8.0 }).unwrap();
}

/// Learns `count` observations, unlearns a random half in random order, and compares with the other half learned alone.
fn half<T: Scalar>(catalog: &Catalog<'_>, seed: u64, count: usize, tolerance: f64) {
    let mut random = Random(seed);
    let policy = Policy::<T>::new(catalog, Settings::default()).unwrap();
    let (mut learner, mut workspace) = start(&policy);
    state(&mut learner, &policy, &mut workspace, &mut Random(seed));
    let observations: Vec<_> = (0..count).map(|_| random_observation(&policy, &mut random)).collect();
    for observation in &observations {
        learner.check(&policy, &mut workspace, &Event::Observation(*observation)).unwrap().apply();
    }
    let (mut kept, mut gone) = (vec![], observations);
    while kept.len() < count / 2 {
        kept.push(gone.swap_remove(random.below(gone.len())));
    }
    for observation in &gone {
        learner.unlearn(&policy, &mut workspace, *observation).unwrap();
    }
    let (mut direct, _) = start(&policy);
    state(&mut direct, &policy, &mut workspace, &mut Random(seed));
    for observation in &kept {
        direct.check(&policy, &mut workspace, &Event::Observation(*observation)).unwrap().apply();
    }
    assert_eq!(learner.observations(), direct.observations());
    let ratio = learner.posterior().log_det_ratio() - direct.posterior().log_det_ratio();
    assert!(ratio.abs() < tolerance * 10.0, "{ratio}");
    for _ in 0..50 {
        let (context, action) = (random.context(catalog), random.action(catalog));
        let one = learner.predict(&policy, &mut workspace, &context, action, None).unwrap();
        let two = direct.predict(&policy, &mut workspace, &context, action, None).unwrap();
        assert!((one.mean.to_f64() - two.mean.to_f64()).abs() < tolerance);
        assert!((one.variance.to_f64() / two.variance.to_f64() - 1.0).abs() < tolerance);
    }
    for component in 0..catalog.definition().components.len() {
        for value in 0..catalog.definition().components[component].values.len() {
            let value = u8::try_from(value).unwrap();
            assert_eq!(learner.evidence(&policy, component, value), direct.evidence(&policy, component, value));
        }
    }
    assert!(!gone.is_empty());
}

#[test]
fn learning_and_unlearning_is_the_identity() {
    for seed in 0..8 {
        half::<f64>(&MIXED, seed, 60, 1e-10);
        half::<f64>(&TAU2, seed, 200, 1e-10);
        half::<f32>(&TAU2, seed, 200, 1e-4);
    }
    half::<f64>(&AGENT, 9, 300, 1e-10);
    half::<f32>(&AGENT, 9, 300, 1e-4);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is unlearned, true or not, as often as one likes: the state stays sound, no variance passes the prior's in
    /// a direction that was taken away, and a refusal changes no bit.
    #[test]
    fn bogus_unlearning_cannot_break_the_state(seed: u64, precision in prop::sample::select(vec![0.01, 1.0, 16.0])) {
        let mut random = Random(seed);
        let policy = Policy::<f32>::new(&MIXED, Settings { base_precision: precision, ..Settings::default() }).unwrap();
        let (mut learner, mut workspace) = start(&policy);
        state(&mut learner, &policy, &mut workspace, &mut random);
        let (mut accepted, mut refused) = (0, 0);
        for _ in 0..60 {
            let observation = random_observation(&policy, &mut random);
            learner.check(&policy, &mut workspace, &Event::Observation(observation)).unwrap().apply();
        }
        for _ in 0..400 {
            let mut observation = random_observation(&policy, &mut random);
            observation.weight = *[0.001, 0.1, 1.0, 10.0, 100.0].get(random.below(5)).unwrap();
            let before = bits(&learner);
            match learner.unlearn(&policy, &mut workspace, observation) {
                Ok(()) => {
                    accepted += 1;
                    let phi = || MIXED.features(&observation.context, observation.action);
                    let own = learner.posterior().contrast(&mut workspace, phi()).unwrap().variance;
                    let prior = phi().map(|(_, value)| f64::from(value * value)).sum::<f64>() / precision;
                    // A vague prior leaves few digits of what one observation added: the guard allows for a factor of 2.
                    let limit = if precision < 1.0 { 2.0 * prior } else { 1.01 * prior };
                    prop_assert!(f64::from(own) <= limit, "{own} {prior}");
                }
                Err(error) => {
                    refused += 1;
                    prop_assert_eq!(error, LearnerError::NotLearned);
                    prop_assert_eq!(bits(&learner), before);
                }
            }
            let packed = learner.posterior().packed();
            prop_assert!(packed.iter().all(|value| value.is_finite()));
            prop_assert!(packed[..MIXED.dimension()].iter().all(|inverse| *inverse > 0.0));
            prop_assert!(learner.posterior().log_det_ratio() > -0.01);
        }
        prop_assert!(accepted > 0 && refused > 0, "{accepted} {refused}");
    }
}

/// An imputed reward was learned but is no evidence: taking it back leaves the evidence of the real ones alone.
#[test]
fn imputed_rewards_are_taken_back_as_such() {
    let settings = Settings { deadline: Deadline::Time(1), expiry: Expiry::Impute(-0.5), ..Settings::default() };
    let policy = Policy::<f64>::new(&TAU2, settings).unwrap();
    let (mut learner, mut workspace) = start(&policy);
    let (context, all) = (Context::new(&TAU2, None, &[]).unwrap(), Feasible::all(&TAU2));
    let decision = learner.decide(&policy, &mut workspace, &Request::new(&context, &all)).unwrap();
    assert_eq!(learner.expire(&policy, &mut workspace, 9), Ok(1));
    let (action, baseline) = (decision.action, decision.baseline);
    let observation = Observation { context, action, baseline, reward: -0.5, weight: 1.0 };
    learner.observe(&policy, &mut workspace, &context, action, 0.75).unwrap();
    let value = TAU2.values(action).unwrap()[0];
    assert_eq!((learner.observations(), learner.evidence(&policy, 0, value)), (2, 1));

    let event = Event::Unlearn { observation, imputed: true };
    learner.check(&policy, &mut workspace, &event).unwrap().apply();
    assert_eq!((learner.observations(), learner.evidence(&policy, 0, value)), (1, 1));
    learner.unlearn(&policy, &mut workspace, Observation { reward: 0.75, ..observation }).unwrap();
    assert_eq!((learner.observations(), learner.evidence(&policy, 0, value)), (0, 0));
    assert!(learner.posterior().log_det_ratio().abs() < 1e-12);
}

/// What was stated is not unlearned: an observation that would eat into it was never made.
#[test]
fn statements_cannot_be_unlearned() {
    let policy = Policy::<f64>::new(&TAU2, Settings::default()).unwrap();
    let (mut learner, mut workspace) = start(&policy);
    let context = Context::new(&TAU2, None, &[]).unwrap();
    let entries: Vec<_> = TAU2.features(&context, Action(0)).map(|(index, _)| (index, 1.0)).collect();
    let direction = Direction::new(&TAU2, entries).unwrap();
    learner.onboard(&policy, &mut workspace, Statement { direction, response: 0.5, precision: 1e4 }).unwrap();
    let baseline = policy.baseline(&context, Action(0), None);
    let light = Observation { context, action: Action(0), baseline, reward: 0.5, weight: 0.001 };
    learner.check(&policy, &mut workspace, &Event::Observation(light)).unwrap().apply();
    // Positive definite, and vaguer by far than the prior allows: only the statement's precision would go.
    let heavy = Observation { weight: 100.0, ..light };
    assert_eq!(learner.unlearn(&policy, &mut workspace, heavy), Err(LearnerError::NotLearned));
    learner.unlearn(&policy, &mut workspace, light).unwrap();
}

/// With any prior, what was never learned is refused at once.
#[test]
fn nothing_is_unlearned_from_a_prior() {
    let (mean, precision) = (vec![0.25; TAU2.dimension()], vec![4.0; TAU2.dimension()]);
    let mut factor = Learner::<f64, Vec<f64>, 4>::over(vec![0.0; TAU2.state_len()]);
    factor.start(&Policy::new(&TAU2, Settings::default()).unwrap(), 1).unwrap();
    let mut workspace = Workspace::over(vec![0.0; TAU2.workspace_len()]);
    let packed = fable_core::Factor::new(TAU2.arrow(), factor.posterior().packed(), &mut workspace).unwrap();
    for prior in [Prior::Isotropic, Prior::Diagonal { mean: &mean, precision: &precision }, Prior::Factor(packed)] {
        let policy = Policy::<f64>::with_prior(&TAU2, Settings::default(), prior).unwrap();
        let (mut learner, mut workspace) = start(&policy);
        let mut random = Random(5);
        let observation = random_observation(&policy, &mut random);
        assert_eq!(learner.unlearn(&policy, &mut workspace, observation), Err(LearnerError::NotLearned));
        // One real observation can be taken back once, whatever the prior.
        learner.check(&policy, &mut workspace, &Event::Observation(observation)).unwrap().apply();
        learner.unlearn(&policy, &mut workspace, observation).unwrap();
        assert_eq!(learner.unlearn(&policy, &mut workspace, observation), Err(LearnerError::NotLearned));
    }
}
