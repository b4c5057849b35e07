//! Several processes on one database: exactly one is first, and nobody's decision is lost, doubled or given twice.

use super::people::{bits, catch_up, decide, desk, fetch, identity, open};
use fable_core::catalog::TAU2;
use fable_core::journal::Event;
use fable_core::record::decode_event;
use fable_core::{DecisionId, Policy, Settings};
use fable_serve_tests::dice::Dice;
use fable_serve_tests::postgres::Database;
use fable_std::memory::Exchange;
use fable_std::store::{
    Damage, Identity, Options, Place, PostgresStore, Reach, Resident, Store, StoreError, Writes,
    open as open_at, open_any,
};
use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

const NAMES: [&str; 3] = ["ana", "ben", "cem"];

#[test]
fn everybody_may_make_the_tables_at_once() {
    let Some(database) = Database::new() else { return };
    let url = format!("{}&schema=a%20%22new%22%20one", database.url());
    let opened = thread::scope(|scope| {
        let all: Vec<_> = (0..8).map(|_| scope.spawn(|| open(&url).incarnation().unwrap())).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect::<Vec<_>>()
    });
    assert_eq!(opened, [0; 8]);
    assert_eq!(database.ask("SELECT count(*) FROM \"a \"\"new\"\" one\".fable_store"), "1");
}

#[test]
fn another_store_is_refused() {
    let Some(database) = Database::new() else { return };
    let (url, options) = (database.url(), Options::default());
    let place = Path::new(&url);
    assert!(matches!(open_any(place, &options), Err(StoreError::Missing(_))));
    drop(open_at(place, &identity(), &options).unwrap());
    assert_eq!(open_any(place, &options).unwrap().identity().unwrap(), identity());
    let other =
        Identity::new(&Policy::<f64>::new(&TAU2, Settings { seed: 7, ..Settings::default() }).unwrap());
    assert!(
        matches!(open_at(place, &other, &options), Err(StoreError::Mismatch { what, .. }) if what == "seed")
    );
    database.ask("UPDATE fable_store SET version = 9");
    assert!(matches!(open_at(place, &identity(), &options), Err(StoreError::Tables { found: 9 })));
}

#[test]
fn a_password_is_never_told_and_tls_checks_whom_it_talks_to() {
    let Some(database) = Database::new() else { return };
    let url = database.url_at(database.server().port());
    let (host, options) = (url.replace("127.0.0.1", "localhost"), Options::default());
    let authority = database.server().authority();
    let open = |url: &str| PostgresStore::open(&Place::parse(url).unwrap(), &identity(), &options);
    for mode in ["disable", "prefer", "require", &format!("verify-full&sslrootcert={}", authority.display())]
    {
        let store = open(&format!("{host}?sslmode={mode}")).unwrap();
        assert!(!format!("{store:?} {store:#?} {}", store.place()).contains("elephant"), "{store:?}");
        let sealed = "SELECT bool_or(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'fable' \
            AND datname = current_database()";
        assert_eq!(database.ask(sealed), if mode == "disable" { "f" } else { "t" }, "{mode}");
        drop(store);
        let here = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'fable' AND datname = current_database()";
        while database.ask(here) != "0" {
            thread::yield_now();
        }
    }
    // No public authority has signed it.
    let error = thread::spawn({
        let url = format!("{host}?sslmode=verify-full");
        move || {
            PostgresStore::open(&Place::parse(&url).unwrap(), &identity(), &Options::default()).unwrap_err()
        }
    });
    let wrong = open(&url.replace("never", "always")).unwrap_err();
    assert!(matches!(wrong, StoreError::Database(_)) && wrong.to_string().contains("28P01"), "{wrong}");
    for error in [wrong, error.join().unwrap()] {
        assert!(!format!("{error} {error:?}").contains("elephant"), "{error:?}");
    }
}

/// The decisions in a journal.
fn decisions(store: &dyn Store, name: &str) -> Vec<DecisionId> {
    let stored = store.named(name).unwrap();
    let mut ids = Vec::new();
    for entry in stored.journal.iter().flat_map(|segment| segment.from(0)) {
        if let Event::Decision { round, .. } = decode_event(&TAU2, entry.unwrap().record).unwrap() {
            ids.push(DecisionId {
                user: stored.row.header.user,
                incarnation: stored.row.incarnation,
                site: 0,
                round,
            });
        }
    }
    ids
}

