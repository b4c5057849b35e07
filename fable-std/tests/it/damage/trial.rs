//! One trial: files with a fault in them, and what has to hold of the store that is opened from them.

use super::town::{Files, Life, Town, folder, read, write};
use fable_serve_tests::frames::{JOURNAL, LOG, MEMORY, PRIOR};
use fable_std::store::{Damage, FileStore, Options, Reach, Store, StoreError};
use std::collections::BTreeSet;
use std::path::PathBuf;
use tempfile::TempDir;

/// What many trials have come to.
#[derive(Debug, Default)]
pub struct Tally {
    pub trials: usize,
    pub opened: usize,
    pub refused: usize,
    pub repaired: usize,
    pub shortened: usize,
}

impl Tally {
    pub fn print(&self, kind: &str) {
        let Self { trials, opened, refused, repaired, shortened } = self;
        println!(
            "{kind}: {trials} trials, opened {opened}/{trials}, users refused {refused}, refused wrongly 0, silently wrong 0; {repaired} repaired, users with fewer events {shortened}"
        );
    }
}

/// Where trials take place. It says which one has failed.
pub struct Bench {
    _folder: TempDir,
    pub path: PathBuf,
    pub label: String,
}

impl Bench {
    pub fn new() -> Self {
        let folder = folder();
        let path = folder.path().join("users.fable");
        Self { _folder: folder, path, label: String::new() }
    }

    pub fn new_path(&self) -> PathBuf {
        let new = self.path.with_file_name("new.fable");
        for path in super::town::paths(&new) {
            let _ = std::fs::remove_file(path); // of the trial before
        }
        new
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("in {}", self.label);
        }
    }
}

/// Reads everyone: who is refused. Whoever is not is right to the bit, and nobody else is there.
pub fn judge(store: &FileStore, town: &Town) -> BTreeSet<u64> {
    let mut refused = BTreeSet::new();
    for life in &town.lives {
        let name = life.name();
        match store.user(life.number(), Reach::Snapshot) {
            Ok(stored) => {
                let stored = stored.unwrap_or_else(|| panic!("{name} is unknown"));
                assert!(life.is(&stored), "{name}: events are missing");
            }
            Err(StoreError::User(_)) => drop(refused.insert(life.number())),
            Err(error) => panic!("{name}: {error}"),
        }
        match store.named(name) {
            Ok(stored) => {
                assert!(life.is(&stored), "{name}: events are missing");
                assert!(stored.prior == life.prior, "{name}: another prior");
                assert!(stored.memory == life.memory, "{name}: another memory");
                assert!(!refused.contains(&life.number()), "{name} is refused and is not");
            }
            Err(StoreError::User(_)) => drop(refused.insert(life.number())),
            Err(error) => panic!("{name}: {error}"),
        }
    }
    for name in &town.strangers {
        let found = store.find(name);
        assert!(matches!(found, Ok(None) | Err(StoreError::User(_))), "{name}: {found:?}");
    }
    refused
}

/// Whom a check tells of.
pub fn told(path: &std::path::Path, town: &Town) -> (BTreeSet<u64>, bool) {
    let report = FileStore::check(path, &Options::default(), |_, _| {}).unwrap();
    let mut told: BTreeSet<u64> = report.damaged.iter().map(|loss| loss.number).collect();
    if !report.priors.is_empty() {
        told.extend(town.lives.iter().filter(|life| life.prior.is_some()).map(Life::number));
    }
    for loss in &report.damaged {
        let life = town.lives.iter().find(|life| life.number() == loss.number).unwrap();
        assert!(loss.name.as_deref().is_none_or(|name| name == life.name()));
    }
    (told, report.is_sound())
}

