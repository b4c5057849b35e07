//! What recorded runs of tau2-bench say about a host: its success, the length of its answers, and how far either can be moved.
//!
//! The host is gpt-4.1 in the repository's own runs of the test tasks. A task is solved at its domain's rate mu; a share of
//! the tasks is decided, always solved or never, and that share follows from how often a model solves a task twice: where
//! pass^1 = mu and pass^2 = s, it is (s - mu^2) / (mu - mu^2). Given that a task was solved once, it is decided with the same
//! probability, and then as it was recorded. The logarithm of the words per turn has the mean and the deviation of the log; the
//! share of its variance that belongs to the task is its correlation between two models on the same tasks.

use super::host::{Host, Task};
use super::logs::{self, NAMES, Row};
use crate::data::{
    CONCISE_COT, DataFile, TAU2_BANKING, TAU2_EPISODES, TAU2_PASS_K, TAU2_SPLITS, TAU2_STEPS_MANUAL,
    TAU2_STEPS_WORKFLOW,
};
use crate::draw::{chance, normal, shuffle};
use crate::setup::{Setup, StudyError};
use crate::statistics::{deviation, mcnemar, mean};
use fable_simulate::Random;

/// The model that is the host, what it became by training, and its row of the leaderboard.
pub const HOST: &str = "gpt-4.1";
pub const TRAINED: &str = "ft-gpt-4.1";
const HOST_SUBMISSION: &str = "gpt-4-1_openai_2024-06-20";
/// Banking knowledge has no recorded runs: the leaderboard's row of the paper's own host.
const BANKING_SUBMISSION: &str = "claude-opus-4-8_sierra_2026-08-04";
/// How the files of steps name the host.
const HOST_DATED: &str = "gpt-4.1-2025-04-14";
/// Tasks of a domain that are set aside, as in the paper; nothing is done with them.
pub const CALIBRATION: usize = 10;

/// What is known of a task from the host's own run of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Known {
    solved: Option<bool>,
    /// The logarithm of the words per turn, from the domain's mean.
    words: Option<f64>,
}

/// A domain.
#[derive(Clone, Debug, Default)]
pub struct Domain {
    /// Recorded runs of the host.
    pub runs: usize,
    /// The share of tasks that the host solves.
    pub rate: f64,
    /// The share of tasks that are solved always or never.
    pub decided: f64,
    /// Mean and standard deviation of the logarithm of the words per turn.
    pub centre: f64,
    pub spread: f64,
    /// The share of that variance that belongs to the task.
    pub same: f64,
    /// What training added to success, and whether the runs tell it from nothing.
    pub trained: f64,
    pub differs: bool,
    train: Vec<Known>,
    test: Vec<Known>,
}

/// Runs of one agent in a domain.
#[derive(Clone, Debug)]
pub struct Arm {
    pub domain: usize,
    pub mode: String,
    pub name: String,
    pub runs: usize,
    pub solved: usize,
    /// The median words per turn, as exp of the mean logarithm, and its standard deviation.
    pub words: f64,
    pub spread: f64,
    pub calls: f64,
    /// Tasks that the host solved and this one did not, and the other way round.
    pub only_host: usize,
    pub only_this: usize,
    /// Tasks of both.
    pub paired: usize,
}

/// Everything that the recorded runs say.
#[derive(Clone, Debug)]
pub struct Bench {
    pub domains: [Domain; 4],
    pub arms: Vec<Arm>,
    /// Runs that come from pull requests and were left out.
    pub left_out: usize,
    /// Steps of telecom tasks that the host did: policy as a manual, as a workflow, and with the plan in the prompt.
    pub steps: [f64; 3],
    /// What asking for brevity, and for a plan and a summary, multiplied the length of answers with.
    pub concise: f64,
    pub guided: f64,
}

impl Arm {
    fn of(rows: &[Row], domain: usize, mode: &str, name: &str) -> Option<Self> {
        let of = |mode: &str, name: &str| {
            let (mode, name) = (mode.to_owned(), name.to_owned());
            rows.iter().filter(move |row| row.domain == domain && row.mode == mode && row.arm == name)
        };
        let mine: Vec<&Row> = of(mode, name).collect();
        if mine.is_empty() {
            return None;
        }
        let pairs: Vec<(bool, bool)> = of("default", HOST)
            .filter_map(|host| Some((host.solved, mine.iter().find(|row| row.task == host.task)?.solved)))
            .collect();
        let logarithms: Vec<f64> = mine.iter().map(|row| libm::log(row.words.max(1.0))).collect();
        Some(Self {
            domain,
            mode: mode.into(),
            name: name.into(),
            runs: mine.len(),
            solved: mine.iter().filter(|row| row.solved).count(),
            words: libm::exp(mean(&logarithms)),
            spread: deviation(&logarithms),
            calls: mean(&mine.iter().map(|row| row.calls).collect::<Vec<_>>()),
            only_host: pairs.iter().filter(|pair| **pair == (true, false)).count(),
            only_this: pairs.iter().filter(|pair| **pair == (false, true)).count(),
            paired: pairs.len(),
        })
    }

