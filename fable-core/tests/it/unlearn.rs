//! Unlearning is learning with the opposite sign: the identity up to rounding, refused where it cannot be
//! true.

use crate::common::{self, MIXED, Random, bits};
use fable_core::catalog::{AGENT, Catalog, TAU2};
use fable_core::catalog::{ContrastSet, Direction};
use fable_core::journal::{Event, Observation};
use fable_core::posterior::{Factor, Prior};
use fable_core::settings::{Deadline, Expiry};
use fable_core::{
    Action, Context, Feasible, HostUser, Policy, Request, Scalar, Settings, Statement, UserError,
};
use proptest::prelude::*;

fn start<'p, T: Scalar>(policy: &Policy<'p, T>) -> HostUser<'p, T, 4> {
    common::start(policy, 1)
}

fn random_observation<T: Scalar>(policy: &Policy<'_, T>, random: &mut Random) -> Observation {
    let (context, action) = (random.context(policy.catalog()), random.action(policy.catalog()));
    let weight = if random.below(3) == 0 { 0.25 + random.unit() as f32 } else { 1.0 };
    let baseline = policy.baseline(&context, action, None).to_f64();
    Observation { context, action, baseline, reward: random.signed(), weight }
}

fn state<T: Scalar>(ana: &mut HostUser<'_, T, 4>, random: &mut Random) {
    let policy = *ana.policy();
    let direction =
        Direction::new(policy.catalog(), [(random.below(policy.catalog().dimension()), 1.0)]).unwrap();
    ana.user().onboard(&Statement { direction, response: 0.5, precision: 8.0 }).unwrap();
}

