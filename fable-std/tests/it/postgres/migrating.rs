//! Everyone goes on under another catalog, from a file into a database and from there into a file: the same bits wherever they are.

use super::people::{decide, desk, fetch, identity, learn, open, policy};
use fable_core::catalog::{Component, Definition, TAU2, Value};
use fable_core::{Catalog, Policy, user_hash};
use fable_serve_tests::postgres::Database;
use fable_std::store::migration::Migrator;
use fable_std::store::movement::move_everyone;
use fable_std::store::{FileStore, Identity, Options, Place, PostgresStore, Store, Writes, transfer};

const WORDS: &[u8] =
    br#"{"rules":[{"effect":"forbid","component":"tool","values":["verify"],"when":null,"words":"no second look"}]}"#;

#[test]
fn everyone_is_migrated_between_files_and_databases() {
    let (Some(first), Some(second)) = (Database::new(), Database::new()) else { return };
    let styles = TAU2.definition().components[2].values;
    let mut more = vec![Value::new("friendly", "Be friendly.", 0.0)];
    more.extend_from_slice(styles);
    let components: Vec<Component<'_>> = TAU2
        .definition()
        .components
        .iter()
        .map(|own| if own.name == "style" { Component::new("style", &more) } else { *own })
        .collect();
    let catalog =
        Catalog::try_new(Definition { components: &components, contrasts: &[], ..*TAU2.definition() })
            .unwrap();
    let (old, new) = (policy(), Policy::<f64>::new(&catalog, *policy().settings()).unwrap());
    let migrator = Migrator::new(&old, &new, &[]).unwrap();

    let from = FileStore::in_memory(&identity()).unwrap();
    let mut desk = desk();
    for user in 0..100 {
        let (mut person, mut writes) = (fetch(&from, &mut desk, &format!("user {user}")), Writes::default());
        for round in 0..3 {
            let id = decide(&mut desk, &mut person, &mut writes);
            learn(&mut desk, &mut person, &mut writes, id, f64::from((user * 3 + round) % 7) / 7.0);
        }
        assert!(Store::commit(&from, writes, true).unwrap().is_empty());
    }
    from.forget(&["user 4"]).unwrap();
    let mut writes = Writes::default();
    writes.wishes(user_hash("user 3"), WORDS);
    assert!(Store::commit(&from, writes, true).unwrap().is_empty());

    let everyone = |store: &dyn Store| -> Vec<Vec<u8>> {
        let numbers = store.everyone().unwrap();
        numbers
            .into_iter()
            .map(|number| transfer::write(&store.whole(number).unwrap().unwrap()).unwrap())
            .collect()
    };
    let file = FileStore::in_memory(&Identity::new(&new)).unwrap();
    let done = migrator.everyone(&from, Some(&file), &mut |_, _| {}).unwrap();
    assert!(done.is_complete() && done.users == 99, "{done:?}");

    // From the file into a database.
    let place = Place::parse(&first.url()).unwrap();
    let into = PostgresStore::open(&place, &Identity::new(&new), &Options::default()).unwrap();
    let stopped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _ =
            migrator.everyone(&from, Some(&into), &mut |done, _| assert!(done < 64, "stopped on purpose"));
    }));
    let there = into.users().unwrap();
    assert!(stopped.is_err() && (1..99).contains(&there));
    let done = migrator.everyone(&from, Some(&into), &mut |_, _| {}).unwrap();
    assert_eq!((done.users, done.same, done.is_complete()), (99 - there, there, true), "{done:?}");
    assert!(everyone(&into) == everyone(&file));
    assert_eq!(into.named("user 3").unwrap().wishes, WORDS);
    assert_eq!(into.incarnation().unwrap(), from.incarnation().unwrap());

    // From a database into a file.
    let database = open(&second.url());
    let moved = move_everyone(&from, &database, &mut |_, _| {}).unwrap();
    assert!(moved.is_complete());
    let back = FileStore::in_memory(&Identity::new(&new)).unwrap();
    let done = migrator.everyone(&database, Some(&back), &mut |_, _| {}).unwrap();
    assert!(done.is_complete() && everyone(&back) == everyone(&file), "{done:?}");
}
