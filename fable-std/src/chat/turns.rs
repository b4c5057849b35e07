//! The last exchanges of this chat, for the context of the next request. They are in memory only and end with the chat.

use crate::text::Turn;
use fable_core::{Decision, DecisionId};
use std::collections::VecDeque;

/// Exchanges that a context is made from.
const MEMORY: usize = 6;

/// See the [module](self).
#[derive(Debug, Default)]
pub(super) struct Turns(VecDeque<Past>);

#[derive(Debug)]
struct Past {
    decision: Decision,
    request: String,
    answer: Option<String>,
    reward: Option<f64>,
}

impl Past {
    fn turn(&self) -> Turn<'_> {
        Turn {
            request: &self.request,
            answer: self.answer.as_deref(),
            action: Some(self.decision.action),
            reward: self.reward,
        }
    }
}

impl Turns {
    /// Adds a request that was decided on and, if there was one, its answer.
    pub(super) fn push(&mut self, decision: Decision, request: &str, answer: Option<&str>) {
        if self.0.len() == MEMORY {
            self.0.pop_front();
        }
        let (request, answer) = (request.to_owned(), answer.map(str::to_owned));
        self.0.push_back(Past { decision, request, answer, reward: None });
    }

    /// Adds the reward of a decision, if it is among them.
    pub(super) fn reward(&mut self, decision: DecisionId, reward: f64) {
        if let Some(past) = self.0.iter_mut().find(|past| past.decision.id == decision) {
            past.reward = Some(reward);
        }
    }

    /// The exchanges, the oldest first.
    pub(super) fn history(&self) -> Vec<Turn<'_>> {
        self.0.iter().map(Past::turn).collect()
    }

    /// Forgets them.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}
