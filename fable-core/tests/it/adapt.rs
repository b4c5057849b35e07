//! Optimism, fading, the learned scale and the alarm for users who change, against dense oracles.

use crate::common::{MIXED, Random, Sums, bits, features, start};
use fable_core::catalog::{AGENT, Catalog, Part, RUBRIC, TAU2};
use fable_core::catalog::{ContrastSet, Direction};
use fable_core::journal::{Command, Event, Observation};
use fable_core::posterior::{Factor, Prior};
use fable_core::settings::{OnChange, Scale};
use fable_core::{
    Action, Context, Exploration, Feasible, HostUser, Policy, Request, Rule, Scalar, Settings, Statement,
    UserError, Workspace,
};
use nalgebra::{DMatrix, DVector};

const OPTIMISTIC: Settings<'static> =
    Settings { exploration: Exploration::Optimistic(1.5), ..Settings::PAPER };

/// What the oracle would do: the highest baseline + phi.mu + c sd, and how far the next one is behind.
fn optimistic(
    dense: &Sums,
    policy: &Policy<'_, f64>,
    context: &Context,
    feasible: &Feasible,
    c: f64,
) -> (Action, f64) {
    let solved = dense.solved();
    let mut scores: Vec<(Action, f64)> = feasible
        .set()
        .iter()
        .map(|action| {
            let (mean, variance) = solved.contrast(&features(policy.catalog(), context, action));
            (action, policy.baseline(context, action, None) + mean + c * variance.sqrt())
        })
        .collect();
    scores.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.0.cmp(&b.0.0)));
    (scores[0].0, scores.get(1).map_or(1.0, |second| scores[0].1 - second.1))
}

#[test]
fn an_optimistic_round_takes_the_highest_mean_with_its_exact_deviation() {
    for (catalog, rounds) in [(&MIXED, 60), (&TAU2, 60), (&RUBRIC, 40), (&AGENT, 12)] {
        let mut random = Random(5);
        let policy = Policy::<f64>::new(catalog, OPTIMISTIC).unwrap();
        let mut ana = start::<f64, 4>(&policy, 1);
        let mut dense = Sums::isotropic(catalog.dimension(), 16.0);
        let every = Feasible::all(catalog);
        let fewer = Feasible::new(catalog, &[Rule::forbid("not the second", &[Part::new(0, &[1])])]).unwrap();
        for round in 0..rounds {
            let context = random.context(catalog);
            let feasible = if round % 3 == 0 { &fewer } else { &every };
            let (expected, ahead) = optimistic(&dense, &policy, &context, feasible, 1.5);
            let mut user = ana.user();
            let request = Request::new(&context, feasible);
            let mut propensities = vec![0.5; catalog.actions()];
            user.propensities(&request, 50, &mut propensities).unwrap();
            let decision = user.decide(&request).unwrap();
            assert!(
                decision.action == expected || ahead < 1e-9,
                "{}, round {round}",
                catalog.definition().name
            );
            let certain = |(index, share): (usize, &f64)| {
                *share == f64::from(u8::from(index == decision.action.index()))
            };
            assert!(propensities.iter().enumerate().all(certain));
            let reward = random.signed();
            user.feedback(decision.id, reward).unwrap();
            dense.observe(&features(catalog, &context, decision.action), reward - decision.baseline, 0.25);
        }
    }
}

#[test]
fn of_equals_the_earliest_is_taken_and_the_explanation_adds_up() {
    let policy = Policy::<f64>::new(&TAU2, Settings { cost_weight: 0.0, ..OPTIMISTIC }).unwrap();
    let mut ana = start::<f64, 4>(&policy, 1);
    let (context, all) = (TAU2.context(None, []).unwrap(), Feasible::all(&TAU2));
    let decision = ana.user().decide(&Request::new(&context, &all)).unwrap();
    assert_eq!(decision.action, Action(0)); // nothing is known: all scores are the same
    let mut user = ana.user();
    let why = user.explain(decision.id, None, Some(Action(3))).unwrap();
    let sum: f64 = why.shares().map(|share| share.chosen).sum();
    let bonus = why.shares().find(|share| share.source == fable_core::explain::Source::Bonus).unwrap();
    assert!((sum - why.chosen_score).abs() < 1e-12);
    assert!((bonus.chosen - 1.5 * (6.0_f64 / 16.0).sqrt()).abs() < 1e-12); // six features of precision 16
    assert!(why.to_string().contains("bonus for what is uncertain"), "{why}");
}

