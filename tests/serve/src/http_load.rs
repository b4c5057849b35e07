//! Load over HTTP: rounds on many connections that are kept, one request at a time on each.

use crate::http::{Client, HttpService};
use serde::Deserialize;
use std::net::TcpStream;
use std::time::{Duration, Instant};

const TASKS: [&str; 4] = ["coding", "analysis", "factual", "simple_preference"];

#[derive(Deserialize)]
struct Decided {
    decision: String,
}

#[derive(Deserialize)]
struct Learned {
    observations: u32,
}

/// Plays rounds, decide and feedback, and says how long they took and how long each answer did. Users of the catalog `agent`; every
/// connection has its own.
///
/// # Panics
/// When an answer is not what it has to be.
#[must_use]
pub fn run(service: &HttpService, connections: usize, users: usize, rounds: usize) -> (Duration, Vec<Duration>) {
    let mut clients: Vec<Client<TcpStream>> = (0..connections).map(|_| service.connect()).collect();
    let mut learned = vec![0; users];
    let mut times = Vec::with_capacity(2 * rounds);
    let mut sent = vec![Instant::now(); connections];
    let decide = |client: &mut Client<TcpStream>, round: usize| {
        let (user, task, risk) = (round % users, TASKS[round % 4], (round % 10) as f64 / 10.0);
        client.begin("/v1/decide", &format!(r#"{{"user":"user-{user:06}","context":{{"task":"{task}","risk":{risk},"ambiguity":0.25,"memory_need":0.5,"tool_need":0.7}}}}"#));
    };
    let began = Instant::now();
    let mut round = 0;
    while round < rounds {
        let first = round;
        for (client, sent) in clients.iter_mut().zip(&mut sent) {
            *sent = Instant::now();
            decide(client, round);
            round += 1;
        }
        for (client, sent) in clients.iter_mut().zip(&mut sent) {
            let answer = client.answer().expect("an answer");
            times.push(sent.elapsed());
            let Decided { decision } = serde_json::from_str(&answer.body).unwrap_or_else(|error| panic!("{error} in {answer:?}"));
            *sent = Instant::now();
            client.begin("/v1/feedback", &format!(r#"{{"decision":"{decision}","reward":0.5}}"#));
        }
        for (place, (client, sent)) in clients.iter_mut().zip(&sent).enumerate() {
            let answer = client.answer().expect("an answer");
            times.push(sent.elapsed());
            let Learned { observations } =
                serde_json::from_str(&answer.body).unwrap_or_else(|error| panic!("{error} in {answer:?}"));
            let user = (first + place) % users;
            learned[user] += 1;
            assert_eq!(observations, learned[user]);
        }
    }
    (began.elapsed(), times)
}
