//! Journals of a user from two places, however damaged, are merged or refused.
//! Nothing that was merged is new a second time.

use fable_core::catalog::TAU2;
use fable_core::journal::Command;
use fable_core::record::checksum;
use fable_core::{Feasible, Policy, Request, Settings};
use fable_std::merge::{self, Place};
use fable_std::replay::Tape;
use fable_std::store::journal::Note;
use fable_std::store::transfer::{export, read};
use fable_std::store::{Desk, FileStore, Identity, Policies, Resident, Store, Stored, Writes};
use std::sync::LazyLock;

const AT_HOME: Settings<'static> = Settings { site: 1, ..Settings::DEFAULT };
const ROUNDS: usize = 4;

/// The same user at home and elsewhere, exported.
static PLACES: LazyLock<[Vec<u8>; 2]> =
    LazyLock::new(|| [AT_HOME, Settings { site: 2, ..Settings::DEFAULT }].map(lived));

fn lived(settings: Settings<'static>) -> Vec<u8> {
    let policies = Policies::from(Policy::<f32>::new(&TAU2, settings).unwrap());
    let store = FileStore::in_memory(&Identity::new(policies.newcomers())).unwrap();
    let (mut desk, mut writes) = (Desk::new(&policies), Writes::default());
    let mut user = Resident::newcomer(&desk, "ana", store.number_for("ana").unwrap(), 0, None).unwrap();
    let (context, all) = (TAU2.context(None, []).unwrap(), Feasible::all(&TAU2));
    for round in 0..ROUNDS {
        let mut decide = Command::decide(Request::new(&context, &all).at(round as u32));
        user.run(&mut desk, &mut writes, &mut decide, Note::None).unwrap();
        let decision = decide.decision(&user.user(&mut desk).unwrap()).unwrap();
        user.run(
            &mut desk,
            &mut writes,
            &mut Command::feedback(decision.id, 0.25 * round as f64).at(round as u32),
            Note::None,
        )
        .unwrap();
    }
    store.commit(writes, true).unwrap();
    export(&store, "ana").unwrap()
}

/// An exported user with bytes replaced, and a sound checksum.
fn damaged(bytes: &[u8], edits: &[[u8; 3]]) -> Option<Stored> {
    let mut bytes = bytes.to_vec();
    let end = bytes.len() - 4;
    for [low, high, byte] in edits {
        bytes[usize::from(u16::from_le_bytes([*low, *high])) % end] = *byte;
    }
    let sum = checksum(&bytes[..end]).to_le_bytes();
    bytes[end..].copy_from_slice(&sum);
    read(&bytes).ok()
}

/// Which settings, how many edits are at home, then the edits: place in two bytes, byte.
pub fn merge(data: &[u8]) {
    let Some(([settings, count], edits)) = data.split_first_chunk() else { return };
    let half_life = if settings % 2 == 0 { None } else { Some(9) };
    let settings = Settings { half_life, ..AT_HOME };
    let (edits, _) = edits.as_chunks::<3>();
    let (here, there) = edits.split_at(usize::from(*count).min(edits.len()));
    let policy = Policy::<f32>::new(&TAU2, settings).unwrap();
    let (Some(home), Some(other)) = (damaged(&PLACES[0], here), damaged(&PLACES[1], there)) else { return };
    let place = Tape::of_user(&other).ok().and_then(|tape| Place::of_tape(&TAU2, settings, &tape).ok());
    assert!(place.is_some() || !there.is_empty());
    let Some(place) = place else { return };
    let merged = merge::merge(&policy, &home, std::slice::from_ref(&place));
    if edits.is_empty() {
        let merged = merged.as_ref().unwrap();
        assert_eq!((merged.decisions, merged.rewards), (ROUNDS, ROUNDS));
    }
    let Ok(merged) = merged else { return };
    let all = merged.into_stored(home).unwrap();
    let again = merge::merge(&policy, &all, &[place]).unwrap();
    assert_eq!((again.decisions, again.rewards, again.entries.count), (0, 0, 0));
}
