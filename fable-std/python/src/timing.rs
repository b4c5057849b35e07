//! The same rounds in Rust alone: what `bench.py` compares Python with. Not a part of the package's interface.

use crate::crowd::{Crowd, Crowds, with_crowd};
use crate::fault::Answer;
use crate::life::locked;
use crate::policy::Policy;
use crate::user::policy_of;
use crate::words::whole;
use fable_core::journal::Command;
use fable_core::{Context, Feasible, Policy as Core, Request, Scalar, UserError};
use pyo3::prelude::*;
use std::sync::Mutex;

/// The same rounds in Rust alone, for ``bench.py``.
#[pyclass(frozen, module = "fable._fable", name = "_RustUsers")]
pub struct RustUsers {
    policy: Py<Policy>,
    context: Context,
    crowds: Mutex<Crowds>,
}

fn rounds<T: Scalar>(
    crowd: &mut Crowd<T>,
    policy: &Core<'_, T>,
    context: &Context,
    rounds: u64,
) -> Answer<()> {
    let (all, mut ids) = (Feasible::all(policy.catalog()), Vec::with_capacity(crowd.learners.len()));
    for _ in 0..rounds {
        ids.clear();
        for user in 0..crowd.learners.len() {
            ids.push(
                crowd
                    .user(policy, user)?
                    .ok_or(UserError::UnknownDecision)?
                    .decide(&Request::new(context, &all))?
                    .id,
            );
        }
        for (user, id) in ids.iter().enumerate() {
            let mut user = crowd.user(policy, user)?.ok_or(UserError::UnknownDecision)?;
            user.run(&mut Command::feedback(*id, 0.5))?;
        }
    }
    Ok(())
}

#[pymethods]
impl RustUsers {
    #[new]
    fn new(policy: &Bound<'_, PyAny>, count: &Bound<'_, PyAny>, context: &Bound<'_, PyAny>) -> Answer<Self> {
        let policy = policy_of(policy)?;
        let names: Vec<String> =
            (0..whole(count, "the number of users", 1_000_000)?).map(|user| format!("u{user}")).collect();
        let (crowds, context) =
            (Crowds::new(&policy.get().held, &names, None)?, policy.get().catalog().read_context(context)?);
        Ok(Self { policy: policy.unbind(), context, crowds: Mutex::new(crowds) })
    }

    fn run(&self, py: Python<'_>, count: &Bound<'_, PyAny>) -> Answer<()> {
        let count = whole(count, "the number of rounds", 1_000_000_000)?;
        let mut guard = locked(&self.crowds, "benchmark")?;
        let (held, crowds, context) = (&self.policy.get().held, &mut *guard, &self.context);
        py.detach(|| with_crowd!(held, crowds, (crowd, policy) => rounds(crowd, policy, context, count)))
    }
}
