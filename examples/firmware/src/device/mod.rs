//! Fable on a board: the state comes back from flash, every step is stored before it counts, and a host talks to it over the
//! serial port.
//!
//! The learner, its workspace and the store are statics of zeros; nothing of their size is ever on the stack. What a board says
//! to a person goes through semihosting, as plain text or, with the feature `log`, as a log of defmt.

mod tell;

use crate::boards::{Board, Here, exit};
use core::convert::Infallible;
use core::ops::Range;
use embedded_io::{Read, Write};
use embedded_storage::nor_flash::{NorFlash, ReadNorFlash};
use fable_core::posterior::{Factor, Prior, Storage};
use fable_core::record::{prior::prior_len, snapshot::max_len};
use fable_core::{Learner, Policy, Settings, User, Workspace};
use fable_embedded::flash::{Blocking, FlashError, FlashStore, Layout};
use fable_embedded::{Device, Server, UserStore, wire::Fault};
use static_cell::{ConstStaticCell, StaticCell};

/// What there is RAM for.
#[cfg(not(any(feature = "hifive1", feature = "microbit")))]
pub use fable_core::catalog::AGENT as CATALOG;
#[cfg(any(feature = "hifive1", feature = "microbit"))]
pub use fable_core::catalog::TAU2 as CATALOG;

/// The defaults, at a place of its own: hosts are place 0. Several boards of the same user get other numbers with `fable device join`.
pub const SETTINGS: Settings<'static> = Settings { site: 1, ..Settings::DEFAULT };

/// A constant: nothing of it is checked, computed or on the stack of a board that has no place for a prior.
static POLICY: Policy<'static, f32> = match Policy::new(&CATALOG, SETTINGS) {
    Ok(policy) => policy,
    Err(_) => panic!("a setting is out of its range"),
};

/// Decisions that can wait for their reward, and promotions.
pub const ROOM: usize = 8;

/// What hosts have too: the key in a file that is named when the image is built, the same file as for `fable device --key-file`.
#[cfg(feature = "keyed")]
const KEY: fable_embedded::wire::Key =
    match fable_embedded::wire::Key::from_hex(include_bytes!(env!("FABLE_KEY_FILE"))) {
        Some(key) => key,
        None => panic!("the file that FABLE_KEY_FILE names does not have 32 hexadecimal digits"),
    };

/// The store of a board.
pub type BoardStore = FlashStore<Blocking<<Here as Board>::Flash>, { Here::PRIOR }>;

/// What a device is made of.
pub struct Parts {
    /// The user.
    pub learner: &'static mut Learner<f32, [f32; CATALOG.state_len()], ROOM>,
    /// Scratch.
    pub workspace: &'static mut Workspace<f32, [f32; CATALOG.workspace_len()]>,
    /// The place of the store.
    pub store: &'static StaticCell<BoardStore>,
}

impl Parts {
    /// The statics. They can be taken once.
    #[inline]
    #[must_use]
    pub fn take() -> Self {
        static LEARNER: ConstStaticCell<Learner<f32, [f32; CATALOG.state_len()], ROOM>> =
            ConstStaticCell::new(Learner::new(&CATALOG));
        static WORKSPACE: ConstStaticCell<Workspace<f32, [f32; CATALOG.workspace_len()]>> =
            ConstStaticCell::new(Workspace::new(&CATALOG));
        static STORE: StaticCell<BoardStore> = StaticCell::new();
        Self { learner: LEARNER.take(), workspace: WORKSPACE.take(), store: &STORE }
    }
}

/// Restores and serves for ever. A store of somebody else is left alone: the program ends with code 2.
///
/// Generic, like what it calls, so that all of it is compiled with the image: it comes out smaller than from a library.
pub fn serve<S: Storage<f32>, W: Storage<f32>>(
    learner: &mut Learner<f32, S, ROOM>,
    workspace: &mut Workspace<f32, W>,
    store: &'static StaticCell<BoardStore>,
) -> ! {
    tell::started(&CATALOG);
    let store = place(&POLICY, store);
    if Here::PRIOR {
        serve_from_prior(learner, workspace, store)
    }
    // The user is whoever holds the board; the number makes its draws its own.
    restore(&POLICY, learner, workspace, store, || Here::entropy().unwrap_or(1));
    let mut uart = Here::uart();
    tell::ready();
    loop {
        let Ok(user) = learner.bind(&POLICY, workspace) else { stop("the learner was not restored") };
        attend(user, store, &mut uart);
    }
}

/// The same where users may begin from a prior that is kept.
fn serve_from_prior<S: Storage<f32>, W: Storage<f32>>(
    learner: &mut Learner<f32, S, ROOM>,
    workspace: &mut Workspace<f32, W>,
    store: &mut BoardStore,
) -> ! {
    let mut policy = POLICY;
    match apart(|| store.prior(&policy)).map(|numbers| begin_from(numbers, &mut policy, workspace)) {
        Ok(true) => {}
        Ok(false) => stop("the prior is out of range"),
        Err(error) => stop(reason(error)),
    }
    restore(&policy, learner, workspace, store, || Here::entropy().unwrap_or(1));
    let mut uart = Here::uart();
    tell::ready();
    loop {
        if store.outdated() {
            // What cannot be used is told to the host with every request, until it loads another one.
            let next = apart(|| store.next_prior(&policy));
            if next.is_ok_and(|numbers| begin_from(numbers, &mut policy, workspace)) {
                let _ = apart(|| store.adopt(&policy, learner, workspace));
            }
        }
        let Ok(user) = learner.bind(&policy, workspace) else { stop("the learner was not restored") };
        attend(user, store, &mut uart);
    }
}

