//! `StoreUser`: one user of a store, with the verbs of a user in memory and those that a store makes possible.

use crate::asked::{self, Contrast, Given};
use crate::decision::{self, Decision, Recommendation};
use crate::fault::{Answer, Fault};
use crate::json;
use crate::look;
use crate::names::text;
use crate::opened::Opened;
use crate::words::{draws, items, number, time, weight};
use fable_core::journal::Scores;
use fable_core::preference::ProbeOutcome;
use fable_std::serve::{Incoming, Op};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple};
use serde_json::{Value, json};
use std::sync::Arc;

/// One user of a store: the verbs of ``User``, durable, and those that take a journal.
#[pyclass(frozen, module = "fable", name = "StoreUser")]
pub struct StoreUser {
    /// The store, as Python knows it.
    store: Py<PyAny>,
    opened: Arc<Opened>,
    name: String,
}

/// Most values of a rule.
const VALUES: usize = 1_000;

impl StoreUser {
    /// A user of a store.
    pub const fn of(store: Py<PyAny>, opened: Arc<Opened>, name: String) -> Self {
        Self { store, opened, name }
    }

    fn ask(&self, py: Python<'_>, op: Op) -> Answer<Value> {
        self.opened.ask(py, op)
    }

    /// An answer as it is.
    fn told<'py>(&self, py: Python<'py>, op: Op) -> Answer<Bound<'py, PyAny>> {
        Ok(json::object(py, &self.ask(py, op)?)?)
    }

    /// One field of an answer.
    fn field<'py>(&self, py: Python<'py>, op: Op, key: &str) -> Answer<Bound<'py, PyAny>> {
        Ok(json::object(py, self.ask(py, op)?.get(key).unwrap_or(&Value::Null))?)
    }

    /// An op by its name and keys, read by the service itself.
    fn named<'py>(&self, py: Python<'py>, op: &str, mut keys: Value) -> Answer<Bound<'py, PyAny>> {
        if let Value::Object(keys) = &mut keys {
            keys.retain(|_, value| !value.is_null());
            keys.insert("user".into(), self.name.as_str().into());
        }
        let catalog = self.opened.policy.get().catalog().core;
        self.told(py, Incoming::of_op(catalog, op, keys.to_string().as_bytes()).op?)
    }

    /// The values of a rule: one like `tool=web_search`, or several.
    fn values(values: &Bound<'_, PyAny>) -> Answer<Vec<String>> {
        if values.is_instance_of::<PyString>() {
            return Ok(vec![text(values, "a value")?]);
        }
        items(values, "the values of a rule", VALUES)?.iter().map(|value| text(value, "a value")).collect()
    }

    fn rule<'py>(
        &self,
        py: Python<'py>,
        op: &str,
        values: &Bound<'_, PyAny>,
        when: Given<'_, '_>,
        words: Given<'_, '_>,
    ) -> Answer<Bound<'py, PyAny>> {
        let optional = |given: Given<'_, '_>, what: &str| given.map(|given| text(given, what)).transpose();
        let keys = json!({"values": Self::values(values)?, "when": optional(when, "'when'")?, "words": optional(words, "'words'")?});
        self.named(py, op, keys)
    }

    fn owned(&self, py: Python<'_>, decision: &Bound<'_, PyAny>) -> Answer<fable_core::DecisionId> {
        let id = decision::id(decision)?;
        self.opened.check_owner(py, &self.name, id)?;
        Ok(id)
    }
}

