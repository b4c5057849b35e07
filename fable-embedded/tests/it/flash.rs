//! The flash store apart from power cuts: refusals, damage, forgetting, and the data that a host can read.

use crate::common::{
    Known, Life, R, Step, TINY, USER, begin, bytes, layout, policy, probing, remembers, scratch, vacant,
};
use fable_core::catalog::{AGENT, Contrast, TAU2};
use fable_core::journal::{Command, Event};
use fable_core::preference::{Probe, Probes};
use fable_core::record::snapshot::max_len;
use fable_core::record::{HEADER_LEN, MAX_EVENT_LEN, RecordError, checksum, decode_event, encode_event};
use fable_core::{Action, Context, Learner, Policy, Settings, User, UserError, Workspace, user_hash};
use fable_embedded::flash::{Blocking, FlashError, FlashStore, Layout, LayoutError, Restored, block_on};
use fable_embedded::mock::{Mock, MockError};
use fable_embedded::{AsyncUserStore, Device, UserStore};

type Flash = Mock<4, 1024>;

fn restore(flash: Flash, policy: &Policy<'_, f32>) -> Result<(FlashStore<Flash>, Known), FlashError> {
    look(flash, policy).map(|(store, learner, _)| (store, learner))
}

fn look(flash: Flash, policy: &Policy<'_, f32>) -> Result<(FlashStore<Flash>, Known, Restored), FlashError> {
    let (mut store, mut learner) =
        (FlashStore::new(flash, layout::<Flash>(policy.catalog(), 2)), vacant(policy));
    let restored = block_on(store.restore(policy, &mut learner, &mut scratch(policy)))?;
    Ok((store, learner, restored))
}

/// A store after the first steps of a life.
fn after(life: &Life, steps: usize) -> (FlashStore<Flash>, Known) {
    let (mut store, mut learner, mut workspace) =
        begin(Flash::new(4), layout::<Flash>(life.policy.catalog(), 2), &life.policy);
    for step in 0..steps {
        life.perform(&mut store, &mut learner, &mut workspace, step).unwrap();
    }
    (store, learner)
}

fn plain(steps: usize) -> Life {
    Life::new(&TINY, steps, usize::MAX, usize::MAX, usize::MAX)
}

#[test]
fn a_region_must_be_whole_pages_and_large_enough() {
    let snapshot = max_len::<f32>(&TAU2, 8);
    assert_eq!(
        Layout::try_new::<Flash>(0, 7 * 1024, snapshot),
        Err(LayoutError::TooSmall { needed: 8 * 1024 })
    );
    assert_eq!(Layout::try_new::<Flash>(0, 0, snapshot), Err(LayoutError::TooSmall { needed: 8 * 1024 }));
    assert!(Layout::try_new::<Flash>(0, 8 * 1024, snapshot).is_ok());
    assert_eq!(Layout::try_new::<Flash>(512, 8 * 1024, snapshot), Err(LayoutError::Misaligned));
    assert_eq!(Layout::try_new::<Flash>(0, 8 * 1024 + 4, snapshot), Err(LayoutError::Misaligned));
    assert_eq!(Layout::try_new::<Mock<4, 512>>(0, 64 * 1024, snapshot), Err(LayoutError::Geometry));
    assert_eq!(Layout::try_new::<Mock<64, 1024>>(0, 64 * 1024, snapshot), Err(LayoutError::Geometry));
    let sectors = Layout::try_new::<Mock<4, 262_144>>(1 << 20, 1 << 20, max_len::<f32>(&AGENT, 8)).unwrap();
    assert_eq!((sectors.journal(), sectors.slot(1)), (0x10_0000..0x18_0000, 0x1c_0000..0x20_0000));
    assert!(LayoutError::TooSmall { needed: 8192 }.to_string().contains("8192 bytes"));
}

