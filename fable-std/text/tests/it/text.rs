//! What the rules promise beyond accuracy: quotes and code are not read, negation turns things round, hard stays apart from
//! soft, catalogs that lack something are told so, and nothing panics.

use fable_core::catalog::When;
use fable_core::catalog::{AGENT, Block, Component, Definition, RUBRIC, TAU2, Value};
use fable_core::catalog::{Effect, FeasibleError, removed_by};
use fable_core::{Action, Catalog, Context, Rule};
use fable_text::{
    AdapterError, Constraint, ContextAdapter, FeedbackAdapter, MAX_TEXT, Onboarding, OnboardingAdapter,
    PreferenceText, Reaction, RequestText, Rules, Situation, feasible,
};
use proptest::prelude::*;

fn context(request: &str) -> Context {
    Rules.context(&AGENT, Situation::new(RequestText::new(request))).unwrap().value
}

fn said(text: &str) -> Onboarding {
    Rules.onboarding(&AGENT, PreferenceText::new(text)).unwrap().value
}

/// What was understood, in the catalog's names.
fn understood(text: &str) -> (Vec<String>, Vec<String>) {
    let Onboarding { preferences, constraints, .. } = said(text);
    let constraints = constraints.iter().map(|constraint| constraint.describe(&AGENT)).collect();
    (preferences.iter().map(|preference| preference.describe(&AGENT)).collect(), constraints)
}

fn reward(text: &str) -> Option<f64> {
    Rules.feedback(Reaction::new(text)).value.map(|feedback| feedback.reward())
}

const RISK: usize = 0;

#[test]
fn what_is_quoted_pasted_or_code_is_not_an_order() {
    let order = context("Delete all my files");
    assert_eq!((order.task(), order.signals()[RISK]), (None, 0.9));
    for harmless in [
        "Translate \"Delete all my files\" into French",
        "Translate \u{201c}Delete all my files\u{201d} into French",
        "Translate 'Delete all my files' into French",
        "Translate `Delete all my files` into French",
        "Translate this into French:\nDelete all my files",
        "Translate the following into French: Delete all my files",
        "Translate the quote into French\n> Delete all my files",
        "Translate the comment into French\n```\nDelete all my files\n```",
    ] {
        let context = context(harmless);
        assert_eq!(
            (context.task(), context.signals()[RISK]),
            (AGENT.task("translation").ok(), 0.1),
            "{harmless}"
        );
    }
    assert_eq!(understood("My boss told me \"never search the web\""), (vec![], vec![]));
    assert_eq!(reward("The first line reads \"this is terrible\""), None);
}

#[test]
fn the_form_of_the_answer_is_not_a_task() {
    for form in [
        "Answer in one sentence.",
        "Be concise.",
        "Return JSON.",
        "Keep it short, no preamble.",
        "Respond in German.",
        "Just the number, please.",
        "Use bullet points.",
        "Think step by step.",
        "I like short answers.",
        "Two sentences at most!",
    ] {
        assert_eq!(context(form).task(), None, "{form}");
        for (request, task) in [
            ("Who wrote Middlemarch?", "factual"),
            ("Write a Python function that reverses a linked list.", "coding"),
            ("Plan a weekend in Rome for two people.", "planning"),
            ("My laptop won't turn on.", "troubleshooting"),
        ] {
            for text in [format!("{request} {form}"), format!("{form} {request}")] {
                assert_eq!(context(&text).task(), AGENT.task(task).ok(), "{text}");
            }
        }
    }
    for (request, task) in [
        ("Explain why the sky is blue, step by step", "analysis"),
        ("List the planets in JSON", "factual"),
        ("What is entropy in a few words?", "factual"),
        ("Write a story in 200 words", "writing"),
        ("Summarize the article in one sentence", "summarization"),
    ] {
        assert_eq!(context(request).task(), AGENT.task(task).ok(), "{request}");
    }
}