/// A decision of an answer.
fn decided(py: Python<'_>, store: &Opened, answer: &Value) -> Answer<Decision> {
    let policy = store.policy.get();
    let catalog = policy.catalog();
    let missing = || Fault::internal("an answer has no decision");
    let action = answer.get("action").ok_or_else(missing)?;
    let action = catalog.read_action(&json::object(py, action)?)?;
    let id = answer.get("decision").and_then(Value::as_str).ok_or_else(missing)?.parse()?;
    let truth = |value: &Value, key: &str| value.get(key).and_then(Value::as_bool).unwrap_or(false);
    let probe = |value: &Value| {
        let contrast =
            value.get("contrast").and_then(Value::as_str).and_then(|name| catalog.core.contrast(name))?;
        let expected = value.get("expected").and_then(Value::as_f64)? as f32;
        Some(ProbeOutcome {
            contrast: u8::try_from(contrast).ok()?,
            preferred: truth(value, "preferred"),
            expected,
        })
    };
    let all = |key: &str| answer.get(key).and_then(Value::as_array);
    Ok(Decision {
        catalog: policy.catalog.clone_ref(py),
        id,
        action,
        scores: Scores {
            score: json::number(answer, "score")?,
            sampled_score: json::number(answer, "sampled_score")?,
            explored: truth(answer, "explored"),
        },
        feasible: json::count(answer, "feasible")? as usize,
        probes: all("probes").into_iter().flatten().filter_map(probe).collect(),
        propensity: answer.get("propensity").and_then(Value::as_f64),
        propensities: all("propensities").map(|all| all.iter().filter_map(Value::as_f64).collect()),
    })
}

#[pymethods]
impl StoreUser {
    /// The name.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// The store.
    #[getter]
    fn store(&self, py: Python<'_>) -> Py<PyAny> {
        self.store.clone_ref(py)
    }

    /// Decisions made.
    #[getter]
    fn rounds(&self, py: Python<'_>) -> Answer<u64> {
        json::count(&self.ask(py, Op::Posterior { user: self.name.clone() })?, "rounds")
    }

    /// Rewards learned.
    #[getter]
    fn observations(&self, py: Python<'_>) -> Answer<u64> {
        json::count(&self.ask(py, Op::Posterior { user: self.name.clone() })?, "observations")
    }

    /// Chooses an action and remembers it; as ``User.decide``, durable.
    #[expect(clippy::too_many_arguments, reason = "all but one have their names")]
    #[pyo3(signature = (context, *, forbid = None, require = None, only = None, defaults = None, propensities = None, at = None))]
    fn decide(
        &self,
        py: Python<'_>,
        context: &Bound<'_, PyAny>,
        forbid: Given<'_, '_>,
        require: Given<'_, '_>,
        only: Given<'_, '_>,
        defaults: Given<'_, '_>,
        propensities: Given<'_, '_>,
        at: Given<'_, '_>,
    ) -> Answer<Decision> {
        let catalog = self.opened.policy.get().catalog();
        let op = Op::Decide {
            user: self.name.clone(),
            context: catalog.read_context(context)?,
            feasible: catalog.read_feasible([forbid, require, only])?,
            defaults: catalog.read_defaults(defaults)?,
            propensities: draws(propensities)?,
            at: time(at)?,
        };
        decided(py, &self.opened, &self.ask(py, op)?)
    }

    /// The feasible action with the highest mean score; as ``User.recommend``.
    #[pyo3(signature = (context, *, forbid = None, require = None, only = None, defaults = None))]
    fn recommend(
        &self,
        py: Python<'_>,
        context: &Bound<'_, PyAny>,
        forbid: Given<'_, '_>,
        require: Given<'_, '_>,
        only: Given<'_, '_>,
        defaults: Given<'_, '_>,
    ) -> Answer<Recommendation> {
        let policy = self.opened.policy.get();
        let catalog = policy.catalog();
        let op = Op::Recommend {
            user: self.name.clone(),
            context: catalog.read_context(context)?,
            feasible: catalog.read_feasible([forbid, require, only])?,
            defaults: catalog.read_defaults(defaults)?,
        };
        let answer = self.ask(py, op)?;
        let action = json::object(py, answer.get("action").unwrap_or(&Value::Null))?;
        Ok(Recommendation {
            catalog: policy.catalog.clone_ref(py),
            action: catalog.read_action(&action)?,
            score: json::number(&answer, "score")?,
            feasible: json::count(&answer, "feasible")? as usize,
        })
    }

    /// Learns the reward of a decision; as ``User.feedback``, durable. The decision has to be this user's.
    #[pyo3(signature = (decision, reward, *, weight = None, at = None))]
    fn feedback(
        &self,
        py: Python<'_>,
        decision: &Bound<'_, PyAny>,
        reward: &Bound<'_, PyAny>,
        weight: Given<'_, '_>,
        at: Given<'_, '_>,
    ) -> Answer<u64> {
        let (decision, reward) = (self.owned(py, decision)?, number(reward, "a reward")?);
        let op = Op::Feedback { decision, reward, weight: self::weight(weight)?, at: time(at)? };
        json::count(&self.ask(py, op)?, "observations")
    }

