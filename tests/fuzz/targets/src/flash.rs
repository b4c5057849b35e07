//! Any damage to a region of flash: it is refused or it opens. A region that is no store is left
//! alone.
//! An opened one goes on like any other, with the same state after every restart.

use fable_core::host::HostLearner;
use fable_core::record::{checksum, snapshot::max_len};
use fable_core::{Action, Feasible, Policy, Request, Settings, user_hash};
use fable_embedded::flash::{Blocking, FlashError, FlashStore, Layout};
use fable_embedded::{Device, UserStore, mock::Mock};
use fable_golden::{LAMP, LAMP_SNAPSHOT, RING};
use std::sync::LazyLock;

type Flash = Mock<4, PAGE>;
type Store = FlashStore<Blocking<Flash>>;
type Lamp = HostLearner<f32, RING>;
const PAGE: usize = 1024;
const SIZE: usize = 4 * PAGE;
const LAYOUT: Layout = Layout::new::<Blocking<Flash>>(0, SIZE as u32, max_len::<f32>(&LAMP, RING));

/// As in the golden record, with coins.
static POLICY: LazyLock<Policy<'static, f32>> = LazyLock::new(|| {
    let lax = Settings {
        alpha: 0.5,
        prior_radius: Some(0.0),
        min_evidence: 1,
        base_precision: Some(1.0),
        ..Settings::PAPER
    };
    Policy::new(&LAMP, Settings { probe: 1.0, ..lax }).unwrap()
});

/// Regions to damage: blank, formatted, with events, with events after the first snapshot and long
/// after it, and with the golden snapshot.
static REGIONS: LazyLock<[Vec<u8>; 6]> = LazyLock::new(|| {
    let lived = |rounds: usize, golden: bool| {
        let mut store = FlashStore::new(Blocking(Flash::new(4)), LAYOUT);
        store.format(&POLICY, user_hash("lamp"), RING as u16).unwrap();
        let (mut store, mut learner) = restart(store.into_flash()).unwrap();
        (0..rounds).for_each(|round| step(&mut store, &mut learner, round % 4).unwrap());
        if golden {
            let mut workspace = vec![0.0; LAMP.workspace_len()];
            store.stage_write(0, LAMP_SNAPSHOT).unwrap();
            store
                .stage_commit(&mut learner.bind(&POLICY, &mut workspace).unwrap(), LAMP_SNAPSHOT.len() as u32)
                .unwrap();
        }
        region(&mut store)
    };
    [vec![0xff; SIZE], lived(0, false), lived(3, false), lived(6, false), lived(60, false), lived(2, true)]
});

fn region(store: &mut Store) -> Vec<u8> {
    store.flash().0.bytes().to_vec()
}

fn restart(flash: Blocking<Flash>) -> Result<(Store, Lamp), (FlashError, Vec<u8>)> {
    let (mut store, mut learner) = (FlashStore::new(flash, LAYOUT), Lamp::for_policy(&POLICY));
    match store.restore(&POLICY, &mut learner, &mut vec![0.0; LAMP.workspace_len()]) {
        Ok(_) => Ok((store, learner)),
        Err(error) => Err((error, region(&mut store))),
    }
}

/// Does one of a few things.
fn step(store: &mut Store, learner: &mut Lamp, what: usize) -> Result<(), FlashError> {
    let mut workspace = vec![0.0; LAMP.workspace_len()];
    let user = learner.bind(&POLICY, &mut workspace)?;
    let (context, all) = (LAMP.context(Some("dinner"), [("daylight", 0.5)]).unwrap(), Feasible::all(&LAMP));
    let mut device = Device::new(user, store);
    match what {
        0 => device.decide(&Request::new(&context, &all)).map(drop),
        1 => device.user().waiting(0).last().map_or(Ok(()), |id| device.feedback(id, 0.5)),
        2 => device.observe(&context, Action(1), -0.5),
        3 => store.compact(&learner.bind(&POLICY, &mut workspace)?),
        _ => device.forget(),
    }
}

