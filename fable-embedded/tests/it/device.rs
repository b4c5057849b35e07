//! A user on a device: verbs that are durable when they return, in both forms, and layouts that are too
//! small.

use crate::common::{self, Known, R, TINY, USER, bytes, layout, scratch, vacant};
use fable_core::catalog::Direction;
use fable_core::catalog::TAU2;
use fable_core::journal::Command;
use fable_core::record::snapshot::max_len;
use fable_core::settings::{Deadline, Expiry};
use fable_core::{Action, Context, DecisionId, Feasible, Policy, Request, Settings, Statement, User};
use fable_embedded::flash::{Blocking, FlashError, FlashStore, Layout, block_on};
use fable_embedded::mock::Mock;
use fable_embedded::{Device, UserStore};

type Flash = Mock<4, 1024>;

/// Rewards out of order, some never; what is due is imputed.
fn policy() -> Policy<'static, f32> {
    let settings = Settings {
        seed: 7,
        deadline: Deadline::Time(9),
        expiry: Expiry::Impute(-0.1),
        ..Settings::default()
    };
    Policy::new(&TINY, settings).unwrap()
}

/// What happens in a life, and with which outcome.
#[derive(Clone, Debug, PartialEq)]
enum Verb {
    Decide(u32),
    Feedback(u32),
    Observe,
    Onboard,
    Expire(u32),
    Promote,
    Forget,
}

fn life() -> Vec<Verb> {
    let mut verbs = vec![Verb::Onboard];
    for time in 0..24 {
        verbs.extend([Verb::Decide(time), Verb::Feedback(0), Verb::Decide(time), Verb::Observe]);
        if time % 3 == 0 {
            verbs.extend([Verb::Feedback(1), Verb::Expire(time + 5), Verb::Promote]);
        }
    }
    verbs.insert(60, Verb::Forget);
    verbs
}

struct Terms {
    context: Context,
    all: Feasible,
    statements: [Statement; 1],
}

impl Terms {
    fn new() -> Self {
        let direction = Direction::new(&TINY, [(0, 1.0)]).unwrap();
        Self {
            context: Context::new(&TINY, None, &[0.5]).unwrap(),
            all: Feasible::all(&TINY),
            statements: [Statement { direction, response: 0.5, precision: 2.0 }],
        }
    }

    fn request(&self, time: u32) -> Request<'_> {
        Request::new(&self.context, &self.all).at(time)
    }

    fn command(&self, user: &User<'_, f32>, verb: &Verb) -> Command<'_> {
        match verb {
            Verb::Decide(time) => Command::decide(self.request(*time)),
            Verb::Feedback(back) => Command::feedback(waiting(user, *back), 0.25),
            Verb::Observe => Command::observe(&self.context, Action(1), -0.5),
            Verb::Onboard => Command::onboard(&self.statements),
            Verb::Expire(now) => Command::expire(*now),
            Verb::Promote => Command::promote(0),
            Verb::Forget => Command::forget(),
        }
    }

    /// The verb of a device; the number is what it returns.
    fn perform<K: UserStore>(&self, device: &mut Device<'_, f32, K>, verb: &Verb) -> Result<u32, K::Error> {
        match verb {
            Verb::Decide(time) => Ok(device.decide(&self.request(*time))?.action.0.into()),
            Verb::Feedback(back) => device.feedback(waiting(device.user(), *back), 0.25).map(|()| 0),
            Verb::Observe => device.observe(&self.context, Action(1), -0.5).map(|()| 0),
            Verb::Onboard => device.onboard(&self.statements).map(|()| 0),
            Verb::Expire(now) => device.expire(*now),
            Verb::Promote => device.promote(0),
            Verb::Forget => device.forget().map(|()| 0),
        }
    }
}

/// A decision that waits for its reward, or one that never was.
fn waiting(user: &User<'_, f32>, back: u32) -> DecisionId {
    let waiting: Vec<_> = user.waiting(0).collect();
    let back = usize::try_from(back).unwrap();
    waiting.get(waiting.len().wrapping_sub(1 + back)).copied().unwrap_or(user.id(0))
}

