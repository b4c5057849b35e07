//! What the theorems say, as numbers: Theorem 1's bound with all constants of its proof, in probability and in expectation, and how much
//! evidence Theorem 3 asks for.
//!
//! The tests compute all of it again from dense matrices, sums and integrals, without these functions.

/// The most that one round can cost: mean rewards are within [-1, 1].
const WORST: f64 = 2.0;

/// What Theorem 1 is about: dimension, the longest feature vector L, the radius R around the prior mean, and delta. Unit noise and unit
/// precision.
#[derive(Clone, Copy, Debug)]
pub struct Regret {
    pub d: f64,
    pub length: f64,
    pub radius: f64,
    pub delta: f64,
}

impl Regret {
    /// The same with delta = n^-2: what the form in expectation is run with.
    pub fn in_expectation(self, n: f64) -> Self {
        Self { delta: 1.0 / (n * n), ..self }
    }

    /// l_t, by the logarithm of t, because the largest ratio may be at rounds that have no `f64`.
    fn ell(&self, log_t: f64) -> f64 {
        let share = self.length * self.length / self.d;
        // log(1 + (t - 1) share); 1 is nothing beside the rest long before exp overflows.
        let growth = if log_t < 600.0 {
            libm::log1p((libm::exp(log_t) - 1.0) * share)
        } else {
            log_t + libm::log(share)
        };
        self.radius + libm::sqrt(self.d * growth + 2.0 * libm::log(3.0 / self.delta))
    }

    /// nu_t
    fn nu(&self, log_t: f64) -> f64 {
        libm::sqrt(9.0 * self.d * (log_t - libm::log(self.delta)))
    }

    /// The supremum of l_t / nu_t over all t: a scan over log t, then smaller and smaller steps around the best. It tends to 1/3 and
    /// may never reach it.
    fn kappa(&self) -> f64 {
        let ratio = |log_t: f64| self.ell(log_t) / self.nu(log_t);
        let scan = (0..1200).map(|step| libm::expm1(f64::from(step) / 60.0));
        let mut best = scan.fold(0.0, |best, next| if ratio(next) > ratio(best) { next } else { best });
        let mut step = 0.02 * (1.0 + best);
        while step > 1e-9 * (1.0 + best) {
            let moved = [best - step, best + step]
                .into_iter()
                .find(|next| *next >= 0.0 && ratio(*next) > ratio(best));
            (best, step) = moved.map_or((best, step / 2.0), |next| (next, step));
        }
        ratio(best).max(1.0 / 3.0)
    }

    /// Theorem 1: R_n is at most this with probability 1 - delta.
    pub fn bound(&self, n: f64) -> f64 {
        let p0 = 0.5 * libm::erfc(self.kappa() * core::f64::consts::FRAC_1_SQRT_2);
        // The first round with 1 / (t + 1)^2 <= p0 / 2.
        let t0 = libm::ceil(libm::sqrt(2.0 / p0) - 1.0).max(1.0);
        let (log_n, squared) = (libm::log(n), self.length * self.length);
        let gamma =
            self.ell(log_n) + (libm::sqrt(self.d) + libm::sqrt(4.0 * libm::log(n + 1.0))) * self.nu(log_n);
        let potential = libm::sqrt(n * (1.0 + squared) * self.d * libm::log1p(n * squared / self.d));
        let martingale = libm::sqrt(2.0 * n * libm::log(3.0 / self.delta));
        // The sum of 1 / (t + 1)^2 over all t.
        let tails = core::f64::consts::PI * core::f64::consts::PI / 6.0 - 1.0;
        WORST * (t0 + tails + martingale) + (1.0 + 4.0 / p0) * gamma * (potential + self.length * martingale)
    }

    /// Theorem 1's second half: E R_n is at most this when the learner is run with delta = n^-2. Where the bound fails, with probability
    /// n^-2, the regret is at most 2n.
    pub fn expected(&self, n: f64) -> f64 {
        let run = self.in_expectation(n);
        run.bound(n) + run.delta * WORST * n
    }

