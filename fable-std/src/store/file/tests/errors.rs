//! A call that fails: the store says so and is as before, or says that it does not know, or goes on. Nobody else is touched.

use super::super::medium::Medium;
use super::disk::{Dice, Failure};
use super::life::{Guest, Life, guests, is_damage, policies};
use crate::store::{Policies, StoreError};
use std::io::ErrorKind;

/// What came of an error.
#[derive(Debug, Default)]
struct Outcomes {
    injected: usize,
    refused: usize,
    uncertain: usize,
    unopened: usize,
}

#[test]
fn a_call_that_fails_changes_nothing_or_says_so() {
    let policies = Box::leak(Box::new(policies()));
    let guests = guests(policies);
    let mut outcomes = Outcomes::default();
    let kinds = [ErrorKind::Other, ErrorKind::StorageFull];
    let failures = kinds.into_iter().flat_map(|kind| [Failure::Once(kind), Failure::Half(kind)]);
    for (failure, seed) in failures.clone().chain(failures).zip(1..) {
        for call in 1.. {
            let before = outcomes.injected;
            tour(seed, call, (failure, false), policies, &guests, &mut outcomes);
            if outcomes.injected == before {
                break; // all of the life's calls have failed once
            }
        }
    }
    let mut dice = Dice(5);
    for seed in 0..300 {
        let call = 1 + dice.below(if seed % 3 == 0 { 1_500 } else { 500 }) as u64;
        tour(seed, call, (Failure::Once(ErrorKind::Other), true), policies, &guests, &mut outcomes);
    }
    println!("{outcomes:?}");
    assert!(outcomes.injected >= 300, "{outcomes:?}");
    assert!(outcomes.refused > 10 && outcomes.uncertain > 10 && outcomes.unopened > 10, "{outcomes:?}");
}

/// A life with an error.
fn tour(
    seed: u64,
    call: u64,
    (failure, reads): (Failure, bool),
    policies: &'static Policies<'static, f64>,
    guests: &[Guest],
    outcomes: &mut Outcomes,
) {
    let mut life = Life::new(seed, policies, guests);
    let mut dice = Dice(call);
    life.open().unwrap();
    (0..12).for_each(|_| life.step().unwrap());
    if seed.is_multiple_of(2) {
        life.disk.stop();
    }
    life.leave();
    life.disk.recover();
    if reads && dice.one_in(2) {
        life.disk.index.set_len(0).unwrap(); // the store's own file has to be read
    }
    life.disk.fail(call, failure, reads);
    let mut lived = life.open();
    let mut failed = false;
    if let Err(error) = &lived {
        // What cannot be read may be refused as damaged, but it is not.
        assert!(life.disk.has_failed() && (reads || !is_damage(error)), "{error}");
        (failed, outcomes.unopened) = (true, outcomes.unopened + 1);
        life.leave();
        life.disk.recover();
        lived = life.open();
    }
    for _ in 0..14 {
        lived = lived.and_then(|()| life.step());
        let Err(error) = &lived else { continue };
        assert!(life.disk.has_failed() && !is_damage(error), "{error}");
        failed = true;
        life.disk.recover();
        if matches!(error, StoreError::Uncertain(_)) {
            outcomes.uncertain += 1;
            assert!(matches!(life.store().sync_now(), Err(StoreError::Uncertain(_))));
            if dice.one_in(2) {
                life.leave(); // cleanly, if it can
            }
            life.disk.stop();
            life.leave();
            if dice.one_in(2) {
                life.disk.cut(&mut dice);
            }
            life.disk.recover();
            lived = life.open();
        } else {
            outcomes.refused += 1;
            life.compare();
            lived = Ok(());
        }
    }
    lived.unwrap();
    outcomes.injected += usize::from(failed || life.disk.has_failed());
    life.disk.recover();
    life.compare();
    if dice.one_in(2) {
        life.disk.stop();
    }
    life.leave();
    if dice.one_in(2) {
        life.disk.cut(&mut dice);
    }
    life.disk.recover();
    life.open().unwrap();
    (0..3).for_each(|_| life.step().unwrap());
}

/// Forgetting needs no room.
#[test]
fn on_a_full_disk_users_can_be_forgotten() {
    let policies = Box::leak(Box::new(policies()));
    let guests = guests(policies);
    let (mut refused, mut done) = (0, 0);
    for seed in 0..20 {
        let mut life = Life::new(seed, policies, &guests);
        life.open().unwrap();
        (0..20).for_each(|_| life.step().unwrap());
        life.disk.fill();
        for _ in 0..4 {
            life.forget().unwrap();
            let events = life.events();
            assert!(
                events.as_ref().is_ok()
                    || matches!(&events, Err(StoreError::File(error)) if error.kind() == ErrorKind::StorageFull),
                "{events:?}"
            );
            refused += usize::from(events.is_err());
            done += usize::from(events.is_ok());
            life.compare();
        }
        life.disk.recover();
        (0..5).for_each(|_| life.step().unwrap());
        life.disk.stop();
        life.leave();
        life.disk.recover();
        life.open().unwrap();
    }
    assert!(refused > 40 && done == 0, "{refused} {done}");
}
