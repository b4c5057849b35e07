//! A smaller dictionary against the full one, by horizon: where the curves cross, and where they were predicted to.

use super::user::{Linear, checkpoints, plain, regrets};
use crate::parallel;
use crate::plot::Plot;
use crate::policies::{Agent, PER_USER};
use crate::report::{Report, Table, with_interval};
use crate::setup::{Setup, StudyError};
use crate::statistics::{mean, mean_interval};
use fable_core::analysis::budget::{Rate, bias};
use fable_core::analysis::{Program, Prototype, reduce, spca};
use fable_core::catalog::CoordinateSet;
use fable_core::catalog::{BlockSet, TAU2};
use fable_core::posterior::Posterior;
use fable_core::{Feasible, Policy, Settings};
use nalgebra::DMatrix;

/// Coordinates of the smaller dictionary.
const BUDGET: usize = 8;

/// The blocks that FABLE-SPCA chooses for this budget before anything is said, and the error of leaving the others out.
fn choose(user: &Linear<'_>) -> Result<(BlockSet, f64), StudyError> {
    let policy = Policy::<f64>::new(&TAU2, plain(Settings::PAPER))?;
    let d = TAU2.dimension();
    let mut posterior = Posterior::<f64, _>::from_storage(vec![0.0; TAU2.layout().packed_len()]);
    posterior.start(TAU2.layout(), policy.prior(), policy.base_precision())?;
    let mut workspace = vec![0.0; TAU2.workspace_len()];
    let request = Prototype { context: *user.context(), weight: 1.0, feasible: Feasible::all(&TAU2) };
    let (mut relevance, mut moment, mut mean) = (DMatrix::zeros(d, d), DMatrix::zeros(d, d), vec![0.0; d]);
    spca::feature_covariance_into(&policy, &[request], 0.0, &mut relevance)?;
    spca::second_moment_into(&posterior, &mut workspace, &mut mean, &mut moment)?;
    spca::weigh(&mut relevance, &moment)?;
    let blocks = TAU2.definition().blocks.len();
    let mut reduced = vec![0.0; blocks * blocks];
    reduce(&TAU2, &relevance, &mut reduced)?;
    let program = Program::of(&TAU2, &reduced)?.main_effects_first(&TAU2)?;
    let chosen = program.solve(BUDGET, &mut vec![0; program.scratch_len()])?;
    let error = spca::omitted_error(&relevance, &CoordinateSet::of_blocks(&TAU2, chosen.retained))?;
    Ok((chosen.retained, error))
}

/// Regret of both at the checkpoints, for users from a number on.
type Lives = Vec<[Vec<f64>; 2]>;

