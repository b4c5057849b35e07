//! What came of it, beside the paper's numbers.

use super::{Defaults, Outcome, ROWS, Rubric};
use crate::policies::{FLAT, FROZEN, NO_ONBOARDING, NO_PROMOTION, RULE_ONLY};
use crate::report::{Report, Table, plus_minus, with_interval};
use crate::statistics::{deviation, mean, mean_interval};

fn column(outcomes: &[Outcome], part: usize) -> Vec<f64> {
    outcomes.iter().map(|outcome| outcome.means[part]).collect()
}

impl Rubric {
    pub(super) fn report(&self, rows: &[Vec<Outcome>], defaults: &[Defaults]) -> Report {
        let mut report = Report::new("personalized reasoning on Math500, a real model and judge");
        report.text(&format!(
            "As in the paper: 27 actions (rigor, steps and examples at level 1, 3 or 5), d = 9, {} learning and {} other held-out
             problems of MATH-500, {} seeds, y = clip(Acc + Align - 1 - cost), no draw and no learning on held-out problems, answers of
             at most 2500 tokens, base precision 1, noise variance 0.25, onboarding precision 1, cost weight 1, alpha 0.05, minimum 5,
             radius 1. The judge sees the problem, the reference answer, the solution and the user's rubric, not the action. Default
             scores were asked of the model once for each problem and action.",
            self.learning.len(),
            self.held_out.len(),
            self.seeds
        ));
        report.text(
            "The paper prints neither its synthetic user nor its rubric, its prompts, its scale of the draw or how problems are shared
             by seeds. Ours: a reader who wants rigor (weight 0.5), steps (0.3) and examples (0.2) and says so at the start, nu = 1,
             and the same problems for every seed, which has its own order and draws. Methods that
             cannot learn skip the learning problems, which would change nothing about them.",
        );
        let mut table = Table::new(
            "rows",
            &[
                "method",
                "accuracy, paper",
                "here",
                "alignment, paper",
                "here",
                "reward, paper",
                "here",
                "cost here",
                "promoted",
                "not judged",
            ],
        );
        for ((method, paper), outcomes) in ROWS.iter().zip(rows) {
            let mut cells = vec![method.name.to_owned()];
            for (part, (name, (theirs, spread))) in
                ["accuracy", "alignment", "reward"].into_iter().zip(paper).enumerate()
            {
                let here = column(outcomes, part);
                cells.extend([plus_minus(*theirs, *spread), plus_minus(mean(&here), deviation(&here))]);
                report.number(format!("{}: {name}", method.name), mean(&here));
            }
            cells.push(format!("{:.3}", mean(&column(outcomes, 3))));
            cells.push(outcomes.iter().map(|outcome| outcome.promoted).sum::<usize>().to_string());
            cells.push(outcomes.iter().map(|outcome| outcome.unjudged).sum::<usize>().to_string());
            table.row(cells);
        }
        report.table(table);
        report.text(
            "Means over the held-out problems, ± the deviation over seeds. The rows without an action cost and the row without costs are
             not comparable in reward with the others. A solution that the judge gave no usable scores is in no mean and is not learned from.",
        );
        let mut contrasts = Table::new(
            "contrasts",
            &["full minus", "paper, reward", "here, reward (95% interval over seeds)"],
        );
        let full = column(rows.last().map_or(&[], Vec::as_slice), 2);
        for ((method, paper), outcomes) in ROWS.iter().zip(rows) {
            if [RULE_ONLY, FLAT, FROZEN, NO_ONBOARDING, NO_PROMOTION].contains(method) {
                let gain: Vec<f64> =
                    full.iter().zip(column(outcomes, 2)).map(|(full, other)| full - other).collect();
                let here = with_interval(mean(&gain), mean_interval(&gain));
                contrasts.row([method.name.to_owned(), format!("{:+.3}", 0.366 - paper[2].0), here]);
            }
        }
        report.table(contrasts);
        let unusable: usize = defaults.iter().map(|(_, unusable)| unusable).sum();
        let all: Vec<f64> = defaults.iter().flat_map(|(scores, _)| scores.iter().copied()).collect();
        report.text(&format!(
            "Default scores: mean {:.3}, deviation {:.3}, {unusable} of {} not usable and taken as 0.",
            mean(&all),
            deviation(&all),
            all.len()
        ));
        report.number("defaults", mean(&all));
        report
    }
}
