//! The protocol: four domains, two profiles, three seeds, ten rounds to learn in and ten frozen ones for each.

use super::bench::Bench;
use super::host::{DOMAINS, Episode, Host, PROFILES, Profile, Task, Told};
use super::published::Estimate;
use crate::draw::{chance, shuffle};
use crate::policies::{
    Actor, Agent, FLAT, FROZEN, FULL, GLOBAL, HOST, INFORMED_HOST, Method, NO_COST, NO_ONBOARDING,
    NO_PROMOTION, ORACLE, PER_USER, RULE_ONLY, UNIFORM, flat,
};
use crate::setup::StudyError;
use crate::spread::flat_settings;
use crate::statistics::{cluster_bootstrap, mean};
use fable_core::catalog::tau2::{Style, TAU2};
use fable_core::catalog::{Direction, When};
use fable_core::preference::Verdict;
use fable_core::{Catalog, Context, Feasible, Policy, Promotion, Request, Settings, Statement};
use fable_simulate::Random;

/// The paper's ten policies in the order of its table, then two more flat ones and what brackets them all.
pub const METHODS: [Method; 15] = [
    HOST.named("Host baseline"),
    RULE_ONLY,
    GLOBAL,
    PER_USER,
    Method { factorized: false, ..FULL }.named("Flat complete-action LinTS"),
    NO_ONBOARDING,
    NO_PROMOTION,
    NO_COST,
    FROZEN.named("Fable (frozen)"),
    FULL,
    FLAT.named("Flat LinTS (no onboarding)"),
    Method { factorized: false, ..FULL }.named("Flat LinTS (surer prior)"),
    INFORMED_HOST,
    UNIFORM,
    ORACLE,
];
/// The position of the style among the components.
const STYLE: u8 = 2;
pub const FULL_ROW: usize = 9;
pub const FROZEN_ROW: usize = 8;
/// The flat model whose coordinates have the precision of the factorized ones, so that its scores are surer.
pub const SURER_ROW: usize = 11;
pub const ORACLE_ROW: usize = 14;
pub const SEEDS: usize = 3;
/// Tasks of a domain for evaluation, and as many to learn from; every second one is of the other profile.
pub const TASKS: usize = 20;

/// What is measured: its name and how.
pub type Metric = (&'static str, fn(&Episode) -> f64);
pub const METRICS: [Metric; 3] = [
    ("reward", Episode::utility),
    ("alignment", |episode| episode.alignment),
    ("success", |episode| episode.success),
];

/// The learner's settings: the paper's with the weight of costs in the paper's signal.
pub const PAPER: Settings<'static> = Settings { cost_weight: 0.2, ..Settings::PAPER };

/// Host and learner of an experiment.
#[derive(Clone, Copy)]
pub struct Conditions<'b> {
    /// Where the tasks come from; without it they are those of an earlier version of this study.
    pub bench: Option<&'b Bench>,
    /// The host in each domain.
    pub hosts: [Host; 4],
    pub settings: Settings<'static>,
    /// The precision of the statement at the start.
    pub stated: f64,
    /// The probability that a trajectory's statement is the opposite of what its profile likes.
    pub wrong: f64,
    /// Learning tasks of a domain, for both profiles together.
    pub learning: usize,
    /// Whether frozen rounds draw from the posterior, too; otherwise its mean decides there.
    pub drawn: bool,
}

impl Conditions<'_> {
    /// The tasks of a domain, the same for all seeds and policies: to learn from and to evaluate with.
    fn tasks(&self, domain: usize, world: u64) -> (Vec<Task>, Vec<Task>) {
        if let Some(bench) = self.bench {
            return bench.tasks(domain, world, self.learning, TASKS);
        }
        let rate = DOMAINS.get(domain).map_or(0.0, |(_, rate)| *rate);
        let drawn = |name: u64, count: usize| {
            let mut random = Random::new([world, domain as u64, 0x7a5c, name]);
            (0..count).map(|_| Task::draw(&mut random, rate)).collect::<Vec<Task>>()
        };
        (drawn(0, self.learning), drawn(1, TASKS))
    }
}

