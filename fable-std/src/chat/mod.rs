//! A conversation with one person, a line at a time: request, context, decision, instruction, answer, reaction.
//!
//! [`Chat`] is all of `fable chat` but the terminal. A line goes in, labelled lines of text come out, and what they say is on
//! disk by then; the words themselves are not stored, only the numbers made of them, and the words of a rule, unless memory is
//! [switched on](Chat::remembering). After an
//! answer a line that the feedback adapter understands is a reaction to it, any other line is the next request. The last
//! exchanges count when a request is read ("and in French?").
//!
//! ```
//! use fable_core::{Policy, Settings, catalog::AGENT};
//! use fable_std::chat::Chat;
//! use fable_std::store::{FileStore, Identity, Policies};
//! use fable_std::text::Rules;
//!
//! let settings = Settings { context_adapter: Rules::CONTEXT, feedback_adapter: Rules::FEEDBACK, ..Settings::default() };
//! let policy = Policy::new(&AGENT, settings)?;
//! let store = FileStore::in_memory(&Identity::new(&policy))?;
//! let policies = Policies::from(policy); // somebody new begins at this policy's prior
//! let mut chat = Chat::open(&policies, Box::new(store), "ana", &Rules, None)?;
//! let reply = chat.line("/prefer I like short answers, never search the web", 0)?;
//! assert_eq!(reply.to_string(), "\
//! prefers      style=concise over style=detailed
//! rule         never tool=web_search
//! ");
//! assert!(chat.line("What's the weather in Oslo today?", 0)?.to_string().starts_with("request      factual, tool_need 0.9\n"));
//! assert_eq!(chat.line("thanks, that's perfect", 0)?.to_string(), "reaction     +1.00, learned\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod command;
mod error;
mod memory;
mod moment;
mod person;
mod profile;
mod reply;
mod turns;

pub use command::{SEEN, TYPED};
pub use error::ChatError;
pub use reply::{Line, Reply};

use crate::identify::Allowed;
use crate::llm::Llm;
use crate::rules;
use crate::store::wishes::Wishes;
use crate::store::{Policies, Store};
use crate::text::wording;
use crate::text::{
    Background, Constraint, ContextAdapter, FeedbackAdapter, OnboardingAdapter, PreferenceText, Reaction,
    RequestText, Rules, Said, Situation, is_clear, split,
};
use command::Command;
use fable_core::catalog::When;
use fable_core::preference::Standing;
use fable_core::{Catalog, Feasible, Statement};
use memory::Recollection;
use moment::Moment;
use person::Person;
use turns::Turns;

/// Whoever reads the person's words.
pub trait Reader: ContextAdapter + OnboardingAdapter + FeedbackAdapter {}

impl<R: ContextAdapter + OnboardingAdapter + FeedbackAdapter> Reader for R {}

/// See the [module](self).
pub struct Chat<'p> {
    person: Person<'p>,
    reader: &'p dyn Reader,
    assistant: Option<&'p Llm>,
    /// The last decision as it was made, to explain it; of one that was made before this chat began only when it is asked for.
    moment: Option<Moment<'p>>,
    /// What was asked and answered before.
    recollection: Recollection,
    /// The same with what was chosen and how it was taken, also without an assistant.
    turns: Turns,
    /// What is so for everybody.
    background: Option<String>,
    /// What the next line is, if not just anything.
    expected: Expected,
    /// Rules that a model has read into what the person said.
    proposed: Vec<Constraint>,
}

/// What the next line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    Anything,
    /// What the person likes, or nothing.
    Preferences,
    /// Yes, if everything is to be forgotten.
    Yes,
    /// Yes, if what was proposed is to be a rule.
    Rule,
}

impl<'p> Chat<'p> {
    /// Goes on with a person, or begins with somebody new. The policies have to name the reader in their settings. Without an
    /// assistant the instruction is all there is to react to.
    ///
    /// # Errors
    /// A name that is too long, or a store that cannot be read.
    pub fn open(
        policies: &'p Policies<'p, f64>,
        store: Box<dyn Store>,
        name: &str,
        reader: &'p dyn Reader,
        assistant: Option<&'p Llm>,
    ) -> Result<Self, ChatError> {
        let person = Person::open(policies, store, name)?;
        let (recollection, turns) = (Recollection::default(), Turns::default());
        let (expected, proposed) = (Expected::Anything, Vec::new());
        Ok(Self {
            person,
            reader,
            assistant,
            moment: None,
            recollection,
            turns,
            background: None,
            expected,
            proposed,
        })
    }

    /// With what is so for everybody, like "You are a coding assistant": requests are read with it, and the assistant is told it. What the
    /// person likes does not belong there.
    #[must_use]
    pub fn with_background(mut self, background: impl Into<String>) -> Self {
        self.background = Some(background.into());
        self
    }

