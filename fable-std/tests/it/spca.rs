//! `fable spca`: chosen blocks against the program itself, and what a model estimates.

use crate::endpoint::{Endpoint as Server, completion};
use fable_core::preference::Comparison;
use fable_core::{HostUser, Policy, Settings, catalog};
use fable_std::llm::{Endpoint, Llm, LlmError};
use fable_std::spca::{ChooseError, Options, choose, expect, parse};
use fable_std::text::{OnboardingAdapter, PreferenceText, RequestText, Rules};
use serde_json::{Value, json};
use std::process::{Command as Process, Output};

fn fable(arguments: &[&str]) -> Output {
    Process::new(env!("CARGO_BIN_EXE_fable"))
        .args(arguments)
        .env_remove("FABLE_API_KEY")
        .env_remove("OPENAI_API_KEY")
        .output()
        .unwrap()
}

fn report(arguments: &[&str]) -> Value {
    let output = fable(&[&["spca", "--json"], arguments].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Somebody who codes: the style for each task matters more than what risk does to it, and what was said is kept.
#[test]
fn what_is_said_and_expected_decides() {
    let said = report(&[
        "--budget",
        "90",
        "--about",
        "For coding I like short answers",
        "--request",
        "Fix the bug in parser.rs",
    ]);
    let kept = said["chosen"]["retained"].as_array().unwrap();
    assert!(kept.contains(&"task*style".into()) && kept.contains(&"style".into()), "{said}");
    assert!(said["chosen"]["coordinates"].as_u64().unwrap() <= 90);
    assert!(said["chosen"]["error"].as_f64() < said["chosen"]["error_of_nothing"].as_f64());
    assert_eq!(said["prototypes"][0]["context"]["task"], "coding");
    // As in the examples.
    let shown = fable(&[
        "spca",
        "--budget",
        "100",
        "--about",
        "For coding I like short answers",
        "--request",
        "Fix the bug in parser.rs",
    ]);
    assert!(
        shown.status.success()
            && String::from_utf8_lossy(&shown.stdout)
                .starts_with("expected     one kind of request\nretained     memory,")
    );
    // What must be kept does not fit.
    let output = fable(&["spca", "--budget", "10", "--about", "For coding I like short answers"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("more than 10 coordinates"));
    // What is printed is what the setting takes.
    let text = String::from_utf8(fable(&["spca", "--catalog", "tau2", "--budget", "8"]).stdout).unwrap();
    let retained = text.lines().find_map(|line| line.strip_prefix("retained")).unwrap().trim().to_owned();
    assert_eq!(retained, "memory,tool,style", "{text}");
    assert!(fable(&["identify", "--catalog", "tau2", "--retained", &retained]).status.success());
}

/// With more room less is lost, and single coordinates lose no more than blocks of the same size.
#[test]
fn more_room_loses_less_and_a_mask_less_than_blocks() {
    let policy = Policy::<f64>::new(&catalog::TAU2, Settings::default()).unwrap();
    let mut ana = HostUser::<f64>::new(&policy, "ana").unwrap();
    let Comparison { context, prefer, .. } = Comparison::declared(&catalog::TAU2, 0).unwrap();
    ana.user().observe(&context, prefer, 0.9).unwrap();
    let expected = parse(&catalog::TAU2, r#"[{"context":{},"weight":3}]"#).unwrap();
    let mut before = f64::INFINITY;
    for budget in [0, 8, 14, 20, 29] {
        let options = Options { mask: Some(20_000), ..Options::new(budget) };
        let chosen = choose(&mut ana.user(), &expected, &[], &options).unwrap();
        assert!(chosen.error <= before && chosen.coordinates <= budget, "{budget} {chosen:?}");
        let mask = chosen.mask.unwrap();
        assert!(
            mask.coordinates.len() == budget && mask.error - mask.gap <= chosen.error + 1e-12,
            "{budget} {mask:?}"
        );
        before = chosen.error;
    }
    assert!(before.abs() < 1e-12, "everything is kept");
    let nothing = choose(&mut ana.user(), &[], &[], &Options::new(8)).unwrap_err();
    assert!(matches!(nothing, ChooseError::Spca(_)), "{nothing}");
}

/// What rules leave out is not expected to be done.
#[test]
fn rules_take_the_features_of_what_they_forbid() {
    let policy = Policy::<f64>::new(&catalog::AGENT, Settings::default()).unwrap();
    let mut ana = HostUser::<f64>::new(&policy, "ana").unwrap();
    let expected = expect(&catalog::AGENT, &["Fix the bug in parser.rs"]).unwrap();
    let off = Rules
        .onboarding(&catalog::AGENT, PreferenceText::new("Never use memory."))
        .unwrap()
        .value
        .constraints;
    let error = |constraints: &[_], ana: &mut HostUser<'_, f64>| {
        choose(&mut ana.user(), &expected, constraints, &Options::new(0)).unwrap().error_of_nothing
    };
    let (free, bound) = (error(&[], &mut ana), error(&off, &mut ana));
    assert!(free != bound && free > 0.0 && bound > 0.0, "{free} {bound}");
}

#[test]
fn prototypes_of_a_file_are_checked() {
    let wrong = |text: &str| parse(&catalog::AGENT, text).unwrap_err();
    let context = r#""context":{"task":"coding","risk":0,"ambiguity":0,"memory_need":1,"tool_need":0.5}"#;
    let read = parse(&catalog::AGENT, &format!("[{{{context}}},{{{context},\"weight\":3}}]")).unwrap();
    assert_eq!(read.iter().map(|expected| expected.weight).collect::<Vec<_>>(), [0.25, 0.75]);
    assert!(
        wrong("{}").contains("expected a sequence") || wrong("{}").contains("invalid type"),
        "{}",
        wrong("{}")
    );
    assert!(wrong("[]").contains("no prototype"));
    assert!(wrong(&format!("[{{{context},\"weight\":0}}]")).contains("no prototype"));
    assert!(wrong(&format!("[{{{context},\"weight\":-1}}]")).starts_with("prototype 1: the weight"));
    assert!(wrong(&format!("[{{{context},\"wieght\":1}}]")).contains("no key 'wieght'"));
    assert!(wrong(r#"[{"context":{"task":"golf"}}]"#).starts_with("prototype 1: "));
    assert!(wrong(r#"[{"context":{"risk":"high"}}]"#).contains("'risk' is not a number"));
}

fn answered(answer: &Value) -> Result<Vec<fable_std::spca::Expected>, LlmError> {
    let server = Server::answering(completion(&answer.to_string()));
    let llm = Llm::new(Endpoint::new(&server.url, "test-model"), None).unwrap();
    llm.prototypes(
        &catalog::AGENT,
        PreferenceText::new("I am a nurse"),
        Some(RequestText::new("How much aspirin?")),
    )
}

#[test]
fn a_model_estimates_contexts_and_nothing_else() {
    let signals = json!({ "risk": 0.9, "ambiguity": 0.25, "memory_need": 0, "tool_need": 1 });
    let one = |task: Value, weight: f64| json!({ "task": task, "signals": signals, "weight": weight });
    let expected =
        answered(&json!({ "prototypes": [one("coding".into(), 0.2), one(Value::Null, 0.6)] })).unwrap();
    assert_eq!(
        expected.iter().map(|expected| (expected.weight * 1e6).round()).collect::<Vec<_>>(),
        [250_000.0, 750_000.0]
    );
    assert_eq!(expected[0].context.task(), catalog::AGENT.task("coding").ok());
    assert_eq!(expected[1].context.signals(), [0.9, 0.25, 0.0, 1.0]);
    for lie in [
        json!({ "prototypes": [one("golf".into(), 0.2)] }),
        json!({ "prototypes": [one("coding".into(), 1.2)] }),
        json!({ "prototypes": [one("coding".into(), 0.0)] }),
        json!({ "prototypes": [] }),
        json!({ "prototypes": vec![one("coding".into(), 0.1); 17] }),
        json!({ "prototypes": [one("coding".into(), 0.2)], "retained": ["style"] }),
        json!({ "prototypes": [{ "task": "coding", "signals": { "risk": 0.9 }, "weight": 1 }] }),
    ] {
        assert!(matches!(answered(&lie), Err(LlmError::Answer(_))), "{lie}");
    }
}

#[test]
fn the_command_asks_the_model() {
    let signals = json!({ "risk": 0.9, "ambiguity": 0.25, "memory_need": 0, "tool_need": 1 });
    let answer = json!({ "prototypes": [{ "task": "factual", "signals": signals, "weight": 1 }] });
    let server = Server::answering(completion(&answer.to_string()));
    let report =
        report(&["--budget", "30", "--about", "I am a nurse", "--endpoint", &server.url, "--model", "m"]);
    assert_eq!(report["prototypes"][0]["context"]["task"], "factual");
    let (_, body) = server.request().unwrap();
    assert!(body["messages"][1]["content"].as_str().unwrap().contains("I am a nurse"));
    assert_eq!(body["response_format"]["json_schema"]["name"], "prototypes");
}
