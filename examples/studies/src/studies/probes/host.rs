//! The host of the tau2 study: a promoted sentence is read by it, and helps.

use super::life::{Life, learner, note};
use crate::parallel;
use crate::report::{Report, Table, with_interval};
use crate::setup::{Setup, StudyError};
use crate::statistics::{mean, mean_interval, quantile};
use crate::studies::tau2::experiment::longer;
use crate::studies::tau2::host::{DOMAINS, Host, PROFILES, Task, Told};
use fable_core::catalog::TAU2;
use fable_core::preference::{Certifier, Standing};
use fable_core::{Feasible, Policy, Request, Settings};
use fable_simulate::Random;

/// The weight of costs in the paper's signal.
const WEIGHT: f64 = 0.2;

fn live(policy: &Policy<'_, f32>, host: &Host, rounds: u32, number: u64) -> Result<Life, StudyError> {
    let (all, context) = (Feasible::all(&TAU2), TAU2.context(None, [])?);
    let (profile, rate) = (PROFILES[number as usize % 2], DOMAINS[number as usize / 2 % DOMAINS.len()].1);
    let (mut user, mut life, mut wanted) = (learner(policy, number)?, Life::default(), 0);
    for round in 1..=rounds {
        let decision = user.user().decide(&Request::new(&context, &all))?;
        life.coins += user.user().probe_outcomes(decision.id).count();
        let mut random = Random::new([number, u64::from(round), 0, 0x7a02]);
        let task = Task::draw(&mut random, rate);
        let (told, cost) = (Told::Action(decision.action, wanted), TAU2.cost(decision.action));
        let episode = host.serve(&task, profile, told, cost, &mut random);
        // What is played is compared by its mean, so that luck does not hide what is small.
        let alignment = host.expected_alignment(profile, told);
        life.means.push(0.5 * alignment - WEIGHT * cost);
        user.feedback(decision.id, episode.signal(WEIGHT))?;
        let before = life.certificates.len();
        note(&mut user, &mut life, round)?;
        if life.certificates.len() != before || life.withdrawn == Some(round) {
            let mut user = user.user();
            let entries = user.profile().to_vec();
            let mut sum = 0;
            for entry in entries {
                sum += if user.standing(&entry)? == Standing::Holds { longer(&entry) } else { 0 };
            }
            wanted = sum.clamp(-1, 1);
        }
    }
    Ok(life)
}

/// Runs this part.
pub fn study(setup: &Setup, report: &mut Report) -> Result<(), StudyError> {
    let (count, rounds, early) = (setup.scale(200, 4), setup.scale(600, 80), setup.scale(300, 40));
    report.heading("A host that reads what is promoted");
    let probing = Settings { cost_weight: WEIGHT, ..Settings::PROBING };
    let heads = ["", "certified", "median round", "with probes less without, rounds 1-300", "rounds 301-600"];
    let mut table = Table::new("host", &heads);
    let stated = Host::STATED;
    let hosts = [
        ("no task fails", "sure", Host { failing: false, ..stated }),
        ("no task fails, a sentence does nothing", "deaf", Host { failing: false, sentence: 1.0, ..stated }),
        ("tasks fail at the domain's rate", "failing", stated),
    ];
    for (name, key, host) in hosts {
        let run = |settings| {
            let policy = Policy::new(&TAU2, settings)?;
            parallel::map(setup, name, count, |number| live(&policy, &host, rounds as u32, number as u64))
        };
        let (probed, plain) = (run(probing)?, run(Settings { probe: 0.0, ..probing })?);
        let gains = |rounds: std::ops::Range<usize>| {
            probed
                .iter()
                .zip(&plain)
                .map(|(probed, plain)| probed.mean(rounds.clone()) - plain.mean(rounds.clone()))
                .collect::<Vec<_>>()
        };
        let times: Vec<f64> = probed
            .iter()
            .map(|life| life.first(Certifier::Probes).map_or(f64::INFINITY, f64::from))
            .collect();
        let certified = times.iter().filter(|time| time.is_finite()).count() as f64 / count as f64;
        let half = quantile(&times, 0.5);
        let (soon, late) = (gains(0..early), gains(early..rounds));
        table.row([
            name.to_owned(),
            format!("{:.1}%", 100.0 * certified),
            if half.is_finite() { format!("{half:.0}") } else { "more than 600".into() },
            with_interval(mean(&soon), mean_interval(&soon)),
            with_interval(mean(&late), mean_interval(&late)),
        ]);
        report.number(format!("host.{key}.certified"), certified);
        report.number(format!("host.{key}.later"), mean(&late));
        if key == "sure" {
            let value = with_interval(mean(&late), mean_interval(&late));
            report.goal(
                "above the same lives without probes in rounds 301-600 when the promoted sentence helps the host of tau2",
                value,
                mean_interval(&late).0 > 0.0,
            );
        }
    }
    report.table(table);
    report.text(&format!(
        "{count} lives of {rounds} rounds for each row, the two profiles of the tau2 study in turn, its signal and its costs, nothing stated at the start; the mean of the
         signal of what was played, without the luck of tasks. A promoted sentence about style makes answers a tenth shorter or longer, as
         in that study. Where tasks fail, success is three quarters of the signal and has nothing to do with the
         action: it is noise, and half of the lives have no certificate after 600 rounds. Whether those that others have are right was not looked at."
    ));
    Ok(())
}