    /// Whether what is asked and answered is kept in the store, and used in later chats.
    #[must_use]
    pub const fn remembering(mut self, on: bool) -> Self {
        self.person.remembers = on;
        self
    }

    /// How to greet the person, whose data is kept at a `place`. Somebody new is asked for preferences, where they can be read: the
    /// next line is the answer, and an empty one is none.
    pub fn greet(&mut self, place: &str) -> Reply {
        let mut reply = Reply::default();
        if self.person.is_new() {
            reply.plain(
                "Ask for something, say how it was, and see what is learned. /help explains, /quit ends.",
            );
        } else {
            let (name, counts) = (self.person.name(), profile::counts(&self.person));
            reply.plain(format!(
                "Welcome back, {name}: {counts}. /profile shows what is known, /help explains, /quit ends."
            ));
        }
        reply.plain(format!("What is learned is kept in {place}."));
        if self.assistant.is_none() {
            reply.plain(
                "No assistant is connected (--endpoint): you see what it would be told, and react to that.",
            );
        }
        let readable =
            self.assistant.is_some() || Rules.onboarding(self.catalog(), PreferenceText::new("")).is_ok();
        if self.person.is_new() && readable {
            self.expected = Expected::Preferences;
            reply.plain(
                "First of all: what do you like? Like this: I like short answers, never search the web. Enter skips this.",
            );
        }
        reply
    }

    /// Does what a line asks for. `now` is the time in the unit of the policy's deadline.
    ///
    /// # Errors
    /// Only a store of which it is not known any more what it has kept; everything else is told in the reply.
    pub fn line(&mut self, line: &str, now: u32) -> Result<Reply, ChatError> {
        let mut reply = Reply::default();
        match self.person.catch_up().and_then(|()| self.take(line.trim(), now, &mut reply)) {
            Err(error) if error.is_final() => return Err(error),
            Err(error) => reply.add("not done", error),
            Ok(()) => {}
        }
        Ok(reply)
    }

    fn take(&mut self, line: &str, now: u32, reply: &mut Reply) -> Result<(), ChatError> {
        match std::mem::replace(&mut self.expected, Expected::Anything) {
            Expected::Yes if line.eq_ignore_ascii_case("yes") => return self.forget(reply),
            Expected::Yes => {
                reply.plain("Nothing was forgotten.");
                if !line.starts_with('/') {
                    return Ok(()); // "no" is no reaction to an answer
                }
            }
            Expected::Rule if line.eq_ignore_ascii_case("yes") => return self.accept(reply),
            Expected::Rule => {
                self.proposed.clear();
                reply.plain("No rule was set.");
                if line.eq_ignore_ascii_case("no") {
                    return Ok(());
                }
            }
            Expected::Preferences if !line.starts_with('/') && !line.is_empty() => {
                match self.prefer(line, reply) {
                    Err(ChatError::NothingStated) => {} // somebody who just begins to ask
                    done => return done,
                }
            }
            Expected::Preferences | Expected::Anything => {}
        }
        if line.is_empty() {
            return Ok(());
        }
        match Command::read(line)? {
            Command::Said(words) => self.hear(words, now, reply)?,
            Command::Sign(sign) => {
                if self.person.last().is_none() {
                    return Err(ChatError::NoAnswer);
                }
                self.react(sign, &Rules, now, reply)?;
            }
            Command::Ask(words) => self.ask(words, now, reply)?,
            Command::Prefer(words) => self.prefer(words, reply)?,
            Command::Forbid(names) => self.forbid(names, line, reply)?,
            Command::Allow(names) => self.allow(names, reply)?,
            Command::Why => self.why(None, reply)?,
            Command::WhyNot(names) => self.why(Some(names), reply)?,
            Command::Profile => profile::write(&mut self.person, reply)?,
            Command::Memory => memory::show(&self.person, reply)?,
            Command::Remember(on) => self.remember(on, reply)?,
            Command::Unremember => {
                self.person.unremember()?;
                self.recollection.clear();
                reply.plain("Nothing of what was said is kept any more. What was learned stays; /forget erases that, too.");
            }
            Command::Forget { sure: true } => self.forget(reply)?,
            Command::Forget { sure: false } => {
                self.expected = Expected::Yes;
                let name = self.person.name();
                reply.plain(format!(
                    "All that is known about you (user {name}) will be erased, rules included. Type yes to do it."
                ));
            }
            Command::Values => profile::values(self.catalog(), reply),
            Command::Help => reply.plain(TYPED),
            Command::HelpWords => reply.plain(SEEN),
            Command::Quit => reply.ends = true,
        }
        Ok(())
    }

    fn catalog(&self) -> &'p Catalog<'p> {
        self.person.policy().catalog()
    }

