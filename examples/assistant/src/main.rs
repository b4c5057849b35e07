//! Shows: the whole loop of an application: request, context, permissions, decision, instruction, feedback, promotion.
//!
//! The assistant and the user are canned, so it runs as it stands. To make it yours, write your own catalog and replace
//! the five functions below `main`: they are all that Fable needs to know about the world.

use fable_core::catalog::{Block, Catalog, Contrast, Definition, Part};
use fable_core::host::HostLearner;
use fable_core::journal::Command;
use fable_core::{Context, Exploration, Policy, Rule, Settings, user_hash, values};
use fable_text::wording;
use std::error::Error;

fable_core::component! {
    /// How long the answers are.
    pub enum Length: "length" {
        Brief = "brief", 0.0, "Answer in one sentence.";
        Full = "full", 0.05, "Answer in full, with examples.";
    }
}

fable_core::component! {
    /// Where the facts come from.
    pub enum Source: "source", null Memory {
        Memory = "memory", 0.0, "Answer from what you know.";
        Web = "web", 0.08, "Search the web before answering.";
        Ask = "ask", 0.1, "Ask the user for what is missing.";
    }
}

const LENGTH: u8 = 0;
const SOURCE: u8 = 1;

/// What can be chosen (6 actions), what a request is like (a task and a signal), and what is learned about it (14 weights).
const HELPER: Catalog<'static> = Catalog::new(Definition {
    name: "helper",
    components: &[Length::COMPONENT, Source::COMPONENT],
    tasks: &["question", "errand"],
    signals: &["risk"],
    blocks: &[
        Block::main(LENGTH),
        Block::main(SOURCE),
        Block::main(SOURCE).per_task(),
        Block::main(SOURCE).scaled_by(0),
    ],
    contrasts: &[Contrast::new(
        "brief_over_full",
        values![Length::Brief, Source::Memory],
        values![Length::Full, Source::Memory],
    )
    .when(None, &[0.1])
    .says("The user likes brief answers.", "The user likes full answers.")],
    ..Definition::EMPTY
});

/// Hard rules are settled before anything is explored: no draw can break them.
const PRIVATE: Rule<'static> =
    Rule::forbid("private matters stay here", &[Part::new(SOURCE, values![Source::Web])]);
const RISKY: Rule<'static> =
    Rule::require("ask when much is at stake", &[Part::new(SOURCE, values![Source::Ask])]);

fn main() -> Result<(), Box<dyn Error>> {
    // Policies are for all users: bold until something is certain about a user, calm from then on. These reactions scatter little.
    let settings = Settings { noise_variance: 0.05, ..Settings::default() };
    let calm = Policy::new(&HELPER, settings)?;
    let bold = Policy::new(&HELPER, Settings { exploration: Exploration::Constant(6.0), ..settings })?;

    // A learner is for one user, a workspace for one thread.
    let mut learner = HostLearner::<f32>::for_policy(&calm);
    let mut workspace = vec![0.0; HELPER.workspace_len()];
    learner.start(&calm, user_hash("ana"))?;

    let requests = [
        "How do vaccines work?",
        "Book a table for two.",
        "What is in my diary?",
        "Pay the rent.",
        "Who wrote Emma?",
    ];
    for (round, request) in (1..=100).zip(requests.into_iter().cycle()) {
        let policy = if learner.profile().is_empty() { &bold } else { &calm };
        let mut ana = learner.bind(policy, &mut workspace)?;
        let request_context = context(request)?;
        let Some(decision) = ana.decide_or_default(&request_context, &permissions(request), None, round)?
        else {
            continue; // the rules leave nothing: the assistant does as it always does
        };
        let why = wording::reasons(&HELPER, &ana.explain(decision.id, None, None)?, 2);

        // What is certain about the user, then what to do this time.
        let mut prompt = String::new();
        ana.write_profile(&mut prompt)?;
        if !prompt.is_empty() {
            prompt.push(' ');
        }
        HELPER.instruct(decision.action, &mut prompt)?;

        let answer = assistant(&prompt, request);
        let reaction = user(&answer);
        let mut feedback = Command::feedback(decision.id, reward(reaction)).at(round);
        ana.run(&mut feedback)?; // the reward, and now and then what it has made certain
        let promoted = feedback.applied() > 1;
        if round <= 3 || promoted || round == 100 {
            println!("{round:>3}  {request}\n     {}\n     {why}", wording::action(&HELPER, decision.action));
            println!("     prompt: {prompt}\n     {answer}\n     user: {reaction}\n");
        }
        if promoted {
            println!("     promoted: from now on the prompt says what is certain\n");
        }
    }
    Ok(())
}

/// The request in the catalog's terms, from the request alone: preferences are in the learner, and would count twice.
fn context(request: &str) -> Result<Context, fable_core::catalog::ContextError> {
    let task = if request.ends_with('?') { "question" } else { "errand" };
    HELPER.context(task, [("risk", if request.starts_with("Pay") { 0.9 } else { 0.1 })])
}

/// What is allowed for this request.
fn permissions(request: &str) -> Vec<Rule<'static>> {
    let private = request.contains("my diary").then_some(PRIVATE);
    private.into_iter().chain(request.starts_with("Pay").then_some(RISKY)).collect()
}

/// The assistant: call yours with the prompt.
fn assistant(prompt: &str, request: &str) -> String {
    let length = if prompt.contains("one sentence") { "A sentence" } else { "Half a page" };
    let source = if prompt.contains("Search") { ", from the web" } else { "" };
    let question = if prompt.contains("Ask the user") { ", after a question" } else { "" };
    format!("{length} about \"{request}\"{source}{question}")
}

/// The user, who likes it short and hates to be asked.
fn user(answer: &str) -> &'static str {
    match (answer.starts_with("A sentence"), answer.contains("question")) {
        (true, false) => "perfect",
        (true, true) => "why do you ask?",
        (false, false) => "too long",
        (false, true) => "stop it",
    }
}

/// The reaction as a number from -1 to 1.
fn reward(reaction: &str) -> f64 {
    match reaction {
        "perfect" => 0.8,
        "too long" => -0.4,
        "stop it" => -0.8,
        _ => 0.0,
    }
}
