//! Ten exams, four prompt styles, what gpt-35-turbo answered in ten attempts at each problem, and what the answers cost.

use crate::data::CONCISE_COT;
use crate::setup::{Setup, StudyError};
use fable_core::catalog::{Block, Catalog, Component, Definition, Value};
use fable_core::{Action, Context};
use fable_simulate::Random;

/// The exams, as the file names them. `comprehensive-100` draws on the others and is left out.
const NAMES: [&str; EXAMS] = [
    "aqua-rat-100",
    "arc-challenge-test-100",
    "hellaswag_val-100",
    "logiqa-en-100",
    "lsat-ar-100",
    "lsat-lr-100",
    "lsat-rc-100",
    "medmcqa-dev-100",
    "sat-en-100",
    "sat-math-100",
];
/// How many exams there are.
pub const EXAMS: usize = 10;
/// How many prompt styles there are.
pub const STYLES: usize = 4;
/// The prompt styles, as the file names them and in the order of the catalog.
const STYLE_NAMES: [&str; STYLES] = ["baseline", "concise", "chain_of_thought", "composite"];
/// Recorded attempts at a problem under a style.
const ATTEMPTS: usize = 10;
/// A thousand tokens cost as much as getting a tenth of the answers wrong; rewards go from -1 to 1.
const TOKENS: f64 = 5000.0;

/// The styles with their known costs: what such answers usually take.
const STYLE: Component<'static> = Component::new(
    "style",
    &[
        Value::new("baseline", "Answer with the letter alone.", 10.0 / TOKENS),
        Value::new("concise", "Think step by step and be concise.", 90.0 / TOKENS),
        Value::new("chain_of_thought", "Think step by step.", 165.0 / TOKENS),
        Value::new("composite", "Think step by step, with a plan, criticism and a summary.", 280.0 / TOKENS),
    ],
);

const fn definition(blocks: &'static [Block]) -> Definition<'static> {
    Definition { name: "prompts", components: &[STYLE], tasks: &NAMES, blocks, ..Definition::EMPTY }
}

/// What is liked in general and in each exam.
pub const PROMPTS: Catalog<'static> = Catalog::new(definition(&[Block::main(0), Block::main(0).per_task()]));
/// The exams apart from each other.
pub const APART: Catalog<'static> = Catalog::new(definition(&[Block::complete().per_task()]));
/// All exams alike.
pub const ALIKE: Catalog<'static> = Catalog::new(definition(&[Block::main(0)]));

/// A problem: which attempts were right under each style, and tokens per attempt.
#[derive(Clone, Default)]
struct Problem {
    right: [[bool; ATTEMPTS]; STYLES],
    tokens: [f64; STYLES],
}

impl Problem {
    fn reward(&self, style: usize, attempt: usize) -> f64 {
        let right =
            self.right.get(style).and_then(|attempts| attempts.get(attempt)).copied().unwrap_or_default();
        let tokens = self.tokens.get(style).copied().unwrap_or_default();
        (if right { 1.0 } else { -1.0 } - tokens / TOKENS).clamp(-1.0, 1.0)
    }
}

/// Which problems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// Those with odd numbers, for choosing settings.
    Tuning,
    /// Those with even numbers, for reporting.
    Reporting,
}

/// The problems of one half as a world to learn in.
pub struct Exams {
    problems: [Vec<Problem>; EXAMS],
    /// The mean reward of each style in each exam.
    values: [[f64; STYLES]; EXAMS],
}

/// What is asked in a round: a problem of an exam, and which of the recorded attempts the answer will be.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// Position of the exam.
    pub exam: usize,
    problem: usize,
    attempt: usize,
}

impl Exams {
    /// Reads one half.
    ///
    /// # Errors
    /// The file is missing or is not what it should be.
    pub fn read(setup: &Setup, half: Half) -> Result<Self, StudyError> {
        Self::parse(&CONCISE_COT.read(setup)?, half).map_err(|reason| CONCISE_COT.bad(setup, reason))
    }

