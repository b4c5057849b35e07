//! Everyone moves from a file into a database and back, also when it takes several attempts.

use super::people::{RULES, bits, compare, decide, desk, fetch, identity, open, policy};
use fable_core::catalog::TAU2;
use fable_core::{Policy, Settings, user_hash};
use fable_serve_tests::postgres::Database;
use fable_std::store::movement::{Refused, Why, move_everyone};
use fable_std::store::{
    FileStore, History, Identity, Options, Resident, Store, StoreError, Writes, transfer,
};
use std::num::NonZeroU64;
use std::path::Path;

/// Decisions of users, so many in each commit, with a snapshot after each.
fn live(store: &dyn Store, names: &[&str], rounds: usize) {
    let mut desk = desk();
    for name in names {
        let mut person = fetch(store, &mut desk, name);
        for _ in 0..rounds {
            let mut writes = Writes::default();
            decide(&mut desk, &mut person, &mut writes);
            writes.snapshot(person.known().number, person.entries(), &bits(&person));
            assert!(store.commit(writes, true).unwrap().is_empty());
        }
    }
}

fn file(path: &Path) -> FileStore {
    let options = Options { history: History::Last(NonZeroU64::new(40).unwrap()), ..Options::default() };
    FileStore::open_with(path, &identity(), &options).unwrap()
}

#[test]
fn everyone_moves_there_and_back() {
    let Some(database) = Database::new() else { return };
    let folder = tempfile::tempdir().unwrap();
    let from = file(&folder.path().join("from"));
    let names: Vec<String> = (0..150).map(|user| format!("user {user}")).collect();
    let all: Vec<&str> = names.iter().map(String::as_str).collect();
    live(&from, &all, 2);
    live(&from, &all[..5], 100); // these have a history that does not begin at the beginning
    from.forget(&["user 7", "user 8"]).unwrap();
    live(&from, &["user 7"], 3);
    let mut writes = Writes::default();
    writes.prior(9, b"a prior");
    writes.wishes(user_hash("user 3"), RULES[0]);
    // Somebody of whom there are rules alone, and who came before others were forgotten.
    let quiet = Resident::newcomer(&desk(), "quiet", user_hash("quiet"), 0, None).unwrap();
    writes.user(user_hash("quiet"), quiet.row());
    writes.wishes(user_hash("quiet"), RULES[0]);
    Store::commit(&from, writes, true).unwrap();
    let exports =
        |store: &dyn Store| all.iter().map(|name| transfer::export(store, name).ok()).collect::<Vec<_>>();
    let before = exports(&from);

    let to = open(&database.url());
    let (mut calls, mut last) = (0, (0, 0));
    let moved =
        move_everyone(&from, &to, &mut |done, total| (calls, last) = (calls + 1, (done, total))).unwrap();
    assert_eq!(
        (moved.moved, moved.same, moved.completed, moved.is_complete()),
        (150, 0, 0, true),
        "{moved:?}"
    );
    assert!(calls >= 3 && last == (150, 150), "{calls} {last:?}");
    assert_eq!(to.incarnation().unwrap(), from.incarnation().unwrap());
    compare(&from, &to);
    assert!(exports(&from) == before && exports(&to) == before);

    // Again: nobody has to move. Some go on, and get the rest; one is new.
    let again = move_everyone(&from, &to, &mut |_, _| {}).unwrap();
    assert_eq!(
        (again.moved, again.same, again.completed, again.is_complete()),
        (0, 150, 0, true),
        "{again:?}"
    );
    live(&from, &all[..10], 2);
    live(&from, &["new"], 1);
    let mut writes = Writes::default();
    writes.wishes(user_hash("user 20"), RULES[1]);
    Store::commit(&from, writes, true).unwrap();
    let more = move_everyone(&from, &to, &mut |_, _| {}).unwrap();
    assert_eq!((more.moved, more.completed, more.is_complete()), (2, 10, true), "{more:?}"); // user 8 comes again
    let mut desk = desk();
    for name in all.iter().chain(&["new"]) {
        assert!(bits(&fetch(&from, &mut desk, name)) == bits(&fetch(&to, &mut desk, name)), "{name}");
    }

    // And back, into a file that is new.
    let back = file(&folder.path().join("back"));
    let returned = move_everyone(&to, &back, &mut |_, _| {}).unwrap();
    assert_eq!((returned.moved, returned.is_complete()), (152, true), "{returned:?}");
    compare(&to, &back);
    live(&back, &["user 0"], 1);
}

