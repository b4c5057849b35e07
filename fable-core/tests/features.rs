//! A build refuses what it leaves out with an error that says so, and the rest has the same bits.
//!
//! These tests are a program of their own because they need other features than the rest:
//! `cargo test -p fable-core --no-default-features --test features`. `tests/run no_std` does that.

use fable_core::catalog::ContrastSet;
use fable_core::catalog::TAU2;
use fable_core::journal::{Command, Event, Observation, RemoteChange, RemoteEvent, State};
use fable_core::preference::{Certifier, Comparison, Probe, Probes, Verdict};
use fable_core::settings::SettingsError;
use fable_core::{Action, Exploration, Feasible, Learner, Policy, Promotion, Request, Settings, Workspace};

use fable_core::UserError::{self, Unsupported};

type Memory = Learner<f32, [f32; TAU2.state_len()], 8>;
type Scratch = Workspace<f32, [f32; TAU2.workspace_len()]>;

/// Refused as something that the build was made without, exactly if it was.
#[track_caller]
fn refused<T>(without: bool, result: &Result<T, UserError>) {
    assert_eq!(matches!(result, Err(Unsupported)), without);
}

fn played(rounds: u16) -> (Memory, Scratch) {
    let policy = Policy::new(&TAU2, Settings::PAPER).unwrap();
    let (mut memory, mut scratch) = (Learner::new(&TAU2), Workspace::new(&TAU2));
    memory.start(&policy, 7).unwrap();
    let mut user = memory.bind(&policy, &mut scratch).unwrap();
    let (context, all) = (TAU2.context(None, []).unwrap(), Feasible::all(&TAU2));
    for round in 0..rounds {
        let decision = user.decide(&Request::new(&context, &all)).unwrap();
        let reward = f64::from((decision.action.0 * 7 + round * 3) % 9) / 4.0 - 1.0;
        user.feedback(decision.id, reward).unwrap();
    }
    (memory, scratch)
}

#[test]
fn what_is_left_out_is_refused_and_changes_nothing() {
    let policy = Policy::new(&TAU2, Settings::PAPER).unwrap();
    let (mut memory, mut scratch) = played(20);
    let before = memory.clone();
    let mut user = memory.bind(&policy, &mut scratch).unwrap();
    let context = TAU2.context(None, []).unwrap();
    let comparison = Comparison::declared(&TAU2, 0).unwrap();
    let [probes, promote, unlearn] =
        [cfg!(feature = "probes"), cfg!(feature = "promote"), cfg!(feature = "unlearn")];
    refused(!cfg!(feature = "explain"), &user.explain(user.id(20), None, None).map(drop));
    refused(!promote, &user.assess(&comparison));
    refused(!promote, &user.promote(0));
    refused(!promote, &user.run(&mut Command::promote(0)));
    refused(!probes, &user.trial(0));
    refused(!cfg!(feature = "observe"), &user.run(&mut Command::observe(&context, Action(99), 0.5)));
    refused(!cfg!(feature = "onboard"), &user.run(&mut Command::onboard(&[])));

    let by = |by| {
        let contrast = 0;
        let verdict = Verdict::For;
        let round = 20;
        Promotion { contrast, verdict, valid: true, by, round, time: 0, evidence: 9, lower: 0.1, upper: 0.2 }
    };
    let observation = Observation { context, action: Action(4), baseline: 0.0, reward: 0.75, weight: 1.0 };
    let unlearned = |probed| Event::Unlearn { observation, imputed: false, kept: 1.0, probed };
    let coins = Probes::from_slice(&[Probe { contrast: 0, expected: 0.0 }]).unwrap();
    let events = [
        (cfg!(feature = "observe"), Event::Observation(observation)),
        (promote, Event::Promotion(by(Certifier::Ellipsoid))),
        (probes, Event::Promotion(by(Certifier::Probes))),
        (unlearn, unlearned(ContrastSet::EMPTY)),
        (unlearn && probes, unlearned(ContrastSet::first(1))),
        (cfg!(feature = "adapt"), Event::Fade { keep: 0.5 }),
        (
            cfg!(feature = "alloc"),
            Event::Remote(RemoteEvent { site: 3, from: 0, to: 1, time: 0, change: RemoteChange::Nothing }),
        ),
        (
            cfg!(feature = "rules"),
            Event::UserRule { code: fable_core::preference::UserRule::Off.code(), stands: true },
        ),
        (
            probes,
            Event::Decision { round: 21, action: Action(0), baseline: 0.0, context, time: 0, probes: coins },
        ),
    ];
    for (has, event) in &events {
        refused(!has, &user.check(event).map(drop));
    }
    assert_eq!(memory, before);
}

#[test]
fn settings_that_a_build_cannot_keep_are_refused() {
    let without =
        |settings| matches!(Policy::<f32>::new(&TAU2, settings), Err(SettingsError::Unsupported(_)));
    let paper = Settings::PAPER;
    assert!(!without(paper));
    assert_eq!(without(Settings::default()), !cfg!(feature = "adapt"));
    assert_eq!(Settings::default(), Settings::DEFAULT);
    let optimistic = Exploration::Optimistic(1.5);
    assert_eq!(Settings::default().exploration, optimistic);
    assert_eq!(without(Settings { exploration: optimistic, ..paper }), !cfg!(feature = "adapt"));
    assert_eq!(without(Settings::PROBING), !cfg!(feature = "probes"));
    assert_eq!(without(Settings { probe: 0.5, ..paper }), !cfg!(feature = "probes"));
    assert_eq!(without(Settings { half_life: Some(9), ..paper }), !cfg!(feature = "adapt"));
    let theorem = Exploration::Theorem { delta: 0.1 };
    assert_eq!(without(Settings { exploration: theorem, ..paper }), !cfg!(feature = "theorem"));
}

/// Features add code. They change neither the layout of the state nor the variants of an event.
#[test]
fn no_feature_changes_a_layout() {
    assert_eq!((size_of::<State>(), size_of::<Event>()), (256, 296));
}

/// The posterior after 60 rounds is this number whatever the features.
#[test]
fn what_is_left_has_the_same_bits() {
    let (memory, _) = played(60);
    let posterior = memory.posterior();
    let bits = posterior.packed().iter().flat_map(|number| number.to_bits().to_le_bytes());
    let sum = bits
        .fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    assert_eq!(sum, 12_272_969_105_866_724_524);
}
