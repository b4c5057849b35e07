//! Statistics of the studies, each checked against a closed form or a published value.

use fable_simulate::Random;

/// 97.5% point of the normal distribution.
pub const Z95: f64 = 1.959_963_984_540_054;

/// The arithmetic mean; 0 of nothing.
#[must_use]
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// The sample standard deviation (n - 1); 0 of fewer than two.
#[must_use]
pub fn deviation(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let centre = mean(values);
    let squares: f64 = values.iter().map(|value| (value - centre) * (value - centre)).sum();
    (squares / (values.len() - 1) as f64).sqrt()
}

/// A 95% interval of a mean by its standard error.
#[must_use]
pub fn mean_interval(values: &[f64]) -> (f64, f64) {
    let (centre, half) = (mean(values), Z95 * deviation(values) / (values.len().max(1) as f64).sqrt());
    (centre - half, centre + half)
}

/// A quantile with linear interpolation between order statistics (type 7); 0 of nothing.
#[must_use]
pub fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = share.clamp(0.0, 1.0) * sorted.len().saturating_sub(1) as f64;
    let (below, part) = (place.floor(), place - place.floor());
    let at = |index: f64| sorted.get(index as usize).copied().unwrap_or_default();
    if part > 0.0 { at(below) + part * (at(below + 1.0) - at(below)) } else { at(below) }
}

/// The Wilson interval of a share at 95%.
#[must_use]
pub fn wilson(successes: usize, trials: usize) -> (f64, f64) {
    if trials == 0 {
        return (0.0, 1.0);
    }
    let (n, share, z2) = (trials as f64, successes as f64 / trials as f64, Z95 * Z95);
    let centre = share + z2 / (2.0 * n);
    let half = Z95 * (share * (1.0 - share) / n + z2 / (4.0 * n * n)).sqrt();
    ((centre - half) / (1.0 + z2 / n), (centre + half) / (1.0 + z2 / n))
}

/// The exact two-sided McNemar test: p of `first` against `second` discordant pairs under a fair coin.
#[must_use]
pub fn mcnemar(first: usize, second: usize) -> f64 {
    let total = first + second;
    // The terms C(n, k) / 2^n one after the other.
    let mut term = libm::pow(0.5, total as f64);
    let mut tail = 0.0;
    for successes in 0..=first.min(second) {
        tail += term;
        term *= (total - successes) as f64 / (successes + 1) as f64;
    }
    (2.0 * tail).min(1.0)
}

/// A straight line through points: slope, its 95% interval by the t distribution, and the intercept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Slope.
    pub slope: f64,
    /// Its 95% interval.
    pub interval: (f64, f64),
    /// Where it crosses x = 0.
    pub intercept: f64,
}

/// Least squares; `None` for fewer than three points or equal x.
#[must_use]
pub fn regression(points: &[(f64, f64)]) -> Option<Line> {
    let n = points.len();
    let (x, y): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
    let (x_mean, y_mean) = (mean(&x), mean(&y));
    let spread: f64 = x.iter().map(|x| (x - x_mean) * (x - x_mean)).sum();
    if n < 3 || spread <= 0.0 {
        return None;
    }
    let slope = points.iter().map(|(x, y)| (x - x_mean) * (y - y_mean)).sum::<f64>() / spread;
    let intercept = y_mean - slope * x_mean;
    let residuals: f64 =
        points.iter().map(|(x, y)| y - intercept - slope * x).map(|error| error * error).sum();
    let half = t95(n - 2) * (residuals / (n - 2) as f64 / spread).sqrt();
    Some(Line { slope, interval: (slope - half, slope + half), intercept })
}

/// 97.5% point of the t distribution, by the expansion of Cornish and Fisher, exact tables below 4 degrees.
fn t95(degrees: usize) -> f64 {
    let (z, v) = (Z95, degrees as f64);
    match degrees {
        0 | 1 => 12.706_204_736,
        2 => 4.302_652_730,
        3 => 3.182_446_305,
        _ => {
            let z2 = z * z;
            let first = z * (z2 + 1.0) / 4.0;
            let second = z * ((5.0 * z2 + 16.0) * z2 + 3.0) / 96.0;
            let third = z * (((3.0 * z2 + 19.0) * z2 + 17.0) * z2 - 15.0) / 384.0;
            let fourth = z * ((((79.0 * z2 + 776.0) * z2 + 1482.0) * z2 - 1920.0) * z2 - 945.0) / 92_160.0;
            z + first / v + second / (v * v) + third / (v * v * v) + fourth / (v * v * v * v)
        }
    }
}

