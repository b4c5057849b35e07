//! What a port can wear out: erasures that a host asks for are counted, and a reset gives none back.

use crate::common::{TINY, USER, layout, policy, scratch, vacant};
use crate::wire::{self, framed, replies};
use crate::{send, server};
use fable_core::{Action, Context};
use fable_embedded::flash::{FlashStore, block_on};
use fable_embedded::mock::Mock;
use fable_embedded::wire::{Fault, Reply, Request, WireContext};
use fable_embedded::{Device, RamStore, Server};
use std::sync::atomic::{AtomicU32, Ordering};

type Flash = Mock<4, 1024>;

/// Events for one more erasure, and erasures at first, as the documentation has them.
const EVENTS: u32 = 256;
const FIRST: u32 = 16;

/// A board that is reset before every request.
struct Board(Flash, u32);

impl Board {
    fn new() -> Self {
        let policy = policy(&TINY);
        let mut store = FlashStore::new(Flash::new(16), layout::<Flash>(&TINY, 2));
        block_on(store.format(&policy, USER, 4)).unwrap();
        Self(store.into_flash(), 0)
    }

    fn with<T>(&mut self, work: impl FnOnce(&mut Server<'_, f32, FlashStore<Flash>>) -> T) -> T {
        let policy = policy(&TINY);
        let (mut learner, mut workspace) = (vacant(&policy), scratch(&policy));
        let mut store = FlashStore::new(self.0.clone(), layout::<Flash>(&TINY, 2));
        block_on(store.restore(&policy, &mut learner, &mut workspace)).unwrap();
        let done =
            work(&mut Server::new(Device::new(learner.bind(&policy, &mut workspace).unwrap(), &mut store)));
        self.0 = store.into_flash();
        done
    }

    fn ask(&mut self, request: &Request, payload: &[u8]) -> Reply {
        self.1 += 1;
        let frame = framed(self.1, request, payload);
        self.with(|server| {
            let mut sent = vec![];
            for byte in frame {
                sent.extend_from_slice(block_on(server.push_async(byte)));
            }
            replies(&sent).remove(0).1
        })
    }

    fn most(&self) -> u32 {
        *self.0.erases().iter().max().unwrap()
    }

    fn learn(&mut self, events: u32) {
        let context = Context::new(&TINY, None, &[0.5]).unwrap();
        self.with(|server| {
            for _ in 0..events {
                block_on(server.device().observe_async(&context, Action(0), 0.125)).unwrap();
            }
        });
    }
}

#[test]
fn a_port_that_babbles_erases_a_little_and_no_more() {
    let stage = Request::Stage { offset: 0 };
    for (request, payload) in [(&stage, &[1, 2, 3][..]), (&Request::Forget, &[])] {
        let mut board = Board::new();
        for _ in 0..FIRST {
            assert!(matches!(board.ask(request, payload), Reply::Done { .. }));
        }
        let (before, most) = (board.0.bytes().to_vec(), board.most());
        assert!(most <= 2 * FIRST + 2, "{most}");
        for _ in 0..100 {
            assert_eq!(board.ask(request, payload), Reply::Fault(Fault::Limited));
        }
        assert_eq!(
            (board.0.bytes(), board.most()),
            (&before[..], most),
            "nothing is written, nothing is erased"
        );
        // What was allowed is used up for one request as for the other.
        assert_eq!(board.ask(&stage, &[1]), Reply::Fault(Fault::Limited));
        assert_eq!(board.ask(&Request::Forget, &[]), Reply::Fault(Fault::Limited));

        // After 256 events there is one more; what is forgotten was an event, too.
        let given = if *request == Request::Forget { FIRST } else { 0 };
        board.learn(EVENTS - given - 1);
        assert_eq!(board.ask(request, payload), Reply::Fault(Fault::Limited));
        board.learn(1);
        assert!(matches!(board.ask(request, payload), Reply::Done { .. }));
        assert_eq!(board.ask(request, payload), Reply::Fault(Fault::Limited));
        // More than sixteen are not saved up.
        board.learn((FIRST + 5) * EVENTS);
        for _ in 0..FIRST {
            assert!(matches!(board.ask(&stage, &[1]), Reply::Done { .. }));
        }
        assert_eq!(board.ask(&stage, &[1]), Reply::Fault(Fault::Limited));
        // The application's own wish is not limited.
        board.with(|server| block_on(server.device().forget_async())).unwrap();
    }
}

/// Whatever mixture comes, no page is erased more often than the documentation says.
#[test]
fn the_wear_of_any_mixture_is_bounded() {
    let mut board = Board::new();
    let context = WireContext::new(&Context::new(&TINY, None, &[0.5]).unwrap());
    let (mut events, mut limited, mut random) = (0, 0, 1_u32);
    for _ in 0..4_000 {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let (request, payload): (Request, &[u8]) = match random >> 29 {
            0 => (Request::Stage { offset: 0 }, &[0; 200]),
            1 => (Request::Forget, &[]),
            _ => (Request::Decide { context: context.clone(), time: 0 }, &[]),
        };
        match board.ask(&request, payload) {
            Reply::Fault(fault) => {
                assert_eq!(fault, Fault::Limited);
                limited += 1;
            }
            Reply::Decided { .. } => events += 1,
            _ => {}
        }
    }
    let most = board.most();
    // The two pages of the journal have room for at least 30 decisions.
    assert!(
        limited > 500 && most <= 32 + 3 * events / 30,
        "{limited} limited, {most} erases, {events} events"
    );
}

static ALLOWED: AtomicU32 = AtomicU32::new(3);

/// An application's own limit, such as so many in an hour.
fn may(request: &Request) -> bool {
    assert!(!matches!(request, Request::Hello | Request::Statistics));
    ALLOWED.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
}

#[test]
fn an_application_says_how_many_requests_it_takes() {
    let policy = wire::policy();
    let (mut learner, mut workspace) = (wire::started(&policy), wire::scratch());
    let mut store = RamStore::<0>::EMPTY;
    let mut server = server!(policy, learner, workspace, store).limit(may);
    let decide = Request::Decide { context: WireContext::new(&wire::nowhere()), time: 0 };
    for turn in 1..=3 {
        let sent = send!(server, framed(turn, &decide, &[]));
        assert!(matches!(sent[0].1, Reply::Decided { .. }));
        assert_eq!(send!(server, framed(turn, &decide, &[])), sent, "answered again, and not counted");
    }
    assert_eq!(send!(server, framed(4, &decide, &[]))[0].1, Reply::Fault(Fault::Limited));
    assert!(matches!(send!(server, framed(5, &Request::Hello, &[]))[0].1, Reply::Hello(_)));
    ALLOWED.store(1, Ordering::Relaxed);
    assert!(matches!(send!(server, framed(4, &decide, &[]))[0].1, Reply::Decided { round: 4, .. }));
}
