//! The context of one request: a task and signals in [0, 1].
//!
//! A context is plain `Copy` data, checked when it is made. It has no preferences: those are in the
//! posterior, and would count twice.
//!
//! ```
//! use fable_core::catalog::{AGENT, ContextError};
//! use fable_core::Context;
//!
//! let signals = [("tool_need", 0.3), ("risk", 0.1), ("ambiguity", 0.2), ("memory_need", 0.7)];
//! let context = AGENT.context("coding", signals)?;
//! assert_eq!(context.signal(2), Some(0.7));
//! assert_eq!(AGENT.context("codign", signals), Err(ContextError::UnknownTask));
//!
//! // By position, for measured signals without names.
//! assert_eq!(Context::new(&AGENT, Some(AGENT.task("coding")?), &[0.1, 0.2, 0.7, 0.3])?, context);
//! let error = Context::new(&AGENT, None, &[0.1, 0.2, 0.7, 1.3]).unwrap_err();
//! assert_eq!(error, ContextError::SignalRange { signal: 3 });
//! # Ok::<(), ContextError>(())
//! ```

use super::{Catalog, MAX_SIGNALS};
use core::fmt;

/// A context of some catalog.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Context {
    task: Option<u8>,
    count: u8,
    signals: [f32; MAX_SIGNALS],
}

impl Context {
    /// No task and no signals; all zero bits.
    pub(crate) const EMPTY: Self = Self { task: None, count: 0, signals: [0.0; MAX_SIGNALS] };

    /// No task, and every signal 0.
    #[cfg(feature = "migrate")]
    pub(crate) fn blank(catalog: &Catalog<'_>) -> Self {
        let count = u8::try_from(catalog.definition().signals.len()).unwrap_or(0);
        Self { count, ..Self::EMPTY }
    }

    /// A context with a task position, or none, and every signal in catalog order. A task that is looked up
    /// by name and missing is an error, not a context without a task:
    ///
    /// ```compile_fail,E0308
    /// # use fable_core::{Context, catalog::AGENT};
    /// // `task` gives a `Result`.
    /// let context = Context::new(&AGENT, AGENT.task("codign"), &[0.1, 0.2, 0.7, 0.3]);
    /// ```
    ///
    /// # Errors
    /// An unknown task, a missing or extra signal, or a signal outside [0, 1].
    #[inline]
    pub fn new(catalog: &Catalog<'_>, task: Option<usize>, signals: &[f32]) -> Result<Self, ContextError> {
        let expected = catalog.definition().signals.len();
        if signals.len() != expected {
            return Err(ContextError::SignalCount { expected });
        }
        let mut context = Self::EMPTY;
        if let Some(task) = task {
            let known = u8::try_from(task).ok().filter(|_| task < catalog.definition().tasks.len());
            context.task = Some(known.ok_or(ContextError::UnknownTask)?);
        }
        for (signal, (slot, &value)) in context.signals.iter_mut().zip(signals).enumerate() {
            if !(0.0..=1.0).contains(&value) {
                return Err(ContextError::SignalRange { signal });
            }
            *slot = value + 0.0; // -0 becomes 0: equal contexts have equal bits
            context.count += 1;
        }
        Ok(context)
    }

    /// Position of the task.
    #[must_use]
    pub fn task(&self) -> Option<usize> {
        self.task.map(usize::from)
    }

    /// The signals in catalog order.
    #[must_use]
    pub fn signals(&self) -> &[f32] {
        self.signals.get(..usize::from(self.count)).unwrap_or(&[])
    }

    /// One signal.
    #[must_use]
    pub fn signal(&self, index: usize) -> Option<f32> {
        self.signals().get(index).copied()
    }

    /// True if the context fits a catalog. A context of another catalog may not.
    pub(crate) fn fits(&self, catalog: &Catalog<'_>) -> bool {
        let definition = catalog.definition();
        usize::from(self.count) == definition.signals.len()
            && self.task().is_none_or(|task| task < definition.tasks.len())
    }
}

