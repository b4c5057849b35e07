//! Small data in the form of the real files, and the command that is run on it.

use super::server::Server;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// The variable of the key in these tests.
pub const KEY: &str = "STUDIES_TEST_KEY";

/// A folder with data, in which runs leave what they leave.
pub struct Bench {
    folder: TempDir,
}

impl Bench {
    pub fn new() -> Self {
        let bench = Self { folder: tempfile::tempdir().unwrap() };
        let mut paper = "\\label{app:fable-v4-two-direction}\n".to_owned();
        for number in 1..=20 {
            let target = if number % 3 == 0 { "current (web)" } else { "stable (no tool)" };
            let _ = writeln!(paper, "{number} & What is {number}? & {target} & x & +1 & x & +1 \\\\");
        }
        bench.write("paper.tex", &paper);
        let problem = |number: usize| json!({ "problem": format!("What is {number} + 1?"), "answer": format!("{}", number + 1) });
        bench.write(
            "data/math500/test.jsonl",
            &(0..80).map(|number| problem(number).to_string()).collect::<Vec<_>>().join("\n"),
        );
        for domain in ["airline", "retail", "telecom", "banking_knowledge"] {
            let folder = format!("data/tau2-bench/domains/{domain}");
            for policy in ["policy.md", "main_policy.md", "tech_support_manual.md", "policy_header.md"] {
                bench.write(&format!("{folder}/{policy}"), &format!("The policy of {domain} in {policy}."));
            }
            let task = |number: usize| {
                let criteria = json!({ "actions": [{ "name": "refund", "arguments": { "id": number } }], "communicate_info": ["word"] });
                let scenario = json!({ "instructions": format!("You want refund {number} of {domain}.") });
                json!({ "id": format!("{number}"), "user_scenario": scenario, "evaluation_criteria": criteria })
            };
            let (tasks, ids): (Value, Value) =
                ((0..50).map(task).collect(), (0..50).map(|number| number.to_string()).collect());
            bench.write(&format!("{folder}/tasks.json"), &tasks.to_string());
            bench.write(
                &format!("{folder}/split_tasks.json"),
                &json!({ "small": ids, "test": [] }).to_string(),
            );
        }
        bench
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// The arguments of a run into a folder.
    pub fn arguments(&self, url: &str, out: &str, more: &[&str]) -> Vec<String> {
        let path = |name: &str| self.path(name).to_str().unwrap().to_owned();
        let (data, paper, out) = (path("data"), path("paper.tex"), path(out));
        let usual = [
            "--endpoint",
            url,
            "--data",
            &data,
            "--paper",
            &paper,
            "--out",
            &out,
            "--wait",
            "1",
            "--key-env",
            KEY,
        ];
        usual.iter().chain(more).map(|text| (*text).to_owned()).collect()
    }

    /// The command, with nobody at its terminal.
    pub fn command(&self, url: &str, out: &str, more: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_studies"));
        command.args(self.arguments(url, out, more)).current_dir(self.folder.path()).env_remove(KEY);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs it: its exit code and what it said.
    pub fn run(&self, server: &Server, out: &str, more: &[&str]) -> (i32, String) {
        said(&self.command(&server.url, out, more).output().unwrap())
    }

    /// The files of the results, but for what the last run did.
    pub fn results(&self, out: &str) -> BTreeMap<PathBuf, String> {
        let mut files = files(&self.path(out).join("results"));
        files.retain(|path, _| !path.to_str().unwrap().ends_with("-run.txt"));
        assert!(!files.is_empty());
        files
    }

    /// How many transcripts there are.
    pub fn transcripts(&self, out: &str) -> usize {
        files(&self.path(out).join("transcripts")).len()
    }

    /// A number of the file that says what the last run did.
    pub fn last(&self, out: &str, name: &str, what: &str) -> usize {
        let text = fs::read_to_string(self.path(out).join(format!("results/{name}-run.txt"))).unwrap();
        text.lines().find_map(|line| line.strip_prefix(what)?.trim().parse().ok()).unwrap()
    }
}

/// The exit code of a command and all that it said.
pub fn said(output: &Output) -> (i32, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code().unwrap(), text(&output.stdout) + &text(&output.stderr))
}

/// All files below a folder, by their paths in it.
pub fn files(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let text = fs::read_to_string(&path).unwrap();
                found.insert(path.strip_prefix(folder).unwrap().to_owned(), text);
            }
        }
    }
    found
}
