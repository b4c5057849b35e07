//! Many users of one policy in memory: what a batch does to them, row by row, while other threads of Python go on.
//!
//! A batch is checked whole before anything happens, so that a row that is wrong leaves all users as they were.

use crate::fault::{Answer, Fault};
use crate::policy::{Held, user_bytes};
use fable_core::host::HostLearner;
use fable_core::journal::{Command, Scores};
use fable_core::preference::ProbeOutcome;
use fable_core::{
    Action, Context, DecisionId, Feasible, Policy, Request, Scalar, User, UserError, user_hash,
};
use fable_std::serve::{Refusal, knows_chances, refuse_decision};
use std::collections::HashSet;

/// Users of one scalar, and scratch for one.
pub struct Crowd<T> {
    pub learners: Vec<HostLearner<T>>,
    workspace: Vec<T>,
}

/// Users in the scalar of their policy.
pub enum Crowds {
    F32(Crowd<f32>),
    F64(Crowd<f64>),
}

/// What a row is decided on.
pub struct Asked {
    pub context: Context,
    pub feasible: Feasible,
}

/// What a row was decided to be.
pub struct Row {
    /// Which user.
    pub who: usize,
    pub id: DecisionId,
    pub action: Action,
    pub scores: Scores,
    pub feasible: usize,
    pub probes: Vec<ProbeOutcome>,
    pub propensity: Option<f64>,
}

/// A reward for a decision.
pub struct Reward {
    pub row: usize,
    pub who: usize,
    pub id: DecisionId,
    pub number: f64,
    pub weight: f32,
}

/// A refusal with the row that it is about.
fn at_row(row: usize, error: impl Into<Refusal>) -> Fault {
    let Refusal { code, message } = error.into();
    Fault::refused(code, format_args!("row {row}: {message}"))
}

impl Crowds {
    /// New users, or users of snapshots.
    pub fn new(held: &Held, names: &[String], snapshots: Option<&[Vec<u8>]>) -> Answer<Self> {
        Ok(match held {
            Held::F32(held) => Self::F32(Crowd::new(held.borrow_dependent(), names, snapshots)?),
            Held::F64(held) => Self::F64(Crowd::new(held.borrow_dependent(), names, snapshots)?),
        })
    }
}

/// Does something with users and their policy in whichever scalar they are.
macro_rules! with_crowd {
    ($held:expr, $crowds:expr, ($crowd:ident, $policy:ident) => $body:expr) => {
        match ($held, $crowds) {
            ($crate::policy::Held::F32(held), $crate::crowd::Crowds::F32($crowd)) => {
                let $policy = held.borrow_dependent();
                $body
            }
            ($crate::policy::Held::F64(held), $crate::crowd::Crowds::F64($crowd)) => {
                let $policy = held.borrow_dependent();
                $body
            }
            _ => Err($crate::life::mixed()),
        }
    };
}
pub(crate) use with_crowd;

impl<T: Scalar> Crowd<T> {
    fn new(policy: &Policy<'_, T>, names: &[String], snapshots: Option<&[Vec<u8>]>) -> Answer<Self> {
        // More than there is memory for is told instead of ending the process.
        let bytes = user_bytes(policy).checked_mul(names.len());
        let room = bytes.is_some_and(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_ok());
        let mut learners: Vec<HostLearner<T>> = Vec::new();
        if !room || learners.try_reserve_exact(names.len()).is_err() {
            return Err(Fault::range(format_args!("there is not enough memory for {} users", names.len())));
        }
        for (row, name) in names.iter().enumerate() {
            let mut learner = HostLearner::for_policy(policy);
            match snapshots {
                None => learner.start(policy, user_hash(name))?,
                Some(snapshots) => learner.restore(policy, snapshots.get(row).map_or(&[], Vec::as_slice))?,
            }
            if learner.state().user() != user_hash(name) {
                return Err(Fault::Here(
                    "foreign",
                    format!("row {row}: the snapshot is of another user than '{name}'"),
                ));
            }
            learners.push(learner);
        }
        Ok(Self { learners, workspace: vec![T::ZERO; policy.catalog().workspace_len()] })
    }

