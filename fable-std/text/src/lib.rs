//! Adapters between words and numbers: what a request is about, what a person says to prefer, how a reaction was meant.
//!
//! The learner takes a [`Context`], statements and rules, and one number per interaction. Three traits make them from text:
//!
//! | trait | reads | gives |
//! |---|---|---|
//! | [`ContextAdapter`] | a [`Situation`]: a request, what came before it, background, the hard state | task and signals |
//! | [`OnboardingAdapter`] | what a person says about preferences | soft preferences and, apart from them, hard constraints |
//! | [`FeedbackAdapter`] | a reaction to an answer | a reward from -1 to 1, or none |
//!
//! [`Rules`] implements all three without any input or output: fixed tables of words, whole numbers, the same result on every
//! machine and in a browser. It reads English, and it was made for the catalog `agent`; on a catalog that lacks what it
//! knows it says so. `fable_std::llm::Llm` implements them with a language model and falls back to the rules.
//!
//! ```
//! use fable_core::catalog::AGENT;
//! use fable_text::{ContextAdapter, FeedbackAdapter, OnboardingAdapter, PreferenceText, Reaction, RequestText, Rules, Situation};
//!
//! let request = RequestText::new("What's the weather in Oslo today?");
//! let context = Rules.context(&AGENT, Situation::new(request))?.value;
//! assert_eq!(context.task(), AGENT.task("factual").ok());
//! assert_eq!(context.signals(), [0.1, 0.1, 0.1, 0.9]); // risk, ambiguity, memory_need, tool_need
//!
//! let said = Rules.onboarding(&AGENT, PreferenceText::new("I like short answers, never search the web"))?.value;
//! assert_eq!(said.preferences[0].describe(&AGENT), "style=concise over style=detailed");
//! assert_eq!(said.constraints[0].describe(&AGENT), "never tool=web_search");
//!
//! let reward = |text| Rules.feedback(Reaction::new(text)).value.map(|feedback| feedback.reward());
//! assert!(reward("thanks, that's perfect") > Some(0.8));
//! assert!(reward("No, I meant the other file") < Some(-0.3));
//! assert_eq!(reward("Now translate it into French"), None); // says nothing about the answer: nothing is learned
//! # Ok::<(), fable_text::AdapterError>(())
//! ```
//!
//! The context adapter cannot see preferences: they are in the posterior already and would count twice. A preference is
//! another type than a request and than a background, so it gets in by neither:
//!
//! ```compile_fail,E0308
//! # use fable_text::{PreferenceText, Situation};
//! Situation::new(PreferenceText::new("I like short answers"));
//! ```
//!
//! ```compile_fail,E0308
//! # use fable_text::{PreferenceText, RequestText, Situation};
//! Situation::new(RequestText::new("hello")).with_background(PreferenceText::new("I like short answers"));
//! ```
//!
//! An adapter's id belongs into [`Settings::context_adapter`](fable_core::Settings) and `feedback_adapter`: what was learned from
//! one reading of texts is refused under another.
//!
//! For whoever stands between people and an assistant: [`split`] tells a reaction from the next request, [`asks_back`] a question
//! back from an answer.
//!
//! The other way round, [`wording`] tells a person what was chosen and why. The crate needs an allocator and nothing else.

#![no_std]

extern crate alloc;

mod clause;
mod context;
mod feedback;
mod onboarding;
mod pattern;
mod question;
mod reaction;
mod situation;
mod stated;
mod tables;
mod tokens;
pub mod wording;

pub use feedback::{CLARIFICATION_PENALTY, CORRECTION_PENALTY, Feedback};
pub use onboarding::is_said_as_rule;
pub use question::asks_back;
pub use reaction::{Said, is_clear, is_request, split};
pub use situation::{Background, RequestText, Situation, Turn};
pub use stated::{Constraint, Onboarding, Preference, SIGNAL_HIGH, feasible};
pub use tokens::{MAX_TEXT, read_part};

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;
use fable_core::{Catalog, Context};

/// What somebody says about their preferences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreferenceText<'a>(&'a str);

impl<'a> PreferenceText<'a> {
    /// The preferences as they were written.
    #[must_use]
    pub const fn new(text: &'a str) -> Self {
        Self(text)
    }