    /// A reaction, a request, or one after the other.
    fn hear(&mut self, words: &str, now: u32, reply: &mut Reply) -> Result<(), ChatError> {
        if self.person.last().is_none() {
            return self.ask(words, now, reply);
        }
        if let Said { reaction: Some(said), request: Some(request) } = split(words) {
            if self.person.waits(now) {
                self.react(said, self.reader, now, reply)?;
            }
            return self.ask(request, now, reply);
        }
        if self.react(words, self.reader, now, reply)? { Ok(()) } else { self.ask(words, now, reply) }
    }

    /// A request: context, decision, instruction, answer.
    fn ask(&mut self, request: &str, now: u32, reply: &mut Reply) -> Result<(), ChatError> {
        let catalog = self.catalog();
        let left = self.hard_state();
        // Who is asked elsewhere is told no more of before than the assistant.
        let untold = self.reader.asks_elsewhere()
            && left.as_ref().is_some_and(|left| memory::is_forbidden(catalog, left));
        let history = if untold { Vec::new() } else { self.turns.history() };
        let background = self.background.as_deref().map(Background::new);
        let request_text = RequestText::new(request);
        let situation =
            Situation { request: request_text, history: &history, background, feasible: left.as_ref() };
        let reading = self.reader.context(catalog, situation)?;
        reply.add_all("by rules", reading.fallback);
        let context = reading.value;
        let (chosen, probed) = self.person.decide(&context, &Feasible::all(catalog), now)?;
        self.moment = Some(Moment::now(&self.person, context)?);

        let (mut instruction, mode) = (String::new(), memory::mode(catalog, chosen.action));
        if memory::tells_profile(mode) {
            self.person.user()?.write_profile(&mut instruction)?;
        }
        if !instruction.is_empty() {
            instruction.push(' ');
        }
        let _ = catalog.instruct(chosen.action, &mut instruction); // writing to a String cannot fail
        reply.add("request", profile::context(catalog, &context));
        reply.add("chosen", wording::action(catalog, chosen.action));
        reply.add("instruction", &instruction);
        if !probed.is_empty() {
            reply.add("probe", wording::probe(catalog, chosen.action, probed.into_iter()));
        }
        let before = self.recollection.before(&self.person, self.assistant, mode, request, reply);
        if !before.text.is_empty() {
            instruction = format!("{instruction}\n\n{}", before.text);
        }
        if let Some(background) = &self.background {
            instruction = format!("{background}\n\n{instruction}");
        }
        let mut answered = None;
        if let Some(assistant) = self.assistant {
            match assistant.answer(&instruction, &before.messages, request) {
                Ok(answer) => {
                    reply.add("assistant", &answer);
                    self.recollection.answered(&mut self.person, (request, &answer), now)?;
                    answered = Some(answer);
                }
                Err(error) => reply.add("no answer", error),
            }
        }
        self.turns.push(chosen, request, answered.as_deref());
        Ok(())
    }

    /// What the catalog's rules and the person's own leave to be done in some context; `None` when there are no rules.
    fn hard_state(&self) -> Option<Feasible> {
        let (catalog, own) = (self.catalog(), &self.person.wishes.rules);
        if own.is_empty() && catalog.rules().is_empty() {
            return None;
        }
        Allowed::stated(catalog, own).ok()?.anywhere(catalog)
    }

    /// Learns from a reaction to the last answer; `false` when the words are none.
    fn react(
        &mut self,
        said: &str,
        reader: &dyn Reader,
        now: u32,
        reply: &mut Reply,
    ) -> Result<bool, ChatError> {
        let (Some(last), waits) = (self.person.last(), self.person.waits(now)) else { return Ok(false) };
        // An endpoint need not be asked about what cannot be learned any more.
        let reading =
            if waits { reader.feedback(Reaction::new(said)) } else { Rules.feedback(Reaction::new(said)) };
        let Some(feedback) = reading.value.filter(|feedback| is_clear(said, feedback)) else {
            return Ok(false);
        };
        if !waits {
            return Err(ChatError::HadReaction);
        }
        reply.add_all("by rules", reading.fallback);
        let catalog = self.catalog();
        let promoted = self.person.learn(last, feedback.reward(), now)?;
        self.turns.reward(last, feedback.reward());
        let kind = match (feedback.corrections, feedback.clarifications) {
            (0, 0) => "",
            (0, _) => ", a question back",
            _ => ", a correction",
        };
        reply.add("reaction", format!("{:+.2}{kind}, learned", feedback.reward()));
        reply.add_all(
            "certain",
            promoted.iter().map(|promotion| profile::certain(catalog, promotion, Standing::Holds)),
        );
        Ok(true)
    }