/// A user and the oracle learn the same; the oracle keeps the observations, to weigh them anew.
fn teach(ana: &mut HostUser<'_, f64, 4>, random: &mut Random, count: usize, into: &mut Vec<Observation>) {
    for _ in 0..count {
        let user = ana.user();
        let (policy, catalog) = (user.policy(), user.policy().catalog());
        let context = random.context(catalog);
        let action = random.action(catalog);
        let reward = random.signed();
        let baseline = policy.baseline(&context, action, None);
        into.push(Observation { context, action, baseline, reward, weight: 1.0 });
        ana.user().observe(&context, action, reward).unwrap();
    }
}

fn assert_same(ana: &mut HostUser<'_, f64, 4>, dense: &Sums, what: &str) {
    let d = dense.h.len();
    let solved = dense.solved();
    let mut mean = DVector::zeros(d);
    let mut covariance = DMatrix::zeros(d, d);
    let mut user = ana.user();
    let (posterior, scratch) = user.posterior_and_scratch();
    posterior.mean_into(scratch, &mut mean).unwrap();
    posterior.covariance_into(scratch, &mut covariance).unwrap();
    assert!((mean - &solved.mean).amax() < 1e-11, "{what}");
    assert!((covariance - solved.covariance()).amax() < 1e-12, "{what}");
}

/// A factor that couples everything a task shares with the root, learned from others.
fn population(layout: fable_core::posterior::Layout) -> Vec<f64> {
    let others = Policy::<f64>::new(&MIXED, Settings::PAPER).unwrap();
    let (mut crowd, mut random) = (start::<f64, 4>(&others, 9), Random(77));
    teach(&mut crowd, &mut random, 40, &mut vec![]);
    assert_eq!(crowd.learner().posterior().layout(), layout);
    crowd.learner().posterior().packed().to_vec()
}

#[test]
fn fading_weighs_every_observation_less_and_the_prior_again() {
    let (layout, d) = (MIXED.layout(), MIXED.dimension());
    let mut random = Random(3);
    let mean: Vec<f64> = (0..d).map(|_| random.signed()).collect();
    let precision: Vec<f64> = (0..d).map(|_| 0.5 + 4.0 * random.unit()).collect();
    let packed = population(layout);
    let factor =
        Factor::new(layout, &packed, &mut Workspace::from_storage(vec![0.0; layout.active_len()])).unwrap();
    let of_factor = {
        let policy = Policy::with_prior(&MIXED, Settings::PAPER, Prior::Factor(factor)).unwrap();
        let mut fresh = start::<f64, 4>(&policy, 1);
        let (mut mu, mut sigma) = (DVector::zeros(d), DMatrix::zeros(d, d));
        let mut user = fresh.user();
        let (posterior, scratch) = user.posterior_and_scratch();
        posterior.mean_into(scratch, &mut mu).unwrap();
        posterior.covariance_into(scratch, &mut sigma).unwrap();
        let lambda = sigma.cholesky().unwrap().inverse();
        let h = &lambda * mu;
        Sums { lambda, h }
    };
    let priors = [
        (Prior::Isotropic, Sums::isotropic(d, 16.0)),
        (Prior::Diagonal { mean: &mean, precision: &precision }, Sums::diagonal(&mean, &precision)),
        (Prior::Factor(factor), of_factor),
    ];
    for (which, (prior, base)) in priors.into_iter().enumerate() {
        for keep in [0.5_f32, 0.125, 0.9, 0.0] {
            let policy = Policy::with_prior(&MIXED, Settings::PAPER, prior).unwrap();
            let mut ana = start::<f64, 4>(&policy, 1);
            let statement = Statement {
                direction: Direction::new(&MIXED, [(d - 1, 1.0), (d - 2, -0.5)]).unwrap(),
                response: 0.5,
                precision: 4.0,
            };
            ana.user().onboard(&statement).unwrap();
            let (mut early, mut late) = (vec![], vec![]);
            teach(&mut ana, &mut random, 30, &mut early);
            ana.user().fade(keep).unwrap();
            teach(&mut ana, &mut random, 10, &mut late);
            ana.user().fade(0.5).unwrap();
            let mut dense = base.clone();
            let k = f64::from(keep) * 0.5;
            if k > 0.0 {
                dense.observe(&[(d - 1, 1.0), (d - 2, -0.5)], 0.5, 1.0 / (4.0 * k)); // statements fade like the rest
            }
            for (observations, k) in [(&early, k), (&late, 0.5)] {
                for seen in observations.iter().filter(|_| k > 0.0) {
                    dense.observe(
                        &features(&MIXED, &seen.context, seen.action),
                        seen.reward - seen.baseline,
                        0.25 / k,
                    );
                }
            }
            assert_same(&mut ana, &dense, &format!("prior {which}, keep {keep}"));
            let ratio = dense.solved().log_det() - base.solved().log_det();
            assert!((ana.learner().posterior().log_det_ratio() - ratio).abs() < 1e-9);
            assert!(ana.state().is_voided());

            // Evidence counts what is left, and what is left of one observation can be taken back.
            let before: f64 = late.iter().chain(&early).filter(|seen| seen.action.0 < 12).count() as f64;
            assert!(f64::from(ana.user().evidence(0, 0)) <= before);
            let taken = early[7];
            let unlearn = |kept| Command::unlearn(taken, false, kept, ContrastSet::EMPTY);
            let kept = keep * 0.5;
            if kept > 0.0 {
                ana.user().run(&mut unlearn(kept)).unwrap();
                let residual = taken.reward - taken.baseline;
                dense.observe(&features(&MIXED, &taken.context, taken.action), residual, -0.25 / k);
                assert_same(&mut ana, &dense, &format!("prior {which}, keep {keep}, unlearned"));
            } else {
                assert_eq!(ana.user().run(&mut unlearn(kept)), Err(UserError::Kept));
            }
        }
    }
}

