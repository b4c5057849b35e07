//! How probable each action is in the next round, for logs that other policies are to be judged by.

use super::{Learner, LearnerError};
use crate::catalog::Action;
use crate::normal::Purpose;
use crate::policy::Policy;
use crate::posterior::PosteriorError;
use crate::request::Request;
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
    /// # use fable_core::{Context, Feasible, Learner, Policy, Request, Settings, Workspace, catalog::TAU2};
    /// # let policy = Policy::new(&TAU2, Settings::default())?;
    /// # let mut learner = Learner::<f32, [f32; TAU2.state_len()], 8>::VACANT;
    /// # let mut workspace = Workspace::<f32, [f32; TAU2.workspace_len()]>::VACANT;
    /// # learner.start(&policy, 1)?;
    /// # let (context, all) = (Context::new(&TAU2, None, &[])?, Feasible::all(&TAU2));
    /// let mut propensities = [0.0; 18];
    /// learner.propensities(&policy, &mut workspace, &Request::new(&context, &all), 100, &mut propensities)?;
    /// assert!((propensities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn propensities<W: Storage<T>>(
        &self,
        policy: &Policy<'_, T>,
        workspace: &mut Workspace<T, W>,
        request: &Request<'_>,
        draws: u32,
        out: &mut [f64],
    ) -> Result<(), LearnerError> {
        let expected = policy.catalog().actions();
        if out.len() != expected {
            return Err(LearnerError::Posterior(PosteriorError::OutputLength { expected }));
        }
        let round = self.next_round()?;
        self.best(policy, workspace, request, None)?; // refuses what is to be refused
        let total = f64::from(draws) + u32::try_from(request.feasible.len()).map_or(0.0, f64::from);
        for (slot, action) in out.iter_mut().zip((0..).map(Action)) {
            *slot = if request.feasible.set().contains(action) { 1.0 / total } else { 0.0 };
        }
        for draw in 0..draws {
            let normal = Some(self.normals(policy, round, Purpose::Propensity(draw)));
            let (action, _) = self.best(policy, workspace, request, normal)?;
            if let Some(slot) = out.get_mut(action.index()) {
                *slot += 1.0 / total;
            }
        }
        Ok(())
    }
}