/// The frozen rounds of a policy: by seed, domain and task; and in how many of its trajectories something was promoted.
#[derive(Default)]
pub struct Outcome {
    pub episodes: Vec<[[Episode; TASKS]; 4]>,
    pub promoted: usize,
    pub trajectories: usize,
}

/// What is drawn as a whole when an interval is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clusters {
    /// The 80 tasks, with their seeds: the paper's.
    Tasks,
    /// The 24 trajectories, with their tasks.
    Trajectories,
}

/// A whole experiment, a policy after the other; those that were not asked for have no episodes.
pub struct Experiment(pub Vec<Outcome>);

/// "I want brief answers rather than guidance", or the other way round: in the flat model on all actions with the style.
pub(crate) fn statement(
    catalog: &Catalog<'_>,
    context: &Context,
    profile: Profile,
    precision: f64,
) -> Result<Statement, StudyError> {
    let (liked, other) = profile.styles();
    let direction = if catalog.dimension() == TAU2.dimension() {
        Direction::prefer(catalog, &[(STYLE, liked.index())], &[(STYLE, other.index())], When::Always)?
    } else {
        let mut entries = Vec::new();
        for action in catalog.all_actions().iter() {
            let style = catalog.values(action).and_then(|values| Style::from_index(*values.last()?));
            let sign = f64::from(u8::from(style == Some(liked))) - f64::from(u8::from(style == Some(other)));
            entries.extend(catalog.features(context, action).map(|(coordinate, _)| (coordinate, sign / 6.0)));
        }
        Direction::new(catalog, entries.into_iter().filter(|(_, coefficient)| *coefficient != 0.0))?
    };
    Ok(Statement { direction, response: 1.0, precision })
}

/// Whether a promoted preference asks for longer answers (1), for shorter ones (-1), or for something else (0).
pub fn longer(promotion: &Promotion) -> i32 {
    let sign = match promotion.verdict {
        Verdict::For => 1,
        Verdict::Against => -1,
        Verdict::Open => 0,
    };
    match TAU2.contrasts().get(usize::from(promotion.contrast)).map(|contrast| contrast.name) {
        Some("concise_over_direct" | "concise_over_guided") => -sign,
        Some("guided_over_direct") => sign,
        _ => 0,
    }
}

/// The position of the profile whose turn it is.
const fn turn(task: usize) -> usize {
    task % 2
}

struct Shard<'a> {
    host: &'a Host,
    method: Method,
    agents: Vec<Agent<'a>>,
    context: Context,
    all: Feasible,
    /// Whether frozen rounds draw.
    drawn: bool,
    /// What names the random numbers of an episode.
    name: [u64; 3],
}

impl Shard<'_> {
    fn episode(&mut self, task: &Task, number: usize, learning: bool) -> Result<Episode, StudyError> {
        let turn = turn(number);
        let profile = PROFILES[turn];
        let seat = if self.method.shared { 0 } else { turn };
        let Some(agent) = self.agents.get_mut(seat) else { return Ok(Episode::default()) };
        let request = Request::new(&self.context, &self.all);
        let host = self.host;
        let worth = |action| host.expected(task, profile, action, TAU2.cost(action));
        let chosen = if learning || self.drawn {
            agent.choose(&request, worth)?
        } else {
            agent.settled(&request, worth)?
        };
        let wanted = agent.learner().profile().iter().map(longer).sum::<i32>().clamp(-1, 1);
        let (told, cost) = match (chosen, self.method.actor) {
            (Some(action), _) => (Told::Action(action, wanted), TAU2.cost(action)),
            (None, Actor::InformedHost) => (Told::Preference(profile), 0.0),
            (None, _) => (Told::Nothing, 0.0),
        };
        let round = (number * 2 + usize::from(learning)) as u64;
        let mut random = Random::new([self.name[0], self.name[1], self.name[2], round]);
        let episode = host.serve(task, profile, told, cost, &mut random);
        if learning {
            agent.learn(episode.signal(if self.method.costs { 0.2 } else { 0.0 }))?;
        }
        Ok(episode)
    }
}