#[test]
fn late_rewards_count_in_full_and_commands_fade_like_direct_calls() {
    for half_life in [1, 3, 10] {
        let policy =
            Policy::<f64>::new(&TAU2, Settings { half_life: Some(half_life), ..OPTIMISTIC }).unwrap();
        let (mut direct, mut stored) = (start::<f64, 4>(&policy, 1), start::<f64, 4>(&policy, 1));
        let mut replayed = start::<f64, 4>(&policy, 1);
        let (context, all) = (TAU2.context(None, []).unwrap(), Feasible::all(&TAU2));
        let mut dense = Sums::isotropic(29, 16.0);
        let mut waiting = None;
        let mut fades = 0;
        let prior = dense.clone();
        let mut random = Random(11);
        for round in 0..40 {
            let request = Request::new(&context, &all);
            let decision = direct.user().decide(&request).unwrap();
            let mut command = Command::decide(request);
            run(&mut stored, &mut replayed, &mut command, &mut fades);
            assert_eq!(command.decision(&stored.user()), Some(decision));
            // Every other reward comes one round late.
            let due = if round % 2 == 0 { waiting.replace(decision) } else { Some(decision) };
            for decision in due.into_iter().chain(if round % 2 == 1 { waiting.take() } else { None }) {
                let reward = random.signed();
                direct.user().feedback(decision.id, reward).unwrap();
                run(&mut stored, &mut replayed, &mut Command::feedback(decision.id, reward), &mut fades);
                dense.observe(&features(&TAU2, &context, decision.action), reward - decision.baseline, 0.25);
                if direct.state().rewards_since_fading() == 0 {
                    dense = Sums {
                        lambda: (&dense.lambda + &prior.lambda) / 2.0,
                        h: (&dense.h + &prior.h) / 2.0,
                    };
                }
            }
            assert_same(&mut direct, &dense, "half-life");
            assert_eq!((bits(&direct), direct.to_bytes()), (bits(&stored), replayed.to_bytes()));
        }
        assert_eq!(fades, 40 / half_life);
    }
}

/// Runs a command, event by event, and replays each event elsewhere.
fn run(
    stored: &mut HostUser<'_, f64, 4>,
    replayed: &mut HostUser<'_, f64, 4>,
    command: &mut Command<'_>,
    fades: &mut u32,
) {
    let mut user = stored.user();
    while let Some(step) = user.next(command).unwrap() {
        *fades += u32::from(matches!(step.event(), Event::Fade { keep: 0.5 }));
        replayed.user().check(step.event()).unwrap().apply();
        step.apply();
    }
}

