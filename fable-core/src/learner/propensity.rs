//! How probable each action is in the next round, for logs that other policies are to be judged by.

use super::{Learner, LearnerError};
use crate::catalog::Action;
use crate::context::Context;
use crate::feasible::Feasible;
use crate::normal::Purpose;
use crate::policy::Policy;
use crate::posterior::PosteriorError;
use crate::workspace::Workspace;
use crate::{Scalar, Storage};

impl<T: Scalar, S: Storage<T>, const R: usize> Learner<T, S, R> {
    /// Estimates the probability of each action in the next round from `draws` draws of their own: (n + 1) / (draws +
    /// feasible), and 0 for an infeasible action. Nothing changes by asking, the next decision's draw included.
    ///
    /// # Errors
    /// As for [`propose_decision`](Self::propose_decision), and for an `out` that has not one number per action.
    ///
    /// ```
    /// # use fable_core::{Context, Feasible, Learner, Policy, Settings, Workspace, catalog::TAU2};
    /// # let policy = Policy::new(&TAU2, Settings::default())?;
    /// # let mut learner = Learner::<f32, [f32; TAU2.state_len()], 8>::VACANT;
    /// # let mut workspace = Workspace::<f32, [f32; TAU2.workspace_len()]>::VACANT;
    /// # learner.start(&policy, 1)?;
    /// # let context = Context::new(&TAU2, None, &[])?;
    /// let mut propensities = [0.0; 18];
    /// learner.propensities(&policy, &mut workspace, &context, &Feasible::all(&TAU2), None, 100, &mut propensities)?;
    /// assert!((propensities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[expect(clippy::too_many_arguments, reason = "what deciding takes, how often, and where to")]
    pub fn propensities<W: Storage<T>>(
        &self,
        policy: &Policy<'_, T>,
        workspace: &mut Workspace<T, W>,
        context: &Context,
        feasible: &Feasible,
        defaults: Option<&[f64]>,
        draws: u32,
        out: &mut [f64],
    ) -> Result<(), LearnerError> {
        let expected = policy.catalog().actions();
        if out.len() != expected {
            return Err(LearnerError::Posterior(PosteriorError::OutputLength { expected }));
        }
        let round = self.round.checked_add(1).ok_or(LearnerError::Exhausted)?;
        self.best(policy, workspace, context, feasible, defaults, None)?; // refuses what is to be refused
        let total = f64::from(draws) + u32::try_from(feasible.len()).map_or(0.0, f64::from);
        for (slot, action) in out.iter_mut().zip((0..).map(Action)) {
            *slot = if feasible.set().contains(action) { 1.0 / total } else { 0.0 };
        }
        for draw in 0..draws {
            let normal = Some(self.normals(policy, round, Purpose::Propensity(draw)));
            let (action, _) = self.best(policy, workspace, context, feasible, defaults, normal)?;
            if let Some(slot) = out.get_mut(action.index()) {
                *slot += 1.0 / total;
            }
        }
        Ok(())
    }
}