/// The queue's checksum of an item: CRC-32C but for its initial value and its ends.
fn item_sum(bytes: &[u8]) -> u32 {
    let sum = !bytes.iter().fold(0xeeee_eeee, |sum, byte| {
        (0..8).fold(
            sum ^ u32::from(*byte),
            |sum, _| if sum & 1 == 0 { sum >> 1 } else { sum >> 1 ^ 0x82f6_3b78 },
        )
    });
    if sum == 0 {
        1
    } else if matches!(sum as u8, 0 | 0xff) {
        sum ^ 1
    } else {
        sum
    }
}

/// Puts the checksum of the bytes before the last four there.
fn seal(bytes: &mut [u8]) {
    let (front, end) = bytes.split_last_chunk_mut().unwrap();
    *end = checksum(front).to_le_bytes();
}

/// Puts all checksums right, or no damage would pass them.
fn mend(region: &mut [u8]) {
    for slot in [0, 1] {
        let slot = &mut region[LAYOUT.slot(slot).start as usize..][..PAGE];
        seal(&mut slot[..32]);
        let length = u32::from_le_bytes(*slot[16..].first_chunk().unwrap()) as usize;
        if (4..=PAGE - 32).contains(&length) {
            seal(&mut slot[32..][..length]);
        }
    }
    for page in [0, 1] {
        // The mark of the page, then items: checksum, length, the length's own checksum, and the
        // item up to the next word.
        let mut at = 4;
        while let Some([_, _, _, _, low, high, _, _, items @ ..]) =
            region.get_mut(page * PAGE + at..page * PAGE + PAGE - 4)
        {
            let length = usize::from(u16::from_le_bytes([*low, *high]));
            let Some(item) = items.get_mut(..length) else { break };
            if page == 0 && at == 4 && length == 48 {
                seal(&mut item[..16]);
                seal(&mut item[16..]);
            } else if let Some((front, end)) =
                item.get_mut(4..).and_then(|event| event.split_last_chunk_mut())
            {
                *end = crate::crc16(front).to_le_bytes();
            }
            let sum = item_sum(item).to_le_bytes();
            region[page * PAGE + at..][..4].copy_from_slice(&sum);
            at += 8 + length.next_multiple_of(4);
        }
    }
}

/// The first byte chooses a region. Then come patches to it: place in two bytes, length in one, and
/// the bytes.
pub fn flash(data: &[u8]) {
    let Some((choice, mut patches)) = data.split_first() else { return };
    let sound = &REGIONS[usize::from(choice & 0x7f) % REGIONS.len()];
    let mut damaged = sound.clone();
    while let [low, high, length, rest @ ..] = patches {
        let (patch, rest) = rest.split_at(usize::from(*length).min(rest.len()));
        let at = usize::from(u16::from_le_bytes([*low, *high])) % SIZE;
        damaged.iter_mut().skip(at).zip(patch).for_each(|(byte, new)| *byte = *new);
        patches = rest;
    }
    if choice & 0x80 == 0 {
        mend(&mut damaged);
    }
    let mut flash = Flash::new(4);
    flash.bytes_mut().copy_from_slice(&damaged);

    let (mut store, mut learner) = match restart(Blocking(flash)) {
        Ok(opened) => opened,
        Err((error, after)) => {
            assert!(after == damaged || !matches!(error, FlashError::Unformatted | FlashError::Foreign));
            return;
        }
    };
    // A sound checksum may protect numbers that no life comes to.
    // Learning from there can leave the scalar, and counters end.
    let usual = |number: &f32| *number == 0.0 || (1e-6..1e6).contains(&number.abs());
    let counts = store.statistics();
    if !learner.posterior().packed().iter().all(usual) || counts.generation.max(counts.next) > u32::MAX / 2 {
        return;
    }
    // Events in a gap before others would not be told from them.
    // So a snapshot comes first where the journal is damaged.
    let whole = damaged[..2 * PAGE] == sound[..2 * PAGE];
    for what in [5, if whole { 0 } else { 3 }, 0, 1, 2, 3, 0, 2, 4, 2] {
        match if what == 5 { Ok(()) } else { step(&mut store, &mut learner, what) } {
            Ok(()) | Err(FlashError::User(_)) => {}
            Err(error) => panic!("{error}"),
        }
        let state = learner.to_bytes().unwrap();
        (store, learner) = restart(store.into_flash()).unwrap_or_else(|(error, _)| panic!("{error}"));
        assert!(learner.to_bytes().unwrap() == state);
    }
}
