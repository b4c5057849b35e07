//! A persona's four phases with a method, with a fixed action, and the tallies of both.

use super::host::{Round, Worth, asks, execute};
use super::{Note, Place, World};
use crate::candidate::{FADING, RESETTING, SHIPPED};
use crate::draw::{normal, shuffle};
use crate::parallel;
use crate::policies::{Agent, FLAT, FULL, Method, NO_COST, NO_ONBOARDING, ORACLE, RULE_ONLY, UNIFORM, flat};
use crate::setup::{Setup, StudyError};
use crate::spread::flat_settings;
use fable_core::catalog::ActionSet;
use fable_core::catalog::agent::{AGENT, Memory, Style, Tool, action, parts};
use fable_core::{Action, Catalog, Context, Feasible, Policy, Request, Settings};
use fable_simulate::Random;

/// What is compared.
#[derive(Clone, Copy)]
pub struct Row {
    pub key: &'static str,
    pub method: Method,
    settings: Settings<'static>,
}

const fn row(key: &'static str, method: Method, settings: Settings<'static>) -> Row {
    Row { key, method, settings }
}

pub const ROWS: [Row; 10] = [
    row("rule", RULE_ONLY, Settings::PAPER),
    row("flat", FLAT.named("Per-user LinTS (flat)"), Settings::PAPER),
    row("unasked", NO_ONBOARDING, Settings::PAPER),
    row("costless", NO_COST, Settings::PAPER),
    row("full", FULL, Settings::PAPER),
    row("shipped", FULL.named("Fable (full), as shipped"), SHIPPED.settings),
    row("fading", FULL.named("as shipped, half-life 20"), FADING.settings),
    row("resetting", FULL.named("as shipped, reset on a change"), RESETTING.settings),
    row("uniform", UNIFORM, Settings::PAPER),
    row("oracle", ORACLE, Settings::PAPER),
];

pub const MODES: [Memory; 5] = [
    Memory::NoMemory,
    Memory::RecentMemory,
    Memory::SemanticMemory,
    Memory::PreferenceMemory,
    Memory::ProfileSummary,
];

/// The sums of some rounds: reward, quality, nothing to correct, asked, the best action chosen, and each memory mode chosen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    rounds: f64,
    sums: [f64; 10],
}

pub const REWARD: usize = 0;
pub const QUALITY: usize = 1;
pub const RIGHT: usize = 2;
pub const ASKED: usize = 3;
pub const BEST: usize = 4;
pub const MODE: usize = 5;

impl Tally {
    fn add(&mut self, action: Action, round: &Round, reward: f64, best: bool) {
        let number = |holds: bool| f64::from(u8::from(holds));
        let values = [reward, round.quality, number(round.right), number(round.asked), number(best)];
        self.rounds += 1.0;
        self.sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        let mode =
            parts(action).and_then(|(memory, ..)| self.sums.get_mut(MODE + usize::from(memory.index())));
        if let Some(count) = mode {
            *count += 1.0;
        }
    }

    pub fn mean(&self, metric: usize) -> f64 {
        if self.rounds > 0.0 { self.sums.get(metric).copied().unwrap_or_default() / self.rounds } else { 0.0 }
    }
}

/// Somebody's life: the tallies of the four phases, and the rewards round by round.
#[derive(Clone, Debug, Default)]
pub struct Life {
    pub phases: [Tally; 4],
    pub rewards: [Vec<f64>; 4],
}

/// Who chooses in a life.
pub enum Chooser<'p> {
    Agent(Box<Agent<'p>>),
    /// Always the same.
    Fixed(Action),
}

/// A world with what may be done in it and what its host is told.
pub struct Study<'a> {
    pub world: &'a dyn World,
    pub feasible: Feasible,
    /// Whether personas state themselves again after the drift.
    pub restated: bool,
    pub seed: u64,
}