    fn parse(text: &str, half: Half) -> Result<Self, String> {
        let mut found: [Vec<(Problem, u8)>; EXAMS] =
            std::array::from_fn(|_| vec![(Problem::default(), 0); 50]);
        for (number, line) in text.lines().enumerate().skip(1) {
            let fields: Vec<&str> = line.split(',').collect();
            let wrong = |what: &str| format!("line {}: {what}", number + 1);
            let [exam, _, id, _, _, model, style, bits, attempts, _, _, _, output] = fields[..] else {
                return Err(wrong("there must be 13 fields"));
            };
            let Some(exam) = NAMES.iter().position(|name| *name == exam).filter(|_| model == "gpt-35-turbo")
            else {
                continue;
            };
            let style = STYLE_NAMES
                .iter()
                .position(|name| *name == style)
                .ok_or_else(|| wrong("an unknown prompt"))?;
            let id: usize = id.parse().map_err(|_| wrong("the problem is no number"))?;
            if (id % 2 == 1) != (half == Half::Tuning) {
                continue;
            }
            let output: f64 = output.parse().map_err(|_| wrong("the tokens are no number"))?;
            if bits.len() != ATTEMPTS || attempts != "10" {
                return Err(wrong("there must be 10 attempts"));
            }
            let slot = found.get_mut(exam).and_then(|problems| problems.get_mut((id.max(1) - 1) / 2));
            let (problem, seen) = slot.ok_or_else(|| wrong("problems go from 1 to 100"))?;
            for (slot, bit) in problem.right[style].iter_mut().zip(bits.bytes()) {
                *slot = bit == b'1';
            }
            problem.tokens[style] = output / ATTEMPTS as f64;
            *seen |= 1 << style;
        }
        if found.iter().flatten().any(|(_, seen)| *seen != 0b1111) {
            return Err("an exam lacks a problem or a prompt".into());
        }
        Ok(Self::new(found.map(|problems| problems.into_iter().map(|(problem, _)| problem).collect())))
    }

    fn new(problems: [Vec<Problem>; EXAMS]) -> Self {
        let values = std::array::from_fn(|exam: usize| {
            std::array::from_fn(|style: usize| {
                let of = |problem: &Problem| {
                    (0..ATTEMPTS).map(|attempt| problem.reward(style, attempt)).sum::<f64>()
                };
                problems[exam].iter().map(of).sum::<f64>() / (problems[exam].len() * ATTEMPTS) as f64
            })
        });
        Self { problems, values }
    }

    /// What is asked in a round: any exam, any of its problems, any attempt.
    #[must_use]
    pub fn ask(&self, seed: u64, round: u32) -> Asked {
        let mut random = Random::new([seed, 0, 0xe8a2, u64::from(round)]);
        let exam = random.below(EXAMS);
        self.ask_in(exam, &mut random)
    }

    /// A problem of a given exam.
    #[must_use]
    pub fn ask_in(&self, exam: usize, random: &mut Random) -> Asked {
        Asked { exam, problem: random.below(self.problems[exam].len()), attempt: random.below(ATTEMPTS) }
    }

    /// The context of an exam.
    ///
    /// # Errors
    /// No such exam.
    pub fn context(exam: usize) -> Result<Context, StudyError> {
        Ok(Context::new(&PROMPTS, Some(exam), &[])?)
    }

    /// The reward of the recorded attempt under a style.
    #[must_use]
    pub fn reward(&self, asked: Asked, style: Action) -> f64 {
        self.problems[asked.exam][asked.problem].reward(style.index(), asked.attempt)
    }

    /// The mean reward of a style in an exam.
    #[must_use]
    pub fn value(&self, exam: usize, style: Action) -> f64 {
        self.values[exam].get(style.index()).copied().unwrap_or_default()
    }

    /// The variance of a reward in an exam, the mean over styles.
    #[must_use]
    pub fn variance(&self, exam: usize) -> f64 {
        let of_style = |style: usize| {
            let rewards = self.problems[exam]
                .iter()
                .flat_map(|problem| (0..ATTEMPTS).map(move |at| problem.reward(style, at)));
            let square =
                |reward: f64| (reward - self.values[exam][style]) * (reward - self.values[exam][style]);
            rewards.map(square).sum::<f64>() / (self.problems[exam].len() * ATTEMPTS) as f64
        };
        (0..STYLES).map(of_style).sum::<f64>() / STYLES as f64
    }