    /// The exact test of no difference from the host.
    pub fn p(&self) -> f64 {
        mcnemar(self.only_host, self.only_this)
    }
}

/// Pearson's correlation, not below 0.
fn correlation(pairs: &[(f64, f64)]) -> f64 {
    let (x, y): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let (x_mean, y_mean) = (mean(&x), mean(&y));
    let product = mean(&pairs.iter().map(|(x, y)| (x - x_mean) * (y - y_mean)).collect::<Vec<_>>());
    let spreads = deviation(&x) * deviation(&y) * (pairs.len() as f64 - 1.0) / pairs.len() as f64;
    if spreads > 0.0 { (product / spreads).clamp(0.0, 1.0) } else { 0.0 }
}

impl Domain {
    fn of(
        rows: &[Row],
        domain: usize,
        passes: (f64, f64),
        split: &(Vec<String>, Vec<String>),
    ) -> Result<Self, String> {
        let name = NAMES.get(domain).unwrap_or(&"");
        let arm = |arm: &str| {
            Arm::of(rows, domain, "default", arm).ok_or_else(|| format!("{name} has no runs of {arm}"))
        };
        let (host, trained) = (arm(HOST)?, arm(TRAINED)?);
        let find = |arm: &str, task: &str| {
            rows.iter().find(|row| {
                row.domain == domain && row.mode == "default" && row.arm == arm && row.task == task
            })
        };
        let centre = libm::log(host.words);
        let words = |row: &Row| libm::log(row.words.max(1.0));
        let known = |task: &String| {
            let row = find(HOST, task);
            Known { solved: row.map(|row| row.solved), words: row.map(|row| words(row) - centre) }
        };
        let of_both: Vec<(f64, f64)> = split
            .1
            .iter()
            .filter_map(|task| Some((words(find(HOST, task)?), words(find(TRAINED, task)?))))
            .collect();
        let rate = host.solved as f64 / host.runs as f64;
        if host.spread <= 0.0 || rate <= 0.0 || rate >= 1.0 {
            return Err(format!("the runs of {HOST} in {name} are all alike"));
        }
        Ok(Self {
            runs: host.runs,
            rate,
            decided: decided(passes),
            centre,
            spread: host.spread,
            same: correlation(&of_both),
            trained: trained.solved as f64 / trained.runs as f64 - rate,
            differs: trained.p() < 0.05,
            train: split.0.iter().map(known).collect(),
            test: split.1.iter().map(known).collect(),
        })
    }

    /// Without recorded runs: success from the leaderboard, lengths as in the other domains, training unknown.
    fn unrecorded(others: &[Self], passes: (f64, f64), tasks: usize) -> Self {
        let average = |of: fn(&Self) -> f64| mean(&others.iter().map(of).collect::<Vec<_>>());
        // Not split: any half may be for tests.
        let half = tasks / 2;
        Self {
            rate: passes.0,
            decided: decided(passes),
            centre: average(|domain| domain.centre),
            spread: average(|domain| domain.spread),
            same: average(|domain| domain.same),
            train: vec![Known::default(); tasks - half],
            test: vec![Known::default(); half],
            ..Self::default()
        }
    }

    /// How many tasks there are to learn from and to evaluate with.
    pub const fn tasks(&self) -> (usize, usize) {
        (self.train.len(), self.test.len())
    }

    fn task(&self, known: Known, random: &mut Random) -> Task {
        let (decided, drawn, z) = (chance(random, self.decided), chance(random, self.rate), normal(random));
        let (centre, rest) = match known.words {
            Some(words) => (self.same * words, (self.same * (1.0 - self.same)).sqrt()),
            None => (0.0, self.same.sqrt()),
        };
        let solved = known.solved.unwrap_or(drawn);
        Task { rate: self.rate, decided: decided.then_some(solved), words: centre + rest * self.spread * z }
    }
}

