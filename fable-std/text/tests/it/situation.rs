//! What the rules make of history, background and hard state, and what they do not.

use fable_core::catalog::agent::{STYLE, Style};
use fable_core::catalog::{AGENT, Part};
use fable_core::{Action, Context, Feasible, Rule, values};
use fable_text::{Background, ContextAdapter, RequestText, Rules, Situation, Turn};
use proptest::prelude::*;

const RISK: usize = 0;
const AMBIGUITY: usize = 1;
const MEMORY_NEED: usize = 2;
const TOOL_NEED: usize = 3;

const CONFIRM: Rule = Rule::require("confirm", &[Part::new(STYLE, values![Style::ConfirmFirst])]);

fn read(situation: Situation<'_>) -> Context {
    Rules.context(&AGENT, situation).unwrap().value
}

fn alone(request: &str) -> Context {
    read(Situation::new(RequestText::new(request)))
}

fn after(history: &[Turn<'_>], request: &str) -> Context {
    read(Situation::new(RequestText::new(request)).after(history))
}

fn task(context: &Context) -> &'static str {
    context.task().map_or("-", |task| AGENT.definition().tasks[task])
}

#[test]
fn a_follow_up_goes_on_with_the_last_request() {
    for (before, follow_up, expected) in [
        ("Translate \"good morning\" into Spanish", "and in French?", "translation"),
        ("What's the weather in Oslo today?", "what about Bergen?", "factual"),
        ("What's the weather in Oslo today?", "and tomorrow?", "factual"),
        ("Write a short poem about the sea", "do it again", "writing"),
        ("Write a short poem about the sea", "shorter", "writing"),
        ("Summarize this article: https://example.com/news", "Answer in one sentence.", "summarization"),
        ("Recommend a good book about the sea", "another one please", "recommendation"),
        ("Plan a weekend in Rome for two people", "what about the second day?", "planning"),
        ("Which laptop should I buy for video editing?", "cheaper ones", "recommendation"),
        ("Write a Python function that reverses a linked list", "now with a test", "coding"),
    ] {
        let context = after(&[Turn::new(before)], follow_up);
        assert_eq!(task(&context), expected, "{follow_up}");
        assert!(context.signals()[AMBIGUITY] <= 0.3, "{follow_up}");
        assert!(context.signals()[MEMORY_NEED] >= 0.5, "{follow_up}");
        for signal in [RISK, TOOL_NEED] {
            assert!(context.signals()[signal] >= alone(before).signals()[signal], "{follow_up}");
        }
    }
    // A follow-up of a follow-up still knows what it is about.
    let history = [
        Turn::new("Translate \"good morning\" into Spanish"),
        Turn::new("and the plural?"),
        Turn::new("shorter"),
    ];
    assert_eq!(task(&after(&history, "again")), "translation");
}

#[test]
fn a_request_that_stands_for_itself_is_read_by_itself() {
    let history = [Turn::new("Translate \"good morning\" into Spanish").answered("Buenos d\u{ed}as.")];
    for request in [
        "Who wrote Middlemarch?",
        "Write a Python function that reverses a linked list",
        "Plan a weekend in Rome for two people",
        "My laptop won't turn on",
        "Recommend a good book about the history of mathematics",
        "How to center a div in CSS",
        "Hello!",
    ] {
        assert_eq!(after(&history, request), alone(request), "{request}");
    }
}

#[test]
fn what_was_brought_before_can_be_pointed_at() {
    let code = Turn::new("Here is my function:\n```\ndef mean(xs):\n    return sum(xs) / len(x)\n```")
        .answered("I see.");
    assert_eq!(alone("fix this").signals()[AMBIGUITY], 0.9);
    for request in
        ["fix this", "what is wrong with it?", "can you fix that for me, it has to be ready this evening"]
    {
        let context = after(&[code], request);
        assert_eq!(task(&context), "coding", "{request}");
        assert!(context.signals()[AMBIGUITY] <= 0.3, "{request}");
    }
    let answered = [Turn::new("Write a letter to my landlord").answered("Dear Mr. Smith, ...")];
    let context = after(&answered, "Translate it into Dutch");
    assert_eq!((task(&context), context.signals()[AMBIGUITY]), ("translation", 0.3));
    // Nothing is there to point at.
    assert_eq!(after(&[Turn::new("hm")], "fix this").signals()[AMBIGUITY], 0.9);
}

#[test]
fn the_answer_to_a_question_back_belongs_to_its_request() {
    let history = [Turn::new("Recommend a restaurant").answered("Happy to! In which city are you?")];
    let context = after(&history, "Leeds, near the station");
    assert_eq!(task(&context), "recommendation");
    assert!(context.signals()[AMBIGUITY] < alone("Leeds").signals()[AMBIGUITY]);
    let told = [Turn::new("Recommend a restaurant").answered("Try Luigi's at the corner of Mill Street.")];
    assert_ne!(task(&after(&told, "My sister arrives at the station at nine")), "recommendation");
}

