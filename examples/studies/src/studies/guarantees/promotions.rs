//! Promotions: how often one is wrong, what looking at plain intervals would have done, and how long they take.

use super::formulas::required;
use super::user::{Linear, plain};
use crate::parallel;
use crate::plot::Plot;
use crate::policies::{Agent, PER_USER};
use crate::report::{Report, Table};
use crate::setup::{Setup, StudyError};
use crate::statistics::{Z95, quantile, wilson};
use fable_core::catalog::RUBRIC;
use fable_core::preference::{Comparison, Verdict};
use fable_core::{Catalog, Exploration, Policy, Settings};
use fable_simulate::Random;

/// As bold as it takes to settle anything.
const BOLD: Settings<'static> =
    plain(Settings { exploration: Exploration::Constant(8.0), ..Settings::PROMOTING });
const CALM: Settings<'static> =
    plain(Settings { exploration: Settings::PAPER.exploration, ..Settings::PROMOTING });

/// A theta* of multiples of 1/16, so that contrasts that are zero are exactly zero, inside the radius. A quarter of the users
/// have no preference at all, a quarter many small ones, a quarter one large one, a quarter both.
fn theta(catalog: &Catalog<'_>, radius: f64, number: u64) -> Vec<f64> {
    let mut random = Random::new([number, 0, 0, 0x7e7a]);
    loop {
        let mut theta = vec![0.0; catalog.dimension()];
        if number & 1 == 1 {
            theta.fill_with(|| [0.0, 0.0, 0.0, 0.0, 0.0, 0.0625, -0.0625][random.below(7)]);
        }
        if number & 2 == 2 {
            let (liked, step) = (random.below(3), 1 + random.below(2));
            let first = 3 * random.below(3);
            theta[first + liked] += 0.25;
            theta[first + (liked + step) % 3] -= 0.25;
        }
        if 16.0 * theta.iter().map(|weight| weight * weight).sum::<f64>() <= radius * radius {
            return theta;
        }
    }
}

/// What ever happened to one user, at any look.
#[expect(clippy::struct_excessive_bools, reason = "what happened, each on its own")]
#[derive(Clone, Copy, Default)]
struct Outcome {
    wrong: bool,
    right: bool,
    uncovered: bool,
    naive: bool,
}

fn contrasts(user: &Linear<'_>) -> Vec<(Comparison, f64)> {
    let declared = (0..RUBRIC.contrasts().len()).filter_map(|index| Comparison::declared(&RUBRIC, index));
    declared
        .map(|comparison| (comparison, user.mean(comparison.prefer) - user.mean(comparison.over)))
        .collect()
}

fn live(policy: &Policy<'_, f64>, rounds: u32, number: u64) -> Result<Outcome, StudyError> {
    let user = Linear::new(&RUBRIC, theta(&RUBRIC, policy.prior_radius(), number), number)?;
    let mut agent = Agent::new(policy, PER_USER, number)?;
    let contrasts = contrasts(&user);
    let mut outcome = Outcome::default();
    for round in 1..=rounds {
        user.play(&mut agent, round)?;
        if round % 4 != 0 {
            continue;
        }
        for (comparison, truth) in &contrasts {
            let now = agent.assess(comparison)?;
            let told = f64::from(now.verdict.sign()) * truth;
            outcome.wrong |= now.verdict != Verdict::Open && told <= 0.0;
            outcome.right |= told > 0.0;
            outcome.uncovered |= *truth < now.lower || *truth > now.upper;
            let enough = now.evidence >= policy.settings().min_evidence;
            outcome.naive |= enough && now.mean * truth <= 0.0 && now.mean.abs() > Z95 * now.sd;
        }
    }
    Ok(outcome)
}