    /// The mean over exams of the reward of one style.
    #[must_use]
    pub fn fixed(&self, style: Action) -> f64 {
        (0..EXAMS).map(|exam| self.value(exam, style)).sum::<f64>() / EXAMS as f64
    }

    /// The best style for all exams, and its mean reward.
    #[must_use]
    pub fn best_fixed(&self) -> (Action, f64) {
        Self::best(|style| self.fixed(style))
    }

    /// The best style in an exam, and its mean reward.
    #[must_use]
    pub fn best_in(&self, exam: usize) -> (Action, f64) {
        Self::best(|style| self.value(exam, style))
    }

    /// The mean reward of the best style in each exam.
    #[must_use]
    pub fn best_per_exam(&self) -> f64 {
        (0..EXAMS).map(|exam| self.best_in(exam).1).sum::<f64>() / EXAMS as f64
    }

    fn best(value: impl Fn(Action) -> f64) -> (Action, f64) {
        let styles = (0..STYLES as u16).map(|style| (Action(style), value(Action(style))));
        styles.reduce(|best, next| if next.1 > best.1 { next } else { best }).unwrap_or_default()
    }

    /// The name of an exam.
    #[must_use]
    pub fn name(exam: usize) -> &'static str {
        NAMES.get(exam).copied().unwrap_or_default().trim_end_matches("-100")
    }

    /// The name of a style.
    #[must_use]
    pub fn style_name(style: Action) -> &'static str {
        STYLE_NAMES.get(style.index()).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write;

    /// A made-up file: style s is right in the first 2 s attempts at every problem, at 100 s tokens for ten attempts; odd
    /// problems are never solved by `composite`.
    fn file() -> String {
        let mut text = String::from("head\n");
        for exam in NAMES {
            for id in 1..=100 {
                for (style, name) in STYLE_NAMES.iter().enumerate() {
                    let right = if id % 2 == 1 && style == 3 { 0 } else { 2 * style };
                    let bits = "1".repeat(right) + &"0".repeat(10 - right);
                    let tokens = 100 * style;
                    let _ = writeln!(
                        text,
                        "{exam},Topic,{id},s,1,gpt-35-turbo,{name},{bits},10,{right},0,500,{tokens}"
                    );
                    let _ = writeln!(text, "{exam},Topic,{id},s,1,gpt-4,{name},1111111111,10,10,1,500,0");
                }
            }
        }
        text
    }

    #[test]
    fn halves_values_and_the_two_bests() {
        let (tuning, reporting) =
            (Exams::parse(&file(), Half::Tuning).unwrap(), Exams::parse(&file(), Half::Reporting).unwrap());
        // 2 (0.2 s) - 1 - 10 s / 5000, never below -1.
        assert!(
            (reporting.value(4, Action(2)) - (-0.2 - 0.004 * 0.4)).abs() < 1e-12,
            "{}",
            reporting.value(4, Action(2))
        );
        assert_eq!(reporting.best_fixed().0, Action(3));
        assert_eq!(tuning.best_fixed().0, Action(2));
        assert!((reporting.best_per_exam() - reporting.best_fixed().1).abs() < 1e-12);
        let asked = tuning.ask(1, 1);
        assert_eq!(tuning.reward(asked, Action(3)), -1.0);
        assert_eq!((PROMPTS.dimension(), APART.dimension(), ALIKE.dimension()), (44, 40, 4));
    }

    #[test]
    fn a_bad_file_is_told_by_its_line() {
        for (good, bad, reason) in [
            ("gpt-35-turbo,concise", "gpt-35-turbo,verbose", "an unknown prompt"),
            (",1111111111,10", ",1,10", "13"),
            ("aqua-rat-100,Topic,7,", "aqua-rat-100,Topic,x,", "the problem is no number"),
        ] {
            let text = if reason == "13" {
                file().replace("Topic,9,", "Topic,")
            } else {
                file().replacen(good, bad, 1)
            };
            let error = Exams::parse(&text, Half::Tuning).err().unwrap_or_default();
            assert!(error.contains(reason) && error.starts_with("line "), "{error}");
        }
        assert!(Exams::parse("head\n", Half::Tuning).is_err());
    }
}
