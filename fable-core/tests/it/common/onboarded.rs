//! A user who said something, and the dense oracle that was told the same.

use super::{Random, Sums};
use fable_core::catalog::Catalog;
use fable_core::catalog::Direction;
use fable_core::{HostUser, Statement};

/// A direction over up to four of the coordinates given, with at most one task.
pub fn direction(random: &mut Random, catalog: &Catalog<'_>, among: &[usize]) -> Vec<(usize, f64)> {
    let mut entries: Vec<(usize, f64)> = Vec::new();
    for _ in 0..4 {
        let coordinate = among[random.below(among.len())];
        let task = |coordinate| catalog.layout().locate(coordinate).unwrap().0;
        let foreign = |&(other, _): &(usize, f64)| {
            other == coordinate
                || (task(other).is_some() && task(coordinate).is_some() && task(other) != task(coordinate))
        };
        if !entries.iter().any(foreign) {
            entries.push((coordinate, 0.25 + random.unit()));
        }
    }
    entries
}

/// What was stated: direction, response and precision.
pub type Stated = Vec<(Vec<(usize, f64)>, f64, f64)>;

/// States a few preferences.
pub fn onboard(random: &mut Random, ana: &mut HostUser<'_, f64, 4>, among: &[usize]) -> Stated {
    let catalog = ana.policy().catalog();
    let mut stated = Stated::new();
    for _ in 0..4 {
        let entries = direction(random, catalog, among);
        let (response, precision) = (random.signed(), 1.0 + 8.0 * random.unit());
        let direction = Direction::new(catalog, entries.iter().copied()).unwrap();
        ana.user().onboard(&Statement { direction, response, precision }).unwrap();
        stated.push((entries, response, precision));
    }
    stated
}

/// Equations 2-3 in a space whose coordinates are numbered by `place`.
pub fn told(dimension: usize, base_precision: f64, stated: &Stated, place: impl Fn(usize) -> usize) -> Sums {
    let mut dense = Sums::isotropic(dimension, base_precision);
    for (entries, response, precision) in stated {
        let entries: Vec<_> = entries.iter().map(|&(coordinate, value)| (place(coordinate), value)).collect();
        dense.observe(&entries, *response, 1.0 / precision);
    }
    dense
}