    /// The text.
    #[must_use]
    pub const fn as_str(self) -> &'a str {
        self.0
    }
}

/// How somebody reacts to an answer, and what it took to get there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reaction<'a> {
    /// The words.
    pub text: &'a str,
    /// Questions of the assistant that had to be answered before.
    pub clarifications: u8,
    /// Corrections that were needed before.
    pub corrections: u8,
}

impl<'a> Reaction<'a> {
    /// A reaction to a first answer.
    #[must_use]
    pub const fn new(text: &'a str) -> Self {
        Self { text, clarifications: 0, corrections: 0 }
    }
}

/// What an adapter made of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reading<T> {
    /// The result.
    pub value: T,
    /// Why the rules stood in for what was asked, in words for the person; `None` when they did not.
    pub fallback: Option<String>,
}

impl<T> Reading<T> {
    /// A result of the adapter that was asked.
    #[must_use]
    pub const fn of(value: T) -> Self {
        Self { value, fallback: None }
    }

    /// The same result, for which this adapter stood in.
    #[must_use]
    pub fn instead(self, reason: impl fmt::Display) -> Self {
        Self { fallback: Some(alloc::format!("{reason}")), ..self }
    }
}

/// Makes a context from a request and what it comes after, which is all it sees.
pub trait ContextAdapter {
    /// Name and version, for [`Settings::context_adapter`](fable_core::Settings).
    fn context_adapter(&self) -> &str;

    /// The context of a request.
    ///
    /// # Errors
    /// A catalog with tasks or signals that the adapter knows nothing about.
    fn context(
        &self,
        catalog: &Catalog<'_>,
        situation: Situation<'_>,
    ) -> Result<Reading<Context>, AdapterError>;

    /// Whether somebody elsewhere is asked, who then knows what is in the situation.
    fn asks_elsewhere(&self) -> bool {
        false
    }
}

/// Makes preferences and constraints from what a person says.
pub trait OnboardingAdapter {
    /// Name and version.
    fn onboarding_adapter(&self) -> &str;

    /// What is said, the soft and the hard apart.
    ///
    /// # Errors
    /// A catalog with no value that the adapter knows.
    fn onboarding(
        &self,
        catalog: &Catalog<'_>,
        text: PreferenceText<'_>,
    ) -> Result<Reading<Onboarding>, AdapterError>;
}

/// Makes a reward from a reaction.
pub trait FeedbackAdapter {
    /// Name and version, for [`Settings::feedback_adapter`](fable_core::Settings).
    fn feedback_adapter(&self) -> &str;

    /// How the reaction was meant; `None` when it says nothing about the answer, and then nothing should be learned.
    fn feedback(&self, reaction: Reaction<'_>) -> Reading<Option<Feedback>>;
}

/// The adapters that are made of fixed rules. See the [crate](self).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rules;

impl Rules {
    /// Id of the context rules. Another table or another rule is another version.
    pub const CONTEXT: &'static str = "rules-context/2";
    /// Id of the onboarding rules.
    pub const ONBOARDING: &'static str = "rules-onboarding/2";
    /// Id of the feedback rules.
    pub const FEEDBACK: &'static str = "rules-feedback/3";
}

/// Why an adapter cannot work with a catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AdapterError {
    /// The catalog needs a signal that the rules cannot tell.
    UnknownSignal(String),
    /// The catalog has tasks, and the rules know none of them.
    UnknownTasks,
    /// The rules know no value of the catalog.
    UnknownValues,
    /// The adapter failed, and so did the rules that should have stood in.
    NoFallback {
        /// Why the adapter failed.
        reason: String,
        /// Why the rules did.
        rules: Box<AdapterError>,
    },
}

impl fmt::Display for AdapterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownSignal(name) => {
                write!(
                    f,
                    "the rules cannot tell the signal '{name}'; they know risk, ambiguity, memory_need and tool_need"
                )
            }
            Self::UnknownTasks => {
                f.write_str("the rules know no task of this catalog; they know those of the catalog agent")
            }
            Self::UnknownValues => {
                f.write_str("the rules know no value of this catalog; they know those of the catalog agent")
            }
            Self::NoFallback { reason, rules } => {
                write!(f, "{reason}; and the rules cannot stand in: {rules}")
            }
        }
    }
}

impl core::error::Error for AdapterError {}
