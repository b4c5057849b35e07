//! The tasks of tau2-bench as its files have them: what the customer knows and wants, and what is expected of the agent.

use crate::draw::shuffle;
use crate::endpoint::text_of;
use crate::setup::{Setup, StudyError};
use fable_simulate::Random;
use serde_json::{Value, json};
use std::path::Path;

const SOURCE: &str = "github.com/sierra-research/tau2-bench (MIT): its folder data/tau2/domains as tau2-bench/domains in the folder \
                      given with --data";
/// Tasks of a domain that are left out, as in the paper, where something was calibrated on them.
const CALIBRATION: usize = 10;
/// Tasks of a domain to learn from, and as many for evaluation.
pub const TASKS: usize = 20;

/// A task.
#[derive(Clone, Debug)]
pub struct Task {
    /// As in the file.
    pub id: String,
    /// What the customer is, knows and wants: for who plays the customer.
    pub scenario: Value,
    /// The expected actions and what must be said: for the judge.
    pub expected: Value,
    /// What the customer must be told, word for word.
    pub told: Vec<String>,
}

/// A domain with its tasks.
#[derive(Clone, Debug)]
pub struct Domain {
    /// Its name.
    pub name: &'static str,
    /// The policy document.
    pub policy: String,
    /// Tasks to learn from.
    pub learning: Vec<Task>,
    /// Tasks for evaluation.
    pub evaluation: Vec<Task>,
}

