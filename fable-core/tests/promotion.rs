//! The profile: what is promoted, where it comes from, what becomes of it, and how it reads.

mod common;

use common::{MIXED, Random, bits};
use fable_core::catalog::rubric::{self, Level, RUBRIC};
use fable_core::catalog::{AGENT, Catalog};
use fable_core::trust::{Comparison, Promotion, Standing, Verdict};
use fable_core::{
    Context, Direction, Event, Feasible, Learner, LearnerError, Policy, Request, Scalar, Settings, Statement, Workspace,
};

type Host<T> = Learner<T, Vec<T>, 16>;

fn start<T: Scalar, const R: usize>(policy: &Policy<'_, T>) -> (Learner<T, Vec<T>, R>, Workspace<T, Vec<T>>) {
    let mut learner = Learner::over(vec![T::ZERO; policy.catalog().state_len()]);
    learner.start(policy, 7).unwrap();
    (learner, Workspace::over(vec![T::ZERO; policy.catalog().workspace_len()]))
}

/// A user of `rubric` who shows how much she likes rigor: `strength` for level 5, the opposite for level 1. Steps she likes.
fn show<const R: usize>(
    learner: &mut Learner<f64, Vec<f64>, R>,
    workspace: &mut Workspace<f64, Vec<f64>>,
    policy: &Policy<'_, f64>,
    strength: f64,
) {
    let context = Context::new(&RUBRIC, None, &[]).unwrap();
    let shown = [
        ([Level::Five, Level::Three, Level::Three], strength),
        ([Level::One, Level::Three, Level::Three], -strength),
        ([Level::Three, Level::Five, Level::Three], 0.9),
        ([Level::Three, Level::One, Level::Three], -0.9),
    ];
    for (levels, reward) in shown {
        learner.observe(policy, workspace, &context, rubric::action(levels), reward).unwrap();
    }
}

fn rubric_policy() -> Policy<'static, f64> {
    Policy::new(&RUBRIC, Settings { base_precision: 1.0, ..Settings::default() }).unwrap()
}

#[test]
fn a_promotion_says_where_it_comes_from_and_touches_nothing_else() {
    let policy = rubric_policy();
    let (mut learner, mut workspace) = start::<f64, 16>(&policy);
    let (context, all) = (Context::new(&RUBRIC, None, &[]).unwrap(), Feasible::all(&RUBRIC));
    for _ in 0..5 {
        learner.decide(&policy, &mut workspace, &Request::new(&context, &all)).unwrap();
    }
    for _ in 0..100 {
        show(&mut learner, &mut workspace, &policy, 0.9);
    }
    let before = learner.clone();
    let promoted = learner.promote_all(&policy, &mut workspace, 1_234).unwrap();
    let names: Vec<_> = learner.profile().iter().map(|known| RUBRIC.contrasts()[usize::from(known.contrast)].name).collect();
    assert_eq!(promoted as usize, names.len());
    assert!(names.contains(&"rigor_5_over_1") && names.contains(&"steps_5_over_1"), "{names:?}");
    assert!(names.iter().all(|name| !name.starts_with("examples")), "{names:?}");
    assert_eq!(bits(&learner), bits(&before));
    assert_eq!(learner.posterior(), before.posterior());
    assert_ne!(learner, before);
    for promotion in learner.profile() {
        let index = usize::from(promotion.contrast);
        let now = learner.assess(&policy, &mut workspace, &Comparison::declared(&RUBRIC, index).unwrap()).unwrap();
        let expected = Promotion {
            contrast: promotion.contrast,
            verdict: now.verdict,
            valid: true,
            round: 5,
            at: 1_234,
            // Of four observations two use rigor 5 or 1 and two rigor 3; the same for steps.
            evidence: if RUBRIC.contrasts()[index].name.ends_with("5_over_1") { 200 } else { 300 },
            lower: now.lower as f32,
            upper: now.upper as f32,
        };
        assert_eq!(*promotion, expected);
        assert_eq!(promotion.verdict, Verdict::For);
    }
    // What is in the profile is not promoted again, and the later decisions are those without a profile.
    assert_eq!(learner.promote_all(&policy, &mut workspace, 1_235), Ok(0));
    let mut plain = before;
    for _ in 0..20 {
        let request = Request::new(&context, &all);
        let a = learner.decide(&policy, &mut workspace, &request).unwrap();
        assert_eq!(a, plain.decide(&policy, &mut workspace, &request).unwrap());
    }
}

