//! What a context is made from: C = Psi(X, H, Q_bg, Q_hard), the paper's request, history, background and hard state.
//!
//! Preferences have no place in it. They are in the posterior already and would count twice; a
//! [`PreferenceText`](crate::PreferenceText) fits none of the parts.

use fable_core::{Action, Feasible};

/// What somebody asks of the assistant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestText<'a>(&'a str);

impl<'a> RequestText<'a> {
    /// The request as it was written. Nothing that is known about the person belongs here.
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

/// What is so for everybody: what the application tells its assistant ("You are a coding assistant"), the place, the occasion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Background<'a>(&'a str);

impl<'a> Background<'a> {
    /// The background as it was written. What a person likes does not belong here.
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

/// An exchange of before: what was asked, answered and done, and how it was taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turn<'a> {
    /// The person's words.
    pub request: &'a str,
    /// The assistant's, if they are known.
    pub answer: Option<&'a str>,
    /// What was chosen for it.
    pub action: Option<Action>,
    /// The reward that it has had.
    pub reward: Option<f64>,
}

impl<'a> Turn<'a> {
    /// A request of which nothing else is known.
    #[must_use]
    pub const fn new(request: &'a str) -> Self {
        Self { request, answer: None, action: None, reward: None }
    }

    /// With what was answered.
    #[must_use]
    pub const fn answered(self, answer: &'a str) -> Self {
        Self { answer: Some(answer), ..self }
    }

    /// With what was chosen.
    #[must_use]
    pub const fn by(self, action: Action) -> Self {
        Self { action: Some(action), ..self }
    }

    /// With the reward.
    #[must_use]
    pub const fn rewarded(self, reward: f64) -> Self {
        Self { reward: Some(reward), ..self }
    }
}

/// A request and what it comes after.
///
/// ```
/// use fable_core::catalog::AGENT;
/// use fable_text::{Background, ContextAdapter, RequestText, Rules, Situation, Turn};
///
/// let before = [Turn::new("Translate \"good morning\" into Spanish").answered("Buenos dias.").rewarded(0.7)];
/// let situation = Situation::new(RequestText::new("and in French?"))
///     .after(&before)
///     .with_background(Background::new("You are an assistant for travellers."));
/// assert_eq!(Rules.context(&AGENT, situation)?.value.task(), AGENT.task("translation").ok());
/// # Ok::<(), fable_text::AdapterError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Situation<'a> {
    /// What is asked.
    pub request: RequestText<'a>,
    /// The exchanges before it, the oldest first.
    pub history: &'a [Turn<'a>],
    /// What is so for everybody.
    pub background: Option<Background<'a>>,
    /// The hard state: what may be done now, as far as it is known before the context is.
    pub feasible: Option<&'a Feasible>,
}

impl<'a> Situation<'a> {
    /// A request that comes after nothing.
    #[must_use]
    pub const fn new(request: RequestText<'a>) -> Self {
        Self { request, history: &[], background: None, feasible: None }
    }

    /// After these exchanges, the oldest first.
    #[must_use]
    pub const fn after(self, history: &'a [Turn<'a>]) -> Self {
        Self { history, ..self }
    }

    /// With a background.
    #[must_use]
    pub const fn with_background(self, background: Background<'a>) -> Self {
        Self { background: Some(background), ..self }
    }

    /// While only this may be done.
    #[must_use]
    pub const fn allowing(self, feasible: &'a Feasible) -> Self {
        Self { feasible: Some(feasible), ..self }
    }

    /// The last exchange.
    #[must_use]
    pub const fn last(&self) -> Option<&'a Turn<'a>> {
        self.history.last()
    }
}
