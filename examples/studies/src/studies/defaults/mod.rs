//! The settings that ship, from evidence: a sweep over simulated users, the tuning half of the recorded answers, and half of the
//! people who chose cameras and rated computers.
//!
//! With r = precision x noise variance and s = c x sqrt(noise variance) the posterior mean is a function of r alone, and the bonus
//! one of r and s: three settings, two numbers that matter to decisions, as long as no scale is learned. The sweep is over those
//! two; the noise variance is then what fits the rewards, because intervals and promotions depend on it.

mod lives;
mod radius;

use crate::candidate::{Candidate, OTHER_SCALE};
use crate::plot::Plot;
use crate::report::{Report, Table, with_interval};
use crate::setup::{Setup, StudyError};
use crate::statistics::{mean, mean_interval};
use crate::studies::people::panel::Rounds;
use crate::studies::people::{camera, computer};
use crate::studies::prompts::exams::{Exams, Half};
use fable_core::catalog::{AGENT, RUBRIC, TAU2};
use fable_core::{Exploration, Settings};
use lives::{HORIZONS, LENGTHS, NOISES, Scores, World};

pub const ABOUT: &str =
    "the settings that ship: a sweep over simulated users, recorded answers and people (needs data)";

const PRECISIONS: [f64; 5] = [1.0, 2.0, 4.0, 8.0, 16.0];
const CONSTANTS: [f64; 5] = [0.5, 1.0, 1.5, 2.0, 3.0];
/// Users that nothing was chosen on.
const FRESH: usize = 100_000;

fn optimistic(precision_per_feature: f64, c: f64) -> Settings<'static> {
    Candidate::optimistic("", precision_per_feature, c).settings
}

fn told(settings: &Settings<'_>) -> String {
    format!("precision {}, c = {}", settings.precision_per_feature, settings.exploration.nu(1, 1))
}

/// Runs the study.
#[expect(clippy::too_many_lines, reason = "one table after the other")]
pub fn run(setup: &Setup) -> Result<Report, StudyError> {
    // The reduced version does without data: its numbers are the same everywhere.
    let exams = if setup.reduced { None } else { Some(Exams::read(setup, Half::Tuning)?) };
    let people =
        if setup.reduced { None } else { Some((camera::splits(setup, 1)?, computer::splits(setup, 1)?)) };
    let mut worlds = vec![
        (World::Users(&AGENT), setup.scale(90, 9)),
        (World::Users(&TAU2), setup.scale(600, 12)),
        (World::Users(&RUBRIC), setup.scale(600, 12)),
    ];
    worlds.extend(exams.as_ref().map(|exams| (World::Exams(exams), 60)));
    if let Some((cameras, computers)) = &people {
        for (splits, rounds) in [(cameras, Rounds::OnePass), (computers, Rounds::Some(30))] {
            worlds.extend(splits.first().map(|split| (World::People(split, rounds), split.seen.len())));
        }
    }
    let (precisions, constants): (&[f64], &[f64]) =
        if setup.reduced { (&[2.0, 4.0], &[1.0, 1.5]) } else { (&PRECISIONS, &CONSTANTS) };
    let grid: Vec<Settings<'static>> = precisions
        .iter()
        .flat_map(|precision| constants.iter().map(|c| optimistic(*precision, *c)))
        .collect();
    let swept = worlds
        .iter()
        .map(|(world, count)| world.scores(setup, &grid, 0, *count))
        .collect::<Result<Vec<_>, _>>()?;

    let overall = |index: usize| mean(&swept.iter().map(|scores| scores[index].mean()).collect::<Vec<_>>());
    let best = (0..grid.len())
        .reduce(|best, next| if overall(next) < overall(best) { next } else { best })
        .unwrap_or(0);
    let theorem = Settings { exploration: Exploration::Theorem { delta: 0.1 }, ..Settings::PAPER };
    let compared = [
        ("today's defaults", "today", Settings::DEFAULT),
        ("best of the sweep", "best", grid[best]),
        (OTHER_SCALE.name, "scale", OTHER_SCALE.settings),
        ("no exploration", "greedy", optimistic(Settings::DEFAULT.precision_per_feature, 0.0)),
        ("the paper's draw, precision 16, nu = 0.3", "draw", Settings::PAPER),
        ("the theorem's schedule, delta = 0.1", "theorem", theorem),
    ];
    let settings = compared.map(|(.., settings)| settings);
    let fresh = worlds
        .iter()
        .map(|(world, count)| world.scores(setup, &settings, FRESH, *count))
        .collect::<Result<Vec<_>, _>>()?;

    let mut report = Report::new("the settings that ship, and what others would cost");
    let names: Vec<&str> = worlds.iter().map(|(world, _)| world.name()).collect();
    protocol(&mut report, &worlds.iter().map(|(_, count)| *count).collect::<Vec<_>>());
    report.heading("The sweep");
    let cells = precisions.iter().enumerate().map(|(row, precision)| {
        let cell = |column: usize| match row * constants.len() + column {
            index if index == best => format!("**{:.3}**", overall(index)),
            index => format!("{:.3}", overall(index)),
        };
        [precision.to_string()].into_iter().chain((0..constants.len()).map(cell)).collect::<Vec<_>>()
    });
    let columns =
        ["precision per feature".to_owned()].into_iter().chain(constants.iter().map(|c| format!("c = {c}")));
    let mut table = Table::new("sweep", &columns.collect::<Vec<_>>());
    for cells in cells {
        table.row(cells);
    }
    report.table(table);
    report.text(
        "Relative regret, the mean over worlds and horizons, at a noise variance of 0.25: 0 is the oracle, 1 is choosing anything
         that is allowed. Other settings are those that ship.",
    );
    report.table(winners(&worlds, &swept, &grid));
    report.heading("What keeping today's costs");
    report.table(comparison(&names, &worlds, &fresh, &compared.map(|(name, ..)| name)));
    report.text(
        "Relative regret on users, people or seeds that nothing was chosen on: the mean over horizons and, in brackets, at the shortest
         and at the longest. As shipped where nothing else is said.",
    );
    report.table(losses(&names, &fresh));
    report.text(&conclusion(&fresh, &settings));
    report.heading("The noise variance");
    report.table(noise(&names, &fresh));
    report.text(
        "The noise variance under which the rewards, as today's defaults foresaw them round by round, are most probable, precision
         moving with it; for the exams the variance of the rewards within an exam and a style. Simulated users have 0.04 or 0.16
         before rewards are clipped, and what the model cannot express adds to it. Rewards of +1 and -1 have up to 1.",
    );
    report.heading("The radius");
    let (table, numbers) = radius::table(setup)?;
    report.table(table);
    report.text(
        "Declared contrasts promoted per user within 300 rounds, and the share of users with a wrong one at any look, by the length of
         theta* - mu_base that the radius covers (radius = that length x sqrt(base precision)). The default covers 1. Nothing wrong was
         promoted under any radius, because the default noise variance is several times that of these users; but only a radius
         that covers the user comes with the guarantee, so the default stays. Hosts that want promotions have `Settings::PROMOTING`.",
    );
    report.plot(plot(precisions, constants, &overall));
    for (world, scores) in names.iter().zip(&swept) {
        for (settings, score) in grid.iter().zip(scores) {
            report.number(format!("{world}, {}", told(settings)), score.mean());
        }
    }
    for (world, scores) in names.iter().zip(&fresh) {
        for ((_, key, _), score) in compared.iter().zip(scores) {
            report.number(format!("{world}, fresh, {key}"), score.mean());
        }
        if let Some(noise) = scores[0].noise {
            report.number(format!("{world}, noise"), noise);
        }
    }
    report.numbers.extend(numbers);
    Ok(report)
}

