//! A damaged byte is never used, never changes a user in silence, and never stops the users it does not touch.
//!
//! Every trial damages the files of a store, opens it, and compares everyone with what is known to be true. FABLE_DAMAGE=full makes
//! twenty times as many trials.

mod after;
mod keys;
pub mod town;
mod trial;

use fable_serve_tests::dice::Dice;
use fable_serve_tests::frames::{BASE, JOURNAL, LOG, MEMORY, PRIOR, RULES, SNAPSHOT, USER};
use fable_std::store::{FileStore, Options, Store, StoreError};
use town::{Files, TOWNS, Town, paths, write};
use trial::{Bench, Tally, judge, single};

/// What is done to a file.
type Harm = fn(&mut Vec<u8>, &mut Dice);

const SECTOR: usize = 512;
const PAGE: usize = 4096;

fn trials(full: usize) -> usize {
    if std::env::var_os("FABLE_DAMAGE").is_some_and(|value| value == "full") { full } else { full / 20 }
}

/// So many trials with a fault in the file of the users, a tenth of them with a repair.
fn in_the_users(kind: &str, full: usize, damage: impl Fn(&Town, &mut Vec<u8>, &mut Dice)) -> Tally {
    let (mut bench, mut tally, mut dice) = (Bench::new(), Tally::default(), Dice::new(full as u64));
    for trial in 0..trials(full) {
        let (name, town) = TOWNS.all()[trial % 4];
        bench.label = format!("{kind}, trial {trial}, {name}");
        let mut files = town.files.clone();
        damage(town, &mut files[0], &mut dice);
        single(&bench, town, &files, trial % 10 < 2, &mut tally);
    }
    tally.print(kind);
    tally
}

fn flip(bytes: &mut [u8], place: usize, dice: &mut Dice) {
    bytes[place] ^= 1 << dice.below(8);
}

/// Flips a bit in a frame of one of some kinds.
fn aimed(kinds: &[u32]) -> impl Fn(&Town, &mut Vec<u8>, &mut Dice) {
    move |town, bytes, dice| {
        let targets: Vec<_> = town.frames.iter().filter(|frame| kinds.contains(&frame.kind)).collect();
        let frame = dice.pick(&targets);
        flip(bytes, frame.offset + dice.below(frame.length), dice);
    }
}

fn zero_sector(bytes: &mut [u8], dice: &mut Dice) {
    let start = dice.below(bytes.len() / SECTOR) * SECTOR;
    bytes[start..start + SECTOR].fill(0);
}

fn swap_pages(bytes: &mut [u8], dice: &mut Dice) {
    let [one, other] =
        [dice.below(bytes.len() / PAGE), dice.below(bytes.len() / PAGE)].map(|page| page * PAGE);
    for byte in 0..PAGE {
        bytes.swap(one + byte, other + byte);
    }
}

/// What was meant for one page is on another one too.
fn misdirect_page(bytes: &mut [u8], dice: &mut Dice) {
    let [from, to] = [dice.below(bytes.len() / PAGE), dice.below(bytes.len() / PAGE)].map(|page| page * PAGE);
    bytes.copy_within(from..from + PAGE, to);
}

/// Where the commits begin and end.
fn groups(bytes: &[u8]) -> Vec<(usize, usize)> {
    let (mut groups, mut at) = (Vec::new(), 8192);
    while at < bytes.len() {
        let length = u64::from_le_bytes(bytes[at + 8..at + 16].try_into().unwrap()) as usize;
        groups.push((at, at + length));
        at += length;
    }
    groups
}

#[test]
fn without_damage_everyone_is_right_with_an_index_and_without() {
    let bench = Bench::new();
    for (name, town) in TOWNS.all() {
        let bytes = town.files.each_ref().map(Vec::len);
        println!("{name}: {bytes:?} bytes, {} frames, {} users", town.frames.len(), town.lives.len());
        single(&bench, town, &town.files, true, &mut Tally::default());
        for without in [false, true] {
            write(&bench.path, &town.files);
            if without {
                std::fs::remove_file(&paths(&bench.path)[2]).unwrap();
            }
            assert!(judge(&FileStore::open_any(&bench.path).unwrap(), town).is_empty());
        }
        // The state is what the events lead to.
        let store = FileStore::open_any(&bench.path).unwrap();
        let priors = fable_std::store::Priors::open(&store, &town::base(), None).unwrap();
        let policies = priors.policies(&town::base()).unwrap();
        let mut desk = fable_std::store::Desk::new(&policies);
        for life in &town.lives {
            let stored = store.named(life.name()).unwrap();
            let resident = fable_std::store::Resident::revive(&mut desk, &stored, None).unwrap();
            assert!(resident.learner().to_bytes().unwrap() == life.state, "{}", life.name());
        }
    }
}

#[test]
fn flipped_bits() {
    let tally = in_the_users("bit flips anywhere", 5_000, |_, bytes, dice| {
        let place = dice.below(bytes.len());
        flip(bytes, place, dice);
    });
    assert!(tally.refused < tally.trials, "one bit touches one user at most, but for a prior");
}

