//! Nobody has a preference: how often coins certify one, and how often an interval is wrong.

use super::coins::Table as Tossed;
use super::life;
use super::person::{Answers, Level, Person, SD, Says};
use super::stopping::Mixture;
use crate::parallel;
use crate::report::{Report, Table};
use crate::setup::{Setup, StudyError};
use crate::statistics::{mean, wilson};
use fable_core::catalog::{AGENT, Block, Definition, TAU2};
use fable_core::preference::Certifier;
use fable_core::{Catalog, Policy, Settings};

/// The contrasts, tasks and signals of `agent` over a dictionary of mains: what a coin shows does not depend on the dictionary,
/// and a round takes a tenth of the time.
const SMALL_AGENT: Catalog<'static> = Catalog::new(Definition {
    name: "agent-contrasts",
    blocks: &[Block::main(0), Block::main(1), Block::main(2)],
    ..*AGENT.definition()
});

/// The four kinds of rewards that the guarantee is for.
const KINDS: [(&str, Level, Says, Answers); 4] = [
    ("graded, noise of sd 0.3", Level::Still, Says::Graded(SD), Answers::AtOnce),
    ("drifting levels", Level::Drifting, Says::Graded(SD), Answers::AtOnce),
    ("thumbs", Level::Still, Says::Thumbs, Answers::AtOnce),
    ("late, the worse the later", Level::Still, Says::Graded(SD), Answers::Late),
];

fn percent(share: f64) -> String {
    format!("{:.2}%", 100.0 * share)
}

/// Lives with a coin for every component in every round.
struct Stress {
    certified: bool,
    coins: usize,
    /// Contrasts, and those that were ever outside of their interval of the average.
    intervals: (usize, usize),
    /// Whether the mixture test decided anything: with a variance of 0.09, and with that of the data.
    mixture: [bool; 2],
}

/// Whether intervals and the mixture test are looked at, too.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    Certificates,
    Everything,
}

fn stress(policy: &Policy<'_, f32>, person: &Person, rounds: u32, look: Look) -> Result<Stress, StudyError> {
    let contrasts = policy.catalog().contrasts().len();
    let mut table = Tossed::new(policy, person.number)?;
    table.truths = look == Look::Everything;
    let (mut truths, mut outside) = (vec![(0_u16, 0.0); contrasts], vec![false; contrasts]);
    let mut mixtures = vec![Mixture::default(); contrasts];
    let mut life = Stress { certified: false, coins: 0, intervals: (0, 0), mixture: [false; 2] };
    // Both directions in one: half of what a wealth takes.
    let needed = libm::log(policy.needed() / 2.0);
    for round in 1..=rounds {
        for coin in table.round(person, round)? {
            life.coins += 1;
            if look == Look::Certificates {
                continue;
            }
            mixtures[coin.contrast].add(coin.preferred, coin.reward);
            for (decided, variance) in life.mixture.iter_mut().zip([Some(SD * SD), None]) {
                *decided |= mixtures[coin.contrast].log_ratio(variance) >= needed;
            }
            let now = table.user().user().trial(coin.contrast)?;
            let (count, sum) = &mut truths[coin.contrast];
            if now.trials <= *count {
                (*count, *sum) = (0, 0.0); // it has started again
            }
            if now.trials > *count {
                *count = now.trials;
                *sum += coin.truth;
                let truth = *sum / f64::from(now.trials);
                outside[coin.contrast] |= truth < now.average.lower || truth > now.average.upper;
            }
        }
    }
    life.certified = table.ever();
    life.intervals =
        (truths.iter().filter(|(count, _)| *count > 0).count(), outside.iter().filter(|out| **out).count());
    Ok(life)
}

fn stressed(
    setup: &Setup,
    catalog: &'static Catalog<'static>,
    (count, rounds): (usize, u32),
    look: Look,
    person: impl Fn(u64) -> Person + Sync,
) -> Result<Vec<Stress>, StudyError> {
    let policy = Policy::new(catalog, Settings::PROBING)?;
    let label = format!("coins: {}", catalog.definition().name);
    parallel::map(setup, &label, count, |number| stress(&policy, &person(number as u64), rounds, look))
}

