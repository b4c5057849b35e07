//! The power is cut at any moment: what was synced is there, what came after is there as far as some commit, and nobody is damaged.

use super::disk::{Dice, Failure};
use super::life::{Life, guests, is_damage, policies};

#[test]
fn a_power_cut_takes_nothing_that_was_promised() {
    let policies = Box::leak(Box::new(policies()));
    let guests = guests(policies);
    let (mut cuts, mut kills, mut closings, mut steps) = (0, 0, 0, 0);
    for seed in 0..LIVES {
        let mut life = Life::new(seed, policies, &guests);
        let mut dice = Dice(!seed);
        for _ in 0..CUTS {
            life.disk.recover();
            if dice.one_in(10) {
                // Only the process ends; what it has written is still to come to the disk.
                life.run(&mut dice, 40);
                life.disk.stop();
                life.leave();
                kills += 1;
                continue;
            }
            if dice.one_in(10) {
                life.run(&mut dice, 20);
                life.leave();
                closings += 1;
                continue;
            }
            life.disk.fail(1 + dice.below(60) as u64, Failure::PowerCut, false);
            life.run(&mut dice, 100);
            life.disk.stop();
            life.leave();
            life.disk.cut(&mut dice);
            cuts += 1;
        }
        steps += life.steps;
    }
    println!("{cuts} cuts, {kills} kills, {closings} closings, {steps} steps");
    assert!(cuts >= 1_500, "{cuts}");
}

const LIVES: u64 = 160;
const CUTS: usize = 12;

impl Life<'_> {
    /// Lives on until the disk stops.
    fn run(&mut self, dice: &mut Dice, longest: usize) {
        let mut lived = self.open();
        for _ in 0..dice.below(longest) {
            lived = lived.and_then(|()| self.step());
        }
        if let Err(error) = lived {
            assert!(self.disk.has_failed() && !is_damage(&error), "{error}");
        }
    }
}
