//! Connections that are cut at any byte, attempts that arrive late, servers that stop, and rows that are damaged.

use super::people::{RULES, bits, decide, desk, fetch, open};
use fable_core::user_hash;
use fable_serve_tests::postgres::{Database, Postgres};
use fable_serve_tests::proxy::Proxy;
use fable_std::memory::Exchange;
use fable_std::store::{Damage, Reach, Resident, Store, StoreError, Writes};
use std::thread;
use std::time::Duration;

/// Whatever is cut, a commit has happened exactly once when it returns.
#[test]
fn a_cut_at_any_byte_loses_and_doubles_nothing() {
    let Some(database) = Database::new() else { return };
    let proxy = Proxy::to(database.server().port());
    let (store, direct) =
        (open(&format!("{}?sslmode=disable", database.url_at(proxy.port()))), open(&database.url()));
    let (mut desk, mut cuts, mut kept) = (desk(), 0, 0);
    let mut ana = fetch(&store, &mut desk, "ana");
    for (upwards, range, step) in [(true, 1..3_200, 53), (false, 1..420, 5)] {
        for left in range.step_by(step) {
            // Warm, so that the cut is within the commit and not within connecting.
            let mut writes = Writes::default();
            decide(&mut desk, &mut ana, &mut writes);
            assert!(store.commit(writes, true).unwrap().is_empty());
            let name = format!("n{upwards}{left}");
            let mut newcomer = fetch(&store, &mut desk, &name);
            let mut writes = Writes::default();
            decide(&mut desk, &mut ana, &mut writes);
            decide(&mut desk, &mut newcomer, &mut writes);
            writes.wishes(user_hash(&name), RULES[0]);
            writes.remember(user_hash("ana"), Exchange::new("which byte?", "this one", left as u32));
            if left % 2 == 0 {
                writes.snapshot(user_hash("ana"), ana.entries(), &bits(&ana));
            }
            proxy.cut_after(left, upwards);
            assert!(store.commit(writes, true).unwrap().is_empty(), "{left}");
            cuts += proxy.cuts();
            for person in [&ana, &newcomer] {
                let stored = direct.named(&person.row().name).unwrap();
                assert_eq!(stored.journal.last().unwrap().end(), person.entries(), "{left}");
                assert!(direct.since(&[person.known()]).unwrap().is_empty(), "{left}");
                assert!(bits(&Resident::revive(&mut desk, &stored, None).unwrap()) == bits(person), "{left}");
            }
            assert_eq!(direct.named(&name).unwrap().wishes, RULES[0]);
            let memory = direct.memory(user_hash("ana")).unwrap();
            assert_eq!(memory.exchanges().last().unwrap().at, left as u32);
            kept += 1;
            assert_eq!(memory.exchanges().len(), kept.min(64), "{left}");
        }
    }
    println!("{cuts} cuts");
    assert!(cuts > 60, "{cuts}");
}

/// An attempt that was held up on its way arrives when the commit has long been made by another one.
#[test]
fn what_arrives_late_does_nothing() {
    let Some(database) = Database::new() else { return };
    let proxy = Proxy::to(database.server().port());
    let (store, direct) =
        (open(&format!("{}?sslmode=disable", database.url_at(proxy.port()))), open(&database.url()));
    let mut desk = desk();
    let mut ana = fetch(&store, &mut desk, "ana");
    for round in 0..6 {
        let mut writes = Writes::default();
        decide(&mut desk, &mut ana, &mut writes);
        assert!(store.commit(writes, true).unwrap().is_empty());
        let mut ben = fetch(&store, &mut desk, &format!("ben{round}"));
        let mut writes = Writes::default();
        decide(&mut desk, &mut ana, &mut writes);
        decide(&mut desk, &mut ben, &mut writes);
        proxy.hold_after(0);
        assert!(store.commit(writes, true).unwrap().is_empty());
        let mut writes = Writes::default();
        decide(&mut desk, &mut ana, &mut writes);
        assert!(direct.commit(writes, true).unwrap().is_empty());
        proxy.release();
        assert!(direct.since(&[ana.known(), ben.known()]).unwrap().is_empty());
        assert!(bits(&fetch(&direct, &mut desk, "ana")) == bits(&ana));
    }
    // Somebody is forgotten, and comes again before the first attempt to forget arrives. Which life ends is asked for before that.
    store.forget(&["ben0"]).unwrap();
    let incarnation = store.incarnation().unwrap() + 1;
    let mut writes = Writes::default();
    writes.erase(user_hash("ana"), incarnation);
    proxy.hold_after(1);
    assert!(store.commit(writes, true).unwrap().is_empty());
    let mut again = fetch(&direct, &mut desk, "ana");
    assert_eq!((again.is_known(), again.row().incarnation >= incarnation), (false, true));
    let mut writes = Writes::default();
    decide(&mut desk, &mut again, &mut writes);
    assert!(direct.commit(writes, true).unwrap().is_empty());
    proxy.release();
    assert!(direct.since(&[again.known()]).unwrap().is_empty());
}

