//! Priors in flash: the start of a new incarnation through power cuts, never at the cost of the user.

use crate::common::{self, Known, R, Scratch, TINY, USER, bytes, scratch, vacant};
use fable_core::catalog::{Catalog, TAU2};
use fable_core::host::HostLearner;
use fable_core::posterior::{Factor, Prior};
use fable_core::record::prior::prior_len;
use fable_core::record::snapshot::max_len;
use fable_core::record::{RecordError, checksum, decode_prior, encode_prior};
use fable_core::{Action, Feasible, HostUser, Policy, Request, Settings};
use fable_embedded::flash::{FlashError, FlashStore, Layout, LayoutError, block_on};
use fable_embedded::mock::Mock;
use fable_embedded::{AsyncUserStore, Device};

type Store<const W: usize, const P: usize> = FlashStore<Mock<W, P>, true>;

const SETTINGS: Settings<'static> = Settings { seed: 7, ..Settings::DEFAULT };

fn layout<const W: usize, const P: usize>(catalog: &Catalog<'_>) -> Layout {
    let (snapshot, prior) = (max_len::<f32>(catalog, R), prior_len::<f32>(catalog));
    let least = Layout::try_with_prior::<Mock<W, P>>(0, 0, snapshot, prior);
    let Err(LayoutError::TooSmall { needed }) = least else { panic!("no flash is too small") };
    Layout::try_with_prior::<Mock<W, P>>(0, needed, snapshot, prior).unwrap()
}

fn flash<const W: usize, const P: usize>(catalog: &Catalog<'_>) -> Mock<W, P> {
    Mock::new(layout::<W, P>(catalog).region().len() / P)
}

/// A policy with a prior of the given precision, or with the isotropic prior for 0. The few priors are
/// leaked.
fn policy(catalog: &'static Catalog<'static>, precision: u8) -> Policy<'static, f32> {
    if precision == 0 {
        return Policy::new(catalog, SETTINGS).unwrap();
    }
    let (arrow, dimension) = (catalog.layout(), catalog.dimension());
    let mut packed = vec![0.0; arrow.packed_len()];
    packed[..dimension].fill(1.0 / f32::from(precision));
    let last = packed.len() - 1;
    packed[last] = 0.5; // the mean of the last coordinate
    under(catalog, packed)
}

fn under(catalog: &'static Catalog<'static>, packed: Vec<f32>) -> Policy<'static, f32> {
    let factor =
        Factor::new(catalog.layout(), packed.leak(), &mut vec![0.0; catalog.workspace_len()]).unwrap();
    Policy::with_prior(catalog, SETTINGS, Prior::Factor(factor)).unwrap()
}

/// A device: what a firmware keeps, and the loop it runs.
struct Board<const W: usize, const P: usize> {
    catalog: &'static Catalog<'static>,
    store: Store<W, P>,
    policy: Policy<'static, f32>,
    learner: Known,
    workspace: Scratch,
}

impl<const W: usize, const P: usize> Board<W, P> {
    fn new(catalog: &'static Catalog<'static>, flash: Mock<W, P>) -> Self {
        let base = policy(catalog, 0);
        let mut store = Store::from_flash(flash, layout::<W, P>(catalog));
        block_on(store.format(&base, USER, 4)).unwrap();
        Self::start(catalog, store.into_flash()).map_err(|(error, _)| error).unwrap()
    }

    /// What every start does.
    #[expect(clippy::result_large_err, reason = "the flash comes back, whatever was wrong with it")]
    fn start(
        catalog: &'static Catalog<'static>,
        flash: Mock<W, P>,
    ) -> Result<Self, (FlashError, Mock<W, P>)> {
        let base = policy(catalog, 0);
        let store = Store::from_flash(flash, layout::<W, P>(catalog));
        let mut board =
            Self { catalog, store, policy: base, learner: vacant(&base), workspace: scratch(&base) };
        match board.restore() {
            Ok(()) => Ok(board),
            Err(error) => Err((error, board.store.into_flash())),
        }
    }

