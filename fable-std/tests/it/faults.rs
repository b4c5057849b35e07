//! Faults of a fleet: processes are killed, the database is stopped at once, connections are cut, all under load. Nothing that was
//! acknowledged is lost or doubled, and every decision has the bits that one process alone gives it.
//!
//! FABLE_FAULTS=N has N faults instead of 9.

use fable_core::catalog::TAU2;
use fable_core::journal::Event;
use fable_core::record::decode_event;
use fable_core::{DecisionId, Settings};
use fable_serve_tests::dice::Dice;
use fable_serve_tests::http::{Client, HttpService};
use fable_serve_tests::postgres::{Database, Postgres};
use fable_serve_tests::proxy::Proxy;
use fable_std::catalogs;
use fable_std::replay::{Tape, replay};
use fable_std::store::{Options, Place, PostgresStore, Store};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::net::TcpStream;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const PROCESSES: usize = 3;
const CLIENTS: usize = 6;
const USERS: usize = 4;

fn faults() -> u64 {
    std::env::var("FABLE_FAULTS").ok().and_then(|faults| faults.parse().ok()).unwrap_or(9)
}

/// What one client was told about one of its users.
#[derive(Clone, Debug, Default)]
struct Told {
    /// Actions by decision.
    decided: BTreeMap<u32, Value>,
    /// Rewards by decision.
    rewarded: BTreeMap<u32, f64>,
    /// Requests of which it is not known whether they have happened: decisions, and rewards with their decisions.
    doubtful_decisions: usize,
    doubtful_rewards: BTreeMap<u32, f64>,
    /// The incarnation of the user.
    incarnation: Option<u32>,
}

/// Where the processes are; one that is being replaced is not there.
type Places = Mutex<Vec<Option<String>>>;

/// Asks some process; `None` when no answer came, or one that says that it is not known what has happened.
fn ask(places: &Places, dice: &mut Dice, path: &str, body: &Value) -> Option<Value> {
    let place = dice.pick(&places.lock().unwrap()).clone()?;
    let stream = TcpStream::connect(place).ok()?;
    stream.set_read_timeout(Some(Duration::from_mins(1))).ok()?;
    let mut client = Client::over(stream);
    client.begin(path, &body.to_string());
    let answer = client.answer()?;
    (answer.status < 500).then(|| answer.json())
}

/// Rounds of a client's own users until the faults are over.
fn live(number: usize, places: &Places, ended: &AtomicBool, answers: &AtomicU64) -> Vec<(String, Told)> {
    let mut dice = Dice::new(number as u64);
    let mut users: Vec<(String, Told)> =
        (0..USERS).map(|user| (format!("client {number} user {user}"), Told::default())).collect();
    while !ended.load(Ordering::Relaxed) {
        let (name, told) = &mut users[dice.below(USERS)];
        let decide = json!({ "user": name, "context": {} });
        let Some(decided) = ask(places, &mut dice, "/v1/decide", &decide) else {
            told.doubtful_decisions += 1;
            std::thread::sleep(Duration::from_millis(5));
            continue;
        };
        let id: DecisionId =
            decided["decision"].as_str().unwrap_or_else(|| panic!("{decided}")).parse().unwrap();
        assert!(told.decided.insert(id.round, decided["action"].clone()).is_none(), "{id} was given twice");
        assert_eq!(*told.incarnation.get_or_insert(id.incarnation), id.incarnation);
        answers.fetch_add(1, Ordering::Relaxed);
        let reward = (dice.below(201) as f64 - 100.0) / 100.0;
        let feedback = json!({ "decision": id.to_string(), "reward": reward });
        loop {
            // The same again until it is answered: done now, or done before.
            let Some(learned) = ask(places, &mut dice, "/v1/feedback", &feedback) else {
                told.doubtful_rewards.insert(id.round, reward);
                if ended.load(Ordering::Relaxed) {
                    break;
                }
                std::thread::sleep(Duration::from_millis(5));
                continue;
            };
            let doubtful = told.doubtful_rewards.remove(&id.round).is_some();
            let duplicate = learned["error"]["code"] == "duplicate_feedback";
            assert!(learned["observations"].is_u64() || doubtful && duplicate, "{learned}");
            told.rewarded.insert(id.round, reward);
            answers.fetch_add(1, Ordering::Relaxed);
            break;
        }
    }
    users
}

