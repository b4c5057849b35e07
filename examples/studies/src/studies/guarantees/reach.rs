//! What can be learned under constraints that stay: contrasts inside and outside of the span of what is allowed.

use super::user::{Linear, plain};
use crate::parallel;
use crate::policies::{Agent, PER_USER};
use crate::report::{Report, Table};
use crate::setup::{Setup, StudyError};
use crate::statistics::mean;
use fable_core::analysis::Span;
use fable_core::catalog::Part;
use fable_core::catalog::tau2::{Memory, Style, TAU2, Tool};
use fable_core::preference::Comparison;
use fable_core::{Action, Exploration, Feasible, Policy, Rule, Settings, values};

const NO_VERIFY: Rule<'static> = Rule::forbid("no verify", &[Part::new(1, values![Tool::Verify])]);
const NO_GUIDED: Rule<'static> = Rule::forbid("no guided", &[Part::new(2, values![Style::Guided])]);
const CONVERSATION: Rule<'static> =
    Rule::require("conversation", &[Part::new(0, values![Memory::Conversation])]);

const CONSTRAINTS: [(&str, &str, &[Rule<'static>]); 4] = [
    ("nothing", "none", &[]),
    ("verify is forbidden", "verify", &[NO_VERIFY]),
    ("verify and guided are forbidden", "two", &[NO_VERIFY, NO_GUIDED]),
    ("memory is fixed", "memory", &[CONVERSATION]),
];

/// Bold, so that what can be learned is.
const BOLD: Settings<'static> =
    plain(Settings { exploration: Exploration::Constant(5.0), ..Settings::PAPER });

/// Every pair of actions that differ in one component, allowed or not.
fn pairs() -> Vec<(Action, Action)> {
    let values = |action| TAU2.values(action).unwrap_or_default();
    let differ =
        |one, other| values(one).iter().zip(&values(other)).filter(|(one, other)| one != other).count();
    let all = TAU2.all_actions();
    all.iter()
        .flat_map(|one| all.iter().map(move |other| (one, other)))
        .filter(|(one, other)| one < other && differ(*one, *other) == 1)
        .collect()
}

/// Which pairs are identified, and the rank of the span.
fn identified(
    feasible: &Feasible,
    user: &Linear<'_>,
    pairs: &[(Action, Action)],
) -> Result<(Vec<bool>, usize), StudyError> {
    let mut span = Span::over(
        TAU2.dimension(),
        vec![0.0; Span::<Vec<f64>>::storage_len(TAU2.dimension(), TAU2.dimension())],
    )?;
    span.add(&TAU2, user.context(), feasible)?;
    let phi = |action, sign: f64| {
        TAU2.features(user.context(), action).map(move |(index, value)| (index, sign * f64::from(value)))
    };
    let inside = pairs.iter().map(|(one, other)| span.contains(phi(*one, 1.0).chain(phi(*other, -1.0))));
    let inside = inside.collect::<Result<Vec<bool>, _>>()?;
    Ok((inside, span.rank()))
}

pub fn study(setup: &Setup, report: &mut Report) -> Result<(), StudyError> {
    let users = setup.scale(100, 4);
    let looks: [u32; 3] = if setup.reduced { [10, 30, 100] } else { [100, 1_000, 10_000] };
    report.heading("What constraints leave learnable");
    report.text(&format!(
        "{users} users of `tau2` in each row, constraints that never change, nu = 5. The contrasts are the 45 pairs of actions that differ in
         one component, allowed or not; one is identified if its direction is in the span of the allowed features
         (`fable_core::analysis::Span`). Root mean square error of the posterior mean, and in brackets the mean posterior
         standard deviation, after {}, {} and {} rounds.",
        looks[0], looks[1], looks[2]
    ));
    let mut heads = vec!["constraint".to_owned(), "rank".into(), "identified".into()];
    heads.extend(looks.iter().map(|look| format!("identified, {look} rounds")));
    heads.extend(looks.iter().map(|look| format!("not identified, {look} rounds")));
    let mut table = Table::new("reach", &heads);
    let (policy, pairs) = (Policy::new(&TAU2, BOLD)?, pairs());
    for (name, key, rules) in CONSTRAINTS {
        let feasible = Feasible::new(&TAU2, rules)?;
        let (inside, rank) = identified(&feasible, &Linear::simulated(&TAU2, 0)?, &pairs)?;
        // For each user and look, the (square error, sd) of every pair.
        let lives = parallel::map(setup, &format!("reach: {name}"), users, |seed| {
            let mut user = Linear::simulated(&TAU2, seed as u64)?;
            user.feasible = feasible;
            let mut agent = Agent::new(&policy, PER_USER, seed as u64)?;
            let (mut round, mut seen) = (0, Vec::new());
            for look in looks {
                while round < look {
                    round += 1;
                    user.play(&mut agent, round)?;
                }
                let assess = |&(prefer, over): &(Action, Action)| -> Result<(f64, f64), StudyError> {
                    let now =
                        agent.assess(&Comparison { context: *user.context(), prefer, over, total: false })?;
                    let error = now.mean - (user.mean(prefer) - user.mean(over));
                    Ok((error * error, now.sd))
                };
                seen.push(pairs.iter().map(assess).collect::<Result<Vec<_>, _>>()?);
            }
            Ok(seen)
        })?;
        let count = inside.iter().filter(|inside| **inside).count();
        let mut cells = vec![name.to_owned(), rank.to_string(), format!("{count} of {}", pairs.len())];
        for wanted in [true, false] {
            for (place, look) in looks.iter().enumerate() {
                let chosen = |life: &Vec<Vec<(f64, f64)>>| -> Vec<(f64, f64)> {
                    let seen = life.get(place).into_iter().flatten();
                    seen.zip(&inside)
                        .filter(|(_, inside)| **inside == wanted)
                        .map(|(seen, _)| *seen)
                        .collect()
                };
                let (squares, deviations): (Vec<f64>, Vec<f64>) = lives.iter().flat_map(chosen).unzip();
                let error = libm::sqrt(mean(&squares));
                cells.push(if squares.is_empty() {
                    String::new()
                } else {
                    format!("{error:.3} ({:.3})", mean(&deviations))
                });
                let kind = if wanted { "identified" } else { "hidden" };
                report.number(format!("reach.{key}.{kind}.{look}"), error);
            }
        }
        table.row(cells);
    }
    report.table(table);
    report.text(
        "What is not identified keeps most of its error however long one waits, and the posterior says so: its standard deviation
         stays as large as it is after 100 rounds. A contrast with a forbidden action is never settled by feedback; only what is said can move it.",
    );
    Ok(())
}