#[test]
fn what_went_wrong_again_and_again_is_unclear() {
    let turn = |reward| {
        Turn::new("Write a short poem about the sea").answered("The sea.").by(Action(3)).rewarded(reward)
    };
    let request = "Write a short poem about the hills";
    let ambiguity = |rewards: &[f64]| {
        let history: Vec<_> = rewards.iter().map(|reward| turn(*reward)).collect();
        after(&history, request).signals()[AMBIGUITY]
    };
    let plain = alone(request).signals()[AMBIGUITY];
    assert_eq!(ambiguity(&[0.7, 0.8]), plain);
    assert_eq!(ambiguity(&[-0.5]), plain);
    assert!(ambiguity(&[-0.5, -0.4]) > plain + 0.15);
    assert!(ambiguity(&[-0.5, -0.4, -0.9]) > ambiguity(&[-0.5, -0.4]) + 0.15);
    assert_eq!(ambiguity(&[-0.5, -0.4, 0.9, 0.9, 0.9]), plain); // long ago
    // So does asking for the same again.
    let history = [turn(-0.5), Turn::new(request)];
    assert!(after(&history, request).signals()[AMBIGUITY] > plain + 0.15);
}

#[test]
fn the_background_names_a_task_where_nothing_else_does() {
    let background = |request, text| {
        read(Situation::new(RequestText::new(request)).with_background(Background::new(text)))
    };
    let coding = "You are a coding assistant. Be concise and answer in English.";
    let unnamed = "The second parameter, please, with a default of ten";
    assert_eq!((task(&alone(unnamed)), task(&background(unnamed, coding))), ("-", "coding"));
    for request in ["Who wrote Middlemarch?", "Delete all my emails from 2019", "Hello!", "hmm"] {
        assert_eq!(background(request, coding), alone(request), "{request}");
    }
    // How everybody is to be answered is not a task.
    assert_eq!(task(&background(unnamed, "Answer in one sentence. Return JSON.")), "-");
    // Only the task comes from there.
    assert_eq!(background(unnamed, coding).signals(), alone(unnamed).signals());
}

#[test]
fn where_everything_must_be_confirmed_something_is_at_stake() {
    let confirmed = Feasible::new(&AGENT, &[CONFIRM]).unwrap();
    let situation = |request| Situation::new(RequestText::new(request));
    assert_eq!(read(situation("Who wrote Middlemarch?").allowing(&confirmed)).signals()[RISK], 0.5);
    assert_eq!(read(situation("Delete all my files").allowing(&confirmed)), alone("Delete all my files"));
    assert_eq!(
        read(situation("Who wrote Middlemarch?").allowing(&Feasible::all(&AGENT))),
        alone("Who wrote Middlemarch?")
    );
}

/// Rows of words that the rules know.
const WORDS: &str = "((and|fix|this|that|it|shorter|again|translate|write|code|my files|delete|what about|the second one|French|\\?|, \
                     |please|\"x\"|`f`|never|I like short answers|weather|today|plan|why) ){0,12}";

/// Prose: it has no code in it and asks nothing.
const PROSE: &str = "(I like short answers|never search the web|your preference is concise|Paris|the risk is high|translate|[a-z]{1,8}| )+";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn nothing_before_changes_nothing(request in WORDS) {
        let all = Feasible::all(&AGENT);
        prop_assert_eq!(read(Situation::new(RequestText::new(&request)).after(&[]).allowing(&all)), alone(&request));
    }

    /// Whatever an assistant says about a person and their preferences does not get into the context.
    #[test]
    fn the_words_of_an_answer_do_not_count(request in WORDS, before in WORDS, one in PROSE, other in PROSE, reward in -1.0..1.0) {
        let turn = Turn::new(&before).rewarded(reward);
        prop_assert_eq!(after(&[turn.answered(&one)], &request), after(&[turn.answered(&other)], &request));
        prop_assert_eq!(after(&[turn.answered(&one).by(Action(0))], &request), after(&[turn.answered(&one).by(Action(7))], &request));
    }

    #[test]
    fn all_is_valid_and_risk_never_falls(
        request in prop_oneof![WORDS, ".{0,80}"], history in prop::collection::vec((WORDS, ".{0,80}", -1.0..1.0), 0..9), confirm: bool,
    ) {
        let turns: Vec<_> = history.iter().map(|(request, answer, reward)| Turn::new(request).answered(answer).rewarded(*reward)).collect();
        let feasible = if confirm { Feasible::new(&AGENT, &[CONFIRM]).unwrap() } else { Feasible::all(&AGENT) };
        let context = read(Situation::new(RequestText::new(&request)).after(&turns).allowing(&feasible));
        prop_assert!(context.signals().iter().all(|level| (0.1..=0.9).contains(level)));
        prop_assert!(context.signals()[RISK] >= alone(&request).signals()[RISK]);
    }

    /// More that went wrong makes nothing clearer.
    #[test]
    fn complaints_never_make_it_clearer(request in WORDS, before in WORDS, rewards in prop::collection::vec(-1.0..1.0, 1..4)) {
        let turn = |reward| Turn::new(&before).answered("So it is.").rewarded(reward);
        let given: Vec<_> = rewards.iter().map(|reward| turn(*reward)).collect();
        let worse: Vec<_> = rewards.iter().map(|_| turn(-1.0)).collect();
        let ambiguity = |history: &[Turn<'_>]| after(history, &request).signals()[AMBIGUITY];
        prop_assert!(ambiguity(&worse) >= ambiguity(&given));
    }
}
