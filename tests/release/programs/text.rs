//! fable-text from its archive: a request becomes a context, a reaction a reward.

use fable_core::catalog::AGENT;
use fable_text::{ContextAdapter, FeedbackAdapter, Reaction, RequestText, Rules, Situation};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let context = Rules.context(&AGENT, Situation::new(RequestText::new("What's the weather in Oslo today?")))?.value;
    assert_eq!(context.task(), AGENT.task("factual").ok());
    let reward = Rules.feedback(Reaction::new("No, I meant the other file")).value.map(|feedback| feedback.reward());
    assert!(reward < Some(-0.3) && reward.is_some());
    println!("a question about facts, and a reward of {reward:?}");
    Ok(())
}
