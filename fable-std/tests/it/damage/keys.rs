//! Damage to the keys: each is there twice.

use super::after::{arrive, forget, sound};
use super::town::{Life, TOWNS, read, write};
use super::trial::{Bench, Tally, judge, told};
use super::{Harm, PAGE, flip, misdirect_page, swap_pages, trials, zero_sector};
use fable_serve_tests::dice::Dice;
use fable_std::store::{FileStore, Options, StoreError};
use std::collections::BTreeSet;

/// One copy is enough for everyone, and life goes on.
#[test]
fn one_copy_of_the_keys() {
    let damages: [(&str, usize, Harm); 4] = [
        ("keys: bit flips", 500, |bytes, dice| {
            let place = dice.below(bytes.len());
            flip(bytes, place, dice);
        }),
        ("keys: zeroed sectors", 200, |bytes, dice| zero_sector(bytes, dice)),
        ("keys: swapped pages", 200, |bytes, dice| swap_pages(bytes, dice)),
        ("keys: pages written over others", 200, |bytes, dice| misdirect_page(bytes, dice)),
    ];
    for (kind, full, damage) in damages {
        let (mut bench, mut tally, mut dice) = (Bench::new(), Tally::default(), Dice::new(full as u64 + 1));
        for trial in 0..trials(full) {
            let (name, town) = TOWNS.all()[trial % 4];
            bench.label = format!("{kind}, trial {trial}, {name}");
            let mut files = town.files.clone();
            damage(&mut files[1], &mut dice);
            write(&bench.path, &files);
            let (told, is_sound) = told(&bench.path, town);
            assert!(told.is_empty() && is_sound == (files == town.files));
            let mut now = town.clone();
            let store = FileStore::open_any(&bench.path).unwrap();
            assert!(judge(&store, town).is_empty());
            arrive(&store, &mut now, "somebody new", &mut dice).unwrap();
            let gone = sound(&now, &BTreeSet::new(), &mut dice)[0];
            forget(&store, &mut now, gone);
            drop(store);
            assert!(judge(&FileStore::open_any(&bench.path).unwrap(), &now).is_empty());
            tally.trials += 1;
            tally.opened += 1;
        }
        tally.print(kind);
    }
}

/// Users whose keys are gone are refused, and stay so in a repaired store; others come and go without them.
#[test]
fn truncated_keys() {
    let (mut bench, mut tally, mut dice) = (Bench::new(), Tally::default(), Dice::new(41));
    for trial in 0..trials(400) {
        let (name, town) = TOWNS.all()[trial % 4];
        let mut files = town.files.clone();
        let length = dice.below(files[1].len());
        bench.label = format!("keys: truncation to {length}, trial {trial}, {name}");
        files[1].truncate(length);
        write(&bench.path, &files);
        tally.trials += 1;
        let place = |slot: u32| 2 * PAGE + slot as usize / 64 * 2 * PAGE + slot as usize % 64 * 64;
        let opened = FileStore::open_any(&bench.path);
        if length < place(2) {
            assert!(matches!(opened, Err(StoreError::Key(_))), "{opened:?}");
            assert!(matches!(
                FileStore::check(&bench.path, &Options::default(), |_, _| {}),
                Err(StoreError::Key(_))
            ));
            continue;
        }
        let store = opened.unwrap();
        let is_lost = |life: &&Life| place(life.slot) + 64 > length;
        let lost: BTreeSet<u64> = town.lives.iter().filter(is_lost).map(Life::number).collect();
        let refused = judge(&store, town);
        assert_eq!(refused, lost);
        // Enough of them that they need new keys.
        let mut now = town.clone();
        for count in 0..40 {
            arrive(&store, &mut now, &format!("new {count}"), &mut dice).unwrap();
        }
        let gone = sound(&now, &lost, &mut dice);
        forget(&store, &mut now, gone[0]);
        if let Some(lost) = lost.first() {
            forget(&store, &mut now, *lost);
        }
        drop(store);
        let still: BTreeSet<u64> = lost.iter().skip(1).copied().collect();
        let refused = judge(&FileStore::open_any(&bench.path).unwrap(), &now);
        let other: Vec<_> = now
            .lives
            .iter()
            .filter(|life| refused.contains(&life.number()) != still.contains(&life.number()))
            .collect();
        assert!(
            other.is_empty(),
            "{:?}",
            other.iter().map(|life| (life.name(), life.slot)).collect::<Vec<_>>()
        );
        tally.opened += 1;
        tally.refused += lost.len();
        if trial % 4 == 0 {
            write(&bench.path, &files);
            let new = bench.new_path();
            FileStore::repair(&bench.path, &new, &Options::default(), |_, _| {}).unwrap();
            assert!(read(&bench.path) == files);
            assert_eq!(told(&new, town).0, lost);
            let store = FileStore::open_any(&new).unwrap();
            assert_eq!(judge(&store, town), lost);
            drop(store);
            assert_eq!(judge(&FileStore::open_any(&new).unwrap(), town), lost);
            tally.repaired += 1;
        }
    }
    tally.print("keys: truncations");
}

/// A page of the keys is as it was before somebody was forgotten: whoever was stays so.
#[test]
fn keys_that_were_not_written() {
    let (mut bench, mut tally, mut dice) = (Bench::new(), Tally::default(), Dice::new(42));
    for trial in 0..trials(100) {
        let (name, town) = TOWNS.all()[trial % 4];
        write(&bench.path, &town.files);
        let mut now = town.clone();
        let store = FileStore::open_any(&bench.path).unwrap();
        let gone = sound(&now, &BTreeSet::new(), &mut dice)[0];
        forget(&store, &mut now, gone);
        if trial % 2 == 0 {
            arrive(&store, &mut now, "somebody new", &mut dice).unwrap();
        }
        let killed = read(&bench.path);
        drop(store);
        let after = if trial % 3 == 0 { killed } else { read(&bench.path) };
        for page in (0..after[1].len()).step_by(PAGE) {
            bench.label = format!("keys: page {page} not written, trial {trial}, {name}");
            let mut files = after.clone();
            files[1][page..page + PAGE].copy_from_slice(&town.files[1][page..page + PAGE]);
            write(&bench.path, &files);
            assert!(judge(&FileStore::open_any(&bench.path).unwrap(), &now).is_empty());
            assert!(judge(&FileStore::open_any(&bench.path).unwrap(), &now).is_empty());
            tally.trials += 1;
            tally.opened += 1;
        }
    }
    tally.print("keys: pages as before");
}
