//! Lost pages: blank, reverted to an earlier content, exchanged, or with a flipped bit. The restored user is
//! up to date, or the store reports an earlier user, or nothing is restored. An older user is never restored
//! silently.
//!
//! `FABLE_LONG=1 cargo test -p fable-embedded --test it lost::` looks at every moment.

use crate::common::{Known, Life, TINY, begin, bytes, layout, scratch, vacant};
use core::ops::Range;
use embedded_storage::nor_flash::NorFlash;
use fable_core::{Action, Context};
use fable_embedded::Device;
use fable_embedded::flash::{FlashError, FlashStore, Layout, Restored, block_on};
use fable_embedded::mock::Mock;

fn stride(short: usize) -> usize {
    if std::env::var_os("FABLE_LONG").is_some() { 1 } else { short }
}

/// A moment of a life: what the flash held then.
struct Moment<const W: usize, const P: usize> {
    flash: Mock<W, P>,
    generation: u32,
}

/// What became of damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Exact,
    /// Said to be rolled back, to the state before this step.
    RolledBack(usize),
    /// Not said, and the state is that before this step.
    Older(usize),
    /// The same, but something stands after the last event.
    Torn(usize),
    Refused,
}

#[derive(Debug, Default)]
struct Count {
    exact: u32,
    rolled_back: u32,
    older: u32,
    torn: u32,
    refused: u32,
}

impl Count {
    fn add(&mut self, outcome: Outcome) {
        *match outcome {
            Outcome::Exact => &mut self.exact,
            Outcome::RolledBack(_) => &mut self.rolled_back,
            Outcome::Older(_) => &mut self.older,
            Outcome::Torn(_) => &mut self.torn,
            Outcome::Refused => &mut self.refused,
        } += 1;
    }
}

/// A life on one kind of flash, moment after moment.
struct Trial<const W: usize, const P: usize> {
    life: Life,
    layout: Layout,
    moments: Vec<Moment<W, P>>,
}

impl<const W: usize, const P: usize> Trial<W, P> {
    fn new(life: Life, journal: u32) -> Self {
        let layout = layout::<Mock<W, P>>(life.policy.catalog(), journal);
        let flash = Mock::new(layout.region().len() / P);
        let (mut store, mut learner, mut workspace) = begin(flash, layout, &life.policy);
        let mut moments = vec![];
        for step in 0..=life.steps.len() {
            moments.push(Moment { flash: store.flash().clone(), generation: store.statistics().generation });
            if step < life.steps.len() {
                life.perform(&mut store, &mut learner, &mut workspace, step).unwrap();
            }
        }
        Self { life, layout, moments }
    }

    fn pages(&self) -> Range<usize> {
        0..self.layout.region().len() / P
    }

    /// Pages of the journal that are in use.
    fn reached(&self, flash: &Mock<W, P>) -> usize {
        let used = |page: &usize| flash.bytes()[page * P..][..P].iter().any(|byte| *byte != 0xff);
        (0..self.layout.journal().len() / P).rev().find(used).map_or(0, |page| page + 1)
    }

    fn restore(&self, flash: Mock<W, P>) -> Result<(FlashStore<Mock<W, P>>, Known, Restored), FlashError> {
        let (mut store, mut learner) = (FlashStore::new(flash, self.layout), vacant(&self.life.policy));
        let restored =
            block_on(store.restore(&self.life.policy, &mut learner, &mut scratch(&self.life.policy)))?;
        Ok((store, learner, restored))
    }

    /// Restores from a damaged flash that held one of these states. If the user is an earlier one, continues
    /// from there.
    fn judge(&self, flash: Mock<W, P>, step: usize, right: &[&Vec<u8>]) -> Outcome {
        let Ok((store, learner, restored)) = self.restore(flash) else { return Outcome::Refused };
        let found = bytes(&learner);
        let older = || {
            self.life.states[..step]
                .iter()
                .rposition(|state| *state == found)
                .expect("a state that there was")
        };
        if restored.rolled_back {
            let (store, again, repeated) = self.restore(store.into_flash()).unwrap();
            // It is said until something is stored, as the end of forgetting is at once.
            assert!((repeated.rolled_back || restored.repaired) && again == learner);
            self.go_on(store, again);
            return Outcome::RolledBack(
                self.life.states[..=step].iter().rposition(|state| *state == found).unwrap(),
            );
        }
        if right.contains(&&found) {
            self.go_on(store, learner);
            Outcome::Exact
        } else if restored.torn {
            Outcome::Torn(older())
        } else {
            Outcome::Older(older())
        }
    }

    /// Stores an event, and finds it again after a restart that has nothing more to report.
    fn go_on(&self, mut store: FlashStore<Mock<W, P>>, mut learner: Known) {
        let (catalog, mut workspace) = (self.life.policy.catalog(), scratch(&self.life.policy));
        let context = Context::new(catalog, None, &vec![0.5; catalog.definition().signals.len()]).unwrap();
        let mut device = Device::new(learner.bind(&self.life.policy, &mut workspace).unwrap(), &mut store);
        block_on(device.observe_async(&context, Action(1), 0.25)).unwrap();
        let (_, again, restored) = self.restore(store.into_flash()).unwrap();
        assert!(again == learner && !restored.rolled_back);
    }