#[test]
fn a_user_who_changes_her_mind() {
    let policy = rubric_policy();
    let (mut learner, mut workspace) = start::<f64, 16>(&policy);
    let comparison = Comparison::declared(&RUBRIC, RUBRIC.contrast("rigor_5_over_1").unwrap()).unwrap();
    for _ in 0..60 {
        show(&mut learner, &mut workspace, &policy, 0.9);
    }
    learner.promote_all(&policy, &mut workspace, 0).unwrap();
    let first = learner.profile()[0];
    assert_eq!((first.contrast, first.verdict), (0, Verdict::For));

    let mut standings = vec![];
    for _ in 0..400 {
        let standing = learner.standing(&policy, &mut workspace, &first).unwrap();
        let now = learner.assess(&policy, &mut workspace, &comparison).unwrap();
        let expected = match (now.lower > 0.0, now.upper < 0.0) {
            (true, false) => Standing::Holds,
            (false, true) => Standing::Revoked,
            _ => Standing::Doubtful,
        };
        assert_eq!((standing, first.standing(&now)), (expected, expected));
        let mut prompt = String::new();
        learner.write_profile(&policy, &mut workspace, &mut prompt).unwrap();
        assert_eq!(prompt.contains("rigor=level_5 to rigor=level_1."), standing == Standing::Holds, "{prompt}");
        if standings.last() != Some(&standing) {
            standings.push(standing);
        }
        if standing == Standing::Revoked {
            break;
        }
        // Neither a promotion that holds nor one in doubt is promoted again or dropped.
        assert!(learner.profile().contains(&first));
        learner.promote_all(&policy, &mut workspace, 1).unwrap();
        assert!(learner.profile().contains(&first));
        show(&mut learner, &mut workspace, &policy, -0.9);
    }
    assert_eq!(standings, [Standing::Holds, Standing::Doubtful, Standing::Revoked]);

    assert!(learner.promote_all(&policy, &mut workspace, 2).unwrap() > 0);
    let about: Vec<_> = learner.profile().iter().filter(|promotion| promotion.contrast == 0).collect();
    assert_eq!(about.len(), 1);
    assert_eq!((about[0].verdict, about[0].at), (Verdict::Against, 2));
    assert_eq!(learner.standing(&policy, &mut workspace, about[0]), Ok(Standing::Holds));
    let mut prompt = String::new();
    learner.write_profile(&policy, &mut workspace, &mut prompt).unwrap();
    assert!(prompt.contains("The user prefers rigor=level_1 to rigor=level_5."), "{prompt}");
}

#[test]
fn a_full_profile_takes_no_more() {
    let policy = rubric_policy();
    let (mut roomy, mut workspace) = start::<f64, 16>(&policy);
    let (mut learner, _) = start::<f64, 1>(&policy);
    for _ in 0..100 {
        show(&mut learner, &mut workspace, &policy, 0.9);
        show(&mut roomy, &mut workspace, &policy, 0.9);
    }
    assert_eq!(learner.promote_all(&policy, &mut workspace, 0), Ok(1));
    assert_eq!(learner.profile()[0].contrast, 0);
    assert_eq!(learner.propose_promotion(&policy, &mut workspace, 0), Ok(None));
    roomy.promote_all(&policy, &mut workspace, 0).unwrap();
    let before = learner.clone();
    let second = Event::Promotion(roomy.profile()[1]);
    assert_eq!(learner.check(&policy, &mut workspace, &second).map(|_| ()), Err(LearnerError::ProfileFull));
    assert_eq!(learner, before);
    // The opposite of what is in it has room.
    for _ in 0..400 {
        show(&mut learner, &mut workspace, &policy, -0.9);
    }
    assert_eq!(learner.promote_all(&policy, &mut workspace, 5), Ok(1));
    assert_eq!((learner.profile().len(), learner.profile()[0].verdict, learner.profile()[0].at), (1, Verdict::Against, 5));
}

