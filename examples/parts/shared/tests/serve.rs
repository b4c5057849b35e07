//! What the templates run, on a host: a flash whose power is cut, and a port that is a piece of memory.

use embedded_io::{ErrorKind, ErrorType, Read, Write};
use fable_core::catalog::TAU2;
use fable_embedded::flash::{
    Blocking, FlashError, Layout, Seed, StartError, block_on, read_seed, write_seed,
};
use fable_embedded::mock::Mock;
use fable_embedded::wire::{DELIMITER, Draft, Frame, MAX_FRAME, Reply, Request, WireContext};
use fable_part::{Memory, layout, serve, serve_async};

type Flash = Mock<4, 1024>;
const LAYOUT: Layout = layout::<Blocking<Flash>>(&(0..17 * 1024));

/// What a host has sent, and what came back. Reports an error once if told to.
struct Script {
    sent: Vec<u8>,
    got: Vec<u8>,
    fails: bool,
}

impl Script {
    fn of(requests: &[Request]) -> Self {
        let mut sent = vec![];
        for (sequence, request) in requests.iter().enumerate() {
            let mut buffer = [0; MAX_FRAME];
            sent.extend_from_slice(Draft::request(&mut buffer, sequence as u32, request).seal());
        }
        Self { sent, got: vec![], fails: false }
    }

    fn replies(&self) -> Vec<Reply> {
        let frames = self.got.split(|byte| *byte == DELIMITER).filter(|frame| !frame.is_empty());
        frames.map(|frame| Frame::open(&mut frame.to_vec()).unwrap().reply().unwrap().0).collect()
    }

    fn take(&mut self, buffer: &mut [u8]) -> Result<usize, ErrorKind> {
        if core::mem::take(&mut self.fails) {
            return Err(ErrorKind::Other);
        }
        let count = buffer.len().min(self.sent.len());
        for (slot, byte) in buffer.iter_mut().zip(self.sent.drain(..count)) {
            *slot = byte;
        }
        Ok(count)
    }
}

impl ErrorType for Script {
    type Error = ErrorKind;
}

impl Read for Script {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, ErrorKind> {
        self.take(buffer)
    }
}

