//! A store in a database does what one in a file does, whatever happens in which order.

use super::people::{self, Person, bits, catch_up, compare, decide, desk, fetch, identity, learn};
use fable_core::{DecisionId, user_hash};
use fable_serve_tests::dice::Dice;
use fable_serve_tests::postgres::Database;
use fable_std::memory::{Bounds, Exchange, Memory};
use fable_std::store::{
    Desk, FileStore, History, Known, News, Options, Place, PostgresStore, Resident, SNAPSHOT_EVERY, Store,
    Writes, transfer,
};
use std::collections::BTreeMap;
use std::num::NonZeroU64;

/// Names that a database might stumble over.
const NAMES: [&str; 9] = ["ana", "", "o'neill", "zoë ☃", "nul\0nul", "\\x41", "b\"\n", "100%", "u7"];

/// The number of a name; one of them is not the hash.
fn number(name: &str) -> u64 {
    user_hash(name).wrapping_add(u64::from(name == "u7"))
}

struct Life {
    dice: Dice,
    desk: Desk<'static, f64>,
    file: FileStore,
    base: PostgresStore,
    people: BTreeMap<&'static str, Person>,
    waiting: BTreeMap<&'static str, DecisionId>,
    guests: Vec<(String, Vec<u8>)>,
    /// Somebody as of some time before.
    earlier: Option<Person>,
}

impl Life {
    fn person(&mut self, name: &'static str, incarnation: u32) -> Person {
        if let Some(person) = self.people.remove(name) {
            return person;
        }
        if self.base.find(name).unwrap().is_some() {
            return fetch(&self.base, &mut self.desk, name);
        }
        Resident::newcomer(&self.desk, name, number(name), incarnation, None).unwrap()
    }

    fn act(&mut self, writes: &mut Writes, incarnation: u32) {
        let name = *self.dice.pick(&NAMES[..]);
        if name.is_empty() {
            return;
        }
        let mut person = self.person(name, incarnation);
        for _ in 0..self.dice.below(4) {
            match self.waiting.remove(name) {
                Some(id) if self.dice.once_in(2) => {
                    learn(&mut self.desk, &mut person, writes, id, self.dice.unit());
                }
                _ => drop(self.waiting.insert(name, decide(&mut self.desk, &mut person, writes))),
            }
        }
        if self.dice.once_in(5) && person.entries() > 0 {
            writes.snapshot(number(name), person.entries(), &bits(&person));
            writes.life(number(name), person.known().birth);
        }
        if self.dice.once_in(5) {
            person.introduce(writes);
            let rules: [&[u8]; 3] = [people::RULES[0], people::RULES[1], b""];
            writes.wishes(number(name), rules[self.dice.below(3)]);
        }
        if self.dice.once_in(3) {
            person.introduce(writes);
            if self.dice.once_in(8) {
                writes.memory(number(name), &Memory::default());
            }
            for _ in 0..self.dice.below(4) {
                let words = "é".repeat(self.dice.below(60));
                writes.remember(number(name), Exchange::new(&words, &words, self.dice.below(1_000) as u32));
            }
        }
        // Who has not come yet comes in another incarnation when somebody is forgotten meanwhile.
        if person.is_known() {
            self.people.insert(name, person);
        }
    }

    fn step(&mut self) {
        match self.dice.below(20) {
            0 => {
                let names = [*self.dice.pick(&NAMES[..]), *self.dice.pick(&NAMES[..])];
                assert_eq!(self.file.forget(&names).unwrap(), self.base.forget(&names).unwrap());
                for name in names {
                    self.people.remove(name);
                    self.waiting.remove(name);
                }
            }
            1 => {
                let (_, bytes) = self.dice.pick(&self.guests).clone();
                let [one, other] = [&self.file as &dyn Store, &self.base].map(|store| {
                    transfer::import(store, &people::policy(), &bytes).map_err(|error| error.to_string())
                });
                assert_eq!(one, other);
            }
            2 => {
                let mut writes = Writes::default();
                writes.prior(self.dice.next(), &[self.dice.next() as u8; 40]);
                self.both(&writes);
            }
            3 => {
                let name = *self.dice.pick(&NAMES[..]);
                self.earlier =
                    self.people.get(name).filter(|person| person.is_known()).cloned().or(self.earlier.take());
            }
            4 => {
                // Erased and begun anew in one commit.
                let name = *self.dice.pick(&NAMES[..]);
                let incarnation = self.file.incarnation().unwrap() + 1;
                let mut writes = Writes::default();
                writes.erase(number(name), incarnation);
                self.people.remove(name);
                self.waiting.remove(name);
                if !name.is_empty() {
                    let mut person =
                        Resident::newcomer(&self.desk, name, number(name), incarnation, None).unwrap();
                    self.waiting.insert(name, decide(&mut self.desk, &mut person, &mut writes));
                    self.people.insert(name, person);
                }
                self.both(&writes);
            }
            _ => {
                let (mut writes, incarnation) = (Writes::default(), self.file.incarnation().unwrap());
                for _ in 0..=self.dice.below(4) {
                    self.act(&mut writes, incarnation);
                }
                self.both(&writes);
            }
        }
        assert_eq!(self.file.incarnation().unwrap(), self.base.incarnation().unwrap());
    }

    fn both(&self, writes: &Writes) {
        assert!(Store::commit(&self.file, writes.clone(), true).unwrap().is_empty());
        assert!(self.base.commit(writes.clone(), true).unwrap().is_empty());
    }

