//! Conversations that are under way: which decision a request goes on from, and what still waits to be judged.
//!
//! A conversation is known by the name that the application gives it, by the response that it goes on from, or else by what the user has
//! said in it so far, which every request repeats. Two conversations can begin with the same words: of those that do, the one is meant in
//! which the assistant has said what the request repeats. So much is in memory and no more: the oldest are given up, and after a
//! restart all are. Nothing of it is written anywhere.

use super::dialect::Asked;
use crate::text;
use fable_core::{Action, DecisionId};
use lru::LruCache;
use serde_json::Value;
use std::hash::{BuildHasher, RandomState};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Decisions of one conversation that wait for the same reaction: the last, and those that were asked back about.
const WAITING: usize = 4;

/// Turns of before that are known with a turn.
const EARLIER: usize = 2;

/// Letters of an answer by which it is known again.
const KNOWN_BY: usize = 512;

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

/// A turn of before, as far as it says something about the next one.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Earlier {
    pub(super) request: String,
    pub(super) answer: String,
    pub(super) chosen: Option<Action>,
    pub(super) reward: Option<f64>,
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
    /// What was answered, to know it again.
    answer_mark: Option<u64>,
    /// What the user's next words made of it, or the application.
    pub(super) reward: Option<f64>,
    /// The turns before it, the oldest first.
    earlier: Vec<Earlier>,
    place: Place,
}

impl Turn {
    pub(super) fn new(
        user: &str,
        decided: Decided,
        request: String,
        place: Place,
        carried: Vec<Waiting>,
    ) -> Self {
        let own = Waiting { decision: decided.id, clarifications: 0 };
        let skipped = carried.len().saturating_sub(WAITING - 1);
        Self {
            decided,
            state: State::Working,
            waiting: carried.into_iter().skip(skipped).chain([own]).collect(),
            user: user.to_owned(),
            request,
            answer: String::new(),
            answer_mark: None,
            reward: None,
            earlier: Vec::new(),
            place,
        }
    }

    /// The same turn after these.
    pub(super) fn after(self, mut earlier: Vec<Earlier>) -> Self {
        let skipped = earlier.len().saturating_sub(EARLIER);
        Self { earlier: earlier.split_off(skipped), ..self }
    }

    /// This turn and those before it, the oldest first.
    pub(super) fn and_before(&self) -> Vec<Earlier> {
        let Self { request, answer, decided, reward, .. } = self;
        let own = Earlier {
            request: request.clone(),
            answer: answer.clone(),
            chosen: decided.chosen,
            reward: *reward,
        };
        self.earlier.iter().cloned().chain([own]).collect()
    }

    /// What goes on waiting when the user says something without a word about the answer: everything, if it was a question and this is
    /// what came of it.
    pub(super) fn carried(&self, said: &str) -> Vec<Waiting> {
        let asked = self.state == (State::Answered { asks: true });
        if !asked || (text::is_request(said) && !is_about(said, [&self.request, &self.answer])) {
            return Vec::new();
        }
        let mut waiting = self.waiting.clone();
        if let Some(asked) = waiting.last_mut() {
            asked.clarifications = asked.clarifications.saturating_add(1);
        }
        waiting
    }
}

/// Whether two of some texts have a word in common that says what they are about.
fn is_about(said: &str, before: [&String; 2]) -> bool {
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|letter: char| !letter.is_alphanumeric()).map(str::to_lowercase);
        words.filter(|word| word.chars().count() > 3 && !COMMON.contains(&word.as_str())).collect()
    };
    let known: Vec<String> = before.into_iter().flat_map(|text| words(text)).collect();
    let same =
        |word: &String, other: &String| word.starts_with(other.as_str()) || other.starts_with(word.as_str());
    words(said).iter().any(|word| known.iter().any(|other| same(word, other)))
}

/// Longer words that are in any sentence.
const COMMON: [&str; 34] = [
    "about", "also", "another", "could", "does", "from", "give", "have", "help", "into", "just", "know",
    "like", "make", "mean", "need", "please", "should", "some", "tell", "than", "that", "them", "then",
    "there", "they", "this", "want", "what", "when", "where", "which", "with", "would",
];

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
    /// Whether somebody has said which conversation it is.
    named: bool,
    /// What is asked, to know it again.
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
    /// The same by what was decided.
    decided: Mutex<LruCache<DecisionId, Weak<Mutex<Turn>>>>,
    forgotten: Mutex<Forgotten>,
    keys: RandomState,
}

impl Conversations {
    pub(super) fn new(most: NonZeroUsize) -> Self {
        Self {
            turns: Mutex::new(LruCache::new(most)),
            decided: Mutex::new(LruCache::new(most)),
            forgotten: Mutex::new(Forgotten::new()),
            keys: RandomState::new(),
        }
    }

    /// Where a request of a user stands; `named` is what a header calls the conversation.
    pub(super) fn place(&self, user: &str, named: Option<&str>, asked: &Asked) -> Place {
        let said: Vec<&str> = asked.by_user().collect();
        let (mark, began) = (self.keys.hash_one(("mark", said.last())), self.forgotten().now);
        if let Some(name) = named.or(asked.conversation.as_deref()) {
            let now = self.keys.hash_one(("name", user, name));
            return Place { now, before: Some(now), named: true, mark, began };
        }
        if let Some(previous) = &asked.previous {
            let before = self.response(user, previous);
            // What a tool has found belongs to the turn that has asked for it.
            let now =
                if asked.continues() { before } else { self.keys.hash_one(("after", user, previous, &said)) };
            return Place { now, before: Some(before), named: true, mark, began };
        }
        let now = self.keys.hash_one(("said", user, &said));
        let earlier = said.split_last().map(|(_, earlier)| earlier).filter(|earlier| !earlier.is_empty());
        let before = earlier.map(|earlier| self.keys.hash_one(("said", user, earlier)));
        Place { now, before, named: false, mark, began }
    }

