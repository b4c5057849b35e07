//! A device gets the firmware of another catalog, with a power cut at every byte of the migration. One of the
//! two catalogs finds its user whole, and the next start finishes.
//!
//! `FABLE_LONG=1 cargo test -p fable-embedded --test it migrate::` cuts at every byte of every geometry.

use crate::common::{self, Known, Life, R, TINY, USER, bytes, policy, scratch, vacant};
use fable_core::catalog::{Block, Catalog, Component, Contrast, Definition, Rename, TAU2, Value};
use fable_core::journal::Command;
use fable_core::migrate::Migration;
use fable_core::posterior::{Factor, Prior};
use fable_core::record::{RecordError, encode_prior, prior::prior_len, snapshot::max_len};
use fable_core::{Action, Context, Feasible, Policy, Request, Settings, Workspace};
use fable_embedded::flash::{
    FlashError, FlashStore, Layout, LayoutError, PreviousFirmware, StartError, block_on,
};
use fable_embedded::mock::Mock;
use fable_embedded::{AsyncUserStore, Device};

fn long() -> bool {
    std::env::var_os("FABLE_LONG").is_some()
}

/// `TINY` with a value in front, one with another name, and one component in front of the other.
const NEXT: Catalog<'static> = Catalog::new(Definition {
    name: "tiny",
    components: &[
        Component::new("b", &[Value::new("1", "", 0.0), Value::new("0", "", 0.0)]),
        Component::new(
            "a",
            &[Value::new("new", "", 0.0), Value::new("0", "", 0.0), Value::new("one", "", 0.2)],
        ),
    ],
    signals: &["s"],
    blocks: &[Block::main(1), Block::main(0)],
    contrasts: &[Contrast::new("a1_over_a0", &[1, 2], &[1, 1]).when(None, &[0.5])],
    ..Definition::EMPTY
});