/// The state before each verb and after each of its events, without storage.
fn states(policy: &Policy<'_, f32>, terms: &Terms, verbs: &[Verb]) -> Vec<Vec<Vec<u8>>> {
    let (mut learner, mut workspace) = (vacant(policy), scratch(policy));
    learner.start(policy, USER).unwrap();
    let mut all = vec![];
    for verb in verbs {
        let mut states = vec![bytes(&learner)];
        let mut user = learner.bind(policy, &mut workspace).unwrap();
        let mut command = terms.command(&user, verb);
        let mut done = false;
        while !done {
            match user.next(&mut command) {
                Ok(Some(step)) => drop(step.apply()),
                Ok(None) | Err(_) => done = true,
            }
            let mut snapshot = user.snapshot().unwrap();
            let mut state = vec![0; 2000];
            let length = snapshot.read(&mut state);
            state.truncate(length);
            states.push(state);
        }
        all.push(states);
    }
    all
}

fn open(flash: Flash, policy: &Policy<'_, f32>) -> (FlashStore<Blocking<Flash>>, Known) {
    let mut store = FlashStore::new(Blocking(flash), layout::<Flash>(&TINY, 2));
    let mut learner = vacant(policy);
    match store.restore(policy, &mut learner, &mut scratch(policy)) {
        Err(FlashError::Unformatted) => {
            store.format(policy, USER, 4).unwrap();
            store.restore(policy, &mut learner, &mut scratch(policy)).unwrap();
        }
        restored => drop(restored.unwrap()),
    }
    (store, learner)
}

/// A whole history with a power cut after the given number of flash steps. Acknowledged events are there, and
/// unfinished work is there up to an event. With the cut verb repeated, the history continues as without the
/// cut. Returns the results of the verbs, and the cut verb.
fn live(states: &[Vec<Vec<u8>>], cut: u64) -> (Vec<Result<u32, FlashError>>, Option<usize>) {
    let (policy, terms, verbs) = (policy(), Terms::new(), life());
    let mut workspace = scratch(&policy);
    let (mut store, mut learner) = open(Flash::new(4).strict(), &policy);
    store.flash().0.seed(cut);
    let end = store.flash().0.steps() + cut;
    let (mut outcomes, mut was_cut) = (vec![], None);
    for (index, (verb, states)) in verbs.iter().zip(states).enumerate() {
        let after = &states[states.len() - 1];
        if was_cut.is_none() {
            let left = end - store.flash().0.steps();
            store.flash().0.cut_after(left);
        }
        let mut device = Device::new(learner.bind(&policy, &mut workspace).unwrap(), &mut store);
        let mut outcome = terms.perform(&mut device, verb);
        if store.flash().0.power_on() {
            was_cut = Some(index);
            (store, learner) = open(store.into_flash().0, &policy);
            let found = bytes(&learner);
            assert!(states.contains(&found), "cut {cut}, {verb:?}: neither before nor after an event of it");
            if outcome.is_ok() || found == *after {
                outcome = Ok(0); // at most the answer was lost
            } else {
                let mut device = Device::new(learner.bind(&policy, &mut workspace).unwrap(), &mut store);
                outcome = terms.perform(&mut device, verb);
            }
        }
        assert_eq!(bytes(&learner), *after, "cut {cut}, {verb:?}");
        if let Err(error) = outcome {
            assert!(matches!(error, FlashError::User(_)), "cut {cut}, {verb:?}: {error}");
        }
        outcomes.push(outcome);
    }
    assert!(store.statistics().generation > 2, "{:?}", store.statistics());
    (outcomes, was_cut)
}

#[test]
fn a_round_survives_a_power_cut_at_every_step() {
    let states = states(&policy(), &Terms::new(), &life());
    let (uncut, None) = live(&states, u64::MAX / 2) else { panic!("there was no cut") };
    assert!(uncut.iter().filter(|outcome| outcome.is_err()).count() < 10);
    let mut cuts = 0;
    for cut in 0.. {
        let (outcomes, Some(verb)) = live(&states, cut) else { break };
        let same = |other: usize| other == verb || outcomes[other] == uncut[other];
        assert!((0..uncut.len()).all(same), "cut {cut}");
        cuts += 1;
    }
    println!("{cuts} cuts");
    assert!(cuts > 5_000, "{cuts}");
}

