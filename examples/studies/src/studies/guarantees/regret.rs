//! Cumulative regret against n: the theorem's schedule, the defaults, and the theorem's bound with all of its constants.

use super::user::{DELTA, Linear, THEOREM, checkpoints, plain, regrets};
use crate::parallel;
use crate::plot::Plot;
use crate::policies::{Agent, PER_USER, flat};
use crate::report::{Report, Table};
use crate::setup::{Setup, StudyError};
use crate::statistics::{mean, mean_interval, quantile, regression};
use fable_core::catalog::{RUBRIC, TAU2};
use fable_core::{Catalog, Policy, Settings};

/// From this round on the exponent is fitted.
const FROM: u32 = 100;

/// R_n <= this with probability 1 - delta, in the proof's own terms; L is the largest length of a feature vector.
pub fn bound(n: f64, d: f64, length: f64, radius: f64) -> f64 {
    let ell = |t: f64| radius + libm::sqrt(d * libm::log(1.0 + (t - 1.0) * length * length / d) + 2.0 * libm::log(3.0 / DELTA));
    let nu = |t: f64| libm::sqrt(9.0 * d * libm::log(t / DELTA));
    // The ratio is largest at the first round or where the logarithms have settled.
    let kappa = (0..60).map(|step| libm::pow(10.0, f64::from(step) / 10.0)).map(|t| ell(t) / nu(t)).fold(0.0, f64::max);
    let p0 = 0.5 * libm::erfc(kappa * core::f64::consts::FRAC_1_SQRT_2);
    let t0 = libm::ceil(libm::sqrt(2.0 / p0));
    let gamma = ell(n) + (libm::sqrt(d) + libm::sqrt(4.0 * libm::log(n + 1.0))) * nu(n);
    let potential = libm::sqrt(n * (1.0 + length * length) * d * libm::log(1.0 + n * length * length / d));
    let martingale = libm::sqrt(2.0 * n * libm::log(3.0 / DELTA));
    2.0 * t0 + (1.0 + 4.0 / p0) * gamma * (potential + length * martingale) + 2.0 * 0.65 + 2.0 * martingale
}

/// The first power of 2^(1/4) from which the bound is below 2n, the most that any regret can be.
fn meaningful(d: f64, length: f64, radius: f64) -> f64 {
    let powers = (4..400).map(|step| libm::pow(2.0, f64::from(step) / 4.0));
    powers.into_iter().find(|n| bound(*n, d, length, radius) < 2.0 * n).unwrap_or(f64::INFINITY)
}

/// The largest |phi|.
fn length(catalog: &Catalog<'_>, user: &Linear<'_>) -> f64 {
    let square = |action| catalog.features(user.context(), action).map(|(_, value)| f64::from(value * value)).sum::<f64>();
    catalog.all_actions().iter().map(square).fold(0.0, f64::max).sqrt()
}

/// The exponents of each life: ln R against ln n from [`FROM`] on.
fn exponents(lives: &[Vec<f64>], rounds: &[u32]) -> Vec<f64> {
    let fit = |life: &Vec<f64>| {
        let points = rounds.iter().zip(life).filter(|(round, regret)| **round >= FROM && **regret > 0.0);
        let points: Vec<(f64, f64)> = points.map(|(round, regret)| (libm::log(f64::from(*round)), libm::log(*regret))).collect();
        regression(&points).map(|line| line.slope)
    };
    lives.iter().filter_map(fit).collect()
}

