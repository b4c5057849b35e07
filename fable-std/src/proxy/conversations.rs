//! Conversations that are under way: which decision a request goes on from, and what still waits to be judged.
//!
//! A conversation is known by the name that the application gives it, by the response that it goes on from, or else by what the user has
//! said in it so far, which every request repeats. So much is in memory and no more: the oldest are given up, and after a restart all
//! are. Nothing of it is written anywhere.

use super::dialect::Asked;
use fable_core::{Action, DecisionId};
use lru::LruCache;
use serde_json::Value;
use std::hash::{BuildHasher, RandomState};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Decisions of one conversation that wait for the same reaction: the last, and those that were asked back about.
const WAITING: usize = 4;

/// Users of whom it is known when they were forgotten.
const FORGOTTEN: NonZeroUsize = NonZeroUsize::new(10_000).unwrap();

/// What became of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// The assistant is at work, perhaps with tools.
    Working,
    /// There was no answer: the same request again is the same turn.
    Failed,
    /// There is an answer.
    Answered {
        /// Whether the answer is a question back.
        asks: bool,
    },
}

/// A decision that waits for a reaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Waiting {
    pub(super) decision: DecisionId,
    /// Questions that the assistant has asked back.
    pub(super) clarifications: u8,
}

/// What was decided.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Decided {
    pub(super) id: DecisionId,
    pub(super) chosen: Option<Action>,
    /// As it is shown.
    pub(super) action: Value,
    /// What the assistant is told.
    pub(super) instruction: String,
}

/// One turn of a user: what was asked, decided and answered.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) decided: Decided,
    pub(super) state: State,
    pub(super) waiting: Vec<Waiting>,
    user: String,
    /// What was asked, the beginning of it.
    pub(super) request: String,
    /// What was answered, the beginning of it.
    pub(super) answer: String,
    /// What was asked, to know it again.
    mark: u64,
    began: Moment,
}

impl Turn {
    pub(super) fn new(user: &str, decided: Decided, request: String, place: Place, carried: Vec<Waiting>) -> Self {
        let own = Waiting { decision: decided.id, clarifications: 0 };
        let skipped = carried.len().saturating_sub(WAITING - 1);
        let waiting = carried.into_iter().skip(skipped).chain([own]).collect();
        let (user, answer) = (user.to_owned(), String::new());
        Self { decided, state: State::Working, waiting, user, request, answer, mark: place.mark, began: place.began }
    }

    /// What goes on waiting when the user answers without a word about the answer: everything, if it was a question.
    pub(super) fn carried(&self) -> Vec<Waiting> {
        if self.state != (State::Answered { asks: true }) {
            return Vec::new();
        }
        let mut waiting = self.waiting.clone();
        if let Some(asked) = waiting.last_mut() {
            asked.clarifications = asked.clarifications.saturating_add(1);
        }
        waiting
    }
}

/// A turn that several requests share.
pub(super) type Shared = Arc<Mutex<Turn>>;

/// The turn itself; one that somebody has panicked over is as good as any.
pub(super) fn lock(turn: &Shared) -> MutexGuard<'_, Turn> {
    turn.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where a request stands among conversations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Where its turn is kept.
    now: u64,
    /// Where the turn before is kept.
    before: Option<u64>,
    mark: u64,
    began: Moment,
}

/// A time, counted in users who were forgotten before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Moment(u64);

/// When users were last forgotten: what was under way for them then is not kept.
#[derive(Debug)]
struct Forgotten {
    now: Moment,
    when: LruCache<u64, Moment>,
    /// When the last one was that is not known by name any more. It may have been anybody.
    anybody: Moment,
}

impl Forgotten {
    fn new() -> Self {
        Self { now: Moment(0), when: LruCache::new(FORGOTTEN), anybody: Moment(0) }
    }

    fn add(&mut self, user: u64) {
        self.now.0 += 1;
        if let Some((_, dropped)) = self.when.push(user, self.now) {
            self.anybody = self.anybody.max(dropped);
        }
    }

    fn has_since(&self, user: u64, began: Moment) -> bool {
        began < self.when.peek(&user).copied().unwrap_or(self.anybody)
    }
}

/// The turns.
#[derive(Debug)]
pub(super) struct Conversations {
    turns: Mutex<LruCache<u64, Shared>>,
    forgotten: Mutex<Forgotten>,
    keys: RandomState,
}