    fn response(&self, user: &str, id: &str) -> u64 {
        self.keys.hash_one(("response", user, id))
    }

    fn turns(&self) -> MutexGuard<'_, LruCache<u64, Shared>> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn decided(&self) -> MutexGuard<'_, LruCache<DecisionId, Weak<Mutex<Turn>>>> {
        self.decided.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn forgotten(&self) -> MutexGuard<'_, Forgotten> {
        self.forgotten.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the user of a turn was forgotten since it began.
    pub(super) fn has_forgotten(&self, turn: &Turn) -> bool {
        self.forgotten().has_since(self.keys.hash_one(&turn.user), turn.place.began)
    }

    /// The turn that a request belongs to, if it does not begin one: the assistant is still at work for it, or it is sent again
    /// because there was no answer.
    pub(super) fn same(&self, place: Place, asked: &Asked) -> Option<Shared> {
        let turn = self.turns().get(&place.now).cloned()?;
        let again = {
            let turn = lock(&turn);
            turn.state == State::Failed && turn.place.mark == place.mark
        };
        (asked.continues() || again).then_some(turn)
    }

    /// The turn before the one that a request begins.
    pub(super) fn before(&self, place: Place, asked: &Asked) -> Option<Shared> {
        let key = place.before?;
        let newest = self.turns().get(&key).cloned();
        let Some(answers) = asked.last_answer().filter(|_| !place.named) else { return newest };
        let marks: Vec<u64> = answers.iter().filter_map(|answer| self.mark(answer)).collect();
        let mark = newest.as_ref().and_then(|turn| lock(turn).answer_mark);
        if mark.is_some_and(|mark| marks.contains(&mark)) {
            return newest;
        }
        let mut turns = self.turns();
        let other = marks.iter().find_map(|mark| turns.get(&self.apart(key, *mark)).cloned());
        other.or_else(|| newest.filter(|_| mark.is_none())) // what could not be read may have been anything
    }

    /// What an answer is known by; spaces aside, and what was thought before it, which not everybody repeats.
    fn mark(&self, answer: &str) -> Option<u64> {
        let said = answer.rsplit("</think>").next().unwrap_or(answer);
        let letters: String = said.chars().filter(|letter| !letter.is_whitespace()).take(KNOWN_BY).collect();
        (!letters.is_empty()).then(|| self.keys.hash_one(("answer", letters)))
    }

    /// Where a turn is kept when there is another one with the same words of the user.
    fn apart(&self, key: u64, answer: u64) -> u64 {
        self.keys.hash_one(("apart", key, answer))
    }

    /// Keeps a turn, unless its user was forgotten meanwhile. One that was there is kept apart.
    pub(super) fn keep(&self, turn: Turn) -> Shared {
        let (gone, place, decision) = (self.has_forgotten(&turn), turn.place, turn.decided.id);
        let turn = Arc::new(Mutex::new(turn));
        if gone {
            return turn;
        }
        self.decided().put(decision, Arc::downgrade(&turn));
        let other = self.turns().put(place.now, Arc::clone(&turn));
        if let Some(other) = other {
            self.keep_apart(&other);
        }
        turn
    }

    fn keep_apart(&self, turn: &Shared) {
        let (place, mark) = {
            let turn = lock(turn);
            (turn.place, turn.answer_mark)
        };
        if let Some(mark) = mark.filter(|_| !place.named) {
            self.turns().put(self.apart(place.now, mark), Arc::clone(turn));
        }
    }

    /// A turn has its answer.
    pub(super) fn settle(&self, turn: &Shared, answer: &str) {
        let mark = self.mark(answer);
        let place = {
            let mut turn = lock(turn);
            turn.answer_mark = mark;
            turn.place
        };
        let is_newest = self.turns().peek(&place.now).is_some_and(|newest| Arc::ptr_eq(newest, turn));
        if !is_newest {
            self.keep_apart(turn);
        }
    }

    /// Lets a turn be found by the response that it got.
    pub(super) fn call(&self, user: &str, response: &str, turn: &Shared) {
        self.turns().put(self.response(user, response), Arc::clone(turn));
    }

    /// A decision has had its reward otherwise than by what the user says next.
    pub(super) fn rewarded(&self, decision: DecisionId, reward: f64) {
        let turn = self.decided().get(&decision).and_then(Weak::upgrade);
        if let Some(turn) = turn {
            lock(&turn).reward = Some(reward);
        }
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
        assert!(
            forgotten.has_since(7, before)
                && !forgotten.has_since(8, before)
                && !forgotten.has_since(7, forgotten.now)
        );
        // Nobody is kept for ever, and nobody comes back by that.
        for other in 100..100 + FORGOTTEN.get() as u64 {
            forgotten.add(other);
        }
        assert_eq!(forgotten.when.len(), FORGOTTEN.get());
        assert!(forgotten.has_since(7, before) && !forgotten.has_since(7, forgotten.now));
    }

    #[test]
    fn another_matter_is_told_from_an_answer() {
        let (request, answer) = ("Delete the file".to_owned(), "Which file do you mean?".to_owned());
        let about = |said: &str| !text::is_request(said) || is_about(said, [&request, &answer]);
        for said in [
            "The second one in the list",
            "the red one",
            "report.txt",
            "do it",
            "Can you delete the second one?",
            "all the files",
        ] {
            assert!(about(said), "{said}");
        }
        for said in [
            "What is the capital of France?",
            "Who wrote Emma?",
            "Explain to me how tides work",
            "Which day is it?",
        ] {
            assert!(!about(said), "{said}");
        }
    }
}
