//! Life goes on after damage: others are written about, somebody comes, somebody is forgotten, and nobody loses anything by it.

use super::town::{Files, Life, TOWNS, Town, Witness, base, fold, live, paths, read, rules, write};
use super::trial::{Bench, Tally, judge};
use super::{aimed, flip, groups, trials};
use fable_core::user_hash;
use fable_serve_tests::dice::Dice;
use fable_serve_tests::frames::{BASE, Frame, JOURNAL, LOG, PRIOR, RULES, SNAPSHOT, USER};
use fable_std::store::{Desk, FileStore, Policies, Resident, Store, StoreError, Writes};
use std::collections::BTreeSet;

/// How a store ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Closed,
    Killed,
    /// At once after somebody was forgotten.
    KilledForgetting,
}

pub const ENDS: [End; 3] = [End::Closed, End::Killed, End::KilledForgetting];

/// Somebody comes, or comes again.
pub fn arrive(store: &FileStore, town: &mut Town, name: &str, dice: &mut Dice) -> Result<(), StoreError> {
    let policies = Policies::from(base());
    let mut desk = Desk::new(&policies);
    let mut resident = Resident::newcomer(&desk, name, store.number_for(name)?, store.incarnation()?, None)?;
    let (mut life, mut writes) = (Life::new(resident.row()), Writes::default());
    (life.slot, life.generation) = (u32::MAX, u32::MAX); // not in the frames of before
    live(&mut desk, &mut resident, &mut Witness { writes: &mut writes, life: &mut life }, dice, 3);
    store.commit(writes, true)?;
    town.strangers.retain(|stranger| stranger != name);
    town.lives.push(life);
    Ok(())
}

/// Some events more.
pub fn go_on(store: &FileStore, life: &mut Life, dice: &mut Dice) {
    let policies = Policies::from(base());
    let mut desk = Desk::new(&policies);
    let stored = store.named(life.name()).unwrap();
    let mut resident = Resident::revive(&mut desk, &stored, None).unwrap();
    assert!(resident.learner().to_bytes().unwrap() == life.state, "{}: another state", life.name());
    let (mut writes, up_to) = (Writes::default(), resident.entries() + 2);
    live(&mut desk, &mut resident, &mut Witness { writes: &mut writes, life }, dice, up_to);
    store.commit(writes, true).unwrap();
}

/// Forgets somebody.
pub fn forget(store: &FileStore, town: &mut Town, number: u64) {
    let place = town.lives.iter().position(|life| life.number() == number).unwrap();
    let gone = town.lives.remove(place);
    assert_eq!(store.forget(&[gone.name()]).unwrap(), [gone.name()]);
    assert!(matches!(store.find(gone.name()), Ok(None)), "{} is forgotten", gone.name());
    town.strangers.push(gone.name().to_owned());
}

/// Users who are whole, short and began with nothing special, in an order of chance.
pub fn sound(town: &Town, touched: &BTreeSet<u64>, dice: &mut Dice) -> Vec<u64> {
    let is_sound = |life: &&Life| {
        !touched.contains(&life.number())
            && life.prior.is_none()
            && life.starts.len() < 60
            && user_hash(life.name()) == life.number()
    };
    let mut sound: Vec<u64> = town.lives.iter().filter(is_sound).map(Life::number).collect();
    for place in (1..sound.len()).rev() {
        sound.swap(place, dice.below(place + 1));
    }
    sound
}

fn life(town: &mut Town, number: u64) -> &mut Life {
    town.lives.iter_mut().find(|life| life.number() == number).unwrap()
}

/// Opens damaged files, lets life go on, and ends. What is true then.
pub fn go_through(
    bench: &Bench,
    town: &Town,
    files: &Files,
    touched: &BTreeSet<u64>,
    end: End,
    dice: &mut Dice,
) -> Town {
    write(&bench.path, files);
    let store = FileStore::open_any(&bench.path).unwrap();
    let mut town = town.clone();
    if dice.once_in(2) {
        judge(&store, &town); // whoever is damaged is known to be from the beginning
    }
    let sound = sound(&town, touched, dice);
    go_on(&store, life(&mut town, sound[0]), dice);
    let mut writes = Writes::default();
    life(&mut town, sound[1]).constraints = rules(7);
    writes.wishes(sound[1], &rules(7));
    store.commit(writes, true).unwrap();
    arrive(&store, &mut town, "somebody new", dice).unwrap();
    if dice.once_in(2) {
        store.commit(fold(&store), true).unwrap();
    }
    forget(&store, &mut town, sound[2]);
    if end != End::KilledForgetting {
        go_on(&store, life(&mut town, sound[3]), dice);
        arrive(&store, &mut town, "somebody else", dice).unwrap();
    }
    let killed = (end != End::Closed).then(|| read(&bench.path));
    drop(store);
    if let Some(killed) = killed {
        write(&bench.path, &killed);
    }
    town
}

