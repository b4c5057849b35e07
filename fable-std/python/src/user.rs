//! `User`: one user in memory, with all the verbs.

use crate::asked::{self, Contrast, Given};
use crate::decision::{self, Decision, Recommendation};
use crate::fault::{Answer, Fault};
use crate::json;
use crate::life::{self, Lives, Made, locked, with_user};
use crate::look;
use crate::policy::Policy;
use crate::words::{draws, number, time, user_name, weight};
use fable_core::journal::Command;
use fable_core::{Request, Statement, user_hash};
use fable_std::inspect::Inspection;
use fable_std::serve::Op;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple, PyType};
use serde_json::Value;
use std::sync::Mutex;

/// One user in memory. Two threads may not use one at the same time: the second one gets ``Busy``.
///
/// >>> import fable
/// >>> ana = fable.User(fable.Policy(fable.Catalog("agent")), "ana")
/// >>> context = {"task": "coding", "risk": 0.1, "ambiguity": 0.2, "memory_need": 0.7, "tool_need": 0.3}
/// >>> decision = ana.decide(context, forbid=[{"tool": "web_search"}])
/// >>> decision.id, decision.feasible
/// ('e6f79c19051ffb05-0-1', 150)
/// >>> ana.feedback(decision, 0.5)
/// 1
/// >>> again = fable.User.restore(ana.policy, "ana", ana.snapshot())
/// >>> again.observations
/// 1
#[pyclass(frozen, module = "fable", name = "User")]
pub struct User {
    name: String,
    policy: Py<Policy>,
    lives: Mutex<Lives>,
}

/// What a user is made of again.
type Remade<'py> = (Py<Policy>, String, Bound<'py, PyBytes>);

/// The policy that was given.
pub fn policy_of<'py>(policy: &Bound<'py, PyAny>) -> Answer<Bound<'py, Policy>> {
    Ok(policy.cast::<Policy>().map_err(|_| Fault::kind("the policy must be a fable.Policy"))?.clone())
}

