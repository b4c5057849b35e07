//! The simulated user: integers only, so that it does the same everywhere.

use fable_core::catalog::MAX_SIGNALS;
use fable_core::{Action, Catalog, Context};

pub(crate) struct Person {
    catalog: &'static Catalog<'static>,
    seed: u32,
    numbers: Numbers,
}

/// A request as the user knows it, and the context that is made from it.
pub(crate) struct Request {
    signals: [u8; MAX_SIGNALS],
    pub(crate) context: Context,
}

impl Person {
    pub(crate) fn new(catalog: &'static Catalog<'static>, seed: u32) -> Self {
        Self { catalog, seed, numbers: Numbers::new(seed) }
    }

    /// A number from 0 to `bound` - 1.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.numbers.next() as usize % bound
    }

    /// Any action of the catalog.
    pub(crate) fn action(&mut self) -> Action {
        let index = self.below(self.catalog.actions());
        Action(u16::try_from(index).expect("a small catalog"))
    }

    /// Any task, sometimes none, and signals of k/256.
    pub(crate) fn request(&mut self) -> Request {
        let definition = self.catalog.definition();
        let task = self.below(definition.tasks.len() + 1).checked_sub(1);
        let mut signals = [0; MAX_SIGNALS];
        let mut fractions = [0.0; MAX_SIGNALS];
        for (signal, fraction) in signals.iter_mut().zip(&mut fractions) {
            *signal = self.numbers.byte();
            *fraction = f32::from(*signal) / 256.0;
        }
        let context = Context::new(self.catalog, task, &fractions[..definition.signals.len()])
            .expect("signals in range");
        Request { signals, context }
    }

    /// How much the user likes an action here: k/64 from -1 to 1.
    ///
    /// A taste for each value, another in this task, one that grows with each signal, and a whim.
    pub(crate) fn reward(&mut self, request: &Request, action: Action) -> f64 {
        let values = self.catalog.values(action).expect("an action of the catalog");
        let signals = &request.signals[..self.catalog.definition().signals.len()];
        let task = request.context.task().map_or(0, |task| u8::try_from(task + 1).expect("few tasks"));
        let mut liking = i32::from(self.numbers.byte() % 9) - 4;
        for (component, &value) in (0..).zip(&values) {
            liking += self.taste(100, component, value) + self.taste(task, component, value);
            for (signal, &strength) in (200..).zip(signals) {
                liking += self.taste(signal, component, value) * i32::from(strength) / 256;
            }
        }
        f64::from(liking.clamp(-64, 64)) / 64.0
    }

    /// A fixed number from -16 to 16.
    fn taste(&self, matter: u8, component: u8, value: u8) -> i32 {
        let place = u32::from_le_bytes([value, component, matter, 0]);
        i32::from(Numbers::new(self.seed ^ place).byte() % 33) - 16
    }
}

/// Marsaglia's xorshift32.
struct Numbers(u32);

impl Numbers {
    fn new(seed: u32) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9) | 1)
    }

    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }

    fn byte(&mut self) -> u8 {
        let [.., high] = self.next().to_le_bytes();
        high
    }
}