/// A percentile interval (95%) of the mean over clusters by the bootstrap: whole clusters are drawn, each the sum and the
/// number of its values. Paired comparisons give differences.
#[must_use]
pub fn cluster_bootstrap(clusters: &[(f64, f64)], resamples: usize, seed: u64) -> (f64, f64) {
    let mut random = Random::new([seed, 0, 0, 0xb007]);
    let means: Vec<f64> = (0..resamples)
        .map(|_| {
            let (sum, count) = clusters.iter().fold((0.0, 0.0), |(sum, count), _| {
                let drawn = clusters.get(random.below(clusters.len())).copied().unwrap_or_default();
                (sum + drawn.0, count + drawn.1)
            });
            if count > 0.0 { sum / count } else { 0.0 }
        })
        .collect();
    (quantile(&means, 0.025), quantile(&means, 0.975))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::normal;

    fn close(value: f64, expected: f64, tolerance: f64) {
        assert!((value - expected).abs() <= tolerance, "{value} is not {expected}");
    }

    #[test]
    fn mean_deviation_and_quantiles() {
        let values = [4.0, 1.0, 3.0, 2.0];
        close(mean(&values), 2.5, 0.0);
        close(deviation(&values), (5.0_f64 / 3.0).sqrt(), 1e-15);
        for (share, expected) in [(0.0, 1.0), (0.25, 1.75), (0.5, 2.5), (0.9, 3.7), (1.0, 4.0)] {
            close(quantile(&values, share), expected, 1e-12);
        }
        let (lower, upper) = mean_interval(&values);
        close(upper - lower, 2.0 * Z95 * deviation(&values) / 2.0, 1e-12);
        assert_eq!((mean(&[]), deviation(&[1.0]), quantile(&[], 0.5)), (0.0, 0.0, 0.0));
    }

    /// 81 of 263, from Newcombe (1998), Table I: 0.2553 to 0.3662; 0 of 20: 0 to 0.1611.
    #[test]
    fn wilson_gives_newcombes_values() {
        let (lower, upper) = wilson(81, 263);
        close(lower, 0.2553, 5e-5);
        close(upper, 0.3662, 5e-5);
        let (lower, upper) = wilson(0, 20);
        close(lower, 0.0, 1e-15);
        close(upper, 0.1611, 5e-5);
        assert_eq!(wilson(0, 0), (0.0, 1.0));
    }

    /// The paper's 5 against 1 is 0.2188; 10 against 0 is 2 / 1024; a tie is 1.
    #[test]
    fn mcnemar_is_the_binomial_tail() {
        close(mcnemar(5, 1), 0.21875, 1e-15);
        close(mcnemar(1, 5), 0.21875, 1e-15);
        close(mcnemar(10, 0), 2.0 / 1024.0, 1e-15);
        close(mcnemar(3, 3), 1.0, 0.0);
        close(mcnemar(0, 0), 1.0, 0.0);
    }

    /// Anscombe's first set: slope 0.5001 with a standard error of 0.1179, intercept 3.0001, t with 9 degrees 2.2622.
    #[test]
    fn regression_gives_anscombes_line() {
        let x = [10.0, 8.0, 13.0, 9.0, 11.0, 14.0, 6.0, 4.0, 12.0, 7.0, 5.0];
        let y = [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68];
        let line = regression(&x.into_iter().zip(y).collect::<Vec<_>>()).unwrap();
        close(line.slope, 0.500_090_9, 1e-6);
        close(line.intercept, 3.000_090_9, 1e-6);
        close((line.interval.1 - line.interval.0) / 2.0, 0.117_905_5 * 2.262_157_2, 2e-5);
        assert_eq!(regression(&[(1.0, 1.0), (1.0, 2.0), (1.0, 3.0)]), None);
        for (degrees, table) in
            [(1, 12.706), (3, 3.182), (4, 2.776), (5, 2.571), (10, 2.228), (30, 2.042), (1000, 1.962)]
        {
            close(t95(degrees), table, 2e-3);
        }
    }

    /// Clusters of one: the interval of a mean. Clusters of two equal values: as wide as if there were half as many.
    #[test]
    fn the_bootstrap_respects_clusters() {
        let mut random = Random::new([3, 0, 0, 0]);
        let values: Vec<f64> = (0..400).map(|_| normal(&mut random)).collect();
        let single: Vec<(f64, f64)> = values.iter().map(|value| (*value, 1.0)).collect();
        let double: Vec<(f64, f64)> = values.iter().map(|value| (2.0 * value, 2.0)).collect();
        let width = |(lower, upper): (f64, f64)| upper - lower;
        let exact = mean_interval(&values);
        let drawn = cluster_bootstrap(&single, 4000, 1);
        close(width(drawn), width(exact), 0.08 * width(exact));
        close(width(cluster_bootstrap(&double, 4000, 1)), width(drawn), 1e-12);
        assert!(drawn.0 < mean(&values) && mean(&values) < drawn.1);
    }
}
