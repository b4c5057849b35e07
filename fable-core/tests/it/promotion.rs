//! The profile: what is promoted, where it comes from, what becomes of it, and how it reads.

use crate::common::{self, MIXED, Random, bits};
use fable_core::catalog::Direction;
use fable_core::catalog::rubric::{self, Level, RUBRIC};
use fable_core::catalog::{AGENT, Catalog};
use fable_core::journal::{Command, Event};
use fable_core::preference::{Certifier, Comparison, Standing, Verdict};
use fable_core::{Context, Feasible, HostUser, Policy, Promotion, Request, Settings, Statement, UserError};

fn start<'p, const R: usize>(policy: &Policy<'p, f64>) -> HostUser<'p, f64, R> {
    common::start(policy, 7)
}

/// A user of `rubric` who likes steps, with nothing promoted. Her rewards state how much she likes rigor:
/// `strength` for level 5, the opposite for level 1.
fn show<const R: usize>(ana: &mut HostUser<'_, f64, R>, strength: f64) {
    let context = Context::new(&RUBRIC, None, &[]).unwrap();
    let shown = [
        ([Level::Five, Level::Three, Level::Three], strength),
        ([Level::One, Level::Three, Level::Three], -strength),
        ([Level::Three, Level::Five, Level::Three], 0.9),
        ([Level::Three, Level::One, Level::Three], -0.9),
    ];
    for (levels, reward) in shown {
        common::observe_alone(&mut ana.user(), &context, rubric::action(levels), reward);
    }
}

fn rubric_policy() -> Policy<'static, f64> {
    Policy::new(&RUBRIC, Settings { base_precision: Some(1.0), ..Settings::PAPER }).unwrap()
}

#[test]
fn a_promotion_says_where_it_comes_from_and_touches_nothing_else() {
    let policy = rubric_policy();
    let mut ana = start::<16>(&policy);
    let (context, all) = (Context::new(&RUBRIC, None, &[]).unwrap(), Feasible::all(&RUBRIC));
    for _ in 0..5 {
        ana.user().decide(&Request::new(&context, &all)).unwrap();
    }
    for _ in 0..100 {
        show(&mut ana, 0.9);
    }
    let before = ana.clone();
    let promoted = ana.user().promote(1_234).unwrap();
    let names: Vec<_> = ana
        .learner()
        .profile()
        .iter()
        .map(|known| RUBRIC.contrasts()[usize::from(known.contrast)].name)
        .collect();
    assert_eq!(promoted as usize, names.len());
    assert!(names.contains(&"rigor_5_over_1") && names.contains(&"steps_5_over_1"), "{names:?}");
    assert!(names.iter().all(|name| !name.starts_with("examples")), "{names:?}");
    assert_eq!(bits(&ana), bits(&before));
    assert_eq!(ana.learner().posterior(), before.learner().posterior());
    assert_ne!(ana, before);
    for promotion in &ana.learner().profile().to_vec() {
        let index = usize::from(promotion.contrast);
        let now = ana.user().assess(&Comparison::declared(&RUBRIC, index).unwrap()).unwrap();
        let expected = Promotion {
            contrast: promotion.contrast,
            verdict: now.verdict,
            valid: true,
            by: Certifier::Ellipsoid,
            round: 5,
            time: 1_234,
            // Of four observations two use rigor 5 or 1 and two rigor 3; the same for steps.
            evidence: if RUBRIC.contrasts()[index].name.ends_with("5_over_1") { 200 } else { 300 },
            lower: now.lower as f32,
            upper: now.upper as f32,
        };
        assert_eq!(*promotion, expected);
        assert_eq!(promotion.verdict, Verdict::For);
    }
    // What is in the profile is not promoted again, and the later decisions are those without a profile.
    assert_eq!(ana.user().promote(1_235), Ok(0));
    let mut plain = before;
    for _ in 0..20 {
        let request = Request::new(&context, &all);
        let a = ana.user().decide(&request).unwrap();
        assert_eq!(a, plain.user().decide(&request).unwrap());
    }
}