    fn restore(&mut self) -> Result<(), FlashError> {
        let began = block_on(self.store.prior(&self.policy))?;
        self.policy = self.with(began)?;
        let restored = block_on(self.store.restore(&self.policy, &mut self.learner, &mut self.workspace))?;
        assert!(!restored.rolled_back, "a power cut is not a lost page");
        self.go_on()
    }

    /// Begins from another prior, if the store wants it.
    fn go_on(&mut self) -> Result<(), FlashError> {
        if self.store.outdated() {
            let next = block_on(self.store.next_prior(&self.policy))?;
            self.policy = self.with(next)?;
            block_on(self.store.adopt(&self.policy, &mut self.learner, &mut self.workspace))?;
            assert!(!self.store.outdated());
        }
        Ok(())
    }

    fn with(&mut self, numbers: Option<core::ops::Range<u32>>) -> Result<Policy<'static, f32>, FlashError> {
        let Some(numbers) = numbers else { return Ok(policy(self.catalog, 0)) };
        assert!(numbers.start.is_multiple_of(8), "mapped flash can be read as numbers");
        let mut packed = vec![0.0; self.catalog.layout().packed_len()];
        block_on(self.store.copy_prior(numbers, &mut packed))?;
        Ok(under(self.catalog, packed))
    }

    fn load(&mut self, prior: &[u8]) -> Result<(), FlashError> {
        for (index, chunk) in prior.chunks(37).enumerate() {
            block_on(self.store.stage_write(u32::try_from(index * 37).unwrap(), chunk))?;
        }
        block_on(self.store.commit_prior(&self.policy, u32::try_from(prior.len()).unwrap()))
    }

    /// A decision, and its reward.
    fn play(&mut self) -> Result<Action, FlashError> {
        let signals = vec![0.5; self.catalog.definition().signals.len()];
        let context = fable_core::Context::new(self.catalog, None, &signals).unwrap();
        let mut device = Device::new(self.learner.bind(&self.policy, &mut self.workspace)?, &mut self.store);
        let decision = block_on(device.decide_async(&Request::new(&context, &Feasible::all(self.catalog))))?;
        block_on(device.feedback_async(decision.id, 0.25))?;
        Ok(decision.action)
    }

    fn forget(&mut self) -> Result<(), FlashError> {
        let mut device = Device::new(self.learner.bind(&self.policy, &mut self.workspace)?, &mut self.store);
        block_on(device.forget_async())
    }

    fn kept(&mut self, next: bool) -> Vec<u8> {
        let mut kept = vec![0; prior_len::<f32>(self.catalog) + 100];
        let read = block_on(self.store.read_prior(next, 0, &mut kept)).unwrap();
        kept.truncate(read);
        kept
    }

    /// Which prior the next incarnation begins from: its precision.
    fn next(&mut self) -> u8 {
        let kept = self.kept(true);
        match (0..=5)
            .find(|precision| encode_prior(&policy(self.catalog, *precision)).unwrap_or_default() == kept)
        {
            Some(precision) => precision,
            None => panic!("not whole"),
        }
    }
}

