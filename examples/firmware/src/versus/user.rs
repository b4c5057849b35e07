//! A simulated user: requests of every kind, and a reward for whatever is done about them.

use fable_core::{Action, Context, Policy, catalog::AGENT};

/// Actions of the catalog.
pub(crate) const ACTIONS: usize = AGENT.actions();

/// One request, made before anything is counted.
#[derive(Clone, Debug)]
pub(crate) struct Moment {
    /// The request.
    pub(crate) context: Context,
    /// The reference score of every action, for those who do not work it out themselves.
    pub(crate) baselines: [f32; ACTIONS],
    /// Shifts the rewards.
    noise: u32,
}

impl Moment {
    /// The reward of an action, in [-1, 1]: it likes some actions better than others, and is not always of the same mind.
    #[must_use]
    pub(crate) fn reward(&self, action: Action) -> f64 {
        f64::from((u32::from(action.0) % 7 * 9 + self.noise) % 65) / 32.0 - 1.0
    }
}

/// Where the user's requests come from: xorshift, 32 bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct User(u32);

impl User {
    /// A user; another seed, another user.
    #[must_use]
    pub(crate) const fn new(seed: u32) -> Self {
        Self(seed | 1)
    }

    /// A number below `limit`, which is small.
    fn below(&mut self, limit: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        (self.0 >> 8) % limit
    }

    /// The next request: any task, and signals that are never zero, so that nothing is skipped because of one.
    /// `None` when it does not fit the catalog.
    pub(crate) fn moment(&mut self, policy: &Policy<'_, f32>) -> Option<Moment> {
        let definition = policy.catalog().definition();
        let task = self.below(u32::try_from(definition.tasks.len()).ok()?) as usize;
        let signals: [f32; 16] = core::array::from_fn(|_| f32::from(self.below(128) as u8 + 1) / 128.0);
        let context =
            Context::new(policy.catalog(), Some(task), signals.get(..definition.signals.len())?).ok()?;
        let baselines = core::array::from_fn(|action| policy.baseline(&context, Action(action as u16), None));
        Some(Moment { context, baselines, noise: self.below(32) })
    }

    /// Any action.
    pub(crate) fn action(&mut self) -> Action {
        Action(self.below(ACTIONS as u32) as u16)
    }
}