#[test]
fn a_user_who_changes_her_mind() {
    let policy = rubric_policy();
    let mut ana = start::<16>(&policy);
    let comparison = Comparison::declared(&RUBRIC, RUBRIC.contrast("rigor_5_over_1").unwrap()).unwrap();
    for _ in 0..60 {
        show(&mut ana, 0.9);
    }
    ana.user().promote(0).unwrap();
    let first = ana.learner().profile()[0];
    assert_eq!((first.contrast, first.verdict), (0, Verdict::For));

    let mut standings = vec![];
    for _ in 0..400 {
        let standing = ana.user().standing(&first).unwrap();
        let now = ana.user().assess(&comparison).unwrap();
        let expected = match (now.lower > 0.0, now.upper < 0.0) {
            (true, false) => Standing::Holds,
            (false, true) => Standing::Revoked,
            _ => Standing::Doubtful,
        };
        assert_eq!(standing, expected);
        let mut prompt = String::new();
        ana.user().write_profile(&mut prompt).unwrap();
        assert_eq!(
            prompt.contains("rigor=level_5 to rigor=level_1."),
            standing == Standing::Holds,
            "{prompt}"
        );
        if standings.last() != Some(&standing) {
            standings.push(standing);
        }
        if standing == Standing::Revoked {
            break;
        }
        // Neither a promotion that holds nor one in doubt is promoted again or dropped.
        assert!(ana.learner().profile().contains(&first));
        ana.user().promote(1).unwrap();
        assert!(ana.learner().profile().contains(&first));
        show(&mut ana, -0.9);
    }
    assert_eq!(standings, [Standing::Holds, Standing::Doubtful, Standing::Revoked]);

    assert!(ana.user().promote(2).unwrap() > 0);
    let about: Vec<_> =
        ana.learner().profile().iter().copied().filter(|promotion| promotion.contrast == 0).collect();
    assert_eq!(about.len(), 1);
    assert_eq!((about[0].verdict, about[0].time), (Verdict::Against, 2));
    assert_eq!(ana.user().standing(&about[0]), Ok(Standing::Holds));
    let mut prompt = String::new();
    ana.user().write_profile(&mut prompt).unwrap();
    assert!(prompt.contains("The user prefers rigor=level_1 to rigor=level_5."), "{prompt}");
}

#[test]
fn a_full_profile_takes_no_more() {
    let policy = rubric_policy();
    let mut roomy = start::<16>(&policy);
    let mut ana = start::<1>(&policy);
    for _ in 0..100 {
        show(&mut ana, 0.9);
        show(&mut roomy, 0.9);
    }
    assert_eq!(ana.user().promote(0), Ok(1));
    assert_eq!(ana.learner().profile()[0].contrast, 0);
    assert!(ana.user().next(&mut Command::promote(0)).unwrap().is_none());
    roomy.user().promote(0).unwrap();
    let before = ana.clone();
    let second = Event::Promotion(roomy.learner().profile()[1]);
    assert_eq!(ana.user().check(&second).map(|_| ()), Err(UserError::ProfileFull));
    assert_eq!(ana, before);
    // The opposite of what is in it has room.
    for _ in 0..400 {
        show(&mut ana, -0.9);
    }
    assert_eq!(ana.user().promote(5), Ok(1));
    assert_eq!(
        (ana.learner().profile().len(), ana.learner().profile()[0].verdict, ana.learner().profile()[0].time),
        (1, Verdict::Against, 5)
    );
}

#[test]
fn sentences_are_the_catalogs_or_made_of_names() {
    let say = |catalog: &Catalog<'_>, name: &str, verdict| {
        let contrast = catalog.contrast(name).map_or(u8::MAX, |index| index as u8);
        let promotion = Promotion {
            contrast,
            verdict,
            valid: true,
            by: Certifier::Ellipsoid,
            round: 0,
            time: 0,
            evidence: 0,
            lower: 0.0,
            upper: 0.0,
        };
        let mut text = String::new();
        promotion.write_sentence(catalog, &mut text).unwrap();
        text
    };
    assert_eq!(say(&MIXED, "a1_over_a0", Verdict::For), "A is one.");
    assert_eq!(say(&MIXED, "a1_over_a0", Verdict::Against), "A is zero.");
    assert_eq!(say(&MIXED, "c0_over_c2_in_y", Verdict::For), "For y the user prefers c=c0 to c=c2.");
    assert_eq!(say(&MIXED, "c0_over_c2_in_y", Verdict::Against), "For y the user prefers c=c2 to c=c0.");
    assert_eq!(
        say(&RUBRIC, "steps_5_over_3", Verdict::For),
        "The user prefers steps=level_5 to steps=level_3."
    );
    assert_eq!(
        say(&RUBRIC, "steps_5_over_3", Verdict::Against),
        "The user prefers steps=level_3 to steps=level_5."
    );
    let code = say(&AGENT, "steps_over_direct_in_coding", Verdict::For);
    assert_eq!(code, "For code the user prefers step-by-step answers to direct ones.");
    assert_eq!(say(&RUBRIC, "steps_5_over_3", Verdict::Open), "");
    assert_eq!(say(&RUBRIC, "no such contrast", Verdict::For), "");
}

