//! Scores of all actions beside the one that is played: mean scores for [probes](super::probe), and scores
//! for logs.

use super::decide::Choice;
use super::{Request, User, UserError};
use crate::catalog::Action;
#[cfg(fable_host)]
use crate::catalog::score::Round;
use crate::catalog::score::{self, Scalar};
use crate::numbers::Key;
#[cfg(fable_host)]
use crate::posterior::{DrawAndMean, Posterior};
use crate::posterior::{PosteriorError, Scoring};

/// The scores of a decision, for logs and people. The event of the decision has all that is learned from.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Scores {
    /// The mean score of the action, baseline + phi.mu.
    pub score: f64,
    /// The score that was compared: the score of the draw, or the optimistic score.
    pub sampled_score: f64,
    /// Another feasible action has a higher mean score.
    pub explored: bool,
}

impl<T: Scalar> User<'_, T> {
    /// The feasible action with the highest score for a draw. The workspace keeps the mean score of every
    /// action, too.
    ///
    /// A host with a workspace for two thetas reads the factor once for both.
    pub(super) fn score_draw_and_mean(
        &mut self,
        request: &Request<'_>,
        nu: T,
        key: &Key,
    ) -> Result<(Action, T), UserError> {
        #[cfg(fable_host)]
        if let Some(regions) = DrawAndMean::of(self.workspace, self.policy.catalog()) {
            let (policy, feasible) = (self.policy, request.feasible.set());
            let posterior = Posterior::from_parts(self.memory.state.layout, 0.0, &*self.memory.storage);
            let DrawAndMean { theta, mu, table, scores, means } = regions;
            posterior.draw_and_mean(theta, mu, request.context.task(), (nu, key.stream()))?;
            let lambda = policy.settings().cost_weight;
            let round =
                Round::new(policy.catalog(), policy.mask(), lambda, request.context, request.defaults);
            T::best(&round, mu, table, means, feasible).ok_or(UserError::UnknownAction)?;
            return T::best(&round, theta, table, scores, feasible).ok_or(UserError::UnknownAction);
        }
        self.find_means(request)?;
        self.score(request, Some((nu, key.stream())))
    }

    /// Leaves the mean score of every action in the workspace. [`score`](Self::score) does not overwrite
    /// them.
    pub(super) fn find_means(&mut self, request: &Request<'_>) -> Result<(), UserError> {
        self.score(request, None)?;
        let Scoring { scores, means, .. } = self.scoring()?;
        for (mean, score) in means.iter_mut().zip(scores) {
            *mean = *score;
        }
        Ok(())
    }

    /// The workspace as [`score`](Self::score) has left it.
    pub(super) fn scoring(&mut self) -> Result<Scoring<'_, T>, PosteriorError> {
        Scoring::of(self.workspace, self.policy.catalog()).ok_or(PosteriorError::WorkspaceLength)
    }

    /// The score of one action, as the last comparison has left it.
    pub(super) fn score_of(&mut self, action: Action) -> Result<Option<T>, UserError> {
        Ok(self.scoring()?.scores.get(action.index()).copied())
    }

    /// The scores of the action that is played.
    pub(super) fn scores(&mut self, request: &Request<'_>, choice: &Choice<T>) -> Result<Scores, UserError> {
        let Scoring { means, .. } = self.scoring()?;
        let (_, highest) = score::best(request.feasible.set(), means).ok_or(UserError::UnknownAction)?;
        let score = *means.get(choice.action.index()).ok_or(PosteriorError::WorkspaceLength)?;
        Ok(Scores { score: score.to_f64(), sampled_score: choice.score.to_f64(), explored: score < highest })
    }
}