#[test]
fn case_punctuation_and_slips_change_nothing() {
    let plain = context("Please recommend a good book about the sea");
    for other in [
        "PLEASE RECOMMEND A GOOD BOOK ABOUT THE SEA!!!",
        "please recomend a good book, about the sea",
        "please, recommned a good book about the sea",
    ] {
        assert_eq!(context(other), plain, "{other}");
    }
    let short = understood("I don't like long answers");
    for other in
        ["i dont like long answers", "I DON\u{2019}T like LONG answers...", "I don't like  long-answers"]
    {
        assert_eq!(understood(other), short, "{other}");
    }
    assert_eq!(reward("thx!!"), reward("Thanks."));
}

#[test]
fn negation_turns_things_round() {
    let concise = || (vec!["style=concise over style=detailed".to_owned()], vec![]);
    let detailed = || (vec!["style=detailed over style=concise".to_owned()], vec![]);
    for text in [
        "short answers",
        "not too long",
        "don't be verbose",
        "no long answers",
        "I prefer short over long answers",
        "less detail",
    ] {
        assert_eq!(understood(text), concise(), "{text}");
    }
    for text in [
        "long answers",
        "not too short",
        "don't be brief",
        "I'd take detailed rather than brief",
        "I don't mind long answers",
    ] {
        assert_eq!(understood(text), detailed(), "{text}");
    }
    for (good, bad) in [
        ("good", "not good"),
        ("not bad", "bad"),
        ("not too long", "too long"),
        ("it works", "it doesn't work"),
    ] {
        assert!(reward(good) > Some(0.0) && reward(bad) < Some(0.0), "{good}, {bad}");
    }
}

#[test]
fn strength_and_doubt_are_heard() {
    let of = |text: &str| {
        let found = said(text);
        let [preference] = found.preferences.as_slice() else { panic!("{text}: {found:?}") };
        (preference.response, preference.precision)
    };
    assert_eq!(of("I prefer short answers"), (0.7, 4.0));
    assert_eq!(of("I really love short answers"), (1.0, 8.0));
    assert_eq!(of("slightly shorter answers"), (0.4, 4.0));
    assert_eq!(of("usually short answers"), (0.7, 2.0));
    assert_eq!(of("I don't like web searches"), (-0.7, 4.0));
    assert!(reward("very good") > reward("good") && reward("a bit too long") > reward("too long"));
}

#[test]
fn hard_and_soft_are_kept_apart() {
    let forbids = |text: &str| {
        let (preferences, constraints) = understood(text);
        assert_eq!(preferences, Vec::<String>::new(), "{text}");
        constraints
    };
    for text in
        ["never search the web", "Don't search the web", "You must not use the internet", "no web searches"]
    {
        assert_eq!(forbids(text), ["never tool=web_search"], "{text}");
    }
    assert_eq!(
        forbids("Never search the web, run code or read my files"),
        ["never tool=web_search", "never tool=code_execution", "never tool=file_search"]
    );
    assert_eq!(forbids("never use tools"), ["always tool=no_tool"]);
    assert_eq!(forbids("Never, ever, search the web"), ["never tool=web_search"]);
    assert_eq!(forbids("I never want you to search the web"), ["never tool=web_search"]);
    assert_eq!(forbids("Never do anything without asking me first"), ["always style=confirm_first"]);
    assert_eq!(
        forbids("Always confirm first when it is risky"),
        ["always style=confirm_first when risk is high"]
    );
    // What is wanted is never required by a prohibition that stands near it.
    for (text, wanted) in [
        ("Never guess, search the web", "tool=web_search"),
        ("I must say I like web searches", "tool=web_search"),
    ] {
        assert_eq!(understood(text), (vec![wanted.to_owned()], vec![]), "{text}");
    }
    for text in [
        "I never read long answers",
        "I hate that I have to read long answers",
        "the best short answers ever",
    ] {
        assert_eq!(
            understood(text),
            (vec!["style=concise over style=detailed".to_owned()], vec![]),
            "{text}"
        );
    }
    assert_eq!(understood("Do you search the web? Can you read my files?"), (vec![], vec![]));
    for soft in ["I don't like web searches", "I'd prefer you not to search the web"] {
        assert_eq!(understood(soft), (vec!["not tool=web_search".to_owned()], vec![]), "{soft}");
    }
    assert_eq!(
        understood("Never search the web and keep it short"),
        (vec!["style=concise over style=detailed".to_owned()], vec!["never tool=web_search".to_owned()])
    );
}