#[test]
fn a_server_that_stops_keeps_what_it_has_said() {
    let Some(server) = Postgres::start() else { return };
    let database = Database::of(&server);
    let url = database.url_at(server.port());
    let (store, mut desk) = (open(&url), desk());
    let mut ana = fetch(&store, &mut desk, "ana");
    thread::scope(|scope| {
        let stopping = scope.spawn(|| {
            for _ in 0..2 {
                thread::sleep(Duration::from_millis(300));
                server.stop();
                server.resume();
            }
        });
        while !stopping.is_finished() {
            let mut writes = Writes::default();
            decide(&mut desk, &mut ana, &mut writes);
            assert!(store.commit(writes, true).unwrap().is_empty());
        }
        stopping.join().unwrap();
    });
    assert!(bits(&fetch(&store, &mut desk, "ana")) == bits(&ana));
    // One that stays away is told, nothing has changed, and when it is back everything goes on.
    server.stop();
    let (before, mut writes) = (ana.clone(), Writes::default());
    decide(&mut desk, &mut ana, &mut writes);
    thread::sleep(Duration::from_millis(100)); // until it is known that the connection has ended
    let error = store.commit(writes.clone(), true).unwrap_err();
    assert!(matches!(error, StoreError::Database(_)), "{error}");
    server.resume();
    assert!(store.since(&[before.known()]).unwrap().is_empty());
    assert!(store.commit(writes, true).unwrap().is_empty());
    assert!(bits(&fetch(&store, &mut desk, "ana")) == bits(&ana));
}

/// Damage of one user is found, told and nobody else's; where there is another way to the same bits, it is taken.
#[test]
fn damage_touches_one_user() {
    let Some(database) = Database::new() else { return };
    let (store, mut desk) = (open(&database.url()), desk());
    let names = ["journal", "gone", "swapped", "newest", "row", "rules", "name", "sound"];
    let mut people = names.map(|name| fetch(&store, &mut desk, name));
    for round in 0..4 {
        let mut writes = Writes::default();
        for person in &mut people {
            decide(&mut desk, person, &mut writes);
            if round == 1 && person.row().name == "newest" {
                writes.snapshot(person.known().number, person.entries(), &bits(person));
            }
        }
        assert!(store.commit(writes, true).unwrap().is_empty());
    }
    let mut writes = Writes::default();
    for person in &mut people {
        person.introduce(&mut writes);
        writes.wishes(person.known().number, RULES[0]);
    }
    assert!(store.commit(writes, true).unwrap().is_empty());
    let number = |name: &str| user_hash(name).cast_signed();
    let flip = "set_byte(bytes, 9, get_byte(bytes, 9) # 1)";
    for statement in [
        format!("UPDATE fable_events SET bytes = {flip} WHERE number = {} AND first > 0", number("journal")),
        format!("DELETE FROM fable_events WHERE number = {} AND first = 3", number("gone")),
        format!(
            "UPDATE fable_events SET first = 100 - first WHERE number = {} AND first IN (2, 3)",
            number("swapped")
        ),
        format!("UPDATE fable_snapshots SET bytes = {flip} WHERE number = {}", number("newest")),
        format!(
            "UPDATE fable_users SET head = {} WHERE number = {}",
            flip.replace("bytes", "head"),
            number("row")
        ),
        format!(
            "UPDATE fable_users SET rules = {} WHERE number = {}",
            flip.replace("bytes", "rules"),
            number("rules")
        ),
        format!("UPDATE fable_users SET name = 'other' WHERE number = {}", number("name")),
    ] {
        database.ask(&statement);
    }
    let expected = [
        Some(Damage::Journal),
        Some(Damage::Journal),
        Some(Damage::Journal),
        None,
        Some(Damage::Row),
        Some(Damage::Rules),
        Some(Damage::Row),
        None,
    ];
    for reach in [Reach::Snapshot, Reach::Whole] {
        for ((person, name), expected) in people.iter().zip(names).zip(expected) {
            match (store.user(user_hash(name), reach), expected) {
                (Err(StoreError::User(damage)), Some(expected)) => assert_eq!(damage, expected, "{name}"),
                (Ok(Some(stored)), None) => {
                    assert!(
                        bits(&Resident::revive(&mut desk, &stored, None).unwrap()) == bits(person),
                        "{name}"
                    );
                }
                (found, expected) => panic!("{name}: {found:?}, not {expected:?}"),
            }
        }
        assert_eq!(store.damaged(), 6);
    }
    // Once forgotten, they may begin anew.
    assert_eq!(store.forget(&["journal", "rules"]).unwrap(), ["journal", "rules"]);
    assert_eq!(store.damaged(), 4);
    let mut writes = Writes::default();
    let mut again = fetch(&store, &mut desk, "journal");
    decide(&mut desk, &mut again, &mut writes);
    assert!(store.commit(writes, true).unwrap().is_empty());
    assert!(bits(&fetch(&store, &mut desk, "journal")) == bits(&again));
}
