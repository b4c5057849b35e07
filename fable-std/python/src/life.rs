//! The memory of one user in either scalar, and what is done with it while Python does something else.

use crate::fault::{Answer, Fault};
use crate::policy::Held;
use fable_core::host::HostLearner;
use fable_core::journal::{Command, Scores};
use fable_core::preference::ProbeOutcome;
use fable_core::{Decision, Policy, Request, Scalar, User, UserError};
use fable_std::serve::{knows_chances, refuse_decision};
use std::sync::{Mutex, MutexGuard, TryLockError};

/// What is known about a user, and scratch.
#[derive(Debug)]
pub struct Life<T> {
    pub learner: HostLearner<T>,
    pub workspace: Vec<T>,
}

impl<T: Scalar> Life<T> {
    /// Memory without a user.
    fn new(policy: &Policy<'_, T>) -> Self {
        Self {
            learner: HostLearner::for_policy(policy),
            workspace: vec![T::ZERO; policy.catalog().workspace_len()],
        }
    }

    /// The user, with all the verbs.
    pub fn user<'u>(&'u mut self, policy: &'u Policy<'u, T>) -> Result<User<'u, T>, UserError> {
        self.learner.bind(policy, &mut self.workspace)
    }
}

/// A life in the scalar of its policy.
#[derive(Debug)]
pub enum Lives {
    F32(Box<Life<f32>>),
    F64(Box<Life<f64>>),
}

impl Lives {
    /// Memory without a user.
    pub fn new(held: &Held) -> Self {
        match held {
            Held::F32(held) => Self::F32(Box::new(Life::new(held.borrow_dependent()))),
            Held::F64(held) => Self::F64(Box::new(Life::new(held.borrow_dependent()))),
        }
    }

    /// Begins at the prior.
    pub fn start(held: &Held, user: u64) -> Answer<Self> {
        let mut lives = Self::new(held);
        match (held, &mut lives) {
            (Held::F32(held), Self::F32(life)) => life.learner.start(held.borrow_dependent(), user)?,
            (Held::F64(held), Self::F64(life)) => life.learner.start(held.borrow_dependent(), user)?,
            _ => return Err(mixed()),
        }
        Ok(lives)
    }

    /// Goes on from a snapshot.
    pub fn restore(held: &Held, bytes: &[u8]) -> Answer<Self> {
        let mut lives = Self::new(held);
        match (held, &mut lives) {
            (Held::F32(held), Self::F32(life)) => life.learner.restore(held.borrow_dependent(), bytes)?,
            (Held::F64(held), Self::F64(life)) => life.learner.restore(held.borrow_dependent(), bytes)?,
            _ => return Err(mixed()),
        }
        Ok(lives)
    }
}

/// A life and a policy of different scalars, which nothing makes.
pub fn mixed() -> Fault {
    Fault::internal("a user and its policy are in different scalars")
}

/// Does something with the user of a policy in whichever scalar it is.
macro_rules! with_user {
    ($held:expr, $lives:expr, $user:ident => $body:expr) => {
        match ($held, $lives) {
            ($crate::policy::Held::F32(held), $crate::life::Lives::F32(life)) => {
                #[allow(unused_mut, reason = "some only look")]
                let mut $user = life.user(held.borrow_dependent())?;
                $body
            }
            ($crate::policy::Held::F64(held), $crate::life::Lives::F64(life)) => {
                #[allow(unused_mut, reason = "some only look")]
                let mut $user = life.user(held.borrow_dependent())?;
                $body
            }
            _ => Err($crate::life::mixed()),
        }
    };
}
pub(crate) use with_user;

/// The memory of an object, which one thread may use at a time: the other one is told.
pub fn locked<'m, T>(memory: &'m Mutex<T>, what: &str) -> Answer<MutexGuard<'m, T>> {
    match memory.try_lock() {
        Ok(guard) => Ok(guard),
        Err(TryLockError::WouldBlock) => Err(Fault::busy(what)),
        Err(TryLockError::Poisoned(_)) => Err(Fault::internal("an earlier call has failed in the middle")),
    }
}

/// A decision with everything that can be told about it.
#[derive(Debug)]
pub struct Made {
    pub decision: Decision,
    pub scores: Scores,
    pub feasible: usize,
    pub probes: Vec<ProbeOutcome>,
    pub propensity: Option<f64>,
    pub propensities: Option<Vec<f64>>,
}

/// Decides.
pub fn decide<T: Scalar>(user: &mut User<'_, T>, request: Request<'_>, draws: Option<u32>) -> Answer<Made> {
    let exact = knows_chances(user.policy().settings());
    let mut propensities = (exact || draws.is_some()).then(|| vec![0.0; user.policy().catalog().actions()]);
    let mut command = Command::decide(request).scored();
    if let Some(propensities) = propensities.as_mut() {
        command = command.with_propensities(draws.unwrap_or(0), propensities);
    }
    if let Err(error) = user.run(&mut command) {
        return Err(refuse_decision(user.policy().catalog(), error, &request, user.user_rules()).into());
    }
    let made = command.decision(user).zip(command.scores());
    drop(command);
    let (decision, scores) = made.ok_or(UserError::OutOfOrder)?; // it was just made
    let own =
        propensities.as_ref().filter(|_| exact).and_then(|all| all.get(decision.action.index()).copied());
    Ok(Made {
        decision,
        scores,
        feasible: user.state().permissions().len(),
        probes: user.probe_outcomes(decision.id).collect(),
        propensity: own,
        propensities: propensities.filter(|_| draws.is_some()),
    })
}
