//! A store with any damage: its users are as they were or refused, and nothing panics.
//! Nobody who was forgotten comes back.

use fable_core::catalog::TAU2;
use fable_core::journal::Command;
use fable_core::{Feasible, Policy, Request, Settings, user_hash};
use fable_std::memory::{Exchange, Memory};
use fable_std::store::journal::Note;
use fable_std::store::{
    Desk, FileStore, Identity, Options, Policies, Resident, Sink, Store, StoreError, Stored, Writes,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use tempfile::TempDir;

const USERS: [&str; 4] = ["ana", "bo", "cy", "di"];
const RULES: &[u8] =
    br#"{"rules":[{"effect":"forbid","component":"tool","values":["web_search"],"when":null,"words":"no"}]}"#;
/// Where the groups of a store's file begin, and how long the heads of a group and of a frame are.
const START: usize = 8192;
const GROUP: usize = 32;
const FRAME: usize = 28;

/// Everything known about somebody: the entries, the hard rules, and the exchanges.
type Known = (Vec<u8>, Vec<u8>, Memory);

/// The files of a sound store, and who is in it.
struct Sound {
    files: [Vec<u8>; 3],
    users: BTreeMap<&'static str, Known>,
}

static POLICIES: LazyLock<Policies<'static, f64>> =
    LazyLock::new(|| Policies::from(Policy::<f64>::new(&TAU2, Settings::default()).unwrap()));
static SOUND: LazyLock<Sound> = LazyLock::new(|| {
    let folder = folder();
    let path = folder.path().join("sound.fable");
    let store = FileStore::open(&path, &Identity::new(POLICIES.newcomers())).unwrap();
    for round in 0..3 {
        for name in USERS.into_iter().chain(["gone"]) {
            let mut writes = Writes::default();
            live(&store, name, &mut writes).unwrap();
            if round == 1 && name != "bo" {
                writes.wishes(user_hash(name), RULES);
            }
            if round > 0 && name != "cy" {
                writes.remember(user_hash(name), Exchange::new("which round?", name, round));
            }
            store.commit(writes, true).unwrap();
        }
        if round == 1 {
            let mut fold = Writes::default();
            fold.fold(store.log().unwrap().iter().map(|(user, segment)| (*user, segment)));
            store.commit(fold, true).unwrap();
            store.forget(&["gone"]).unwrap();
        }
    }
    store.forget(&["gone"]).unwrap();
    drop(store);
    let store = FileStore::open_any(&path).unwrap();
    let users = USERS.into_iter().map(|name| (name, known(&store.named(name).unwrap()))).collect();
    drop(store);
    Sound { files: files(&path).map(|file| std::fs::read(file).unwrap()), users }
});

/// A folder for one input, in memory where that is possible.
fn folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory).unwrap() } else { tempfile::tempdir().unwrap() }
}

fn files(path: &Path) -> [PathBuf; 3] {
    ["", ".key", ".index"].map(|end| PathBuf::from(format!("{}{end}", path.display())))
}

fn known(stored: &Stored) -> Known {
    let entries = stored.journal.iter().flat_map(|segment| segment.bytes.clone()).collect();
    (entries, stored.wishes.clone(), stored.memory.clone())
}

/// Two decisions and a snapshot.
fn live(store: &FileStore, name: &str, writes: &mut Writes) -> Result<(), StoreError> {
    let mut desk = Desk::new(&POLICIES);
    let mut user = match store.named(name) {
        Ok(stored) => Resident::revive(&mut desk, &stored, None)?,
        Err(StoreError::NoUser) => {
            Resident::newcomer(&desk, name, store.number_for(name)?, store.incarnation()?, None)?
        }
        Err(error) => return Err(error),
    };
    let (context, all) = (TAU2.context(None, []).unwrap(), Feasible::all(&TAU2));
    for _ in 0..2 {
        user.run(&mut desk, writes, &mut Command::decide(Request::new(&context, &all)), Note::None)?;
    }
    Sink::snapshot(writes, user.row().header.user, user.entries(), &user.learner().to_bytes()?);
    Ok(())
}

fn word(bytes: &[u8], at: usize) -> Option<usize> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?) as usize)
}

/// The checksum of bytes together with where they belong.
fn sum_at(offset: usize, bytes: &[u8]) -> [u8; 4] {
    let mut sum = crc32fast::Hasher::new();
    sum.update(&(offset as u64).to_le_bytes());
    sum.update(bytes);
    sum.finalize().to_le_bytes()
}