#[test]
fn a_blank_or_foreign_region_is_told_apart_and_left_alone() {
    let policy = policy(&TINY);
    assert_eq!(restore(Flash::new(4), &policy).err(), Some(FlashError::Unformatted));
    for fill in [0, 0x5a] {
        let mut flash = Flash::new(4);
        flash.bytes_mut().fill(fill);
        let mut store = FlashStore::new(flash, layout::<Flash>(&TINY, 2));
        let restored = block_on(store.restore(&policy, &mut vacant(&policy), &mut scratch(&policy)));
        assert_eq!(restored.err(), Some(FlashError::Foreign));
        assert!(store.flash().bytes().iter().all(|byte| *byte == fill) && store.flash().erases() == [0; 4]);
        let append = block_on(store.append(&Event::Forget { guarantee_fingerprint: 0 }));
        assert_eq!(
            (append, block_on(store.read_event(0, &mut [0]))),
            (Err(FlashError::Closed), Err(FlashError::Closed))
        );
    }
}

#[test]
fn records_of_others_are_refused() {
    let life = plain(100);
    for steps in [1, 100] {
        let flash = after(&life, steps).0.into_flash();
        let other =
            Policy::<f32>::new(&TINY, Settings { seed: 7, noise_variance: 0.3, ..Settings::default() })
                .unwrap();
        let expected = FlashError::Record(RecordError::Policy);
        assert_eq!(restore(flash.clone(), &other).err(), Some(expected));

        let wide = Policy::<f64>::new(&TINY, Settings { seed: 7, ..Settings::default() }).unwrap();
        let mut learner = Learner::<f64, Vec<f64>, R>::from_storage(vec![0.0; TINY.state_len()]);
        let mut workspace = Workspace::from_storage(vec![0.0; TINY.workspace_len()]);
        let mut store = FlashStore::new(flash.clone(), layout::<Flash>(&TINY, 2));
        let restored = block_on(store.restore(&wide, &mut learner, &mut workspace));
        assert_eq!(restored, Err(FlashError::Record(RecordError::Scalar { found: 24 })));

        let larger = Layout::try_new::<Flash>(0, 6 * 1024, 1500).unwrap();
        let mut flash = flash;
        let mut pages = Flash::new(6);
        pages.bytes_mut()[..4096].copy_from_slice(flash.bytes());
        let mut store = FlashStore::new(pages, larger);
        let restored =
            block_on(store.restore(&life.policy, &mut vacant(&life.policy), &mut scratch(&life.policy)));
        assert_eq!(restored, Err(FlashError::Layout));

        // The header of the first record, 16 bytes into it, with a later version.
        let at = flash.bytes().windows(4).position(|window| window == b"FABJ").unwrap();
        let header = &mut flash.bytes_mut()[at..at + HEADER_LEN];
        header[4] = 9;
        let sum = checksum(&header[..28]).to_le_bytes();
        header[28..].copy_from_slice(&sum);
        if steps == 1 {
            let expected = FlashError::Record(RecordError::Version { found: 9 });
            assert_eq!(restore(flash, &life.policy).err(), Some(expected));
        }
    }
}

#[test]
fn a_refused_event_changes_nothing() {
    let life = plain(10);
    let (mut store, mut learner) = after(&life, 10);
    let (state, region, mut workspace) =
        (bytes(&learner), store.flash().bytes().to_vec(), scratch(&life.policy));
    let event = Event::Feedback { round: 99, reward: 0.5, weight: 1.0 };
    let user = learner.bind(&life.policy, &mut workspace).unwrap();
    let refused = block_on(Device::new(user, &mut store).run_async(&mut Command::event(event)));
    assert_eq!(refused.err(), Some(FlashError::User(UserError::UnknownDecision)));
    assert_eq!((bytes(&learner), store.flash().bytes()), (state, &region[..]));
}

