//! What a simulated user likes: a theta* drawn from a seed.
//!
//! People have a few strong preferences and many weak ones. In every block of the dictionary, in each task where it is per
//! task, one coordinate is liked and one disliked, those of single components the most; the others are close to zero.
//! The whole has length 1, which is as far from the prior as the default
//! [`prior_radius`](fable_core::Settings::prior_radius) allows, so that what promotions promise holds for these users.

use crate::random::Random;
use alloc::vec;
use alloc::vec::Vec;
use fable_core::Catalog;
use fable_core::catalog::Block;

/// Draws a theta* of length 1.
pub(crate) fn draw(catalog: &Catalog<'_>, random: &mut Random) -> Vec<f64> {
    let mut theta = vec![0.0; catalog.dimension()];
    for (index, block) in catalog.definition().blocks.iter().enumerate() {
        let tasks = if block.is_per_task() { catalog.definition().tasks.len() } else { 1 };
        for task in 0..tasks {
            let mut coordinates = coordinates(catalog, index, task);
            for &coordinate in &coordinates {
                set(&mut theta, coordinate, 0.05 * random.symmetric());
            }
            for sign in [1.0, -1.0] {
                if !coordinates.is_empty() {
                    let coordinate = coordinates.swap_remove(random.below(coordinates.len()));
                    set(
                        &mut theta,
                        coordinate,
                        sign * strength(catalog, *block) * (1.0 + 0.2 * random.symmetric()),
                    );
                }
            }
        }
    }
    let length = libm::sqrt(theta.iter().map(|weight| weight * weight).sum());
    if length > 0.0 {
        for weight in &mut theta {
            *weight /= length;
        }
    }
    theta
}

fn set(theta: &mut [f64], coordinate: usize, weight: f64) {
    if let Some(slot) = theta.get_mut(coordinate) {
        *slot = weight;
    }
}

/// How much more a user cares about a component as such than about where and with what it is used.
fn strength(catalog: &Catalog<'_>, block: Block) -> f64 {
    let components =
        (0..).zip(catalog.definition().components).filter(|(position, _)| block.has(*position)).count();
    match (components, block.is_per_task(), block.signal()) {
        (1, false, None) => 1.0,
        (1, true, _) => 0.4,
        (1, false, Some(_)) => 0.5,
        _ => 0.3,
    }
}

/// The coordinates of a block, in one task.
fn coordinates(catalog: &Catalog<'_>, block: usize, task: usize) -> Vec<usize> {
    catalog.block_ranges(block).nth(task).into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;
    use fable_core::catalog::{AGENT, BlockSet, RUBRIC, TAU2};
    use fable_core::{Context, Policy, Settings};

    #[test]
    fn the_coordinates_of_a_block_are_those_that_its_features_reach() {
        for catalog in [&AGENT, &TAU2, &RUBRIC] {
            let signals = vec![1.0; catalog.definition().signals.len()];
            for (index, block) in catalog.definition().blocks.iter().enumerate() {
                let mut retained = BlockSet::EMPTY;
                retained.insert(index);
                let alone = Policy::<f64>::new(catalog, Settings { retained, ..Settings::DEFAULT }).unwrap();
                for task in 0..if block.is_per_task() { catalog.definition().tasks.len() } else { 1 } {
                    let context =
                        Context::new(catalog, block.is_per_task().then_some(task), &signals).unwrap();
                    let actions = catalog.all_actions();
                    let reached = actions
                        .iter()
                        .flat_map(|action| alone.features(&context, action).map(|(place, _)| place));
                    assert!(
                        reached.collect::<BTreeSet<_>>().into_iter().eq(coordinates(catalog, index, task))
                    );
                }
            }
        }
    }
}
