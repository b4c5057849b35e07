//! After a certificate: how soon coins notice that a taste has changed, and how often they think so wrongly.

use super::coins::Table as Tossed;
use super::life;
use super::person::{Person, SD, Says};
use crate::parallel;
use crate::report::{Report, Table};
use crate::setup::{Setup, StudyError};
use crate::statistics::{mean, mean_interval, quantile};
use fable_core::catalog::TAU2;
use fable_core::preference::{Certifier, Verdict};
use fable_core::{Feasible, Policy, Settings};

/// Conversation over the current turn: the one contrast of its component, so that all coins are its.
const CONTRAST: usize = 0;

/// Coins from a change right after the certificate to its withdrawal, counted up to a limit.
fn withdrawal(
    policy: &Policy<'_, f32>,
    (before, after): (f64, f64),
    says: Says,
    limit: u32,
    number: u64,
) -> Result<Option<u32>, StudyError> {
    let person = |effect: f64| Person { says, ..Person::liking(&TAU2, 0, effect, number) };
    let mut table = Tossed::new(policy, number)?;
    table.components = vec![0];
    let (before, after) = (person(before), person(after));
    let mut round = 0;
    while table.certified(CONTRAST)? == Verdict::Open {
        round += 1;
        if round > 5_000 {
            return Ok(None);
        }
        table.round(&before, round)?;
    }
    for coin in 1..=limit {
        table.round(&after, round + coin)?;
        if table.certified(CONTRAST)? == Verdict::Open {
            return Ok(Some(coin));
        }
    }
    Ok(Some(limit))
}

/// Runs this part.
pub fn study(setup: &Setup, report: &mut Report) -> Result<(), StudyError> {
    let (count, limit) = (setup.scale(1_200, 4), setup.scale(10_000, 200) as u32);
    report.heading("Tastes that change after a certificate");
    let policy = Policy::new(&TAU2, Settings::PROBING)?;
    let heads = ["before, after", "coins until withdrawn, mean", "median", "90%"];
    let mut table = Table::new("change", &heads);
    let graded = Says::Graded(SD);
    let rows = [
        ("0.5, then -0.5", (0.5, -0.5), graded),
        ("0.3, then -0.3", (0.3, -0.3), graded),
        ("0.5, then -0.5, thumbs", (0.5, -0.5), Says::Thumbs),
        ("0.5, then 0: the least that is not wrong", (0.5, 0.0), graded),
        ("0.3, then 0", (0.3, 0.0), graded),
        ("0.5, then 0, thumbs", (0.5, 0.0), Says::Thumbs),
        ("0.5, no change", (0.5, 0.5), graded),
    ];
    let mut shortest = f64::INFINITY;
    for (name, effects, says) in rows {
        let wrongly = effects.1 >= 0.0;
        let longest = if effects.1 > 0.0 { limit / 5 } else { limit };
        let lives = if effects.1 > 0.0 { (count / 12).max(1) } else { count };
        let coins = parallel::map(setup, name, lives, |number| {
            withdrawal(&policy, effects, says, longest, number as u64)
        })?;
        let coins: Vec<f64> = coins.into_iter().flatten().map(f64::from).collect();
        let at_least = |value: f64| {
            if value >= f64::from(longest) { format!("{longest} or more") } else { format!("{value:.0}") }
        };
        let cut = coins.iter().any(|coins| *coins >= f64::from(longest));
        let (lower, upper) = mean_interval(&coins);
        let average =
            format!("{}{:.0} ({lower:.0} to {upper:.0})", if cut { "at least " } else { "" }, mean(&coins));
        table.row([
            name.to_owned(),
            average,
            at_least(quantile(&coins, 0.5)),
            at_least(quantile(&coins, 0.9)),
        ]);
        report.number(format!("change.{name}"), mean(&coins));
        if wrongly {
            shortest = shortest.min(mean(&coins));
        }
    }
    report.table(table);
    report.goal(
        "wrong withdrawals: on average at least 1,000 coins after a certificate",
        format!("at least {shortest:.0}"),
        shortest >= 1_000.0,
    );
    rounds(setup, report, count, limit)
}

