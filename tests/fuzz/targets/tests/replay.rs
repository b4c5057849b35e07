//! Replays the seeds of every target, and changes of them that are the same every time.

use fable_fuzz_targets::{Seed, TARGETS, Target, corpus, seeds};
use std::collections::BTreeSet;
use std::panic::catch_unwind;
use std::path::Path;
use std::{env, fs};

/// Longest seed of which every truncation and every flipped bit is an input.
const SMALL: usize = 256;

/// A test for each target. The number bounds the inputs of each kind so that they take half a second.
macro_rules! replays {
    ($($target:ident $inputs:literal)*) => {
        const REPLAYED: &[&str] = &[$(stringify!($target)),*];
        $(#[test] fn $target() { replay(stringify!($target), $inputs); })*
    };
}

replays! {
    body 2000
    catalog 2000
    device 2000
    event 1000
    exported 1000
    feedback 2000
    flash 1000
    frame 1000
    line 2000
    llm 1000
    log 2000
    mcp 2000
    memory 2000
    merge 2000
    metrics 2000
    names 2000
    place 2000
    prior 2000
    proxy 2000
    rows 2000
    settings 2000
    snapshot 2000
    store 200
    text 1000
    wishes 2000
}

#[test]
fn every_target_is_replayed() {
    let targets: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
    assert_eq!(REPLAYED, targets);
}

#[test]
fn every_target_has_a_seed() {
    for (target, _) in TARGETS {
        let seeds = seeds(target);
        let names: BTreeSet<&str> = seeds.iter().map(|seed| seed.name.as_str()).collect();
        assert!(!seeds.is_empty(), "{target} has no seed in tests/fuzz/corpus/{target}");
        assert_eq!(names.len(), seeds.len(), "{target} has two seeds of the same name");
    }
}

#[test]
fn every_file_of_the_corpus_has_a_target() {
    for entry in fs::read_dir(corpus()).unwrap() {
        let path = entry.unwrap().path();
        let known = TARGETS.iter().any(|(target, _)| path.ends_with(target));
        assert!(known && path.is_dir(), "{} is no folder of a target", path.display());
        for entry in fs::read_dir(&path).unwrap() {
            let file = entry.unwrap();
            assert!(file.file_type().unwrap().is_file(), "{} is no file", file.path().display());
        }
    }
}

/// Gives a target its seeds, then cuts and flipped bits of the small ones, then random edits.
fn replay(target: &str, inputs: usize) {
    let run = TARGETS.iter().find(|(name, _)| *name == target).unwrap().1;
    if let Some(path) = env::var_os("FABLE_INPUT") {
        return run(&fs::read(path).unwrap());
    }
    let seeds = seeds(target);
    for seed in &seeds {
        check(target, run, &seed.name, &seed.bytes);
    }
    let small = || seeds.iter().filter(|seed| seed.bytes.len() <= SMALL);
    let cuts = small().flat_map(|seed| (0..seed.bytes.len()).map(move |end| (seed, end, None)));
    let flips =
        small().flat_map(|seed| (0..8 * seed.bytes.len()).map(move |bit| (seed, bit / 8, Some(bit % 8))));
    let all = small().map(|seed| 9 * seed.bytes.len()).sum::<usize>();
    for (seed, at, bit) in cuts.chain(flips).step_by(all / inputs + 1) {
        let mut bytes = seed.bytes.clone();
        match bit {
            None => bytes.truncate(at),
            Some(bit) => bytes[at] ^= 1 << bit,
        }
        let bit = bit.map_or(String::new(), |bit| format!("-bit-{bit}"));
        check(target, run, &format!("{}-at-{at}{bit}", seed.name), &bytes);
    }
    let mut dice = Dice(0);
    for input in 0..inputs {
        check(target, run, &format!("edit-{input}"), &dice.edited(&seeds));
    }
}

/// Keeps an input that panics, and says how it is repeated.
fn check(target: &str, run: Target, name: &str, bytes: &[u8]) {
    if catch_unwind(|| run(bytes)).is_err() {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{target}-{name}"));
        fs::write(&path, bytes).unwrap();
        let again = "cargo test -p fable-fuzz-targets --test replay -- --exact";
        panic!("{target} panics with {name}; again: FABLE_INPUT={} {again} {target}", path.display());
    }
}

/// SplitMix64.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) % bound as u64) as usize
    }

    fn byte(&mut self) -> u8 {
        [0, 1, 0x7f, 0x80, 0xff, b'0', b'"', self.below(256) as u8][self.below(8)]
    }

    /// One of the seeds with one to four edits.
    fn edited(&mut self, seeds: &[Seed]) -> Vec<u8> {
        let mut bytes = seeds[self.below(seeds.len())].bytes.clone();
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len() + 1);
            let end = (at + 1 + self.below(16)).min(bytes.len());
            match self.below(8) {
                0 => bytes.truncate(at),
                1 => drop(bytes.drain(at..end)),
                2 => bytes.insert(at, self.byte()),
                3 => {
                    let piece = &seeds[self.below(seeds.len())].bytes;
                    let from = self.below(piece.len() + 1);
                    let to = (from + 1 + self.below(64)).min(piece.len());
                    drop(bytes.splice(at..end, piece[from..to].iter().copied()));
                }
                4 | 5 => bytes[at..end].iter_mut().take(1).for_each(|byte| *byte = self.byte()),
                _ => bytes[at..end].iter_mut().take(1).for_each(|byte| *byte ^= 1 << self.below(8)),
            }
        }
        bytes
    }
}