    /// One of them.
    pub fn user<'u>(
        &'u mut self,
        policy: &'u Policy<'u, T>,
        user: usize,
    ) -> Result<Option<User<'u, T>>, UserError> {
        let Self { learners, workspace } = self;
        learners.get_mut(user).map(|learner| learner.bind(policy, workspace)).transpose()
    }

    /// Decides every row, or none.
    pub fn decide(
        &mut self,
        policy: &Policy<'_, T>,
        who: &[usize],
        asked: &[Asked],
        draws: Option<u32>,
    ) -> Answer<(Vec<Row>, Option<Vec<f64>>)> {
        let Self { learners, workspace } = self;
        for (row, (user, asked)) in who.iter().zip(asked).enumerate() {
            let user = learners.get_mut(*user).ok_or(UserError::UnknownAction)?.bind(policy, workspace)?;
            let request = Request::new(&asked.context, &asked.feasible);
            user.narrow(&request).map_err(|error| {
                at_row(row, refuse_decision(policy.catalog(), error, &request, user.user_rules()))
            })?;
            user.state()
                .rounds()
                .checked_add(who.len() as u32)
                .ok_or_else(|| at_row(row, UserError::Exhausted))?;
        }
        let (actions, exact) = (policy.catalog().actions(), knows_chances(policy.settings()));
        let mut chances = vec![0.0; if exact || draws.is_some() { actions } else { 0 }];
        let (mut rows, mut all) =
            (Vec::with_capacity(who.len()), draws.map(|_| Vec::with_capacity(who.len() * actions)));
        for (row, (index, asked)) in who.iter().zip(asked).enumerate() {
            let mut user =
                learners.get_mut(*index).ok_or(UserError::UnknownAction)?.bind(policy, workspace)?;
            let mut command = Command::decide(Request::new(&asked.context, &asked.feasible)).scored();
            if !chances.is_empty() {
                command = command.with_propensities(draws.unwrap_or(0), &mut chances);
            }
            user.run(&mut command).map_err(|error| at_row(row, error))?;
            let made = command.decision(&user).zip(command.scores());
            let probed = !command.probes().is_empty();
            let (decision, scores) = made.ok_or(UserError::OutOfOrder)?; // it was just made
            let probes = if probed { user.probe_outcomes(decision.id).collect() } else { Vec::new() };
            let propensity = chances.get(decision.action.index()).copied();
            if let Some(all) = &mut all {
                all.extend_from_slice(&chances);
            }
            let feasible = user.state().permissions().len();
            rows.push(Row {
                who: *index,
                id: decision.id,
                action: decision.action,
                scores,
                feasible,
                probes,
                propensity,
            });
        }
        Ok((rows, all))
    }

    /// Learns every reward, or none.
    pub fn learn(&mut self, policy: &Policy<'_, T>, rewards: &[Reward], at: u32) -> Answer<()> {
        let Self { learners, workspace } = self;
        let mut seen = HashSet::with_capacity(rewards.len());
        for Reward { row, who, id, number, weight } in rewards {
            let mut user =
                learners.get_mut(*who).ok_or(UserError::UnknownDecision)?.bind(policy, workspace)?;
            // A step that is not applied has not happened.
            let mut command = Command::feedback(*id, *number).weighted(*weight).at(at);
            user.next(&mut command).map_err(|error| at_row(*row, error))?;
            if !seen.insert(*id) {
                return Err(at_row(*row, UserError::DuplicateFeedback));
            }
        }
        for Reward { row, who, id, number, weight } in rewards {
            let mut user =
                learners.get_mut(*who).ok_or(UserError::UnknownDecision)?.bind(policy, workspace)?;
            let mut command = Command::feedback(*id, *number).weighted(*weight).at(at);
            user.run(&mut command).map_err(|error| at_row(*row, error))?;
        }
        Ok(())
    }

    /// The best action of every row by what is known, and its score.
    pub fn recommend(
        &mut self,
        policy: &Policy<'_, T>,
        who: &[usize],
        asked: &[Asked],
    ) -> Answer<Vec<(Action, f64)>> {
        let Self { learners, workspace } = self;
        let mut best = Vec::with_capacity(who.len());
        for (row, (index, asked)) in who.iter().zip(asked).enumerate() {
            let mut user =
                learners.get_mut(*index).ok_or(UserError::UnknownAction)?.bind(policy, workspace)?;
            let request = Request::new(&asked.context, &asked.feasible);
            let (action, score) = user.recommend(&request).map_err(|error| at_row(row, error))?;
            best.push((action, score.to_f64()));
        }
        Ok(best)
    }
}