/// False certificates.
#[expect(clippy::too_many_lines, reason = "one table after the other")]
pub fn certificates(setup: &Setup, report: &mut Report) -> Result<(), StudyError> {
    let rounds = setup.scale(1_000, 60) as u32;
    let many = setup.scale(10_000, 6);
    report.heading("Nobody has a preference");
    report.text(&format!(
        "Lives of {rounds} rounds in which every action is worth the same, `Settings::PROBING` (rho 0.5, alpha 0.05, of which the coins have
         half), scores in `f32`. _Coins in every round_: the rule is set aside and every component gets a coin in every round
         that it can, through the learner's own events, since where nothing differs the rule tosses few; this is the test under
         the greatest stress. _The rule_: decisions as they are made. `agent-contrasts` are those of `agent` in their contexts over a
         dictionary of mains, because 10,000 lives with its 254 coordinates would take a quarter of an hour: a coin's reward does not know the
         dictionary. The rule itself has fewer lives, as the table says, and `agent` itself a few. Late answers come after up to 30 rounds,
         the worse the later."
    ));
    let heads = ["", "lives", "coins in a life", "lives with a certificate", "95% interval"];
    let mut table = Table::new("false", &heads);
    let mut worst: Vec<(String, f64, f64)> = Vec::new();
    let mut add =
        |report: &mut Report, name: String, lives: usize, coins: f64, wrong: usize, guaranteed: bool| {
            let (share, (lower, upper)) = (wrong as f64 / lives.max(1) as f64, wilson(wrong, lives));
            let range = format!("{} to {}", percent(lower), percent(upper));
            table.row([name.clone(), lives.to_string(), format!("{coins:.0}"), percent(share), range]);
            report.number(format!("false.{name}"), share);
            report.number(format!("coins.{name}"), coins);
            if guaranteed {
                worst.push((name, share, upper));
            }
        };
    for (place, (kind, level, says, answers)) in KINDS.into_iter().enumerate() {
        for (catalog, count) in [(&TAU2, many), (&SMALL_AGENT, many)] {
            let person =
                |number: u64| Person { level, says, answers, ..Person::indifferent(catalog, number) };
            let lives = stressed(setup, catalog, (count, rounds), Look::Certificates, person)?;
            let coins = mean(&lives.iter().map(|life| life.coins as f64).collect::<Vec<_>>());
            let wrong = lives.iter().filter(|life| life.certified).count();
            add(
                report,
                format!("{}, {kind}, coins in every round", catalog.definition().name),
                lives.len(),
                coins,
                wrong,
                true,
            );
        }
        let ruled = [
            (&TAU2, setup.scale(1_000, 4)),
            (&SMALL_AGENT, setup.scale(300, 2)),
            (&AGENT, setup.scale(20, 1)),
        ];
        for (catalog, count) in ruled.into_iter().take(if place == 2 { 3 } else { 1 }) {
            let person =
                |number: u64| Person { level, says, answers, ..Person::indifferent(catalog, number) };
            let lives = life::lives(setup, (catalog, Settings::PROBING), kind, (count, rounds), person)?;
            let coins = mean(&lives.iter().map(|life| life.coins as f64).collect::<Vec<_>>());
            let wrong = lives.iter().filter(|life| life.first(Certifier::Probes).is_some()).count();
            add(
                report,
                format!("{}, {kind}, the rule", catalog.definition().name),
                lives.len(),
                coins,
                wrong,
                false,
            );
        }
    }
    // Silence that is chosen, and a value that is liked no better but scatters more.
    let silent = |number: u64| Person {
        likes: vec![(2, 1, 0.0)],
        says: Says::Uneven,
        answers: Answers::IfPleased,
        ..Person::indifferent(&TAU2, number)
    };
    let lives = stressed(setup, &TAU2, (setup.scale(500, 3), rounds), Look::Certificates, silent)?;
    let coins = mean(&lives.iter().map(|life| life.coins as f64).collect::<Vec<_>>());
    let wrong = lives.iter().filter(|life| life.certified).count();
    add(
        report,
        "**tau2, silence that is chosen, coins in every round**".into(),
        lives.len(),
        coins,
        wrong,
        false,
    );
    let lives =
        life::lives(setup, (&TAU2, Settings::PROBING), "silence", (setup.scale(500, 3), rounds), silent)?;
    let coins = mean(&lives.iter().map(|life| life.coins as f64).collect::<Vec<_>>());
    let wrong = lives.iter().filter(|life| life.first(Certifier::Probes).is_some()).count();
    add(report, "**tau2, silence that is chosen, the rule**".into(), lives.len(), coins, wrong, false);
    report.table(table);
    report.text(
        "**What no coin can mend.** With silence that is chosen, people answer only what pleased them, and one style is worth as much on
         average as the others and scatters more (0.55 against 0.1). What is heard of it is better than what is
         heard of the others, and coins are certain of that. The guarantee is about what is reported; it needs answers that come or stay away
         whatever was felt, or rewards that are alike in distribution where nothing differs.",
    );
    let agents = |(name, ..): &(String, f64, f64)| name.starts_with("agent");
    let (agent, tau2): (Vec<_>, Vec<_>) = worst.into_iter().partition(agents);
    let of = |rows: Vec<(String, f64, f64)>| {
        let (name, share, upper) = rows
            .into_iter()
            .fold((String::new(), 0.0, 0.0), |worst, next| if next.2 > worst.2 { next } else { worst });
        (format!("at most {} ({name}; to {})", percent(share), percent(upper)), upper <= 0.05)
    };
    let ((tau2, tau2_reached), (agent, agent_reached)) = (of(tau2), of(agent));
    report.goal(
        "no preference, 1,000 rounds, graded, drifting, thumbs, late, 10,000 lives each on tau2: at most 5% with a false certificate",
        tau2,
        tau2_reached,
    );
    report.goal(&format!("the same on agent's contrasts, {many} lives each"), agent, agent_reached);
    Ok(())
}

