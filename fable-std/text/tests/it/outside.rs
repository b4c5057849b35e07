//! How well the rules read what others have written: the prompts of the paper, the requests of PAHF, the problems of MATH-500.
//!
//! The texts are not part of the repository. They are read from the folder `FABLE_SHARED`, or else `../shared` beside the
//! repository; what is not there is skipped with a message. `cargo test -p fable-text --test it outside:: -- --nocapture` prints the
//! table of the README. What is misread is listed with FABLE_MISREAD=1.

use fable_core::Context;
use fable_core::catalog::AGENT;
use fable_text::{ContextAdapter, RequestText, Rules, Situation};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;

const MEMORY_NEED: usize = 2;
const TOOL_NEED: usize = 3;

/// A file of the folder; `None` with a message if it is not there.
fn shared(path: &str) -> Option<String> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let path = std::env::var_os("FABLE_SHARED").map_or_else(beside, PathBuf::from).join(path);
    let text = std::fs::read_to_string(&path);
    if text.is_err() {
        println!("skipped: {} is not there", path.display());
    }
    text.ok()
}

fn context(request: &str) -> Context {
    Rules.context(&AGENT, Situation::new(RequestText::new(request))).unwrap().value
}

/// How many of these requests are read right, in percent.
fn measure(name: &str, requests: &[(String, Label)]) -> f64 {
    let mut right = 0;
    for (request, label) in requests {
        let found = context(request);
        let task = found.task().map_or("-", |task| AGENT.definition().tasks[task]);
        let is_right = match label {
            Label::Task(expected) => task == *expected,
            Label::Signal(signal, high) => (found.signals()[*signal] > 0.5) == *high,
        };
        if !is_right && std::env::var_os("FABLE_MISREAD").is_some() {
            println!("{name}: {label:?} {task} {:?} {request:?}", found.signals());
        }
        right += usize::from(is_right);
    }
    let percent = 100.0 * right as f64 / requests.len() as f64;
    println!("| {name} | {percent:.0}% of {} |", requests.len());
    percent
}

/// What a request is.
#[derive(Clone, Copy, Debug)]
enum Label {
    Task(&'static str),
    /// A signal, and whether it is above a half.
    Signal(usize, bool),
}

/// The rows of the paper's tables of prompts: a number, the prompt, whether it is about something current or stable. The paper calls
/// them current-information prompts, for which the web is to be searched, and stable factual prompts, for which it is not.
#[test]
fn prompts_of_the_paper() {
    let Some(text) = shared("paper/fable.tex") else { return };
    let row = |line: &str| {
        let mut cells = line.split(" & ");
        cells.next()?.parse::<u32>().ok()?;
        let (prompt, target) = (cells.next()?, cells.next()?);
        let current = target.starts_with("current (web)");
        (current || target.starts_with("stable (no tool)")).then(|| (prompt.replace('\\', ""), current))
    };
    let prompts: Vec<(String, bool)> = text.lines().filter_map(row).collect();
    assert_eq!(prompts.len(), 20);
    let tasks: Vec<_> = prompts.iter().map(|(prompt, _)| (prompt.clone(), Label::Task("factual"))).collect();
    assert!(measure("the paper's prompts: task", &tasks) >= 90.0);
    let tools: Vec<_> =
        prompts.into_iter().map(|(prompt, current)| (prompt, Label::Signal(TOOL_NEED, current))).collect();
    assert!(measure("the paper's prompts: tool_need above a half or not", &tools) >= 90.0);
}

/// Every request once. In the house somebody is brought or put away something after their taste, which is an everyday choice; in
/// the shop a thing is bought. Both are nothing without what is known about the person.
fn pahf(files: &[&str], key: &str, task: &'static str) -> Option<[Vec<(String, Label)>; 2]> {
    let mut requests = BTreeSet::new();
    for file in files {
        let rows: Value = serde_json::from_str(&shared(&format!("data/pahf/{file}.json"))?).unwrap();
        requests.extend(rows.as_array().unwrap().iter().map(|row| row[key].as_str().unwrap().to_owned()));
    }
    let labelled = |label| requests.iter().map(|request| (request.clone(), label)).collect();
    Some([labelled(Label::Task(task)), labelled(Label::Signal(MEMORY_NEED, true))])
}

#[test]
fn requests_of_pahf() {
    let house =
        ["original_scenarios_A", "original_scenarios_B", "evolved_scenarios_A", "evolved_scenarios_B"];
    let house = house.map(|file| format!("embodied/{file}"));
    if let Some([tasks, memory]) = pahf(&house.each_ref().map(String::as_str), "task", "simple_preference") {
        assert!(measure("PAHF, house: task", &tasks) >= 93.0);
        assert!(measure("PAHF, house: memory_need above a half", &memory) >= 93.0);
    }
    let shop = ["shopping/phase1", "shopping/phase2", "shopping/phase3", "shopping/phase4"];
    if let Some([tasks, memory]) = pahf(&shop, "Task", "recommendation") {
        assert!(measure("PAHF, shop: task", &tasks) >= 85.0);
        assert!(measure("PAHF, shop: memory_need above a half", &memory) >= 93.0);
    }
}

#[test]
fn problems_of_math500() {
    let Some(text) = shared("data/math500/test.jsonl") else { return };
    let problem = |line: &str| {
        let row: Value = serde_json::from_str(line).unwrap();
        (row["problem"].as_str().unwrap().to_owned(), Label::Task("analysis"))
    };
    let problems: Vec<_> = text.lines().map(problem).collect();
    assert_eq!(problems.len(), 500);
    assert!(measure("MATH-500: task", &problems) >= 94.0);
}
