//! Whether an answer is a question back.
//!
//! A question that the person has to answer before anything is done costs; an offer after a full answer does not, nor does a
//! question out of politeness. Only the end of an answer is read, and neither quotes nor code in it.

use crate::pattern::{any, has};
use crate::tables::talk::{ASKS, CHOICES, COURTESY, MORE, NEEDS, OFFERS, PERMISSION, TAGS, WHENEVER};
use crate::tokens::{self, MAX_TEXT, Word};
use alloc::vec::Vec;

/// Sentences at the end among which the question is.
const LAST: usize = 2;

/// Words beside a question that are not yet an answer.
const LITTLE: usize = 25;

/// Words beside a question that says what it lacks.
const SOME: usize = 80;

/// Words beside an offer that is all there is.
const NONE: usize = 3;

/// Whether an assistant's answer asks the person for something that it lacks.
///
/// ```
/// use fable_text::asks_back;
///
/// assert!(asks_back("Sure! Which file do you mean?"));
/// assert!(!asks_back("The capital of Australia is Canberra. Would you like to know more?"));
/// ```
#[must_use]
pub fn asks_back(answer: &str) -> bool {
    let words = tokens::read(end(answer.trim_end()));
    let sentences = sentences(&words);
    let count = |words: &[Word]| words.iter().filter(|word| !word.is_break()).count();
    let told = sentences.iter().filter(|(words, asks)| !asks && !any(NEEDS, words) && !any(COURTESY, words));
    let beside: usize =
        told.map(|(words, _)| count(words)).sum::<usize>() + answer.len().saturating_sub(MAX_TEXT);
    sentences.iter().rev().take(LAST).any(|(words, asks)| {
        if !asks {
            return beside <= SOME && any(NEEDS, words) && !has(WHENEVER, words);
        }
        let offers = any(OFFERS, words) && !has(CHOICES, words);
        match (any(TAGS, words), offers) {
            (true, _) => false,
            (false, true) => beside <= NONE && has(PERMISSION, words) && !has(MORE, words),
            (false, false) if any(NEEDS, words) => true,
            (false, false) if any(ASKS, words) => beside <= SOME,
            (false, false) => beside <= LITTLE,
        }
    })
}

/// The last part of an answer, as long as what is read of a text.
fn end(answer: &str) -> &str {
    let mut start = answer.len().saturating_sub(MAX_TEXT);
    while !answer.is_char_boundary(start) {
        start += 1;
    }
    answer.get(start..).unwrap_or(answer)
}

/// The sentences that say something, and whether they are questions.
fn sentences(words: &[Word]) -> Vec<(&[Word], bool)> {
    let ends = |word: &Word| matches!(word.text.as_str(), "." | "!" | "?" | "\n");
    let said = words.split_inclusive(ends).filter(|words| words.iter().any(|word| !word.is_break()));
    said.map(|words| (words, words.last().is_some_and(|word| word.text == "?"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::String;

    #[test]
    fn questions_back_and_offers_are_told_apart() {
        for asks in [
            "Which file do you mean?",
            "Could you clarify what you mean by \"the second one\"?",
            "Sure, I can help with that. What language is the text in?",
            "I'd be happy to help! Could you please share the code you'd like me to review?",
            "Please provide the text that you want me to translate.",
            "Do you mean Paris, France or Paris, Texas?",
            "Did you mean the 2019 report?",
            "For how many people?",
            "To recommend a laptop I need some more information: what is your budget, and what will you use it for?",
            "Before I delete anything: should I really remove all 312 files?",
            "What time would you like to leave? I'll then look for trains.",
            "There are several people with that name. Which one are you asking about?",
            "Happy to help! A few questions:\n1. Where do you want to go?\n2. When?\n3. What is your budget?",
            "I don't see any code in your message. Can you paste it?",
            "Are you using Windows or macOS?",
            "Would you prefer a short or a long version?",
            "Would you like me to search the web?",
            "Let me know which of the two you want and I'll write it.",
            "Could you tell me a bit more about the error? For example, what does the log say?",
            "Is this for work or for private use?",
            "I'm not sure which Anna you mean.",
            "What would you like the poem to be about?",
            "How would you like to pay?",
            "Hmm, that could mean several things: the lake, the town or the dog?",
            "Understood. Do you want it by mail or as a file?",
            "I couldn't find an attachment. Please upload the document again.",
            "Who should receive the invitation?",
            "Can you send me the link?",
            "Need a little more context here. Is it the staging server or production?",
        ] {
            assert!(asks_back(asks), "{asks}");
        }
        for tells in [
            "The capital of Australia is Canberra.",
            "The capital of Australia is Canberra. Is there anything else you'd like to know?",
            "Canberra. Would you like to know more?",
            "Hello! How can I help you today?",
            "Hi there! What can I do for you?",
            "It's 42. Does that help?",
            "Here is the summary: the board sold the building. Let me know if you have any questions.",
            "Done, I have sent the mail. Anything else?",
            "I've booked the table for seven. Shall I also add it to your calendar?",
            "Try restarting the router first. Did that help?",
            "You could visit the castle, the old bridge and the museum. Want me to plan the day?",
            "He asked: \"Which file do you mean?\"",
            "Here you go:\n```\nwhich = input(\"Which file do you mean?\")\n```",
            "Paris, of course. Beautiful, isn't it?",
            "I'm sorry, I can't do that. Is there something else I can help you with?",
            "You're welcome!",
            "Sure, here it is in French: \u{ab}O\u{f9} est la gare?\u{bb}",
            "It rains in Oslo today, 12 degrees. Shall I check tomorrow as well?",
            "I have turned off the lights in the kitchen. Do you want me to turn off the others too?",
            "The function sorts the list in place and returns nothing. Does this make sense?",
            "If you need anything else, just ask!",
            "Please let me know if something is unclear.",
            "That depends on your budget; for most people the smaller one is enough.",
            "Good question! Leaves turn red because the green fades first. What do you think?",
            "",
        ] {
            assert!(!asks_back(tells), "{tells}");
        }
    }

    #[test]
    fn after_a_long_answer_only_a_plain_need_counts() {
        let long: String = "The river rises in the mountains and flows to the sea. ".repeat(20);
        assert!(!asks_back(&format!("{long}How many rivers do you know?")));
        assert!(asks_back(&format!("{long}Could you clarify which river you mean?")));
        let endless = "\u{e9}".repeat(3 * MAX_TEXT);
        assert!(!asks_back(&format!("{endless} Really?")));
    }
}
