//! Load on several services that have one store: users at random, each request to its own process or to any of them.

use crate::dice::Dice;
use crate::http::{Client, HttpService};
use serde::Deserialize;
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

const TASKS: [&str; 4] = ["coding", "analysis", "factual", "simple_preference"];

/// How the load is.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Clients at the same time; each has a connection to every service, and one request under way.
    pub clients: usize,
    /// Threads that they are divided among.
    pub threads: usize,
    /// Users, of whom one is taken at random for every round.
    pub users: usize,
    /// Rounds in all.
    pub rounds: usize,
    /// Whether all requests of a user go to one process.
    pub sticky: bool,
}

#[derive(Deserialize)]
struct Decided {
    decision: String,
}

#[derive(Deserialize)]
struct Learned {
    observations: u32,
}

struct Slot {
    clients: Vec<Client<TcpStream>>,
    user: usize,
    service: usize,
    sent: Instant,
}

/// Plays rounds, decide and feedback; how long they took, and how long each answer did. Users of the catalog `agent`.
///
/// # Panics
/// When an answer is not what it has to be.
#[must_use]
pub fn run(services: &[HttpService], shape: Shape, seed: u64) -> (Duration, Vec<Duration>) {
    let began = Instant::now();
    let times = thread::scope(|scope| {
        let threads: Vec<_> = (0..shape.threads)
            .map(|number| scope.spawn(move || play(services, shape, Dice::new(seed + 1_000 * number as u64))))
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("answers")).collect()
    });
    (began.elapsed(), times)
}

fn play(services: &[HttpService], shape: Shape, mut dice: Dice) -> Vec<Duration> {
    let Shape { clients, threads, users, rounds, sticky } = shape;
    let connect = || services.iter().map(HttpService::connect).collect();
    let slot = |_| Slot { clients: connect(), user: 0, service: 0, sent: Instant::now() };
    let mut slots: Vec<Slot> = (0..clients / threads).map(slot).collect();
    let mut times = Vec::with_capacity(2 * rounds / threads);
    for _ in 0..rounds / threads / slots.len() {
        for slot in &mut slots {
            slot.user = dice.below(users);
            slot.service = if sticky { slot.user % services.len() } else { dice.below(services.len()) };
            let (task, risk) = (dice.pick(&TASKS), dice.unit());
            slot.sent = Instant::now();
            let body = format!(
                r#"{{"user":"user-{:06}","context":{{"task":"{task}","risk":{risk},"ambiguity":0.25,"memory_need":0.5,"tool_need":0.7}}}}"#,
                slot.user
            );
            slot.clients[slot.service].begin("/v1/decide", &body);
        }
        for slot in &mut slots {
            let Decided { decision } = answer(slot, &mut times);
            if !sticky {
                slot.service = dice.below(services.len());
            }
            let reward = dice.unit() - 0.5;
            slot.sent = Instant::now();
            slot.clients[slot.service]
                .begin("/v1/feedback", &format!(r#"{{"decision":"{decision}","reward":{reward}}}"#));
        }
        for slot in &mut slots {
            let Learned { observations } = answer(slot, &mut times);
            assert!(observations > 0);
        }
    }
    times
}

fn answer<A: for<'a> Deserialize<'a>>(slot: &mut Slot, times: &mut Vec<Duration>) -> A {
    let answer = slot.clients[slot.service].answer().expect("an answer");
    times.push(slot.sent.elapsed());
    serde_json::from_str(&answer.body).unwrap_or_else(|error| panic!("{error} in {answer:?}"))
}