/// Compactions, slots by turns, even wear.
#[test]
fn slots_alternate_and_the_journal_wears_evenly() {
    let life = plain(600);
    let (mut store, _) = after(&life, 600);
    let statistics = store.statistics();
    assert!(statistics.generation >= 8 && statistics.events > 0, "{statistics:?}");
    let erases = store.flash().erases().to_vec();
    assert!(erases[0] == erases[1] && erases[2].abs_diff(erases[3]) <= 1, "{erases:?}");
    assert!(erases[2] <= erases[0] / 2 + 1, "{erases:?}");
    assert_eq!(statistics.erases, erases.iter().sum::<u32>());
    let (store, learner) = restore(store.into_flash(), &life.policy).unwrap();
    assert_eq!(bytes(&learner), life.states[600]);
    assert!(store.statistics().erases.abs_diff(statistics.erases) <= 1);
    assert_eq!(store.statistics().generation, statistics.generation);

    // What the layout promises is what the journal holds.
    let promised = store.layout().interactions(&TINY, 0);
    assert!(promised > 20 && 600 / statistics.generation >= promised, "{promised}");
}

#[test]
fn after_forgetting_nothing_is_readable() {
    for forget in [3, 40, 130] {
        let life = Life::new(&TINY, forget + 2, usize::MAX, usize::MAX, forget);
        let (mut store, learner) = after(&life, forget);
        assert!(remembers(store.flash().bytes(), &life, forget + 1), "the search finds what is there");
        let (mut learner, mut workspace) = (learner, scratch(&life.policy));
        let user = learner.bind(&life.policy, &mut workspace).unwrap();
        block_on(Device::new(user, &mut store).forget_async()).unwrap();
        assert_eq!((learner.state().incarnation(), learner.state().observations()), (1, 0));
        assert!(!remembers(store.flash().bytes(), &life, forget + 1));
        let flash = store.into_flash();
        assert!(flash.bytes()[3072..] == [0xff; 1024] || flash.bytes()[2048..3072] == [0xff; 1024]);
        let (_, again) = restore(flash, &life.policy).unwrap();
        assert_eq!(again, learner);
    }
}

/// Every single bit of the region, at moments with and without a snapshot: an exact state, or an error.
#[test]
fn a_flipped_bit_is_never_used() {
    let life = plain(130);
    let stride = if std::env::var_os("FABLE_LONG").is_some() { 1 } else { 3 };
    for steps in [0, 1, 20, 50, 75, 130] {
        let flash = after(&life, steps).0.into_flash();
        assert!(!look(flash.clone(), &life.policy).unwrap().2.torn);
        let before = (steps > 0).then(|| after(&life, steps - 1).0.into_flash());
        let (mut refused, mut shorter) = (0, 0);
        for bit in (steps % stride..flash.bytes().len() * 8).step_by(stride) {
            let mut damaged = flash.clone();
            damaged.bytes_mut()[bit / 8] ^= 1 << (bit % 8);
            match look(damaged, &life.policy) {
                Ok((_, learner, _)) if bytes(&learner) == life.states[steps] => {}
                Ok((_, learner, restored)) => {
                    assert!(restored.torn, "a lost event is noticed: bit {bit} after {steps} steps");
                    assert_eq!(bytes(&learner), life.states[steps - 1], "bit {bit} after {steps} steps");
                    let changed = before
                        .as_ref()
                        .is_some_and(|before| before.bytes()[bit / 8] != flash.bytes()[bit / 8]);
                    let padding = flash.bytes()[bit / 8] == 0xff;
                    assert!(
                        changed || padding,
                        "only the last event can look like one that was cut short: byte {}",
                        bit / 8
                    );
                    shorter += 1;
                }
                Err(FlashError::Damaged | FlashError::Foreign | FlashError::Record(_)) => refused += 1,
                Err(error) => panic!("{error}"),
            }
        }
        println!("after {steps} steps: {refused} refused, {shorter} without the last event");
        assert!(refused > 0 || steps == 0);
    }
}

