//! `User`: one user in memory, with all the verbs.

use crate::decision::{self, Decision, Recommendation};
use crate::fault::{Answer, Fault};
use crate::life::{self, Lives, Made, locked, with_user};
use crate::policy::Policy;
use crate::words::{draws, number, time, user_name, weight};
use fable_core::{Command, Request, Statement, user_hash};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple, PyType};
use std::sync::Mutex;

/// See `fable/_fable.pyi`.
#[pyclass(frozen, module = "fable", name = "User")]
pub struct User {
    name: String,
    policy: Py<Policy>,
    lives: Mutex<Lives>,
}

/// The policy that was given.
pub fn policy_of<'py>(policy: &Bound<'py, PyAny>) -> Answer<Bound<'py, Policy>> {
    Ok(policy.cast::<Policy>().map_err(|_| Fault::kind("the policy must be a fable.Policy"))?.clone())
}

impl User {
    /// Does something with the user while other threads of Python go on.
    fn away<R: Send>(&self, py: Python<'_>, work: impl FnOnce(&Policy, &mut Lives) -> Answer<R> + Send) -> Answer<R> {
        let mut guard = locked(&self.lives, "user")?;
        let (policy, lives) = (self.policy.get(), &mut *guard);
        py.detach(|| work(policy, lives))
    }
}

#[pymethods]
impl User {
    #[new]
    fn new(policy: &Bound<'_, PyAny>, name: &Bound<'_, PyAny>) -> Answer<Self> {
        let (policy, name) = (policy_of(policy)?, user_name(name)?);
        let lives = Lives::start(&policy.get().held, user_hash(&name))?;
        Ok(Self { name, policy: policy.unbind(), lives: Mutex::new(lives) })
    }

    #[classmethod]
    fn restore(
        _class: &Bound<'_, PyType>,
        py: Python<'_>,
        policy: &Bound<'_, PyAny>,
        name: &Bound<'_, PyAny>,
        snapshot: &Bound<'_, PyAny>,
    ) -> Answer<Self> {
        let (policy, name) = (policy_of(policy)?, user_name(name)?);
        let bytes = snapshot.cast::<PyBytes>().map_err(|_| Fault::kind("a snapshot is bytes"))?.as_bytes();
        let held = &policy.get().held;
        let mut lives = py.detach(|| Lives::restore(held, bytes))?;
        let whose: Answer<u64> = with_user!(held, &mut lives, user => Ok(user.user()));
        if whose? != user_hash(&name) {
            return Err(Fault::Here("foreign", format!("the snapshot is of another user than '{name}'")));
        }
        Ok(Self { name, policy: policy.unbind(), lives: Mutex::new(lives) })
    }