/// Gives the policy the prior whose numbers lie there, or its own; false for one that is out of range, and the policy stays.
#[inline(never)]
fn begin_from<W: Storage<f32>>(
    numbers: Option<Range<u32>>,
    policy: &mut Policy<'static, f32>,
    workspace: &mut Workspace<f32, W>,
) -> bool {
    let prior = match numbers.map(|numbers| Factor::new(CATALOG.layout(), Here::numbers(numbers), workspace))
    {
        None => Prior::Isotropic,
        Some(Ok(factor)) => Prior::Factor(factor),
        Some(Err(_)) => return false,
    };
    let Ok(other) = Policy::with_prior(policy.catalog(), *policy.settings(), prior) else { return false };
    *policy = other;
    true
}

/// Moves the store to where it stays, in a stack frame of its own.
#[inline(never)]
pub fn place(policy: &Policy<'_, f32>, place: &'static StaticCell<BoardStore>) -> &'static mut BoardStore {
    place.init_with(|| open(policy))
}

/// Answers a port until it ends.
#[inline(never)]
pub fn attend(
    user: User<'_, f32>,
    store: &mut impl UserStore<Error: Into<Fault>>,
    port: &mut (impl Read<Error = Infallible> + Write),
) {
    let device = Device::new(user, store);
    #[cfg(not(feature = "keyed"))]
    let mut server = Server::new(device);
    // Another number at every start, and whenever a server begins.
    #[cfg(feature = "keyed")]
    let Some(nonce) = Here::entropy() else { stop("a key needs random numbers") };
    #[cfg(feature = "keyed")]
    let mut server = Server::keyed(device, KEY, nonce);
    let Ok(()) = server.serve(port);
}

/// The store of the board, not looked into yet.
#[inline(never)]
#[must_use]
pub fn open(policy: &Policy<'_, f32>) -> BoardStore {
    let Ok(mut flash) = Here::flash() else { stop("the store cannot be opened") };
    if is_zero(&mut flash) && flash.erase(0, flash.capacity() as u32).is_err() {
        stop("the store cannot be erased")
    }
    let length = u32::try_from(flash.capacity()).unwrap_or(u32::MAX);
    let prior = if Here::PRIOR { prior_len::<f32>(policy.catalog()) } else { 0 };
    let snapshot = max_len::<f32>(policy.catalog(), ROOM);
    let Ok(layout) = Layout::try_with_prior::<Blocking<<Here as Board>::Flash>>(0, length, snapshot, prior)
    else {
        stop("the store is too small for this catalog")
    };
    tell::opened();
    FlashStore::from_flash(Blocking(flash), layout)
}

/// Restores the learner from the store, which is formatted for a new user if it is blank. What that takes of the stack is free
/// again for serving.
#[inline(never)]
pub fn restore<S: Storage<f32>, W: Storage<f32>>(
    policy: &Policy<'_, f32>,
    learner: &mut Learner<f32, S, ROOM>,
    workspace: &mut Workspace<f32, W>,
    store: &mut BoardStore,
    user: impl FnOnce() -> u64,
) {
    let mut restored = apart(|| store.restore(policy, learner, workspace));
    if matches!(restored, Err(FlashError::Unformatted)) {
        let user = user();
        let formatted = apart(|| store.format(policy, user, ROOM as u16));
        restored = formatted.and_then(|()| apart(|| store.restore(policy, learner, workspace)));
        // From now on there is always a snapshot to read.
        restored = restored.and_then(|restored| {
            apart(|| store.compact(&learner.bind(policy, workspace)?)).map(|()| restored)
        });
    }
    let restored = match restored {
        Ok(restored) => restored,
        Err(error) => stop(reason(error)),
    };
    tell::restored(&restored, learner);
}

/// In a stack frame of its own: the futures of the store are large and needed one after the other.
#[inline(never)]
fn apart<T>(work: impl FnOnce() -> T) -> T {
    work()
}

/// Nothing but zeros: QEMU starts some memories so, which is neither erased flash nor a store.
fn is_zero(flash: &mut impl ReadNorFlash) -> bool {
    let mut chunk = [0; 64];
    let mut offsets = (0..flash.capacity() as u32).step_by(chunk.len());
    offsets.all(|offset| flash.read(offset, &mut chunk).is_ok() && chunk.iter().all(|byte| *byte == 0))
}

fn stop(why: &str) -> ! {
    tell::stopped(why);
    exit(2)
}

/// What kept the store from being restored. `Display` of the error says more and takes 6 KB of flash.
const fn reason(error: FlashError) -> &'static str {
    match error {
        FlashError::Driver(_) => "the flash failed",
        FlashError::Foreign => "the store holds something else and has to be formatted",
        FlashError::Layout => "the store was formatted for another layout",
        FlashError::Damaged => "stored records are damaged",
        FlashError::Record(_) => "the store is of another version, catalog or settings",
        _ => "the store cannot be restored",
    }
}