impl Conversations {
    pub(super) fn new(most: NonZeroUsize) -> Self {
        Self { turns: Mutex::new(LruCache::new(most)), forgotten: Mutex::new(Forgotten::new()), keys: RandomState::new() }
    }

    /// Where a request of a user stands; `named` is what a header calls the conversation.
    pub(super) fn place(&self, user: &str, named: Option<&str>, asked: &Asked) -> Place {
        let said: Vec<&str> = asked.by_user().collect();
        let (mark, began) = (self.keys.hash_one(("mark", said.last())), self.forgotten().now);
        if let Some(name) = named.or(asked.conversation.as_deref()) {
            let now = self.keys.hash_one(("name", user, name));
            return Place { now, before: Some(now), mark, began };
        }
        if let Some(previous) = &asked.previous {
            let before = self.response(user, previous);
            // What a tool has found belongs to the turn that has asked for it.
            let now = if asked.continues() { before } else { self.keys.hash_one(("after", user, previous, &said)) };
            return Place { now, before: Some(before), mark, began };
        }
        let now = self.keys.hash_one(("said", user, &said));
        let earlier = said.split_last().map(|(_, earlier)| earlier).filter(|earlier| !earlier.is_empty());
        Place { now, before: earlier.map(|earlier| self.keys.hash_one(("said", user, earlier))), mark, began }
    }

    fn response(&self, user: &str, id: &str) -> u64 {
        self.keys.hash_one(("response", user, id))
    }

    fn turns(&self) -> MutexGuard<'_, LruCache<u64, Shared>> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn forgotten(&self) -> MutexGuard<'_, Forgotten> {
        self.forgotten.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the user of a turn was forgotten since it began.
    pub(super) fn has_forgotten(&self, turn: &Turn) -> bool {
        self.forgotten().has_since(self.keys.hash_one(&turn.user), turn.began)
    }

    /// The turn that a request belongs to, if it does not begin one: the assistant is still at work for it, or it is sent again
    /// because there was no answer.
    pub(super) fn same(&self, place: Place, asked: &Asked) -> Option<Shared> {
        let turn = self.turns().get(&place.now).cloned()?;
        let again = {
            let turn = lock(&turn);
            turn.state == State::Failed && turn.mark == place.mark
        };
        (asked.continues() || again).then_some(turn)
    }

    /// The turn before the one that a request begins.
    pub(super) fn before(&self, place: Place) -> Option<Shared> {
        self.turns().get(&place.before?).cloned()
    }

    /// Keeps a turn, unless its user was forgotten meanwhile.
    pub(super) fn keep(&self, place: Place, turn: Turn) -> Shared {
        let gone = self.has_forgotten(&turn);
        let turn = Arc::new(Mutex::new(turn));
        if !gone {
            self.turns().put(place.now, Arc::clone(&turn));
        }
        turn
    }

    /// Lets a turn be found by the response that it got.
    pub(super) fn call(&self, user: &str, response: &str, turn: &Shared) {
        self.turns().put(self.response(user, response), Arc::clone(turn));
    }

    /// Forgets every turn of a user, and what is under way for them.
    pub(super) fn forget(&self, user: &str) {
        self.forgotten().add(self.keys.hash_one(user));
        let mut turns = self.turns();
        let theirs = |turn: &Shared| lock(turn).user == user;
        let gone: Vec<u64> = turns.iter().filter(|(_, turn)| theirs(turn)).map(|(key, _)| *key).collect();
        for key in gone {
            turns.pop(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_began_before_somebody_was_forgotten_is_known() {
        let mut forgotten = Forgotten::new();
        let before = forgotten.now;
        assert!(!forgotten.has_since(7, before));
        forgotten.add(7);
        assert!(forgotten.has_since(7, before) && !forgotten.has_since(8, before) && !forgotten.has_since(7, forgotten.now));
        // Nobody is kept for ever, and nobody comes back by that.
        for other in 100..100 + FORGOTTEN.get() as u64 {
            forgotten.add(other);
        }
        assert_eq!(forgotten.when.len(), FORGOTTEN.get());
        assert!(forgotten.has_since(7, before) && !forgotten.has_since(7, forgotten.now));
    }
}