    /// The first power of 2^(1/4) from which a bound is below 2n, the most that any regret can be.
    pub fn meaningful(bound: impl Fn(f64) -> f64) -> f64 {
        let mut powers = (4..400).map(|step| libm::pow(2.0, f64::from(step) / 4.0));
        powers.find(|n| bound(*n) < WORST * n).unwrap_or(f64::INFINITY)
    }
}

/// Theorem 3's N: the evidence after which a preference of size `gap` is promoted, if the variance of its contrast is at most
/// `decay` / (1 + evidence) and no beta is above `beta`.
pub fn required(decay: f64, beta: f64, gap: f64, min_evidence: u32) -> f64 {
    libm::ceil(16.0 * decay * beta * beta / (gap * gap)).max(f64::from(min_evidence))
}

#[cfg(test)]
mod tests {
    use super::super::dense::{Matrix, normal_tail};
    use super::*;
    use fable_core::Exploration;
    use fable_simulate::Random;

    const CASES: [Regret; 4] = [
        Regret { d: 3.0, length: 1.0, radius: 0.5, delta: 0.1 },
        Regret { d: 4.0, length: 1.7, radius: 1.0, delta: 0.02 },
        Regret { d: 9.0, length: 3.0_f64, radius: 4.0, delta: 0.5 },
        Regret { d: 6.0, length: 0.3, radius: 0.0, delta: 0.1 },
    ];

    /// Log-determinants of V_t for t = 1 to n + 1: every round adds what makes the determinant largest, L^2 / d in all directions.
    fn log_dets(case: &Regret, n: usize) -> Vec<f64> {
        let size = case.d as usize;
        let mut v = Matrix::identity(size, 1.0);
        let mut found = vec![v.log_det()];
        for _ in 0..n {
            (0..size).for_each(|place| v.0[place][place] += case.length * case.length / case.d);
            found.push(v.log_det());
        }
        found
    }

    /// The proof's right-hand side, step by step, from those matrices.
    fn dense(case: &Regret, n: usize, kappa: f64) -> f64 {
        let log_dets = log_dets(case, n);
        let third = 2.0 * (3.0 / case.delta).ln();
        let ell = case.radius + (log_dets[n - 1] + third).sqrt();
        // The scale that the learner itself has in round n.
        let nu = Exploration::Theorem { delta: case.delta }.nu(n as u32, case.d as usize);
        let gamma = ell + (case.d.sqrt() + (4.0 * (n as f64 + 1.0).ln()).sqrt()) * nu;
        let p0 = normal_tail(kappa);
        let t0 =
            (1..10_000).find(|t| 1.0 / f64::from((t + 1) * (t + 1)) <= p0 / 2.0).map_or(f64::NAN, f64::from);
        let sum_of_s = (n as f64 * (1.0 + case.length.powi(2)) * log_dets[n]).sqrt();
        let azuma = (n as f64 * third).sqrt();
        let tails: f64 = (1..2_000_000).rev().map(|t| (f64::from(t) + 1.0).powi(-2)).sum();
        t0 * 2.0 + (1.0 + 4.0 / p0) * gamma * (sum_of_s + case.length * azuma) + 2.0 * tails + 2.0 * azuma
    }

    /// The largest l_t / nu_t of a hundred thousand rounds, and of ever later ones, from the formulas as they are printed.
    fn largest_ratio(case: &Regret) -> f64 {
        let ratio = |t: f64| {
            let inner = case.d * (1.0 + (t - 1.0) * case.length.powi(2) / case.d).ln()
                + 2.0 * (3.0 / case.delta).ln();
            (case.radius + inner.sqrt()) / (9.0 * case.d * (t / case.delta).ln()).sqrt()
        };
        let early = (1..100_000).map(|t| ratio(f64::from(t)));
        let late = (500..30_000).map(|step| ratio(10.0_f64.powf(f64::from(step) / 100.0)));
        early.chain(late).fold(0.0, f64::max)
    }