const RENAMES: &[Rename<'static>] = &[Rename::value("a=1", "a=one")];

/// A region with room for both.
fn layout<F: embedded_storage_async::nor_flash::NorFlash>(journal: u32) -> Layout {
    let (page, snapshot) =
        (u32::try_from(F::ERASE_SIZE).unwrap(), max_len::<f32>(&NEXT, R).max(max_len::<f32>(&TINY, R)));
    let Err(LayoutError::TooSmall { needed }) = Layout::try_new::<F>(0, 0, snapshot) else {
        panic!("no flash is too small")
    };
    Layout::try_new::<F>(0, needed + (journal - 2) * page, snapshot).unwrap()
}

/// What the new firmware does when it starts.
fn boot<const W: usize, const P: usize>(
    flash: Mock<W, P>,
    layout: Layout,
    [old, new]: [&Policy<'static, f32>; 2],
) -> (FlashStore<Mock<W, P>>, Known, Result<bool, FlashError>) {
    let (mut store, mut learner, mut before) = (FlashStore::new(flash, layout), vacant(new), vacant(old));
    let length = old.catalog().workspace_len().max(new.catalog().workspace_len());
    let mut workspace = Workspace::from_storage(vec![0.0; length]);
    let started = match block_on(store.restore(new, &mut learner, &mut workspace)) {
        Err(FlashError::Record(RecordError::Catalog | RecordError::Policy)) => {
            let migration = Migration::new(old, new, RENAMES).unwrap();
            block_on(store.migrate(&migration, &mut before, &mut learner, &mut workspace)).map(
                |(restored, _)| {
                    assert!(!restored.rolled_back);
                    true
                },
            )
        }
        restored => restored.map(|_| false),
    };
    (store, learner, started)
}

/// The state that a life of the old catalog is migrated to.
fn migrated(life: &Life, state: &[u8], new: &Policy<'static, f32>) -> Vec<u8> {
    let (mut before, mut after) = (vacant(&life.policy), vacant(new));
    before.restore(&life.policy, state).unwrap();
    let migration = Migration::new(&life.policy, new, RENAMES).unwrap();
    migration.carry(&mut before, &mut after, &mut vec![0.0; migration.workspace_len()]).unwrap();
    bytes(&after)
}

/// Cuts at every so many bytes of a migration after so many steps of a life.
fn cut<const W: usize, const P: usize>(life: &Life, step: usize, strict: bool, stride: u64) -> [u64; 3] {
    let (layout, new) = (layout::<Mock<W, P>>(2), policy(&NEXT));
    let flash = Mock::<W, P>::new(layout.region().len() / P);
    let flash = if strict { flash.strict() } else { flash };
    let (mut store, mut learner, mut workspace) = common::begin(flash, layout, &life.policy);
    for step in 0..step {
        life.perform(&mut store, &mut learner, &mut workspace, step).unwrap();
    }
    let flash = store.into_flash();
    let (before, after) = (&life.states[step], migrated(life, &life.states[step], &new));
    let (mut cuts, mut old, mut done) = (0, 0, 0);
    for at in (step as u64 % stride..).step_by(usize::try_from(stride).unwrap()) {
        let mut flash = flash.clone();
        flash.seed(at.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ step as u64);
        flash.cut_after(at);
        let (store, learner, started) = boot(flash, layout, [&life.policy, &new]);
        let mut flash = store.into_flash();
        if !flash.power_on() {
            assert_eq!((started, bytes(&learner)), (Ok(true), after.clone()));
            return [cuts, old, done];
        }
        cuts += 1;
        // Either version's user, never neither.
        let (mut store, mut learner) = (FlashStore::new(flash.clone(), layout), vacant(&life.policy));
        match block_on(store.restore(&life.policy, &mut learner, &mut scratch(&life.policy))) {
            Ok(restored) => {
                assert!(!restored.rolled_back);
                assert_eq!(&bytes(&learner), before);
                old += 1;
            }
            Err(error) => {
                assert_eq!(error, FlashError::Record(RecordError::Catalog), "cut {at}");
                let (mut store, mut learner) = (FlashStore::new(flash.clone(), layout), vacant(&new));
                block_on(store.restore(&new, &mut learner, &mut scratch(&new))).unwrap();
                assert_eq!(bytes(&learner), after);
                done += 1;
            }
        }
        // The next start finishes, through one more cut.
        flash.cut_after(at / 2 % 977);
        let (store, ..) = boot(flash, layout, [&life.policy, &new]);
        flash = store.into_flash();
        flash.power_on();
        let (mut store, mut learner, started) = boot(flash, layout, [&life.policy, &new]);
        assert!(started.is_ok(), "{started:?}");
        assert_eq!(bytes(&learner), after, "cut {at}");
        // And the user lives on.
        let mut workspace = scratch(&new);
        for round in 0..3 {
            let mut device = Device::new(learner.bind(&new, &mut workspace).unwrap(), &mut store);
            let context = Context::new(&NEXT, None, &[0.25]).unwrap();
            let all = Feasible::all(&NEXT);
            block_on(device.run_async(&mut Command::decide(Request::new(&context, &all).at(round)))).unwrap();
            block_on(device.run_async(&mut Command::observe(&context, Action(2), 0.5))).unwrap();
        }
        let (_, again, started) = boot(store.into_flash(), layout, [&life.policy, &new]);
        assert_eq!((started, again), (Ok(false), learner));
    }
    [cuts, old, done]
}

#[test]
fn either_versions_user_is_there_after_a_cut_at_any_byte() {
    let life = Life::new(&TINY, 120, usize::MAX, 70, 90);
    let stride = if long() { 1 } else { 13 };
    let mut sum = [0; 3];
    // Nothing but a begin record; a journal; a snapshot and a journal; just staged; just forgotten.
    for step in [0, 1, 9, 45, 71, 91, 120] {
        for strict in [false, true] {
            for [cuts, old, new] in [
                cut::<1, 1024>(&life, step, strict, stride),
                cut::<4, 1024>(&life, step, strict, stride),
                cut::<8, 2048>(&life, step, strict, stride),
            ] {
                assert!(old > 0 && new > 0, "step {step}: {cuts} cuts, {old} old, {new} new");
                sum = [sum[0] + cuts, sum[1] + old, sum[2] + new];
            }
        }
    }
    println!("{} cuts, {} times the old user was there, {} times the new one", sum[0], sum[1], sum[2]);
    assert!(sum[0] > if long() { 20_000 } else { 1_500 }, "{sum:?}");
}

/// The device of a life that is begun with `start`, whose seed is drawn: only the store knows it.
#[test]
fn firmware_that_begins_with_start_takes_its_user_along() {
    type Flash = Mock<4, 1024>;
    const PAGE: u32 = 1024;
    let start = |flash: Flash, from: bool, catalog: &'static Catalog<'static>| {
        let region = layout::<Flash>(2).region();
        let layout =
            Layout::try_new::<Flash>(PAGE, region.len().try_into().unwrap(), max_len::<f32>(&NEXT, R))
                .unwrap();
        let (mut store, shape) = (FlashStore::new(flash, layout), policy(catalog));
        let (mut then, mut learner) = (vacant(&policy(&TINY)), vacant(&shape));
        let mut workspace =
            Workspace::from_storage(vec![0.0; TINY.workspace_len().max(NEXT.workspace_len())]);
        let mut numbers = [0x5eed, USER].into_iter();
        let (settings, draw) = (Settings::default(), || numbers.next());
        let started = if from {
            let before = PreviousFirmware { catalog: &TINY, settings, renames: RENAMES, learner: &mut then };
            block_on(store.start_from(before, catalog, settings, &mut learner, &mut workspace, draw))
        } else {
            block_on(store.start(catalog, settings, &mut learner, &mut workspace, draw))
                .map(|policy| (policy, None))
        };
        assert!(then.state().is_empty());
        (store, learner, started)
    };
    let blank = || Flash::new(1 + layout::<Flash>(2).region().len() / 1024);

    // A blank region becomes an installation of the new catalog.
    let (_, learner, started) = start(blank(), true, &NEXT);
    assert_eq!((started.unwrap().1, learner.state().user()), (None, USER));

    let (mut store, mut learner, started) = start(blank(), false, &TINY);
    let (old, _) = started.unwrap();
    assert_eq!(old.settings().seed, 0x5eed);
    let mut workspace = scratch(&old);
    let mut device = Device::new(learner.bind(&old, &mut workspace).unwrap(), &mut store);
    for round in 0..20 {
        let context = Context::new(&TINY, None, &[0.25]).unwrap();
        block_on(
            device.run_async(&mut Command::decide(Request::new(&context, &Feasible::all(&TINY)).at(round))),
        )
        .unwrap();
        block_on(device.run_async(&mut Command::observe(&context, Action(2), 0.5))).unwrap();
    }
    let flash = store.into_flash();
    let new = Policy::new(&NEXT, *old.settings()).unwrap();
    let mut expected = vacant(&new);
    let migration = Migration::new(&old, &new, RENAMES).unwrap();
    migration.carry(&mut learner, &mut expected, &mut vec![0.0; migration.workspace_len()]).unwrap();

    // Without it the new firmware does not start, and leaves everything as it is.
    let (store, _, started) = start(flash.clone(), false, &NEXT);
    assert_eq!(started.map(drop), Err(StartError::Store(FlashError::Record(RecordError::Catalog))));
    assert_eq!(store.into_flash().bytes(), flash.bytes());

    let (mut cuts, mut at) = (0, 0);
    loop {
        let mut flash = flash.clone();
        flash.cut_after(at);
        let (store, mut learner, mut started) = start(flash, true, &NEXT);
        flash = store.into_flash();
        let cut = flash.power_on();
        if cut {
            cuts += 1;
            let store;
            (store, learner, started) = start(flash, true, &NEXT);
            flash = store.into_flash();
        }
        let (policy, migrated) = started.unwrap();
        assert_eq!(
            (policy.fingerprint(), bytes(&learner)),
            (new.fingerprint(), bytes(&expected)),
            "cut {at}"
        );
        assert!(cut || migrated.is_some());
        // From now on it is a start like any other.
        for from in [true, false] {
            let (store, again, started) = start(flash, from, &NEXT);
            assert_eq!((started.unwrap().1, bytes(&again)), (None, bytes(&expected)));
            flash = store.into_flash();
        }
        if !cut {
            break;
        }
        at += 5;
    }
    assert!(cuts > 50, "{cuts}");

    // The seed is lost: nothing can be said about the user.
    let mut flash = flash;
    block_on(embedded_storage_async::nor_flash::NorFlash::erase(&mut flash, 0, PAGE)).unwrap();
    assert_eq!(start(flash, true, &NEXT).2.map(drop), Err(StartError::SeedLost));
}

#[test]
fn another_catalog_is_told_from_another_layout_other_settings_and_damage() {
    type Flash = Mock<4, 1024>;
    let (layout, old, new) = (layout::<Flash>(2), policy(&TINY), policy(&NEXT));
    let flash = Flash::new(layout.region().len() / 1024);
    let (mut store, mut learner, mut workspace) = common::begin(flash, layout, &old);
    let restore = |flash: &Flash, layout: Layout, policy: &Policy<'static, f32>| {
        let (mut store, mut learner) = (FlashStore::new(flash.clone(), layout), vacant(policy));
        let restored = block_on(store.restore(policy, &mut learner, &mut scratch(policy)));
        assert_eq!(restored.is_err(), learner.state().is_empty());
        restored.map(|_| ())
    };
    let noisy = Policy::new(&TINY, Settings { noise_variance: 1.0, ..*old.settings() }).unwrap();
    let dear = Policy::new(&TINY, Settings { cost_weight: 2.0, ..*old.settings() }).unwrap();
    let other = Layout::try_new::<Flash>(0, 16 * 1024, 3000).unwrap();
    for compacted in [false, true] {
        if compacted {
            block_on(store.compact(&learner.bind(&old, &mut workspace).unwrap())).unwrap();
        }
        let flash = store.flash().clone();
        assert_eq!(restore(&flash, layout, &old), Ok(()));
        assert_eq!(restore(&flash, layout, &dear), Ok(())); // costs may change
        assert_eq!(restore(&flash, layout, &new), Err(FlashError::Record(RecordError::Catalog)));
        assert_eq!(restore(&flash, layout, &noisy), Err(FlashError::Record(RecordError::Policy)));
        let mut larger = Flash::new(16);
        block_on(embedded_storage_async::nor_flash::NorFlash::write(&mut larger, 0, flash.bytes())).unwrap();
        assert_eq!(restore(&larger, other, &old), Err(FlashError::Layout));
        let told = |error: FlashError| error.to_string();
        assert_eq!(told(FlashError::Record(RecordError::Catalog)), "the record belongs to another catalog");
    }
    // Slots without room for the new catalog: nothing is touched.
    let small = Layout::try_new::<Flash>(0, 16 * 1024, max_len::<f32>(&TINY, R)).unwrap();
    let (mut store, ..) = common::begin(Flash::new(16), small, &old);
    let before = store.flash().bytes().to_vec();
    let wide = policy(&TAU2);
    let migration = Migration::new(&old, &wide, &[]).unwrap();
    let mut learners = (vacant(&old), vacant(&wide));
    let refused = block_on(store.migrate(&migration, &mut learners.0, &mut learners.1, &mut scratch(&wide)));
    assert!(matches!(refused, Err(FlashError::SlotTooSmall { .. })), "{refused:?}");
    assert_eq!(store.flash().bytes(), before);
}

#[test]
fn a_prior_of_the_old_catalog_does_not_go_along() {
    type Flash = Mock<4, 1024>;
    let (snapshot, prior) = (
        max_len::<f32>(&NEXT, R).max(max_len::<f32>(&TINY, R)),
        prior_len::<f32>(&NEXT).max(prior_len::<f32>(&TINY)),
    );
    let layout = Layout::try_with_prior::<Flash>(0, 24 * 1024, snapshot, prior).unwrap();
    let (base, new) = (policy(&TINY), policy(&NEXT));
    let mut packed = vec![0.0; TINY.layout().packed_len()];
    packed[..TINY.dimension()].fill(0.25);
    let factor = Factor::new(TINY.layout(), &packed, &mut vec![0.0; TINY.workspace_len()]).unwrap();
    let informed = Policy::with_prior(&TINY, *base.settings(), Prior::Factor(factor)).unwrap();
    let record = encode_prior(&informed).unwrap();
    for began in [false, true] {
        let (mut store, mut learner, mut workspace) =
            (FlashStore::<_, true>::from_flash(Flash::new(24), layout), vacant(&base), scratch(&base));
        block_on(store.format(&base, USER, 4)).unwrap();
        block_on(store.restore(&base, &mut learner, &mut workspace)).unwrap();
        block_on(store.stage_write(0, &record)).unwrap();
        block_on(store.commit_prior(&base, u32::try_from(record.len()).unwrap())).unwrap();
        let old = if began { &informed } else { &base };
        if began {
            block_on(store.adopt(&informed, &mut learner, &mut workspace)).unwrap();
        }
        let flash = store.into_flash();
        let length = flash.bytes().len();
        for at in (0..4 * length as u64).step_by(101) {
            let mut flash = flash.clone();
            flash.cut_after(at);
            for powered in [false, true] {
                let (mut store, mut learner, mut before) =
                    (FlashStore::<_, true>::from_flash(flash, layout), vacant(&new), vacant(old));
                let restored = block_on(store.restore(&new, &mut learner, &mut scratch(&new)));
                let started = match restored {
                    Err(FlashError::Record(RecordError::Catalog)) => {
                        let migration = Migration::new(old, &new, RENAMES).unwrap();
                        block_on(store.migrate(&migration, &mut before, &mut learner, &mut scratch(&new)))
                            .map(drop)
                    }
                    restored => restored.map(drop),
                };
                if powered {
                    assert_eq!(started, Ok(()), "cut {at}");
                    // The new policy's own prior, now and after forgetting.
                    assert_eq!(block_on(store.prior(&new)).unwrap(), None);
                    assert_eq!(block_on(store.next_prior(&new)).unwrap(), None);
                    assert!(!AsyncUserStore::outdated(&store));
                    assert_eq!(learner.state().user(), USER);
                }
                flash = store.into_flash();
                flash.power_on();
            }
        }
    }
}
