//! `Users` and `Batch`: many users at once, over arrays of numpy's.

use crate::arrays::{self, Block};
use crate::asked::Given;
use crate::catalog::Catalog;
use crate::crowd::{Asked, Crowds, Reward, Row, with_crowd};
use crate::decision::Decision;
use crate::fault::{Answer, Fault};
use crate::life::locked;
use crate::policy::Policy;
use crate::user::policy_of;
use crate::words::{draws, items, time, user_name};
use fable_core::catalog::ActionSet;
use fable_core::{Action, Context, Feasible};
use fable_std::serve::Refusal;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};
use std::sync::Mutex;

/// Many users of one policy in memory, decided for in batches over numpy arrays, with the GIL released.
///
/// >>> import fable, numpy as np
/// >>> users = fable.Users(fable.Policy(fable.Catalog("agent")), [f"u{n}" for n in range(100)])
/// >>> batch = users.decide(tasks=np.zeros(100, int), signals=np.full((100, 4), 0.5, np.float32))
/// >>> batch.actions.shape
/// (100,)
/// >>> users.feedback(batch, np.where(batch.actions % 6 == 1, 0.5, -0.1))
/// 100
#[pyclass(frozen, module = "fable", name = "Users")]
pub struct Users {
    policy: Py<Policy>,
    names: Vec<String>,
    crowds: Mutex<Crowds>,
}

/// Most users of one object: numbers of rows stay small.
const MOST: usize = 1 << 24;

fn names(value: &Bound<'_, PyAny>) -> Answer<Vec<String>> {
    let names: Vec<String> =
        items(value, "the names of users", MOST)?.iter().map(user_name).collect::<Answer<_>>()?;
    let mut sorted: Vec<&str> = names.iter().map(String::as_str).collect();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| matches!(pair, [one, other] if one == other)) {
        Some([name, _]) => Err(Fault::range(format_args!("there are two users '{name}'"))),
        _ => Ok(names),
    }
}

/// The best actions, and their scores.
type Best<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>);

/// The rows that arrays ask for.
fn rows(
    catalog: &Catalog,
    count: usize,
    tasks: Given<'_, '_>,
    signals: Given<'_, '_>,
    allowed: Given<'_, '_>,
) -> Answer<Vec<Asked>> {
    let (core, actions) = (catalog.core, catalog.core.actions());
    let wide = core.definition().signals.len();
    let tasks = tasks.map(|tasks| arrays::wholes(tasks, "'tasks'")).transpose()?;
    if let Some(Block { shape, .. }) = tasks.as_ref().filter(|tasks| tasks.shape != [count]) {
        return Err(Fault::range(format_args!("'tasks' must have the shape ({count},), not {shape:?}")));
    }
    let signals = match signals {
        Some(signals) => arrays::singles(signals, "'signals'")?,
        None if wide == 0 => Block { numbers: Vec::new(), shape: vec![count, 0] },
        None => return Err(Fault::range(format_args!("'signals' must have the shape ({count}, {wide})"))),
    };
    if signals.shape != [count, wide] {
        return Err(Fault::range(format_args!(
            "'signals' must have the shape ({count}, {wide}), not {:?}",
            signals.shape
        )));
    }
    let allowed = allowed.map(|allowed| arrays::truths(allowed, "'feasible'")).transpose()?;
    let every = |set: &[bool]| -> Result<Feasible, Refusal> {
        let mut left = ActionSet::EMPTY;
        (0..).map(Action).zip(set).filter(|(_, chosen)| **chosen).for_each(|(action, _)| left.insert(action));
        Ok(Feasible::from_set(core, left)?)
    };
    let shared = match &allowed {
        None => Some(Feasible::all(core)),
        Some(Block { numbers, shape }) if *shape == [actions] => Some(every(numbers)?),
        Some(Block { shape, .. }) if *shape == [count, actions] => None,
        Some(Block { shape, .. }) => {
            let message = format_args!(
                "'feasible' must have the shape ({actions},) or ({count}, {actions}), not {shape:?}"
            );
            return Err(Fault::range(message));
        }
    };
    let row = |row: usize| -> Result<Asked, Refusal> {
        let task =
            tasks.as_ref().and_then(|tasks| tasks.numbers.get(row).copied()).filter(|task| *task != -1);
        let task = task.map(|task| usize::try_from(task).unwrap_or(usize::MAX));
        let signals = signals.numbers.get(row * wide..(row + 1) * wide).unwrap_or(&[]);
        let context = Context::new(core, task, signals)?;
        let own = || {
            allowed
                .as_ref()
                .and_then(|allowed| allowed.numbers.get(row * actions..(row + 1) * actions))
                .unwrap_or(&[])
        };
        let feasible = shared.map_or_else(|| every(own()), Ok)?;
        Ok(Asked { context, feasible })
    };
    let numbered = |number: usize| {
        row(number).map_err(|Refusal { code, message }| {
            Fault::refused(code, format_args!("row {number}: {message}"))
        })
    };
    (0..count).map(numbered).collect()
}