    /// Stated preferences and rules, as they were understood.
    fn prefer(&mut self, said: &str, reply: &mut Reply) -> Result<(), ChatError> {
        let catalog = self.catalog();
        let reading = self.reader.onboarding(catalog, PreferenceText::new(said))?;
        reply.add_all("by rules", reading.fallback);
        let stated = reading.value;
        let (mut described, mut statements): (_, Vec<Statement>) = (Vec::new(), Vec::new());
        let mut unused = stated.unused;
        for preference in &stated.preferences {
            match preference.statement(catalog) {
                Ok(statement) => {
                    described.push(preference.describe(catalog));
                    statements.push(statement);
                }
                Err(_) => unused.push(preference.words.clone()),
            }
        }
        if statements.is_empty() && stated.constraints.is_empty() && stated.proposed.is_empty() {
            return Err(ChatError::NothingStated);
        }
        self.person.prefer(&statements, &|wishes| ruled(catalog, wishes, &stated.constraints))?;
        reply.add_all("prefers", described);
        reply.add_all("rule", stated.constraints.iter().map(|constraint| constraint.describe(catalog)));
        reply.add_all("not used", unused);
        if !stated.proposed.is_empty() {
            // A model cannot impose a rule.
            reply.add_all("rule?", stated.proposed.iter().map(|rule| rules::described(catalog, rule)));
            reply.plain("That is not a rule yet. Type yes to make it one.");
            (self.proposed, self.expected) = (stated.proposed, Expected::Rule);
        }
        Ok(())
    }

    /// What was proposed becomes a rule.
    fn accept(&mut self, reply: &mut Reply) -> Result<(), ChatError> {
        let (catalog, proposed) = (self.catalog(), std::mem::take(&mut self.proposed));
        self.person.prefer(&[], &|wishes| ruled(catalog, wishes, &proposed))?;
        reply.add_all("rule", proposed.iter().map(|rule| rule.describe(catalog)));
        Ok(())
    }

    fn forbid(&mut self, names: &str, line: &str, reply: &mut Reply) -> Result<(), ChatError> {
        let catalog = self.catalog();
        let values = rules::values(catalog, names)?;
        let forbidden: Vec<Constraint> = rules::forbidding(&values, When::Always, line).collect();
        self.person.prefer(&[], &|wishes| ruled(catalog, wishes, &forbidden))?;
        reply.add_all("rule", forbidden.iter().map(|constraint| constraint.describe(catalog)));
        Ok(())
    }

    fn allow(&mut self, names: &str, reply: &mut Reply) -> Result<(), ChatError> {
        let catalog = self.catalog();
        let values = rules::values(catalog, names)?;
        let (_, lifted) = rules::allowing_all(&self.person.wishes.rules, &values);
        if lifted.is_empty() {
            reply.plain("No rule stands against it.");
            return Ok(());
        }
        let left = |wishes: &Wishes| rules::allowing_all(&wishes.rules, &values).0;
        self.person.prefer(&[], &|wishes| Ok(Wishes { rules: left(wishes), ..wishes.clone() }))?;
        reply.add_all(
            "rule",
            lifted.iter().map(|constraint| format!("no more: {}", constraint.describe(catalog))),
        );
        Ok(())
    }

    fn remember(&mut self, on: bool, reply: &mut Reply) -> Result<(), ChatError> {
        if on && !self.person.remembers {
            return Err(ChatError::Usage(
                "this chat was started without --memory, so that nothing can be kept",
            ));
        }
        self.person.prefer(&[], &|wishes| Ok(Wishes { memory: Some(on), ..wishes.clone() }))?;
        reply.plain(if on {
            "From now on what is asked and answered is kept."
        } else {
            "From now on nothing is kept, and what was is not used; /memory forget erases it."
        });
        Ok(())
    }

    fn why(&mut self, names: Option<&str>, reply: &mut Reply) -> Result<(), ChatError> {
        let values = names.map(|names| rules::values(self.catalog(), names)).transpose()?;
        if self.moment.is_none() {
            self.moment = Moment::last(&self.person)?;
        }
        let moment = self.moment.as_mut().ok_or(ChatError::NoAnswer)?;
        moment.why(&self.person.wishes.rules, values.as_deref(), reply)
    }

    fn forget(&mut self, reply: &mut Reply) -> Result<(), ChatError> {
        self.person.forget()?;
        self.moment = None;
        self.recollection.clear();
        self.turns.clear();
        reply.plain("Forgotten: nothing about you can be read any more.");
        Ok(())
    }
}

/// Wishes with more rules.
fn ruled(catalog: &Catalog<'_>, wishes: &Wishes, more: &[Constraint]) -> Result<Wishes, ChatError> {
    let (rules, _) = rules::with(catalog, &wishes.rules, more.iter().cloned())?;
    Ok(Wishes { rules, ..wishes.clone() })
}
