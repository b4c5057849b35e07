//! Somebody likes one value of a component better: how soon that is certain, and what finding out costs.

use super::life::{Life, lives};
use super::person::{Person, SD, Says};
use crate::plot::Plot;
use crate::report::{Report, Table};
use crate::setup::{Setup, StudyError};
use crate::statistics::{mean, mean_interval, quantile};
use fable_core::Settings;
use fable_core::catalog::TAU2;
use fable_core::preference::{Certifier, Verdict};

const RATES: [f64; 7] = [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.5];
const EARLY: usize = 300;
const ROUNDS: usize = 600;
/// The largest cost of a default.
const AFFORDABLE: f64 = 0.02;

const fn probing(probe: f64) -> Settings<'static> {
    Settings { probe, ..Settings::PROBING }
}

/// Each component in turn, reports with and without the catalog's costs.
fn person(likes: &[f64], says: Says, costs: Option<bool>, number: u64) -> Person {
    let likes = match likes {
        [effect] => vec![((number % 3) as usize, 1, *effect)],
        all => all.iter().enumerate().map(|(component, effect)| (component, 1, *effect)).collect(),
    };
    Person { likes, says, costs: costs.unwrap_or(number / 3 % 2 == 1), ..Person::indifferent(&TAU2, number) }
}

/// The median with those that never were as the largest; `None` when it is one of them.
fn median(rounds: &[Option<u32>]) -> Option<f64> {
    let far = f64::from(u32::MAX);
    let times: Vec<f64> = rounds.iter().map(|round| round.map_or(far, f64::from)).collect();
    Some(quantile(&times, 0.5)).filter(|median| *median < far / 4.0)
}

fn shown(median: Option<f64>) -> String {
    median.map_or_else(|| format!("more than {ROUNDS}"), |median| format!("{median:.0}"))
}

/// What probes cost: by how much the mean reward of the same lives without them is higher.
fn costs(probed: &[Life], plain: &[Life], rounds: std::ops::Range<usize>) -> Vec<f64> {
    probed
        .iter()
        .zip(plain)
        .map(|(probed, plain)| plain.mean(rounds.clone()) - probed.mean(rounds.clone()))
        .collect()
}

fn with_interval(values: &[f64]) -> String {
    let (lower, upper) = mean_interval(values);
    format!("{:.3} ({lower:.3} to {upper:.3})", mean(values))
}

fn first(life: &Life) -> Option<u32> {
    life.first(Certifier::Probes)
}

/// Whether a certificate says what is not so. With one liked value a contrast that holds it is right when it prefers it.
fn is_wrong(person: &Person, life: &Life) -> bool {
    life.certificates.iter().filter(|certificate| certificate.by == Certifier::Probes).any(|certificate| {
        let Some(contrast) = TAU2.contrasts().get(certificate.contrast) else { return true };
        let [prefer, over] = [contrast.prefer, contrast.over]
            .map(|values| TAU2.action(values).map(|action| person.expected(action, 1)));
        let truth = prefer.zip(over).map_or(0.0, |(prefer, over)| prefer - over);
        match certificate.verdict {
            Verdict::For => truth <= 0.0,
            Verdict::Against => truth >= 0.0,
            Verdict::Open => true,
        }
    })
}