impl Write for Script {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind> {
        self.got.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<(), ErrorKind> {
        Ok(())
    }
}

impl embedded_io_async::Read for Script {
    async fn read(&mut self, buffer: &mut [u8]) -> Result<usize, ErrorKind> {
        self.take(buffer)
    }
}

impl embedded_io_async::Write for Script {
    async fn write(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind> {
        Write::write(self, bytes)
    }

    async fn flush(&mut self) -> Result<(), ErrorKind> {
        Ok(())
    }
}

/// One life of the device, from its start until the host is gone or the power is cut.
fn run(
    flash: &mut Flash,
    port: &mut Script,
    numbers: &mut impl Iterator<Item = u64>,
) -> Result<(), StartError> {
    let mut memory = Memory::EMPTY;
    serve(Blocking(flash), LAYOUT, port, &mut memory, || numbers.next())
}

fn decide() -> Request {
    Request::Decide { context: WireContext::new(&TAU2.context(None, []).unwrap()), time: 0 }
}

fn feedback(round: u32) -> Request {
    Request::Feedback { incarnation: 0, round, reward: 0.5, weight: 1.0, time: 0 }
}

/// User and observations, as the host is told them.
fn hello(flash: &mut Flash, numbers: &mut impl Iterator<Item = u64>) -> (u64, u32) {
    let mut port = Script::of(&[Request::Hello]);
    assert_eq!(run(flash, &mut port, numbers), Ok(()));
    match &port.replies()[..] {
        [Reply::Hello(hello)] => (hello.user, hello.observations),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_new_device_draws_its_seed_and_its_user_once() {
    let mut flash = Flash::new(17);
    assert_eq!(hello(&mut flash, &mut [11, 22].into_iter()), (22, 0));
    assert_eq!(read_seed(&mut Blocking(&mut flash), 0), Ok(Some(Seed { number: 11, confirmed: true })));
    // From now on nothing is drawn.
    assert_eq!(hello(&mut flash, &mut core::iter::empty()), (22, 0));
}

#[test]
fn what_was_learned_is_there_after_a_restart() {
    let (mut flash, mut numbers) = (Flash::new(17), [11, 22].into_iter());
    let mut port = Script::of(&[decide(), feedback(1), decide()]);
    port.fails = true; // and the port may report something in between
    assert_eq!(run(&mut flash, &mut port, &mut numbers), Ok(()));
    let replies = port.replies();
    assert!(
        matches!(
            replies[..],
            [Reply::Decided { round: 1, .. }, Reply::Done { count: 1 }, Reply::Decided { round: 2, .. }]
        ),
        "{replies:?}"
    );
    assert_eq!(hello(&mut flash, &mut numbers), (22, 1));
}

/// The asynchronous form leaves the same bytes and says the same.
#[test]
fn both_forms_are_one() {
    let (mut flash, mut other) = (Flash::new(17), Flash::new(17));
    let requests = [Request::Hello, decide(), feedback(1), decide(), feedback(2), Request::Statistics];
    let (mut port, mut waiting) = (Script::of(&requests), Script::of(&requests));
    assert_eq!(run(&mut flash, &mut port, &mut [11, 22].into_iter()), Ok(()));
    let mut numbers = [11, 22].into_iter();
    let mut memory = Memory::EMPTY;
    let served = serve_async(&mut other, layout::<Flash>(&(0..17 * 1024)), &mut waiting, &mut memory, || {
        numbers.next()
    });
    assert_eq!(block_on(served), Ok(()));
    assert_eq!((flash.bytes(), port.got), (other.bytes(), waiting.got));
}

#[test]
fn without_entropy_nothing_begins() {
    for numbers in [vec![], vec![11]] {
        let mut flash = Flash::new(17);
        assert_eq!(run(&mut flash, &mut Script::of(&[]), &mut numbers.into_iter()), Err(StartError::Entropy));
        assert!(flash.bytes().iter().all(|byte| *byte == 0xff), "nothing was written");
    }
}

#[test]
fn what_is_not_ours_is_left_alone() {
    let mut flash = Flash::new(17);
    flash.bytes_mut()[1024..].fill(0x55);
    let before = flash.bytes().to_vec();
    assert_eq!(
        run(&mut flash, &mut Script::of(&[]), &mut (1..)),
        Err(StartError::Store(FlashError::Foreign))
    );
    assert_eq!(flash.bytes(), before);

    let mut flash = Flash::new(17);
    hello(&mut flash, &mut (1..));
    flash.bytes_mut()[20] ^= 1; // the seed
    let before = flash.bytes().to_vec();
    assert_eq!(run(&mut flash, &mut Script::of(&[]), &mut (1..)), Err(StartError::SeedLost));
    assert_eq!(flash.bytes(), before);
    write_seed(&mut Blocking(&mut flash), 0, 1).unwrap();
    assert_eq!(hello(&mut flash, &mut core::iter::empty()), (2, 0));

    // A settled device whose store is gone, or damaged, does not begin anew by itself.
    for byte in [0xff, 0x55] {
        flash.bytes_mut()[1024..].fill(byte);
        let before = flash.bytes().to_vec();
        assert!(matches!(run(&mut flash, &mut Script::of(&[]), &mut (1..)), Err(StartError::Store(_))));
        assert_eq!(flash.bytes(), before);
    }
}

/// At every step of the first start: the next start begins, with one seed and one user from then on.
#[test]
fn a_power_cut_in_the_first_start_does_no_harm() {
    let whole = {
        let mut flash = Flash::new(17).strict(); // words that were cut refuse to be written
        hello(&mut flash, &mut (1..));
        flash.steps()
    };
    let mut cuts = 0;
    for cut in 0..whole {
        let mut flash = Flash::new(17).strict();
        flash.seed(cut + 1);
        flash.cut_after(cut);
        let mut numbers = 1..;
        let stopped = run(&mut flash, &mut Script::of(&[]), &mut numbers);
        cuts += u64::from(flash.power_on());
        assert!(matches!(stopped, Err(StartError::Store(_))), "cut {cut}: {stopped:?}");
        let first = hello(&mut flash, &mut numbers);
        let seed = read_seed(&mut Blocking(&mut flash), 0).unwrap();
        assert!(seed.is_some_and(|seed| seed.confirmed && seed.number != first.0), "cut {cut}");
        assert_eq!(hello(&mut flash, &mut core::iter::empty()), first, "cut {cut}");
        assert_eq!(read_seed(&mut Blocking(&mut flash), 0).unwrap(), seed, "cut {cut}");
    }
    assert_eq!(cuts, whole);
}