/// Whoever has another past, or a number that is taken, is named; everyone else moves, and nothing is overwritten.
#[test]
fn whoever_differs_is_named_and_the_others_move() {
    let Some(database) = Database::new() else { return };
    let (from, to) = (FileStore::in_memory(&identity()).unwrap(), open(&database.url()));
    live(&from, &["ana", "ben", "cem", "dan"], 3);
    live(&to, &["ana"], 2);
    let mut writes = Writes::default();
    let mut desk = desk();
    for (name, number) in [("stranger", user_hash("ben")), ("cem", user_hash("cem") + 1)] {
        let mut person = Resident::newcomer(&desk, name, number, 0, None).unwrap();
        decide(&mut desk, &mut person, &mut writes);
        // Nobody decides the same twice, so this is another past.
        writes.wishes(number, RULES[0]);
    }
    assert!(to.commit(writes, true).unwrap().is_empty());
    let mut other = fetch(&to, &mut desk, "ana");
    let mut writes = Writes::default();
    for reward in [0.25, 0.5] {
        let id = decide(&mut desk, &mut other, &mut writes);
        super::people::learn(&mut desk, &mut other, &mut writes, id, reward);
    }
    assert!(to.commit(writes, true).unwrap().is_empty());
    let kept = transfer::export(&to, "ana").unwrap();
    let mut moved = move_everyone(&from, &to, &mut |_, _| {}).unwrap();
    moved.refused.sort_by(|one, other| one.name.cmp(&other.name));
    let refused = |name: &str, why| Refused { number: user_hash(name), name: Some(name.to_owned()), why };
    assert_eq!(
        moved.refused,
        [refused("ana", Why::Differs), refused("ben", Why::Taken), refused("cem", Why::Renumbered)]
    );
    assert_eq!(moved.moved, 1);
    assert_eq!(moved.refused[0].to_string(), "user \"ana\": the other store has this user with another past");
    assert!(transfer::export(&to, "ana").unwrap() == kept && to.find("dan").unwrap().is_some());
    let other = Policy::<f64>::new(&TAU2, Settings { seed: 7, ..*policy().settings() }).unwrap();
    let other = FileStore::in_memory(&Identity::new(&other)).unwrap();
    assert!(
        matches!(move_everyone(&from, &other, &mut |_, _| {}), Err(StoreError::Mismatch { what, .. }) if what == "seed")
    );
}

/// A movement that is cut off goes on where it was.
#[test]
fn a_movement_may_be_interrupted() {
    let Some(database) = Database::new() else { return };
    let (from, to) = (FileStore::in_memory(&identity()).unwrap(), open(&database.url()));
    let names: Vec<String> = (0..200).map(|user| format!("user {user}")).collect();
    live(&from, &names.iter().map(String::as_str).collect::<Vec<_>>(), 1);
    let stopped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _ = move_everyone(&from, &to, &mut |done, _| assert!(done < 64, "stopped on purpose"));
    }));
    assert!(stopped.is_err() && (1..200).contains(&to.users().unwrap()));
    let there = to.users().unwrap();
    let moved = move_everyone(&from, &to, &mut |_, _| {}).unwrap();
    assert_eq!((moved.same, moved.moved), (there, 200 - there));
    compare(&from, &to);
}