/// Rounds to the first certificate and what they cost, rho 0.5.
pub fn time_and_cost(setup: &Setup, report: &mut Report) -> Result<(), StudyError> {
    let count = setup.scale(300, 6);
    let (rounds, early) = (setup.scale(ROUNDS, 80), setup.scale(EARLY, 40));
    report.heading("One value is liked better");
    report.text(&format!(
        "{count} lives of {rounds} rounds for each row, `tau2` with its six contrasts, `Settings::PROBING`. The second value of one component (each of the three in turn) is worth so much
         more than its others; noise is uniform. _With costs_ the catalog's costs come off what is reported, so that what
         is reported differs by up to 0.12 less or more. Cost is the mean reward of the same lives without probes less that with them, by round, from the mean
         that a person reports to what was played; 95% intervals over lives."
    ));
    let heads = [
        "",
        "first certificate, median round",
        "90%",
        "certified",
        "wrong",
        "cost, rounds 1-300",
        "cost, rounds 301-600",
        "certificates",
    ];
    let mut table = Table::new("effects", &heads);
    let mut plot = Plot::new("certificates", "Lives with a certificate, rho 0.5", "round", "share");
    let graded = Says::Graded(SD);
    let rows: [(&str, &[f64], Says, Option<bool>); 9] = [
        ("by 0.5, sd 0.3", &[0.5], graded, Some(false)),
        ("by 0.5, sd 0.3, with costs", &[0.5], graded, Some(true)),
        ("by 0.3, sd 0.3", &[0.3], graded, Some(false)),
        ("by 0.3, sd 0.3, with costs", &[0.3], graded, Some(true)),
        ("by 0.5, sd 0.5", &[0.5], Says::Graded(0.5), Some(false)),
        ("by 0.3, sd 0.5", &[0.3], Says::Graded(0.5), Some(false)),
        ("by 0.5, thumbs", &[0.5], Says::Thumbs, Some(false)),
        ("by 0.2, sd 0.3", &[0.2], graded, Some(false)),
        ("in all three, by 0.3, sd 0.3", &[0.3, 0.3, 0.3], graded, Some(false)),
    ];
    let mut medians = Vec::new();
    let (mut dearest, mut later, mut each) = ([0.0_f64; 2], [f64::NEG_INFINITY; 2], 0.0);
    for (place, (name, likes, says, with_costs)) in rows.into_iter().enumerate() {
        let person = |number: u64| person(likes, says, with_costs, number);
        let run = |settings| lives(setup, (&TAU2, settings), name, (count, rounds as u32), person);
        let (probed, plain) = (run(Settings::PROBING)?, run(Settings::DEFAULT)?);
        let times: Vec<Option<u32>> = probed.iter().map(first).collect();
        let certified = times.iter().flatten().count() as f64 / count as f64;
        let far: Vec<f64> = times.iter().map(|time| time.map_or(f64::INFINITY, f64::from)).collect();
        let most = quantile(&far, 0.9);
        let wrong = probed.iter().zip(0..).filter(|(life, number)| is_wrong(&person(*number), life)).count();
        let (soon, late) = (costs(&probed, &plain, 0..early), costs(&probed, &plain, early..rounds));
        let number = mean(&probed.iter().map(|life| life.certificates.len() as f64).collect::<Vec<_>>());
        table.row([
            name.to_owned(),
            shown(median(&times)),
            if most.is_finite() { format!("{most:.0}") } else { format!("more than {ROUNDS}") },
            format!("{:.1}%", 100.0 * certified),
            format!("{:.1}%", 100.0 * wrong as f64 / count as f64),
            with_interval(&soon),
            with_interval(&late),
            format!("{number:.2}"),
        ]);
        report.number(format!("{name}.median"), median(&times).unwrap_or(-1.0));
        report.number(format!("{name}.cost"), mean(&soon));
        report.number(format!("{name}.later"), mean(&late));
        if place < 4 {
            medians.push(median(&times).unwrap_or(f64::INFINITY));
            dearest[place % 2] = dearest[place % 2].max(mean(&soon));
            later[place % 2] = later[place % 2].max(mean(&late));
        }
        if name.starts_with("in all") {
            let early_certificates = |life: &Life| {
                life.certificates.iter().filter(|one| one.round as usize <= early).count() as f64
            };
            let certificates = mean(&probed.iter().map(early_certificates).collect::<Vec<_>>());
            each = mean(&soon) / certificates.max(1.0);
        }
        if [0, 2, 4, 6, 7].contains(&place) {
            let until = |round: usize| {
                times.iter().flatten().filter(|time| **time as usize <= round).count() as f64 / count as f64
            };
            plot.curve(name, (0..=rounds / 10).map(|step| (10.0 * step as f64, until(10 * step))).collect());
        }
    }
    report.table(table);
    report.plot(plot);
    goals(report, &medians, dearest, later, each);
    Ok(())
}

/// What was to be reached: medians and costs without the catalog's costs in reports, and with them.
fn goals(report: &mut Report, medians: &[f64], dearest: [f64; 2], later: [f64; 2], each: f64) {
    let two = |first: f64, second: f64| format!("{first:.0}; with costs {second:.0}");
    if let [half, half_costs, third, third_costs] = *medians {
        report.goal(
            "liked by 0.5, sd 0.3, rho 0.5: first certificate in a median of at most 150 rounds",
            two(half, half_costs),
            half.max(half_costs) <= 150.0,
        );
        report.goal(
            "liked by 0.3, sd 0.3, rho 0.5: first certificate in a median of at most 250 rounds",
            two(third, third_costs),
            third.max(third_costs) <= 250.0,
        );
    }
    let reports = ["reports without costs", "reports with the catalog's costs"];
    for (who, (dearest, later)) in reports.into_iter().zip(dearest.into_iter().zip(later)) {
        let what = format!("those lives, {who}: at most 0.055 below the same without probes in rounds 1-300");
        report.goal(&what, format!("at most {dearest:.4}"), dearest <= 0.055);
        let what = format!("those lives, {who}: at most 0.01 below in rounds 301-600");
        report.goal(&what, format!("at most {later:.4}"), later <= 0.01);
    }
    report.goal(
        "at most 0.065 below for each certificate of rounds 1-300 when all three components differ by 0.3",
        format!("{each:.3}"),
        each <= 0.065,
    );
    report.text(
        "Where reports have costs in them more differs than what is liked, by up to 0.12. Probably that is what the higher cost comes
         from: too little to be certain of soon, and now and then above the 0.15 that a difference must seem to have before a coin is
         tossed for it. Coins were not counted by contrast, so this is a guess.",
    );
}