#[test]
fn flips_and_writes() {
    let (mut bench, mut tally, mut dice) = (Bench::new(), Tally::default(), Dice::new(31));
    for trial in 0..trials(1_000) {
        let (name, town) = TOWNS.all()[trial % 4];
        let end = ENDS[trial / 4 % 3];
        bench.label = format!("flip and writes, trial {trial}, {name}, {end:?}");
        let mut files = town.files.clone();
        match trial % 3 {
            0 => aimed(&[USER, RULES, SNAPSHOT, BASE, JOURNAL, LOG, PRIOR])(town, &mut files[0], &mut dice),
            1 => aimed(&[USER, RULES, LOG])(town, &mut files[0], &mut dice),
            _ => {
                let place = dice.below(files[0].len());
                flip(&mut files[0], place, &mut dice);
            }
        }
        let (touched, lost) = (town.touched(&files[0]), town.lost(&files[0]));
        let now = go_through(&bench, town, &files, &touched, end, &mut dice);
        let store = FileStore::open_any(&bench.path).unwrap();
        let refused = judge(&store, &now);
        assert!(refused.is_subset(&touched), "refused wrongly: {:x?}", refused.difference(&touched));
        assert!(lost.is_subset(&refused), "what is damaged was used: {:x?}", lost.difference(&refused));
        tally.trials += 1;
        tally.opened += 1;
        tally.refused += refused.len();
        // Whoever is damaged can be forgotten and begin anew.
        let mut then = now.clone();
        for number in refused.iter().take(2) {
            let name = life(&mut then, *number).name().to_owned();
            forget(&store, &mut then, *number);
            arrive(&store, &mut then, &name, &mut dice).unwrap();
        }
        drop(store);
        let store = FileStore::open_any(&bench.path).unwrap();
        let rest: BTreeSet<u64> = refused.iter().skip(2).copied().collect();
        assert_eq!(judge(&store, &then), rest);
    }
    tally.print("bit flips, then writes");
}

/// The log is moved while somebody is forgotten: whose newest events are damaged stays refused.
#[test]
fn a_fold_hides_no_damage() {
    let (mut bench, mut dice) = (Bench::new(), Dice::new(32));
    for trial in 0..trials(200) {
        let (name, town) = TOWNS.all()[trial % 4];
        bench.label = format!("fold, trial {trial}, {name}");
        let mut files = town.files.clone();
        aimed(&[LOG, JOURNAL])(town, &mut files[0], &mut dice);
        write(&bench.path, &files);
        let mut now = town.clone();
        let store = FileStore::open_any(&bench.path).unwrap();
        judge(&store, town);
        let gone = sound(town, &town.touched(&files[0]), &mut dice)[0];
        let mut writes = fold(&store);
        writes.erase(gone, store.incarnation().unwrap() + 1);
        store.commit(writes, true).unwrap();
        now.lives.retain(|life| life.number() != gone);
        drop(store);
        let refused = judge(&FileStore::open_any(&bench.path).unwrap(), &now);
        assert!(refused.is_subset(&town.touched(&files[0])));
    }
}

/// Without an index, whose a damaged place is can be unknown: then nobody is served. But nobody is wrong, and whoever was once found
/// damaged is known to be.
#[test]
fn damage_without_an_index() {
    let (mut bench, mut tally, mut dice) = (Bench::new(), Tally::default(), Dice::new(33));
    for trial in 0..trials(1_000) {
        let (name, town) = TOWNS.all()[trial % 4];
        bench.label = format!("without an index, trial {trial}, {name}");
        let mut files = town.files.clone();
        let groups = groups(&files[0]);
        // The last commit cannot be told from one that was under way, unless the file was just written anew.
        let (last, end) = groups[groups.len() - 1];
        let last = if name == "copied" { end } else { last };
        match trial % 3 {
            0 => {
                let place = dice.below(last);
                flip(&mut files[0], place, &mut dice);
            }
            1 if name == "copied" && dice.once_in(2) => files[0].truncate(8192 + dice.below(end - 8192)),
            1 => {
                let (from, to) = *dice.pick(&groups);
                let at = 8192 + 16 * dice.below((last - 8192) / 16 + 1);
                let length = (to - from).min(last - at);
                files[0].copy_within(from..from + length, at);
            }
            _ => {
                while files[0][..last] == town.files[0][..last] {
                    files[0].clone_from(&town.files[0]);
                    aimed(&[USER, RULES])(town, &mut files[0], &mut dice);
                }
            }
        }
        let (touched, lost) = (town.touched(&files[0]), town.lost(&files[0]));
        write(&bench.path, &files);
        std::fs::remove_file(&paths(&bench.path)[2]).unwrap();
        match FileStore::open_any(&bench.path) {
            Ok(store) => {
                let refused = judge(&store, town);
                assert!(refused.is_subset(&touched) && lost.is_subset(&refused));
                tally.opened += 1;
                tally.refused += refused.len();
            }
            Err(error) => assert!(matches!(error, StoreError::Unaccounted), "{error}"),
        }
        tally.trials += 1;
        if trial % 3 == 2 {
            write(&bench.path, &files);
            let store = FileStore::open_any(&bench.path).unwrap();
            let (before, mut now) = (judge(&store, town), town.clone());
            arrive(&store, &mut now, "somebody new", &mut dice).unwrap();
            drop(store);
            std::fs::remove_file(&paths(&bench.path)[2]).unwrap();
            // Whose a frame is, its head says.
            let head = |frame: &Frame| frame.offset..frame.offset + 28;
            let beheaded = town
                .damaged_frames(&files[0])
                .any(|frame| files[0][head(frame)] != town.files[0][head(frame)]);
            match FileStore::open_any(&bench.path) {
                Ok(store) => assert_eq!(judge(&store, &now), before),
                Err(error) => assert!(beheaded && matches!(error, StoreError::Unaccounted), "{error}"),
            }
        }
    }
    tally.print("damage without an index");
}