/// The queue erases a page with invalid marks, including its events. A read-only look at the region must not
/// erase.
#[test]
fn a_page_with_damaged_marks_is_refused_and_left_alone() {
    let life = plain(20);
    let mut damaged = after(&life, 20).0.into_flash();
    damaged.bytes_mut()[..4].fill(0xff); // not begun
    damaged.bytes_mut()[1023] = 0; // but full
    let (mut store, mut learner) =
        (FlashStore::new(damaged.clone(), layout::<Flash>(&TINY, 2)), vacant(&life.policy));
    for _ in 0..2 {
        let restored = block_on(store.restore(&life.policy, &mut learner, &mut scratch(&life.policy)));
        assert_eq!(restored, Err(FlashError::Damaged));
        assert!(store.flash().bytes() == damaged.bytes());
    }
}

/// Damage to the journal that leaves all of the state readable does not get in the way of the next events.
#[test]
fn a_journal_with_damage_beside_its_events_is_replaced() {
    let life = plain(30);
    let damages: [(usize, &[(usize, u8)]); 2] = [
        (20, &[(1027, 0), (1028, 0), (1029, 10), (1030, 10)]), // a page that is not in use looks begun
        (0, &[(1023, 0), (4, 0xdf)]), // nothing that the queue would keep stands in the first page, which looks full
    ];
    for (steps, damage) in damages {
        let mut flash = after(&life, steps).0.into_flash();
        for (at, byte) in damage {
            flash.bytes_mut()[*at] = *byte;
        }
        let (mut store, mut learner) = restore(flash, &life.policy).unwrap();
        assert_eq!(bytes(&learner), life.states[steps]);
        for step in steps..30 {
            life.perform(&mut store, &mut learner, &mut scratch(&life.policy), step).unwrap();
            (store, learner) = restore(store.into_flash(), &life.policy).unwrap();
            assert_eq!(bytes(&learner), life.states[step + 1]);
        }
    }
}

#[test]
fn a_host_reads_the_state_and_replays_it() {
    let life = plain(100);
    let (mut store, mut learner) = after(&life, 100);
    let (mut host, mut workspace) = (vacant(&life.policy), scratch(&life.policy));
    let user = learner.bind(&life.policy, &mut workspace).unwrap();
    let mut pieces = [50, 1, 256, 700].map(|length| {
        let (mut snapshot, mut chunk) = (vec![], vec![0; length]);
        while let read @ 1.. =
            block_on(store.read_snapshot(&user, u32::try_from(snapshot.len()).unwrap(), &mut chunk)).unwrap()
        {
            snapshot.extend_from_slice(&chunk[..read]);
        }
        snapshot
    });
    let snapshot = std::mem::take(&mut pieces[0]);
    assert!(pieces[1..].iter().all(|other| *other == snapshot));
    host.restore(&life.policy, &snapshot).unwrap();

    let (mut events, mut from) = (vec![], 0);
    loop {
        let before = events.len();
        let mut frame = 0;
        block_on(store.read_events(from, |sequence, event| {
            frame += 1;
            if frame <= 7 {
                events.push(event.to_vec());
                from = sequence + 1;
            }
            frame < 7
        }))
        .unwrap();
        if events.len() == before {
            break;
        }
    }
    assert_eq!(events.len(), store.statistics().events as usize);
    let mut user = host.bind(&life.policy, &mut workspace).unwrap();
    for (index, event) in events.iter().enumerate() {
        let mut one = [0; MAX_EVENT_LEN];
        let length = block_on(store.read_event(u32::try_from(index).unwrap(), &mut one)).unwrap().unwrap();
        assert_eq!(one[..length], event[..]);
        let event = decode_event(&TINY, event).unwrap();
        user.check(&event).unwrap().apply();
    }
    let end = u32::try_from(events.len()).unwrap();
    assert_eq!(block_on(store.read_event(end, &mut [0; MAX_EVENT_LEN])), Ok(None));
    assert_eq!(host, learner);
    assert_eq!(store.header().map(|header| header.user), Some(USER));
}