/// One policy through one experiment; the world names the tasks and all randomness, `luck` that of the host among the policies.
fn play(conditions: &Conditions<'_>, world: u64, row: usize, luck: usize) -> Result<Outcome, StudyError> {
    let method = METHODS.get(row).copied().unwrap_or(FULL);
    let context = TAU2.context(None, [])?;
    let complete = flat(&TAU2)?;
    let (catalog, settings) = if method.factorized {
        (&TAU2, conditions.settings)
    } else if row == SURER_ROW {
        (&complete, conditions.settings)
    } else {
        (&complete, flat_settings(&TAU2, &[context], conditions.settings))
    };
    let mut outcome = Outcome::default();
    for seed in 0..SEEDS {
        let policy = Policy::new(
            catalog,
            method.settings(Settings { seed: world * SEEDS as u64 + seed as u64, ..settings }),
        )?;
        let mut by_domain = [[Episode::default(); TASKS]; 4];
        for ((domain, host), episodes) in conditions.hosts.iter().enumerate().zip(&mut by_domain) {
            let (learning, evaluation) = conditions.tasks(domain, world);
            let mut agents = Vec::new();
            for (position, profile) in
                PROFILES.into_iter().enumerate().take(if method.shared { 1 } else { 2 })
            {
                let mut agent = Agent::new(&policy, method, (domain * 2 + position) as u64)?;
                if method.onboarded {
                    // Whoever listens hears the same, right or wrong.
                    let mut random =
                        Random::new([world, (domain * 2 + position) as u64, 0x57a7, seed as u64]);
                    let said =
                        if chance(&mut random, conditions.wrong) { PROFILES[1 - position] } else { profile };
                    agent.onboard(&[statement(catalog, &context, said, conditions.stated)?])?;
                }
                agents.push(agent);
            }
            let name = [world, luck as u64, (seed * 4 + domain) as u64];
            let (all, drawn) = (Feasible::all(catalog), conditions.drawn);
            let mut shard = Shard { host, method, agents, context, all, drawn, name };
            let mut order: Vec<usize> = (0..learning.len()).collect();
            shuffle(&mut Random::new([world, domain as u64, 0x04de, seed as u64]), &mut order);
            for number in order {
                let Some(task) = learning.get(number) else { continue };
                shard.episode(task, number, true)?;
            }
            for ((number, episode), task) in episodes.iter_mut().enumerate().zip(&evaluation) {
                *episode = shard.episode(task, number, false)?;
            }
            outcome.trajectories += shard.agents.len();
            outcome.promoted +=
                shard.agents.iter().filter(|agent| !agent.learner().profile().is_empty()).count();
        }
        outcome.episodes.push(by_domain);
    }
    Ok(outcome)
}

impl Experiment {
    /// Some policies in one world.
    pub fn run(conditions: &Conditions<'_>, world: u64, rows: &[usize]) -> Result<Self, StudyError> {
        let of = |row| {
            if rows.contains(&row) { play(conditions, world, row, row) } else { Ok(Outcome::default()) }
        };
        (0..METHODS.len()).map(of).collect::<Result<_, _>>().map(Self)
    }

    /// Full less another policy, on average.
    pub fn difference(&self, other: usize, of: fn(&Episode) -> f64) -> f64 {
        mean(&self.seed_means(FULL_ROW, of)) - mean(&self.seed_means(other, of))
    }

    /// The means of the seeds.
    pub fn seed_means(&self, row: usize, of: fn(&Episode) -> f64) -> Vec<f64> {
        let seeds = self.0.get(row).map(|outcome| outcome.episodes.as_slice()).unwrap_or_default();
        seeds.iter().map(|domains| mean(&domains.iter().flatten().map(of).collect::<Vec<_>>())).collect()
    }