pub fn wrong(setup: &Setup, report: &mut Report) -> Result<(), StudyError> {
    let (users, rounds) = (setup.scale(2_000, 40), setup.scale(600, 100) as u32);
    report.heading("Wrong promotions");
    report.text(&format!(
        "{users} users of `rubric` in each row, {rounds} rounds, its nine contrasts looked at after every fourth round. Each theta* is
         inside the radius of 2 that is assumed, a quarter of the users have no preference at all. The theorem promises that at most
         5% are ever told anything wrong. The negative control judges the same lives by 1.96 standard deviations, as if one looked
         once: a crowd in which that is never wrong could not have shown a fault."
    ));
    let heads = [
        "exploration",
        "ever told something wrong",
        "95% interval",
        "a contrast outside its interval",
        "wrong by 1.96 sd (control)",
        "told something right",
    ];
    let mut table = Table::new("promotions", &heads);
    for (name, key, settings) in [("nu = 0.3", "calm", CALM), ("nu = 8", "bold", BOLD)] {
        let policy = Policy::new(&RUBRIC, settings)?;
        let outcomes = parallel::map(setup, &format!("promotions: {name}"), users, |user| {
            live(&policy, rounds, user as u64)
        })?;
        let count = |of: fn(&Outcome) -> bool| outcomes.iter().filter(|outcome| of(outcome)).count();
        let share = |of: fn(&Outcome) -> bool| count(of) as f64 / users as f64;
        let percent = |share: f64| format!("{:.2}%", 100.0 * share);
        let (lower, upper) = wilson(count(|outcome| outcome.wrong), users);
        let wrong = share(|outcome| outcome.wrong);
        table.row([
            name.to_owned(),
            percent(wrong),
            format!("{} to {}", percent(lower), percent(upper)),
            percent(share(|outcome| outcome.uncovered)),
            percent(share(|outcome| outcome.naive)),
            percent(share(|outcome| outcome.right)),
        ]);
        report.goal(
            &format!("{name}: at most 5% of the users ever told anything wrong"),
            percent(wrong),
            wrong <= 0.05,
        );
        for (what, of) in [
            ("wrong", wrong),
            ("naive", share(|outcome| outcome.naive)),
            ("right", share(|outcome| outcome.right)),
        ] {
            report.number(format!("promotions.{key}.{what}"), of);
        }
    }
    report.table(table);
    Ok(())
}

/// A search for one preference.
#[derive(Default)]
struct Search {
    /// When it was promoted.
    promoted: Option<u32>,
    /// The theorem's bound; `None` is infinite within the horizon.
    bound: Option<u32>,
    /// The evidence that the theorem asks for, at the bound or at the end.
    asked: f64,
}

/// Somebody who likes one level of steps better than another by `gap`.
fn liking(gap: f64, number: u64) -> Result<Linear<'static>, StudyError> {
    let mut theta = vec![0.0; RUBRIC.dimension()];
    for (name, sign) in [("steps=level_5", 0.5), ("steps=level_1", -0.5)] {
        let slot = RUBRIC.coordinate(name).and_then(|index| theta.get_mut(index));
        if let Some(slot) = slot {
            *slot = sign * gap;
        }
    }
    Linear::new(&RUBRIC, theta, number)
}

/// How long it takes to know what somebody [likes](liking). Theorem 3's constants are the smallest that hold up to a
/// horizon, and the horizon is the first for which the bound is finite: the best that hindsight could have chosen.
fn search(policy: &Policy<'_, f64>, gap: f64, rounds: u32, number: u64) -> Result<Search, StudyError> {
    let user = liking(gap, number)?;
    let contrast = RUBRIC.contrast("steps_5_over_1").and_then(|index| Comparison::declared(&RUBRIC, index));
    let contrast = contrast.ok_or_else(|| StudyError::Failed("the contrast is not declared".into()))?;
    let mut agent = Agent::new(policy, PER_USER, number)?;
    let (mut found, mut decay, mut beta) = (Search::default(), 0.0_f64, 0.0_f64);
    for round in 1..=rounds {
        user.play(&mut agent, round)?;
        let now = agent.assess(&contrast)?;
        if found.promoted.is_none() && now.verdict != Verdict::Open {
            found.promoted = Some(round);
        }
        decay = decay.max(now.sd * now.sd * (1.0 + f64::from(now.evidence)));
        beta = beta.max(now.beta);
        let asked = required(decay, beta, gap, policy.settings().min_evidence);
        if found.bound.is_none() {
            found.asked = asked;
            found.bound = Some(round).filter(|_| f64::from(now.evidence) >= asked);
        }
    }
    Ok(found)
}