    /// Learns from an action that was chosen elsewhere; as ``User.observe``, durable.
    #[expect(clippy::too_many_arguments, reason = "the last three have their names")]
    #[pyo3(signature = (context, action, reward, *, weight = None, defaults = None, at = None))]
    fn observe(
        &self,
        py: Python<'_>,
        context: &Bound<'_, PyAny>,
        action: &Bound<'_, PyAny>,
        reward: &Bound<'_, PyAny>,
        weight: Given<'_, '_>,
        defaults: Given<'_, '_>,
        at: Given<'_, '_>,
    ) -> Answer<u64> {
        let catalog = self.opened.policy.get().catalog();
        let op = Op::Observe {
            user: self.name.clone(),
            context: catalog.read_context(context)?,
            action: catalog.read_action(action)?,
            reward: number(reward, "a reward")?,
            weight: self::weight(weight)?,
            defaults: catalog.read_defaults(defaults)?,
            at: time(at)?,
        };
        json::count(&self.ask(py, op)?, "observations")
    }

    /// Takes the reward of a decision back, even one that was learned long ago, as far as the history goes.
    fn unlearn(&self, py: Python<'_>, decision: &Bound<'_, PyAny>) -> Answer<u64> {
        let decision = self.owned(py, decision)?;
        json::count(&self.ask(py, Op::Unlearn { decision })?, "observations")
    }

    /// Takes stated preferences; as ``User.onboard``, durable.
    #[pyo3(signature = (*statements))]
    fn onboard(&self, py: Python<'_>, statements: &Bound<'_, PyTuple>) -> Answer<u64> {
        let catalog = self.opened.policy.get().catalog();
        let statements =
            statements.iter().map(|item| catalog.read_statement(&item)).collect::<Answer<_>>()?;
        json::count(&self.ask(py, Op::Onboard { user: self.name.clone(), statements })?, "accepted")
    }