    #[test]
    fn kappa_is_the_supremum() {
        for case in CASES {
            let (found, kappa) = (largest_ratio(&case), case.kappa());
            assert!(
                kappa >= found - 1e-12 && kappa <= found.max(1.0 / 3.0) + 1e-6,
                "{case:?}: {kappa} {found}"
            );
        }
    }

    #[test]
    fn the_bound_is_the_proofs_from_dense_matrices() {
        for case in CASES {
            for n in [2, 17, 400] {
                let (ours, dense) = (case.bound(n as f64), dense(&case, n, case.kappa()));
                assert!((ours / dense - 1.0).abs() < 1e-6, "{case:?} {n}: {ours} {dense}");
            }
        }
    }

    /// With delta = n^-2 and nothing taken from the form in probability: the dense right-hand side at that delta, and the regret 2n of
    /// the runs for which it fails.
    #[test]
    fn the_expected_form_is_the_proofs_from_dense_matrices() {
        for case in CASES {
            for n in [2_usize, 17, 400] {
                let delta = (n as f64).powi(-2);
                let run = Regret { delta, ..case };
                let dense = dense(&run, n, run.kappa());
                let expected = case.expected(n as f64);
                assert!(
                    (expected / (dense + 2.0 / n as f64) - 1.0).abs() < 1e-6,
                    "{case:?} {n}: {expected} {dense}"
                );
                // The worst law that the first half allows has a smaller mean.
                assert!((1.0 - delta) * dense + delta * 2.0 * n as f64 <= expected * (1.0 + 1e-6));
            }
        }
    }

    /// Any features, of dense matrices: the determinant and the sum of s_t are at most what the bound has for them.
    #[test]
    fn no_features_are_worse_than_those_of_the_bound() {
        for case in CASES {
            let (size, n) = (case.d as usize, 120);
            let most = log_dets(&case, n);
            let mut random = Random::new([size as u64, 0, 0x9e0f, 0]);
            let mut v = Matrix::identity(size, 1.0);
            let mut sum = 0.0;
            for most in &most[1..] {
                let mut z: Vec<f64> = (0..size).map(|_| random.symmetric()).collect();
                let norm = z.iter().map(|value| value * value).sum::<f64>().sqrt();
                for value in &mut z {
                    *value *= case.length / norm;
                }
                sum += v.inverse().quadratic(&z).sqrt();
                v.add_outer(&z, 1.0);
                assert!(v.log_det() <= most + 1e-9);
            }
            assert!(sum <= (n as f64 * (1.0 + case.length.powi(2)) * most[n]).sqrt());
        }
    }

    /// sqrt(n) d^(3/2) up to logarithms in both forms, and vacuous where anybody could check it.
    #[test]
    fn the_bounds_grow_as_the_theorem_says() {
        let case = |d: f64| Regret { d, length: 1.7, radius: 1.0, delta: 0.1 };
        for bound in [Regret::bound, Regret::expected] {
            let ratio = bound(&case(9.0), 1e9) / bound(&case(9.0), 1e7);
            assert!(ratio > 10.0 && ratio < 20.0, "{ratio}");
            let ratio = bound(&case(40_000.0), 1e12) / bound(&case(10_000.0), 1e12);
            assert!(ratio > 6.0 && ratio < 8.0, "{ratio}");
            assert!(bound(&case(9.0), 1e4) > 2e4);
            // The remark on the baseline: a smaller radius never makes it worse.
            let with = |radius: f64| bound(&Regret { radius, ..case(9.0) }, 1e4);
            assert!(with(0.0) < with(1.0) && with(1.0) < with(4.0));
            let from = Regret::meaningful(|n| bound(&case(9.0), n));
            assert!(bound(&case(9.0), from) < 2.0 * from && bound(&case(9.0), from / 1.2) > 2.0 * from / 1.2);
        }
    }
}
