//! The store's file is written anew while commits and forgetting go on.

use super::super::commit::Press;
use super::super::frame::{Group, Kind, START};
use super::super::seal::Nonces;
use super::super::{Damage, FileStore, Identity};
use super::life::{Life, guests, number, policies};
use crate::memory::Bounds;
use crate::store::{Store, StoreError, transfer};

#[test]
fn a_store_is_written_anew_while_it_is_in_use() {
    let policies = Box::leak(Box::new(policies()));
    let guests = guests(policies);
    let mut anew = 0;
    for seed in 0..6 {
        let mut life = Life::new(seed, policies, &guests);
        life.slack = 8_000;
        for session in 0..4 {
            life.open().unwrap();
            for _ in 0..60 {
                life.step().unwrap();
                life.store().tend_idle();
            }
            life.compare();
            // The index is made from the file when the store was not closed.
            if session % 2 == 0 {
                life.disk.stop();
            }
            life.leave();
            life.disk.recover();
        }
        life.open().unwrap();
        anew += life.disk.placed();
    }
    println!("written anew {anew} times");
    assert!(anew > 20, "{anew}");
}

#[test]
fn so_are_files() {
    let policies = Box::leak(Box::new(policies()));
    let guests = guests(policies);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("users.fable");
    drop(FileStore::open(&path, &Identity::new(policies.newcomers())).unwrap());
    let mut life = Life::new(9, policies, &guests);
    (life.path, life.slack) = (Some(path.clone()), 8_000);
    let (mut shrunk, mut last) = (0, 0);
    for _ in 0..8 {
        life.open().unwrap();
        for _ in 0..60 {
            life.step().unwrap();
            life.store().tend_idle();
            shrunk += usize::from(life.store().bytes() < last);
            last = life.store().bytes();
        }
        life.compare();
        life.leave();
        // Without its index the file says the same.
        std::fs::remove_file(folder.path().join("users.fable.index")).unwrap();
    }
    life.open().unwrap();
    println!("written anew {shrunk} times");
    assert!(shrunk > 3, "{shrunk}");
}

/// A copy has read somebody who is forgotten then: nothing of that is written for whoever gets the key's place.
#[test]
fn what_was_read_of_the_forgotten_is_written_for_nobody() {
    let policies = Box::leak(Box::new(policies()));
    let store = FileStore::in_memory(&Identity::new(policies.newcomers())).unwrap();
    let guest = &guests(policies)[0];
    transfer::import(&store, policies.newcomers(), &guest.bytes).unwrap();
    let entry = store.read().index.users[&number(&guest.name)].clone();
    let write = || {
        let shared = store.read();
        let nonces = Nonces::new().unwrap();
        let (data, keys, index) = (&shared.data, &store.keys, &shared.index);
        let press = Press { data, keys, nonces: &nonces, index, history: None, memory: Bounds::default() };
        press.frame(&mut Group::at(START), &entry, (Kind::Rules, 0), &[b"{}"])
    };
    write().unwrap();
    store.forget(&[&guest.name]).unwrap();
    assert!(matches!(write(), Err(StoreError::User(Damage::Key))));
}