/// Exchanges are added, whoever is first: none is lost, none doubled, and each one's are in order.
#[test]
fn everybody_remembers() {
    let Some(database) = Database::new() else { return };
    let url = database.url();
    let store = open(&url);
    let mut writes = Writes::default();
    let mut desk = desk();
    let mut ana = fetch(&store, &mut desk, "ana");
    decide(&mut desk, &mut ana, &mut writes);
    assert!(store.commit(writes, true).unwrap().is_empty());
    thread::scope(|scope| {
        for who in ["a", "b", "c"] {
            let (url, known) = (&url, ana.known());
            scope.spawn(move || {
                let store = open(url);
                for at in 0..20 {
                    let mut writes = Writes::default();
                    writes.life(known.number, known.birth);
                    writes.remember(known.number, Exchange::new(who, "noted", at));
                    assert!(store.commit(writes, true).unwrap().is_empty());
                }
            });
        }
    });
    let memory = store.memory(ana.known().number).unwrap();
    for who in ["a", "b", "c"] {
        let times: Vec<u32> =
            memory.exchanges().iter().filter(|kept| kept.request == who).map(|kept| kept.at).collect();
        assert_eq!(times, (0..20).collect::<Vec<_>>());
    }
    // Somebody's who was forgotten is nobody's, also of who comes again; and what was meant for the first life is not taken.
    store.forget(&["ana"]).unwrap();
    let mut writes = Writes::default();
    writes.life(ana.known().number, ana.known().birth);
    writes.remember(ana.known().number, Exchange::new("late", "", 0));
    assert_eq!(store.commit(writes, true).unwrap(), [ana.known().number]);
    let mut again = fetch(&store, &mut desk, "ana");
    let mut writes = Writes::default();
    decide(&mut desk, &mut again, &mut writes);
    assert!(store.commit(writes, true).unwrap().is_empty());
    assert!(store.memory(again.known().number).unwrap().is_empty());
    assert_eq!(database.ask("SELECT count(*) FROM fable_memories"), "0");
    // What is damaged is told by whoever asks for it, and stops nobody.
    let mut writes = Writes::default();
    writes.remember(again.known().number, Exchange::new("one", "two", 0));
    assert!(store.commit(writes, true).unwrap().is_empty());
    database.ask("UPDATE fable_memories SET bytes = set_byte(bytes, 12, get_byte(bytes, 12) # 1)");
    assert!(matches!(store.memory(again.known().number), Err(StoreError::User(Damage::Memory))));
    assert!(store.user(again.known().number, Reach::Whole).unwrap().is_some() && store.damaged() == 0);
}

#[test]
fn exactly_one_is_first() {
    let Some(database) = Database::new() else { return };
    let url = database.url();
    let won: Vec<DecisionId> = thread::scope(|scope| {
        let work = |seed: u64| {
            let (store, mut desk, mut dice) = (open(&url), desk(), Dice::new(seed));
            let mut people = NAMES.map(|name| fetch(&store, &mut desk, name));
            let (mut won, mut lost) = (Vec::new(), 0);
            for _ in 0..60 {
                let (mut writes, mut tried) = (Writes::default(), Vec::new());
                for (place, person) in people.iter_mut().enumerate() {
                    if dice.once_in(2) {
                        let mut next = person.clone();
                        let id = decide(&mut desk, &mut next, &mut writes);
                        tried.push((place, id, next));
                    }
                }
                let losers = store.commit(writes, true).unwrap();
                for (place, id, next) in tried {
                    if losers.contains(&id.user) {
                        lost += 1;
                        if people[place].is_known() {
                            catch_up(&store, &mut desk, &mut people[place]);
                        } else {
                            people[place] = fetch(&store, &mut desk, NAMES[place]);
                        }
                    } else {
                        people[place] = next;
                        won.push(id);
                    }
                }
            }
            for (person, name) in people.iter_mut().zip(NAMES) {
                catch_up(&store, &mut desk, person);
                let fresh = fetch(&store, &mut desk, name);
                // Others may have gone on in between.
                assert!(fresh.entries() > person.entries() || bits(person) == bits(&fresh), "{name}");
            }
            println!("won {}, lost {lost}", won.len());
            won
        };
        let all: Vec<_> = (0..4).map(|seed| scope.spawn(move || work(seed))).collect();
        all.into_iter().flat_map(|one| one.join().unwrap()).collect()
    });
    let store = open(&url);
    let stored: Vec<DecisionId> = NAMES.iter().flat_map(|name| decisions(&store, name)).collect();
    let (once, kept): (HashSet<_>, HashSet<_>) =
        (won.iter().copied().collect(), stored.iter().copied().collect());
    assert_eq!((once.len(), kept.len()), (won.len(), stored.len()));
    assert!(once == kept && won.len() > 100, "{}", won.len());
}

