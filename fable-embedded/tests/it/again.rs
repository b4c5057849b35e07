//! A host repeats a request whose answer was lost, after a power cut at any byte. The request is executed
//! once, and the answer is the same.

use crate::common::{Known, Scratch, TINY, USER, bytes, layout, scratch, vacant};
use crate::wire::{framed, replies};
use fable_core::catalog::When;
use fable_core::preference::UserRule;
use fable_core::settings::{Deadline, Expiry};
use fable_core::{Action, Context, Feasible, Policy, Request as Wanted, Settings};
use fable_embedded::flash::{FlashStore, Layout, block_on};
use fable_embedded::mock::Mock;
use fable_embedded::wire::{Fault, Reply, Request, StorageFault, WireContext, write_entry, write_feasible};
use fable_embedded::{Device, Server};

type Flash = Mock<4, 1024>;

/// Promotes on thin evidence, and what is not rewarded in time expires.
pub fn policy() -> Policy<'static, f32> {
    let settings = Settings {
        seed: 7,
        alpha: 0.5,
        prior_radius: Some(0.0),
        min_evidence: 1,
        deadline: Deadline::Time(10),
        expiry: Expiry::Nothing,
        ..Settings::default()
    };
    Policy::new(&TINY, settings).unwrap()
}

/// A board that was just started.
struct Board<'p> {
    policy: &'p Policy<'static, f32>,
    store: FlashStore<Flash>,
    learner: Known,
    workspace: Scratch,
}

impl<'p> Board<'p> {
    fn start(policy: &'p Policy<'static, f32>, mut flash: Flash, layout: Layout) -> Self {
        flash.power_on();
        let (mut store, mut learner, mut workspace) =
            (FlashStore::new(flash, layout), vacant(policy), scratch(policy));
        block_on(store.restore(policy, &mut learner, &mut workspace)).unwrap();
        Self { policy, store, learner, workspace }
    }

    fn restart(self) -> Self {
        let layout = *self.store.layout();
        Self::start(self.policy, self.store.into_flash(), layout)
    }

    fn ask(&mut self, frame: &[u8]) -> Reply {
        let user = self.learner.bind(self.policy, &mut self.workspace).unwrap();
        let (mut server, mut sent) = (Server::new(Device::new(user, &mut self.store)), vec![]);
        for byte in frame {
            sent.extend_from_slice(block_on(server.push_async(*byte)));
        }
        replies(&sent).remove(0).1
    }