/// A user on a host that lives the same life.
fn twin(policy: &Policy<'static, f32>, incarnation: u32) -> HostUser<'static, f32, R> {
    let mut learner = HostLearner::for_policy(policy);
    let header = fable_core::record::Header::new(fable_core::record::Kind::Journal, policy, USER, 4);
    learner.start_journal_in(policy, &header, incarnation).unwrap();
    HostUser::from_learner(policy, learner).unwrap()
}

fn prior(catalog: &'static Catalog<'static>, precision: u8) -> Vec<u8> {
    encode_prior(&policy(catalog, precision)).unwrap()
}

/// Users keep the prior they began from. A new incarnation begins from the last loaded prior.
#[test]
fn forgetting_goes_back_to_the_prior() {
    let mut board = Board::<4, 1024>::new(&TAU2, flash(&TAU2));
    board.play().unwrap();
    let before = bytes(&board.learner);
    board.load(&prior(&TAU2, 4)).unwrap();
    assert_eq!((bytes(&board.learner), board.store.outdated()), (before, false));
    assert_eq!((board.kept(false), board.next()), (vec![], 4));
    board.play().unwrap(); // as before
    board = Board::start(&TAU2, board.store.into_flash()).map_err(|(error, _)| error).unwrap();
    assert_eq!(
        (board.learner.state().rounds(), board.policy.fingerprint()),
        (2, policy(&TAU2, 0).fingerprint())
    );

    let learned = bytes(&board.learner);
    board.forget().unwrap();
    assert!(board.store.outdated());
    assert_eq!(board.play(), Err(FlashError::Outdated), "nothing happens under the old prior any more");
    board.go_on().unwrap();
    let fitted = policy(&TAU2, 4);
    assert_eq!((board.policy.fingerprint(), board.learner.state().incarnation()), (fitted.fingerprint(), 1));
    // Of the user nothing is readable; the prior is not the user's.
    let (now, kept) = (bytes(&board.learner), prior(&TAU2, 4));
    let known =
        |window: &&[u8]| [&now, &kept].iter().any(|bytes| bytes.windows(12).any(|other| other == *window));
    let traces: Vec<&[u8]> = learned[40..].chunks_exact(12).filter(|window| !known(window)).collect();
    assert!(traces.len() > 10);
    assert!(
        traces.iter().all(|trace| !board.store.flash().bytes().windows(12).any(|window| window == *trace))
    );
    assert_eq!((board.kept(false), board.next()), (prior(&TAU2, 4), 4));

    let mut twin = twin(&fitted, 1);
    let (context, all) = (TAU2.context(None, []).unwrap(), Feasible::all(&TAU2));
    for round in 0..60 {
        if round % 20 == 10 {
            board = Board::start(&TAU2, board.store.into_flash()).map_err(|(error, _)| error).unwrap();
        }
        let decision = twin.decide(&context, &all).unwrap();
        twin.feedback(decision.id, 0.25).unwrap();
        assert_eq!(board.play(), Ok(decision.action));
    }
    assert_eq!(bytes(&board.learner)[32..], twin.to_bytes()[32..]);

    // Forgetting again goes back to the same prior, and the store goes on as it is.
    board.forget().unwrap();
    assert!(!board.store.outdated());
    board.play().unwrap();
    assert_eq!((board.learner.state().incarnation(), board.learner.state().rounds()), (2, 1));
    // Removed: after the next forgetting the isotropic one counts.
    block_on(board.store.commit_prior(&board.policy, 0)).unwrap();
    assert_eq!((board.kept(false), board.next()), (prior(&TAU2, 4), 0));
    board.forget().unwrap();
    board.go_on().unwrap();
    assert_eq!((board.policy.fingerprint(), board.kept(false)), (policy(&TAU2, 0).fingerprint(), vec![]));
}

/// A snapshot from a host has a host's room in its header, which stopped a board when its user was forgotten.
#[test]
fn a_snapshot_from_a_host_does_not_keep_the_next_user_from_beginning() {
    let mut board = Board::<4, 1024>::new(&TINY, flash(&TINY));
    let mut host = HostUser::<f32, 64>::from_learner(&board.policy, {
        let mut learner = HostLearner::for_policy(&board.policy);
        learner.start(&board.policy, USER).unwrap();
        learner
    })
    .unwrap();
    let signals = vec![0.5; TINY.definition().signals.len()];
    let context = fable_core::Context::new(&TINY, None, &signals).unwrap();
    host.decide(&context, &Feasible::all(&TINY)).unwrap();
    let snapshot = host.to_bytes();
    block_on(board.store.stage_write(0, &snapshot)).unwrap();
    let mut user = board.learner.bind(&board.policy, &mut board.workspace).unwrap();
    block_on(board.store.stage_commit(&mut user, u32::try_from(snapshot.len()).unwrap())).unwrap();
    board.load(&prior(&TINY, 4)).unwrap();
    board.forget().unwrap();
    board.go_on().unwrap();
    assert_eq!(
        (board.policy.fingerprint(), board.learner.state().incarnation()),
        (policy(&TINY, 4).fingerprint(), 1)
    );
    board.play().unwrap();
}

/// A user with whom nothing has happened yet begins from what is loaded, also after a snapshot and a restart.
#[test]
fn who_has_not_begun_begins_from_it() {
    for compacted in [false, true] {
        let mut board = Board::<4, 1024>::new(&TINY, flash(&TINY));
        if compacted {
            let user = board.learner.bind(&board.policy, &mut board.workspace).unwrap();
            block_on(board.store.compact(&user)).unwrap();
        }
        board = Board::start(&TINY, board.store.into_flash()).map_err(|(error, _)| error).unwrap();
        board.load(&prior(&TINY, 2)).unwrap();
        assert!(board.store.outdated());
        let board = Board::start(&TINY, board.store.into_flash()).map_err(|(error, _)| error).unwrap();
        assert_eq!(
            (board.policy.fingerprint(), board.learner.state().incarnation()),
            (policy(&TINY, 2).fingerprint(), 0)
        );
    }
}

/// What is not a prior of this catalog, these settings and this scalar is refused, and what waits stays.
#[test]
fn what_does_not_belong_is_refused_and_changes_nothing() {
    let mut board = Board::<8, 1024>::new(&TAU2, flash(&TAU2));
    board.play().unwrap();
    board.load(&prior(&TAU2, 4)).unwrap();
    board.forget().unwrap();
    board.go_on().unwrap();
    board.play().unwrap();
    board.load(&prior(&TAU2, 3)).unwrap(); // waits; the one in use is another
    let state = bytes(&board.learner);

    let good = prior(&TAU2, 2);
    let other = Settings { noise_variance: 1.0, ..SETTINGS };
    let factor =
        Factor::new(TAU2.layout(), policy_numbers(&good).leak(), &mut vec![0.0; TAU2.workspace_len()])
            .unwrap();
    let other = encode_prior(&Policy::with_prior(&TAU2, other, Prior::Factor(factor)).unwrap()).unwrap();
    let wide: Vec<f64> = policy_numbers(&good).iter().map(|number| f64::from(*number)).collect();
    let wide = Factor::new(TAU2.layout(), wide.leak(), &mut vec![0.0; TAU2.workspace_len()]).unwrap();
    let wide = encode_prior(&Policy::with_prior(&TAU2, SETTINGS, Prior::Factor(wide)).unwrap()).unwrap();
    let sealed = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = good[..good.len() - 4].to_vec();
        change(&mut bytes);
        let sum = checksum(&bytes);
        bytes.extend(sum.to_le_bytes());
        bytes
    };
    let flipped = |at: usize| {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        bytes
    };
    let put = |number: f32| sealed(&move |bytes| bytes[32..36].copy_from_slice(&number.to_le_bytes()));
    let refused = [
        (prior(&TINY, 2), RecordError::Catalog),
        (other, RecordError::Policy),
        (wide[..good.len()].to_vec(), RecordError::Scalar { found: 53 }),
        (good[..good.len() - 1].to_vec(), RecordError::Truncated),
        (good[..20].to_vec(), RecordError::Truncated),
        ([&good[..], &[0]].concat(), RecordError::TooLong),
        (flipped(0), RecordError::Foreign),
        (flipped(10), RecordError::Checksum),
        (flipped(300), RecordError::Checksum),
        (flipped(good.len() - 1), RecordError::Checksum),
        (put(f32::NAN), RecordError::Content),
        (put(-1.0), RecordError::Content),
        (put(0.3), RecordError::Content), // sound, but not what the header says
        (state.clone()[..good.len().min(state.len())].to_vec(), RecordError::Foreign),
    ];
    for (index, (bytes, error)) in refused.into_iter().enumerate() {
        assert_eq!(board.load(&bytes), Err(FlashError::Record(error)), "{index}");
        assert_eq!(board.next(), 3, "{index}");
    }
    assert_eq!(block_on(board.store.commit_prior(&board.policy, 9)), Err(FlashError::Offset { expected: 0 }));
    assert_eq!(bytes(&board.learner), state);
    let mut board = Board::start(&TAU2, board.store.into_flash()).map_err(|(error, _)| error).unwrap();
    assert_eq!((bytes(&board.learner), board.next()), (state, 3));
    board.load(&good).unwrap();
    assert_eq!(board.next(), 2);
}