#[test]
fn sentences_are_the_catalogs_or_made_of_names() {
    let say = |catalog: &Catalog<'_>, name: &str, verdict| {
        let contrast = catalog.contrast(name).map_or(u8::MAX, |index| index as u8);
        let promotion = Promotion { contrast, verdict, valid: true, round: 0, at: 0, evidence: 0, lower: 0.0, upper: 0.0 };
        let mut text = String::new();
        promotion.write_sentence(catalog, &mut text).unwrap();
        text
    };
    assert_eq!(say(&MIXED, "a1_over_a0", Verdict::For), "A is one.");
    assert_eq!(say(&MIXED, "a1_over_a0", Verdict::Against), "A is zero.");
    assert_eq!(say(&MIXED, "c0_over_c2_in_y", Verdict::For), "For y the user prefers c=c0 to c=c2.");
    assert_eq!(say(&MIXED, "c0_over_c2_in_y", Verdict::Against), "For y the user prefers c=c2 to c=c0.");
    assert_eq!(say(&RUBRIC, "steps_5_over_3", Verdict::For), "The user prefers steps=level_5 to steps=level_3.");
    assert_eq!(say(&RUBRIC, "steps_5_over_3", Verdict::Against), "The user prefers steps=level_3 to steps=level_5.");
    let code = say(&AGENT, "steps_over_direct_in_coding", Verdict::For);
    assert_eq!(code, "For code the user prefers step-by-step answers to direct ones.");
    assert_eq!(say(&RUBRIC, "steps_5_over_3", Verdict::Open), "");
    assert_eq!(say(&RUBRIC, "no such contrast", Verdict::For), "");
}

#[test]
fn a_promotion_that_the_state_does_not_say_is_refused() {
    let policy = rubric_policy();
    let (mut learner, mut workspace) = start::<f64, 16>(&policy);
    for _ in 0..100 {
        show(&mut learner, &mut workspace, &policy, 0.9);
    }
    let Some(Event::Promotion(honest)) = learner.propose_promotion(&policy, &mut workspace, 3).unwrap() else {
        panic!("nothing was promoted")
    };
    let before = learner.clone();
    let tampered = [
        Promotion { contrast: 1, ..honest },
        Promotion { contrast: 6, ..honest },
        Promotion { contrast: 9, ..honest },
        Promotion { verdict: Verdict::Against, ..honest },
        Promotion { verdict: Verdict::Open, ..honest },
        Promotion { round: 1, ..honest },
        Promotion { evidence: honest.evidence + 1, ..honest },
        Promotion { lower: honest.lower.next_up(), ..honest },
        Promotion { upper: honest.upper.next_down(), ..honest },
        Promotion { lower: f32::NAN, ..honest },
        // Made without the guarantee it would not have to be exact, but it would still have to be about this state.
        Promotion { valid: false, lower: 1.0, upper: 0.5, ..honest },
        Promotion { valid: false, lower: 0.1, upper: f32::INFINITY, ..honest },
        Promotion { valid: false, lower: 3.0, upper: 4.0, ..honest },
        Promotion { valid: false, evidence: 0, ..honest },
    ];
    for promotion in tampered {
        let event = Event::Promotion(promotion);
        assert_eq!(learner.check(&policy, &mut workspace, &event).map(|_| ()), Err(LearnerError::NotPromoted), "{event:?}");
        assert_eq!(learner, before);
    }
    // One that comes late is refused too: the state has moved on.
    let mut later = learner.clone();
    show(&mut later, &mut workspace, &policy, 0.9);
    let event = Event::Promotion(honest);
    assert_eq!(later.check(&policy, &mut workspace, &event).map(|_| ()), Err(LearnerError::NotPromoted));
    // The time is the caller's.
    let event = Event::Promotion(Promotion { at: 77, ..honest });
    learner.check(&policy, &mut workspace, &event).unwrap().apply();
    assert_eq!(learner.profile(), [Promotion { at: 77, ..honest }]);
}