    fn device<T>(&mut self, work: impl FnOnce(&mut Device<'_, f32, FlashStore<Flash>>) -> T) -> T {
        work(&mut Device::new(self.learner.bind(self.policy, &mut self.workspace).unwrap(), &mut self.store))
    }

    /// All of the state, or without the profile: a promotion that follows a reward may wait for a later look.
    fn state(&self, all: bool) -> Vec<u8> {
        if all {
            return bytes(&self.learner);
        }
        let posterior = self.learner.posterior();
        let packed = posterior.packed().iter().flat_map(|number| number.to_bits().to_le_bytes());
        let counts = [
            self.learner.state().incarnation(),
            self.learner.state().rounds(),
            self.learner.state().observations(),
        ];
        packed.chain(counts.into_iter().flat_map(u32::to_le_bytes)).collect()
    }
}

pub fn context() -> Context {
    Context::new(&TINY, None, &[0.5]).unwrap()
}

/// A board with which so much has happened that decisions wait and the contrast is about to be decided.
fn lived<'p>(policy: &'p Policy<'static, f32>, events: u32, strict: bool) -> Board<'p> {
    let layout = layout::<Flash>(&TINY, 2);
    let flash = if strict { Flash::new(16).strict() } else { Flash::new(16) };
    let mut store = FlashStore::new(flash, layout);
    block_on(store.format(policy, USER, 4)).unwrap();
    let mut board = Board::start(policy, store.into_flash(), layout);
    let (context, all) = (context(), Feasible::all(&TINY));
    while board.store.statistics().events < events {
        let (action, reward) = if board.learner.state().observations().is_multiple_of(2) {
            (Action(1), 0.25)
        } else {
            (Action(0), -0.5)
        };
        board.device(|device| block_on(device.observe_async(&context, action, reward)).unwrap());
        if board.store.statistics().generation > 0 {
            break; // it is full: what comes next begins another one
        }
    }
    for _ in 0..3 {
        board.device(|device| block_on(device.decide_async(&Wanted::new(&context, &all).at(1))).unwrap());
    }
    board
}

/// Every request that changes something, with its payload, and whether all of the state is compared.
pub fn requests() -> Vec<(Request, Vec<u8>, bool)> {
    let place = WireContext::new(&context());
    let some = Feasible::all(&TINY).forbid(&TINY, &[("a", "1")]).unwrap();
    let never = UserRule::Never { component: 0, value: 1, when: When::Always }.code();
    let unlearn = Request::Unlearn {
        context: place.clone(),
        action: 1,
        baseline: policy().baseline(&context(), Action(1), None).into(),
        reward: 0.25,
        weight: 1.0,
        imputed: false,
        kept: 1.0,
        probed: [0, 0],
    };
    vec![
        (Request::Decide { context: place.clone(), time: 2 }, vec![], true),
        // Three expiries, other permissions, and the decision.
        (
            Request::Decide { context: place.clone(), time: 50 },
            write_feasible(&some).flatten().collect(),
            true,
        ),
        (Request::Feedback { incarnation: 0, round: 2, reward: 0.5, weight: 1.0, time: 3 }, vec![], false),
        (Request::Observe { context: place, action: 2, reward: -0.25, weight: 0.5 }, vec![], false),
        (unlearn, vec![], true),
        (Request::Onboard { response: 1.0, precision: 4.0 }, write_entry(0, 1.0).to_vec(), true),
        (Request::UserRule { code: never, stands: true }, vec![], true),
        (Request::Promote { time: 9 }, vec![], true),
        (Request::Expire { time: 60 }, vec![], true),
        (Request::Forget, vec![], true),
    ]
}

/// The same request again, after a power cut at each step of it and a restart.
fn at_every_byte(events: u32, strict: bool) -> usize {
    let policy = policy();
    let start = lived(&policy, events, strict);
    let (layout, flash) = (*start.store.layout(), start.store.into_flash());
    let mut cuts = 0;
    for (request, payload, all) in requests() {
        let frame = framed(77, &request, &payload);
        let mut smooth = Board::start(&policy, flash.clone(), layout);
        let expected = smooth.ask(&frame);
        assert!(!matches!(expected, Reply::Fault(_)), "{request:?}: {expected:?}");
        let state = smooth.state(all);
        // Every byte of an event; of a snapshot, which takes thousands, many.
        let mut step = 0;
        loop {
            let mut board = Board::start(&policy, flash.clone(), layout);
            board.store.flash().cut_after(step);
            board.store.flash().seed(step);
            let before = board.ask(&frame); // what nobody hears
            let cut = board.store.flash().power_on();
            assert!(cut || before == expected, "{request:?}, step {step}: {before:?}");
            for restart in 0..2 {
                board = board.restart();
                assert_eq!(board.ask(&frame), expected, "{request:?}, cut at step {step}, restart {restart}");
                assert_eq!(board.state(all), state, "{request:?}, cut at step {step}, restart {restart}");
            }
            // Another request is another one, though it says the same.
            if !cut && matches!(request, Request::Decide { .. } | Request::Observe { .. }) {
                let other = board.ask(&framed(78, &request, &payload));
                assert!(other != expected && board.state(all) != state, "{request:?}: {other:?}");
            }
            if !cut {
                break;
            }
            cuts += 1;
            step += if step < 120 { 1 } else { 13 };
        }
    }
    cuts
}

/// With room in the journal, and where it becomes a snapshot before or in the middle of the request.
#[test]
fn a_request_happens_once_though_the_power_fails_at_any_byte() {
    let mut cuts = 0;
    for (events, strict) in
        [(4, false), (4, true)].into_iter().chain((32..37).map(|events| (events, events % 2 == 0)))
    {
        let found = at_every_byte(events, strict);
        println!("{events} events: {found} cuts");
        cuts += found;
    }
    assert!(cuts > 5_000, "{cuts}"); // 596 each where no snapshot is written
}

/// A repeated request is recognized after other changes by the device and by its own application.
#[test]
fn a_receipt_outlives_what_the_application_does() {
    let policy = policy();
    let mut board = lived(&policy, 4, false);
    let decide = framed(5, &Request::Decide { context: WireContext::new(&context()), time: 2 }, &[]);
    let decided = board.ask(&decide);
    for turn in 0..200 {
        board.device(|device| block_on(device.observe_async(&context(), Action(0), 0.125)).unwrap());
        if turn % 20 == 0 {
            board = board.restart();
        }
        assert_eq!(board.ask(&decide), decided);
    }
    assert!(board.store.statistics().generation > 1, "the journal became a snapshot");
    assert_eq!(board.learner.state().rounds(), 4);
    // An application that forgets its user forgets that too.
    board.device(|device| block_on(device.forget_async()).unwrap());
    board = board.restart();
    assert!(matches!(board.ask(&decide), Reply::Decided { round: 1, .. }));
}

/// A snapshot from a host is committed once. A reset drops the staged bytes, and the upload begins again.
#[test]
fn an_upload_is_committed_once_though_the_power_fails_at_any_byte() {
    let policy = policy();
    let other = bytes(&lived(&policy, 20, false).learner);
    let start = lived(&policy, 4, false);
    let (layout, flash) = (*start.store.layout(), start.store.into_flash());
    let length = u32::try_from(other.len()).unwrap();
    let upload = |board: &mut Board<'_>, first: u32| {
        for (index, chunk) in (0..).zip(other.chunks(256)) {
            let offset = index * 256;
            let done = board.ask(&framed(first + index, &Request::Stage { offset }, chunk));
            assert_eq!(done, Reply::Done { count: offset + u32::try_from(chunk.len()).unwrap() });
        }
    };
    let commit = framed(90, &Request::Commit { length }, &[]);
    let (mut again, mut known) = (0, 0);
    for step in (0..).step_by(5) {
        let mut board = Board::start(&policy, flash.clone(), layout);
        upload(&mut board, 1);
        board.store.flash().cut_after(step);
        board.store.flash().seed(step);
        let _ = board.ask(&commit);
        let cut = board.store.flash().power_on();
        for _ in 0..2 {
            board = board.restart();
            match board.ask(&commit) {
                Reply::Fault(fault) => {
                    assert_eq!(fault, Fault::Storage(StorageFault::Order));
                    assert_ne!(bytes(&board.learner), other);
                    upload(&mut board, 50);
                    assert!(matches!(board.ask(&commit), Reply::Done { count: 3 }));
                    again += 1;
                }
                reply => {
                    assert_eq!(reply, Reply::Done { count: 3 });
                    known += 1;
                }
            }
            assert_eq!(bytes(&board.learner), other);
        }
        if !cut {
            break;
        }
    }
    assert!(again > 10 && known > 10, "{again} {known}");
}