    /// How sure a preference is; as ``User.contrast``.
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
        self.told(py, asked.op(self.opened.policy.get().catalog(), &self.name)?)
    }

    /// The score of a decision taken apart; as ``User.explain``.
    #[pyo3(signature = (decision, *, against = None, defaults = None))]
    fn explain<'py>(
        &self,
        py: Python<'py>,
        decision: &Bound<'_, PyAny>,
        against: Given<'_, '_>,
        defaults: Given<'_, '_>,
    ) -> Answer<Bound<'py, PyAny>> {
        self.owned(py, decision)?;
        self.told(py, asked::explain(self.opened.policy.get().catalog(), decision, against, defaults)?)
    }

    /// The promoted preferences, and what they say in a prompt.
    fn profile<'py>(&self, py: Python<'py>) -> Answer<Bound<'py, PyAny>> {
        self.told(py, Op::Profile { user: self.name.clone() })
    }

    /// Mean and standard deviation of every coordinate.
    fn posterior<'py>(&self, py: Python<'py>) -> Answer<Bound<'py, PyAny>> {
        self.told(py, Op::Posterior { user: self.name.clone() })
    }

    /// The decisions that wait for their reward, oldest first.
    #[pyo3(signature = (*, at = None))]
    fn waiting<'py>(&self, py: Python<'py>, at: Given<'_, '_>) -> Answer<Bound<'py, PyAny>> {
        self.field(py, asked::waiting(&self.name, at)?, "waiting")
    }

    /// What coins have shown about each declared contrast.
    fn probes<'py>(&self, py: Python<'py>) -> Answer<Bound<'py, PyDict>> {
        asked::probes(py, self.opened.policy.get().catalog(), &self.name, |op| self.ask(py, op))
    }

    /// Promotes what is certain now; how much.
    #[pyo3(signature = (*, at = None))]
    fn promote(&self, py: Python<'_>, at: Given<'_, '_>) -> Answer<u64> {
        json::count(&self.ask(py, Op::Promote { user: self.name.clone(), at: time(at)? })?, "promoted")
    }

    /// The user's own rules and switches.
    fn rules<'py>(&self, py: Python<'py>) -> Answer<Bound<'py, PyAny>> {
        self.named(py, "rules", json!({}))
    }

    /// Never these values, like ``"tool=web_search"``; in a task (``"task=coding"``) or while a signal is above 0.5.
    #[pyo3(signature = (values, *, when = None, words = None))]
    fn forbid<'py>(
        &self,
        py: Python<'py>,
        values: &Bound<'_, PyAny>,
        when: Given<'_, '_>,
        words: Given<'_, '_>,
    ) -> Answer<Bound<'py, PyAny>> {
        self.rule(py, "forbid", values, when, words)
    }

    /// Always one of these values.
    #[pyo3(signature = (values, *, when = None, words = None))]
    fn require<'py>(
        &self,
        py: Python<'py>,
        values: &Bound<'_, PyAny>,
        when: Given<'_, '_>,
        words: Given<'_, '_>,
    ) -> Answer<Bound<'py, PyAny>> {
        self.rule(py, "require", values, when, words)
    }

    /// Lifts what stands against these values.
    fn allow<'py>(&self, py: Python<'py>, values: &Bound<'_, PyAny>) -> Answer<Bound<'py, PyAny>> {
        self.named(py, "allow", json!({"values": Self::values(values)?}))
    }

    /// Switches everything off for the user, or on; whether what the user says may be remembered.
    #[pyo3(signature = (*, layer = None, memory = None))]
    fn switch<'py>(
        &self,
        py: Python<'py>,
        layer: Option<bool>,
        memory: Option<bool>,
    ) -> Answer<Bound<'py, PyAny>> {
        self.named(py, "switch", json!({"layer": layer, "memory": memory}))
    }

    /// Keeps an exchange, if the store was opened with ``memory`` and the user has not said no.
    #[pyo3(signature = (request, answer, *, at = None))]
    fn remember<'py>(
        &self,
        py: Python<'py>,
        request: &Bound<'_, PyAny>,
        answer: &Bound<'_, PyAny>,
        at: Given<'_, '_>,
    ) -> Answer<Bound<'py, PyAny>> {
        let (request, answer) = (text(request, "a request")?, text(answer, "an answer")?);
        self.named(py, "remember", json!({"request": request, "answer": answer, "at": time(at)?}))
    }

    /// What the chosen value of the component ``memory`` means for the assistant.
    #[pyo3(signature = (mode, *, request = None))]
    fn recall<'py>(
        &self,
        py: Python<'py>,
        mode: &Bound<'_, PyAny>,
        request: Given<'_, '_>,
    ) -> Answer<Bound<'py, PyAny>> {
        let request = request.map(|request| text(request, "a request")).transpose()?;
        self.named(py, "recall", json!({"mode": text(mode, "a mode")?, "request": request}))
    }

    /// All exchanges that are kept, the oldest first.
    fn memories<'py>(&self, py: Python<'py>) -> Answer<Bound<'py, PyAny>> {
        self.named(py, "memories", json!({}))
    }

    /// Lets go of what was exchanged, and of nothing else; how many exchanges.
    fn unremember(&self, py: Python<'_>) -> Answer<u64> {
        json::count(&self.ask(py, Op::Unremember { user: self.name.clone() })?, "unremembered")
    }

    /// Erases the user; whether there was one.
    fn forget(&self, py: Python<'_>) -> Answer<bool> {
        self.opened.forget(py, &self.name)
    }

    /// Everything about the user as a file that ``fable import`` and ``fable replay`` take.
    fn export<'py>(&self, py: Python<'py>) -> Answer<Option<Bound<'py, PyBytes>>> {
        self.opened.export(py, &self.name)
    }

    /// The user as ``User.restore`` takes it.
    fn snapshot<'py>(&self, py: Python<'py>) -> Answer<Bound<'py, PyBytes>> {
        let bytes =
            self.opened.look(py, &self.name, |user| Ok(user.to_bytes()), |user| Ok(user.to_bytes()))?;
        Ok(PyBytes::new(py, &bytes))
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

    fn __repr__(&self) -> String {
        format!("<fable.StoreUser {:?}>", self.name)
    }
}

impl StoreUser {
    fn report(&self, py: Python<'_>) -> Answer<fable_std::inspect::Inspection> {
        self.opened.look(
            py,
            &self.name,
            |user| look::report(&mut user.user()),
            |user| look::report(&mut user.user()),
        )
    }
}
