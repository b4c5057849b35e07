//! Requests in words.

use crate::answer::Asked;
use crate::refused;
use fable_js::{AGENT, Refusal};
use fable_text::{ContextAdapter, RequestText, Rules, Situation};

/// Reads a request in words.
///
/// # Errors
/// None with the catalog of this page.
pub fn read(text: &str) -> Result<Asked, Refusal> {
    let context = Rules.context(&AGENT, Situation::new(RequestText::new(text))).map_err(refused)?.value;
    Ok(Asked::new(text.into(), &context))
}
