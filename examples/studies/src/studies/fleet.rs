//! A population prior: what the journals of many users are worth to one nobody has seen.
//!
//! Users live through some rounds with the shipped settings, as `fable serve` has them; a prior is fitted to their journals (`fable_std::prior`, which is what
//! `fable prior fit` does); and users who were not among them live through their first 30 rounds with it and without it.

mod people;
pub mod world;

use crate::parallel;
use crate::plot::Plot;
use crate::report::{Report, Table};
use crate::setup::{Setup, StudyError};
use crate::statistics::{cluster_bootstrap, mean, mean_interval};
use crate::studies::prompts::exams::{ALIKE, EXAMS, Exams, Half};
use fable_core::catalog::{AGENT, Definition, TAU2};
use fable_core::{Catalog, Exploration, Policy, Settings};
use fable_std::prior::{Evidence, Kept, Population};
use people::{Candidate, Examined, Shopper, Simulated, TOKEN_COST};
use world::{Person, ROUNDS, Start, bold, fitted, isotropic, live, regret};

pub const ABOUT: &str =
    "a prior fitted to the journals of many users: what it saves one nobody has seen in 30 rounds";
pub const ABOUT_REAL: &str = "the same on real files: the shoppers of PAHF, and exams as users";

/// Rounds of a user who is learned from.
const LOGGED: usize = 60;

/// Somebody's regret, by way of starting and round.
type Ways = Vec<Vec<f64>>;

/// Ways of starting after the isotropic ones: the paper's draw, without and with the fitted prior, the fitted mean, and the fitted
/// prior, less boldly and as shipped.
const OTHERS: usize = 5;
/// Less bold than shipped.
const GENTLE: f64 = 2.0 / 3.0;

/// What a kind of people is expected to have in common.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Common {
    /// Something: a prior must save a fifth of the regret.
    Something,
    /// Nothing that a few of them show: a prior must not cost more than 2%.
    Nothing,
}

/// Which isotropic priors the best is taken from.
#[derive(Clone, Copy)]
enum Against {
    /// That of the defaults alone, which is what somebody has who chooses nothing.
    Defaults,
    /// Of any precision, as bold as shipped.
    Shipped,
    /// Of any precision and boldness.
    Any,
}

/// The regrets of one kind of people, by way of starting and user, each by round. The isotropic priors come first.
struct Outcome {
    key: &'static str,
    name: String,
    common: Common,
    /// What the users were learned from, on average.
    logged: usize,
    /// Imagined users of the fits, on average.
    shrinkage: f64,
    ways: Vec<Vec<Vec<f64>>>,
}

/// The sum of each user's regret.
fn totals(users: &[Vec<f64>]) -> Vec<f64> {
    users.iter().map(|rounds| rounds.iter().sum()).collect()
}

impl Outcome {
    fn isotropic(&self) -> &[Vec<Vec<f64>>] {
        self.ways.get(..isotropic().count()).unwrap_or_default()
    }

    /// The best isotropic prior in hindsight, with its settings; or that of the defaults.
    fn best(&self, against: Against) -> Option<(Settings<'static>, &Vec<Vec<f64>>)> {
        let cost = |users: &Vec<Vec<f64>>| mean(&totals(users));
        let shipped = Settings::default().exploration;
        isotropic()
            .zip(self.isotropic())
            .filter(|(settings, _)| match against {
                Against::Defaults => *settings == Settings::default(),
                Against::Shipped => settings.exploration == shipped,
                Against::Any => true,
            })
            .reduce(|best, next| if cost(next.1) < cost(best.1) { next } else { best })
    }

    /// One of the ways after the isotropic ones, in the order of [`OTHERS`].
    fn other(&self, place: usize) -> Option<&Vec<Vec<f64>>> {
        self.ways.get(isotropic().count() + place)
    }

    fn fitted(&self) -> Option<&Vec<Vec<f64>>> {
        self.ways.last()
    }

    /// How much less regret the fitted prior has than the best isotropic one, with a 95% interval over users.
    fn saved(&self, against: Against) -> (f64, (f64, f64)) {
        let (Some((_, best)), Some(fitted)) = (self.best(against), self.fitted()) else {
            return (0.0, (0.0, 0.0));
        };
        // A ratio of sums: clusters of (saved, cost) are drawn together.
        let clusters: Vec<(f64, f64)> =
            totals(best).into_iter().zip(totals(fitted)).map(|(best, own)| (best - own, best)).collect();
        let (saved, cost) =
            clusters.iter().fold((0.0, 0.0), |(saved, cost), (part, whole)| (saved + part, cost + whole));
        (if cost > 0.0 { saved / cost } else { 0.0 }, cluster_bootstrap(&clusters, 10_000, 7))
    }
}

