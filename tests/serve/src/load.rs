//! Load: rounds of many users, round robin and pipelined, every answer checked.

use crate::service::Service;
use fable_core::{DecisionId, user_hash};
use serde::Deserialize;
use std::collections::VecDeque;
use std::fmt::Write;
use std::ops::Range;
use std::time::{Duration, Instant};

const TASKS: [&str; 4] = ["coding", "analysis", "factual", "simple_preference"];

/// An answer to `decide`, and nothing else.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Decided<'a> {
    decision: &'a str,
    #[serde(borrow)]
    action: Chosen<'a>,
    instruction: &'a str,
    #[serde(rename = "explored")]
    _explored: bool,
    score: f64,
    sampled_score: f64,
    feasible: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Chosen<'a> {
    memory: &'a str,
    tool: &'a str,
    style: &'a str,
}

/// An answer to `feedback`, and nothing else.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Learned {
    observations: u32,
}

/// What was asked and not yet answered.
enum Asked {
    Decide { user: usize, offline: bool },
    Feedback { user: usize },
}

/// Users of the catalog `agent` and what is known about them.
pub struct Load {
    names: Vec<String>,
    hashes: Vec<u64>,
    /// Rounds begun, by user.
    begun: Vec<u32>,
    /// Rewards learned, by user.
    learned: Vec<u32>,
    /// Who are in turn.
    turn: Range<usize>,
    next: usize,
    rounds: usize,
}

impl Load {
    /// Nothing has happened to these users.
    #[must_use]
    pub fn new(users: usize) -> Self {
        let names: Vec<String> = (0..users).map(|user| format!("user-{user:06}")).collect();
        let hashes = names.iter().map(|name| user_hash(name)).collect();
        Self {
            names,
            hashes,
            begun: vec![0; users],
            learned: vec![0; users],
            turn: 0..users,
            next: 0,
            rounds: 0,
        }
    }

    /// The name of a user.
    #[must_use]
    pub fn name(&self, user: usize) -> &str {
        &self.names[user]
    }

    /// The decision that the next user in turn is asked to make.
    fn decide(&mut self, lines: &mut String) -> Asked {
        let (user, round) = (self.next, self.rounds);
        self.next = if user + 1 < self.turn.end { user + 1 } else { self.turn.start };
        self.rounds += 1;
        let (task, risk, need) = (TASKS[round % 4], (round % 10) as f64 / 10.0, (round % 7) as f64 / 7.0);
        let name = &self.names[user];
        let _ = write!(
            lines,
            r#"{{"op":"decide","user":"{name}","context":{{"task":"{task}","risk":{risk},"ambiguity":0.25,"#
        );
        let _ = write!(lines, r#""memory_need":{need},"tool_need":0.7}}"#);
        // One request in four has a rule.
        let offline = round % 4 == 1;
        lines.push_str(if offline { ",\"forbid\":[{\"tool\":\"web_search\"}]}\n" } else { "}\n" });
        Asked::Decide { user, offline }
    }

    /// Plays so many rounds of everyone, of a part of them at a time.
    ///
    /// # Panics
    /// When an answer is not what it has to be.
    pub fn run_by(&mut self, service: &mut Service, users: usize, rounds: usize, part: usize) {
        for start in (0..users).step_by(part) {
            self.turn = start..(start + part).min(users);
            self.next = start;
            self.run(service, self.turn.len() * rounds, 1_000.min(self.turn.len()));
        }
    }

    /// Plays rounds, `window` of them at a time on their way, and says how long it took.
    ///
    /// # Panics
    /// When an answer is not what it has to be.
    pub fn run(&mut self, service: &mut Service, rounds: usize, window: usize) -> Duration {
        let (started, mut begun, mut finished) = (Instant::now(), rounds.min(window), 0);
        let (mut lines, mut answer) = (String::new(), String::new());
        let mut asked: VecDeque<Asked> = (0..begun).map(|_| self.decide(&mut lines)).collect();
        while finished < rounds {
            if !service.has_more() && !lines.is_empty() {
                service.send(std::mem::take(&mut lines).into_bytes());
            }
            assert!(service.answer(&mut answer), "the service has ended");
            match asked.pop_front() {
                Some(Asked::Decide { user, offline }) => {
                    self.feedback(user, offline, &answer, &mut lines);
                    asked.push_back(Asked::Feedback { user });
                }
                Some(Asked::Feedback { user }) => {
                    let Learned { observations } = read(&answer);
                    self.learned[user] += 1;
                    assert_eq!(observations, self.learned[user], "{}", self.names[user]);
                    finished += 1;
                    if begun < rounds {
                        asked.push_back(self.decide(&mut lines));
                        begun += 1;
                    }
                }
                None => panic!("an answer to nothing: {answer}"),
            }
        }
        started.elapsed()
    }

    /// Checks a decision and rewards it.
    fn feedback(&mut self, user: usize, offline: bool, answer: &str, lines: &mut String) {
        let decided: Decided<'_> = read(answer);
        let id: DecisionId = decided.decision.parse().unwrap_or_else(|error| panic!("{error} in {answer}"));
        self.begun[user] += 1;
        assert_eq!((id.user, id.round), (self.hashes[user], self.begun[user]), "{answer}");
        let Chosen { memory, tool, style } = decided.action;
        assert!(!memory.is_empty() && !decided.instruction.is_empty(), "{answer}");
        assert!(decided.score.is_finite() && decided.sampled_score.is_finite(), "{answer}");
        assert_eq!(decided.feasible, if offline { 150 } else { 180 }, "{answer}");
        assert!(!offline || tool != "web_search", "{answer}");
        let reward = if style == "concise" { 0.5 } else { -0.125 };
        let _ = writeln!(lines, r#"{{"op":"feedback","decision":"{}","reward":{reward}}}"#, decided.decision);
    }
}

fn read<'a, A: Deserialize<'a>>(answer: &'a str) -> A {
    serde_json::from_str(answer).unwrap_or_else(|error| panic!("{error} in {answer}"))
}
