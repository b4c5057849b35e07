//! Lambda <- k Lambda + (1 - k) Lambda_0, in place: scaled pivots, then the columns of the prior one by one.
//!
//! With Lambda_0 = sum over j of D_j l_j l_j^T and h_0 = sum of D_j z_j l_j, each column is one observation
//! l_j.theta = z_j of variance 1 / ((1 - k) D_j). A packed column, z_j included, has the order of the active
//! part after its own coordinate.

use super::prior::Prior;
use crate::numbers::{Layout, Number};

/// A fading toward a prior.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fading<'f, T> {
    pub(crate) layout: Layout,
    pub(crate) prior: &'f Prior<'f, T>,
    pub(crate) base_precision: f64,
    /// k
    pub(crate) keep: f32,
}

/// The result of a fading.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Faded {
    /// ln det Lambda - ln det Lambda_0 after the fading.
    pub(crate) log_det_ratio: f64,
    /// mu.Lambda.mu before the fading, minus that of the prior.
    pub(crate) before: f64,
    /// mu.Lambda.mu after the fading, minus that of the prior.
    pub(crate) after: f64,
}

impl<T: Number> Fading<'_, T> {
    /// Fades a packed factor. The workspace has space for the active part.
    pub(crate) fn fade(&self, packed: &mut [T], workspace: &mut [T]) -> Faded {
        let Self { layout, prior, base_precision, keep } = *self;
        let before = self.length(packed) - self.prior_length();
        if keep == 0.0 {
            prior.write(layout, base_precision, packed);
            return Faded { log_det_ratio: 0.0, before, after: 0.0 };
        }
        for inverse in packed.iter_mut().take(layout.dimension()) {
            *inverse *= T::from_f64(1.0 / f64::from(keep));
        }
        let mut log_det_ratio = 0.0;
        for coordinate in 0..layout.dimension() {
            log_det_ratio += libm::log(self.add_column(coordinate, packed, workspace));
        }
        for inverse in packed.iter().take(layout.dimension()) {
            log_det_ratio -= libm::log(inverse.to_f64());
        }
        Faded { log_det_ratio, before, after: self.length(packed) - self.prior_length() }
    }

    /// Adds (1 - k) times a column of the prior. The result is its E.
    fn add_column(&self, coordinate: usize, packed: &mut [T], workspace: &mut [T]) -> f64 {
        let Self { layout, prior, base_precision, keep } = *self;
        let (Some((leaf, inside)), Some(active)) =
            (layout.locate(coordinate), workspace.get_mut(..layout.active_len()))
        else {
            return 1.0;
        };
        active.fill(T::ZERO);
        let place = if leaf.is_some() { inside } else { layout.leaf() + inside };
        let Some([own, behind @ ..]) = active.get_mut(place..) else { return 1.0 };
        *own = T::ONE;
        let inverse = prior.column(layout, base_precision, coordinate, behind);
        let variance = T::from_f64(inverse.to_f64() / (1.0 - f64::from(keep)));
        let (Some(segments), Some(mut w)) =
            (layout.split_mut(packed, leaf), active.get_mut(layout.active_start(leaf)..))
        else {
            return 1.0;
        };
        let mut t = variance;
        for segment in segments {
            (t, w) = T::sweep(segment.inverse, segment.columns, w, t);
        }
        inverse.to_f64()
    }

    /// mu.Lambda.mu = sum of D z^2.
    fn length(&self, packed: &[T]) -> f64 {
        self.layout
            .column_ends()
            .zip(packed)
            .map(|(end, inverse)| square(packed.get(end).copied(), *inverse))
            .sum()
    }

    /// mu.Lambda.mu of the prior.
    fn prior_length(&self) -> f64 {
        match *self.prior {
            Prior::Isotropic => 0.0,
            Prior::Diagonal { mean, precision } => {
                mean.iter().zip(precision).map(|(mean, precision)| mean * mean * precision).sum()
            }
            Prior::Factor(factor) => self.length(factor.posterior().packed()),
        }
    }
}

/// D z^2
fn square<T: Number>(z: Option<T>, inverse: T) -> f64 {
    let z = z.map_or(0.0, Number::to_f64);
    z * z / inverse.to_f64()
}