#[test]
fn a_staged_snapshot_is_verified_before_it_counts() {
    let life = Life::new(&TINY, 60, usize::MAX, 50, usize::MAX);
    let Step::Stage(snapshot) = &life.steps[50] else { panic!("staged") };
    let (mut store, mut learner) = after(&life, 50);
    let commit = |store: &mut FlashStore<Flash>, learner: &mut Known, length: usize| {
        let mut workspace = scratch(&life.policy);
        let mut user = learner.bind(&life.policy, &mut workspace).unwrap();
        block_on(store.stage_commit(&mut user, u32::try_from(length).unwrap()))
    };
    let expect =
        |store: &mut FlashStore<Flash>, learner: &mut Known, bytes_staged: &[u8], error: FlashError| {
            block_on(store.stage_write(0, bytes_staged)).unwrap();
            assert_eq!(commit(store, learner, bytes_staged.len()), Err(error));
            assert_eq!(bytes(learner), life.states[50]);
            assert_eq!(bytes(&restore(store.flash().clone(), &life.policy).unwrap().1), life.states[50]);
        };
    expect(
        &mut store,
        &mut learner,
        &snapshot[..snapshot.len() - 1],
        FlashError::Record(RecordError::Truncated),
    );
    let mut wrong = snapshot.clone();
    wrong[150] ^= 4;
    block_on(store.stage_write(0, &wrong)).unwrap();
    assert_eq!(
        commit(&mut store, &mut learner, 5),
        Err(FlashError::Offset { expected: u32::try_from(wrong.len()).unwrap() })
    );
    assert!(matches!(commit(&mut store, &mut learner, wrong.len()), Err(FlashError::Record(_))));
    let mut other = vacant(&life.policy);
    other.start(&life.policy, user_hash("eve")).unwrap();
    expect(&mut store, &mut learner, &bytes(&other), FlashError::ForeignUser);

    assert_eq!(commit(&mut store, &mut learner, snapshot.len()), Err(FlashError::Offset { expected: 0 }));
    block_on(store.stage_write(0, &snapshot[..10])).unwrap();
    assert_eq!(block_on(store.stage_write(4, &[0])), Err(FlashError::Offset { expected: 10 }));
    assert_eq!(block_on(store.stage_write(10, &[0; 5000])), Err(FlashError::Record(RecordError::TooLong)));

    life.perform(&mut store, &mut learner, &mut scratch(&life.policy), 50).unwrap();
    assert_eq!(bytes(&learner), life.states[51]);
    let (_, again) = restore(store.into_flash(), &life.policy).unwrap();
    assert_eq!(again, learner);
}

/// Every device with flash refused `fable device join`: a new device has a site number of its own, which
/// could not be changed.
#[test]
fn a_device_with_which_nothing_has_happened_becomes_a_place_of_somebody() {
    let life = plain(2);
    let (mut store, mut learner) = after(&life, 0);
    let mut workspace = scratch(&life.policy);
    let staged = |name: &str, store: &mut FlashStore<Flash>, user: &mut User<'_, f32>| {
        let mut other = vacant(&life.policy);
        other.start(&life.policy, user_hash(name)).unwrap();
        let snapshot = bytes(&other);
        block_on(store.stage_write(0, &snapshot)).unwrap();
        block_on(store.stage_commit(user, u32::try_from(snapshot.len()).unwrap()))
    };
    for name in ["eve", "ana"] {
        assert_eq!(
            staged(name, &mut store, &mut learner.bind(&life.policy, &mut workspace).unwrap()),
            Ok(())
        );
        assert_eq!(
            (learner.state().user(), store.header().unwrap().user),
            (user_hash(name), user_hash(name))
        );
        let (again, restored) = restore(store.flash().clone(), &life.policy).unwrap();
        assert_eq!(
            (restored.state().user(), again.header().unwrap().user),
            (user_hash(name), user_hash(name))
        );
    }
    life.perform(&mut store, &mut learner, &mut workspace, 0).unwrap();
    let refused = staged("eve", &mut store, &mut learner.bind(&life.policy, &mut workspace).unwrap());
    assert_eq!((refused, learner.state().user()), (Err(FlashError::ForeignUser), user_hash("ana")));
}