#[test]
fn constraints_leave_what_they_say_where_they_hold() {
    let found = said(
        "Never search the web. Always confirm first when it is risky. Don't run code for coding questions.",
    );
    let left = |task: &str, risk: f32| {
        let context = Context::new(&AGENT, AGENT.task(task).ok(), &[risk, 0.1, 0.1, 0.1]).unwrap();
        feasible(&AGENT, &found.constraints, &context, &[]).unwrap().len()
    };
    assert_eq!((left("factual", 0.1), left("coding", 0.1)), (5 * 5 * 6, 5 * 4 * 6));
    assert_eq!((left("factual", 0.9), left("factual", 0.5)), (5 * 5, 5 * 5 * 6));

    let context = context("hello");
    let part = [found.constraints[0].part()];
    let rule = [Rule { name: &found.constraints[0].words, effect: Effect::Forbid, pattern: &part }];
    let search = AGENT.action(&[0, 1, 0]).unwrap();
    assert_eq!(removed_by(&AGENT, &rule, search).map(|rule| rule.name), Some("Never search the web"));
    let only = [Rule::only("search", &part)];
    assert_eq!(feasible(&AGENT, &found.constraints, &context, &only), Err(FeasibleError::Empty));
    let foreign = [Constraint {
        effect: Effect::Forbid,
        component: 9,
        values: vec![0],
        when: When::Always,
        words: "x".into(),
    }];
    assert_eq!(feasible(&AGENT, &foreign, &context, &[]), Err(FeasibleError::UnknownValue { rule: 0 }));
    assert!(feasible(&AGENT, &[], &context, &[]).unwrap().set().contains(Action(179)));
}

#[test]
fn what_was_not_understood_is_handed_back() {
    assert_eq!(said("I like cats. My name is Bo. Short answers please.").unused, ["I like cats"]);
    // The dictionary has no memory by task, so this cannot be learned.
    let found = said("When I'm coding, remember my preferences");
    assert_eq!((found.preferences.len(), found.unused), (0, vec!["remember my preferences".to_owned()]));
}

/// A catalog with tasks that the rules do not know and a signal that they cannot tell.
const LAMP: Definition<'static> = Definition {
    name: "lamp",
    components: &[Component::new("light", &[Value::new("warm", "", 0.0), Value::new("cold", "", 0.0)])],
    tasks: &["reading", "dinner"],
    signals: &["daylight"],
    blocks: &[Block::main(0)],
    ..Definition::EMPTY
};

#[test]
fn a_catalog_that_lacks_something_is_told_so() {
    // Nothing to fill in: no tasks and no signals.
    let context = Rules.context(&TAU2, Situation::new(RequestText::new("Cancel my flight"))).unwrap().value;
    assert_eq!((context.task(), context.signals().len()), (None, 0));
    // tau2 has direct and concise, but no web search.
    let found = Rules
        .onboarding(&TAU2, PreferenceText::new("I like short answers, never search the web"))
        .unwrap()
        .value;
    assert_eq!(found.preferences[0].describe(&TAU2), "style=concise");
    assert_eq!((found.constraints.len(), found.unused), (0, vec!["never search the web".to_owned()]));
    assert_eq!(Rules.onboarding(&RUBRIC, PreferenceText::new("short")), Err(AdapterError::UnknownValues));

    let unknown = Catalog::try_new(LAMP).unwrap();
    let error = Rules.context(&unknown, Situation::new(RequestText::new("Dim the light"))).unwrap_err();
    assert_eq!(error, AdapterError::UnknownTasks);
    let known = Catalog::try_new(Definition { tasks: &["planning", "dinner"], ..LAMP }).unwrap();
    let error = Rules.context(&known, Situation::new(RequestText::new("Plan my evening"))).unwrap_err();
    assert_eq!(error, AdapterError::UnknownSignal("daylight".into()));
    assert_eq!(
        error.to_string(),
        "the rules cannot tell the signal 'daylight'; they know risk, ambiguity, memory_need and tool_need"
    );
}