fn policy_numbers(bytes: &[u8]) -> Vec<f32> {
    decode_prior(&policy(&TAU2, 0), bytes).unwrap()
}

/// A store without a place for priors says so, and a region for one is not taken for one for the other.
#[test]
fn without_a_place_there_is_none() {
    let base = policy(&TINY, 0);
    let with = layout::<4, 1024>(&TINY);
    let len = u32::try_from(with.region().len()).unwrap();
    let without = Layout::try_new::<Mock<4, 1024>>(0, len, max_len::<f32>(&TINY, R)).unwrap();
    assert!(without.prior(0).is_empty() && without.journal().len() > with.journal().len());
    let least = u32::try_from(max_len::<f32>(&TINY, R)).unwrap();
    assert_eq!(
        Layout::try_with_prior::<Mock<4, 1024>>(0, len - 1024, least as usize, prior_len::<f32>(&TINY)),
        Err(LayoutError::TooSmall { needed: len })
    );
    let (mut store, mut learner, mut workspace) = common::begin(flash::<4, 1024>(&TINY), without, &base);
    let bytes = prior(&TINY, 2);
    block_on(store.stage_write(0, &bytes)).unwrap();
    assert_eq!(
        block_on(store.commit_prior(&base, u32::try_from(bytes.len()).unwrap())),
        Err(FlashError::NoPrior)
    );
    assert_eq!(block_on(store.commit_prior(&base, 0)), Err(FlashError::NoPrior));
    assert_eq!(block_on(store.read_prior(true, 0, &mut [0; 9])), Ok(0));
    let mut store = Store::from_flash(store.into_flash(), with);
    let restored = block_on(store.restore(&base, &mut learner, &mut workspace));
    assert_eq!(restored, Err(FlashError::Layout));
}

