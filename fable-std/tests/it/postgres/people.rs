//! Users who decide and learn, and what a store has of them.

use fable_core::catalog::TAU2;
use fable_core::journal::Command;
use fable_core::{DecisionId, Feasible, Policy, Request, Settings};
use fable_std::store::journal::Note;
use fable_std::store::{
    Desk, Identity, News, Options, Place, Policies, PostgresStore, Reach, Resident, Store, Writes, transfer,
};
use std::sync::OnceLock;

pub type Person = Resident<'static, f64>;

pub const RULES: [&[u8]; 2] = [
    br#"{"rules":[{"effect":"forbid","component":"tool","values":["web_search"],"when":null,"words":"never search the web"}]}"#,
    br#"{"rules":[{"effect":"require","component":"style","values":["concise"],"when":null,"words":"be brief"}]}"#,
];

pub fn policy() -> Policy<'static, f64> {
    Policy::new(&TAU2, Settings::default()).unwrap()
}

pub fn identity() -> Identity {
    Identity::new(&policy())
}

pub fn desk() -> Desk<'static, f64> {
    static POLICIES: OnceLock<Policies<'static, f64>> = OnceLock::new();
    Desk::new(POLICIES.get_or_init(|| Policies::from(policy())))
}

pub fn open(url: &str) -> PostgresStore {
    PostgresStore::open(&Place::parse(url).unwrap(), &identity(), &Options::default()).unwrap()
}

/// A user of a store, or somebody new.
pub fn fetch(store: &dyn Store, desk: &mut Desk<'static, f64>, name: &str) -> Person {
    let stored = store.find(name).unwrap().and_then(|number| store.user(number, Reach::Snapshot).unwrap());
    match stored {
        Some(stored) => Resident::revive(desk, &stored, None).unwrap(),
        None => Resident::newcomer(
            desk,
            name,
            store.number_for(name).unwrap(),
            store.incarnation().unwrap(),
            None,
        )
        .unwrap(),
    }
}

/// One more decision.
pub fn decide(desk: &mut Desk<'static, f64>, person: &mut Person, writes: &mut Writes) -> DecisionId {
    let (context, all) = (TAU2.context(None, []).unwrap(), Feasible::all(&TAU2));
    let mut command = Command::decide(Request::new(&context, &all));
    person.run(desk, writes, &mut command, Note::None).unwrap();
    command.decision(&person.user(desk).unwrap()).unwrap().id
}

/// Its reward.
pub fn learn(
    desk: &mut Desk<'static, f64>,
    person: &mut Person,
    writes: &mut Writes,
    id: DecisionId,
    reward: f64,
) {
    person.run(desk, writes, &mut Command::feedback(id, reward), Note::None).unwrap();
}

/// What somebody else has written; whoever has to be read anew is.
pub fn catch_up(store: &dyn Store, desk: &mut Desk<'static, f64>, person: &mut Person) {
    let name = person.row().name.clone();
    for (number, news) in store.since(&[person.known()]).unwrap() {
        assert_eq!(number, person.known().number);
        match news {
            News::Entries(segments) => person.follow(desk, &segments).unwrap(),
            News::Anew => *person = fetch(store, desk, &name),
        }
    }
}

/// The bits of a learner.
pub fn bits(person: &Person) -> Vec<u8> {
    person.learner().to_bytes().unwrap()
}

/// Everything that can be asked about two stores is the same.
pub fn compare(left: &dyn Store, right: &dyn Store) {
    assert_eq!(left.everyone().unwrap(), right.everyone().unwrap());
    assert_eq!(left.users().unwrap(), right.users().unwrap());
    assert_eq!(left.priors().unwrap(), right.priors().unwrap());
    for fingerprint in left.priors().unwrap() {
        assert_eq!(left.prior(fingerprint).unwrap(), right.prior(fingerprint).unwrap());
    }
    let mut desk = desk();
    for number in left.everyone().unwrap() {
        assert!(left.has(number).unwrap() && right.has(number).unwrap());
        let [here, there] = [left, right].map(|store| store.user(number, Reach::Snapshot).unwrap().unwrap());
        let name = &here.row.name;
        assert_eq!((left.find(name).unwrap(), right.holder(name).unwrap()), (Some(number), Some(number)));
        assert_eq!((&here.row, &here.wishes), (&there.row, &there.wishes));
        let [ours, theirs] = [&here, &there].map(|stored| Resident::revive(&mut desk, stored, None).unwrap());
        assert!(bits(&ours) == bits(&theirs), "{name}");
        assert_eq!(ours.entries(), theirs.entries());
        assert!(transfer::export(left, name).unwrap() == transfer::export(right, name).unwrap(), "{name}");
        let whole = right.whole(number).unwrap().unwrap();
        assert!(bits(&Resident::revive(&mut desk, &whole, None).unwrap()) == bits(&ours), "{name}");
    }
}