impl Catalog<'_> {
    /// A context from names: a task, or `None`, and every signal once, in any order.
    ///
    /// # Errors
    /// An unknown name, a missing or repeated signal, or a signal outside [0, 1].
    pub fn context<'n>(
        &self,
        task: impl Into<Option<&'n str>>,
        signals: impl IntoIterator<Item = (&'n str, f32)>,
    ) -> Result<Context, ContextError> {
        let task = task.into().map(|name| self.task(name)).transpose()?;
        let expected = self.definition().signals.len();
        let (mut ordered, mut given) = ([f32::NAN; MAX_SIGNALS], 0);
        for (name, value) in signals {
            let index = self.signal(name)?;
            let slot = ordered.get_mut(index).ok_or(ContextError::UnknownSignal)?;
            if !slot.is_nan() {
                return Err(ContextError::SignalCount { expected });
            }
            if value.is_nan() {
                return Err(ContextError::SignalRange { signal: index });
            }
            *slot = value;
            given += 1;
        }
        if given != expected {
            return Err(ContextError::SignalCount { expected });
        }
        Context::new(self, task, ordered.get(..expected).unwrap_or(&[]))
    }

    /// Position of the task with this name.
    ///
    /// # Errors
    /// An unknown task. (`None` would mean a context without a task.)
    pub fn task(&self, name: &str) -> Result<usize, ContextError> {
        self.definition().tasks.iter().position(|&task| task == name).ok_or(ContextError::UnknownTask)
    }

    /// Position of the signal with this name.
    ///
    /// # Errors
    /// An unknown signal.
    pub fn signal(&self, name: &str) -> Result<usize, ContextError> {
        self.definition().signals.iter().position(|&signal| signal == name).ok_or(ContextError::UnknownSignal)
    }
}

/// A fault in a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum ContextError {
    /// The catalog has no such task.
    UnknownTask,
    /// The catalog has no such signal.
    UnknownSignal,
    /// A signal is missing, given twice, or there are too many.
    SignalCount {
        /// The catalog's number of signals.
        expected: usize,
    },
    /// A signal is not a number from 0 to 1.
    SignalRange {
        /// Position of the signal.
        signal: usize,
    },
}

impl fmt::Display for ContextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownTask => f.write_str("the catalog has no such task"),
            Self::UnknownSignal => f.write_str("the catalog has no such signal"),
            Self::SignalCount { expected } => {
                write!(f, "a context of this catalog needs each of its {expected} signals once")
            }
            Self::SignalRange { signal } => write!(f, "signal {signal} is not a number from 0 to 1"),
        }
    }
}

impl core::error::Error for ContextError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{AGENT, TAU2};

    #[test]
    fn every_bad_context_has_its_own_error() {
        let good = [0.0, 0.5, 1.0, 0.25];
        assert!(Context::new(&AGENT, None, &good).is_ok());
        assert_eq!(Context::new(&AGENT, Some(10), &good), Err(ContextError::UnknownTask));
        assert_eq!(Context::new(&AGENT, Some(usize::MAX), &good), Err(ContextError::UnknownTask));
        assert_eq!(Context::new(&TAU2, Some(0), &[]), Err(ContextError::UnknownTask));
        assert_eq!(Context::new(&AGENT, None, &good[..3]), Err(ContextError::SignalCount { expected: 4 }));
        assert_eq!(Context::new(&AGENT, None, &[0.5; 17]), Err(ContextError::SignalCount { expected: 4 }));
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -f32::MIN_POSITIVE, 1.0_f32.next_up()] {
            assert_eq!(
                Context::new(&AGENT, None, &[0.0, bad, 0.0, 0.0]),
                Err(ContextError::SignalRange { signal: 1 })
            );
        }
        let repeated = [("risk", 0.0), ("risk", 0.0), ("ambiguity", 0.0), ("memory_need", 0.0)];
        assert_eq!(AGENT.context(None, repeated), Err(ContextError::SignalCount { expected: 4 }));
        assert_eq!(AGENT.context(None, [("mood", 0.0)]), Err(ContextError::UnknownSignal));
        assert_eq!(AGENT.context("golf", []), Err(ContextError::UnknownTask));
        assert_eq!(
            AGENT.context(None, [("ambiguity", f32::NAN)]),
            Err(ContextError::SignalRange { signal: 1 })
        );
    }

    #[test]
    fn minus_zero_is_zero() {
        let context = Context::new(&AGENT, None, &[-0.0, 0.0, 0.0, 0.0]).unwrap();
        assert_eq!(context.signals()[0].to_bits(), 0);
    }
}
