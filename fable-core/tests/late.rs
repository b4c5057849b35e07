//! Late feedback: any order, deadlines in rounds and in time, a full ring, and what an expired decision teaches.

mod common;

use common::{Dense, MIXED, Random, features};
use fable_core::catalog::TAU2;
use fable_core::policy::{Deadline, Expiry};
use fable_core::{Context, Decision, Event, Feasible, Learner, LearnerError, Policy, Request, Settings, Storage, Workspace};
use proptest::prelude::*;

type Host = Learner<f64, Vec<f64>, 8>;

fn start(settings: Settings<'_>) -> (Policy<'_, f64>, Host, Workspace<f64, Vec<f64>>) {
    let policy = Policy::new(&MIXED, settings).unwrap();
    let mut learner = Learner::over(vec![0.0; MIXED.state_len()]);
    learner.start(&policy, 7).unwrap();
    (policy, learner, Workspace::over(vec![0.0; MIXED.workspace_len()]))
}

/// The posterior is that of these observations given at once.
fn assert_learned(learner: &Host, policy: &Policy<'_, f64>, observations: &[(Context, Decision, f64)]) {
    let mut dense = Dense::isotropic(MIXED.dimension(), policy.settings().base_precision);
    for (context, decision, reward) in observations {
        dense.observe(&features(&MIXED, context, decision.action), reward - decision.baseline, policy.settings().noise_variance);
    }
    let solved = dense.solved();
    let mut workspace = Workspace::over(vec![0.0; MIXED.workspace_len()]);
    let mut mean = vec![0.0; MIXED.dimension()];
    learner.posterior().mean(&mut workspace, &mut mean).unwrap();
    for (index, mean) in mean.iter().enumerate() {
        assert!((mean - solved.mean[index]).abs() < 1e-11);
        let variance = learner.posterior().marginal_variance(&mut workspace, index).unwrap();
        assert!((variance - solved.contrast(&[(index, 1.0)]).1).abs() < 1e-12);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any interleaving of decisions, late rewards and expiries, under any policy of expiry: what was learned is exactly the
    /// rewards accepted and those imputed, and every other reward is refused with its own error.
    #[test]
    fn any_interleaving_is_the_same_observations(seed: u64, rounds in prop::option::of(0_u32..12), timed: bool, impute: bool) {
        let mut random = Random(seed);
        let deadline = match rounds {
            None => Deadline::None,
            Some(limit) if timed => Deadline::Time(limit),
            Some(limit) => Deadline::Rounds(limit),
        };
        let expiry = if impute { Expiry::Impute(-0.25) } else { Expiry::Nothing };
        let (policy, mut learner, mut workspace) = start(Settings { deadline, expiry, ..Settings::default() });
        let all = Feasible::all(&MIXED);
        // The model: every decision ever made, when, and whether it waits (None), was rewarded (true) or expired (false).
        let mut model: Vec<(Context, Decision, u32, Option<bool>)> = vec![];
        let mut learned = vec![];
        let mut now = 0;
        for _ in 0..60 {
            now += u32::try_from(random.below(3)).unwrap();
            let deciding = random.below(2) == 0;
            // What the model expects to expire: by deadline now, and the ninth youngest when another decision is made.
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
                let decision = learner.decide(&policy, &mut workspace, &request).unwrap();
                model.push((context, decision, now, None));
            } else if !model.is_empty() {
                learner.expire(&policy, &mut workspace, now).unwrap();
                let back = random.below(model.len().min(12)) + 1;
                let index = model.len() - back;
                let (context, decision, _, wait) = &mut model[index];
                let reward = random.signed();
                let found = learner.feedback(&policy, &mut workspace, decision.id, reward);
                match wait {
                    None => {
                        prop_assert!(found.is_ok(), "{found:?}");
                        *wait = Some(true);
                        learned.push((*context, *decision, reward));
                    }
                    Some(true) if back <= 8 => prop_assert_eq!(found, Err(LearnerError::DuplicateFeedback)),
                    Some(_) => prop_assert_eq!(found, Err(LearnerError::ExpiredDecision)),
                }
            }
            // A deadline in rounds that passed with the last decision is imputed at the next step, in the model as well.
            prop_assert_eq!(learner.observations() as usize, learned.len());
        }
        assert_learned(&learner, &policy, &learned);
    }
}

#[test]
fn a_full_ring_expires_by_policy() {
    let all = Feasible::all(&MIXED);
    let context = Context::new(&MIXED, None, &[0.5, 0.5]).unwrap();
    let request = Request::new(&context, &all);

    let (policy, mut learner, mut workspace) = start(Settings::default());
    for _ in 0..20 {
        learner.decide(&policy, &mut workspace, &request).unwrap();
    }
    assert_eq!((learner.observations(), learner.waiting(&policy, 0).count()), (0, 8));
    assert!(learner.propose_room(&policy).is_none());

    let settings = Settings { expiry: Expiry::Impute(0.5), ..Settings::default() };
    let (policy, mut learner, mut workspace) = start(settings);
    let decisions: Vec<_> = (0..20).map(|_| learner.decide(&policy, &mut workspace, &request).unwrap()).collect();
    assert_eq!(learner.observations(), 12);
    let imputed: Vec<_> = decisions[..12].iter().map(|decision| (context, *decision, 0.5)).collect();
    assert_learned(&learner, &policy, &imputed);
    assert!(learner.waiting(&policy, 0).eq(decisions[12..].iter().map(|decision| decision.id)));

    // Step by step the same.
    let room = learner.propose_room(&policy).unwrap();
    assert_eq!(room, Event::Expiry { round: 13, imputed: Some(0.5) });
    apply(&mut learner, &policy, &mut workspace, &room).unwrap();
    assert_eq!(learner.propose_room(&policy), None);
    let event = learner.propose_decision(&policy, &mut workspace, &request).unwrap();
    apply(&mut learner, &policy, &mut workspace, &event).unwrap();
    assert_eq!(learner.observations(), 13);
}