fn protocol(report: &mut Report, counts: &[usize]) {
    let list = |numbers: &[f64]| numbers.iter().map(f64::to_string).collect::<Vec<_>>().join(", ");
    report.text(&format!(
        "Simulated users of the three catalogs that ship ({:?} of `agent`, `tau2`, `rubric`; theta* of length {}, in turn; rewards with
         uniform noise of half width {}, or thumbs, in turn) live {} rounds and are looked at after {:?}; the tuning half of `prompts` is
         looked at after 30, 100, 300 and 3,000 rounds, {} seeds; half of the people who chose cameras after 5, 10 and 16 tasks, half of
         those who rated computers after 5, 10 and 30 rounds (see `people`). Onboarding and promotion are off. Regret is against the best allowed
         action, divided by the regret of choosing uniformly; worlds and horizons count alike.",
        counts.iter().take(3).collect::<Vec<_>>(),
        list(&LENGTHS),
        list(&NOISES),
        HORIZONS[HORIZONS.len() - 1],
        HORIZONS,
        counts.get(3).copied().unwrap_or(0),
    ));
    report.text(
        "With r = precision x noise variance and s = c x sqrt(noise variance), the posterior mean depends on r alone and the bonus on r and
         s: of precision, noise variance and c only two numbers matter to what is decided as long as no scale is learned. So the sweep is
         over two, and the noise variance is what fits the rewards.",
    );
}