impl Users {
    /// Which users, everyone if nothing is said.
    fn who(&self, who: Given<'_, '_>) -> Answer<Vec<usize>> {
        who.map_or_else(
            || Ok((0..self.names.len()).collect()),
            |who| arrays::positions(who, "'who'", self.names.len()),
        )
    }

    /// Does something with the users while other threads of Python go on.
    fn away<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Policy, &mut Crowds) -> Answer<R> + Send,
    ) -> Answer<R> {
        let mut guard = locked(&self.crowds, "batch of users")?;
        let (policy, crowds) = (self.policy.get(), &mut *guard);
        py.detach(|| work(policy, crowds))
    }
}

#[pymethods]
impl Users {
    #[new]
    fn new(py: Python<'_>, policy: &Bound<'_, PyAny>, names: &Bound<'_, PyAny>) -> Answer<Self> {
        let (policy, names) = (policy_of(policy)?, self::names(names)?);
        let held = &policy.get().held;
        let crowds = py.detach(|| Crowds::new(held, &names, None))?;
        Ok(Self { policy: policy.unbind(), names, crowds: Mutex::new(crowds) })
    }

    /// Users from their snapshots.
    #[classmethod]
    fn restore(
        _class: &Bound<'_, PyType>,
        py: Python<'_>,
        policy: &Bound<'_, PyAny>,
        names: &Bound<'_, PyAny>,
        snapshots: &Bound<'_, PyAny>,
    ) -> Answer<Self> {
        let (policy, names) = (policy_of(policy)?, self::names(names)?);
        let bytes = |item: &Bound<'_, PyAny>| -> Answer<Vec<u8>> {
            Ok(item.cast::<PyBytes>().map_err(|_| Fault::kind("a snapshot is bytes"))?.as_bytes().to_vec())
        };
        let snapshots =
            items(snapshots, "the snapshots", MOST)?.iter().map(bytes).collect::<Answer<Vec<_>>>()?;
        if snapshots.len() != names.len() {
            return Err(Fault::range(format_args!(
                "there are {} names and {} snapshots",
                names.len(),
                snapshots.len()
            )));
        }
        let held = &policy.get().held;
        let crowds = py.detach(|| Crowds::new(held, &names, Some(&snapshots)))?;
        Ok(Self { policy: policy.unbind(), names, crowds: Mutex::new(crowds) })
    }

    /// The snapshot of every user.
    fn snapshots<'py>(&self, py: Python<'py>) -> Answer<Vec<Bound<'py, PyBytes>>> {
        let all: Vec<Vec<u8>> = self.away(py, |_, crowds| {
            Ok(match crowds {
                Crowds::F32(crowd) => {
                    crowd.learners.iter().map(fable_core::Learner::to_bytes).collect::<Result<_, _>>()?
                }
                Crowds::F64(crowd) => {
                    crowd.learners.iter().map(fable_core::Learner::to_bytes).collect::<Result<_, _>>()?
                }
            })
        })?;
        Ok(all.iter().map(|bytes| PyBytes::new(py, bytes)).collect())
    }

    /// How these users are decided for.
    #[getter]
    fn policy(&self, py: Python<'_>) -> Py<Policy> {
        self.policy.clone_ref(py)
    }

    /// The names, in the order of positions.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    /// Decisions made, of each user.
    #[getter]
    fn rounds<'py>(&self, py: Python<'py>) -> Answer<Bound<'py, PyArray1<i64>>> {
        let rounds = self.away(py, |_, crowds| {
            Ok(match crowds {
                Crowds::F32(crowd) => crowd
                    .learners
                    .iter()
                    .map(|learner| i64::from(learner.state().rounds()))
                    .collect::<Vec<_>>(),
                Crowds::F64(crowd) => {
                    crowd.learners.iter().map(|learner| i64::from(learner.state().rounds())).collect()
                }
            })
        })?;
        Ok(PyArray1::from_vec(py, rounds))
    }

    /// Rewards learned, of each user.
    #[getter]
    fn observations<'py>(&self, py: Python<'py>) -> Answer<Bound<'py, PyArray1<i64>>> {
        let rewards = self.away(py, |_, crowds| {
            Ok(match crowds {
                Crowds::F32(crowd) => crowd
                    .learners
                    .iter()
                    .map(|learner| i64::from(learner.state().observations()))
                    .collect::<Vec<_>>(),
                Crowds::F64(crowd) => {
                    crowd.learners.iter().map(|learner| i64::from(learner.state().observations())).collect()
                }
            })
        })?;
        Ok(PyArray1::from_vec(py, rewards))
    }

    /// Decides once for every user, or for those of ``who``: positions, or a mask. All rows or, when one is wrong, none.
    ///
    /// ``tasks`` are positions in the catalog's tasks, -1 for none; ``signals`` has a row for each user and a column for each signal;
    /// ``feasible`` is a mask of the actions, one for all rows or one for each.
    #[pyo3(signature = (tasks = None, signals = None, *, feasible = None, who = None, propensities = None))]
    fn decide(
        &self,
        py: Python<'_>,
        tasks: Given<'_, '_>,
        signals: Given<'_, '_>,
        feasible: Given<'_, '_>,
        who: Given<'_, '_>,
        propensities: Given<'_, '_>,
    ) -> Answer<Batch> {
        let (who, draws) = (self.who(who)?, draws(propensities)?);
        let asked = rows(self.policy.get().catalog(), who.len(), tasks, signals, feasible)?;
        let (rows, propensities) = self.away(
            py,
            |policy, crowds| with_crowd!(&policy.held, crowds, (crowd, policy) => crowd.decide(policy, &who, &asked, draws)),
        )?;
        Ok(Batch { catalog: self.policy.get().catalog.clone_ref(py), rows, propensities })
    }

    /// The best action of every row by what is known, and its mean score; nothing is kept.
    #[pyo3(signature = (tasks = None, signals = None, *, feasible = None, who = None))]
    fn recommend<'py>(
        &self,
        py: Python<'py>,
        tasks: Given<'_, '_>,
        signals: Given<'_, '_>,
        feasible: Given<'_, '_>,
        who: Given<'_, '_>,
    ) -> Answer<Best<'py>> {
        let who = self.who(who)?;
        let asked = rows(self.policy.get().catalog(), who.len(), tasks, signals, feasible)?;
        let best = self.away(
            py,
            |policy, crowds| with_crowd!(&policy.held, crowds, (crowd, policy) => crowd.recommend(policy, &who, &asked)),
        )?;
        let actions = best.iter().map(|(action, _)| i64::from(action.0)).collect();
        let scores = best.iter().map(|(_, score)| *score).collect();
        Ok((PyArray1::from_vec(py, actions), PyArray1::from_vec(py, scores)))
    }

    /// Learns the rewards of a batch, one for each row; how many. With ``who`` only those rows are looked at, so the others may have
    /// no reward yet (NaN, say). All of them or, when one is wrong, none.
    #[pyo3(signature = (batch, rewards, *, weights = None, who = None, at = None))]
    fn feedback(
        &self,
        py: Python<'_>,
        batch: &Bound<'_, PyAny>,
        rewards: &Bound<'_, PyAny>,
        weights: Given<'_, '_>,
        who: Given<'_, '_>,
        at: Given<'_, '_>,
    ) -> Answer<usize> {
        let batch = batch
            .cast::<Batch>()
            .map_err(|_| Fault::kind("rewards are given to the batch that decide has returned"))?;
        let (rows, at) = (&batch.get().rows, time(at)?);
        let one_each = |block: Block<f64>, what: &str| -> Answer<Vec<f64>> {
            let Block { numbers, shape } = block;
            let wrong =
                || Fault::range(format_args!("{what} must have the shape ({},), not {shape:?}", rows.len()));
            if shape == [rows.len()] { Ok(numbers) } else { Err(wrong()) }
        };
        let rewards = one_each(arrays::doubles(rewards, "'rewards'")?, "'rewards'")?;
        let weights = weights
            .map(|weights| one_each(arrays::doubles(weights, "'weights'")?, "'weights'"))
            .transpose()?;
        let chosen = match who {
            None => (0..rows.len()).collect(),
            Some(who) => arrays::positions(who, "'who', the rows of the batch,", rows.len())?,
        };
        let reward = |row: usize| {
            let (found, number) = (rows.get(row)?, *rewards.get(row)?);
            let weight = weights
                .as_ref()
                .map_or(Some(1.0), |weights| weights.get(row).map(|weight| *weight as f32))?;
            Some(Reward { row, who: found.who, id: found.id, number, weight })
        };
        let given: Vec<Reward> = chosen.into_iter().filter_map(reward).collect();
        self.away(py, |policy, crowds| with_crowd!(&policy.held, crowds, (crowd, policy) => crowd.learn(policy, &given, at)))?;
        Ok(given.len())
    }

    fn __len__(&self) -> usize {
        self.names.len()
    }

    fn __repr__(&self) -> String {
        format!("<fable.Users: {} users>", self.names.len())
    }
}

