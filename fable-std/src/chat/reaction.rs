//! Whether a line after an answer is a reaction to it, the next request, or both.

use crate::text::{Feedback, FeedbackAdapter, Reaction, Rules};

/// A reward up to this size, in a line of more than [`SHORT`] words, is not a clear reaction.
const DOUBTFUL: f64 = 0.4;

/// Words in a short line.
const SHORT: usize = 5;

/// Whether words are about an answer beyond doubt: a long line that says little about it ("Write a short poem about the sea")
/// is more likely the next request, and a lesson from it would be a wrong one.
pub(super) fn is_clear(said: &str, feedback: &Feedback) -> bool {
    feedback.reward().abs() > DOUBTFUL || said.split_whitespace().count() <= SHORT
}

/// The two parts of a line that is both: "Thanks, now translate it", "Too long. What about Berlin?"
pub(super) fn and_request(words: &str) -> Option<(&str, &str)> {
    let ends = |at: &usize| words.get(at + 1..).is_some_and(|rest| rest.starts_with(' '));
    let end = words.match_indices([',', '.', '!', ';']).map(|(at, _)| at).find(ends)?;
    let (said, request) = words.split_at_checked(end + 1).map(|(said, request)| (said, request.trim_start()))?;
    let first = request.split_whitespace().next()?.to_lowercase();
    let asks = request.ends_with('?') || matches!(first.as_str(), "now" | "next" | "then");
    let reacts = |text| Rules.feedback(Reaction::new(text)).value.is_some();
    (asks && reacts(said) && !reacts(request)).then_some((said, request))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reactions_and_requests_are_told_apart() {
        let clear = |said| Rules.feedback(Reaction::new(said)).value.is_some_and(|feedback| is_clear(said, &feedback));
        for reaction in ["too long", "Make it shorter", "no, I meant the other file", "thanks, that's perfect", "okay"] {
            assert!(clear(reaction) && and_request(reaction).is_none(), "{reaction}");
        }
        for request in ["Write a short poem about the sea", "Fix this bug in my code", "Which is the best laptop?"] {
            assert!(!clear(request) && and_request(request).is_none(), "{request}");
        }
        assert_eq!(and_request("Thanks, now translate it"), Some(("Thanks,", "now translate it")));
        assert_eq!(and_request("Too long. What about Berlin?"), Some(("Too long.", "What about Berlin?")));
        for one in ["Wrong. Are you sure?", "In Oslo, is it cold?", "thanks,", "thanks, ", "1.5 is wrong", ""] {
            assert_eq!(and_request(one), None, "{one}");
        }
    }
}