/// A file of a policy, and where it is else.
type Place = [&'static str; 2];

/// The domains with the files of their policies.
const DOMAINS: [(&str, &[Place]); 4] = [
    ("airline", &[["policy.md"; 2]]),
    ("retail", &[["policy.md"; 2]]),
    ("telecom", &[["main_policy.md"; 2], ["tech_support_manual.md"; 2]]),
    ("banking_knowledge", &[["prompts/components/policy_header.md", "policy_header.md"]]),
];
/// Telecom has thousands of tasks, all made of the same parts. These splits are used, whose tasks have files of their own in
/// folders that are without the whole list.
const TELECOM: [(&str, &str); 2] =
    [("small", "tasks_small.json"), ("test", "tasks_test40_from_results.json")];

/// The domains, each with at most `limit` tasks in each phase.
pub fn read(setup: &Setup, limit: usize) -> Result<Vec<Domain>, StudyError> {
    let folder = setup.data.join("tau2-bench/domains");
    let domains = DOMAINS.iter().enumerate();
    domains
        .map(|(number, (name, policy))| domain(&folder.join(name), name, policy, number as u64, limit))
        .collect()
}

fn bad(path: &Path, reason: impl Into<String>) -> StudyError {
    StudyError::BadData { path: path.to_owned(), reason: reason.into() }
}

fn json_of(path: &Path) -> Result<Value, StudyError> {
    serde_json::from_str(&text_of(path, SOURCE)?).map_err(|error| bad(path, error.to_string()))
}

/// The tasks in a file.
fn tasks_of(path: &Path) -> Result<Vec<Task>, StudyError> {
    let value = json_of(path)?;
    let all = value.as_array().ok_or_else(|| bad(path, "not a list of tasks"))?;
    let incomplete = || bad(path, "a task has no id, no user_scenario or no evaluation_criteria");
    all.iter().map(|value| task(value).ok_or_else(incomplete)).collect()
}

/// The tasks of telecom: from the whole list where it is there, in the order of the splits, else from the splits' own files.
fn telecom(folder: &Path) -> Result<Vec<Task>, StudyError> {
    let (whole, splits) = (folder.join("tasks.json"), folder.join("split_tasks.json"));
    if !whole.exists() {
        let parts = TELECOM.map(|(_, file)| tasks_of(&folder.join(file)));
        return Ok(parts.into_iter().collect::<Result<Vec<_>, _>>()?.concat());
    }
    let (all, ids) = (tasks_of(&whole)?, json_of(&splits)?);
    let mut chosen = Vec::new();
    for (split, _) in TELECOM {
        let ids = ids
            .get(split)
            .and_then(Value::as_array)
            .ok_or_else(|| bad(&splits, format!("there is not a split '{split}'")))?;
        chosen.extend(
            ids.iter()
                .filter_map(|id| all.iter().find(|task| Some(task.id.as_str()) == id.as_str()))
                .cloned(),
        );
    }
    Ok(chosen)
}

fn domain(
    folder: &Path,
    name: &'static str,
    policy: &[Place],
    number: u64,
    limit: usize,
) -> Result<Domain, StudyError> {
    let mut parts = Vec::new();
    for place in policy {
        let [first, second] = place.map(|file| folder.join(file));
        parts.push(text_of(if second.exists() { &second } else { &first }, SOURCE)?);
    }
    let mut tasks = if name == "telecom" { telecom(folder)? } else { tasks_of(&folder.join("tasks.json"))? };
    // The same tasks in whichever files and order they were found.
    tasks.sort_by(|one, other| one.id.cmp(&other.id));
    tasks.dedup_by(|one, other| one.id == other.id);
    if tasks.len() < CALIBRATION + 2 * TASKS {
        return Err(bad(
            folder,
            format!("there are {} tasks, and {} are needed", tasks.len(), CALIBRATION + 2 * TASKS),
        ));
    }
    shuffle(&mut Random::new([number, 0, 0x7a52, 0]), &mut tasks);
    let part = |from: usize| tasks.iter().skip(from).take(TASKS.min(limit)).cloned().collect();
    Ok(Domain {
        name,
        policy: parts.join("\n\n"),
        learning: part(CALIBRATION),
        evaluation: part(CALIBRATION + TASKS),
    })
}

fn task(value: &Value) -> Option<Task> {
    let criteria = value.get("evaluation_criteria").filter(|criteria| criteria.is_object())?;
    let actions = criteria.get("actions").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let action = |action: &Value| {
        let by = action.get("requestor").and_then(Value::as_str).unwrap_or("assistant");
        json!({ "by": by, "name": action.get("name"), "arguments": action.get("arguments") })
    };
    let part =
        |key: &str| criteria.get(key).filter(|part| !part.is_null()).cloned().unwrap_or_else(|| json!([]));
    let told = part("communicate_info");
    let told = told.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
    Some(Task {
        id: value.get("id")?.as_str()?.to_owned(),
        scenario: value.get("user_scenario").filter(|scenario| scenario.is_object())?.clone(),
        expected: json!({
            "actions": actions.iter().map(action).collect::<Vec<_>>(),
            "the customer must be told": part("communicate_info"),
            "assertions": part("nl_assertions"),
        }),
        told,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_keeps_what_is_needed_of_it() {
        let value = json!({
            "id": "7",
            "user_scenario": { "instructions": "You want a refund." },
            "evaluation_criteria": {
                "actions": [{ "action_id": "1", "name": "refund", "arguments": { "id": 3 }, "info": null }],
                "communicate_info": ["42"], "nl_assertions": null,
            },
        });
        let read = task(&value).unwrap();
        assert_eq!((read.id.as_str(), read.told.as_slice()), ("7", ["42".to_owned()].as_slice()));
        assert_eq!(
            read.expected["actions"][0],
            json!({ "by": "assistant", "name": "refund", "arguments": { "id": 3 } })
        );
        assert_eq!(read.expected["assertions"], json!([]));
        for key in ["id", "user_scenario", "evaluation_criteria"] {
            let mut broken = value.clone();
            broken.as_object_mut().unwrap().remove(key);
            assert!(task(&broken).is_none(), "{key}");
        }
    }

    #[test]
    fn telecom_has_the_same_tasks_from_the_whole_list_and_from_the_splits() {
        let folder = tempfile::tempdir().unwrap();
        let write =
            |file: &str, value: &Value| std::fs::write(folder.path().join(file), value.to_string()).unwrap();
        let list = |ids: std::ops::Range<usize>| -> Value {
            ids.map(|id| json!({ "id": format!("t{id}"), "user_scenario": {}, "evaluation_criteria": {} }))
                .collect()
        };
        let read = || {
            let files = [["policy.md"; 2]];
            let read = domain(folder.path(), "telecom", &files, 2, 20)?;
            let ids = |tasks: &[Task]| tasks.iter().map(|task| task.id.clone()).collect::<Vec<_>>();
            Ok::<_, StudyError>((ids(&read.learning), ids(&read.evaluation)))
        };
        std::fs::write(folder.path().join("policy.md"), "Be kind.").unwrap();
        write("tasks_small.json", &list(0..20));
        write("tasks_test40_from_results.json", &list(40..80));
        let parts = read().unwrap();
        assert_eq!((parts.0.len(), parts.1.len()), (20, 20));
        assert!(parts.0.iter().all(|id| !parts.1.contains(id)));
        write("tasks.json", &list(0..300));
        assert!(matches!(read(), Err(StudyError::MissingData { .. })));
        let ids = |range: std::ops::Range<usize>| range.map(|id| format!("t{id}")).rev().collect::<Vec<_>>();
        write("split_tasks.json", &json!({ "small": ids(0..20), "test": ids(40..80) }));
        assert_eq!(read().unwrap(), parts);
        write("split_tasks.json", &json!({ "small": ids(0..20), "test": ids(40..50) }));
        assert!(read().unwrap_err().to_string().contains("30 tasks, and 50"));
    }
}
