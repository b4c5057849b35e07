//! Late feedback: any order, deadlines in rounds and in time, a full ring, and the reward imputed at expiry.

use crate::common::{self, MIXED, Random, features, isotropic, vector};
use fable_core::catalog::TAU2;
use fable_core::journal::{Command, Event};
use fable_core::posterior::PosteriorError;
use fable_core::settings::{Deadline, Expiry};
use fable_core::{Context, Decision, DecisionId, Feasible, HostUser, Policy, Request, Settings, UserError};
use proptest::prelude::*;

fn start(settings: Settings<'_>) -> HostUser<'_, f64, 8> {
    common::start(&Policy::new(&MIXED, settings).unwrap(), 7)
}

/// The posterior is that of these observations given at once.
fn assert_learned(ana: &mut HostUser<'_, f64, 8>, observations: &[(Context, Decision, f64)]) {
    let policy = *ana.policy();
    let mut dense = isotropic::<{ MIXED.dimension() }>(policy.base_precision());
    for (context, decision, reward) in observations {
        let phi = vector(&features(&MIXED, context, decision.action));
        dense.observe(&phi, reward - decision.baseline, 1.0 / policy.settings().noise_variance).unwrap();
    }
    let mut user = ana.user();
    let (posterior, scratch) = user.posterior_and_scratch();
    let mut mean = vec![0.0; MIXED.dimension()];
    posterior.mean(scratch, &mut mean).unwrap();
    for (index, mean) in mean.iter().enumerate() {
        assert!((mean - dense.mean()[index]).abs() < 1e-11);
        let variance = posterior.marginal_variance(scratch, index).unwrap();
        assert!((variance - dense.variance(&vector(&[(index, 1.0)]))).abs() < 1e-12);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any interleaving of decisions, late rewards and expiries, under any policy of expiry. The learned
    /// rewards are exactly the accepted and the imputed ones. Every other reward is refused with its own
    /// error.
    #[test]
    fn any_interleaving_is_the_same_observations(seed: u64, rounds in prop::option::of(0_u32..12), timed: bool, impute: bool) {
        let mut random = Random(seed);
        let deadline = match rounds {
            None => Deadline::None,
            Some(limit) if timed => Deadline::Time(limit),
            Some(limit) => Deadline::Rounds(limit),
        };
        let expiry = if impute { Expiry::Impute(-0.25) } else { Expiry::Nothing };
        let mut ana = start(Settings { deadline, expiry, ..Settings::PAPER });
        let all = Feasible::all(&MIXED);
        // The model: every decision with its time, and its status: waiting (None), rewarded (true) or expired
        // (false).
        let mut model: Vec<(Context, Decision, u32, Option<bool>)> = vec![];
        let mut learned = vec![];
        let mut now = 0;
        for _ in 0..60 {
            now += u32::try_from(random.below(3)).unwrap();
            let deciding = random.below(2) == 0;
            // Decisions that the model expects to expire: by deadline now, and the ninth youngest at another
            // decision.
            let made = u32::try_from(model.len()).unwrap();
            for (index, (context, decision, at, wait)) in model.iter_mut().enumerate() {
                let age = made - u32::try_from(index + 1).unwrap();
                let due = match deadline {
                    Deadline::Rounds(limit) => age > limit,
                    Deadline::Time(limit) => now - *at > limit,
                    _ => false,
                };
                if wait.is_none() && (due || deciding && age + 1 >= 8) {
                    *wait = Some(false);
                    if impute {
                        learned.push((*context, *decision, -0.25));
                    }
                }
            }
            if deciding {
                let context = random.context(&MIXED);
                let request = Request::new(&context, &all).at(now);
                let decision = ana.user().decide(&request).unwrap();
                model.push((context, decision, now, None));
            } else if !model.is_empty() {
                ana.user().expire(now).unwrap();
                let back = random.below(model.len().min(12)) + 1;
                let index = model.len() - back;
                let known = &mut model[index];
                let reward = random.signed();
                let found = ana.user().feedback(known.1.id, reward);
                match known.3 {
                    None => {
                        prop_assert!(found.is_ok(), "{found:?}");
                        known.3 = Some(true);
                        learned.push((known.0, known.1, reward));
                    }
                    Some(true) if back <= 8 => prop_assert_eq!(found, Err(UserError::DuplicateFeedback)),
                    Some(_) => prop_assert_eq!(found, Err(UserError::ExpiredDecision)),
                }
            }
            // A deadline in rounds that passed with the last decision is imputed at the next step, also in
            // the model.
            prop_assert_eq!(ana.state().observations() as usize, learned.len());
        }
        assert_learned(&mut ana, &learned);
    }
}

#[test]
fn a_full_ring_expires_by_policy() {
    let all = Feasible::all(&MIXED);
    let context = Context::new(&MIXED, None, &[0.5, 0.5]).unwrap();
    let request = Request::new(&context, &all);

    let mut ana = start(Settings::PAPER);
    for _ in 0..20 {
        ana.user().decide(&request).unwrap();
    }
    assert_eq!((ana.state().observations(), ana.user().waiting(0).count()), (0, 8));
    assert!(!matches!(
        ana.user().next(&mut Command::decide(request)).unwrap().unwrap().event(),
        Event::Expiry { .. }
    ));

    let settings = Settings { expiry: Expiry::Impute(0.5), ..Settings::PAPER };
    let mut ana = start(settings);
    let decisions: Vec<_> = (0..20).map(|_| ana.user().decide(&request).unwrap()).collect();
    assert_eq!(ana.state().observations(), 12);
    let imputed: Vec<_> = decisions[..12].iter().map(|decision| (context, *decision, 0.5)).collect();
    assert_learned(&mut ana, &imputed);
    assert!(ana.user().waiting(0).eq(decisions[12..].iter().map(|decision| decision.id)));

    // Step by step the same.
    let (mut user, mut command) = (ana.user(), Command::decide(request));
    let step = user.next(&mut command).unwrap().unwrap();
    assert_eq!(*step.event(), Event::Expiry { round: 13, imputed: Some(0.5) });
    step.apply();
    let step = user.next(&mut command).unwrap().unwrap();
    assert!(matches!(step.event(), Event::Decision { round: 21, .. }));
    step.apply();
    assert!(user.next(&mut command).unwrap().is_none());
    assert_eq!(ana.state().observations(), 13);
}

/// A refused request leaves the waiting decisions alone, even when their deadline has passed.
#[test]
fn a_bad_request_expires_nothing() {
    let settings = Settings { deadline: Deadline::Time(1), expiry: Expiry::Impute(0.5), ..Settings::PAPER };
    let mut ana = start(settings);
    let (context, all) = (Context::new(&MIXED, None, &[0.5, 0.5]).unwrap(), Feasible::all(&MIXED));
    ana.user().decide(&Request::new(&context, &all)).unwrap();
    let before = ana.clone();
    let foreign = Context::new(&TAU2, None, &[]).unwrap();
    assert!(ana.user().decide(&Request::new(&foreign, &all).at(99)).is_err());
    let short = [0.0; 3];
    assert!(ana.user().decide(&Request::new(&context, &all).with_defaults(&short).at(99)).is_err());
    assert_eq!(ana, before);
    let mut learner = ana.into_learner();
    let short = UserError::Posterior(PosteriorError::WorkspaceLength);
    assert_eq!(learner.bind(before.policy(), &mut [0.0; 3]).map(|_| ()), Err(short));
    assert_eq!(learner, *before.learner());
}

/// What was accepted once is accepted again, whatever the deadlines are by then: they belong to proposing.
#[test]
fn a_journal_is_replayed_under_any_deadline() {
    let mut ana = start(Settings::PAPER);
    let start_state = ana.learner().clone();
    let (context, all) = (Context::new(&MIXED, None, &[0.5, 0.5]).unwrap(), Feasible::all(&MIXED));
    let id = |round| DecisionId { user: 7, incarnation: 0, site: 0, round };
    let mut journal = vec![];
    let mut record = |mut command: Command<'_>| {
        let mut user = ana.user();
        while let Some(step) = user.next(&mut command).unwrap() {
            journal.push(step.event().clone());
            step.apply();
        }
    };
    for round in 1..=20 {
        record(Command::decide(Request::new(&context, &all).at(10 * round)));
        if round > 5 {
            record(Command::feedback(id(round - 5), 0.5).at(10 * round));
        }
    }
    assert_eq!(journal.len(), 1 + 20 + 15);
    for deadline in [Deadline::Rounds(0), Deadline::Time(1)] {
        let settings = Settings { deadline, expiry: Expiry::Impute(0.25), ..Settings::PAPER };
        let other = Policy::<f64>::new(&MIXED, settings).unwrap();
        let mut again = HostUser::from_learner(&other, start_state.clone()).unwrap();
        for event in &journal {
            again.user().check(event).unwrap().apply();
        }
        assert_eq!(again, ana);
        // From here on the new deadline holds.
        let late = || Command::feedback(id(19), 0.5).at(1_000);
        assert_eq!(again.user().next(&mut late()).map(|_| ()), Err(UserError::ExpiredDecision));
        assert!(ana.user().next(&mut late()).unwrap().is_some());
    }
}

/// A reward after the deadline is refused by time alone. A decision under rules has a time, too.
#[test]
fn deadlines_in_time_need_no_expiry_to_hold() {
    let settings = Settings { deadline: Deadline::Time(60), ..Settings::PAPER };
    let mut ana = start(settings);
    let context = Context::new(&MIXED, None, &[0.5, 0.5]).unwrap();
    let decision =
        ana.user().decide_or_default(&context, &[], None, 1_000).unwrap().expect("a feasible action");
    let late = ana.user().feedback_at(decision.id, 0.5, 1_061);
    assert_eq!(late, Err(UserError::ExpiredDecision));
    assert_eq!((ana.user().waiting(1_060).count(), ana.user().waiting(1_061).count()), (1, 0));
    assert!(ana.user().feedback_at(decision.id, 0.5, 1_060).is_ok());
}