/// The share of decided tasks, from the shares solved in one trial and in two of two.
fn decided((one, two): (f64, f64)) -> f64 {
    ((two - one * one) / (one - one * one)).clamp(0.0, 1.0)
}

impl Bench {
    /// Reads everything.
    ///
    /// # Errors
    /// A file is missing or is not what it should be.
    pub fn read(setup: &Setup) -> Result<Self, StudyError> {
        fn parsed<T>(
            setup: &Setup,
            file: DataFile,
            parse: impl Fn(&str) -> Result<T, String>,
        ) -> Result<T, StudyError> {
            parse(&file.read(setup)?).map_err(|reason| file.bad(setup, reason))
        }
        let (rows, left_out) = parsed(setup, TAU2_EPISODES, logs::episodes)?;
        let passes =
            |submission, domain| parsed(setup, TAU2_PASS_K, |text| logs::passes(text, submission, domain));
        let mut domains = Vec::new();
        for (domain, file) in TAU2_SPLITS.into_iter().enumerate() {
            let split = parsed(setup, file, logs::split)?;
            let of = Domain::of(&rows, domain, passes(HOST_SUBMISSION, domain)?, &split);
            domains.push(of.map_err(|reason| TAU2_EPISODES.bad(setup, reason))?);
        }
        let banking = Domain::unrecorded(
            &domains,
            passes(BANKING_SUBMISSION, 3)?,
            parsed(setup, TAU2_BANKING, logs::count)?,
        );
        domains.push(banking);
        let domains: [Domain; 4] =
            domains.try_into().map_err(|_| TAU2_EPISODES.bad(setup, "there must be four domains"))?;
        let steps = |file, mode| parsed(setup, file, |text| logs::steps(text, HOST_DATED, mode));
        let (concise, guided) = parsed(setup, CONCISE_COT, logs::instructed)?;
        let mut arms: Vec<Arm> = Vec::new();
        for row in &rows {
            if !arms.iter().any(|arm| (arm.domain, &arm.mode, &arm.name) == (row.domain, &row.mode, &row.arm))
            {
                arms.extend(Arm::of(&rows, row.domain, &row.mode, &row.arm));
            }
        }
        arms.sort_by_key(|arm| {
            (arm.domain, arm.name != HOST, arm.name != TRAINED, arm.name.clone(), arm.mode.clone())
        });
        let steps = [
            steps(TAU2_STEPS_MANUAL, "default")?,
            steps(TAU2_STEPS_WORKFLOW, "default")?,
            steps(TAU2_STEPS_MANUAL, "oracle-plan")?,
        ];
        Ok(Self { domains, arms, left_out, steps, concise, guided })
    }

    /// How much of what is possible another text brings: a workflow instead of a manual, of the whole plan in the prompt.
    pub fn reach(&self) -> f64 {
        let [manual, workflow, plan] = self.steps;
        if plan > manual { ((workflow - manual) / (plan - manual)).clamp(0.0, 1.0) } else { 0.0 }
    }

    /// The host in each domain, when verifying brings a share of what training brought.
    pub fn hosts(&self, reach: f64) -> [Host; 4] {
        self.domains.each_ref().map(|domain| {
            let own = libm::exp(domain.centre);
            Host {
                own,
                styles: [own * self.concise.sqrt(), own * self.concise, own * self.guided],
                careful: 1.0,
                spread: domain.spread * (1.0 - domain.same).sqrt(),
                verify: if domain.differs {
                    reach * domain.trained.max(0.0) / (1.0 - domain.rate)
                } else {
                    0.0
                },
                ..Host::STATED
            }
        })
    }

    /// The same with other success rates, and nothing known of single tasks.
    pub fn with_rates(&self, rates: [f64; 4]) -> Self {
        let mut bench = self.clone();
        for (domain, rate) in bench.domains.iter_mut().zip(rates) {
            domain.rate = rate;
            domain.train.iter_mut().chain(&mut domain.test).for_each(|task| task.solved = None);
        }
        bench
    }