impl User {
    /// Does something with the user while other threads of Python go on.
    fn away<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Policy, &mut Lives) -> Answer<R> + Send,
    ) -> Answer<R> {
        let mut guard = locked(&self.lives, "user")?;
        let (policy, lives) = (self.policy.get(), &mut *guard);
        py.detach(|| work(policy, lives))
    }

    /// The answer to a question, as the service gives it.
    fn ask(&self, py: Python<'_>, op: &Op) -> Answer<Value> {
        let line = self.away(py, |policy, lives| {
            let questions = policy.catalog().questions();
            with_user!(&policy.held, lives, user => Ok(questions.ask(&mut user, op)?))
        })?;
        json::read(&line)
    }

    /// The same as Python objects.
    fn told<'py>(&self, py: Python<'py>, op: &Op) -> Answer<Bound<'py, PyAny>> {
        Ok(json::object(py, &self.ask(py, op)?)?)
    }

    fn report(&self, py: Python<'_>) -> Answer<Inspection> {
        self.away(py, |policy, lives| with_user!(&policy.held, lives, user => look::report(&mut user)))
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

    /// A user from the bytes of a snapshot: of this package, of a device, of the browser. Raises ``Foreign`` for those of another
    /// user, catalog or setting, and ``Damaged``.
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
        let whose: Answer<u64> = with_user!(held, &mut lives, user => Ok(user.state().user()));
        if whose? != user_hash(&name) {
            return Err(Fault::Here("foreign", format!("the snapshot is of another user than '{name}'")));
        }
        Ok(Self { name, policy: policy.unbind(), lives: Mutex::new(lives) })
    }

    /// Everything about the user, the same bytes as on a device.
    fn snapshot<'py>(&self, py: Python<'py>) -> Answer<Bound<'py, PyBytes>> {
        let bytes = self.away(py, |_, lives| {
            Ok(match lives {
                Lives::F32(life) => life.learner.to_bytes()?,
                Lives::F64(life) => life.learner.to_bytes()?,
            })
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The name; its hash is the user's number.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// How this user is decided for.
    #[getter]
    fn policy(&self, py: Python<'_>) -> Py<Policy> {
        self.policy.clone_ref(py)
    }

    /// Decisions made.
    #[getter]
    fn rounds(&self, py: Python<'_>) -> Answer<u32> {
        self.away(py, |policy, lives| with_user!(&policy.held, lives, user => Ok(user.state().rounds())))
    }

    /// Rewards learned.
    #[getter]
    fn observations(&self, py: Python<'_>) -> Answer<u32> {
        self.away(
            py,
            |policy, lives| with_user!(&policy.held, lives, user => Ok(user.state().observations())),
        )
    }

    /// Chooses an action and remembers it until its reward comes.
    ///
    /// An action is feasible when it matches no pattern of ``forbid``, every one of ``require``, and, if it is given, one of ``only``.
    /// ``defaults`` are the default scores of all actions for this round. ``propensities=K`` estimates the probability of every
    /// action from K further draws. ``at`` is the caller's time, in any unit.
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
        let (context, feasible) =
            (catalog.read_context(context)?, catalog.read_feasible([forbid, require, only])?);
        let (defaults, draws, at) = (catalog.read_defaults(defaults)?, draws(propensities)?, time(at)?);
        let made = self.away(py, |policy, lives| {
            let request =
                Request { context: &context, feasible: &feasible, defaults: defaults.as_deref(), time: at };
            with_user!(&policy.held, lives, user => life::decide(&mut user, request, draws))
        })?;
        let Made { decision, scores, feasible, probes, propensity, propensities } = made;
        let catalog = policy.catalog.clone_ref(py);
        let (id, action) = (decision.id, decision.action);
        Ok(Decision { catalog, id, action, scores, feasible, probes, propensity, propensities })
    }

    /// The feasible action with the highest mean score: no exploring, no coins, nothing kept.
    ///
    /// >>> import fable
    /// >>> fable.User(fable.Policy(fable.Catalog("tau2")), "ana").recommend({}).feasible
    /// 18
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
        let (context, feasible) =
            (catalog.read_context(context)?, catalog.read_feasible([forbid, require, only])?);
        let defaults = catalog.read_defaults(defaults)?;
        let (action, score, feasible) = self.away(py, |policy, lives| {
            let request =
                Request { context: &context, feasible: &feasible, defaults: defaults.as_deref(), time: 0 };
            with_user!(&policy.held, lives, user => {
                let left = user.narrow(&request)?.len();
                let (action, score) = user.recommend(&request)?;
                Ok((action, in_double(score), left))
            })
        })?;
        Ok(Recommendation { catalog: policy.catalog.clone_ref(py), action, score, feasible })
    }

    /// Learns the reward of a decision, from -1 to 1, and promotes what has become certain; how many rewards were learned.
    /// Each decision has one reward: another one is ``DuplicateFeedback``.
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
                Ok(user.state().observations())
            })
        })
    }

    /// Learns from an action that was chosen elsewhere.
    ///
    /// >>> import fable
    /// >>> ana = fable.User(fable.Policy(fable.Catalog("tau2")), "ana")
    /// >>> ana.observe({}, {"memory": "conversation", "tool": "standard", "style": "concise"}, 0.5)
    /// 1
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
                Ok(user.state().observations())
            })
        })
    }

    /// Takes stated preferences, all of them or none; how many.
    ///
    /// >>> import fable
    /// >>> ana = fable.User(fable.Policy(fable.Catalog("agent")), "ana")
    /// >>> ana.onboard({"prefer": {"style": "concise"}, "over": {"style": "detailed"}, "when": {"task": "coding"},
    /// ...              "response": 1.0, "precision": 4.0})
    /// 1
    #[pyo3(signature = (*statements))]
    fn onboard(&self, py: Python<'_>, statements: &Bound<'_, PyTuple>) -> Answer<usize> {
        let catalog = self.policy.get().catalog();
        let statements: Vec<Statement> =
            statements.iter().map(|item| catalog.read_statement(&item)).collect::<Answer<_>>()?;
        self.away(py, |policy, lives| {
            with_user!(&policy.held, lives, user => {
                user.run(&mut Command::onboard(&statements))?;
                Ok(statements.len())
            })
        })
    }

    /// How sure a preference is: of a declared contrast by its name, or of two actions that differ in one component.
    ///
    /// >>> import fable
    /// >>> ana = fable.User(fable.Policy(fable.Catalog("agent")), "ana")
    /// >>> ana.contrast("concise_over_detailed")["promoted"]
    /// 0
    #[expect(clippy::too_many_arguments, reason = "all but one have their names")]
    #[pyo3(signature = (name = None, *, context = None, prefer = None, over = None, total = false, forbid = None, require = None, only = None))]
    fn contrast<'py>(
        &self,
        py: Python<'py>,
        name: Given<'_, 'py>,
        context: Given<'_, 'py>,
        prefer: Given<'_, 'py>,
        over: Given<'_, 'py>,
        total: bool,
        forbid: Given<'_, 'py>,
        require: Given<'_, 'py>,
        only: Given<'_, 'py>,
    ) -> Answer<Bound<'py, PyAny>> {
        let asked = Contrast { name, context, prefer, over, total, rules: [forbid, require, only] };
        self.told(py, &asked.op(self.policy.get().catalog(), &self.name)?)
    }

    /// The score of a decision taken apart, against another action or the runner-up; exact until the user's next reward.
    ///
    /// >>> import fable
    /// >>> ana = fable.User(fable.Policy(fable.Catalog("tau2")), "ana")
    /// >>> why = ana.explain(ana.decide({}))
    /// >>> abs(sum(share["chosen"] for share in why["shares"]) - why["chosen_score"]) < 1e-6
    /// True
    #[pyo3(signature = (decision, *, against = None, defaults = None))]
    fn explain<'py>(
        &self,
        py: Python<'py>,
        decision: &Bound<'_, PyAny>,
        against: Given<'_, '_>,
        defaults: Given<'_, '_>,
    ) -> Answer<Bound<'py, PyAny>> {
        self.told(py, &asked::explain(self.policy.get().catalog(), decision, against, defaults)?)
    }

    /// The promoted preferences, and what they say in a prompt.
    fn profile<'py>(&self, py: Python<'py>) -> Answer<Bound<'py, PyAny>> {
        self.told(py, &Op::Profile { user: String::new() })
    }

    /// Mean and standard deviation of every coordinate.
    fn posterior<'py>(&self, py: Python<'py>) -> Answer<Bound<'py, PyAny>> {
        self.told(py, &Op::Posterior { user: String::new() })
    }

    /// The decisions that wait for their reward, oldest first.
    ///
    /// >>> import fable
    /// >>> ana = fable.User(fable.Policy(fable.Catalog("tau2")), "ana")
    /// >>> [ana.decide({}).id] == ana.waiting()
    /// True
    #[pyo3(signature = (*, at = None))]
    fn waiting<'py>(&self, py: Python<'py>, at: Given<'_, '_>) -> Answer<Bound<'py, PyAny>> {
        let answer = self.ask(py, &asked::waiting("", at)?)?;
        Ok(json::object(py, answer.get("waiting").unwrap_or(&Value::Null))?)
    }

    /// What coins have shown about each declared contrast.
    fn probes<'py>(&self, py: Python<'py>) -> Answer<Bound<'py, PyDict>> {
        asked::probes(py, self.policy.get().catalog(), "", |op| self.ask(py, &op))
    }

    /// Promotes what is certain now; how much.
    #[pyo3(signature = (*, at = None))]
    fn promote(&self, py: Python<'_>, at: Given<'_, '_>) -> Answer<u32> {
        let at = time(at)?;
        self.away(py, |policy, lives| {
            with_user!(&policy.held, lives, user => {
                let mut command = Command::promote(at);
                user.run(&mut command)?;
                Ok(command.applied())
            })
        })
    }

    /// Goes back to the prior, in the next incarnation.
    fn forget(&self, py: Python<'_>) -> Answer<()> {
        self.away(
            py,
            |policy, lives| with_user!(&policy.held, lives, user => Ok(user.run(&mut Command::forget())?)),
        )
    }

    /// Everything there is to see about the user: the report of ``fable inspect --json``.
    fn inspect<'py>(&self, py: Python<'py>) -> Answer<Bound<'py, PyAny>> {
        Ok(json::object(py, &look::table(&self.report(py)?)?)?)
    }

    /// The picture of ``fable inspect --svg``.
    fn svg(&self, py: Python<'_>) -> Answer<String> {
        Ok(look::svg(&self.name, &self.report(py)?))
    }

    fn _repr_html_(&self, py: Python<'_>) -> Answer<String> {
        Ok(look::html(&self.name, &self.report(py)?))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> Answer<(Bound<'py, PyAny>, Remade<'py>)> {
        let restore = py.get_type::<Self>().getattr("restore")?;
        Ok((restore, (self.policy.clone_ref(py), self.name.clone(), self.snapshot(py)?)))
    }

    fn __repr__(&self, py: Python<'_>) -> Answer<String> {
        let (rounds, observations) = (self.rounds(py)?, self.observations(py)?);
        Ok(format!("<fable.User {:?}: {rounds} rounds, {observations} rewards>", self.name))
    }
}

/// A score in double precision.
fn in_double<T: fable_core::Scalar>(score: T) -> f64 {
    score.to_f64()
}