/// Runs every way of starting for an unseen user.
fn ways(
    catalog: &Catalog<'_>,
    population: &Population,
    person: &dyn Person,
    number: u64,
) -> Result<Ways, StudyError> {
    let others: [Start<'_>; OTHERS] = [
        Start::Isotropic(Settings::PAPER),
        Start::Fitted(population, Settings::PAPER),
        Start::Mean(population),
        Start::Fitted(population, bold(GENTLE)),
        Start::Fitted(population, Settings::default()),
    ];
    isotropic()
        .map(Start::Isotropic)
        .chain(others)
        .map(|start| regret(catalog, start, person, number))
        .collect()
}

/// From users with their ways to ways with their users.
fn turned(users: Vec<Ways>) -> Vec<Vec<Vec<f64>>> {
    let mut turned = vec![Vec::new(); isotropic().count() + OTHERS];
    for user in users {
        turned.iter_mut().zip(user).for_each(|(way, rounds)| way.push(rounds));
    }
    turned
}

/// Imagined users; 0 where nothing of the fit was kept.
fn imagined(population: &Population) -> f64 {
    if let Kept::Fitted { imagined, .. } = population.kept { imagined } else { 0.0 }
}

/// Simulated users: so many are learned from, so many are unseen.
fn simulated(
    setup: &Setup,
    catalog: &Catalog<'_>,
    (key, name): (&'static str, String),
    logged: usize,
    unseen: usize,
) -> Result<Outcome, StudyError> {
    let policy = Policy::new(catalog, Settings::default())?;
    let journals = parallel::map(setup, &format!("{name}: journals"), logged, |user| {
        Ok(live(&policy, &Simulated::new(catalog, 1, user as u64)?, user as u64, LOGGED)?.evidence)
    })?;
    let options = fable_std::prior::Options { threads: setup.threads, ..Default::default() };
    let population = fable_std::prior::fit(&policy, &journals, &options)?;
    let users = parallel::map(setup, &format!("{name}: unseen users"), unseen, |user| {
        let number = (1 << 19) + user as u64;
        ways(catalog, &population, &Simulated::new(catalog, 1, number)?, number)
    })?;
    Ok(Outcome {
        key,
        name,
        common: Common::Something,
        logged,
        shrinkage: imagined(&population),
        ways: turned(users),
    })
}

/// Every one of a few people is unseen once, and the others are learned from; with several seeds of the draws.
fn left_out<'a>(
    setup: &Setup,
    catalog: &Catalog<'_>,
    (key, name, common): (&'static str, &str, Common),
    people: usize,
    seeds: usize,
    rounds: usize,
    person: impl Fn(usize, u64) -> Box<dyn Person + 'a> + Sync,
) -> Result<Outcome, StudyError> {
    let policy = Policy::new(catalog, Settings::default())?;
    let journals = parallel::map(setup, &format!("{name}: journals"), people * seeds, |index| {
        let (seed, who) = ((index / people) as u64, index % people);
        Ok(live(&policy, &*person(who, seed), index as u64, rounds)?.evidence)
    })?;
    let results = parallel::map(setup, &format!("{name}: left out"), people * seeds, |index| {
        let (seed, who) = (index / people, index % people);
        let others =
            journals.iter().skip(seed * people).take(people).enumerate().filter(|(other, _)| *other != who);
        let others: Vec<Evidence> = others.map(|(_, evidence)| evidence.clone()).collect();
        let population = fitted(setup, catalog, &others)?;
        // Another life of the one who was left out.
        let number = (people * seeds + index) as u64;
        Ok((imagined(&population), ways(catalog, &population, &*person(who, (seeds + seed) as u64), number)?))
    })?;
    let (shrinkages, all): (Vec<f64>, Vec<Ways>) = results.into_iter().unzip();
    // The seeds of a person are one cluster: their mean.
    let users = (0..people).map(|who| {
        let lives: Vec<&Ways> = all.iter().skip(who).step_by(people).collect();
        let over = |way: usize, round: usize| {
            mean(&lives.iter().filter_map(|life| life.get(way)?.get(round)).copied().collect::<Vec<f64>>())
        };
        (0..isotropic().count() + OTHERS)
            .map(|way| (0..ROUNDS).map(|round| over(way, round)).collect())
            .collect()
    });
    Ok(Outcome {
        key,
        name: name.to_owned(),
        common,
        logged: people - 1,
        shrinkage: mean(&shrinkages),
        ways: turned(users.collect()),
    })
}

/// Runs the study of simulated users.
pub fn run(setup: &Setup) -> Result<Report, StudyError> {
    let unseen = setup.scale(400, 20);
    let counts: &[usize] = if setup.reduced { &[12, 30] } else { &[10, 20, 50, 100, 200, 400] };
    let mut by_count = Vec::new();
    for count in counts {
        by_count.push(simulated(
            setup,
            &TAU2,
            ("tau2", format!("simulated, tau2, {count} logged")),
            *count,
            unseen,
        )?);
    }
    let mut outcomes: Vec<Outcome> = by_count.pop().into_iter().collect();
    if !setup.reduced {
        outcomes.push(simulated(setup, &AGENT, ("agent", "simulated, agent, 100 logged".into()), 100, 200)?);
    }
    let mut report = Report::new("a prior from the journals of many, for those who come");
    goals(&mut report, &outcomes);
    report.text(METHOD);
    report.text(
        "Simulated users are not Gaussian: each is 0.6 of a taste that all share, 0.6 of that of one of three types, and 0.5 of an
         own one, tastes as the simulator draws them (a few strong likings, length 1). All of this was chosen before the first
         run.",
    );
    report.table(summary(&outcomes));
    report.table(by_users(&by_count, outcomes.first()));
    report.text(
        "Simulated users of `tau2`: how much less regret, by the number of users that were learned from.",
    );
    shown_and_numbered(&mut report, &by_count, &outcomes);
    Ok(report)
}

/// Runs the study of shoppers and exams.
pub fn run_real(setup: &Setup) -> Result<Report, StudyError> {
    let outcomes = [shopping(setup)?, exams(setup)?, candidates(setup)?];
    let mut report = Report::new("the same on real files: shoppers, and exams as users");
    goals(&mut report, &outcomes);
    report.text(&format!(
        "As in `fleet`, but each of the 20 shoppers (`pahf-shopping`, phase 1) and of the ten exams (`prompts`) is unseen once, and
         the prior is fitted to the journals of the others: 45 offers of phase 1, 60 questions. The shoppers' rewards are 2 quality
         - 1, as in `pahf-shopping`, without onboarding; the exams' (gpt-35-turbo, four styles of prompt, no context) are whether a
         recorded attempt was right less {TOKEN_COST} for each 100 tokens of the answer, a high price. Rewards, catalogs and
         settings were chosen before the first run. The last row was added later: the same exams with rewards, costs and reporting half of
         the study `prompts`, where tokens are cheap. What decides whether a fit is kept (2 nats, half a standard error, four times the
         precision) was chosen after looking at these three kinds of people, so it is not a test of that choice.",
    ));
    report.table(summary(&outcomes));
    report.text(
        "The shoppers' tastes have nothing in common. How much a feature is liked, on average over the ten or so shoppers of its product,
         scatters by 0.25 (on the scale 0, 1, 2), and chance alone would give 0.24. The fit finds that too, nothing is kept of it, and
         they start with the shipped prior; what is left is how far that one is from the best in hindsight. Likelihood would
         have it far more precise there, because so little can be foretold, and the regret would be half as much again: they find what they
         like by trying.",
    );
    report.text(
        "Exams agree where tokens are dear, because then short answers win nearly everywhere, and a prior can know that. With the
         rewards of `prompts` they do not: the best style differs from exam to exam, 60 rewards of +1 and -1 tell little about one,
         and nine exams little about exams. The best isotropic prior is then one that hardly learns in 30 rounds and goes by the
         known costs. Left-out exams are foretold a little better by a more precise prior than the shipped one, mostly by less than
         a nat, and that is as far as their journals go.",
    );
    shown_and_numbered(&mut report, &[], &outcomes);
    Ok(report)
}

const METHOD: &str =
    "Users who are learned from live 60 rounds with the shipped settings, which explore by optimism. `fable_std::prior`, which is
    `fable prior fit`, makes a prior of their journals: mean and arrow-shaped precision by expectation and maximization, if left-out users
    are clearly likelier under it, and otherwise the shipped prior, or one four times as precise. Unseen users then live their first 30
    rounds with it and the shipped settings. What it is compared with is the best isotropic prior in hindsight, by the regret of the
    very users that are compared: of nine precisions, from a sixteenth of the shipped one to 16 times, as bold as shipped; and, harder,
    of those nine with five boldnesses (c from a third of the shipped one to twice), while the fitted prior keeps the shipped c. Nobody can
    choose in hindsight; the last column, added later and without a goal, is against the shipped defaults.
    _Fitted mean_ is the fitted mean with one precision for all coordinates. _The paper's draw_ is `Settings::PAPER` with its own isotropic prior, and
    with the prior that was fitted to the journals of the shipped settings; these columns and the one with two thirds of the boldness
    count for no goal. What decides whether a fit is kept was chosen after looking at these people and those of `fleet-real`. Regret is the mean reward of the best allowed action less that of the one taken, in sum over the rounds;
    intervals are of the bootstrap over users.";

fn goals(report: &mut Report, outcomes: &[Outcome]) {
    for outcome in outcomes {
        for (against, which) in [(Against::Shipped, "as bold as shipped"), (Against::Any, "of any boldness")]
        {
            let (saved, (lower, upper)) = outcome.saved(against);
            let (what, most) = match outcome.common {
                Common::Something => ("at least 20% less regret in 30 rounds than", -0.2),
                Common::Nothing => ("at most 2% more regret in 30 rounds than", 0.02),
            };
            let value = format!("{} ({} to {})", percent(-saved), percent(-upper), percent(-lower));
            report.goal(
                &format!("{}: {what} the best isotropic prior, {which}", outcome.name),
                value,
                -saved <= most,
            );
        }
    }
}

fn shown_and_numbered(report: &mut Report, by_count: &[Outcome], outcomes: &[Outcome]) {
    for outcome in outcomes {
        report.plot(curves(outcome));
    }
    for outcome in by_count.iter().chain(outcomes) {
        numbers(report, outcome);
    }
}

fn shopping(setup: &Setup) -> Result<Outcome, StudyError> {
    let market = people::shoppers(setup)?;
    let kinds: Vec<&str> = market.kinds.iter().map(String::as_str).collect();
    let catalog = Catalog::try_new(Definition { tasks: &kinds, ..people::SHOPPING })?;
    let rounds = market
        .shoppers
        .iter()
        .map(|shopper| Shopper { catalog: &catalog, shopper }.rounds())
        .min()
        .unwrap_or_default();
    let person = |who: usize, _: u64| -> Box<dyn Person + '_> {
        Box::new(Shopper { catalog: &catalog, shopper: &market.shoppers[who] })
    };
    let people = setup.scale(market.shoppers.len(), 6).min(market.shoppers.len());
    left_out(
        setup,
        &catalog,
        ("shopping", "pahf-shopping", Common::Nothing),
        people,
        setup.scale(2, 1),
        rounds,
        person,
    )
}