    /// The mean in a domain.
    pub fn domain_mean(&self, row: usize, domain: usize, of: fn(&Episode) -> f64) -> f64 {
        let seeds = self.0.get(row).map(|outcome| outcome.episodes.as_slice()).unwrap_or_default();
        mean(&seeds.iter().filter_map(|domains| domains.get(domain)).flatten().map(of).collect::<Vec<_>>())
    }

    /// Full minus another policy, paired by domain, task and profile.
    pub fn contrast(
        &self,
        other: usize,
        of: fn(&Episode) -> f64,
        clusters: Clusters,
        resamples: usize,
    ) -> Estimate {
        let seeds =
            |row: usize| self.0.get(row).map(|outcome| outcome.episodes.as_slice()).unwrap_or_default();
        let (domains, tasks) = (DOMAINS.len(), TASKS);
        let count =
            if clusters == Clusters::Tasks { domains * tasks } else { SEEDS * domains * PROFILES.len() };
        let mut sums = vec![(0.0, 0.0); count];
        for (seed, (full, other)) in seeds(FULL_ROW).iter().zip(seeds(other)).enumerate() {
            for (domain, (full, other)) in full.iter().zip(other).enumerate() {
                for (task, (full, other)) in full.iter().zip(other).enumerate() {
                    let cluster = match clusters {
                        Clusters::Tasks => domain * tasks + task,
                        Clusters::Trajectories => (seed * domains + domain) * PROFILES.len() + turn(task),
                    };
                    let Some((sum, number)) = sums.get_mut(cluster) else { continue };
                    *sum += of(full) - of(other);
                    *number += 1.0;
                }
            }
        }
        let (sum, number) =
            sums.iter().fold((0.0, 0.0), |(sum, number), cluster| (sum + cluster.0, number + cluster.1));
        (if number > 0.0 { sum / number } else { 0.0 }, cluster_bootstrap(&sums, resamples, other as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_PROMOTION_ROW: usize = 6;

    fn conditions() -> Conditions<'static> {
        let hosts = [Host::STATED; 4];
        Conditions {
            bench: None,
            hosts,
            settings: PAPER,
            stated: 4.0,
            wrong: 0.0,
            learning: TASKS,
            drawn: false,
        }
    }

    fn utilities(conditions: &Conditions<'_>, row: usize, luck: usize) -> Vec<u64> {
        let outcome = play(conditions, 3, row, luck).unwrap();
        assert_eq!((outcome.promoted, outcome.trajectories), (0, 24));
        outcome.episodes.iter().flatten().flatten().map(|episode| episode.utility().to_bits()).collect()
    }

    /// What the study says of luck rests on this.
    #[test]
    fn where_nothing_is_promoted_promotion_changes_luck_alone() {
        let full = utilities(&conditions(), FULL_ROW, FULL_ROW);
        assert_eq!(full.len(), 240);
        assert_eq!(full, utilities(&conditions(), NO_PROMOTION_ROW, FULL_ROW));
        assert_ne!(full, utilities(&conditions(), NO_PROMOTION_ROW, NO_PROMOTION_ROW));
    }

    #[test]
    fn what_is_frozen_follows_its_statement_and_draws_only_if_asked_to() {
        let alignment = |conditions: &Conditions<'_>| {
            let outcome = play(conditions, 3, FROZEN_ROW, FROZEN_ROW).unwrap();
            mean(
                &outcome
                    .episodes
                    .iter()
                    .flatten()
                    .flatten()
                    .map(|episode| episode.alignment)
                    .collect::<Vec<_>>(),
            )
        };
        let right = alignment(&conditions());
        let wrong = alignment(&Conditions { wrong: 1.0, ..conditions() });
        let drawn = alignment(&Conditions { drawn: true, ..conditions() });
        assert!(right > 0.65 && wrong < 0.25, "{right} {wrong}");
        assert!(drawn < right - 0.02 && drawn > wrong, "{drawn}");
        // More to learn from changes nothing for what does not learn.
        assert_eq!(alignment(&Conditions { learning: 2 * TASKS, ..conditions() }), right);
    }
}