/// One fault in the file of the users: the store opens, and refuses only those whom it touches.
pub fn single(bench: &Bench, town: &Town, files: &Files, repair: bool, tally: &mut Tally) {
    write(&bench.path, files);
    let (told, sound) = told(&bench.path, town);
    assert_eq!(sound, files == &town.files, "a check finds every damaged byte");
    let store = FileStore::open_any(&bench.path).unwrap();
    let refused = judge(&store, town);
    drop(store);
    let (touched, lost) = (town.touched(&files[0]), town.lost(&files[0]));
    assert!(refused.is_subset(&touched), "refused wrongly: {:x?}", refused.difference(&touched));
    assert!(lost.is_subset(&refused), "what is damaged was used: {:x?}", lost.difference(&refused));
    assert_eq!(told, refused, "those whom a check tells of are those who are refused");
    tally.trials += 1;
    tally.opened += 1;
    tally.refused += refused.len();
    if repair {
        repaired(bench, town, files, &refused, tally);
    }
}

/// A repair brings back all that can be read, and nothing else.
fn repaired(bench: &Bench, town: &Town, files: &Files, refused: &BTreeSet<u64>, tally: &mut Tally) {
    write(&bench.path, files);
    let new = bench.new_path();
    let repaired = FileStore::repair(&bench.path, &new, &Options::default(), |_, _| {}).unwrap();
    assert!(read(&bench.path) == *files, "a repair leaves the old files alone");
    let (told, _) = told(&new, town);
    let store = FileStore::open_any(&new).unwrap();
    let (lost, mut still) = (town.lost(&files[0]), BTreeSet::new());
    let priors = town.damaged_frames(&files[0]).any(|frame| frame.kind == PRIOR);
    for life in &town.lives {
        let (name, number) = (life.name(), life.number());
        let loss = repaired.losses.iter().find(|loss| loss.number == number);
        match store.named(name) {
            Ok(stored) => {
                let end = life.agrees(&stored);
                assert!(stored.prior == life.prior, "{name}: another prior");
                assert!(!lost.contains(&number), "{name}: lost, and there");
                let whole = end == life.starts.len();
                assert!(whole || refused.contains(&number), "{name} was right, and has lost events");
                // How many events a part had that cannot be read is not always known.
                let forgetful = loss.is_some_and(|loss| loss.damage == Damage::Memory);
                assert!(
                    loss.map_or(whole, |loss| loss.from == Some(end as u64) || whole && forgetful),
                    "{name} {loss:?} {end}"
                );
                let memory = town.damaged_frames(&files[0]).any(|frame| {
                    frame.kind == MEMORY && (frame.slot, frame.generation) == (life.slot, life.generation)
                });
                assert!(
                    stored.memory == life.memory && !forgetful || memory && stored.memory.is_empty(),
                    "{name}: another memory"
                );
                // What is before the first damaged part is there.
                let parts = town.damaged_frames(&files[0]).filter(|frame| {
                    matches!(frame.kind, JOURNAL | LOG)
                        && (frame.slot, frame.generation) == (life.slot, life.generation)
                });
                let first = parts.map(|frame| word(&town.files[0], frame.offset + 20)).min();
                assert!(
                    end as u64 >= first.unwrap_or(life.starts.len() as u64),
                    "{name}: {end} of {first:?}"
                );
                tally.shortened += usize::from(!whole);
            }
            Err(StoreError::User(_)) => {
                assert!(
                    lost.contains(&number) || priors && life.prior.is_some(),
                    "{name} can be brought back"
                );
                assert!(refused.contains(&number), "{name} was right, and is refused");
                still.insert(number);
            }
            Err(error) => panic!("{name}: {error}"),
        }
    }
    for name in &town.strangers {
        assert!(matches!(store.find(name), Ok(None) | Err(StoreError::User(_))));
    }
    assert_eq!(told, still);
    drop(store);
    let report = FileStore::check(&new, &Options::default(), |_, _| {}).unwrap();
    assert!(
        report.groups + report.keys + report.unaccounted == 0 && report.weakened.is_empty(),
        "{report:?}"
    );
    tally.repaired += 1;
}

fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}
