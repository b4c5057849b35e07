//! What a simulated user likes: a theta* drawn from a seed.
//!
//! People have a few strong preferences and many weak ones. In every block of the dictionary, in each task where it is per
//! task, one coordinate is liked and one disliked, those of single components the most; the others are close to zero.
//! The whole has length 1, which is as far from the prior as the default
//! [`prior_radius`](fable_core::Settings::prior_radius) allows, so that what promotions promise holds for these users.

use super::random::Random;
use alloc::vec;
use alloc::vec::Vec;
use fable_core::catalog::{Block, BlockSet};
use fable_core::{Catalog, Context, Policy, Settings};

/// Draws a theta* of length 1.
pub(super) fn draw(catalog: &Catalog<'_>, random: &mut Random) -> Vec<f64> {
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
                    set(&mut theta, coordinate, sign * strength(catalog, *block) * (1.0 + 0.2 * random.symmetric()));
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
    let components = (0..).zip(catalog.definition().components).filter(|(position, _)| block.has(*position)).count();
    match (components, block.is_per_task(), block.signal()) {
        (1, false, None) => 1.0,
        (1, true, _) => 0.4,
        (1, false, Some(_)) => 0.5,
        _ => 0.3,
    }
}

/// The coordinates of a block, in one task.
fn coordinates(catalog: &Catalog<'_>, block: usize, task: usize) -> Vec<usize> {
    let mut retained = BlockSet::EMPTY;
    retained.insert(block);
    let task = Some(task).filter(|task| *task < catalog.definition().tasks.len());
    let signals = vec![1.0; catalog.definition().signals.len()];
    let alone = Policy::<f64>::new(catalog, Settings { retained, ..Settings::DEFAULT });
    let (Ok(alone), Ok(context)) = (alone, Context::new(catalog, task, &signals)) else { return Vec::new() };
    let mut coordinates = Vec::new();
    for action in catalog.all_actions().iter() {
        coordinates.extend(alone.features(&context, action).map(|(coordinate, _)| coordinate));
    }
    coordinates.sort_unstable();
    coordinates.dedup();
    coordinates
}
