//! A catalog that is known when a program is compiled: its policy and its memory are types of their own.
//!
//! [`catalog!`](crate::catalog!) makes a module of a declaration. The module fixes the sizes, so no dimension
//! appears in the code that uses it. The memory of one catalog does not fit the policy of another one:
//!
//! ```
//! mod lamp {
//!     fable_core::catalog! {
//!         name = "lamp";
//!         /// Color of the light.
//!         enum Light: "light" {
//!             Warm = "warm", 0.0, "Use warm light.";
//!             Cold = "cold", 0.0, "Use cold light.";
//!         }
//!         tasks { Reading = "reading"; Dinner = "dinner"; }
//!         signals { DAYLIGHT = "daylight"; }
//!         blocks = [
//!             Block::main(Light),
//!             Block::main(Light).per_task(),
//!             Block::main(Light).scaled_by(DAYLIGHT),
//!         ];
//!     }
//! }
//! use fable_core::{Request, user_hash};
//!
//! let mut memory = lamp::Memory::<8>::NEW; // a `static` on a device: all zero bits, which take no flash
//! let mut user = memory.start(&lamp::POLICY, user_hash("ana"))?;
//! let context = lamp::context(Some(lamp::Task::Dinner), [0.2])?;
//! let decision = user.decide(&Request::new(&context, &lamp::ALL))?;
//! let warm = lamp::Light::of(decision.action) == Some(lamp::Light::Warm);
//! user.feedback(decision.id, if warm { 1.0 } else { -1.0 })?;
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! ```compile_fail,E0308
//! # mod lamp {
//! #     fable_core::catalog! {
//! #         name = "lamp"; enum A: "a" { B = "b", 0.0, ""; C = "c", 0.0, ""; } blocks = [Block::main(A)];
//! #     }
//! # }
//! # mod fan {
//! #     fable_core::catalog! {
//! #         name = "fan"; enum A: "a" { B = "b", 0.0, ""; C = "c", 0.0, ""; } blocks = [Block::main(A)];
//! #     }
//! # }
//! lamp::Memory::<8>::NEW.start(&fan::POLICY, 1); // error: expected `Policy<Lamp>`, found `Policy<Fan>`
//! ```

use super::{Learner, User, UserError};
use crate::catalog::Catalog;
use crate::policy::{Settings, SettingsError};
use crate::posterior::{Prior, Workspace};
use core::marker::PhantomData;

/// A catalog as a type. [`catalog!`](crate::catalog!) implements it.
pub trait ConstCatalog {
    /// The catalog.
    const CATALOG: &'static Catalog<'static>;
}

/// A [`Policy`](crate::Policy) in `f32` for the catalog of `C`.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Policy<'a, C> {
    policy: crate::Policy<'a, f32>,
    catalog: PhantomData<fn() -> C>,
}

impl<'a, C: ConstCatalog> Policy<'a, C> {
    /// A policy with the isotropic base prior.
    ///
    /// # Errors
    /// As for [`Policy::new`](crate::Policy::new).
    pub const fn new(settings: Settings<'a>) -> Result<Self, SettingsError> {
        match crate::Policy::new(C::CATALOG, settings) {
            Ok(policy) => Ok(Self { policy, catalog: PhantomData }),
            Err(error) => Err(error),
        }
    }

    /// A policy with any base prior.
    ///
    /// # Errors
    /// As for [`Policy::with_prior`](crate::Policy::with_prior).
    pub fn with_prior(settings: Settings<'a>, prior: Prior<'a, f32>) -> Result<Self, SettingsError> {
        let policy = crate::Policy::with_prior(C::CATALOG, settings, prior)?;
        Ok(Self { policy, catalog: PhantomData })
    }

    /// The policy without the type of its catalog.
    #[must_use]
    #[inline]
    pub const fn get(&self) -> &crate::Policy<'a, f32> {
        &self.policy
    }
}

/// The [`Learner`] of one user and its [`Workspace`], for the catalog of `C`.
///
/// `WAITING` is the capacity for decisions that wait for their reward, and for promotions. The module of a
/// catalog has an alias that fixes the other numbers.
#[derive(Clone, Debug)]
pub struct Memory<C, const STATE: usize, const SCRATCH: usize, const WAITING: usize> {
    learner: Learner<f32, [f32; STATE], WAITING>,
    workspace: Workspace<f32, [f32; SCRATCH]>,
    catalog: PhantomData<fn() -> C>,
}

impl<C: ConstCatalog, const STATE: usize, const SCRATCH: usize, const WAITING: usize>
    Memory<C, STATE, SCRATCH, WAITING>
{
    /// Memory without a user: all zero bits, so that a `static` of it is in `.bss`.
    pub const NEW: Self = Self {
        learner: Learner::new(C::CATALOG),
        workspace: Workspace::new(C::CATALOG),
        catalog: PhantomData,
    };

    /// Starts a user at the policy's prior, in place.
    ///
    /// # Errors
    /// None that this module's types allow.
    #[inline]
    pub fn start<'u>(&'u mut self, policy: &'u Policy<'u, C>, user: u64) -> Result<User<'u, f32>, UserError> {
        self.learner.start(&policy.policy, user)?;
        self.bind(policy)
    }

    /// The user who was started or restored here.
    ///
    /// # Errors
    /// No user was started, or the user was started under other settings.
    #[inline(always)] // where the policy is a constant, what its settings do not need is left out
    pub fn bind<'u>(&'u mut self, policy: &'u Policy<'u, C>) -> Result<User<'u, f32>, UserError> {
        self.learner.bind(&policy.policy, &mut self.workspace)
    }

    /// The learner: posterior, waiting decisions and profile.
    #[must_use]
    pub const fn learner(&self) -> &Learner<f32, [f32; STATE], WAITING> {
        &self.learner
    }

    /// Both parts, for storage that restores a user in place.
    #[must_use]
    #[expect(clippy::type_complexity, reason = "the types of the two fields")]
    pub const fn parts(
        &mut self,
    ) -> (&mut Learner<f32, [f32; STATE], WAITING>, &mut Workspace<f32, [f32; SCRATCH]>) {
        (&mut self.learner, &mut self.workspace)
    }
}