    fn blank(mut flash: Mock<W, P>, page: usize) -> Mock<W, P> {
        let at = u32::try_from(page * P).unwrap();
        flash.erase(at, at + u32::try_from(P).unwrap()).unwrap();
        flash
    }

    /// Every page blank, one at a time, at every moment.
    fn blank_pages(&self, stride: usize) -> Count {
        let mut count = Count::default();
        for (step, moment) in self.moments.iter().enumerate().step_by(stride) {
            for page in self.pages() {
                let outcome =
                    self.judge(Self::blank(moment.flash.clone(), page), step, &[&self.life.states[step]]);
                assert!(
                    !matches!(outcome, Outcome::Older(_) | Outcome::Torn(_)),
                    "step {step}, page {page}: {outcome:?}"
                );
                count.add(outcome);
            }
        }
        count
    }

    /// Every page as it was at some earlier moment. Only the newest page of the journal can revert
    /// undetected, and only to a time when it was already in use.
    fn revert_pages(&self, stride: usize) -> Count {
        let mut count = Count::default();
        for (step, moment) in self.moments.iter().enumerate().step_by(stride) {
            let reached = self.reached(&moment.flash);
            for page in self.pages() {
                for (before, earlier) in
                    self.moments[..step].iter().enumerate().skip(step % 3).step_by(stride)
                {
                    let (mut flash, at) = (moment.flash.clone(), page * P);
                    flash.bytes_mut()[at..][..P].copy_from_slice(&earlier.flash.bytes()[at..][..P]);
                    if flash.bytes() == moment.flash.bytes() {
                        continue;
                    }
                    let outcome = self.judge(flash, step, &[&self.life.states[step]]);
                    if let Outcome::Older(found) | Outcome::Torn(found) = outcome {
                        let newest = page + 1 == reached && self.reached(&earlier.flash) == reached;
                        assert!(
                            newest && earlier.generation == moment.generation,
                            "step {step}, page {page} of step {before}"
                        );
                        assert_eq!(self.life.states[found], self.life.states[before]);
                    }
                    count.add(outcome);
                }
            }
        }
        count
    }

    /// Any two pages exchanged.
    fn swap_pages(&self, stride: usize) -> Count {
        let mut count = Count::default();
        for (step, moment) in self.moments.iter().enumerate().step_by(stride) {
            for (one, other) in self.pages().flat_map(|one| (0..one).map(move |other| (one, other))) {
                let mut flash = moment.flash.clone();
                let (front, back) = flash.bytes_mut().split_at_mut(one * P);
                front[other * P..][..P].swap_with_slice(&mut back[..P]);
                let outcome = self.judge(flash, step, &[&self.life.states[step]]);
                assert!(
                    !matches!(outcome, Outcome::Older(_) | Outcome::Torn(_)),
                    "step {step}, {one} and {other}: {outcome:?}"
                );
                count.add(outcome);
            }
        }
        count
    }

    /// Bits of every page. A last event that does not count any more looks like one that was cut short.
    fn flip_bits(&self, stride: usize, flips: usize) -> Count {
        let mut count = Count::default();
        for (step, moment) in self.moments.iter().enumerate().step_by(stride) {
            for page in self.pages() {
                for flip in 0..flips {
                    let bit = (flip * P * 8 / flips + step * 37 + flip * 11) % (P * 8);
                    let mut flash = moment.flash.clone();
                    flash.bytes_mut()[page * P + bit / 8] ^= 1 << (bit % 8);
                    let outcome = self.judge(flash, step, &[&self.life.states[step]]);
                    match outcome {
                        Outcome::Torn(found) => {
                            assert_eq!(self.life.states[found], self.life.states[step - 1]);
                        }
                        Outcome::Older(_) => panic!("step {step}, page {page}, bit {bit}: {outcome:?}"),
                        Outcome::Exact | Outcome::RolledBack(_) | Outcome::Refused => {}
                    }
                    count.add(outcome);
                }
            }
        }
        count
    }

    /// A page that is lost after a power cut in a step, before the next start and after it.
    fn blank_after_cuts(&self, steps: impl Iterator<Item = usize>, stride: usize) -> Count {
        let (mut count, states, policy) = (Count::default(), &self.life.states, &self.life.policy);
        for step in steps {
            for after in ((step % stride) as u64..).step_by(stride) {
                let (mut store, mut learner, _) = self.restore(self.moments[step].flash.clone()).unwrap();
                store.flash().seed(after * 31 + step as u64);
                store.flash().cut_after(after);
                let _ = self.life.perform(&mut store, &mut learner, &mut scratch(policy), step);
                let mut flash = store.into_flash();
                if !flash.power_on() {
                    break;
                }
                // Nobody knows whether the step was done.
                for page in self.pages() {
                    let outcome = self.judge(
                        Self::blank(flash.clone(), page),
                        step + 1,
                        &[&states[step], &states[step + 1]],
                    );
                    assert!(
                        !matches!(outcome, Outcome::Older(_) | Outcome::Torn(_)),
                        "{step}, {after}, {page}: {outcome:?}"
                    );
                    count.add(outcome);
                }
                // A start has said whether it was.
                let (store, learner, restored) = self.restore(flash).unwrap();
                assert!(!restored.rolled_back, "a power cut is not a lost page");
                let flash = store.into_flash();
                for page in self.pages() {
                    let outcome = self.judge(Self::blank(flash.clone(), page), step + 1, &[&bytes(&learner)]);
                    assert!(
                        !matches!(outcome, Outcome::Older(_) | Outcome::Torn(_)),
                        "{step}, {after}, {page}: {outcome:?}"
                    );
                    count.add(outcome);
                }
            }
        }
        count
    }
}