fn exams(setup: &Setup) -> Result<Outcome, StudyError> {
    let exams = people::exams(setup)?;
    let catalog = Catalog::try_new(people::STYLES)?;
    let person = |who: usize, seed: u64| -> Box<dyn Person + '_> {
        Box::new(Examined { catalog: &catalog, exam: &exams[who], seed: seed * 1000 + who as u64 })
    };
    left_out(
        setup,
        &catalog,
        ("exams", "prompts, exams as users", Common::Something),
        exams.len(),
        setup.scale(200, 4),
        LOGGED,
        person,
    )
}

fn candidates(setup: &Setup) -> Result<Outcome, StudyError> {
    let exams = Exams::read(setup, Half::Reporting)?;
    let person = |who: usize, seed: u64| -> Box<dyn Person + '_> {
        Box::new(Candidate { exams: &exams, exam: who, seed: seed * 1000 + who as u64 })
    };
    let who = ("candidates", "prompts, exams as users, rewards of prompts", Common::Nothing);
    left_out(setup, &ALIKE, who, EXAMS, setup.scale(200, 4), LOGGED, person)
}

fn percent(value: f64) -> String {
    format!("{:+.1}%", 100.0 * value)
}

fn shown(settings: &Settings<'_>) -> String {
    let boldness = match settings.exploration {
        Exploration::Optimistic(c) => format!("c = {c:.1}"),
        Exploration::Constant(nu) => format!("nu = {nu:.1}"),
        _ => String::new(),
    };
    format!("{} per feature, {boldness}", settings.precision_per_feature)
}