#[test]
fn both_forms_of_a_device_leave_the_same_bytes() {
    let (policy, terms, verbs) = (policy(), Terms::new(), life());
    let (mut blocking, mut learner) = open(Flash::new(4), &policy);
    let (mut store, mut other) = (FlashStore::new(Flash::new(4), layout::<Flash>(&TINY, 2)), vacant(&policy));
    let (mut workspace, mut another) = (scratch(&policy), scratch(&policy));
    block_on(store.format(&policy, USER, 4)).unwrap();
    block_on(store.restore(&policy, &mut other, &mut another)).unwrap();
    for verb in &verbs {
        let mut device = Device::new(learner.bind(&policy, &mut workspace).unwrap(), &mut blocking);
        let done = terms.perform(&mut device, verb);
        let mut device = Device::new(other.bind(&policy, &mut another).unwrap(), &mut store);
        let waits = waiting(device.user(), if let Verb::Feedback(back) = verb { *back } else { 0 });
        let expected = block_on(async {
            match verb {
                Verb::Decide(time) => Ok(device.decide_async(&terms.request(*time)).await?.action.0.into()),
                Verb::Feedback(_) => device.feedback_async(waits, 0.25).await.map(|()| 0),
                Verb::Observe => device.observe_async(&terms.context, Action(1), -0.5).await.map(|()| 0),
                Verb::Onboard => device.onboard_async(&terms.statements).await.map(|()| 0),
                Verb::Expire(now) => device.expire_async(*now).await,
                Verb::Promote => device.promote_async(0).await,
                Verb::Forget => device.forget_async().await.map(|()| 0),
            }
        });
        assert_eq!(done, expected, "{verb:?}");
        assert_eq!(blocking.flash().0.bytes(), store.flash().bytes(), "{verb:?}");
    }
    assert_eq!(learner, other);
    assert!(store.statistics().generation > 2);
}

/// A slot that is too small is refused before anything is written, not weeks later at the first compaction.
#[test]
fn a_layout_of_another_catalog_or_room_is_refused() {
    let (small, large) = (common::policy(&TINY), common::policy(&TAU2));
    let layout = layout::<Flash>(&TINY, 2);
    let needed = u32::try_from(max_len::<f32>(&TAU2, R)).unwrap();
    let refused = FlashError::SlotTooSmall { needed };
    let mut store = FlashStore::new(Blocking(Flash::new(4)), layout);
    assert_eq!(store.format(&large, USER, 4), Err(refused));
    assert_eq!(store.restore(&large, &mut vacant(&large), &mut scratch(&large)), Err(refused));
    assert!(store.flash().0.erases() == [0; 4] && store.flash().0.steps() == 0);
    assert!(refused.to_string().contains(&needed.to_string()));

    // A store that is somebody's is left as it is.
    store.format(&small, USER, 4).unwrap();
    let region = store.flash().0.bytes().to_vec();
    let mut learner = vacant(&large);
    assert_eq!(store.restore(&large, &mut learner, &mut scratch(&large)), Err(refused));
    assert!(learner.state().is_empty() && store.flash().0.bytes() == region);
    assert_eq!(
        store.append(&fable_core::journal::Event::Forget { guarantee_fingerprint: 0 }),
        Err(FlashError::Closed)
    );

    // The bound is exact: as much room as the slot has bytes for.
    let admitted = |room: u16| store.format(&small, USER, room);
    let rooms: Vec<bool> = (1..64).map(admitted).map(|formatted| formatted.is_ok()).collect();
    let fits = |room: usize| max_len::<f32>(&TINY, room) <= layout.snapshot_len() as usize;
    assert_eq!(rooms, (1..64).map(fits).collect::<Vec<_>>());
    assert!(rooms[0] && !rooms[62]);

    // The least layout for a catalog is admitted.
    let least = Layout::try_new::<Blocking<Flash>>(0, 8 * 1024, max_len::<f32>(&TAU2, R)).unwrap();
    assert_eq!(FlashStore::new(Blocking(Flash::new(8)), least).format(&large, USER, 4), Ok(()));
}
