//! Power cuts at every byte. Acknowledged events are there, bit for bit. Unacknowledged events are there
//! whole or not at all.
//!
//! `FABLE_LONG=1 cargo test -p fable-embedded --test it power::` makes more than 100,000 cuts.

use crate::common::{
    Known, Life, Scratch, Step, TINY, USER, begin, bytes, layout, remembers, scratch, vacant,
};
use core::cell::Cell;
use fable_core::journal::Event;
use fable_embedded::flash::{FlashError, FlashStore, Layout, block_on};
use fable_embedded::mock::Mock;

fn long() -> bool {
    std::env::var_os("FABLE_LONG").is_some()
}

fn mix(numbers: &[u64]) -> u64 {
    numbers.iter().fold(0x9e37_79b9_7f4a_7c15, |hash, number| {
        let hash = (hash ^ number).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        hash ^ (hash >> 29)
    })
}

/// The life under test on one kind of flash.
struct Trial<'l, const W: usize, const P: usize> {
    life: &'l Life,
    layout: Layout,
    cuts: Cell<u64>,
    refused: Cell<u64>,
}

impl<'l, const W: usize, const P: usize> Trial<'l, W, P> {
    fn new(life: &'l Life, journal: u32) -> Self {
        let layout = layout::<Mock<W, P>>(life.policy.catalog(), journal);
        Self { life, layout, cuts: Cell::new(0), refused: Cell::new(0) }
    }

    fn flash(&self, strict: bool) -> Mock<W, P> {
        let flash = Mock::new(self.layout.region().len() / P);
        if strict { flash.strict() } else { flash }
    }

    fn restore(&self, flash: Mock<W, P>) -> Result<(FlashStore<Mock<W, P>>, Known), FlashError> {
        let (mut store, mut learner) = (FlashStore::new(flash, self.layout), vacant(&self.life.policy));
        let restored =
            block_on(store.restore(&self.life.policy, &mut learner, &mut scratch(&self.life.policy)))?;
        assert!(!restored.rolled_back, "a power cut is not a lost page");
        Ok((store, learner))
    }

    /// The flash before every step.
    fn checkpoints(&self, strict: bool) -> Vec<Mock<W, P>> {
        let (mut store, mut learner, mut workspace) =
            begin(self.flash(strict), self.layout, &self.life.policy);
        let mut flashes = vec![];
        for step in 0..self.life.steps.len() {
            flashes.push(store.flash().clone());
            self.life.perform(&mut store, &mut learner, &mut workspace, step).unwrap();
            assert_eq!(bytes(&learner), self.life.states[step + 1]);
        }
        flashes.push(store.into_flash());
        flashes
    }

    /// After a cut in a step power returns, perhaps fails again, and the history continues as without the
    /// cut.
    fn recover(&self, mut flash: Mock<W, P>, step: usize, again: &[u64]) {
        for after in again {
            flash.cut_after(*after);
            let (mut store, mut learner) = (FlashStore::new(flash, self.layout), vacant(&self.life.policy));
            let restored =
                block_on(store.restore(&self.life.policy, &mut learner, &mut scratch(&self.life.policy)));
            flash = store.into_flash();
            assert!(restored.is_err() || restored.is_ok_and(|restored| !restored.rolled_back));
            if flash.power_on() {
                self.cuts.set(self.cuts.get() + 1);
            }
        }
        let (mut store, mut learner) = self.restore(flash).unwrap();
        let states = &self.life.states;
        let found = bytes(&learner);
        let done = if found == states[step + 1]
            && (found != states[step] || !matches!(self.life.steps[step], Step::Event(_)))
        {
            step + 1
        } else {
            assert_eq!(found, states[step], "neither before nor after step {step}");
            step
        };
        if matches!(self.life.steps[step], Step::Event(Event::Forget { .. })) && done == step + 1 {
            assert!(!remembers(store.flash().bytes(), self.life, step + 1), "forgotten and still readable");
        }
        let generation = store.statistics().generation;
        let mut workspace = scratch(&self.life.policy);
        for next in done..(done + 3).min(self.life.steps.len()) {
            self.life.perform(&mut store, &mut learner, &mut workspace, next).unwrap();
            assert_eq!(bytes(&learner), states[next + 1]);
            let (_, again) = self.restore(store.flash().clone()).unwrap();
            assert_eq!(again, learner, "after step {next}");
        }
        self.refused.set(self.refused.get() + u64::from(store.statistics().generation > generation));
    }