#[test]
fn penalties_are_those_of_the_paper() {
    let feedback = |text, clarifications, corrections| {
        let feedback = Rules.feedback(Reaction { text, clarifications, corrections }).value.unwrap();
        (feedback.satisfaction, (feedback.reward() * 1000.0).round())
    };
    assert_eq!(feedback("thanks", 0, 0), (0.7, 700.0));
    assert_eq!(feedback("thanks", 1, 0), (0.7, 620.0));
    assert_eq!(feedback("thanks", 2, 1), (0.7, 390.0));
    assert_eq!(feedback("No, I meant the other file", 0, 0), (-0.4, -550.0)); // the reaction is the correction
    assert_eq!(feedback("What do you mean?", 0, 0), (-0.3, -380.0));
    assert_eq!(feedback("terrible", 255, 255), (-1.0, -1000.0));
}

/// "Perfect if you wanted to confuse me" was read as praise.
#[test]
fn praise_under_a_condition_is_not_praise() {
    for mockery in [
        "perfect if you wanted to confuse me",
        "Great, if the goal was to waste my time",
        "brilliant... if you wanted to annoy me",
        "excellent if the aim was to say nothing",
        "nice, if it worked",
        "It would be great if it worked",
        "That'd be perfect if it were true",
        "very useful if I had asked for Java",
        "thanks, if I wanted a lecture I'd go to university",
        "good answer if you ignore the question",
        "perfect (if you enjoy being lectured)",
        "Great - if you like being lost",
        "great, if you like walls of text",
        "Perfect! If only it worked.",
        "If the goal was to annoy me, well done",
        "as if that helped",
        "The best part was when it ended",
        "the best thing about it is that it's over",
    ] {
        assert!(reward(mockery).is_some_and(|reward| reward < 0.0), "{mockery}: {:?}", reward(mockery));
    }
    // Nobody can say how these are meant.
    for open in [
        "great, if you like reading novels",
        "perfect if you need an overview",
        "fine, if that is the best you can do",
        "If you meant to be funny, bravo",
        "Thanks, if it weren't for you I'd be lost",
        "Can't say if it helped",
    ] {
        assert_eq!(reward(open), None, "{open}");
    }
    for praise in [
        "great if you ask me",
        "Perfect, if I may say so",
        "perfect, even if it took a while",
        "it looks as if it works",
        "Great, if you could now translate it",
        "Thanks! If you can, add a title",
        "the best part is that it stopped crashing",
    ] {
        assert!(reward(praise).is_some_and(|reward| reward > 0.5), "{praise}: {:?}", reward(praise));
    }
}

#[test]
fn only_the_start_of_a_long_text_is_read_and_quickly() {
    let long = format!("I like short answers. {} never search the web", "word ".repeat(MAX_TEXT));
    assert_eq!(understood(&long).1, Vec::<String>::new());
    let started = std::time::Instant::now();
    for text in ["or ", "please ", "a. ", "'a ", ", if "].map(|word| word.repeat(MAX_TEXT)) {
        let _ = (context(&text), said(&text), reward(&text));
    }
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed()); // about 1 s optimized
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Arbitrary characters, and arbitrary rows of words that the rules know.
    #[test]
    fn nothing_panics_and_all_is_valid(text in prop_oneof![
        ".{0,200}",
        "((never|don't|I like|not|too|short|web|search|my files|code|for coding|please|\"|`|,|\\.|\n|no|it's|[0-9]) ){0,30}",
    ]) {
        let context = context(&text);
        prop_assert!(context.signals().iter().all(|level| (0.1..=0.9).contains(level)));
        let found = said(&text);
        for preference in &found.preferences {
            prop_assert!(preference.statement(&AGENT).is_ok());
            prop_assert!(text.contains(&preference.words));
        }
        prop_assert!(found.constraints.iter().all(|constraint| text.contains(&constraint.words)));
        prop_assert!(reward(&text).is_none_or(|reward| (-1.0..=1.0).contains(&reward)));
    }
}
