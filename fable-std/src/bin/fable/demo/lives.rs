//! Learners that live with the simulated user: Fable, and the two it is compared with, all of them the same learner.
//!
//! *Rules only* takes the action with the best default score less cost and never learns. *Flat* learns one weight per
//! complete action, with the same code: its dictionary has a single block. At the prior its scores scatter as Fable's do, and
//! where Fable is optimistic it draws: of optimism from 0.1 to 1.5 and a draw with nu 0.3, each with a precision of 1, 4, 16 and
//! 64, a draw with 4 did best for it in 300 rounds of eight users of `agent`. Coins are Fable's alone, and so is what they cost.

use fable_core::catalog::{Block, Definition};
use fable_core::catalog::{BlockSet, CatalogError};
use fable_core::host::HostLearner;
use fable_core::journal::Command;
use fable_core::settings::table;
use fable_core::{Catalog, Exploration, Feasible, HostUser, Policy, Request, Settings, UserError};
use fable_std::simulate::SimulatedUser;
use std::error::Error;
use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Somebody who lives with the user, in one of the lives.
pub(super) fn companion<'p>(policy: &Policy<'p, f32>, life: u64) -> Result<HostUser<'p, f32>, UserError> {
    let mut learner = HostLearner::for_policy(policy);
    learner.start(policy, life)?;
    HostUser::from_learner(policy, learner)
}

/// The mean of what is believed about theta.
pub(super) fn mean(companion: &mut HostUser<'_, f32>) -> Result<Vec<f64>, UserError> {
    let mut mean = vec![0.0; companion.policy().catalog().dimension()];
    let mut user = companion.user();
    let (posterior, scratch) = user.posterior_and_scratch();
    posterior.mean(scratch, &mut mean)?;
    Ok(mean.into_iter().map(f64::from).collect())
}

/// Who lives with the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Fable,
    Flat,
    Rules,
    /// Someone who knows the hidden preferences: no learner, and out of reach.
    Best,
}

impl Kind {
    pub(super) const ALL: [Self; 4] = [Self::Fable, Self::Flat, Self::Rules, Self::Best];
}

/// The catalog whose dictionary has one block, a weight per complete action.
pub(super) fn flat<'c>(catalog: &Catalog<'c>) -> Result<Catalog<'c>, CatalogError> {
    Catalog::try_new(Definition { blocks: const { &[Block::complete()] }, ..*catalog.definition() })
}

/// The settings that suit the flat learner.
pub(super) fn flat_settings(settings: Settings<'_>) -> Settings<'_> {
    let base_precision =
        settings.base_precision.map(|own| (own / 4.0).max(table::BASE_PRECISION.range.least));
    let exploration = match settings.exploration {
        Exploration::Optimistic(_) => Settings::PAPER.exploration,
        own => own,
    };
    Settings { base_precision, exploration, probe: 0.0, retained: BlockSet::FULL, ..settings }
}

type Life = Result<Vec<f64>, Box<dyn Error + Send + Sync>>;

/// The lives of each kind.
type Lives = Vec<(Kind, Vec<Vec<f64>>)>;

/// So many lives of each kind, in order; on all processors, for they are what the demo has to wait for.
pub(super) fn all(
    user: &SimulatedUser<'_>,
    feasible: &Feasible,
    policy: &Policy<'_, f32>,
    lives: u64,
    rounds: u32,
) -> Result<Lives, Box<dyn Error>> {
    let jobs: Vec<(Kind, u64)> =
        Kind::ALL.into_iter().flat_map(|kind| (0..lives).map(move |life| (kind, life))).collect();
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some((kind, life)) = jobs.get(index) else { return done };
            done.push((index, *kind, live(*kind, user, feasible, policy, *life, rounds)));
        }
    };
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(jobs.len());
    let mut done: Vec<(usize, Kind, Life)> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        workers
            .into_iter()
            .flat_map(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic)))
            .collect()
    });
    done.sort_by_key(|(index, ..)| *index);
    let mut kinds = Kind::ALL.map(|kind| (kind, Vec::new()));
    for (_, kind, life) in done {
        if let Some((_, lives)) = kinds.iter_mut().find(|(own, _)| *own == kind) {
            lives.push(life.map_err(|error| -> Box<dyn Error> { error })?);
        }
    }
    Ok(kinds.into())
}

/// The mean reward of what was chosen in each round of a life. The policy is Fable's: the others have its settings, not its prior.
fn live(
    kind: Kind,
    user: &SimulatedUser<'_>,
    feasible: &Feasible,
    policy: &Policy<'_, f32>,
    life: u64,
    rounds: u32,
) -> Life {
    let user = user.clone().in_life(life);
    let flat = flat(user.catalog())?;
    let mut companion = match kind {
        Kind::Fable => companion(policy, life)?,
        Kind::Flat => companion(&Policy::new(&flat, flat_settings(*policy.settings()))?, life)?,
        Kind::Rules | Kind::Best => companion(&Policy::new(policy.catalog(), *policy.settings())?, life)?,
    };
    let mut learner = companion.user();
    (1..=rounds)
        .map(|round| {
            let context = user.request(round)?.context;
            let request = Request::new(&context, feasible);
            let action = match kind {
                Kind::Rules => learner.recommend(&request)?.0,
                Kind::Best => user.best(&context, feasible).0,
                Kind::Fable | Kind::Flat => {
                    let decision = learner.decide(&request)?;
                    learner.run(&mut Command::feedback(
                        decision.id,
                        user.reward(round, &context, decision.action),
                    ))?;
                    decision.action
                }
            };
            Ok(user.expected(&context, action))
        })
        .collect()
}
