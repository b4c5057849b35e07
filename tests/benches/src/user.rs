//! A simulated user: requests of every kind, and a reward for whatever is done about them.

use fable_core::{Action, Context, Policy, Scalar};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro128PlusPlus;

/// One request, made before the clock starts.
#[derive(Clone, Debug)]
pub struct Moment<T> {
    /// The request.
    pub context: Context,
    /// The reference score of every action.
    pub baselines: Vec<T>,
    /// The reward of every action.
    pub rewards: Vec<f64>,
}

/// `count` requests with random signals, over all tasks or always the same; rewards are what a hidden linear taste and some
/// noise say, clipped to [-1, 1].
///
/// # Panics
/// Never: the contexts fit the policy's catalog.
#[must_use]
pub fn moments<T: Scalar>(policy: &Policy<'_, T>, task: Option<usize>, count: usize) -> Vec<Moment<T>> {
    let catalog = policy.catalog();
    let (tasks, signals) = (catalog.definition().tasks.len(), catalog.definition().signals.len());
    let mut random = Xoshiro128PlusPlus::seed_from_u64(1);
    // In [-1, 1).
    let mut symmetric = move || f64::from(random.next_u32()) / f64::from(1_u32 << 31) - 1.0;
    let taste: Vec<f64> = (0..catalog.dimension()).map(|_| 0.3 * symmetric()).collect();
    let moment = |turn: usize| {
        let task = task.or((turn * 7).checked_rem(tasks));
        #[expect(clippy::cast_possible_truncation, reason = "a signal is an f32")]
        let signals: Vec<f32> = (0..signals).map(|_| symmetric().abs() as f32).collect();
        let context = Context::new(catalog, task, &signals).expect("fits the catalog");
        let actions = || (0..u16::try_from(catalog.actions()).expect("at most 1024")).map(Action);
        let reward = |action| {
            let residual: f64 = catalog
                .features(&context, action)
                .map(|(index, value)| taste[index] * f64::from(value))
                .sum();
            (policy.baseline(&context, action, None).to_f64() + residual + 0.5 * symmetric()).clamp(-1.0, 1.0)
        };
        let rewards = actions().map(reward).collect();
        Moment {
            context,
            baselines: actions().map(|action| policy.baseline(&context, action, None)).collect(),
            rewards,
        }
    };
    (0..count).map(moment).collect()
}

/// What everyone learns before anything is measured, as positions of moments and actions: so many different actions that no
/// coordinate is left untouched, which would be skipped and flatter Fable.
pub fn lessons<T>(moments: &[Moment<T>], count: usize) -> impl Iterator<Item = (usize, Action)> {
    let actions = moments[0].rewards.len();
    (0..count).map(move |turn| {
        (turn % moments.len(), Action(u16::try_from(turn * 101 % actions).unwrap_or_default()))
    })
}
