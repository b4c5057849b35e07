//! Any text: the rules never panic, and their results are always valid.

use fable_core::catalog::AGENT;
use fable_core::settings::{ONBOARDING_PRECISION, REWARD};
use fable_std::text::{
    Background, ContextAdapter, FeedbackAdapter, OnboardingAdapter, PreferenceText, Reaction, RequestText,
    Rules, Said, Situation, Turn, asks_back, split,
};

pub fn text(data: &[u8]) {
    let text = crate::prefix(data);
    let context = Rules.context(&AGENT, Situation::new(RequestText::new(text))).unwrap().value;
    assert!(context.signals().iter().all(|level| (0.1..=0.9).contains(level)));
    // The same text as the answer and the request before itself, and as a background.
    let history = [Turn::new(text).answered(text).rewarded(-1.0), Turn::new("Translate this").answered(text)];
    let situation =
        Situation::new(RequestText::new(text)).after(&history).with_background(Background::new(text));
    let after = Rules.context(&AGENT, situation).unwrap().value;
    assert!(
        after.signals().iter().all(|level| (0.1..=0.9).contains(level))
            && after.signals()[0] >= context.signals()[0]
    );
    let Said { reaction, request } = split(text);
    assert!([reaction, request].into_iter().flatten().all(|part| text.contains(part)));
    let _ = asks_back(text);
    let said = Rules.onboarding(&AGENT, PreferenceText::new(text)).unwrap().value;
    for preference in &said.preferences {
        let statement = preference.statement(&AGENT).unwrap();
        assert!(REWARD.contains(statement.response) && ONBOARDING_PRECISION.contains(statement.precision));
        assert!(text.contains(&preference.words) && !preference.describe(&AGENT).is_empty());
    }
    assert!(
        said.constraints
            .iter()
            .all(|constraint| text.contains(&constraint.words) && !constraint.words.is_empty())
    );
    if let Some(feedback) = Rules.feedback(Reaction::new(text)).value {
        assert!(REWARD.contains(feedback.reward()));
    }
}