    /// One cut after so many steps of the flash in one step of the life; false when the step was over before.
    fn cut(&self, checkpoints: &[Mock<W, P>], step: usize, after: u64) -> bool {
        let warm = step.saturating_sub(usize::from(mix(&[after]) & 1 == 0) * 2);
        let (mut store, mut learner) = self.restore(checkpoints[warm].clone()).unwrap();
        let mut workspace = scratch(&self.life.policy);
        for step in warm..step {
            self.life.perform(&mut store, &mut learner, &mut workspace, step).unwrap();
        }
        let seed = mix(&[W as u64, P as u64, step as u64, after]);
        store.flash().seed(seed);
        store.flash().cut_after(after);
        let result = self.life.perform(&mut store, &mut learner, &mut workspace, step);
        if !store.flash().power_on() {
            assert_eq!(result, Ok(()));
            return false;
        }
        self.cuts.set(self.cuts.get() + 1);
        if seed.is_multiple_of(3) {
            self.go_on(store, learner, &mut workspace, step, result);
        } else {
            let again = [seed >> 8 & 0x3f, seed >> 16 & 0x1ff];
            self.recover(store.into_flash(), step, &again[..(seed >> 32) as usize % 3]);
        }
        true
    }

    /// Only the flash lost its power: the same store and learner go on without a restart.
    fn go_on(
        &self,
        mut store: FlashStore<Mock<W, P>>,
        mut learner: Known,
        workspace: &mut Scratch,
        step: usize,
        result: Result<(), FlashError>,
    ) {
        if learner.snapshot().is_err() {
            return self.recover(store.into_flash(), step, &[]); // the upload was committed, loading it failed
        }
        let found = bytes(&learner);
        let forgot = result == Err(FlashError::Unfinished);
        assert_eq!(found, self.life.states[step + usize::from(forgot || result.is_ok())]);
        let done = if forgot || result.is_ok() { step + 1 } else { step };
        for next in done..(done + 2).min(self.life.steps.len()) {
            self.life.perform(&mut store, &mut learner, workspace, next).unwrap();
            assert_eq!(bytes(&learner), self.life.states[next + 1]);
            let (_, again) = self.restore(store.flash().clone()).unwrap();
            assert_eq!(again, learner, "after step {next}");
        }
    }
}

/// Every byte of every step, or every so many.
fn exhaustive<const W: usize>(life: &Life, strict: bool, stride: u64) -> (u64, u64) {
    let trial = Trial::<W, 1024>::new(life, 2);
    let checkpoints = trial.checkpoints(strict);
    for step in 0..life.steps.len() {
        let mut after = mix(&[step as u64]) % stride;
        while trial.cut(&checkpoints, step, after) {
            after += stride;
        }
    }
    (trial.cuts.get(), trial.refused.get())
}

#[test]
fn a_cut_at_any_byte_loses_nothing() {
    let life = Life::new(&TINY, 150, usize::MAX, 100, 75);
    let stride = if long() { 1 } else { 7 };
    let mut cuts = 0;
    for strict in [false, true] {
        for (word, (done, refused)) in [
            (1, exhaustive::<1>(&life, strict, stride)),
            (4, exhaustive::<4>(&life, strict, stride)),
            (8, exhaustive::<8>(&life, strict, stride)),
        ] {
            println!("{word}-byte words, strict {strict}: {done} cuts, {refused} compactions after a cut");
            cuts += done;
        }
    }
    assert!(cuts > if long() { 40_000 } else { 5_000 }, "{cuts}");
}

