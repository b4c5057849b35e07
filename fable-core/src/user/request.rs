//! What a decision is asked for: a context, what may be chosen, and when.

use crate::catalog::{Context, Feasible};

/// One request to decide on.
///
/// ```
/// use fable_core::{Feasible, Request, catalog::TAU2};
/// let (context, all) = (TAU2.context(None, [])?, Feasible::all(&TAU2));
/// let scores = [0.0; 18];
/// let request = Request::new(&context, &all).with_defaults(&scores).at(1_700_000_000);
/// assert_eq!(request.time, 1_700_000_000);
/// # Ok::<(), fable_core::catalog::ContextError>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Request<'r> {
    /// The request in the catalog's terms.
    pub context: &'r Context,
    /// What may be chosen, as far as the rules of the catalog and of the user leave it.
    pub feasible: &'r Feasible,
    /// Replaces the catalog's default score b for this round, one number per action.
    pub defaults: Option<&'r [f64]>,
    /// The caller's time, in a unit of its choice that never runs backwards (seconds, say). Only
    /// [`Deadline::Time`](crate::settings::Deadline) looks at it; 0 when there is no clock.
    pub time: u32,
}

impl<'r> Request<'r> {
    /// A request with the catalog's own default score, at time 0.
    #[must_use]
    pub const fn new(context: &'r Context, feasible: &'r Feasible) -> Self {
        Self { context, feasible, defaults: None, time: 0 }
    }

    /// The same with the default score of each action.
    #[must_use]
    pub const fn with_defaults(mut self, defaults: &'r [f64]) -> Self {
        self.defaults = Some(defaults);
        self
    }

    /// The same at a time.
    #[must_use]
    pub const fn at(mut self, time: u32) -> Self {
        self.time = time;
        self
    }
}
