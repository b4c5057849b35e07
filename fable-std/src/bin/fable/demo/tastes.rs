//! How much a user likes each value, other things being equal: one number per value, from theta* or from what was learned.
//!
//! The number is w.theta, where w is the mean of the features over the user's requests and over the allowed actions that
//! have the value, less the same for the component's values together. Being linear it can be had from any theta, while
//! single coordinates of theta are poorly determined (many thetas give the same scores).

use fable_core::catalog::ContextError;
use fable_core::{Catalog, Feasible};
use fable_std::simulate::SimulatedUser;

/// Requests that the means are taken over.
const REQUESTS: u32 = 200;

/// A value and its direction w.
pub(super) struct Taste<'c> {
    pub(super) value: &'c str,
    /// `None` when no allowed action has the value.
    direction: Option<Vec<f64>>,
}

/// A component with its values.
pub(super) struct Tastes<'c> {
    pub(super) component: &'c str,
    pub(super) values: Vec<Taste<'c>>,
}

impl Taste<'_> {
    /// w.theta
    pub(super) fn strength(&self, theta: &[f64]) -> Option<f64> {
        self.direction.as_ref().map(|direction| direction.iter().zip(theta).map(|(w, theta)| w * theta).sum())
    }
}

impl Tastes<'_> {
    /// The values with their strengths, the best liked first.
    pub(super) fn ranked(&self, theta: &[f64]) -> Vec<(&Taste<'_>, f64)> {
        let mut ranked: Vec<_> =
            self.values.iter().filter_map(|taste| Some((taste, taste.strength(theta)?))).collect();
        ranked.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        ranked
    }
}

/// The directions of every value of every component.
pub(super) fn tastes<'c>(
    user: &SimulatedUser<'_>,
    catalog: &'c Catalog<'c>,
    feasible: &Feasible,
) -> Result<Vec<Tastes<'c>>, ContextError> {
    let requests =
        (1..=REQUESTS).map(|round| Ok(user.request(round)?.context)).collect::<Result<Vec<_>, _>>()?;
    let components = catalog.definition().components.iter().enumerate();
    Ok(components
        .map(|(index, component)| {
            let mut directions: Vec<Option<Vec<f64>>> = component.values.iter().map(|_| None).collect();
            let mut counts = vec![0_u32; component.values.len()];
            for action in feasible.set().iter() {
                let values = catalog.values(action).unwrap_or_default();
                let Some(value) = values.get(index).map(|value| usize::from(*value)) else { continue };
                if let (Some(direction), Some(count)) = (directions.get_mut(value), counts.get_mut(value)) {
                    let direction = direction.get_or_insert_with(|| vec![0.0; catalog.dimension()]);
                    for (coordinate, feature) in
                        requests.iter().flat_map(|context| catalog.features(context, action))
                    {
                        if let Some(slot) = direction.get_mut(coordinate) {
                            *slot += f64::from(feature);
                        }
                    }
                    *count += REQUESTS;
                }
            }
            for (direction, count) in directions.iter_mut().zip(&counts) {
                direction.iter_mut().flatten().for_each(|weight| *weight /= f64::from(*count));
            }
            center(&mut directions, catalog.dimension());
            let values = component.values.iter().zip(directions);
            let values = values.map(|(value, direction)| Taste { value: value.name, direction }).collect();
            Tastes { component: component.name, values }
        })
        .collect())
}

/// Takes the mean of the directions away from each.
fn center(directions: &mut [Option<Vec<f64>>], dimension: usize) {
    let count = directions.iter().flatten().count().max(1) as f64;
    for coordinate in 0..dimension {
        let weights = directions.iter().flatten().filter_map(|direction| direction.get(coordinate));
        let mean = weights.sum::<f64>() / count;
        for direction in directions.iter_mut().flatten() {
            if let Some(weight) = direction.get_mut(coordinate) {
                *weight -= mean;
            }
        }
    }
}