#[test]
fn flipped_bits_where_they_hurt() {
    let rules = in_the_users("bit flips in hard rules", 2_000, aimed(&[RULES]));
    let names = in_the_users("bit flips in names", 500, aimed(&[USER]));
    let snapshots = in_the_users("bit flips in snapshots", 500, aimed(&[SNAPSHOT, BASE]));
    let events = in_the_users("bit flips in events", 500, aimed(&[JOURNAL, LOG]));
    let memories = in_the_users("bit flips in what was exchanged", 500, aimed(&[MEMORY]));
    assert!(
        [&rules, &names, &events, &memories]
            .iter()
            .all(|tally| tally.refused > 0 && tally.refused <= tally.trials)
    );
    assert_eq!(snapshots.refused, 0, "there is another snapshot, or the journal");
    in_the_users("bit flips in priors", 200, aimed(&[PRIOR]));
}

#[test]
fn sectors_and_pages() {
    in_the_users("zeroed sectors", 300, |_, bytes, dice| zero_sector(bytes, dice));
    in_the_users("swapped pages", 500, |_, bytes, dice| swap_pages(bytes, dice));
    in_the_users("pages written over others", 300, |_, bytes, dice| misdirect_page(bytes, dice));
    in_the_users("pages never written", 300, |_, bytes, dice| {
        let page = PAGE * dice.below(bytes.len() / PAGE);
        bytes[page..page + PAGE].fill(0);
    });
}

#[test]
fn commits_that_went_elsewhere_or_nowhere() {
    in_the_users("commits written over others", 300, |_, bytes, dice| {
        let groups = groups(bytes);
        let (from, to) = *dice.pick(&groups);
        let at = dice.pick(&groups).0 + if dice.once_in(2) { 0 } else { 16 * dice.below(64) };
        let at = at.min(bytes.len() - (to - from));
        bytes.copy_within(from..to, at);
    });
    in_the_users("last commits never written", 300, |_, bytes, dice| {
        // Wholly, or one page of them; with the length that they have given the file, or without.
        let groups = groups(bytes);
        let (from, _) = groups[groups.len() - 1 - dice.below(8.min(groups.len()))];
        let from = if dice.once_in(2) { from } else { from.next_multiple_of(PAGE).min(bytes.len() - 1) };
        if dice.once_in(2) {
            bytes.truncate(from);
        } else {
            let to = if dice.once_in(2) {
                bytes.len()
            } else {
                (from + 1).next_multiple_of(PAGE).min(bytes.len())
            };
            bytes[from..to].fill(0);
        }
    });
}

/// The store opens unless both heads are gone.
#[test]
fn truncations() {
    let (mut bench, mut tally, mut dice) = (Bench::new(), Tally::default(), Dice::new(6));
    for trial in 0..trials(500) {
        let (name, town) = TOWNS.all()[trial % 4];
        let mut files = town.files.clone();
        // A tenth of them within the heads.
        let length = match trial % 10 {
            6 => [0, 1, 7, 4095, 4096, 8192][trial / 10 % 6],
            7 => dice.below(8_300),
            _ => dice.below(files[0].len()),
        };
        bench.label = format!("truncation to {length}, {name}");
        files[0].truncate(length);
        if length >= PAGE {
            single(&bench, town, &files, trial % 10 == 0, &mut tally);
            continue;
        }
        write(&bench.path, &files);
        for opened in [
            FileStore::open_any(&bench.path),
            FileStore::open(&bench.path, &fable_std::store::Identity::new(&town::base())),
        ] {
            let error = opened.map(drop).unwrap_err();
            assert!(
                matches!(error, StoreError::Missing(_) | StoreError::Foreign | StoreError::Damaged(_)),
                "{error}"
            );
        }
        assert!(FileStore::check(&bench.path, &Options::default(), |_, _| {}).is_err());
        tally.trials += 1;
    }
    tally.print("truncations");
}

/// With the users and the keys as they were, nobody is touched, whatever happens to the index.
#[test]
fn the_index() {
    let damages: [(&str, usize, Harm); 5] = [
        ("index: bit flips", 500, |bytes, dice| {
            let place = dice.below(bytes.len());
            flip(bytes, place, dice);
        }),
        ("index: zeroed sectors", 200, |bytes, dice| zero_sector(bytes, dice)),
        ("index: swapped pages", 200, |bytes, dice| swap_pages(bytes, dice)),
        ("index: pages written over others", 200, |bytes, dice| misdirect_page(bytes, dice)),
        ("index: truncations", 200, |bytes, dice| {
            let length = dice.below(bytes.len());
            bytes.truncate(length);
        }),
    ];
    for (kind, full, damage) in damages {
        let (mut bench, mut tally, mut dice) = (Bench::new(), Tally::default(), Dice::new(full as u64));
        for trial in 0..trials(full) {
            let (name, town) = TOWNS.all()[trial % 4];
            bench.label = format!("{kind}, trial {trial}, {name}");
            let mut files: Files = town.files.clone();
            damage(&mut files[2], &mut dice);
            write(&bench.path, &files);
            let (told, _) = trial::told(&bench.path, town);
            assert!(told.is_empty());
            for _ in 0..2 {
                assert!(judge(&FileStore::open_any(&bench.path).unwrap(), town).is_empty());
            }
            tally.trials += 1;
            tally.opened += 1;
        }
        tally.print(kind);
    }
}
