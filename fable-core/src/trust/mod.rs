//! Preferences one can trust: what was learned, how sure that is, and why an action was chosen.
//!
//! A [`Comparison`] asks how much this user prefers one action to another and gets an [`Assessment`] with an interval that
//! holds for all time at once (Appendix G). A declared contrast whose interval leaves zero on one side is
//! [promoted](promotion) to the user's profile, which a host puts into its prompt. An [`Explanation`] takes a score apart.
//! None of this touches the posterior.

pub mod assessment;
pub mod explanation;
pub mod promotion;
mod thousandths;

pub use assessment::{Assessment, Comparison, Gap, Verdict};
pub use explanation::{Explanation, Part, Share};
pub use promotion::{Promotion, Standing};
pub use thousandths::Thousandths;