/// Check, store, apply.
fn record(
    learner: &mut Host<f64>,
    workspace: &mut Workspace<f64, Vec<f64>>,
    policy: &Policy<'_, f64>,
    journal: &mut Vec<Event>,
    event: Event,
) {
    learner.check(policy, workspace, &event).unwrap().apply();
    journal.push(event);
}

#[test]
fn replay_brings_the_profile_back() {
    let policy = rubric_policy();
    let (mut learner, mut workspace) = start::<f64, 16>(&policy);
    let (context, all) = (Context::new(&RUBRIC, None, &[]).unwrap(), Feasible::all(&RUBRIC));
    let mut journal = vec![];
    let mut random = Random(4);
    let direction = Direction::from_names(&RUBRIC, &[("rigor=level_5", 1.0)]).unwrap();
    let stated = Event::Onboarding(Statement { direction, response: 0.5, precision: 4.0 });
    record(&mut learner, &mut workspace, &policy, &mut journal, stated);
    for round in 0..600 {
        if let Some(event) = learner.propose_permissions(&all) {
            record(&mut learner, &mut workspace, &policy, &mut journal, event);
        }
        let event = learner.propose_decision(&policy, &mut workspace, &Request::new(&context, &all)).unwrap();
        let Event::Decision { round: number, .. } = event else { panic!("{event:?}") };
        record(&mut learner, &mut workspace, &policy, &mut journal, event);
        let feedback = Event::Feedback { round: number, reward: random.signed() * 0.2, weight: 1.0 };
        record(&mut learner, &mut workspace, &policy, &mut journal, feedback);
        // What a user is shown elsewhere: she likes rigor, and later no longer.
        let strength = if round < 150 { 0.9 } else { -0.9 };
        for (level, reward) in [(Level::Five, strength), (Level::One, -strength)] {
            let action = rubric::action([level, Level::Three, Level::Three]);
            let event = learner.propose_observation(&policy, &context, action, reward, 1.0).unwrap();
            record(&mut learner, &mut workspace, &policy, &mut journal, event);
        }
        if let Some(event) = learner.propose_promotion(&policy, &mut workspace, round).unwrap() {
            record(&mut learner, &mut workspace, &policy, &mut journal, event);
        }
    }
    let promotions = journal.iter().filter(|event| matches!(event, Event::Promotion(_))).count();
    assert!(promotions > learner.profile().len(), "one of {promotions} should have given way");
    let (mut replayed, mut other_workspace) = start::<f64, 16>(&policy);
    for event in &journal {
        replayed.check(&policy, &mut other_workspace, event).unwrap().apply();
    }
    assert_eq!(replayed, learner);
    assert_eq!(bits(&replayed), bits(&learner));

    // Under another alpha the same events are accepted, since they were true when they were made. What a journal's header
    // says about the settings at the start keeps later contrasts from passing for valid.
    let bolder = Policy::<f64>::new(&RUBRIC, Settings { alpha: 0.2, ..*policy.settings() }).unwrap();
    let (mut reopened, _) = start::<f64, 16>(&policy);
    for event in &journal {
        reopened.check(&bolder, &mut other_workspace, event).unwrap().apply();
    }
    assert_eq!(reopened, learner);
    let comparison = Comparison::declared(&RUBRIC, 0).unwrap();
    assert!(reopened.assess(&policy, &mut other_workspace, &comparison).unwrap().valid);
    assert!(!reopened.assess(&bolder, &mut other_workspace, &comparison).unwrap().valid);
    let event = Event::Forget { promise: bolder.promise() };
    for policy in [&policy, &bolder] {
        let mut forgotten = learner.clone();
        forgotten.check(policy, &mut other_workspace, &event).unwrap().apply();
        assert!(forgotten.assess(&bolder, &mut other_workspace, &comparison).unwrap().valid);
        assert!(!forgotten.assess(&rubric_policy(), &mut other_workspace, &comparison).unwrap().valid);
    }
}