/// The same in rounds, under the rule.
fn rounds(setup: &Setup, report: &mut Report, count: usize, limit: u32) -> Result<(), StudyError> {
    let (change, end) = (setup.scale(300, 40) as u32, setup.scale(1_500, 80) as u32);
    let (policy, all) = (Policy::new(&TAU2, Settings::PROBING)?, Feasible::all(&TAU2));
    let lives = parallel::map(setup, "change, the rule", setup.scale(60, 3), |number| {
        let person = Person { turns: Some(change), ..Person::liking(&TAU2, number % 3, 0.5, number as u64) };
        life::live(&policy, &all, &person, end)
    })?;
    let certified: Vec<&life::Life> = lives
        .iter()
        .filter(|life| life.first(Certifier::Probes).is_some_and(|round| round < change))
        .collect();
    let waits: Vec<f64> = certified
        .iter()
        .map(|life| life.withdrawn.map_or(f64::INFINITY, |round| f64::from(round.saturating_sub(change))))
        .collect();
    let (withdrawn, half) = (waits.iter().filter(|wait| wait.is_finite()).count(), quantile(&waits, 0.5));
    report.text(&format!(
        "{count} lives for each row (a twelfth of it for the last), one component, a coin in every round, counted up to {limit} coins (a fifth for the last row). Under
         the rule coins get rare after a certificate: of {} lives whose taste of 0.5 turned round in round {change}, {withdrawn} had a certificate withdrawn within
         {} rounds, in a median of {} rounds after the change.",
        certified.len(),
        end - change,
        if half.is_finite() { format!("{half:.0}") } else { "more".into() }
    ));
    report.number("change.rounds", if half.is_finite() { half } else { -1.0 });
    Ok(())
}

/// Coins until the two kinds of rules have decided.
pub fn coins(setup: &Setup, report: &mut Report) -> Result<(), StudyError> {
    use super::stopping::Mixture;
    let (count, limit) = (setup.scale(300, 4), setup.scale(1_000, 100) as u32);
    report.heading("In coins");
    let policy = Policy::new(&TAU2, Settings::PROBING)?;
    let heads = [
        "effect, noise",
        "test by betting, median (90%)",
        "mixture test, variance 0.09",
        "mixture test, variance of the data",
    ];
    let mut table = Table::new("coins", &heads);
    let rows = [
        (0.5, Says::Graded(0.3)),
        (0.3, Says::Graded(0.3)),
        (0.5, Says::Graded(0.5)),
        (0.3, Says::Graded(0.5)),
        (0.5, Says::Thumbs),
    ];
    let needed = libm::log(policy.needed() / 2.0);
    for (effect, says) in rows {
        let said = match says {
            Says::Graded(sd) => format!("{effect}, sd {sd}"),
            _ => format!("{effect}, thumbs"),
        };
        let times = parallel::map(setup, &said, count, |number| {
            let person = Person { says, ..Person::liking(&TAU2, 0, effect, number as u64) };
            let mut tossed = Tossed::new(&policy, number as u64)?;
            tossed.components = vec![0];
            let (mut mixture, mut times) = (Mixture::default(), [f64::INFINITY; 3]);
            for round in 1..=limit {
                for coin in tossed.round(&person, round)? {
                    mixture.add(coin.preferred, coin.reward);
                }
                let ratios = [Some(0.09), None].map(|variance| mixture.log_ratio(variance) >= needed);
                let decided = [tossed.ever(), ratios[0], ratios[1]];
                for (time, decided) in times.iter_mut().zip(decided) {
                    *time = if decided { time.min(f64::from(round)) } else { *time };
                }
                if times.iter().all(|time| time.is_finite()) {
                    break;
                }
            }
            Ok(times)
        })?;
        let cell = |rule: usize| {
            let of: Vec<f64> = times.iter().map(|times| times[rule]).collect();
            let text = |share: f64| {
                Some(quantile(&of, share))
                    .filter(|coins| coins.is_finite())
                    .map_or("more".into(), |coins| format!("{coins:.0}"))
            };
            format!("{} ({})", text(0.5), text(0.9))
        };
        table.row([said.clone(), cell(0), cell(1), cell(2)]);
        report.number(
            format!("coins.{said}"),
            quantile(&times.iter().map(|times| times[0]).collect::<Vec<_>>(), 0.5).min(1e9),
        );
    }
    report.table(table);
    report.text(&format!(
        "{count} lives for each row, the same coins for all three rules, the same alpha for each of six contrasts. A test that knows the variance needs
         fewer coins where it knows it rightly; told 0.09 where it is more it is quick and wrong (the table before). With the variance of
         the data it is right in the limit only, and it is about the difference of two means, which must not move.",
    ));
    Ok(())
}