/// Whole lives with several cuts each, at random moments.
fn random<const W: usize, const P: usize>(life: &Life, lives: u64) -> u64 {
    let trial = Trial::<W, P>::new(life, 2);
    let policy = &life.policy;
    for number in 0..lives {
        let strict = number % 2 == 1;
        let (mut store, mut learner, mut workspace) = begin(trial.flash(strict), trial.layout, policy);
        let mut random = mix(&[number, W as u64, P as u64]);
        let mut step = 0;
        while step < life.steps.len() {
            random = mix(&[random]);
            store.flash().seed(random);
            store.flash().cut_after((random >> 8) & [0x7f, 0xff, 0xff, 0x1fff][random as usize % 4]); // a compaction takes 2,500
            while step < life.steps.len()
                && life.perform(&mut store, &mut learner, &mut workspace, step).is_ok()
            {
                step += 1;
            }
            let mut flash = store.into_flash();
            trial.cuts.set(trial.cuts.get() + u64::from(flash.power_on()));
            (store, learner) = trial.restore(flash).unwrap();
            let found = bytes(&learner);
            if step < life.steps.len() && found != life.states[step] {
                assert_eq!(found, life.states[step + 1], "life {number}, step {step}");
                step += 1;
            }
        }
        assert_eq!(bytes(&learner), life.states[step]);
    }
    trial.cuts.get()
}

#[test]
fn lives_on_every_geometry_survive_random_cuts() {
    let life = Life::tau2(64);
    let factor = if long() { 80 } else { 1 };
    let mut cuts = 0;
    cuts += random::<1, 1024>(&life, 20 * factor)
        + random::<4, 1024>(&life, 20 * factor)
        + random::<8, 1024>(&life, 20 * factor);
    cuts += random::<1, 4096>(&life, 8 * factor)
        + random::<4, 4096>(&life, 8 * factor)
        + random::<8, 2048>(&life, 8 * factor);
    cuts += random::<1, 65_536>(&life, factor)
        + random::<4, 131_072>(&life, factor)
        + random::<8, 16_384>(&life, 2 * factor);
    cuts += random::<4, 262_144>(&life, factor) + random::<8, 262_144>(&life, factor);
    println!("{cuts} cuts");
    assert!(cuts > 800 * factor, "{cuts}");
}

/// Coins and what they have shown come back like the rest: cuts at any byte, and at random moments.
#[test]
fn coins_survive_cuts() {
    let life = Life::probed(96);
    assert!(life.coins() > 10, "{}", life.coins());
    let factor = if long() { 40 } else { 1 };
    let cuts = random::<4, 1024>(&life, 12 * factor)
        + random::<8, 2048>(&life, 8 * factor)
        + random::<1, 4096>(&life, 4 * factor);
    println!("{} coins, {cuts} cuts", life.coins());
    assert!(cuts > 200 * factor, "{cuts}");
    let (done, _) = exhaustive::<4>(&life, true, if long() { 1 } else { 211 });
    assert!(done > 40, "{done}");
}

/// A cut during formatting leaves a store or a region to be formatted, never foreign state.
#[test]
fn a_cut_in_format_is_no_state() {
    let life = Life::new(&TINY, 4, usize::MAX, usize::MAX, usize::MAX);
    let trial = Trial::<4, 1024>::new(&life, 2);
    for after in 0..200 {
        let mut store = FlashStore::new(trial.flash(true), trial.layout);
        store.flash().seed(after);
        store.flash().cut_after(after);
        let formatted = block_on(store.format(&life.policy, USER, 4));
        let mut flash = store.into_flash();
        assert_eq!(flash.power_on(), formatted.is_err());
        match trial.restore(flash.clone()) {
            Ok((_, learner)) => assert_eq!(bytes(&learner), life.states[0]),
            Err(FlashError::Unformatted | FlashError::Foreign | FlashError::Damaged) => {
                assert!(formatted.is_err());
            }
            Err(error) => panic!("{error}"),
        }
        let (store, learner, _) = begin(flash, trial.layout, &life.policy);
        assert_eq!((bytes(&learner), store.statistics().generation), (life.states[0].clone(), 0));
    }
}
