//! Plays scripts against a service.

use crate::oracle::{Expected, Oracle};
use crate::script::{Script, Step, compare};
use crate::service::Service;
use fable_core::Scalar;
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};

/// A life that a script writes, a service leads and an oracle knows beforehand.
pub struct Play<T: Scalar> {
    /// What has to come out.
    pub oracle: Oracle<T>,
    /// What happens.
    pub script: Script,
    /// Steps so far; each line carries its number as its id.
    number: u64,
    /// By op, how many requests were done and how many were refused.
    pub outcomes: BTreeMap<&'static str, (u32, u32)>,
}

/// A line that was sent.
#[derive(Clone, Debug)]
pub struct Sent {
    /// What was asked.
    pub step: Step,
    /// What has to be answered.
    pub expected: Expected,
    number: u64,
}

impl<T: Scalar> Play<T> {
    /// A play.
    #[must_use]
    pub const fn new(oracle: Oracle<T>, script: Script) -> Self {
        Self { oracle, script, number: 0, outcomes: BTreeMap::new() }
    }

    /// Steps sent so far.
    #[must_use]
    pub const fn sent(&self) -> u64 {
        self.number
    }

    /// Sends the next step.
    pub fn send(&mut self, service: &Service) -> Sent {
        let step = self.script.step(&mut self.oracle);
        let mut request = step.json(self.oracle.catalog());
        request["id"] = self.number.into();
        service.send(format!("{request}\n").into_bytes());
        let sent = Sent { expected: step.play(&mut self.oracle), step, number: self.number };
        self.number += 1;
        let outcome = self.outcomes.entry(sent.step.op()).or_default();
        *(if sent.expected.is_ok() { &mut outcome.0 } else { &mut outcome.1 }) += 1;
        sent
    }

    /// Plays steps, some of them on their way at any time, and checks each answer.
    ///
    /// # Panics
    /// When an answer is not the expected one.
    pub fn run(&mut self, service: &mut Service, steps: usize, window: usize) {
        let (mut waiting, mut line) = (VecDeque::new(), String::new());
        for _ in 0..steps {
            waiting.push_back(self.send(service));
            if waiting.len() == window {
                receive(service, &waiting.pop_front().unwrap(), &mut line);
            }
        }
        for sent in waiting {
            receive(service, &sent, &mut line);
        }
    }
}

/// Reads the next answer and checks it.
///
/// # Panics
/// When there is none or it is not the expected one.
pub fn receive(service: &mut Service, sent: &Sent, line: &mut String) {
    assert!(service.answer(line), "no answer to {:?}", sent.step);
    sent.check(line);
}

impl Sent {
    /// Checks the answer: the right one, in its turn.
    ///
    /// # Panics
    /// When it is not the expected one.
    pub fn check(&self, line: &str) {
        let mut answer: Value =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line}"));
        assert!(
            line.starts_with(&format!("{{\"id\":{},", self.number)),
            "{line} is not the answer to {}",
            self.number
        );
        answer.as_object_mut().unwrap().remove("id");
        compare(&self.expected, &answer)
            .unwrap_or_else(|message| panic!("step {}, {:?}\n{message}", self.number, self.step));
    }
}