#[test]
fn the_scale_is_what_is_left_of_the_squares_and_unlearning_restores_it() {
    let policy = Policy::<f64>::new(&MIXED, Settings { noise_variance: 0.01, ..Settings::PAPER }).unwrap();
    let mut random = Random(8);
    let mut seen = vec![];
    let mut ana = start::<f64, 4>(&policy, 1);
    teach(&mut ana, &mut random, 25, &mut seen);
    ana.user().fade(0.5).unwrap();
    teach(&mut ana, &mut random, 25, &mut seen);

    // min over theta of the weighted squares: y.W.y - h.mu, with W = k / sigma^2.
    let scale = |without: Option<usize>| {
        let mut dense = Sums::isotropic(MIXED.dimension(), 16.0);
        let (mut total, mut count) = (0.0, 0.0);
        for (index, seen) in seen.iter().enumerate().filter(|(index, _)| Some(*index) != without) {
            let (residual, k) = (seen.reward - seen.baseline, if index < 25 { 0.5 } else { 1.0 });
            dense.observe(&features(&MIXED, &seen.context, seen.action), residual, 0.01 / k);
            total += k * residual * residual / 0.01;
            count += k;
        }
        let squares: f64 = total - dense.h.dot(&dense.solved().mean);
        ((8.0 + squares / 2.0) / (8.0 + count / 2.0)).sqrt()
    };
    assert!(scale(None) > 2.0, "the rewards are far noisier than the settings say");
    assert!((ana.user().scale() - scale(None)).abs() < 1e-4 * scale(None));
    for (index, kept) in [(3, 0.5), (40, 1.0)] {
        let mut fewer = HostUser::<f64, 4>::restore(&policy, &ana.to_bytes()).unwrap();
        fewer.user().run(&mut Command::unlearn(seen[index], false, kept, ContrastSet::EMPTY)).unwrap();
        assert!((fewer.user().scale() - scale(Some(index))).abs() < 1e-4 * scale(None), "{index}");
    }
}

#[test]
fn a_learned_scale_widens_draws_and_bonuses() {
    let noisy = Settings { noise_variance: 0.01, ..OPTIMISTIC };
    let (context, all) = (TAU2.context(None, []).unwrap(), Feasible::all(&TAU2));
    let fixed = Policy::<f64>::new(&TAU2, noisy).unwrap();
    let learned = Policy::<f64>::new(&TAU2, Settings { scale: Scale::Learned, ..noisy }).unwrap();
    assert_eq!(fixed.fingerprint(), learned.fingerprint());
    let mut ana = start::<f64, 4>(&fixed, 1);
    teach(&mut ana, &mut Random(1), 30, &mut vec![]);
    let scale = ana.user().scale();
    assert!(scale > 2.0);
    // The same user under the other policy: what was chosen is best with the wider bonus.
    let mut again = HostUser::<f64, 4>::restore(&learned, &ana.to_bytes()).unwrap();
    let mut command = Command::decide(Request::new(&context, &all)).scored();
    let mut user = again.user();
    user.run(&mut command).unwrap();
    let (decision, scores) = (command.decision(&user).unwrap(), command.scores().unwrap());
    let estimate = user.predict(&context, decision.action, None).unwrap();
    assert!((scores.sampled_score - (estimate.mean + 1.5 * scale * estimate.variance.sqrt())).abs() < 1e-9);
}

/// A user of `tau2` with noisy rewards. At `change` all her tastes reverse. Returns how often and when the
/// alarm notices.
fn notices(
    seed: u64,
    noise: f64,
    thumbs: bool,
    rounds: usize,
    change: Option<usize>,
) -> (u32, Option<usize>) {
    let policy = Policy::<f64>::new(&TAU2, Settings::DEFAULT).unwrap();
    let mut ana = start::<f64, 4>(&policy, seed);
    let mut random = Random(seed);
    let theta: Vec<f64> = (0..29).map(|_| 0.25 * random.normal()).collect();
    let (context, all) = (TAU2.context(None, []).unwrap(), Feasible::all(&TAU2));
    let (mut alarms, mut first) = (0, None);
    for round in 0..rounds {
        let decision = ana.user().decide(&Request::new(&context, &all)).unwrap();
        let taste: f64 = features(&TAU2, &context, decision.action)
            .iter()
            .map(|(index, value)| theta[*index] * value)
            .sum();
        let turned = if change.is_some_and(|change| round >= change) { -taste } else { taste };
        let graded = (decision.baseline + turned + noise * random.normal()).clamp(-1.0, 1.0);
        let reward =
            if thumbs { if random.unit() < 0.5 + graded / 2.0 { 1.0 } else { -1.0 } } else { graded };
        ana.user().feedback(decision.id, reward).unwrap();
        if ana.state().rewards_since_change() == Some(0) {
            alarms += 1;
            first = first.or(change.filter(|change| round >= *change).map(|change| round - change));
        }
    }
    (alarms, first)
}

