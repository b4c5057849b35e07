//! Drift of `f32` from the dense `f64` oracle over long runs: the numbers that `tests/README.md` promises.

use crate::common::{Random, Sums, convert, difference, features};
use fable_core::catalog::AGENT;
use fable_core::posterior::{Layout, Posterior, Prior};
use fable_core::{Action, Context, Workspace};

const PRECISION: f64 = 16.0;

/// The largest errors over sampled contexts: of a score phi.mu (absolute; rewards are in [-1, 1]) and of a
/// contrast's variance (relative).
fn errors(
    posterior: &Posterior<f32, Vec<f32>>,
    dense: &Sums,
    probes: &[(Context, Action, Action)],
) -> (f64, f64) {
    let solved = dense.solved();
    let mut workspace = Workspace::from_storage(vec![0.0_f32; AGENT.workspace_len()]);
    let mut worst = (0.0_f64, 0.0_f64);
    for (context, plus, minus) in probes {
        let phi = features(&AGENT, context, *plus);
        let w = difference(&phi, &features(&AGENT, context, *minus));
        let score = posterior.contrast(&mut workspace, convert::<f32>(&phi)).unwrap();
        let contrast = posterior.contrast(&mut workspace, convert::<f32>(&w)).unwrap();
        worst.0 = worst.0.max((f64::from(score.mean) - solved.contrast(&phi).0).abs());
        let variance = solved.contrast(&w).1;
        worst.1 = worst.1.max((f64::from(contrast.variance) / variance - 1.0).abs());
    }
    worst
}

/// Runs `rounds` updates and compares after each of the checkpoints.
fn run(noise: f64, repeated: f64, checkpoints: &[(usize, f64, f64)]) {
    let mut random = Random(2026);
    let layout: Layout = AGENT.layout();
    let mut posterior = Posterior::<f32, _>::from_storage(vec![0.0; layout.packed_len()]);
    let mut workspace = Workspace::from_storage(vec![0.0; AGENT.workspace_len()]);
    posterior.start(layout, &Prior::Isotropic, PRECISION).unwrap();
    let mut dense = Sums::isotropic(layout.dimension(), PRECISION);
    let truth: Vec<f64> = (0..layout.dimension()).map(|_| 0.2 * random.signed()).collect();
    let probes: Vec<_> = (0..300)
        .map(|_| (random.context(&AGENT), random.action(&AGENT), random.action(&AGENT)))
        .filter(|probe| probe.1 != probe.2)
        .collect();
    let same = (random.context(&AGENT), random.action(&AGENT));
    let mut done = 0;
    for &(rounds, scores, variances) in checkpoints {
        while done < rounds {
            let (context, action) =
                if random.unit() < repeated { same } else { (random.context(&AGENT), random.action(&AGENT)) };
            let phi = features(&AGENT, &context, action);
            let expected: f64 = phi.iter().map(|&(index, value)| value * truth[index]).sum();
            let y = f64::from((expected + 0.3 * random.normal()).clamp(-1.0, 1.0) as f32);
            posterior.update(&mut workspace, convert::<f32>(&phi), y as f32, noise as f32).unwrap();
            dense.observe(&phi, y, f64::from(noise as f32));
            done += 1;
        }
        let (score, variance) = errors(&posterior, &dense, &probes);
        println!(
            "noise {noise}, {:.0}% repeated, {rounds} updates: scores {score:.1e}, contrast variances {variance:.1e}",
            100.0 * repeated
        );
        assert!(score < scores, "scores after {rounds}: {score:e}");
        assert!(variance < variances, "variances after {rounds}: {variance:e}");
        assert!(posterior.packed()[..layout.dimension()].iter().all(|inverse| *inverse > 0.0));
    }
}

#[test]
fn ordinary_stream() {
    run(0.25, 0.0, &[(1_000, 1e-5, 2e-5), (10_000, 1e-5, 2e-5), (100_000, 1e-3, 2e-3)]);
}

#[test]
fn stress_stream() {
    run(0.0025, 0.9, &[(10_000, 1e-3, 2e-3), (100_000, 1e-3, 2e-3)]);
}