/// Intervals of the average difference, and the mixture test, on the same coins.
pub fn intervals(setup: &Setup, report: &mut Report) -> Result<(), StudyError> {
    let (count, rounds) = (setup.scale(300, 3), setup.scale(1_000, 60) as u32);
    report.heading("At all times, on the same coins");
    report.text(&format!(
        "{count} lives of {rounds} rounds for each row, `tau2`, a coin for every component in every round. An interval of the average difference
         is wrong when the average of the true differences over the coins so far was ever outside; each may be
         so with 5%. Beside it, what a rule as experimentation services use would have done with the rewards of
         these coins (from the tenth of each arm on): a mixture sequential probability ratio test of two means (tau = 0.3) at the same alpha, with a variance of 0.09 that is assumed, and
         with that of the data. Where nothing differs every decision of it is false."
    ));
    let heads = [
        "",
        "intervals ever wrong",
        "certified",
        "mixture test, variance 0.09",
        "mixture test, variance of the data",
    ];
    let mut table = Table::new("intervals", &heads);
    let mut worst = 0.0_f64;
    let nothing = KINDS
        .into_iter()
        .take(3)
        .map(|(kind, level, says, _)| (format!("no preference, {kind}"), level, says, 0.0));
    let liked = [
        ("one style liked by 0.5".to_owned(), Level::Still, Says::Graded(SD), 0.5),
        ("one style liked by 0.5, thumbs".to_owned(), Level::Still, Says::Thumbs, 0.5),
        ("one style liked by 0.5, turning round and back".to_owned(), Level::Turning, Says::Graded(SD), 0.5),
    ];
    for (name, level, says, effect) in nothing.chain(liked) {
        let person = |number: u64| Person { level, says, ..Person::liking(&TAU2, 2, effect, number) };
        let lives = stressed(setup, &TAU2, (count, rounds), Look::Everything, person)?;
        let (all, wrong) =
            lives.iter().fold((0, 0), |sum, life| (sum.0 + life.intervals.0, sum.1 + life.intervals.1));
        let share = |of: &dyn Fn(&Stress) -> bool| {
            lives.iter().filter(|life| of(life)).count() as f64 / lives.len().max(1) as f64
        };
        let outside = wrong as f64 / all.max(1) as f64;
        worst = worst.max(outside);
        let shares =
            [share(&|life| life.certified), share(&|life| life.mixture[0]), share(&|life| life.mixture[1])];
        table.row([name.clone(), percent(outside)].into_iter().chain(shares.map(percent)));
        report.number(format!("outside.{name}"), outside);
        for (what, share) in ["coins", "assumed", "estimated"].into_iter().zip(shares) {
            report.number(format!("decided.{name}.{what}"), share);
        }
    }
    report.table(table);
    report.goal(
        "intervals of the average difference, at all times, levels and tastes drifting: at most 5% ever wrong",
        percent(worst),
        worst <= 0.05,
    );
    Ok(())
}