#[test]
fn a_flash_that_cannot_be_read_is_an_error() {
    let life = plain(50);
    let (store, _) = after(&life, 50);
    let mut flash = store.into_flash();
    flash.fail_reads(true);
    assert!(matches!(restore(flash.clone(), &life.policy), Err(FlashError::Driver(_))));
    flash.fail_reads(false);
    assert_eq!(bytes(&restore(flash, &life.policy).unwrap().1), life.states[50]);
    assert_eq!(MockError::Read.to_string(), "the read failed");
}

/// The longest snapshot is as long as the constant says.
#[test]
fn snapshots_are_as_long_as_promised() {
    let life = Life::tau2(200);
    let longest = life.states.iter().map(Vec::len).max().unwrap();
    assert!(longest <= max_len::<f32>(&TAU2, R), "{longest}");
    // Nothing was promoted in this history. Two lists with lengths above 127 take one byte more each. The
    // counters of surprise leave three bytes unused.
    assert_eq!(max_len::<f32>(&TAU2, R) - longest, 4 * 25 + 4 + 3);
}

/// The numbers that stand in the documentation.
#[test]
fn lifetimes_are_those_of_the_documentation() {
    const MICROBIT: Layout = Layout::new::<Blocking<Mock<4, 1024>>>(0, 16 * 1024, max_len::<f32>(&TAU2, 8));
    const SECTORS: Layout = Layout::new::<Mock<4, 262_144>>(0, 1 << 20, max_len::<f32>(&AGENT, 8));
    let (microbit, sectors) =
        (MICROBIT.lifetime(&TAU2, 0, 10_000, 100), SECTORS.lifetime(&AGENT, 0, 100_000, 100));
    println!("tau2 in 16 pages of 1 KB: {} interactions, {microbit} years", MICROBIT.interactions(&TAU2, 0));
    println!(
        "agent in 4 sectors of 256 KB: {} interactions, {sectors} years",
        SECTORS.interactions(&AGENT, 0)
    );
    assert_eq!((microbit as u32, sectors as u32), (35, 16_295));
    // With a coin for every component of every decision.
    let (microbit, sectors) =
        (MICROBIT.lifetime(&TAU2, 3, 10_000, 100), SECTORS.lifetime(&AGENT, 3, 100_000, 100));
    println!("with coins {microbit} and {sectors} years");
    assert_eq!((microbit as u32, sectors as u32), (28, 13_787));
}

/// The longest event fits the layout: a decision with a coin for every component.
#[test]
fn the_longest_decision_is_stored() {
    let (policy, context) = (probing(&TAU2), Context::new(&TAU2, None, &[]).unwrap());
    let mut coins = Probes::new();
    for component in 0..TAU2.definition().components.len() {
        let of = |contrast: &Contrast<'_>| contrast.component() == Some(component);
        let place = TAU2.contrasts().iter().position(of);
        coins.extend(place.map(|place| Probe { contrast: u8::try_from(place).unwrap(), expected: -0.25 }));
    }
    assert_eq!(coins.len(), 3);
    let chosen = coins.iter().map(|coin| &TAU2.contrasts()[usize::from(coin.contrast)]);
    let mut values = TAU2.values(Action(0)).unwrap();
    chosen.for_each(|contrast| {
        values[contrast.component().unwrap()] = contrast.prefer[contrast.component().unwrap()];
    });
    let action = TAU2.action(&values).unwrap();
    let layout = layout::<Flash>(&TAU2, 2);
    let (mut store, mut learner, mut workspace) =
        begin(Flash::new(layout.region().len() / 1024), layout, &policy);
    let mut device = Device::new(learner.bind(&policy, &mut workspace).unwrap(), &mut store);
    let all = Event::Permissions(TAU2.all_actions());
    block_on(device.run_async(&mut Command::event(all))).unwrap();
    for round in 1..=200 {
        let event =
            Event::Decision { round, action, baseline: 0.5, context, time: u32::MAX, probes: coins.clone() };
        block_on(device.run_async(&mut Command::event(event))).unwrap();
    }
    assert_eq!(device.user().probe_outcomes(device.user().id(200)).count(), coins.len());
    let found = bytes(&learner);
    let (_, again) = restore(store.into_flash(), &policy).unwrap();
    assert_eq!(bytes(&again), found);
}

