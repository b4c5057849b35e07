//! Random numbers of the studies, from the named streams of the simulator.

use fable_simulate::Random;

/// Whether something with this probability happens.
pub fn chance(random: &mut Random, probability: f64) -> bool {
    random.unit() < probability
}

/// A standard normal number (Box and Muller).
pub fn normal(random: &mut Random) -> f64 {
    let (radius, angle) = (1.0 - random.unit(), random.unit());
    libm::sqrt(-2.0 * libm::log(radius)) * libm::cos(core::f64::consts::TAU * angle)
}

/// A random order (Fisher and Yates).
pub fn shuffle<T>(random: &mut Random, items: &mut [T]) {
    for last in (1..items.len()).rev() {
        items.swap(last, random.below(last + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_of_a_normal_and_a_permutation() {
        let mut random = Random::new([1, 0, 0, 0]);
        let draws: Vec<f64> = (0..20_000).map(|_| normal(&mut random)).collect();
        let moment = |power| draws.iter().map(|x| libm::pow(*x, power)).sum::<f64>() / 20_000.0;
        for (power, expected) in [(1.0, 0.0), (2.0, 1.0), (3.0, 0.0), (4.0, 3.0)] {
            assert!((moment(power) - expected).abs() < 0.15, "{power}: {}", moment(power));
        }
        let mut items: Vec<usize> = (0..50).collect();
        shuffle(&mut random, &mut items);
        assert_ne!(items, (0..50).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..50).collect::<Vec<_>>());
    }
}
