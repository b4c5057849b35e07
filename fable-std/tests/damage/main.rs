//! A damaged byte is never used, never changes a user in silence, and never stops the users it does not touch.
//!
//! Every trial damages the files of a store, opens it, and compares everyone with what is known to be true. FABLE_DAMAGE=full makes
//! twenty times as many trials.

mod town;

use fable_serve_tests::dice::Dice;
use fable_std::store::{Options, Reach, Store, StoreError};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use tempfile::TempDir;
use town::{Files, Town, Towns, folder, write};

static TOWNS: LazyLock<Towns> = LazyLock::new(Towns::build);

fn trials(full: usize) -> usize {
    if std::env::var_os("FABLE_DAMAGE").is_some_and(|value| value == "full") { full } else { full / 20 }
}

/// What many trials have come to.
#[derive(Debug, Default)]
struct Tally {
    trials: usize,
    opened: usize,
    refused: usize,
}

impl Tally {
    fn print(&self, kind: &str) {
        let Self { trials, opened, refused } = self;
        println!("{kind}: {trials} trials, opened {opened}/{trials}, users refused {refused}, refused wrongly 0, silently wrong 0");
    }
}

/// Where trials take place.
struct Bench {
    _folder: TempDir,
    path: PathBuf,
}

impl Bench {
    fn new() -> Self {
        let folder = folder();
        let path = folder.path().join("users.fable");
        Self { _folder: folder, path }
    }
}

/// Reads everyone: who is refused. Whoever is not is right to the bit, and nobody else is there.
fn judge(store: &Store, town: &Town) -> BTreeSet<u64> {
    let mut refused = BTreeSet::new();
    let log = store.log().unwrap();
    for life in &town.lives {
        let quick = store.user(life.number(), Reach::Snapshot);
        match quick {
            Ok(stored) => {
                let mut stored = stored.unwrap_or_else(|| panic!("{} is unknown", life.name()));
                stored.journal.extend(log.get(&life.number()).cloned());
                assert!(life.is(&stored), "{}: events are missing", life.name());
            }
            Err(StoreError::User(_)) => drop(refused.insert(life.number())),
            Err(error) => panic!("{}: {error}", life.name()),
        }
        match store.named(life.name()) {
            Ok(stored) => {
                assert!(life.is(&stored), "{}: events are missing", life.name());
                assert_eq!(stored.prior, life.prior, "{}: another prior", life.name());
                assert!(!refused.contains(&life.number()));
            }
            Err(StoreError::User(_)) => drop(refused.insert(life.number())),
            Err(error) => panic!("{}: {error}", life.name()),
        }
    }
    for name in &town.strangers {
        let found = store.find(name);
        assert!(matches!(found, Ok(None) | Err(StoreError::User(_))), "{name}: {found:?}");
    }
    refused
}

/// One fault in the file of the users: the store opens, and refuses only those whom it touches.
fn single(bench: &Bench, town: &Town, files: &Files, tally: &mut Tally) {
    write(&bench.path, files);
    let report = Store::check(&bench.path, &Options::default(), |_, _| {}).unwrap();
    let store = Store::open_any(&bench.path).unwrap();
    let refused = judge(&store, town);
    let (touched, lost) = (town.touched(&files[0]), town.lost(&files[0]));
    assert!(refused.is_subset(&touched), "refused wrongly: {:x?}", refused.difference(&touched));
    assert!(lost.is_subset(&refused), "what is damaged was used: {:x?}", lost.difference(&refused));
    let mut told: BTreeSet<u64> = report.damaged.iter().map(|loss| loss.number).collect();
    if !report.priors.is_empty() {
        told.extend(town.lives.iter().filter(|life| life.prior.is_some()).map(town::Life::number));
    }
    assert_eq!(told, refused, "{report:?}");
    tally.trials += 1;
    tally.opened += 1;
    tally.refused += refused.len();
}

fn flip(files: &mut Files, file: usize, place: usize, dice: &mut Dice) {
    files[file][place] ^= 1 << dice.below(8);
}

#[test]
fn undamaged() {
    let bench = Bench::new();
    for (name, town) in TOWNS.all() {
        println!("{name}: {:?} bytes, {} frames, {} users", town.files.each_ref().map(Vec::len), town.frames.len(), town.lives.len());
        write(&bench.path, &town.files);
        let report = Store::check(&bench.path, &Options::default(), |_, _| {}).unwrap();
        assert!(report.is_sound(), "{name} {report:?}");
        assert!(judge(&Store::open_any(&bench.path).unwrap(), town).is_empty());
        let _ = std::fs::remove_file(Path::new(&format!("{}.index", bench.path.display())));
        assert!(judge(&Store::open_any(&bench.path).unwrap(), town).is_empty());
    }
}

#[test]
fn flipped_bits() {
    let (bench, mut tally, mut dice) = (Bench::new(), Tally::default(), Dice::new(1));
    for trial in 0..trials(5_000) {
        let (name, town) = TOWNS.all()[trial % 4];
        let mut files = town.files.clone();
        let place = dice.below(files[0].len());
        flip(&mut files, 0, place, &mut dice);
        println!("{name} {place}");
        single(&bench, town, &files, &mut tally);
    }
    tally.print("bit flips anywhere in users.fable");
}