/// The best of the grid in each world and at its shortest and longest horizon.
fn winners(worlds: &[(World<'_>, usize)], swept: &[Vec<Scores>], grid: &[Settings<'_>]) -> Table {
    let mut table = Table::new(
        "winners",
        &["world", "best over horizons", "best at the shortest", "best at the longest"],
    );
    for ((world, _), scores) in worlds.iter().zip(swept) {
        let best = |of: &dyn Fn(&Scores) -> f64| {
            let least = (0..grid.len())
                .reduce(|best, next| if of(&scores[next]) < of(&scores[best]) { next } else { best });
            least.map_or(String::new(), |index| format!("{}: {:.3}", told(&grid[index]), of(&scores[index])))
        };
        let last = world.horizons().len() - 1;
        table.row([
            world.name().to_owned(),
            best(&Scores::mean),
            format!("{} rounds: {}", world.horizons()[0], best(&|score| score.relative[0])),
            format!("{} rounds: {}", world.horizons()[last], best(&|score| score.relative[last])),
        ]);
    }
    table
}

fn comparison(
    names: &[&str],
    worlds: &[(World<'_>, usize)],
    fresh: &[Vec<Scores>],
    settings: &[&str],
) -> Table {
    let columns = ["settings".to_owned()]
        .into_iter()
        .chain(names.iter().map(|name| (*name).to_owned()))
        .chain(["all".to_owned()]);
    let mut table = Table::new("comparison", &columns.collect::<Vec<_>>());
    for (index, name) in settings.iter().enumerate() {
        let cell = |((world, _), scores): (&(World<'_>, usize), &Vec<Scores>)| {
            let (score, last) = (&scores[index], world.horizons().len() - 1);
            format!("{:.3} ({:.2} to {:.2})", score.mean(), score.relative[0], score.relative[last])
        };
        let all = mean(&fresh.iter().map(|scores| scores[index].mean()).collect::<Vec<_>>());
        let cells = worlds.iter().zip(fresh).map(cell);
        table.row([(*name).to_owned()].into_iter().chain(cells).chain([format!("{all:.3}")]));
    }
    table
}

/// Today's defaults, the first, against the best of the sweep, the second, life by life.
fn losses(names: &[&str], fresh: &[Vec<Scores>]) -> Table {
    let mut table = Table::new(
        "loss",
        &["world", "reward per round lost by today's defaults against the best of the sweep"],
    );
    for (name, scores) in names.iter().zip(fresh) {
        let difference: Vec<f64> =
            scores[0].lives.iter().zip(&scores[1].lives).map(|(today, best)| today - best).collect();
        table.row([(*name).to_owned(), with_interval(mean(&difference), mean_interval(&difference))]);
    }
    table
}

fn conclusion(fresh: &[Vec<Scores>], settings: &[Settings<'_>]) -> String {
    let all = |index: usize| mean(&fresh.iter().map(|scores| scores[index].mean()).collect::<Vec<_>>());
    let (today, best, draw, theorem) = (all(0), all(1), all(4), all(5));
    let verdict = if today - best < 0.01 { "no reason to change them" } else { "a reason to change them" };
    format!(
        "The best of the sweep has {} (today {}). On fresh users and people it has a relative regret of {best:.3} against {today:.3} of
         today's defaults: {verdict}. What wins in one world or at one horizon loses in another. The paper's draw has {draw:.3}, the
         theorem's schedule {theorem:.3}: nu starts at {:.0} for d = 254 and grows, so it is close to choosing anything for as long as
         people live.",
        told(&settings[1]),
        told(&settings[0]),
        settings[5].exploration.nu(1, 254),
    )
}

fn noise(names: &[&str], fresh: &[Vec<Scores>]) -> Table {
    let mut table = Table::new("noise", &["world", "noise variance that fits"]);
    for (name, scores) in names.iter().zip(fresh) {
        if let Some(noise) = scores[0].noise {
            table.row([(*name).to_owned(), format!("{noise:.3}")]);
        }
    }
    table
}

fn plot(precisions: &[f64], constants: &[f64], overall: &impl Fn(usize) -> f64) -> Plot {
    let mut plot =
        Plot::new("sweep", "Relative regret by optimism", "c (noise variance 0.25)", "relative regret");
    for (row, precision) in precisions.iter().enumerate() {
        let point = |(column, c): (usize, &f64)| (*c, overall(row * constants.len() + column));
        plot.curve(&format!("precision {precision}"), constants.iter().enumerate().map(point).collect());
    }
    plot
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only precision x noise variance and c x sqrt(noise variance) matter as long as no scale is learned: the sweep is over two
    /// numbers for three.
    #[test]
    fn two_numbers_decide() {
        let at = |noise_variance: f64, precision: f64, c: f64| Settings {
            noise_variance,
            scale: fable_core::settings::Scale::Fixed,
            ..optimistic(precision, c)
        };
        let settings = [
            at(0.25, 4.0, 1.5),
            at(1.0, 1.0, 0.75),
            at(0.0625, 16.0, 3.0),
            at(0.25, 4.0, 3.0),
            at(0.25, 1.0, 1.5),
        ];
        let scores = World::Users(&TAU2).scores(&Setup::for_tests(), &settings, 0, 6).unwrap();
        for same in &scores[1..3] {
            for (one, other) in scores[0].lives.iter().zip(&same.lives) {
                assert!((one - other).abs() < 1e-9, "{one} {other}");
            }
            assert!((scores[0].noise.unwrap() - same.noise.unwrap()).abs() < 1e-9);
        }
        for other in &scores[3..] {
            assert_ne!(scores[0].lives, other.lives);
        }
    }
}
