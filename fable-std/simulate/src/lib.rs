//! A simulated user with hidden preferences, for demonstrations, studies and tests.
//!
//! The user is a theta* that no learner sees. Requests come from a table of [`Scenario`]s, and the reward of an action is
//!
//! clamp(b - cost + phi.theta* + noise, -1, 1),
//!
//! with noise uniform on [-h, h]. Both are functions of the seed, the life and the round alone, whatever was chosen before:
//! learners that live through the same rounds get the same requests and the same noise, so what differs between them is
//! theirs. Nothing but additions, products and a square root of `f64` is used, so the numbers are the same everywhere.
//!
//! ```
//! use fable_core::{Feasible, HostUser, Policy, Settings, catalog::AGENT};
//! use fable_simulate::SimulatedUser;
//!
//! let user = SimulatedUser::new(&AGENT, 7);
//! let mut ana = HostUser::<f32>::new(&Policy::new(&AGENT, Settings::default())?, "ana")?;
//!
//! let (everything, mut halves) = (Feasible::all(&AGENT), [0.0; 2]);
//! for round in 1..=200 {
//!     let asked = user.request(round)?;
//!     let decision = ana.decide(&asked.context, &everything)?;
//!     let reward = user.reward(round, &asked.context, decision.action);
//!     ana.feedback(decision.id, reward)?;
//!     halves[usize::from(round > 100)] += reward / 100.0;
//! }
//! assert!(halves[1] > halves[0], "{halves:?}");
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

#![no_std]

extern crate alloc;

mod random;
mod reaction;
mod scenarios;
mod taste;

pub use random::Random;
pub use scenarios::{Scenario, scenarios};

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use fable_core::catalog::ContextError;
use fable_core::preference::Comparison;
use fable_core::{Action, Catalog, Context, Feasible};

/// Half the width of the noise of a user from [`SimulatedUser::new`]: a standard deviation of 0.2.
pub const NOISE: f64 = 0.35;

/// See the [crate](self).
#[derive(Clone, Debug)]
pub struct SimulatedUser<'c> {
    catalog: &'c Catalog<'c>,
    theta: Vec<f64>,
    noise: f64,
    seed: u64,
    life: u64,
}

/// What the user asks in a round.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// In words.
    pub text: String,
    /// As a context adapter would summarise it.
    pub context: Context,
}

/// What the streams of random numbers are for.
const TASTE: u64 = 0;
const REQUEST: u64 = 1;
const REWARD: u64 = 2;

impl<'c> SimulatedUser<'c> {
    /// A user whose preferences are drawn from a seed: one value of each component is liked and one disliked, there are
    /// weaker preferences for tasks, signals and pairs, and theta* has length 1.
    #[must_use]
    pub fn new(catalog: &'c Catalog<'c>, seed: u64) -> Self {
        let theta = taste::draw(catalog, &mut Random::new([seed, 0, TASTE, 0]));
        Self { catalog, theta, noise: NOISE, seed, life: 0 }
    }

    /// A user with these preferences, a number per coordinate of the catalog.
    ///
    /// # Errors
    /// A number too few or too many, or one that is not finite.
    pub fn with_theta(catalog: &'c Catalog<'c>, theta: Vec<f64>, seed: u64) -> Result<Self, SimulateError> {
        if theta.len() != catalog.dimension() {
            return Err(SimulateError::Length { expected: catalog.dimension() });
        }
        match theta.iter().position(|weight| !weight.is_finite()) {
            Some(coordinate) => Err(SimulateError::NotFinite { coordinate }),
            None => Ok(Self { catalog, theta, noise: NOISE, seed, life: 0 }),
        }
    }

    /// The same user with noise on [-h, h] instead; a negative or undefined h is none.
    #[must_use]
    pub fn noisy(mut self, h: f64) -> Self {
        self.noise = h.max(0.0);
        self
    }

    /// The same user in another life: other requests and other noise.
    #[must_use]
    pub fn in_life(mut self, life: u64) -> Self {
        self.life = life;
        self
    }