fn lives(
    setup: &Setup,
    label: &str,
    settings: &[Settings<'static>; 2],
    rounds: &[u32],
    first: u64,
    users: usize,
) -> Result<Lives, StudyError> {
    let policies = [Policy::new(&TAU2, settings[0])?, Policy::new(&TAU2, settings[1])?];
    parallel::map(setup, label, users, |user| {
        let number = first + user as u64;
        let user = Linear::simulated(&TAU2, number)?;
        let life = |policy| regrets(&user, &mut Agent::new(policy, PER_USER, number)?, rounds);
        Ok([life(&policies[0])?, life(&policies[1])?])
    })
}

fn curve(lives: &Lives, which: usize, rounds: &[u32]) -> Vec<(f64, f64)> {
    let at = |place: usize| {
        mean(&lives.iter().filter_map(|life| life.get(which)?.get(place)).copied().collect::<Vec<_>>())
    };
    rounds.iter().enumerate().map(|(place, round)| (f64::from(*round), at(place))).collect()
}

/// Least squares of R = b n + C g sqrt(n) with g given: (b, C); without bias b is 0.
fn constants(points: &[(f64, f64)], g: f64, biased: bool) -> (f64, f64) {
    // Relative errors: each point is divided by sqrt(n), so that the last ones do not decide alone.
    let rows: Vec<(f64, f64, f64)> =
        points.iter().map(|(n, regret)| (libm::sqrt(*n), g, regret / libm::sqrt(*n))).collect();
    let sum = |of: fn(&(f64, f64, f64)) -> f64| rows.iter().map(of).sum::<f64>();
    let (xx, xg, gg) = (sum(|row| row.0 * row.0), sum(|row| row.0 * row.1), sum(|row| row.1 * row.1));
    let (xy, gy) = (sum(|row| row.0 * row.2), sum(|row| row.1 * row.2));
    let determinant = xx * gg - xg * xg;
    if !biased || determinant <= 0.0 {
        return (0.0, gy / gg);
    }
    ((gg * xy - xg * gy) / determinant, (xx * gy - xg * xy) / determinant)
}

/// The first round at which the second curve is below the first, between checkpoints on the logarithm of n.
fn crossing(small: &[(f64, f64)], full: &[(f64, f64)]) -> Option<f64> {
    let gaps: Vec<(f64, f64)> =
        small.iter().zip(full).map(|(small, full)| (libm::log(small.0), small.1 - full.1)).collect();
    // The last time the small dictionary is ahead: the first rounds are chance.
    let last = gaps.iter().rposition(|(_, gap)| *gap <= 0.0)?;
    let (before, after) = (gaps.get(last)?, gaps.get(last + 1)?);
    Some(libm::exp(before.0 + (after.0 - before.0) * before.1 / (before.1 - after.1)))
}

pub fn study(setup: &Setup, report: &mut Report) -> Result<(), StudyError> {
    let (users, horizon) = (setup.scale(500, 4), setup.scale(10_000, 300) as u32);
    let rounds = checkpoints(horizon);
    let (retained, error) = choose(&Linear::simulated(&TAU2, 0)?)?;
    let full = plain(Settings::PAPER);
    let settings = [Settings { retained, ..full }, full];
    let (k, d) = (Policy::<f64>::new(&TAU2, settings[0])?.active_dimension(), TAU2.dimension());
    let other = lives(setup, "horizon: other users", &settings, &rounds, 1 << 20, users)?;
    let fresh = lives(setup, "horizon: users", &settings, &rounds, 0, users)?;

    let rate = Rate::Thompson;
    let (b, small_c) = constants(&curve(&other, 0, &rounds), rate.of(k), true);
    let (_, full_c) = constants(&curve(&other, 1, &rounds), rate.of(d), false);
    // One constant for both, as in the paper, and one for each.
    let predicted = if b > 0.0 { rate.crossover(full_c, k, d, b) } else { f64::INFINITY };
    let own = if b > 0.0 {
        libm::pow((full_c * rate.of(d) - small_c * rate.of(k)) / b, 2.0)
    } else {
        f64::INFINITY
    };
    let printed = rate.crossover(full_c, k, d, bias(1.0, error));
    let (small, whole) = (curve(&fresh, 0, &rounds), curve(&fresh, 1, &rounds));
    let observed = crossing(&small, &whole);

    report.heading("A smaller dictionary");
    report.text(&format!(
        "FABLE-SPCA with a budget of {BUDGET} coordinates, nothing said: it keeps the main effects, {k} of the {d} coordinates of `tau2`.
         {users} users with the simulator's tastes, `Settings::PAPER` without costs, {horizon} rounds. The constants are fitted on {users} other
         users: R = b n + C g(k) sqrt(n) for the small dictionary and R = C g({d}) sqrt(n) for the full one, with g(k) = k^1.5. The
         prediction is `Rate::crossover`: until then the small dictionary is the better choice."
    ));
    let round = |value: f64| if value.is_finite() { format!("{value:.0}") } else { "never".into() };
    let mut table = Table::new("crossover", &["", "round"]);
    table.row(["observed".to_owned(), observed.map_or_else(|| "not within the horizon".into(), round)]);
    table.row([format!("predicted, one constant (C = {full_c:.4}, b = {b:.4})"), round(predicted)]);
    table.row([format!("predicted, a constant for each (C = {small_c:.4} for the small one)"), round(own)]);
    table.row([
        format!("predicted with the printed bias 2 sqrt(E) = {:.3}", bias(1.0, error)),
        round(printed),
    ]);
    report.table(table);
    let mut table = Table::new("horizon", &["rounds", "small", "full", "small less full"]);
    for (place, at) in rounds.iter().enumerate().filter(|(_, round)| **round >= 10).step_by(4) {
        let differences: Vec<f64> =
            fresh.iter().filter_map(|[small, full]| Some(small.get(place)? - full.get(place)?)).collect();
        let of = |curve: &[(f64, f64)]| {
            curve.get(place).map_or_else(String::new, |(_, regret)| format!("{regret:.2}"))
        };
        table.row([
            at.to_string(),
            of(&small),
            of(&whole),
            with_interval(mean(&differences), mean_interval(&differences)),
        ]);
    }
    report.table(table);
    let mut plot =
        Plot::new("horizon", "Cumulative regret of a small and the full dictionary", "round", "regret")
            .log_x()
            .log_y();
    let fitted = |b: f64, c: f64| {
        rounds.iter().map(|n| f64::from(*n)).map(|n| (n, b * n + c * libm::sqrt(n))).collect::<Vec<_>>()
    };
    plot.curve(&format!("{k} coordinates"), small);
    plot.curve(&format!("{d} coordinates"), whole);
    plot.dashed(&format!("fitted on others, {k}"), fitted(b, small_c * rate.of(k)));
    plot.dashed(&format!("fitted on others, {d}"), fitted(0.0, full_c * rate.of(d)));
    report.plot(plot);
    report.text(
        "The crossing is hardly determined, and the prediction is off by a factor of several: users differ far more than the two
         dictionaries do (from round 100 on the difference could be chance), regret at nu = 0.3 does not grow like sqrt(n), so
         that one constant does not fit both, and the printed bias is for the worst user that the prior allows. What can be
         said is that for a hundred rounds the small dictionary is no worse.",
    );
    for (name, value) in [
        ("observed", observed.unwrap_or(f64::INFINITY)),
        ("predicted", predicted),
        ("bias", b),
        ("constant", full_c),
    ] {
        report.number(format!("horizon.{name}"), value);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_and_crossings_are_found_again() {
        let curve = |b: f64, c: f64| {
            (1..200)
                .map(|n| (f64::from(n), b * f64::from(n) + 3.0 * c * f64::from(n).sqrt()))
                .collect::<Vec<_>>()
        };
        let (b, c) = constants(&curve(0.1, 0.5), 3.0, true);
        assert!((b - 0.1).abs() < 1e-10 && (c - 0.5).abs() < 1e-10);
        assert!((constants(&curve(0.0, 0.7), 3.0, false).1 - 0.7).abs() < 1e-12);
        // 0.1 n = 0.6 sqrt(n) at 36.
        let at = crossing(&curve(0.1, 0.5), &curve(0.0, 0.7)).unwrap();
        assert!((at - 36.0).abs() < 0.1, "{at}");
        assert_eq!(crossing(&curve(0.0, 0.5), &curve(0.0, 0.7)), None);
    }
}