/// A damaged prior is never used. If the user began from it, the user is not restored. The error differs from
/// that for a prior of other settings.
#[test]
fn damage_is_told() {
    let mut board = Board::<4, 1024>::new(&TINY, flash(&TINY));
    board.load(&prior(&TINY, 2)).unwrap();
    board.go_on().unwrap();
    board.play().unwrap();
    let place = board.store.layout().prior(0);
    let sound = board.store.into_flash();
    // The commit record, and the prior; what is between them has no meaning in a prior's slot.
    for at in (0..32).chain(256..256 + prior_len::<f32>(&TINY)).map(|at| place.start as usize + at) {
        let mut flash = sound.clone();
        flash.bytes_mut()[at] ^= 4;
        assert_eq!(
            Board::start(&TINY, flash).map(drop).map_err(|(error, _)| error),
            Err(FlashError::Damaged),
            "{at}"
        );
    }
    assert!(Board::start(&TINY, sound).is_ok());
}

/// One thing that is done with a prior, from a board that has one in use and another that waits.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Replace,
    Remove,
    Forget,
    Adopt,
}

fn perform<const W: usize, const P: usize>(board: &mut Board<W, P>, change: Deed) -> Result<(), FlashError> {
    match change {
        Deed::Replace => board.load(&prior(board.catalog, 5)),
        Deed::Remove => block_on(board.store.commit_prior(&board.policy, 0)),
        Deed::Forget => board.forget(),
        Deed::Adopt => board.go_on(),
    }
}