    /// The hidden preferences.
    #[must_use]
    pub fn theta(&self) -> &[f64] {
        &self.theta
    }

    /// The catalog.
    #[must_use]
    pub const fn catalog(&self) -> &'c Catalog<'c> {
        self.catalog
    }

    /// What the user asks in a round: an entry of the catalog's table, or any task and signals where there is none.
    ///
    /// # Errors
    /// None that a valid catalog leads to.
    pub fn request(&self, round: u32) -> Result<Asked, ContextError> {
        let mut random = self.random(REQUEST, round);
        let table = scenarios(self.catalog);
        let scenario = table.get(random.below(table.len()));
        match scenario.and_then(|scenario| scenario.asked(self.catalog)) {
            Some(asked) => Ok(asked),
            None => scenarios::any(self.catalog, &mut random),
        }
    }

    /// The mean of the reward of an action.
    #[must_use]
    pub fn expected(&self, context: &Context, action: Action) -> f64 {
        let (mean, h) = (self.liking(context, action), self.noise);
        if h > 0.0 {
            (clamped_area(mean + h) - clamped_area(mean - h)) / (2.0 * h)
        } else {
            mean.clamp(-1.0, 1.0)
        }
    }

    /// The reward of an action in a round, from -1 to 1.
    #[must_use]
    pub fn reward(&self, round: u32, context: &Context, action: Action) -> f64 {
        let noise = self.noise * self.random(REWARD, round).symmetric();
        (self.liking(context, action) + noise).clamp(-1.0, 1.0)
    }

    /// The allowed action with the highest mean reward, and that mean.
    #[must_use]
    pub fn best(&self, context: &Context, feasible: &Feasible) -> (Action, f64) {
        let rewards =
            feasible.set().iter().map(|action| (action, self.expected(context, action))).collect::<Vec<_>>();
        // Of equals the earliest, as everywhere.
        rewards.into_iter().rev().max_by(|(_, one), (_, other)| one.total_cmp(other)).unwrap_or_default()
    }

    /// The true value of a contrast: how much more the user likes `prefer` than `over`.
    #[must_use]
    pub fn contrast(&self, comparison: &Comparison) -> f64 {
        let Comparison { context, prefer, over, total } = comparison;
        let score =
            |action| if *total { self.liking(context, action) } else { self.residual(context, action) };
        score(*prefer) - score(*over)
    }

    /// What the user says about an action that got a reward: praise, or what should have been done instead.
    #[must_use]
    pub fn reaction(&self, context: &Context, feasible: &Feasible, action: Action, reward: f64) -> String {
        reaction::comment(self, context, feasible, action, reward)
    }

    /// b - cost + phi.theta*
    fn liking(&self, context: &Context, action: Action) -> f64 {
        self.catalog.default_score(context, action) - self.catalog.cost(action)
            + self.residual(context, action)
    }

    /// phi.theta*
    fn residual(&self, context: &Context, action: Action) -> f64 {
        let features = self.catalog.features(context, action);
        features
            .map(|(coordinate, value)| {
                self.theta.get(coordinate).map_or(0.0, |weight| weight * f64::from(value))
            })
            .sum()
    }

    fn random(&self, purpose: u64, round: u32) -> Random {
        Random::new([self.seed, self.life, purpose, u64::from(round)])
    }
}

/// The integral of clamp(x, -1, 1) from 0.
fn clamped_area(x: f64) -> f64 {
    if x.abs() <= 1.0 { x * x / 2.0 } else { x.abs() - 0.5 }
}

/// What can be wrong with given preferences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SimulateError {
    /// Not one number per coordinate.
    Length {
        /// How many there must be.
        expected: usize,
    },
    /// A number that is not finite.
    NotFinite {
        /// Its position.
        coordinate: usize,
    },
}

impl fmt::Display for SimulateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { expected } => {
                write!(f, "the preferences of a user need {expected} numbers, one per coordinate")
            }
            Self::NotFinite { coordinate } => {
                write!(f, "the preference at coordinate {coordinate} is not a finite number")
            }
        }
    }
}

impl core::error::Error for SimulateError {}
