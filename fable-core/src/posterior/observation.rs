//! One observation, y = phi.theta + noise, and the columns of the packed factor that it touches.
//!
//! ```text
//! Lambda <- Lambda + phi phi^T / v        Equation 5, or Equation 2 with kappa = 1 / v
//! h      <- h + phi y / v                 Equation 6, or Equation 3
//! ```
//!
//! One sweep over L, D and z of Lambda = L D L^T and h = L D z does both.

use super::{PosteriorError, Update};
use crate::numbers::{Layout, MAX_COEFFICIENT, Number, Segment, within};

/// An observation, with the columns of the factor that it touches. Learning it cannot fail.
#[derive(Debug)]
pub(crate) struct Located<'s, T> {
    /// The columns of the touched leaf, and of the root.
    segments: [Segment<&'s mut [T]>; 2],
    /// phi over the touched leaf and the root, then y.
    active: &'s mut [T],
}

impl<'s, T: Number> Located<'s, T> {
    /// Locates an observation in a packed factor.
    pub(crate) fn new(
        layout: Layout,
        packed: &'s mut [T],
        scratch: &'s mut [T],
        direction: impl IntoIterator<Item = (usize, T)>,
        response: T,
    ) -> Result<Self, PosteriorError> {
        let (leaf, active) = scatter(layout, scratch, direction, response)?;
        let segments = layout.split_mut(packed, leaf).ok_or(PosteriorError::NotStarted)?;
        Ok(Self { segments, active })
    }

    /// Learns the observation with a noise variance v in range. A negative v takes the observation back.
    pub(crate) fn absorb(self, variance: T, log_det_ratio: &mut f64) -> Update<T> {
        let (mut t, mut w) = (variance, self.active);
        for segment in self.segments {
            (t, w) = T::sweep(segment.inverse, segment.columns, w, t);
        }
        // t = v + phi.Sigma.phi, and det Lambda grows by the factor t / v.
        *log_det_ratio += libm::log(t.to_f64() / variance.to_f64());
        Update { innovation: w.first().copied().unwrap_or(T::ZERO), variance: t }
    }
}

/// The part of a workspace for one leaf, the root and the information row.
pub(super) fn active<T>(scratch: &mut [T], layout: Layout) -> Result<&mut [T], PosteriorError> {
    scratch.get_mut(..layout.active_len()).ok_or(PosteriorError::WorkspaceLength)
}

/// Writes a sparse direction over the active part, and the response after it.
///
/// The result is the leaf that the direction touches, and the active part from there on.
pub(super) fn scatter<T: Number>(
    layout: Layout,
    scratch: &mut [T],
    direction: impl IntoIterator<Item = (usize, T)>,
    response: T,
) -> Result<(Option<usize>, &mut [T]), PosteriorError> {
    if layout.dimension() == 0 {
        return Err(PosteriorError::NotStarted);
    }
    let active = active(scratch, layout)?;
    active.fill(T::ZERO);
    let mut leaf = None;
    for (coordinate, value) in direction {
        let (task, inside) = layout.locate(coordinate).ok_or(PosteriorError::Coordinate { coordinate })?;
        if !within(value.to_f64(), MAX_COEFFICIENT) {
            return Err(PosteriorError::Coefficient { coordinate });
        }
        if task.is_some() && leaf.is_some() && leaf != task {
            return Err(PosteriorError::TwoTasks);
        }
        leaf = leaf.or(task);
        let place = if task.is_some() { inside } else { usize::from(layout.leaf) + inside };
        if let Some(slot) = active.get_mut(place) {
            *slot += value;
        }
    }
    if let Some(last) = active.last_mut() {
        *last = response;
    }
    Ok((leaf, active.get_mut(layout.active_start(leaf)..).unwrap_or_default()))
}
