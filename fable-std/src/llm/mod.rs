//! The adapters of [`text`](crate::text) with a language model, behind any endpoint that speaks OpenAI's chat completions.
//!
//! A model reads better than the rules, but it is slow, may be away, and cannot be trusted. So each call has a time limit and
//! asks for JSON of a fixed schema; every name, number and key of the answer is checked, and quoted words must stand in the
//! text. If anything is wrong the whole answer is dropped and the [`Rules`] stand in, with a reason to show.
//! A prohibition that the rules read holds whatever the model says. Nothing that a server sends is ever part of an error.
//!
//! The key comes from the environment, `FABLE_API_KEY` or else `OPENAI_API_KEY`. It goes into one header of requests to the
//! given address and nowhere else: not into logs, errors, debug output or files, and not after a redirect. It is refused
//! where it would travel unencrypted, unless to this machine itself. Because the HTTP client would write it out at
//! that level, this crate compiles messages of `log`'s level `trace` out of the program.
//!
//! ```no_run
//! use fable_core::catalog::AGENT;
//! use fable_std::llm::{Endpoint, Key, Llm};
//! use fable_std::text::{ContextAdapter, RequestText, Situation};
//!
//! let llm = Llm::new(Endpoint::new("http://localhost:11434/v1", "qwen3"), Key::from_env()?)?;
//! let reading = llm.context(&AGENT, Situation::new(RequestText::new("Which of my invoices are overdue?")))?;
//! if let Some(reason) = &reading.fallback {
//!     eprintln!("read by rules: {reason}");
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answer;
mod assistant;
mod chat;
mod client;
mod context;
mod embeddings;
mod error;
mod feedback;
mod key;
mod onboarding;
mod prototypes;

pub use chat::{Chat, Completion, Refusal, ToolCall};
pub(crate) use client::is_here;
pub use client::{Endpoint, MAX_ANSWER};
pub use context::{CLIP, HISTORY};
pub use error::LlmError;
pub use key::Key;

use crate::text::{AdapterError, Reading, Rules};
use client::Client;

/// The adapters with a language model. See the [module](self).
#[derive(Clone, Debug)]
pub struct Llm {
    client: Client,
    context_id: String,
    onboarding_id: String,
    feedback_id: String,
}

impl Llm {
    /// Version of the prompts, schemas and checks; part of the ids.
    pub const VERSION: u32 = 2;

    /// Adapters that ask this endpoint. Nothing is sent yet.
    ///
    /// # Errors
    /// An address that is not one, or a key that would travel unencrypted.
    pub fn new(endpoint: Endpoint, key: Option<Key>) -> Result<Self, LlmError> {
        // Another model reads differently, and so do the rules that stand in.
        let id = |name: &str, rules: &str| format!("llm-{name}/{}:{}+{rules}", Self::VERSION, endpoint.model);
        let (context_id, onboarding_id) =
            (id("context", Rules::CONTEXT), id("onboarding", Rules::ONBOARDING));
        let feedback_id = id("feedback", Rules::FEEDBACK);
        Ok(Self { client: Client::new(endpoint, key)?, context_id, onboarding_id, feedback_id })
    }
}

/// What the rules made of the same text, with the reason why they were asked.
fn instead<T>(reason: LlmError, rules: Result<Reading<T>, AdapterError>) -> Result<Reading<T>, AdapterError> {
    match rules {
        Ok(reading) => Ok(reading.instead(reason)),
        Err(rules) => Err(AdapterError::NoFallback { reason: reason.to_string(), rules: Box::new(rules) }),
    }
}