/// Compares what a user was told with what is stored.
fn judge(store: &dyn Store, name: &str, told: &Told) {
    let stored = store.named(name).unwrap();
    let tape = Tape::of_user(&stored).unwrap();
    let replayed = replay(&TAU2, Settings::default(), &tape).unwrap();
    assert_eq!(replayed.difference, None, "{name}: a decision has other bits");
    let (mut decided, mut rewarded) = (BTreeMap::new(), BTreeMap::new());
    for record in &tape.events {
        match decode_event(&TAU2, record).unwrap() {
            Event::Decision { round, action, .. } => assert!(decided.insert(round, action).is_none()),
            Event::Feedback { round, reward, .. } => {
                assert!(rewarded.insert(round, reward).is_none(), "{name}: {round} twice");
            }
            _ => {}
        }
    }
    for (round, action) in &told.decided {
        assert_eq!(catalogs::action(&TAU2, decided[round]), *action, "{name}: decision {round}");
    }
    assert!(
        decided.len() <= told.decided.len() + told.doubtful_decisions,
        "{name}: decisions that nobody asked for"
    );
    for (round, reward) in &told.rewarded {
        assert_eq!(rewarded.get(round), Some(reward), "{name}: reward of {round}");
    }
    for (round, reward) in &rewarded {
        let known = told.rewarded.get(round).or_else(|| told.doubtful_rewards.get(round));
        assert_eq!(known, Some(reward), "{name}: a reward that nobody gave");
    }
}

#[test]
fn nothing_acknowledged_is_lost_or_doubled() {
    let Some(server) = Postgres::start() else { return };
    let database = Database::of(&server);
    let proxy = Proxy::to(server.port());
    let url = database.url_at(proxy.port());
    let fable = Path::new(env!("CARGO_BIN_EXE_fable"));
    let start = || {
        HttpService::start(
            fable,
            ["--catalog", "tau2", "--threads", "2", "--store", &url],
            &[("FABLE_LOG", "off")],
        )
    };
    let mut services: Vec<HttpService> = (0..PROCESSES).map(|_| start()).collect();
    let places: Places = Mutex::new(services.iter().map(|service| Some(service.address.clone())).collect());
    let (ended, answers) = (AtomicBool::new(false), AtomicU64::new(0));
    let lives = std::thread::scope(|scope| {
        let (places, ended, answers) = (&places, &ended, &answers);
        let clients: Vec<_> =
            (0..CLIENTS).map(|number| scope.spawn(move || live(number, places, ended, answers))).collect();
        let mut dice = Dice::new(17);
        // After every fault there is some load, however busy the machine is.
        let go_on = |more: u64| {
            let (before, began) = (answers.load(Ordering::Relaxed), Instant::now());
            while answers.load(Ordering::Relaxed) < before + more {
                assert!(began.elapsed() < Duration::from_mins(2), "nothing is answered any more");
                assert!(clients.iter().all(|client| !client.is_finished()), "a client has failed");
                std::thread::sleep(Duration::from_millis(1));
            }
        };
        let mut kinds = [0; 3];
        for fault in 0..faults() {
            go_on(20 + dice.below(60) as u64);
            let kind = (fault % 3) as usize;
            kinds[kind] += 1;
            match kind {
                0 => {
                    let which = dice.below(PROCESSES);
                    services[which].signal("KILL");
                    places.lock().unwrap()[which] = None;
                    services[which].wait();
                    services[which] = start();
                    places.lock().unwrap()[which] = Some(services[which].address.clone());
                }
                1 => {
                    server.stop();
                    std::thread::sleep(Duration::from_millis(dice.below(300) as u64));
                    server.resume();
                }
                _ => proxy.cut_after(1 + dice.below(6_000), dice.once_in(2)),
            }
        }
        go_on(200);
        ended.store(true, Ordering::Relaxed);
        let lives: Vec<(String, Told)> =
            clients.into_iter().flat_map(|client| client.join().unwrap()).collect();
        println!(
            "{} kills, {} stops of the database, {} cuts; {} answers",
            kinds[0],
            kinds[1],
            kinds[2],
            answers.load(Ordering::Relaxed)
        );
        lives
    });
    for service in &mut services {
        assert!(service.finish().success());
    }
    let store =
        PostgresStore::open_any(&Place::parse(&database.url()).unwrap(), &Options::default()).unwrap();
    let everyone = store.everyone().unwrap().len();
    assert!(
        everyone <= CLIENTS * USERS
            && everyone >= lives.iter().filter(|(_, told)| !told.decided.is_empty()).count()
    );
    for (name, told) in lives.iter().filter(|(_, told)| !told.decided.is_empty()) {
        judge(&store, name, told);
    }
}