    fn snapshot<'py>(&self, py: Python<'py>) -> Answer<Bound<'py, PyBytes>> {
        let bytes = self.away(py, |_, lives| {
            Ok(match lives {
                Lives::F32(life) => life.learner.to_bytes()?,
                Lives::F64(life) => life.learner.to_bytes()?,
            })
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    #[getter]
    fn policy(&self, py: Python<'_>) -> Py<Policy> {
        self.policy.clone_ref(py)
    }

    #[getter]
    fn rounds(&self, py: Python<'_>) -> Answer<u32> {
        self.away(py, |policy, lives| with_user!(&policy.held, lives, user => Ok(user.rounds())))
    }

    #[getter]
    fn observations(&self, py: Python<'_>) -> Answer<u32> {
        self.away(py, |policy, lives| with_user!(&policy.held, lives, user => Ok(user.observations())))
    }

    #[expect(clippy::too_many_arguments, reason = "all but one have their names")]
    #[pyo3(signature = (context, *, forbid = None, require = None, only = None, defaults = None, propensities = None, at = None))]
    fn decide(
        &self,
        py: Python<'_>,
        context: &Bound<'_, PyAny>,
        forbid: Option<&Bound<'_, PyAny>>,
        require: Option<&Bound<'_, PyAny>>,
        only: Option<&Bound<'_, PyAny>>,
        defaults: Option<&Bound<'_, PyAny>>,
        propensities: Option<&Bound<'_, PyAny>>,
        at: Option<&Bound<'_, PyAny>>,
    ) -> Answer<Decision> {
        let policy = self.policy.get();
        let catalog = policy.catalog();
        let (context, feasible) = (catalog.read_context(context)?, catalog.read_feasible([forbid, require, only])?);
        let (defaults, draws, at) = (catalog.read_defaults(defaults)?, draws(propensities)?, time(at)?);
        let made = self.away(py, |policy, lives| {
            let request = Request { context: &context, feasible: &feasible, defaults: defaults.as_deref(), at };
            with_user!(&policy.held, lives, user => life::decide(&mut user, request, draws))
        })?;
        let Made { decision, scores, feasible, probes, propensity, propensities } = made;
        let catalog = policy.catalog.clone_ref(py);
        let (id, action) = (decision.id, decision.action);
        Ok(Decision { catalog, id, action, scores, feasible, probes, propensity, propensities })
    }

    #[pyo3(signature = (context, *, forbid = None, require = None, only = None, defaults = None))]
    fn recommend(
        &self,
        py: Python<'_>,
        context: &Bound<'_, PyAny>,
        forbid: Option<&Bound<'_, PyAny>>,
        require: Option<&Bound<'_, PyAny>>,
        only: Option<&Bound<'_, PyAny>>,
        defaults: Option<&Bound<'_, PyAny>>,
    ) -> Answer<Recommendation> {
        let policy = self.policy.get();
        let catalog = policy.catalog();
        let (context, feasible) = (catalog.read_context(context)?, catalog.read_feasible([forbid, require, only])?);
        let defaults = catalog.read_defaults(defaults)?;
        let (action, score, feasible) = self.away(py, |policy, lives| {
            let request = Request { context: &context, feasible: &feasible, defaults: defaults.as_deref(), at: 0 };
            with_user!(&policy.held, lives, user => {
                let left = user.narrow(&request)?.len();
                let (action, score) = user.recommend(&request)?;
                Ok((action, fable_core::Number::to_f64(score), left))
            })
        })?;
        Ok(Recommendation { catalog: policy.catalog.clone_ref(py), action, score, feasible })
    }

    #[pyo3(signature = (decision, reward, *, weight = None, at = None))]
    fn feedback(
        &self,
        py: Python<'_>,
        decision: &Bound<'_, PyAny>,
        reward: &Bound<'_, PyAny>,
        weight: Option<&Bound<'_, PyAny>>,
        at: Option<&Bound<'_, PyAny>>,
    ) -> Answer<u32> {
        let (id, reward) = (decision::id(decision)?, number(reward, "a reward")?);
        let (weight, at) = (self::weight(weight)?, time(at)?);
        self.away(py, |policy, lives| {
            with_user!(&policy.held, lives, user => {
                user.run(&mut Command::feedback(id, reward).weighted(weight).at(at))?;
                Ok(user.observations())
            })
        })
    }

    #[expect(clippy::too_many_arguments, reason = "the last three have their names")]
    #[pyo3(signature = (context, action, reward, *, weight = None, defaults = None, at = None))]
    fn observe(
        &self,
        py: Python<'_>,
        context: &Bound<'_, PyAny>,
        action: &Bound<'_, PyAny>,
        reward: &Bound<'_, PyAny>,
        weight: Option<&Bound<'_, PyAny>>,
        defaults: Option<&Bound<'_, PyAny>>,
        at: Option<&Bound<'_, PyAny>>,
    ) -> Answer<u32> {
        let catalog = self.policy.get().catalog();
        let (context, action) = (catalog.read_context(context)?, catalog.read_action(action)?);
        let (reward, weight, at) = (number(reward, "a reward")?, self::weight(weight)?, time(at)?);
        let defaults = catalog.read_defaults(defaults)?;
        self.away(py, |policy, lives| {
            with_user!(&policy.held, lives, user => {
                let command = Command::observe(&context, action, reward).with_defaults(defaults.as_deref());
                user.run(&mut command.weighted(weight).at(at))?;
                Ok(user.observations())
            })
        })
    }

    #[pyo3(signature = (*statements))]
    fn onboard(&self, py: Python<'_>, statements: &Bound<'_, PyTuple>) -> Answer<usize> {
        let catalog = self.policy.get().catalog();
        let statements: Vec<Statement> = statements.iter().map(|item| catalog.read_statement(&item)).collect::<Answer<_>>()?;
        self.away(py, |policy, lives| {
            with_user!(&policy.held, lives, user => {
                user.run(&mut Command::onboard(&statements))?;
                Ok(statements.len())
            })
        })
    }

    fn __repr__(&self, py: Python<'_>) -> Answer<String> {
        let (rounds, observations) = (self.rounds(py)?, self.observations(py)?);
        Ok(format!("<fable.User {:?}: {rounds} rounds, {observations} rewards>", self.name))
    }
}
