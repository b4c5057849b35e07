//! The stopping rule of experimentation services, on the same coins: a mixture sequential probability ratio test of two means.
//!
//! With V = s^2 (1/n_1 + 1/n_0), d the difference of the means of the two arms and an effect that is normal with variance tau^2,
//!
//! L = sqrt(V / (V + tau^2)) exp(tau^2 d^2 / (2 V (V + tau^2)))
//!
//! is a likelihood ratio of a mixture (Johari and others, 2017; with s^2 from the data, what is sold as always-valid results). It is
//! two-sided, so it takes M / alpha_p where two wealths take 2 M / alpha_p.

/// Two arms of one contrast.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mixture {
    /// Count, sum and sum of squares: the other value, the preferred one.
    arms: [(f64, f64, f64); 2],
}

/// tau: effects of 0.3 are ordinary.
const TAU: f64 = 0.3;
/// Nothing is decided before there are so many in each arm: a variance of two numbers is none.
const LEAST: f64 = 10.0;

impl Mixture {
    pub fn add(&mut self, preferred: bool, reward: f64) {
        let (count, sum, squares) = &mut self.arms[usize::from(preferred)];
        *count += 1.0;
        *sum += reward;
        *squares += reward * reward;
    }

    /// ln L with this variance of a reward, or with the pooled one of the coins so far.
    pub fn log_ratio(&self, variance: Option<f64>) -> f64 {
        let [(n0, s0, q0), (n1, s1, q1)] = self.arms;
        if n0 < LEAST || n1 < LEAST {
            return 0.0;
        }
        let within = (q0 - s0 * s0 / n0 + q1 - s1 * s1 / n1) / (n0 + n1 - 2.0);
        let v = variance.unwrap_or(within).max(1e-9) * (1.0 / n0 + 1.0 / n1);
        let (d, t) = (s1 / n1 - s0 / n0, TAU * TAU);
        0.5 * libm::log(v / (v + t)) + t * d * d / (2.0 * v * (v + t))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::normal;
    use fable_simulate::Random;

    /// It is a likelihood ratio: 1 on average where there is no difference and the variance is the true one.
    #[test]
    fn the_ratio_is_one_on_average() {
        let lives = 20_000;
        let ratio = |life: u64| {
            let (mut random, mut mixture) = (Random::new([life, 0, 0, 5]), Mixture::default());
            for coin in 0..20 {
                mixture.add(coin % 2 == 0, 0.3 * normal(&mut random));
            }
            libm::exp(mixture.log_ratio(Some(0.09)))
        };
        let mean = (0..lives).map(ratio).sum::<f64>() / lives as f64;
        assert!((mean - 1.0).abs() < 0.1, "{mean}");
    }
}