pub fn study(setup: &Setup, report: &mut Report) -> Result<(), StudyError> {
    let (seeds, horizon) = (setup.scale(60, 4), setup.scale(10_000, 300) as u32);
    let rounds = checkpoints(horizon);
    let flat = flat(&TAU2)?;
    let catalogs: [(&str, &Catalog<'_>); 3] = [("rubric", &RUBRIC), ("tau2, flat", &flat), ("tau2", &TAU2)];
    report.heading("Regret");
    report.text(&format!(
        "{seeds} users for each dictionary, {horizon} rounds: mean rewards are linear and within [-1/2, 1/2], the noise is a fair coin of
         1/2, there are no default scores and costs. _Theorem_ is its schedule with delta = {DELTA}, unit noise variance and unit
         precision; _defaults_ are the defaults. The exponent is that of n in the regret from round {FROM} on, fitted for each user,
         with a 95% interval of the mean; the theorem has 1/2, and 1 is learning nothing. The bound is the proof's, with all of its
         constants, for the longest theta* of the users; above 2n it says nothing, since no regret can be larger."
    ));
    let heads = ["dictionary", "d", "schedule", "regret at the end", "median", "exponent", "bound", "which is", "below 2n from"];
    let mut table = Table::new("regret", &heads);
    let mut plot = Plot::new("regret", "Cumulative regret", "round", "regret").log_x().log_y();
    for (name, catalog) in catalogs {
        let d = catalog.dimension();
        let mut radius = 0.0_f64;
        for (schedule, settings) in [("theorem", THEOREM), ("defaults", plain(Settings::PAPER))] {
            let policy = Policy::new(catalog, settings)?;
            let lives = parallel::map(setup, &format!("regret: {name}, {schedule}"), seeds, |seed| {
                let user = Linear::simulated(catalog, seed as u64)?;
                Ok((
                    user.length(),
                    length(catalog, &user),
                    regrets(&user, &mut Agent::new(&policy, PER_USER, seed as u64)?, &rounds)?,
                ))
            })?;
            radius = lives.iter().map(|life| life.0).fold(radius, f64::max);
            let longest = lives.iter().map(|life| life.1).fold(0.0, f64::max);
            let lives: Vec<Vec<f64>> = lives.into_iter().map(|life| life.2).collect();
            let at = |place: usize| mean(&lives.iter().filter_map(|life| life.get(place)).copied().collect::<Vec<_>>());
            let points: Vec<(f64, f64)> =
                rounds.iter().enumerate().map(|(place, round)| (f64::from(*round), at(place))).collect();
            let (exponents, n) = (exponents(&lives, &rounds), f64::from(horizon));
            let (lower, upper) = mean_interval(&exponents);
            let end = at(rounds.len() - 1);
            let ends: Vec<f64> = lives.iter().filter_map(|life| life.last()).copied().collect();
            let limit = bound(n, d as f64, longest, radius);
            let theorem = schedule == "theorem";
            table.row([
                name.to_owned(),
                d.to_string(),
                schedule.into(),
                format!("{end:.1}"),
                format!("{:.1}", quantile(&ends, 0.5)),
                format!("{:.3} ({lower:.3} to {upper:.3})", mean(&exponents)),
                if theorem { format!("{limit:.2e}") } else { "none".into() },
                if theorem { format!("{:.0} times 2n", limit / (2.0 * n)) } else { String::new() },
                if theorem { format!("{:.1e} rounds", meaningful(d as f64, longest, radius)) } else { String::new() },
            ]);
            plot.curve(&format!("{name}, d = {d}, {schedule}"), points);
            if theorem {
                let points = rounds.iter().map(|round| (f64::from(*round), bound(f64::from(*round), d as f64, longest, radius)));
                plot.dashed(&format!("bound, d = {d}"), points.collect());
            }
            report.number(format!("regret.{d}.{schedule}"), end);
            report.number(format!("exponent.{d}.{schedule}"), mean(&exponents));
        }
    }
    report.table(table);
    report.plot(plot);
    report.text(
        "At these horizons the theorem's schedule is close to choosing at random, and its bound is far above the largest regret
         there can be; that is what it costs in practice. The defaults have no such guarantee: most users have next to no regret
         after the first rounds, and a few settle on a second-best action, which is where their exponent comes from.",
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// sqrt(n) d^(3/2) up to logarithms, and vacuous where anybody could check it.
    #[test]
    fn the_bound_grows_as_the_theorem_says() {
        let ratio = bound(1e9, 9.0, 1.7, 1.0) / bound(1e7, 9.0, 1.7, 1.0);
        assert!(ratio > 10.0 && ratio < 20.0, "{ratio}");
        let ratio = bound(1e12, 40_000.0, 1.7, 1.0) / bound(1e12, 10_000.0, 1.7, 1.0);
        assert!(ratio > 6.0 && ratio < 8.0, "{ratio}");
        assert!(bound(1e4, 9.0, 1.7, 1.0) > 2e4);
    }
}