/// Learns `count` observations and unlearns a random half in random order. Compares with the other half
/// learned alone.
fn half<T: Scalar>(catalog: &Catalog<'_>, seed: u64, count: usize, tolerance: f64) {
    let mut random = Random(seed);
    let policy = Policy::<T>::new(catalog, Settings::PAPER).unwrap();
    let mut ana = start(&policy);
    state(&mut ana, &mut Random(seed));
    let observations: Vec<_> = (0..count).map(|_| random_observation(&policy, &mut random)).collect();
    for observation in &observations {
        ana.user().check(&Event::Observation(*observation)).unwrap().apply();
    }
    let (mut kept, mut gone) = (vec![], observations);
    while kept.len() < count / 2 {
        kept.push(gone.swap_remove(random.below(gone.len())));
    }
    for observation in &gone {
        ana.user().unlearn(*observation).unwrap();
    }
    let mut direct = start(&policy);
    state(&mut direct, &mut Random(seed));
    for observation in &kept {
        direct.user().check(&Event::Observation(*observation)).unwrap().apply();
    }
    assert_eq!(ana.state().observations(), direct.state().observations());
    let ratio = ana.learner().posterior().log_det_ratio() - direct.learner().posterior().log_det_ratio();
    assert!(ratio.abs() < tolerance * 10.0, "{ratio}");
    for _ in 0..50 {
        let (context, action) = (random.context(catalog), random.action(catalog));
        let one = ana.user().predict(&context, action, None).unwrap();
        let two = direct.user().predict(&context, action, None).unwrap();
        assert!((one.mean.to_f64() - two.mean.to_f64()).abs() < tolerance);
        assert!((one.variance.to_f64() / two.variance.to_f64() - 1.0).abs() < tolerance);
    }
    for component in 0..catalog.definition().components.len() {
        for value in 0..catalog.definition().components[component].values.len() {
            let value = u8::try_from(value).unwrap();
            assert_eq!(ana.user().evidence(component, value), direct.user().evidence(component, value));
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

    /// Unlearning anything, true or not, any number of times leaves a sound state. No variance exceeds the
    /// prior's in a direction that was removed, and a refusal changes no bit.
    #[test]
    fn bogus_unlearning_cannot_break_the_state(seed: u64, precision in prop::sample::select(vec![0.01, 1.0, 16.0])) {
        let mut random = Random(seed);
        let policy = Policy::<f32>::new(&MIXED, Settings { base_precision: Some(precision), ..Settings::PAPER }).unwrap();
        let mut ana = start(&policy);
        state(&mut ana, &mut random);
        let (mut accepted, mut refused) = (0, 0);
        for _ in 0..60 {
            let observation = random_observation(&policy, &mut random);
            ana.user().check(&Event::Observation(observation)).unwrap().apply();
        }
        for _ in 0..400 {
            let mut observation = random_observation(&policy, &mut random);
            observation.weight = *[0.001, 0.1, 1.0, 10.0, 100.0].get(random.below(5)).unwrap();
            let before = bits(&ana);
            match ana.user().unlearn(observation) {
                Ok(()) => {
                    accepted += 1;
                    let phi = || MIXED.features(&observation.context, observation.action);
                    let mut user = ana.user();
                    let (posterior, scratch) = user.posterior_and_scratch();
                    let own = posterior.contrast(scratch, phi()).unwrap().variance;
                    let prior = phi().map(|(_, value)| f64::from(value * value)).sum::<f64>() / precision;
                    // A vague prior leaves few digits of one observation's contribution, so the guard allows
                    // a factor of 2.
                    let limit = if precision < 1.0 { 2.0 * prior } else { 1.01 * prior };
                    prop_assert!(f64::from(own) <= limit, "{own} {prior}");
                }
                Err(error) => {
                    refused += 1;
                    prop_assert_eq!(error, UserError::NotLearned);
                    prop_assert_eq!(bits(&ana), before);
                }
            }
            let posterior = ana.learner().posterior();
            let packed = posterior.packed();
            prop_assert!(packed.iter().all(|value| value.is_finite()));
            prop_assert!(packed[..MIXED.dimension()].iter().all(|inverse| *inverse > 0.0));
            prop_assert!(posterior.log_det_ratio() > -0.01);
        }
        prop_assert!(accepted > 0 && refused > 0, "{accepted} {refused}");
    }
}

/// An imputed reward is learned but is no evidence. Unlearning it leaves the evidence of real rewards
/// unchanged.
#[test]
fn imputed_rewards_are_taken_back_as_such() {
    let settings = Settings { deadline: Deadline::Time(1), expiry: Expiry::Impute(-0.5), ..Settings::PAPER };
    let policy = Policy::<f64>::new(&TAU2, settings).unwrap();
    let mut ana = start(&policy);
    let (context, all) = (Context::new(&TAU2, None, &[]).unwrap(), Feasible::all(&TAU2));
    let decision = ana.user().decide(&Request::new(&context, &all)).unwrap();
    assert_eq!(ana.user().expire(9), Ok(1));
    let (action, baseline) = (decision.action, decision.baseline);
    let observation = Observation { context, action, baseline, reward: -0.5, weight: 1.0 };
    ana.user().observe(&context, action, 0.75).unwrap();
    let value = TAU2.values(action).unwrap()[0];
    assert_eq!((ana.state().observations(), ana.user().evidence(0, value)), (2, 1));

    let event = Event::Unlearn { observation, imputed: true, kept: 1.0, probed: ContrastSet::EMPTY };
    ana.user().check(&event).unwrap().apply();
    assert_eq!((ana.state().observations(), ana.user().evidence(0, value)), (1, 1));
    ana.user().unlearn(Observation { reward: 0.75, ..observation }).unwrap();
    assert_eq!((ana.state().observations(), ana.user().evidence(0, value)), (0, 0));
    assert!(ana.learner().posterior().log_det_ratio().abs() < 1e-12);
}

/// What was stated is not unlearned: an observation that would eat into it was never made.
#[test]
fn statements_cannot_be_unlearned() {
    let policy = Policy::<f64>::new(&TAU2, Settings::PAPER).unwrap();
    let mut ana = start(&policy);
    let context = Context::new(&TAU2, None, &[]).unwrap();
    let entries: Vec<_> = TAU2.features(&context, Action(0)).map(|(index, _)| (index, 1.0)).collect();
    let direction = Direction::new(&TAU2, entries).unwrap();
    ana.user().onboard(&Statement { direction, response: 0.5, precision: 1e4 }).unwrap();
    let baseline = policy.baseline(&context, Action(0), None);
    let light = Observation { context, action: Action(0), baseline, reward: 0.5, weight: 0.001 };
    ana.user().check(&Event::Observation(light)).unwrap().apply();
    // Positive definite, and vaguer by far than the prior allows: only the statement's precision would go.
    let heavy = Observation { weight: 100.0, ..light };
    assert_eq!(ana.user().unlearn(heavy), Err(UserError::NotLearned));
    ana.user().unlearn(light).unwrap();
}

/// With any prior, what was never learned is refused at once.
#[test]
fn nothing_is_unlearned_from_a_prior() {
    let (mean, precision) = (vec![0.25; TAU2.dimension()], vec![4.0; TAU2.dimension()]);
    let factor = start(&Policy::new(&TAU2, Settings::PAPER).unwrap()).into_learner();
    let posterior = factor.posterior();
    let packed =
        Factor::new(TAU2.layout(), posterior.packed(), &mut vec![0.0; TAU2.workspace_len()]).unwrap();
    for prior in
        [Prior::Isotropic, Prior::Diagonal { mean: &mean, precision: &precision }, Prior::Factor(packed)]
    {
        let policy = Policy::<f64>::with_prior(&TAU2, Settings::PAPER, prior).unwrap();
        let mut ana = start(&policy);
        let mut random = Random(5);
        let observation = random_observation(&policy, &mut random);
        assert_eq!(ana.user().unlearn(observation), Err(UserError::NotLearned));
        // One real observation can be taken back once, whatever the prior.
        ana.user().check(&Event::Observation(observation)).unwrap().apply();
        ana.user().unlearn(observation).unwrap();
        assert_eq!(ana.user().unlearn(observation), Err(UserError::NotLearned));
    }
}
