//! The model that an experiment asks: transcripts first, then the endpoint, with retries.

use super::transcripts::{Question, Transcripts, answer_hash, hash};
use super::wording::Wording;
use crate::setup::StudyError;
use fable_std::llm::{Chat, Completion, LlmError};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// A wait that a server may ask for; one that wants more is asked another day.
const LONGEST_WAIT: Duration = Duration::from_mins(5);

/// How a request that was not answered is sent again.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// How often, at most.
    pub retries: u32,
    /// The wait before the first time; it doubles each time. A server that says how long to wait is obeyed.
    pub first_wait: Duration,
}

/// Who is asked over the network.
#[derive(Clone, Debug)]
pub struct Server {
    /// The client.
    pub chat: Chat,
    /// What it does when it is not answered.
    pub patience: Patience,
    /// The environment variable that would have the key, where it has none.
    pub no_key: Option<String>,
}

impl Server {
    /// What to try after an error, if there is something.
    fn advice(&self, error: LlmError) -> String {
        match (error, &self.no_key) {
            (LlmError::Status(401 | 403), Some(variable)) => format!("; no key was sent, because {variable} is not set"),
            (LlmError::Status(400 | 422), _) => {
                "; models that refuse `max_tokens` or `temperature` need --max-completion-tokens or --temperature none".into()
            }
            (LlmError::Status(404), _) => "; --endpoint is the address before /chat/completions, --model a name it knows".into(),
            (LlmError::Timeout, _) => "; --timeout gives it more time".into(),
            _ => String::new(),
        }
    }
}

/// What an experiment asks.
pub struct Model {
    /// How requests are written.
    pub wording: Wording,
    transcripts: Transcripts,
    /// `None` looks into the transcripts only.
    server: Option<Server>,
    progress: Progress,
    log: Mutex<Log>,
    /// The names of the transcripts that are being made. Where equal requests share an answer the second one waits for it.
    under_way: Mutex<BTreeSet<String>>,
    finished: Condvar,
}

/// How far it is: a bar on a terminal, else a line for each twentieth.
struct Progress {
    bar: ProgressBar,
    lines: bool,
}

impl Progress {
    fn new(expected: usize, shown: bool) -> Self {
        if !shown {
            return Self { bar: ProgressBar::hidden(), lines: false };
        }
        let bar = ProgressBar::new(expected as u64);
        let style = ProgressStyle::with_template("{msg:40} {wide_bar} {pos}/{len} calls {eta}");
        let bar = if let Ok(style) = style { bar.with_style(style) } else { bar };
        let lines = bar.is_hidden();
        Self { bar, lines }
    }

    fn step(&self) {
        self.bar.inc(1);
        let (done, all) = (self.bar.position(), self.bar.length().unwrap_or_default());
        if self.lines && done.is_multiple_of((all / 20).max(1)) {
            eprintln!("  {done} of about {all} calls");
        }
    }
}

/// Somebody who makes a transcript; when they are done, with or without it, the next one may.
struct Turn<'m> {
    model: &'m Model,
    name: &'m str,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.model.under_way.lock().unwrap_or_else(PoisonError::into_inner).remove(self.name);
        self.model.finished.notify_all();
    }
}

/// What was asked, by whom and how often.
#[derive(Clone, Debug, Default)]
pub struct Log {
    /// The place of each call with the hashes of question and answer, in the order of the places.
    pub calls: BTreeMap<String, (String, String)>,
    /// How many answers were there already, by the kind of call: the last part of a place without its number.
    pub cached: BTreeMap<String, usize>,
    /// How many were new.
    pub new: usize,
    /// How many of the new ones had to be asked for again, and how often in all.
    pub retried: usize,
    /// Tokens of all requests and answers where the server counted them.
    pub tokens: (u64, u64),
    /// How many answers broke off at the limit of tokens.
    pub cut: usize,
    /// The models as the server names them.
    pub models: BTreeMap<String, usize>,
    /// What made an end to it, told once.
    failure: Option<String>,
}

/// Why a question has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoAnswer {
    /// It was not asked before, and nobody may be asked now.
    NotYet,
    /// The endpoint does not answer it.
    Refused(String),
    /// Another question was refused, so this one was not asked.
    Stopped,
}

impl fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotYet => f.write_str("there is not a transcript of this call yet"),
            Self::Refused(why) => f.write_str(why),
            Self::Stopped => f.write_str("another call failed"),
        }
    }
}

impl Error for NoAnswer {}

impl Model {
    fn new(wording: Wording, transcripts: Transcripts, server: Option<Server>, progress: Progress) -> Self {
        let (log, under_way) = (Mutex::default(), Mutex::default());
        Self { wording, transcripts, server, progress, log, under_way, finished: Condvar::new() }
    }

    /// A model that is asked over the network about so many times; whether progress is shown.
    #[must_use]
    pub fn online(
        wording: Wording,
        transcripts: Transcripts,
        server: Server,
        expected: usize,
        shown: bool,
    ) -> Self {
        Self::new(wording, transcripts, Some(server), Progress::new(expected, shown))
    }

    /// The answers that are there already.
    #[must_use]
    pub fn offline(wording: Wording, transcripts: Transcripts) -> Self {
        Self::new(wording, transcripts, None, Progress::new(0, false))
    }