    /// Tasks to learn from and to evaluate with, after those that are set aside. More than there are come again.
    pub fn tasks(
        &self,
        domain: usize,
        world: u64,
        learning: usize,
        evaluation: usize,
    ) -> (Vec<Task>, Vec<Task>) {
        let Some(of) = self.domains.get(domain) else { return Default::default() };
        let drawn = |known: &[Known], aside: usize, name: u64| {
            let mut random = Random::new([world, domain as u64, 0x7a5c, name]);
            let mut known = known.to_vec();
            shuffle(&mut random, &mut known);
            known.into_iter().skip(aside).map(|known| of.task(known, &mut random)).collect::<Vec<Task>>()
        };
        let again = |tasks: Vec<Task>, count: usize| tasks.iter().copied().cycle().take(count).collect();
        (again(drawn(&of.train, CALIBRATION, 0), learning), again(drawn(&of.test, 0, 1), evaluation))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(arm: &str, task: usize, solved: bool, words: f64) -> Row {
        let (mode, arm, task) = ("default".into(), arm.into(), task.to_string());
        Row { domain: 2, mode, arm, task, solved, words, calls: 3.0 }
    }

    /// Forty tasks, of which the host solves every second and training adds every fourth; words differ twofold by task.
    fn rows() -> Vec<Row> {
        let words = |task: usize| 40.0 * libm::exp2((task % 3) as f64 / 2.0);
        let host = (0..40).map(|task| row(HOST, task, task % 2 == 0, words(task)));
        host.chain((0..40).map(|task| row(TRAINED, task, task % 4 != 3, words(task) / 2.0))).collect()
    }

    fn telecom() -> Domain {
        let names = |range: std::ops::Range<usize>| range.map(|task| task.to_string()).collect::<Vec<_>>();
        Domain::of(&rows(), 2, (0.5, 0.4), &(names(100..140), names(0..40))).unwrap()
    }

    #[test]
    fn a_domain_is_what_its_runs_are() {
        let domain = telecom();
        assert_eq!((domain.runs, domain.rate, domain.tasks()), (40, 0.5, (40, 40)));
        assert!(
            (domain.decided - 0.6).abs() < 1e-12 && (domain.trained - 0.25).abs() < 1e-12 && domain.differs
        );
        // The two models agree about every task, so all of the spread belongs to it.
        assert!((domain.same - 1.0).abs() < 1e-12, "{}", domain.same);
        assert!(
            Domain::of(&rows(), 1, (0.5, 0.4), &(vec![], vec![])).unwrap_err().contains("retail has no runs")
        );
    }

    #[test]
    fn tasks_succeed_and_repeat_as_in_the_log() {
        let mut random = Random::new([5, 0, 0, 0]);
        let domain = Domain { same: 0.4, ..telecom() };
        let (mut once, mut twice, mut words) = (Vec::new(), Vec::new(), Vec::new());
        for number in 0..40_000 {
            let task = domain.task(domain.test[number % 40], &mut random);
            let rate = task.decided.map_or(task.rate, |solved| f64::from(u8::from(solved)));
            once.push(rate);
            twice.push(rate * rate);
            words.push(task.words);
        }
        assert!((mean(&once) - 0.5).abs() < 0.01, "{}", mean(&once));
        assert!((mean(&twice) - 0.4).abs() < 0.01, "{}", mean(&twice));
        let spread = 0.4_f64.sqrt() * domain.spread;
        assert!(
            (deviation(&words) - spread).abs() < 0.01 && mean(&words).abs() < 0.01,
            "{}",
            deviation(&words)
        );
    }

    #[test]
    fn verifying_helps_where_training_did_and_no_task_is_learned_and_evaluated() {
        let domains = std::array::from_fn(|domain| Domain { differs: domain == 2, ..telecom() });
        let steps = [0.6, 0.7, 0.8];
        let bench = Bench { domains, arms: Vec::new(), left_out: 0, steps, concise: 0.25, guided: 2.0 };
        assert!((bench.reach() - 0.5).abs() < 1e-12);
        let hosts = bench.hosts(bench.reach());
        assert_eq!([hosts[0].verify, hosts[1].verify, hosts[3].verify], [0.0; 3]);
        // Half of a quarter, of the half that fails.
        assert!((hosts[2].verify - 0.25).abs() < 1e-12, "{}", hosts[2].verify);
        assert!((hosts[2].styles[0] / hosts[2].own - 0.5).abs() < 1e-12);
        let (learning, evaluation) = bench.tasks(2, 7, 60, 20);
        assert_eq!((learning.len(), evaluation.len()), (60, 20));
        // Thirty of the forty are left to learn from, and then they come again.
        assert!(
            learning[0].words.to_bits() == learning[30].words.to_bits()
                && learning[0].words != learning[29].words
        );
        assert!(
            bench.with_rates([0.9; 4]).domains[2]
                .test
                .iter()
                .all(|task| task.solved.is_none() && task.words.is_some())
        );
    }
}