/// A way of starting: its key among the numbers, its name in tables, and everybody's regret by round.
type Way<'o> = (&'static str, &'static str, Option<&'o Vec<Vec<f64>>>);

/// Ways of starting with what they are called.
fn named(outcome: &Outcome) -> [Way<'_>; 8] {
    let best = |against| outcome.best(against).map(|(_, users)| users);
    [
        ("defaults", "defaults", best(Against::Defaults)),
        ("best", "best isotropic", best(Against::Shipped)),
        ("any", "best of any c", best(Against::Any)),
        ("fitted", "fitted prior", outcome.fitted()),
        ("gentle", "the same, 2/3 as bold", outcome.other(3)),
        ("mean", "fitted mean", outcome.other(2)),
        ("draw", "the paper's draw", outcome.other(0)),
        ("draw_fitted", "the draw, fitted prior", outcome.other(1)),
    ]
}

fn summary(outcomes: &[Outcome]) -> Table {
    let names: Vec<&str> =
        outcomes.first().map(|outcome| named(outcome).map(|way| way.1).to_vec()).unwrap_or_default();
    let rest = [
        "best isotropic is",
        "best of any c is",
        "fitted against the best isotropic",
        "against any c",
        "against the defaults",
    ];
    let heads: Vec<&str> = ["regret in 30 rounds", "logged"].into_iter().chain(names).chain(rest).collect();
    let mut table = Table::new("summary", &heads);
    let cell = |users: Option<&Vec<Vec<f64>>>| {
        users.map_or_else(String::new, |users| format!("{:.2}", mean(&totals(users))))
    };
    for outcome in outcomes {
        let which =
            |against| outcome.best(against).map_or_else(String::new, |(settings, _)| shown(&settings));
        let more = |against| percent(-outcome.saved(against).0);
        let costs = named(outcome).map(|(_, _, users)| cell(users));
        let both = [Against::Shipped, Against::Any];
        let (saved, (lower, upper)) = outcome.saved(Against::Defaults);
        let defaults = format!("{} ({} to {})", percent(-saved), percent(-upper), percent(-lower));
        let rest = both.map(which).into_iter().chain(both.map(more)).chain([defaults]);
        table.row([outcome.name.clone(), outcome.logged.to_string()].into_iter().chain(costs).chain(rest));
    }
    table
}