    /// Who is in memory is as the store has it, and who was some time ago comes to be.
    fn look(&mut self) {
        let known: Vec<Known> =
            self.people.values().filter(|person| person.is_known()).map(Resident::known).collect();
        assert!(self.base.since(&known).unwrap().is_empty());
        let Some(mut person) = self.earlier.take() else { return };
        let name = person.row().name.clone();
        catch_up(&self.base, &mut self.desk, &mut person);
        if self.base.find(&name).unwrap().is_some() {
            assert!(bits(&person) == bits(&fetch(&self.file, &mut self.desk, &name)));
            assert!(self.base.since(&[person.known()]).unwrap().is_empty());
        }
    }
}

/// Somebody of another store, with a history that does not begin at the beginning.
fn guest(name: &str, incarnation: u32, rounds: u32) -> (String, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { history: History::Last(NonZeroU64::new(8).unwrap()), ..Options::default() };
    let store = FileStore::open_with(&folder.path().join("guests"), &identity(), &options).unwrap();
    let mut desk = desk();
    let mut person = Resident::newcomer(&desk, name, user_hash(name), incarnation, None).unwrap();
    for _ in 0..rounds {
        let mut writes = Writes::default();
        decide(&mut desk, &mut person, &mut writes);
        writes.snapshot(user_hash(name), person.entries(), &bits(&person));
        Store::commit(&store, writes, true).unwrap();
    }
    (name.to_owned(), transfer::export(&store, name).unwrap())
}

#[test]
fn it_does_what_a_file_does() {
    let Some(database) = Database::new() else { return };
    let guests = vec![guest("g0", 0, 3), guest("g1", 5, 30), guest("ana", 2, 600)];
    for (seed, history) in [(1, Some(20)), (2, Some(3)), (3, None), (4, Some(4096))] {
        let history = history.map_or(History::All, |events| History::Last(NonZeroU64::new(events).unwrap()));
        let options = Options { history, memory: Bounds { exchanges: 6, bytes: 500 }, ..Options::default() };
        let folder = tempfile::tempdir().unwrap();
        let file = FileStore::open_with(&folder.path().join("users"), &identity(), &options).unwrap();
        let place = Place::parse(&format!("{}&schema=seed%20{seed}", database.url())).unwrap();
        let base = PostgresStore::open(&place, &identity(), &options).unwrap();
        let (people, waiting) = (BTreeMap::new(), BTreeMap::new());
        let dice = Dice::new(seed);
        let mut life =
            Life { dice, desk: desk(), file, base, people, waiting, guests: guests.clone(), earlier: None };
        for step in 0..400 {
            life.step();
            if step % 7 == 0 {
                life.look();
            }
            if step % 40 == 0 {
                compare(&life.file, &life.base);
            }
        }
        compare(&life.file, &life.base);
        // Nothing of those who are gone is left, and nothing that no history needs.
        let orphans = "SELECT count(*) FROM (SELECT number FROM s.fable_events UNION ALL SELECT number FROM s.fable_snapshots \
            UNION ALL SELECT number FROM s.fable_memories) x \
            WHERE number NOT IN (SELECT number FROM s.fable_users)";
        assert_eq!(database.ask(&orphans.replace("s.", &format!("\"seed {seed}\"."))), "0");
        let kept = "SELECT max(c) BETWEEN 2 AND 6 AND max(s) <= 500 FROM (SELECT count(*) c, sum(size) s FROM s.fable_memories GROUP BY number) x";
        assert_eq!(database.ask(&kept.replace("s.", &format!("\"seed {seed}\"."))), "t");
        let most = "SELECT coalesce(max(c), 0) <= 3 FROM (SELECT count(*) c FROM s.fable_snapshots GROUP BY number) x";
        assert_eq!(database.ask(&most.replace("s.", &format!("\"seed {seed}\"."))), "t");
        assert!(life.base.bytes() > 0 && life.base.damaged() == 0 && life.base.is_shared());
        assert!(life.base.backup(folder.path(), &mut |_, _| {}).unwrap_err().to_string().contains("pg_dump"));
    }
}

/// With thousands of events of one user, reading begins with the newest snapshot and the history does not grow.
#[test]
fn a_long_history_is_kept_short() {
    let Some(database) = Database::new() else { return };
    let options = Options { history: History::Last(NonZeroU64::new(1024).unwrap()), ..Options::default() };
    let base = PostgresStore::open(&Place::parse(&database.url()).unwrap(), &identity(), &options).unwrap();
    let file = FileStore::in_memory(&identity()).unwrap();
    let (mut desk, mut person) = (desk(), None);
    for _ in 0..60 {
        let person = person.get_or_insert_with(|| fetch(&base, &mut desk, "ana"));
        let mut writes = Writes::default();
        for _ in 0..=SNAPSHOT_EVERY / 8 {
            decide(&mut desk, person, &mut writes);
        }
        assert!(Store::commit(&file, writes.clone(), true).unwrap().is_empty());
        assert!(base.commit(writes, true).unwrap().is_empty());
    }
    let person = person.unwrap();
    assert!(person.entries() >= 60 * (SNAPSHOT_EVERY / 8 + 1));
    assert!(bits(&fetch(&base, &mut desk, "ana")) == bits(&person));
    let entries: u64 = database.ask("SELECT sum(count) FROM fable_events").parse().unwrap();
    assert!((512..1024 + 2 * SNAPSHOT_EVERY).contains(&entries), "{entries}");
    // Whoever has fallen behind what is kept reads anew.
    let late = Known { entries: 5, ..person.known() };
    assert_eq!(base.since(&[late]).unwrap(), [(late.number, News::Anew)]);
    let near = Known { entries: person.entries() - 1, ..late };
    assert!(
        matches!(&base.since(&[near]).unwrap()[..], [(_, News::Entries(segments))] if segments.len() == 1)
    );
    let other = Known { birth: 7, ..near };
    assert_eq!(base.since(&[other, Known { number: 1, ..other }]).unwrap().len(), 2);
}