pub fn time(setup: &Setup, report: &mut Report) -> Result<(), StudyError> {
    let (users, rounds) = (setup.scale(200, 6), setup.scale(10_000, 400) as u32);
    report.heading("Time to a promotion");
    report.text(&format!(
        "{users} users of `rubric` in each row who like one level of steps better by the gap, radius 2, {rounds} rounds; nu = 1000 chooses
         almost evenly. The bound is Theorem 3's with the smallest constants that hold up to a horizon, and with the best horizon,
         both known in hindsight alone: the round by which there is as much evidence as it asks for. It is finite where that
         happens. The rows with nu = 1000 and the best horizon were added after a first run without a finite bound."
    ));
    let heads = [
        "gap, exploration",
        "promoted",
        "median round",
        "finite bounds",
        "median bound, if finite",
        "bound over actual, median",
        "promoted after its bound",
    ];
    let mut table = Table::new("time", &heads);
    let mut plot =
        Plot::new("time", "Share of users with the preference promoted, nu = 1000", "round", "share").log_x();
    let even = Settings { exploration: Exploration::Constant(1_000.0), ..BOLD };
    let mut late_in_all = 0;
    let cases =
        [8, 1_000].into_iter().zip([BOLD, even]).flat_map(|case| [1.0, 0.5, 0.25].map(|gap| (gap, case)));
    for (gap, (nu, settings)) in cases {
        let policy = Policy::new(&RUBRIC, settings)?;
        let found = parallel::map(setup, &format!("time: {gap}, nu = {nu}"), users, |user| {
            search(&policy, gap, rounds, user as u64)
        })?;
        let promoted: Vec<f64> = found.iter().filter_map(|search| search.promoted).map(f64::from).collect();
        let bounds: Vec<f64> = found.iter().filter_map(|search| search.bound).map(f64::from).collect();
        let both = found.iter().filter_map(|search| Some((f64::from(search.bound?), search.promoted)));
        let late = both
            .clone()
            .filter(|(bound, promoted)| promoted.is_none_or(|promoted| f64::from(promoted) > *bound))
            .count();
        let ratios: Vec<f64> =
            both.filter_map(|(bound, promoted)| Some(bound / f64::from(promoted?))).collect();
        let asked: Vec<f64> = found.iter().map(|search| search.asked).collect();
        let share = |count: usize| format!("{:.1}%", 100.0 * count as f64 / users as f64);
        let median = |values: &[f64]| {
            if values.is_empty() { "none".into() } else { format!("{:.0}", quantile(values, 0.5)) }
        };
        let ratio = if ratios.is_empty() { "none".into() } else { format!("{:.1}", quantile(&ratios, 0.5)) };
        late_in_all += late;
        table.row([
            format!("{gap}, nu = {nu}"),
            share(promoted.len()),
            median(&promoted),
            share(bounds.len()),
            median(&bounds),
            ratio,
            late.to_string(),
        ]);
        let curve = |times: &[f64]| {
            let until = |round: &u32| {
                times.iter().filter(|time| **time <= f64::from(*round)).count() as f64 / users as f64
            };
            super::user::checkpoints(rounds)
                .iter()
                .map(|round| (f64::from(*round), until(round)))
                .collect::<Vec<_>>()
        };
        if nu == 1_000 {
            plot.curve(&format!("gap {gap}"), curve(&promoted));
            plot.dashed(&format!("bound, gap {gap}"), curve(&bounds));
        }
        report.number(format!("time.{nu}.{gap}.promoted"), promoted.len() as f64 / users as f64);
        report.number(format!("time.{nu}.{gap}.median"), quantile(&promoted, 0.5));
        report.number(format!("time.{nu}.{gap}.finite"), bounds.len() as f64 / users as f64);
        report.number(format!("time.{nu}.{gap}.asked"), quantile(&asked, 0.5));
    }
    report.goal("nobody promoted after a finite bound", late_in_all.to_string(), late_in_all == 0);
    report.table(table);
    report.plot(plot);
    report.text(
        "With a learner that learns, the loser of the comparison is tried less and less, so the variance does not fall with the
         evidence as the theorem assumes, and what it asks for runs ahead of what there is. Promotions come all the same, and far
         sooner.",
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::dense::Matrix;
    use super::*;
    use fable_core::{Context, Feasible, Request};

    /// Theorem 3 from dense matrices: the same life is chosen again, and everything that the theorem speaks of is computed from the
    /// precision matrix of the paper, inverted as a whole after every round, without an assessment of the learner.
    #[test]
    fn the_time_to_a_promotion_is_that_of_dense_matrices() {
        let settings = Settings { exploration: Exploration::Constant(1_000.0), ..BOLD };
        let policy = Policy::new(&RUBRIC, settings).unwrap();
        let (alpha, sigma2) = (policy.settings().alpha, policy.settings().noise_variance);
        let (gap, rounds) = (1.0, 2_500);
        let context = Context::new(&RUBRIC, None, &[]).unwrap();
        let all = Feasible::all(&RUBRIC);
        let zeros = vec![0.0; RUBRIC.actions()];
        let mut finite = 0;
        for number in 0..2 {
            let ours = search(&policy, gap, rounds, number).unwrap();
            let user = liking(gap, number).unwrap();
            let mut agent = Agent::new(&policy, PER_USER, number).unwrap();
            let [five, one] = ["steps=level_5", "steps=level_1"].map(|name| RUBRIC.coordinate(name).unwrap());
            let mut w = vec![0.0; RUBRIC.dimension()];
            (w[five], w[one]) = (1.0, -1.0);
            let (mut lambda, mut h) =
                (Matrix::identity(w.len(), policy.base_precision()), vec![0.0; w.len()]);
            let started = lambda.log_det();
            let (mut evidence, mut decay, mut largest) = (0_u32, 0.0_f64, 0.0_f64);
            let (mut promoted, mut bound, mut asked) = (None, None, 0.0);
            for round in 1..=rounds {
                let request = Request::new(&context, &all).with_defaults(&zeros);
                let action = agent.choose(&request, |_| 0.0).unwrap().unwrap();
                let reward = user.reward(action, round);
                agent.learn(reward).unwrap();
                let mut x = vec![0.0; w.len()];
                RUBRIC.features(&context, action).for_each(|(place, value)| x[place] += f64::from(value));
                lambda.add_outer(&x, 1.0 / sigma2);
                h.iter_mut().zip(&x).for_each(|(sum, x)| *sum += x * reward / sigma2);
                evidence += u32::from(x[five] + x[one] > 0.0);
                let (covariance, log_det) = lambda.eliminated();
                let variance = covariance.quadratic(&w);
                let mean: f64 = covariance.times(&h).iter().zip(&w).map(|(mean, w)| mean * w).sum();
                let beta = policy.prior_radius() + (log_det - started + 2.0 * (1.0 / alpha).ln()).sqrt();
                if promoted.is_none()
                    && evidence >= settings.min_evidence
                    && mean.abs() > beta * variance.sqrt()
                {
                    promoted = Some(round);
                }
                decay = decay.max(variance * (1.0 + f64::from(evidence)));
                largest = largest.max(beta);
                if bound.is_none() {
                    asked = (16.0 * decay * largest.powi(2) / gap.powi(2))
                        .ceil()
                        .max(f64::from(settings.min_evidence));
                    if f64::from(evidence) >= asked {
                        bound = Some(round);
                        // What the proof makes of it.
                        assert!(beta * variance.sqrt() <= gap / 4.0);
                    }
                }
            }
            assert!(promoted.is_some());
            assert_eq!((promoted, bound), (ours.promoted, ours.bound));
            assert!(asked == ours.asked, "{asked} {}", ours.asked);
            finite += u32::from(bound.is_some());
        }
        assert!(finite > 0, "nothing was compared");
    }

    #[test]
    fn what_is_required_by_hand() {
        // 16 * 2 * 9 / 0.25 = 1152; and never less than the minimum.
        assert_eq!(
            [required(2.0, 3.0, 0.5, 5), required(2.0, 3.0, 0.5, 2_000), required(0.01, 1.0, 1.0, 5)],
            [1152.0, 2000.0, 5.0]
        );
    }
}