impl Study<'_> {
    fn round(&self, at: Place, action: Action, notes: &[Note], worth: &Worth) -> Round {
        let told = if self.restated { at.phase / 2 } else { 0 };
        let order = |memory| self.world.order(at, memory, notes, told);
        execute(action, worth, self.world.manner(at.person), order, |candidate| {
            self.world.refuses(at, candidate, told)
        })
    }

    /// What every feasible action would bring now. The five orders are worked out once.
    fn expected(&self, at: Place, notes: &[Note], worth: &Worth) -> Vec<f64> {
        let told = if self.restated { at.phase / 2 } else { 0 };
        let orders = MODES.map(|memory| self.world.order(at, memory, notes, told));
        let order = |memory: Memory| orders.get(usize::from(memory.index())).cloned().unwrap_or_default();
        let refused: Vec<bool> =
            (0..worth.right.len()).map(|candidate| self.world.refuses(at, candidate, told)).collect();
        let refused = |candidate: usize| refused.get(candidate) == Some(&true);
        let manner = self.world.manner(at.person);
        let of = |action| {
            let allowed = self.feasible.set().contains(action);
            if allowed {
                execute(action, worth, manner, order, refused).reward(0.0)
            } else {
                f64::NEG_INFINITY
            }
        };
        AGENT.all_actions().iter().map(of).collect()
    }

    pub fn live(&self, person: usize, mut chooser: Chooser<'_>) -> Result<Life, StudyError> {
        let mut life = Life::default();
        let mut notes: Vec<Note> = Vec::new();
        for (phase, (tally, rewards)) in life.phases.iter_mut().zip(&mut life.rewards).enumerate() {
            let learning = phase % 2 == 0;
            let mut rounds: Vec<usize> = (0..self.world.rounds(person, phase)).collect();
            if learning {
                shuffle(&mut Random::new([self.seed, person as u64, phase as u64, 0x0bde]), &mut rounds);
            }
            for round in rounds {
                let at = Place { person, phase, round };
                let Some((context, worth)) = self.world.request(at) else { continue };
                let request = Request::new(context, &self.feasible);
                let expected = self.expected(at, &notes, worth);
                let of = |action: Action| expected.get(action.index()).copied().unwrap_or(f64::NEG_INFINITY);
                let chosen = match &mut chooser {
                    Chooser::Fixed(action) => Some(*action),
                    Chooser::Agent(agent) if learning => agent.choose(&request, of)?,
                    Chooser::Agent(agent) => agent.settled(&request, of)?,
                };
                let chosen = chosen.unwrap_or_default();
                let result = self.round(at, chosen, &notes, worth);
                let noise = 0.05
                    * normal(&mut Random::new([
                        self.seed,
                        person as u64,
                        (phase * 1000 + round) as u64,
                        0x4015e,
                    ]));
                let best = expected.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                tally.add(chosen, &result, result.reward(noise), of(chosen) >= best - 1e-9);
                rewards.push(result.reward(noise));
                if learning {
                    notes.push(Note { at, delivered: result.delivered, right: result.right });
                    if let Chooser::Agent(agent) = &mut chooser {
                        agent.learn(if agent.method().costs {
                            result.reward(noise)
                        } else {
                            result.free(noise)
                        })?;
                    }
                }
            }
        }
        Ok(life)
    }

    /// Everybody's life with a method.
    fn lives(
        &self,
        row: &Row,
        complete: &Catalog<'_>,
        contexts: &[Context],
    ) -> Result<Vec<Life>, StudyError> {
        let settings = row.method.settings(Settings { seed: self.seed, ..row.settings });
        let policy = if row.method.factorized {
            Policy::new(&AGENT, settings)?
        } else {
            Policy::new(complete, flat_settings(&AGENT, contexts, settings))?
        };
        let people = (0..self.world.people()).map(|person| {
            let mut agent = Agent::new(&policy, row.method, person as u64)?;
            agent.onboard(self.world.statements(person))?;
            self.live(person, Chooser::Agent(Box::new(agent)))
        });
        people.collect()
    }
}

/// With somebody to ask, and with nobody.
pub fn feasible(asking: bool) -> Result<Feasible, StudyError> {
    let mut set = ActionSet::EMPTY;
    AGENT
        .all_actions()
        .iter()
        .filter(|action| asking || !asks(*action))
        .for_each(|action| set.insert(action));
    Ok(Feasible::from_set(&AGENT, set)?)
}

/// Lives by row, then seed, then person.
pub type Lives = Vec<Vec<Vec<Life>>>;

/// All rows of a reading.
pub fn methods(
    setup: &Setup,
    world: &dyn World,
    asking: bool,
    restated: bool,
    seeds: usize,
) -> Result<Lives, StudyError> {
    let complete = flat(&AGENT)?;
    let first =
        (0..world.people()).flat_map(|person| (0..world.rounds(person, 0)).map(move |round| (person, round)));
    let contexts: Vec<Context> = first
        .filter_map(|(person, round)| Some(*world.request(Place { person, phase: 0, round })?.0))
        .collect();
    let label = if asking { "somebody to ask" } else { "nobody to ask" };
    let lives = parallel::map(setup, label, ROWS.len() * seeds, |index| {
        let row = ROWS.get(index / seeds).ok_or_else(|| StudyError::Failed("there is no such row".into()))?;
        let study = Study { world, feasible: feasible(asking)?, restated, seed: (index % seeds) as u64 };
        study.lives(row, &complete, &contexts)
    })?;
    let mut lives = lives.into_iter();
    Ok(ROWS.iter().map(|_| lives.by_ref().take(seeds).collect()).collect())
}

/// Each memory mode whenever there is a request, no tool and a direct answer: by mode, seed and person.
pub fn forced(setup: &Setup, world: &dyn World, restated: bool, seeds: usize) -> Result<Lives, StudyError> {
    let lives = parallel::map(setup, "memory modes", MODES.len() * seeds, |index| {
        let memory = MODES.get(index / seeds).copied().unwrap_or(Memory::NoMemory);
        let study = Study { world, feasible: feasible(true)?, restated, seed: (index % seeds) as u64 };
        let fixed = action(memory, Tool::NoTool, Style::Direct);
        (0..world.people()).map(|person| study.live(person, Chooser::Fixed(fixed))).collect()
    })?;
    let mut lives = lives.into_iter();
    Ok(MODES.iter().map(|_| lives.by_ref().take(seeds).collect()).collect())
}