#[test]
fn false_alarms_are_rare_and_a_change_is_noticed() {
    for (noise, thumbs) in [(0.1, false), (0.5, false), (0.0, true)] {
        let alarms: u32 = (0..60).map(|seed| notices(seed, noise, thumbs, 300, None).0).sum();
        assert!(alarms <= 18, "{alarms} false alarms in 18,000 rewards with noise {noise}, thumbs {thumbs}");
    }
    let noticed: Vec<usize> =
        (0..40).filter_map(|seed| notices(seed, 0.2, false, 300, Some(150)).1).collect();
    let soon = noticed.iter().filter(|rounds| **rounds < 30).count();
    assert!(soon >= 32, "{soon} of 40 within 30 rewards, {} in all", noticed.len());
}

#[test]
fn what_is_done_on_a_change_is_in_the_events() {
    for (on_change, keep) in [(OnChange::Halve, 0.5), (OnChange::Reset, 0.0)] {
        let policy = Policy::<f64>::new(&TAU2, Settings { on_change, ..OPTIMISTIC }).unwrap();
        let mut ana = start::<f64, 4>(&policy, 4);
        let (context, all) = (TAU2.context(None, []).unwrap(), Feasible::all(&TAU2));
        let mut faded = None;
        for round in 0..80 {
            let mut command = Command::decide(Request::new(&context, &all));
            ana.user().run(&mut command).unwrap();
            let decision = command.decision(&ana.user()).unwrap();
            let reward = if round < 40 { 0.9 } else { -0.9 };
            let mut command = Command::feedback(decision.id, reward);
            let mut user = ana.user();
            while let Some(step) = user.next(&mut command).unwrap() {
                if let Event::Fade { keep } = step.event() {
                    faded = faded.or(Some((round, *keep)));
                }
                step.apply();
            }
        }
        let (round, kept) = faded.expect("it was noticed");
        assert!((40..60).contains(&round) && kept == keep, "{on_change:?}: round {round}, kept {kept}");
    }
}

#[test]
fn bad_fadings_change_nothing() {
    let policy = Policy::<f32>::new(&TAU2, Settings::DEFAULT).unwrap();
    let mut ana = start::<f32, 4>(&policy, 1);
    let before = ana.to_bytes();
    for keep in [-0.1, 1.0, 1.5, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e-5] {
        assert_eq!(ana.user().fade(keep), Err(UserError::Keep), "{keep}");
        assert_eq!(ana.user().check(&Event::Fade { keep }).map(|_| ()).unwrap_err(), UserError::Keep);
    }
    assert_eq!(ana.to_bytes(), before);
}

/// The prior believes the same of a score in every dictionary.
#[test]
fn a_precision_per_feature_is_one_of_a_score() {
    fn spread<T: Scalar>(catalog: &Catalog<'static>) -> f64 {
        let policy = Policy::<T>::new(
            catalog,
            Settings { precision_per_feature: 4.0, base_precision: None, ..Settings::PAPER },
        )
        .unwrap();
        let signals = vec![1.0; catalog.definition().signals.len()];
        let task = (!catalog.definition().tasks.is_empty()).then_some(0);
        let context = Context::new(catalog, task, &signals).unwrap();
        let mut ana = start::<T, 4>(&policy, 1);
        let last = Action(u16::try_from(catalog.actions() - 1).unwrap());
        ana.user().predict(&context, last, None).unwrap().variance.to_f64().sqrt()
    }
    for catalog in [&AGENT, &TAU2, &RUBRIC] {
        assert!((spread::<f64>(catalog) - 0.5).abs() < 0.03, "{}", catalog.definition().name);
    }
}