fn by_users(by_count: &[Outcome], last: Option<&Outcome>) -> Table {
    let mut table = Table::new(
        "users",
        &["logged users", "imagined users", "regret", "95% interval", "against the best isotropic"],
    );
    for outcome in by_count.iter().chain(last) {
        let regrets = outcome.fitted().map(|users| totals(users)).unwrap_or_default();
        let (lower, upper) = mean_interval(&regrets);
        table.row([
            outcome.logged.to_string(),
            format!("{:.1}", outcome.shrinkage),
            format!("{:.2}", mean(&regrets)),
            format!("{lower:.2} to {upper:.2}"),
            percent(-outcome.saved(Against::Shipped).0),
        ]);
    }
    table
}

fn curves(outcome: &Outcome) -> Plot {
    let mut plot = Plot::new(
        outcome.key,
        &format!("Cumulative regret of unseen users: {}", outcome.name),
        "round",
        "regret",
    );
    for (_, name, users) in
        named(outcome).into_iter().filter(|way| ["defaults", "best", "mean", "fitted"].contains(&way.0))
    {
        let Some(users) = users else { continue };
        let until =
            |round: usize| users.iter().map(|rounds| rounds.iter().take(round).sum()).collect::<Vec<f64>>();
        let rounds: Vec<(f64, Vec<f64>)> = (0..=ROUNDS).map(|round| (round as f64, until(round))).collect();
        let band = rounds
            .iter()
            .map(|(round, regrets)| (*round, mean_interval(regrets).0, mean_interval(regrets).1))
            .collect();
        plot.banded(name, rounds.iter().map(|(round, regrets)| (*round, mean(regrets))).collect(), band);
    }
    plot
}

fn numbers(report: &mut Report, outcome: &Outcome) {
    let key = format!("{}.{}", outcome.key, outcome.logged);
    for (name, _, users) in named(outcome) {
        report.number(format!("{key}.{name}"), users.map_or(0.0, |users| mean(&totals(users))));
    }
    report.number(format!("{key}.shrinkage"), outcome.shrinkage);
    report.number(format!("{key}.saved from the defaults"), outcome.saved(Against::Defaults).0);
}