    /// Waits until nobody else makes the transcript with this name.
    fn turn<'m>(&'m self, name: &'m str) -> Turn<'m> {
        let mut under_way = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        while !under_way.insert(name.to_owned()) {
            under_way = self.finished.wait(under_way).unwrap_or_else(PoisonError::into_inner);
        }
        Turn { model: self, name }
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was asked so far; takes the progress off the screen.
    #[must_use]
    pub fn finish(self) -> Log {
        self.progress.bar.finish_and_clear();
        self.log.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answer to a request, without the thoughts that some servers put before it. The place says which call of the
    /// experiment it is; its last part is the kind of call.
    ///
    /// # Errors
    /// [`NoAnswer`], or what is wrong with the transcripts.
    pub fn ask(&self, place: String, request: Value) -> Result<Completion, StudyError> {
        let mut answer = self.asked(place, request)?;
        answer.content = spoken(&answer.content).to_owned();
        Ok(answer)
    }

    fn asked(&self, place: String, request: Value) -> Result<Completion, StudyError> {
        let question =
            Question { place: if self.wording.share { String::new() } else { place.clone() }, request };
        let name = question.name();
        let _turn = self.turn(&name);
        if let Some(answer) = self.transcripts.find(&question, &name)? {
            *self.log().cached.entry(kind(&place).to_owned()).or_default() += 1;
            self.note(place, &name, &answer);
            return Ok(answer);
        }
        let Some(server) = &self.server else { return Err(NoAnswer::NotYet.into()) };
        if self.log().failure.is_some() {
            return Err(NoAnswer::Stopped.into());
        }
        self.progress.bar.set_message(place.clone());
        let answer = self.patiently(server, &question.request).map_err(|why| self.failed(&place, &why))?;
        // What was paid for and cannot be kept must not be asked for again and again.
        let kept = self.transcripts.keep(question, &name, answer.clone());
        kept.map_err(|error| self.failed(&place, &format!("the answer cannot be kept: {error}")))?;
        self.log().new += 1;
        self.note(place, &name, &answer);
        Ok(answer)
    }

    /// Makes an end to it: nobody is asked any more.
    fn failed(&self, place: &str, why: &str) -> NoAnswer {
        let why = format!("{place}: {why}");
        self.log().failure.get_or_insert_with(|| why.clone());
        NoAnswer::Refused(why)
    }

    fn note(&self, place: String, name: &str, answer: &Completion) {
        self.progress.step();
        let mut log = self.log();
        let (sent, received) = answer.tokens.unwrap_or_default();
        log.tokens = (log.tokens.0 + sent, log.tokens.1 + received);
        *log.models.entry(answer.model.clone()).or_default() += 1;
        log.cut += usize::from(answer.finish == "length");
        log.calls.insert(place, (name.to_owned(), answer_hash(answer)));
    }

    fn patiently(&self, server: &Server, request: &Value) -> Result<Completion, String> {
        let Server { chat, patience, .. } = server;
        let mut wait = patience.first_wait;
        for attempt in 0.. {
            let refusal = match chat.complete(request) {
                Ok(answer) => return Ok(answer),
                Err(refusal) => refusal,
            };
            let asked_for = refusal.retry_after.unwrap_or(wait);
            if !refusal.may_pass() {
                return Err(format!("{refusal}{}", server.advice(refusal.error)));
            }
            if attempt >= patience.retries {
                return Err(format!(
                    "{refusal}, after {} tries{}",
                    attempt + 1,
                    server.advice(refusal.error)
                ));
            }
            if asked_for > LONGEST_WAIT {
                return Err(format!(
                    "{refusal} and wants {} s of rest; run this again later",
                    asked_for.as_secs()
                ));
            }
            self.log().retried += 1;
            thread::sleep(asked_for);
            wait = wait.saturating_mul(2).min(LONGEST_WAIT);
        }
        Err("not tried".into())
    }
}

/// The last part of a place, without a number at its end: `rubric/full/0/3/answer-2` is an `answer`.
#[must_use]
pub fn kind(place: &str) -> &str {
    let last = place.rsplit('/').next().unwrap_or(place);
    last.trim_end_matches(|letter: char| letter.is_ascii_digit()).trim_end_matches('-')
}

/// What a model says after it has thought, where a server puts the thoughts into the same text.
fn spoken(content: &str) -> &str {
    match content.strip_prefix("<think>") {
        // Thoughts without an end are all that there is.
        Some(thoughts) => thoughts.split_once("</think>").map_or("", |(_, said)| said.trim_start()),
        None => content,
    }
}

impl Log {
    /// How many answers were there already.
    #[must_use]
    pub fn all_cached(&self) -> usize {
        self.cached.values().sum()
    }

    /// What made an end to it, if anything did.
    #[must_use]
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// One row per call: its place and the hashes of question and answer.
    #[must_use]
    pub fn csv(&self) -> String {
        let rows =
            self.calls.iter().map(|(place, (question, answer))| format!("{place},{question},{answer}\n"));
        std::iter::once("call,question,answer\n".to_owned()).chain(rows).collect()
    }

    /// The hash of all that.
    #[must_use]
    pub fn hash(&self) -> String {
        hash(&self.csv())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thoughts_are_not_part_of_what_is_said() {
        for (content, said) in [
            ("yes", "yes"),
            ("<think>\nHm. {1}\n</think>\n\nyes", "yes"),
            ("<think>Hm.", ""),
            ("Is <think> a tag? </think>", "Is <think> a tag? </think>"),
        ] {
            assert_eq!(spoken(content), said);
        }
    }

    #[test]
    fn the_kind_of_a_call_is_the_end_of_its_place() {
        for (place, expected) in
            [("rubric/Fable (full)/0/03/answer-2", "answer"), ("tau2/airline/00/customer", "customer")]
        {
            assert_eq!(kind(place), expected);
        }
    }
}