/// Puts right the checksums of every group and frame that was there, as far as it still is.
fn put_right(bytes: &mut [u8], sound: &[u8]) {
    let mut group = START;
    while let Some(length) = word(sound, group + 8) {
        let mut frame = group + GROUP;
        while frame < group + length {
            let size = (FRAME + 12 + word(sound, frame + 4).unwrap()).next_multiple_of(16);
            if let Some(head) = bytes.get_mut(frame..frame + FRAME) {
                let sum = sum_at(frame, &head[4..]);
                head[..4].copy_from_slice(&sum);
            }
            frame += size;
        }
        let now = word(bytes, group + 8).unwrap_or(0);
        if let Some(whole) =
            bytes.get_mut(group..group.saturating_add(now)).filter(|whole| whole.len() >= GROUP)
        {
            let sum = sum_at(group, &whole[8..]);
            whole[4..8].copy_from_slice(&sum);
        }
        group += length;
    }
}

/// Damages files: which one (2 bits) and how (6 bits), where (3), how much (1), and bytes.
fn damage(files: &mut [Vec<u8>; 3], mut data: &[u8]) {
    while let Some(([which, a, b, c, length], rest)) = data.split_first_chunk() {
        let file = &mut files[usize::from(which & 3) % 3];
        let offset = usize::from(*a) << 16 | usize::from(*b) << 8 | usize::from(*c);
        let offset = offset % (file.len() + 1);
        let length = usize::from(*length);
        let (bytes, rest) = rest.split_at(length.min(rest.len()));
        match which >> 2 {
            0 => file.truncate(offset),
            1 => file.extend_from_slice(bytes),
            // Another part of the file, or zeros.
            2 => {
                let end = (offset + 16 * length).min(file.len());
                let to = bytes.first_chunk().map_or(0, |to| usize::from(u16::from_le_bytes(*to)) * 16);
                let room = file.len() - (end - offset);
                file.copy_within(offset..end, to.min(room));
            }
            3 => {
                let end = (offset + 16 * length).min(file.len());
                file[offset..end].fill(0);
            }
            4 => file.iter_mut().skip(offset).zip(bytes).for_each(|(to, from)| *to ^= from),
            _ => file.iter_mut().skip(offset).zip(bytes).for_each(|(to, from)| *to = *from),
        }
        data = rest;
    }
}

/// Everyone is as before or refused. Without an index of all that was there, the end may be lost
/// unnoticed.
fn look(store: &FileStore, indexed: bool) -> BTreeMap<&'static str, Known> {
    let mut seen = BTreeMap::new();
    for (name, whole) in &SOUND.users {
        if let Ok(stored) = store.named(name) {
            let found = known(&stored);
            assert!(whole.0.starts_with(&found.0) && (found.1.is_empty() || found.1 == RULES), "{name}");
            assert!(whole.2.exchanges().starts_with(found.2.exchanges()), "{name}");
            assert!(!indexed || found == *whole, "{name}");
            Resident::revive(&mut Desk::new(&POLICIES), &stored, None).unwrap();
            seen.insert(*name, found);
        }
    }
    assert!(store.named("gone").is_err());
    for number in store.everyone() {
        let _ = store.whole(number);
    }
    seen
}

pub fn store(data: &[u8]) {
    let Some((flags, data)) = data.split_first() else { return };
    let mut bytes = SOUND.files.clone();
    damage(&mut bytes, data);
    if flags & 1 != 0 {
        put_right(&mut bytes[0], &SOUND.files[0]);
    }
    let folder = folder();
    let path = folder.path().join("users.fable");
    for (file, bytes) in files(&path).iter().zip(&bytes) {
        std::fs::write(file, bytes).unwrap();
    }
    let indexed = bytes[2] == SOUND.files[2] && flags & 2 == 0;
    if flags & 2 != 0 {
        std::fs::remove_file(&files(&path)[2]).unwrap();
    }
    let _ = FileStore::check(&path, &Options::default(), |_, _| {});
    let repaired = folder.path().join("repaired.fable");
    if FileStore::repair(&path, &repaired, &Options::default(), |_, _| {}).is_ok() {
        // A user who is not damaged is there as far as can be known.
        look(&FileStore::open_any(&repaired).unwrap(), false);
    }
    let Ok(store) = FileStore::open_any(&path) else { return };
    let mut seen = look(&store, indexed);
    let mut writes = Writes::default();
    let came = live(&store, "eva", &mut writes).is_ok() && store.commit(writes, true).is_ok();
    if store.forget(&["bo"]).is_ok() {
        seen.remove("bo");
        assert!(store.named("bo").is_err());
    }
    drop(store);
    let Ok(store) = FileStore::open_any(&path) else { return };
    let again = look(&store, false);
    assert!(seen.iter().all(|(name, known)| again.get(name).is_none_or(|again| again == known)));
    assert!(!came || !matches!(store.named("eva"), Err(StoreError::NoUser)));
}