/// What a call takes on the stack beside the learner, the workspace and the store: these are the futures.
#[test]
fn futures_are_small() {
    let life = plain(2);
    let (mut store, mut learner) = after(&life, 2);
    let (policy, mut workspace) = (&life.policy, scratch(&life.policy));
    let Step::Event(event) = &life.steps[0] else { panic!("an event") };
    let mut command = Command::event(event.clone());
    let mut device = Device::new(learner.bind(policy, &mut workspace).unwrap(), &mut store);
    let run = size_of_val(&device.run_async(&mut command));
    let restore = size_of_val(&store.restore(policy, &mut learner, &mut workspace));
    println!("store {}, run {run}, restore {restore} bytes", size_of_val(&store));
    assert!(run <= 1_400 && restore <= 1_600, "{run} {restore}");
}

/// Both forms are one source text: after the same history and a restart, every byte of the flash is the same.
#[test]
fn both_forms_leave_the_same_bytes() {
    let life = Life::tau2(400);
    let layout = layout::<Flash>(life.policy.catalog(), 3);
    let new = || Flash::new(layout.region().len() / 1024);
    let (mut store, mut learner, mut workspace) = begin(new(), layout, &life.policy);
    let (mut blocking, mut other) = (FlashStore::new(Blocking(new()), layout), vacant(&life.policy));
    blocking.format(&life.policy, USER, 4).unwrap();
    blocking.restore(&life.policy, &mut other, &mut workspace).unwrap();
    for (index, step) in life.steps.iter().enumerate() {
        life.perform(&mut store, &mut learner, &mut workspace, index).unwrap();
        let mut user = other.bind(&life.policy, &mut workspace).unwrap();
        match step {
            Step::Event(event) => {
                Device::new(user, &mut blocking).run(&mut Command::event(event.clone())).unwrap();
            }
            Step::Compact => blocking.compact(&user).unwrap(),
            Step::Stage(snapshot) => {
                for (at, chunk) in (0..).step_by(37).zip(snapshot.chunks(37)) {
                    blocking.stage_write(at, chunk).unwrap();
                }
                blocking.stage_commit(&mut user, u32::try_from(snapshot.len()).unwrap()).unwrap();
            }
        }
        assert_eq!(store.flash().bytes(), blocking.flash().0.bytes(), "step {index}");
    }
    assert!(store.statistics().generation > 4, "{:?}", store.statistics());
    assert_eq!((store.statistics(), bytes(&learner)), (blocking.statistics(), bytes(&other)));

    let (mut store, mut blocking) =
        (FlashStore::new(store.into_flash(), layout), FlashStore::new(blocking.into_flash(), layout));
    let restored = block_on(store.restore(&life.policy, &mut learner, &mut workspace));
    assert_eq!(restored, blocking.restore(&life.policy, &mut other, &mut workspace));
    assert_eq!((bytes(&learner), bytes(&other)), (life.states[400].clone(), life.states[400].clone()));
}

/// A snapshot with only a start must not pass for the start when its commit record is damaged. Every snapshot
/// begins at a number of its own.
#[test]
fn a_lost_snapshot_is_noticed_without_any_event() {
    let life = Life::new(&TINY, 1, usize::MAX, 0, usize::MAX);
    let mut flash = after(&life, 1).0.into_flash();
    assert_ne!(life.states[0], life.states[1]);
    assert_eq!(bytes(&restore(flash.clone(), &life.policy).unwrap().1), life.states[1]);
    let commit = flash.bytes().windows(4).position(|window| window == b"FABC").unwrap();
    flash.bytes_mut()[commit + 9] ^= 1;
    assert_eq!(restore(flash, &life.policy).err(), Some(FlashError::Damaged));
}