#[test]
fn whoever_is_forgotten_never_gets_a_decision_id_again() {
    let Some(database) = Database::new() else { return };
    let url = &database.url();
    let over = AtomicBool::new(false);
    let won: Vec<DecisionId> = thread::scope(|scope| {
        let over = &over;
        let come = |seed: u64| {
            let (store, mut desk, mut dice, mut won) = (open(url), desk(), Dice::new(seed), Vec::new());
            let mut person = None;
            let lives =
                |won: &[DecisionId]| won.iter().map(|id| id.incarnation).collect::<HashSet<_>>().len();
            while won.len() < 60 || lives(&won) < 4 {
                let mut next = person.take().unwrap_or_else(|| fetch(&store, &mut desk, "ana"));
                let mut writes = Writes::default();
                let id = decide(&mut desk, &mut next, &mut writes);
                if store.commit(writes, true).unwrap().is_empty() {
                    won.push(id);
                    person = Some(next).filter(|_| !dice.once_in(4));
                }
            }
            won
        };
        let forget = move || {
            let store = open(url);
            while !over.load(Ordering::Relaxed) {
                drop(store.forget(&["ana"]).unwrap());
                thread::sleep(Duration::from_millis(1)); // somebody has to come in between
            }
        };
        let forgetting = [scope.spawn(forget), scope.spawn(forget)];
        let coming: Vec<_> = (0..2).map(|seed| scope.spawn(move || come(seed))).collect();
        let came: Vec<_> = coming.into_iter().map(thread::ScopedJoinHandle::join).collect();
        over.store(true, Ordering::Relaxed); // also if one has failed
        let won = came.into_iter().flat_map(|one| one.unwrap()).collect();
        for one in forgetting {
            one.join().unwrap();
        }
        won
    });
    let once: HashSet<_> = won.iter().copied().collect();
    assert_eq!(once.len(), won.len());
    let store = open(url);
    let lives = won.iter().map(|id| id.incarnation).collect::<HashSet<_>>().len();
    assert!(lives > 3 && store.incarnation().unwrap() >= won.iter().map(|id| id.incarnation).max().unwrap());
    // A newcomer who has asked before somebody was forgotten is too late.
    store.forget(&["ana"]).unwrap();
    let mut desk = desk();
    let mut late = fetch(&store, &mut desk, "ana");
    let mut other = fetch(&store, &mut desk, "ben");
    let mut writes = Writes::default();
    decide(&mut desk, &mut other, &mut writes);
    assert!(store.commit(writes, true).unwrap().is_empty());
    store.forget(&["ben"]).unwrap();
    let mut writes = Writes::default();
    let id = decide(&mut desk, &mut late, &mut writes);
    assert_eq!(store.commit(writes, true).unwrap(), [id.user]);
    assert!(store.user(id.user, Reach::Whole).unwrap().is_none());
    // Nor may two have one name, or one number.
    let incarnation = store.incarnation().unwrap();
    let mut twins = [("ana", 5), ("ana", 6), ("ben", 5)]
        .map(|(name, number)| Resident::newcomer(&desk, name, number, incarnation, None).unwrap());
    let lost = twins.each_mut().map(|twin| {
        let mut writes = Writes::default();
        decide(&mut desk, twin, &mut writes);
        store.commit(writes, true).unwrap()
    });
    assert_eq!(lost, [vec![], vec![6], vec![5]]);
}