/// Decisions of a batch, as columns; ``batch[row]`` is one of them.
#[pyclass(frozen, module = "fable", name = "Batch")]
pub struct Batch {
    catalog: Py<Catalog>,
    rows: Vec<Row>,
    propensities: Option<Vec<f64>>,
}

impl Batch {
    fn column<'py, T: numpy::Element>(
        &self,
        py: Python<'py>,
        of: impl Fn(&Row) -> T,
    ) -> Bound<'py, PyArray1<T>> {
        PyArray1::from_vec(py, self.rows.iter().map(of).collect())
    }
}

#[pymethods]
impl Batch {
    /// The position of each row's user.
    #[getter]
    fn who<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        self.column(py, |row| i64::try_from(row.who).unwrap_or(i64::MAX))
    }

    /// The position of each row's action in the catalog.
    #[getter]
    fn actions<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        self.column(py, |row| i64::from(row.action.0))
    }

    /// The mean score of each row's action.
    #[getter]
    fn scores<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.column(py, |row| row.scores.score)
    }

    /// What optimism, or the draw, made of it.
    #[getter]
    fn sampled_scores<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.column(py, |row| row.scores.sampled_score)
    }

    /// Whether another feasible action has a higher mean score.
    #[getter]
    fn explored<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<bool>> {
        self.column(py, |row| row.scores.explored)
    }

    /// How many actions there were to choose from.
    #[getter]
    fn feasible<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        self.column(py, |row| i64::try_from(row.feasible).unwrap_or(i64::MAX))
    }

    /// How probable each row's action was, if that is exact or was asked for.
    #[getter]
    fn propensity<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        let known: Option<Vec<f64>> = self.rows.iter().map(|row| row.propensity).collect();
        known.map(|known| PyArray1::from_vec(py, known))
    }

    /// How probable every action was, a row each, if that was asked for.
    #[getter]
    fn propensities<'py>(&self, py: Python<'py>) -> Answer<Option<Bound<'py, PyArray2<f64>>>> {
        let Some(all) = &self.propensities else { return Ok(None) };
        let shape = [self.rows.len(), self.catalog.get().core.actions()];
        Ok(Some(PyArray1::from_slice(py, all).reshape(shape)?))
    }

    fn __len__(&self) -> usize {
        self.rows.len()
    }

    fn __getitem__(&self, py: Python<'_>, row: isize) -> PyResult<Decision> {
        let place = if row < 0 { row.checked_add_unsigned(self.rows.len()) } else { Some(row) };
        let found = place
            .and_then(|place| usize::try_from(place).ok())
            .and_then(|place| Some((place, self.rows.get(place)?)));
        let outside =
            || pyo3::exceptions::PyIndexError::new_err(format!("the batch has {} rows", self.rows.len()));
        let (place, row) = found.ok_or_else(outside)?;
        let actions = self.catalog.get().core.actions();
        let propensities =
            self.propensities.as_ref().and_then(|all| all.get(place * actions..(place + 1) * actions));
        Ok(Decision {
            catalog: self.catalog.clone_ref(py),
            id: row.id,
            action: row.action,
            scores: row.scores,
            feasible: row.feasible,
            probes: row.probes.clone(),
            propensity: row.propensity,
            propensities: propensities.map(<[f64]>::to_vec),
        })
    }

    fn __repr__(&self) -> String {
        format!("<fable.Batch: {} decisions>", self.rows.len())
    }
}