/// The checksum of an item of sequential-storage.
fn item_checksum(item: &[u8]) -> u32 {
    let crc = !item.iter().fold(0xeeee_eeee_u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ if crc & 1 == 1 { 0x82f6_3b78 } else { 0 })
    });
    if matches!(crc & 0xff, 0 | 0xff) { crc ^ 1 } else { crc }
}

/// The checksum of the length of an item.
fn length_checksum(length: u16) -> u16 {
    !length.to_le_bytes().iter().fold(0xffff_u16, |crc, byte| {
        (0..8).fold(crc ^ u16::from(*byte), |crc, _| (crc >> 1) ^ if crc & 1 == 1 { 0x1a2e } else { 0 })
    })
}

/// After a torn word the queue can take the next item's checksum for a valid length and skip the item. An
/// acknowledged event would be lost, once in millions of cuts. So the first event after a restart is read
/// back.
#[test]
fn an_event_that_hides_behind_a_torn_word_is_stored_again() {
    let life = plain(5);
    let (store, mut learner) = after(&life, 5);
    let next = store.statistics().next;
    let mut flash = store.into_flash();
    let end = flash.bytes()[..1020].iter().rposition(|byte| *byte != 0xff).unwrap() / 4 * 4 + 4;
    flash.bytes_mut()[end..end + 4].copy_from_slice(&[0x12, 0x34, 0x56, 0x78]);

    let context = fable_core::Context::new(&TINY, None, &[0.5]).unwrap();
    let hides = |event: &Event| {
        let (mut buffer, mut item) = ([0; MAX_EVENT_LEN], next.to_le_bytes().to_vec());
        item.extend_from_slice(encode_event(event, &mut buffer).unwrap());
        let sum = item_checksum(&item);
        let (length, check) = (sum as u16, (sum >> 16) as u16);
        (40..300).contains(&length) && length_checksum(length) == check
    };
    let mut workspace = scratch(&life.policy);
    let mut user = learner.bind(&life.policy, &mut workspace).unwrap();
    let mut observe = |number: u32| {
        let mut command = Command::observe(&context, Action(1), f64::from(number) / f64::from(1 << 25));
        user.next(&mut command).unwrap().unwrap().event().clone()
    };
    let event = observe(2_580_313); // the first of 33 million
    assert!(hides(&event));
    let (mut store, mut learner, restored) = look(flash, &life.policy).unwrap();
    assert!(restored.torn && restored.generation == 0);
    let user = learner.bind(&life.policy, &mut workspace).unwrap();
    block_on(Device::new(user, &mut store).run_async(&mut Command::event(event))).unwrap();
    assert_eq!(store.statistics().generation, 1, "it did hide");
    assert_eq!(restore(store.into_flash(), &life.policy).unwrap().1, learner);
}

/// The reported free bytes shrink with every event, are the same after a restart, and are used up at the
/// compaction of the journal.
#[test]
fn the_free_room_is_what_is_left() {
    let life = plain(200);
    let (mut store, mut learner, mut workspace) =
        begin(Flash::new(4), layout::<Flash>(&TINY, 2), &life.policy);
    let all = store.statistics().free;
    let (mut least, mut compactions) = (all, 0);
    for step in 0..200 {
        let before = store.statistics();
        life.perform(&mut store, &mut learner, &mut workspace, step).unwrap();
        let after = store.statistics();
        if after.generation == before.generation {
            assert!(after.free < before.free && after.free > 0, "{before:?} {after:?}");
        } else {
            compactions += 1;
            assert!(before.free < 400 && after.free > all - 400, "{before:?} {after:?}"); // the longest event, and the ends of pages
        }
        least = least.min(after.free);
    }
    assert!(compactions > 2 && least < 400);
    let free = store.statistics().free;
    assert_eq!(restore(store.into_flash(), &life.policy).unwrap().0.statistics().free, free);
}