/// A refused request leaves the waiting decisions alone, even when their deadline has passed.
#[test]
fn a_bad_request_expires_nothing() {
    let settings = Settings { deadline: Deadline::Time(1), expiry: Expiry::Impute(0.5), ..Settings::default() };
    let (policy, mut learner, mut workspace) = start(settings);
    let (context, all) = (Context::new(&MIXED, None, &[0.5, 0.5]).unwrap(), Feasible::all(&MIXED));
    learner.decide(&policy, &mut workspace, &Request::new(&context, &all)).unwrap();
    let before = learner.clone();
    let foreign = Context::new(&TAU2, None, &[]).unwrap();
    assert!(learner.decide(&policy, &mut workspace, &Request::new(&foreign, &all).at(99)).is_err());
    let short = [0.0; 3];
    assert!(learner.decide(&policy, &mut workspace, &Request::new(&context, &all).with_defaults(&short).at(99)).is_err());
    assert!(learner.decide(&policy, &mut Workspace::over(vec![0.0; 3]), &Request::new(&context, &all).at(99)).is_err());
    assert_eq!(learner, before);
}

/// What was accepted once is accepted again, whatever the deadlines are by then: they belong to proposing.
#[test]
fn a_journal_is_replayed_under_any_deadline() {
    let (policy, mut learner, mut workspace) = start(Settings::default());
    let start_state = learner.clone();
    let (context, all) = (Context::new(&MIXED, None, &[0.5, 0.5]).unwrap(), Feasible::all(&MIXED));
    let mut journal = vec![learner.propose_permissions(&all).unwrap()];
    apply(&mut learner, &policy, &mut workspace, &journal[0]).unwrap();
    for round in 1..=20 {
        let event = learner.propose_decision(&policy, &mut workspace, &Request::new(&context, &all).at(10 * round)).unwrap();
        apply(&mut learner, &policy, &mut workspace, &event).unwrap();
        journal.push(event);
        if round > 5 {
            let id = fable_core::DecisionId { user: 7, incarnation: 0, round: round - 5 };
            let event = learner.propose_feedback(&policy, id, 0.5, 1.0, 10 * round).unwrap();
            apply(&mut learner, &policy, &mut workspace, &event).unwrap();
            journal.push(event);
        }
    }
    for deadline in [Deadline::Rounds(0), Deadline::Time(1)] {
        let settings = Settings { deadline, expiry: Expiry::Impute(0.25), ..Settings::default() };
        let other = Policy::<f64>::new(&MIXED, settings).unwrap();
        let mut again = start_state.clone();
        for event in &journal {
            apply(&mut again, &other, &mut workspace, event).unwrap();
        }
        assert_eq!(again, learner);
        // From here on the new deadline holds.
        let id = fable_core::DecisionId { user: 7, incarnation: 0, round: 19 };
        assert_eq!(again.propose_feedback(&other, id, 0.5, 1.0, 1_000), Err(LearnerError::ExpiredDecision));
        assert!(again.propose_feedback(&policy, id, 0.5, 1.0, 1_000).is_ok());
    }
}

/// A reward that comes after the deadline is refused by the clock alone, and deciding under rules has a clock too.
#[test]
fn deadlines_in_time_need_no_expiry_to_hold() {
    let settings = Settings { deadline: Deadline::Time(60), ..Settings::default() };
    let (policy, mut learner, mut workspace) = start(settings);
    let context = Context::new(&MIXED, None, &[0.5, 0.5]).unwrap();
    let choice = learner.decide_or_default(&policy, &mut workspace, &context, &[], None, 1_000).unwrap();
    let fable_core::Choice::Decided(decision) = choice else { panic!("{choice:?}") };
    let late = learner.feedback_at(&policy, &mut workspace, decision.id, 0.5, 1_061);
    assert_eq!(late, Err(LearnerError::ExpiredDecision));
    assert_eq!((learner.waiting(&policy, 1_060).count(), learner.waiting(&policy, 1_061).count()), (1, 0));
    assert!(learner.feedback_at(&policy, &mut workspace, decision.id, 0.5, 1_060).unwrap().is_some());
}

fn apply<W: Storage<f64>>(
    learner: &mut Host,
    policy: &Policy<'_, f64>,
    workspace: &mut Workspace<f64, W>,
    event: &Event,
) -> Result<(), LearnerError> {
    learner.check(policy, workspace, event)?.apply();
    Ok(())
}
