//! Optimistic scores: b - lambda cost + phi.mu + nu sqrt(phi.Sigma.phi), instead of the score of a draw.
//!
//! Not of the paper. The variances of all feasible actions are computed together, from the rows of L^-1.

use super::{Request, User, UserError};
use crate::catalog::score::{self, Round, Scalar};
use crate::catalog::{Action, ActionSet};
use crate::posterior::{InverseRows, Posterior, PosteriorError, Uncertain};

impl<T: Scalar> User<'_, T> {
    /// The feasible action with the highest optimistic score, and the score. The workspace keeps all scores
    /// and means.
    pub(super) fn score_optimistically(
        &mut self,
        request: &Request<'_>,
        nu: T,
    ) -> Result<(Action, T), UserError> {
        self.find_variances(request)?;
        self.score(request, None)?;
        self.add_bonus(nu, request.feasible.set())
    }

    /// Leaves phi.Sigma.phi of every feasible action in the workspace, and 0 for the others.
    #[inline(never)]
    fn find_variances(&mut self, request: &Request<'_>) -> Result<(), PosteriorError> {
        let (policy, feasible) = (self.policy, request.feasible.set());
        let posterior = Posterior::from_parts(self.memory.state.layout, 0.0, &*self.memory.storage);
        let round = Round::new(policy.catalog(), policy.mask(), 0.0, request.context, None);
        let InverseRows { rows, table, variances } =
            InverseRows::of(self.workspace, policy.catalog()).ok_or(PosteriorError::WorkspaceLength)?;
        variances.fill(T::ZERO);
        posterior.inverse_rows(request.context.task(), rows, |rows, top, inverse| {
            T::add_squares(&round, (rows, top), inverse, table, feasible, variances);
        })
    }

    /// Adds nu standard deviations to each mean score, and takes the highest.
    fn add_bonus(&mut self, nu: T, feasible: &ActionSet) -> Result<(Action, T), UserError> {
        let uncertain =
            Uncertain::of(self.workspace, self.policy.catalog()).ok_or(PosteriorError::WorkspaceLength)?;
        let scores = uncertain.into_scores(|variance| nu * variance.exact_root());
        score::best(feasible, scores).ok_or(UserError::UnknownAction)
    }
}