/// The ellipsoid rule on the same people.
pub fn ellipsoid(setup: &Setup, report: &mut Report) -> Result<(), StudyError> {
    let (count, rounds, early) = (setup.scale(90, 6), setup.scale(ROUNDS, 80), setup.scale(EARLY, 40));
    report.heading("Against the ellipsoid rule");
    let heads = [
        "",
        "promoted by the ellipsoid",
        "median round",
        "certified by coins",
        "median round",
        "mean reward, rounds 1-300",
        "rounds 301-600",
    ];
    let mut table = Table::new("ellipsoid", &heads);
    let all = [
        ("`Settings::PROBING`", "probing", Settings::PROBING),
        ("the defaults", "default", Settings::DEFAULT),
        ("`Settings::PROMOTING`", "promoting", Settings::PROMOTING),
    ];
    for effect in [0.5, 0.3] {
        for (name, key, settings) in all {
            let person = |number: u64| person(&[effect], Says::Graded(SD), Some(false), number);
            let lives = lives(setup, (&TAU2, settings), name, (count, rounds as u32), person)?;
            let times = |by| lives.iter().map(|life| life.first(by)).collect::<Vec<_>>();
            let (ellipsoid, coins) = (times(Certifier::Ellipsoid), times(Certifier::Probes));
            let share = |times: &[Option<u32>]| {
                format!("{:.1}%", 100.0 * times.iter().flatten().count() as f64 / count as f64)
            };
            let reward = |rounds: std::ops::Range<usize>| {
                mean(&lives.iter().map(|life| life.mean(rounds.clone())).collect::<Vec<_>>())
            };
            let (soon, late) = (reward(0..early), reward(early..rounds));
            table.row([
                format!("by {effect}, {name}"),
                share(&ellipsoid),
                shown(median(&ellipsoid)),
                share(&coins),
                shown(median(&coins)),
                format!("{soon:+.3}"),
                format!("{late:+.3}"),
            ]);
            report.number(
                format!("ellipsoid.{effect}.{key}"),
                ellipsoid.iter().flatten().count() as f64 / count as f64,
            );
            report.number(format!("ellipsoid.{effect}.{key}.reward"), soon);
        }
    }
    report.table(table);
    report.text(&format!(
        "{count} lives of {rounds} rounds for each row, sd 0.3, reports without costs. `PROMOTING` draws so boldly that it plays almost anything; what is best is
         worth half of the effect, what is worst minus that."
    ));
    Ok(())
}

/// The rate of a default.
pub fn rates(setup: &Setup, report: &mut Report) -> Result<(), StudyError> {
    let count = setup.scale(300, 6);
    let (rounds, early) = (setup.scale(ROUNDS, 80), setup.scale(EARLY, 40));
    report.heading("How often to toss");
    let heads = [
        "rho",
        "median round, by 0.5",
        "by 0.3",
        "cost in rounds 1-300, by 0.5",
        "by 0.3",
        "in 301-600, by 0.5",
        "by 0.3",
    ];
    let mut table = Table::new("rates", &heads);
    let run = |settings, effect: f64| {
        let person = |number: u64| person(&[effect], Says::Graded(SD), None, number);
        lives(setup, (&TAU2, settings), "rates", (count, rounds as u32), person)
    };
    let plain = [run(Settings::DEFAULT, 0.5)?, run(Settings::DEFAULT, 0.3)?];
    let mut affordable = None;
    for rho in RATES {
        let probed = [run(probing(rho), 0.5)?, run(probing(rho), 0.3)?];
        let medians =
            probed.each_ref().map(|lives| shown(median(&lives.iter().map(first).collect::<Vec<_>>())));
        let cost = |of: usize, rounds: std::ops::Range<usize>| costs(&probed[of], &plain[of], rounds);
        let soon = [cost(0, 0..early), cost(1, 0..early)];
        let late = [cost(0, early..rounds), cost(1, early..rounds)];
        if mean(&soon[1]) <= AFFORDABLE {
            affordable = Some(rho);
        }
        report.number(format!("rates.{rho}.cost"), mean(&soon[1]));
        table.row(
            [format!("{rho}")]
                .into_iter()
                .chain(medians)
                .chain(soon.iter().map(|costs| with_interval(costs)))
                .chain(late.iter().map(|costs| with_interval(costs))),
        );
    }
    report.table(table);
    report.text(&format!(
        "{count} lives of {rounds} rounds for each cell, sd 0.3, every other person reports with costs. The largest of these rates whose cost is at most {AFFORDABLE} of mean reward over the first 300
         rounds when one component differs by 0.3 is **{}**. It is not the default, for what the next section measures.",
        affordable.map_or("none".into(), |rho| rho.to_string())
    ));
    report.number("rates.affordable", affordable.unwrap_or(0.0));
    Ok(())
}