#[test]
fn a_promotion_that_the_state_does_not_say_is_refused() {
    let policy = rubric_policy();
    let mut ana = start::<16>(&policy);
    for _ in 0..100 {
        show(&mut ana, 0.9);
    }
    let mut command = Command::promote(3);
    let Some(Event::Promotion(honest)) =
        ana.user().next(&mut command).unwrap().map(|step| step.event().clone())
    else {
        panic!("nothing was promoted")
    };
    let before = ana.clone();
    let tampered = [
        Promotion { contrast: 1, ..honest },
        Promotion { contrast: 6, ..honest },
        Promotion { verdict: Verdict::Against, ..honest },
        Promotion { verdict: Verdict::Open, ..honest },
        Promotion { round: 1, ..honest },
        Promotion { evidence: honest.evidence + 1, ..honest },
        Promotion { lower: honest.lower.next_up(), ..honest },
        Promotion { upper: honest.upper.next_down(), ..honest },
        Promotion { lower: f32::NAN, ..honest },
        // A promotion made without the guarantee need not be exact, but must be about this state.
        Promotion { valid: false, lower: 1.0, upper: 0.5, ..honest },
        Promotion { valid: false, lower: 0.1, upper: f32::INFINITY, ..honest },
        Promotion { valid: false, lower: 3.0, upper: 4.0, ..honest },
        Promotion { valid: false, evidence: 0, ..honest },
    ];
    for promotion in tampered {
        let event = Event::Promotion(promotion);
        assert_eq!(ana.user().check(&event).map(|_| ()), Err(UserError::NotPromoted), "{event:?}");
        assert_eq!(ana, before);
    }
    let unknown = Event::Promotion(Promotion { contrast: 9, ..honest });
    assert_eq!(ana.user().check(&unknown).map(|_| ()), Err(UserError::UnknownContrast));
    assert_eq!(ana, before);
    // One that comes late is refused too: the state has moved on.
    let mut later = ana.clone();
    show(&mut later, 0.9);
    let event = Event::Promotion(honest);
    assert_eq!(later.user().check(&event).map(|_| ()), Err(UserError::NotPromoted));
    // The time is the caller's.
    let event = Event::Promotion(Promotion { time: 77, ..honest });
    ana.user().check(&event).unwrap().apply();
    assert_eq!(ana.learner().profile(), [Promotion { time: 77, ..honest }]);
}

/// Check, store, apply.
fn record(ana: &mut HostUser<'_, f64, 16>, journal: &mut Vec<Event>, mut command: Command<'_>) {
    let mut user = ana.user();
    while let Some(step) = user.next(&mut command).unwrap() {
        journal.push(step.event().clone());
        step.apply();
    }
}

/// The same user under another policy.
fn under(policy: &Policy<'static, f64>, ana: &HostUser<'_, f64, 16>) -> HostUser<'static, f64, 16> {
    HostUser::from_learner(policy, ana.learner().clone()).unwrap()
}

#[test]
fn replay_brings_the_profile_back() {
    let policy = rubric_policy();
    let mut ana = start::<16>(&policy);
    let (context, all) = (Context::new(&RUBRIC, None, &[]).unwrap(), Feasible::all(&RUBRIC));
    let mut journal = vec![];
    let mut random = Random(4);
    let direction = Direction::from_names(&RUBRIC, &[("rigor=level_5", 1.0)]).unwrap();
    let stated = [Statement { direction, response: 0.5, precision: 4.0 }];
    record(&mut ana, &mut journal, Command::onboard(&stated));
    for round in 0..600 {
        record(&mut ana, &mut journal, Command::decide(Request::new(&context, &all)));
        let id = ana.user().waiting(0).last().unwrap();
        record(&mut ana, &mut journal, Command::feedback(id, random.signed() * 0.2));
        // What a user is shown elsewhere: she likes rigor, and later no longer.
        let strength = if round < 150 { 0.9 } else { -0.9 };
        for (level, reward) in [(Level::Five, strength), (Level::One, -strength)] {
            let action = rubric::action([level, Level::Three, Level::Three]);
            record(&mut ana, &mut journal, Command::observe(&context, action, reward));
        }
        record(&mut ana, &mut journal, Command::promote(round));
    }
    let promotions = journal.iter().filter(|event| matches!(event, Event::Promotion(_))).count();
    assert!(promotions > ana.learner().profile().len(), "one of {promotions} should have given way");
    let mut replayed = start::<16>(&policy);
    for event in &journal {
        replayed.user().check(event).unwrap().apply();
    }
    assert_eq!(replayed, ana);
    assert_eq!(bits(&replayed), bits(&ana));

    // Under another alpha the same events are accepted, since they were true when they were made. The header
    // of the journal has the settings at the start, which keep later contrasts from passing for valid.
    let bolder = Policy::<f64>::new(&RUBRIC, Settings { alpha: 0.2, ..*policy.settings() }).unwrap();
    let mut reopened = under(&bolder, &start::<16>(&policy));
    for event in &journal {
        reopened.user().check(event).unwrap().apply();
    }
    assert_eq!(reopened, ana);
    let comparison = Comparison::declared(&RUBRIC, 0).unwrap();
    let valid = |policy: &Policy<'static, f64>, ana: &HostUser<'_, f64, 16>| {
        under(policy, ana).user().assess(&comparison).unwrap().valid
    };
    assert!(valid(&policy, &reopened));
    assert!(!valid(&bolder, &reopened));
    let event = Event::Forget { guarantee_fingerprint: bolder.guarantee_fingerprint() };
    for policy in [&policy, &bolder] {
        let mut forgotten = under(policy, &ana);
        forgotten.user().check(&event).unwrap().apply();
        assert!(valid(&bolder, &forgotten));
        assert!(!valid(&rubric_policy(), &forgotten));
    }
}