fn tiny(count: usize) -> Life {
    Life::new(&TINY, count, count / 4, count / 2, count * 3 / 4)
}

/// All kinds of damage on one kind of flash.
fn damage<const W: usize, const P: usize>(life: Life, journal: u32, short: usize) {
    let trial = Trial::<W, P>::new(life, journal);
    let (blank, reverted) = (trial.blank_pages(stride(short)), trial.revert_pages(stride(5 * short)));
    let (swapped, flipped) = (trial.swap_pages(stride(3 * short)), trial.flip_bits(stride(5 * short), 64));
    println!(
        "words of {W} and pages of {P} bytes, {journal} of journal: blank {blank:?}\n  reverted {reverted:?}"
    );
    println!("  swapped {swapped:?}\n  flipped {flipped:?}");
    assert!(blank.rolled_back > 0 && blank.exact > 0 && blank.refused > 0, "{blank:?}");
    assert!(reverted.rolled_back > 0, "{reverted:?}");
}

#[test]
fn damage_is_said_on_small_pages() {
    damage::<4, 1024>(tiny(200), 2, 1);
    damage::<8, 1024>(tiny(200), 3, 2);
    damage::<1, 1024>(tiny(300), 5, 3);
    damage::<32, 1024>(tiny(200), 4, 3);
}

#[test]
fn damage_is_said_where_a_slot_has_many_pages() {
    damage::<4, 1024>(Life::tau2(120), 3, 3);
}

#[test]
fn damage_is_said_on_large_pages() {
    damage::<4, 8192>(tiny(120), 2, 3);
}

#[test]
fn a_page_that_is_lost_after_a_cut_is_said() {
    let trial = Trial::<4, 1024>::new(tiny(200), 2);
    let special = [50, 100, 150].into_iter();
    println!("compaction, upload, forgetting: {:?}", trial.blank_after_cuts(special, stride(11)));
    // Where the journal goes on to its next page, or is compacted.
    let moves = (0..200).filter(|step| {
        let [one, other] = [step, &(step + 1)].map(|step| &trial.moments[*step]);
        one.generation != other.generation || trial.reached(&one.flash) != trial.reached(&other.flash)
    });
    println!("next pages: {:?}", trial.blank_after_cuts(moves, stride(5)));
}

/// Going on from an older user is as safe as anything else: the power may fail at any byte of it.
#[test]
fn going_on_survives_cuts() {
    let trial = Trial::<4, 1024>::new(Life::new(&TINY, 200, usize::MAX, usize::MAX, usize::MAX), 3);
    let step = (0..200).rev().find(|step| trial.reached(&trial.moments[*step].flash) == 3).unwrap();
    let catalog = trial.life.policy.catalog();
    let context = Context::new(catalog, None, &[0.5]).unwrap();
    for page in [1, 2] {
        let lost = Trial::blank(trial.moments[step].flash.clone(), page);
        let mut cuts = 0;
        for after in (0..).step_by(stride(3)) {
            let (mut store, mut learner, restored) = trial.restore(lost.clone()).unwrap();
            assert!(restored.rolled_back && !restored.torn && !restored.repaired);
            let (before, observations, mut workspace) =
                (bytes(&learner), learner.state().observations(), scratch(&trial.life.policy));
            store.flash().seed(after);
            store.flash().cut_after(after);
            let mut device =
                Device::new(learner.bind(&trial.life.policy, &mut workspace).unwrap(), &mut store);
            let done = block_on(device.observe_async(&context, Action(1), 0.25));
            let mut flash = store.into_flash();
            if !flash.power_on() {
                assert_eq!(done, Ok(()));
                break;
            }
            cuts += 1;
            let (store, again, _) = trial.restore(flash).unwrap();
            // The event is the last thing that is written.
            assert!(
                bytes(&again) == before || again.state().observations() == observations + 1,
                "page {page}, cut {after}"
            );
            trial.go_on(store, again);
        }
        assert!(cuts > 100, "{cuts}");
    }
}

/// A store with only a journal does not pass for a blank region when the journal is lost, since it would be
/// formatted.
#[test]
fn a_lost_journal_is_not_a_blank_region() {
    let trial = Trial::<4, 1024>::new(tiny(8), 2);
    for moment in &trial.moments[..2] {
        let restored = trial.restore(Trial::blank(moment.flash.clone(), 0));
        assert_eq!(restored.err(), Some(FlashError::Foreign));
    }
}
