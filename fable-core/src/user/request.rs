//! The request for a decision: a context, a feasible set, and a time.

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
    /// The context.
    pub context: &'r Context,
    /// The feasible actions, before the rules of the catalog and of the user.
    pub feasible: &'r Feasible,
    /// Default scores b of this round, one number per action; `None` for the catalog's.
    pub defaults: Option<&'r [f64]>,
    /// The caller's time, in any unit, never decreasing: seconds, for example; 0 without a clock. Only
    /// [`Deadline::Time`](crate::settings::Deadline) reads it.
    pub time: u32,
}

impl<'r> Request<'r> {
    /// A request with the catalog's own default score, at time 0.
    #[must_use]
    pub const fn new(context: &'r Context, feasible: &'r Feasible) -> Self {
        Self { context, feasible, defaults: None, time: 0 }
    }

    /// The request with a default score per action.
    #[must_use]
    pub const fn with_defaults(mut self, defaults: &'r [f64]) -> Self {
        self.defaults = Some(defaults);
        self
    }

    /// The request at a time.
    #[must_use]
    pub const fn at(mut self, time: u32) -> Self {
        self.time = time;
        self
    }
}