/// Cuts the power after every step of the flash. After the next start acknowledged changes are there, and
/// others are there whole or not at all. A loaded or removed prior does not change the user. A start that is
/// cut is followed by a start that is not.
fn cut_everywhere<const W: usize, const P: usize>(
    strict: bool,
    began: u8,
    waits: Option<u8>,
    change: Deed,
) -> u64 {
    let fresh = flash::<W, P>(&TINY);
    let mut board = Board::new(&TINY, if strict { fresh.strict() } else { fresh });
    if began > 0 {
        board.load(&prior(&TINY, began)).unwrap();
        board.go_on().unwrap();
    }
    board.play().unwrap();
    match waits {
        Some(0) => block_on(board.store.commit_prior(&board.policy, 0)).unwrap(),
        Some(precision) => board.load(&prior(&TINY, precision)).unwrap(),
        None => {}
    }
    let waits = waits.unwrap_or(began);
    if matches!(change, Deed::Adopt) {
        board.forget().unwrap();
    }
    let (state, incarnation) = (bytes(&board.learner), board.learner.state().incarnation());
    let flash = board.store.into_flash();
    for after in 0.. {
        // From a restart on where nothing has to be adopted, with the store as it is where something has.
        let mut board = Board {
            catalog: &TINY,
            store: Store::from_flash(flash.clone(), layout::<W, P>(&TINY)),
            ..board_like()
        };
        let begun = block_on(board.store.prior(&board.policy)).unwrap();
        board.policy = board.with(begun).unwrap();
        block_on(board.store.restore(&board.policy, &mut board.learner, &mut board.workspace)).unwrap();
        board.store.flash().seed(after * 31 + 7);
        board.store.flash().cut_after(after);
        let done = perform(&mut board, change);
        let cut = board.store.flash().power_on();
        if !cut {
            done.unwrap();
        }
        let mut flash = board.store.into_flash();
        // The start is cut as well, twice, somewhere.
        for again in [after * 13 % 97, after * 7 % 61] {
            flash.cut_after(again);
            flash = match Board::start(&TINY, flash) {
                Ok(board) => board.store.into_flash(),
                Err((_, flash)) => flash,
            };
            flash.power_on();
        }
        let mut board = Board::start(&TINY, flash).map_err(|(error, _)| error).unwrap();
        let next = board.next();
        let done = done.is_ok();
        match change {
            Deed::Replace | Deed::Remove => {
                let wanted = if matches!(change, Deed::Replace) { 5 } else { 0 };
                assert!(next == wanted || (!done && next == waits), "{change:?} {after}: {next}");
                assert_eq!(bytes(&board.learner), state, "the user is as before");
                assert_eq!(board.policy.fingerprint(), policy(&TINY, began).fingerprint());
            }
            Deed::Forget | Deed::Adopt => {
                assert_eq!(next, waits);
                let forgotten = board.learner.state().incarnation()
                    == incarnation + u32::from(matches!(change, Deed::Forget));
                assert!(forgotten || (!done && bytes(&board.learner) == state), "{change:?} {after}");
                let prior = if forgotten { waits } else { began };
                assert_eq!(
                    board.policy.fingerprint(),
                    policy(&TINY, prior).fingerprint(),
                    "{change:?} {after}"
                );
                if forgotten {
                    let twin = twin(&board.policy, board.learner.state().incarnation());
                    assert_eq!(bytes(&board.learner)[32..], twin.to_bytes()[32..]);
                }
            }
        }
        // It goes on, and forgetting leads to the prior that it says is next.
        board.play().unwrap();
        board.forget().unwrap();
        board.go_on().unwrap();
        assert_eq!(board.policy.fingerprint(), policy(&TINY, next).fingerprint());
        board.play().unwrap();
        if !cut {
            return after;
        }
    }
    0
}

fn board_like<const W: usize, const P: usize>() -> Board<W, P> {
    let base = policy(&TINY, 0);
    let store = Store::from_flash(flash(&TINY), layout::<W, P>(&TINY));
    Board { catalog: &TINY, store, policy: base, learner: vacant(&base), workspace: scratch(&base) }
}

#[test]
fn the_power_may_fail_at_any_byte() {
    let mut cuts = 0;
    for (began, waits) in [(0, None), (0, Some(2)), (1, None), (1, Some(2)), (1, Some(0))] {
        for change in [Deed::Replace, Deed::Remove, Deed::Forget, Deed::Adopt] {
            cuts += cut_everywhere::<4, 1024>(false, began, waits, change);
            cuts += cut_everywhere::<8, 1024>(true, began, waits, change);
        }
    }
    println!("{cuts} cuts");
    assert!(cuts > 3_000, "{cuts}");
}
