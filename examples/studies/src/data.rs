//! The data sets: where they are, where they come from, under which licence. None of them is part of the repository.

use crate::setup::{Setup, StudyError};
use std::fs;

/// A file of a data set.
#[derive(Clone, Copy, Debug)]
pub struct DataFile {
    /// Its path below the folder of the data.
    pub path: &'static str,
    /// Where to get it and under which licence.
    pub source: &'static str,
}

/// The problems of MATH-500.
pub const MATH500: DataFile = DataFile {
    path: "math500/test.jsonl",
    source: "github.com/openai/prm800k, prm800k/math_splits/test.jsonl (MIT), as math500/test.jsonl in the folder given with --data",
};

/// What gpt-35-turbo answered to ten exams under eight prompts.
pub const CONCISE_COT: DataFile = DataFile {
    path: "concise-cot/attempts.csv",
    source: "github.com/matthewrenze/jhu-concise-cot, details/*.csv (BSD-2-Clause), joined to one row per exam, problem and \
             prompt as concise-cot/attempts.csv in the folder given with --data",
};

const fn embodied(path: &'static str) -> DataFile {
    DataFile {
        path,
        source: "github.com/facebookresearch/PAHF, data/embodied (MIT): scenarios/*.json as they are and the texts of personas/*.py as \
                 {original,evolved}_persona.json, as pahf/embodied in the folder given with --data",
    }
}

/// What the 40 personas of PAHF's office kitchen say of themselves, before and after their preferences change.
pub const EMBODIED_PERSONAS: [DataFile; 2] =
    [embodied("pahf/embodied/original_persona.json"), embodied("pahf/embodied/evolved_persona.json")];

/// What they ask for: to learn from and held out, before and after.
pub const EMBODIED_SCENARIOS: [DataFile; 4] = [
    embodied("pahf/embodied/original_scenarios_A.json"),
    embodied("pahf/embodied/original_scenarios_B.json"),
    embodied("pahf/embodied/evolved_scenarios_A.json"),
    embodied("pahf/embodied/evolved_scenarios_B.json"),
];

/// The paper, for the prompts in its tables.
pub const PAPER: DataFile = DataFile {
    path: "../paper/fable.tex",
    source: "the paper's LaTeX source, as paper/fable.tex beside the folder given with --data",
};

impl DataFile {
    /// The text of the file.
    ///
    /// # Errors
    /// [`StudyError::MissingData`] when it is not there.
    pub fn read(&self, setup: &Setup) -> Result<String, StudyError> {
        let path = setup.data.join(self.path);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Err(StudyError::MissingData { path, source: self.source })
            }
            Err(error) => Err(StudyError::BadData { path, reason: error.to_string() }),
        }
    }

    /// The error that says what is wrong with the file.
    #[must_use]
    pub fn bad(&self, setup: &Setup, reason: impl Into<String>) -> StudyError {
        StudyError::BadData { path: setup.data.join(self.path), reason: reason.into() }
    }
}

/// Where all files of tau2-bench come from.
const TAU2_BENCH: &str = "github.com/sierra-research/tau2-bench (MIT): data/tau2/domains/*/{tasks,split_tasks}.json and \
                          data/tau2/results/final/figs/action_success_rates_*.csv as they are; logged_episodes.csv is one row \
                          per recorded simulation and leaderboard_pass_k.csv one per submission and domain, both without any \
                          message; as tau2-bench/ in the folder given with --data";

const fn tau2_bench(path: &'static str) -> DataFile {
    DataFile { path, source: TAU2_BENCH }
}

/// One row per recorded simulation of tau2-bench.
pub const TAU2_EPISODES: DataFile = tau2_bench("tau2-bench/logged_episodes.csv");
/// How often a task was solved in one trial, in two, ... by submission and domain.
pub const TAU2_PASS_K: DataFile = tau2_bench("tau2-bench/leaderboard_pass_k.csv");
/// How often the steps of telecom tasks were done, by model and mode, with the policy as a manual.
pub const TAU2_STEPS_MANUAL: DataFile = tau2_bench("tau2-bench/action_success_rates_telecom.csv");
/// The same with the policy as a workflow.
pub const TAU2_STEPS_WORKFLOW: DataFile = tau2_bench("tau2-bench/action_success_rates_telecom-workflow.csv");
/// The tasks of airline, retail and telecom, for training and for tests.
pub const TAU2_SPLITS: [DataFile; 3] = [
    tau2_bench("tau2-bench/domains/airline/split_tasks.json"),
    tau2_bench("tau2-bench/domains/retail/split_tasks.json"),
    tau2_bench("tau2-bench/domains/telecom/split_tasks.json"),
];
/// The tasks of banking knowledge, which are not split.
pub const TAU2_BANKING: DataFile = tau2_bench("tau2-bench/domains/banking_knowledge/tasks.json");
