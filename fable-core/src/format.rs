//! `defmt::Format` for types of many numbers: one line that names the value.

#[cfg(feature = "analysis")]
use crate::analysis::{Program, Span};
use crate::catalog::{ActionName, CoordinateName};
use crate::explain::Explanation;
use crate::journal::{Command, State, Step};
use crate::numbers::Number;
use crate::numbers::Stream;
use crate::posterior::dense::Dense;
use crate::posterior::{Factor, Posterior, Prior, Storage};
#[cfg(feature = "record")]
use crate::record::{Input, Loader, Output, PriorVerifier, Snapshot, Verifier};
use crate::{Catalog, Learner, Policy, Scalar, User, Workspace};
use defmt::{Display2Format, Format, Formatter, write};
use nalgebra::RealField;

impl Format for Catalog<'_> {
    fn format(&self, f: Formatter<'_>) {
        let name = self.definition().name;
        let actions = self.actions();
        let dimension = self.dimension();
        write!(f, "catalog {=str}: {=usize} actions, d = {=usize}", name, actions, dimension);
    }
}

impl<T: Scalar> Format for Policy<'_, T> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "policy {=u64:016x} over {}, {}", self.fingerprint(), self.catalog(), self.settings());
    }
}

#[cfg(feature = "migrate")]
impl<T: Scalar> Format for crate::migrate::Migration<'_, T> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "migration from {} to {}", self.old_policy(), self.new_policy());
    }
}

impl<T: Scalar> Format for Prior<'_, T> {
    fn format(&self, f: Formatter<'_>) {
        let name = match self {
            Self::Isotropic => "isotropic",
            Self::Diagonal { .. } => "diagonal",
            Self::Factor(_) => "factor",
        };
        write!(f, "{=str} prior", name);
    }
}

impl<T: Number> Format for Factor<'_, T> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "factor of {}", self.posterior().layout());
    }
}

impl<T: Number, S: AsRef<[T]>> Format for Posterior<T, S> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "posterior of {}, log det ratio {=f64}", self.layout(), self.log_det_ratio());
    }
}

impl<T: RealField, const D: usize> Format for Dense<T, D> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "dense posterior, d = {=usize}", D);
    }
}

impl<T, W> Format for Workspace<T, W> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "workspace");
    }
}

impl<T: Scalar, S: Storage<T>, const R: usize> Format for Learner<T, S, R> {
    fn format(&self, f: Formatter<'_>) {
        let (user, incarnation) = (self.state().user(), self.state().incarnation());
        write!(f, "learner of {=u64:016x}-{=u32}: {=u32} rounds, ", user, incarnation, self.state().rounds());
        write!(
            f,
            "{=u32} observations, {=usize} promotions",
            self.state().observations(),
            self.profile().len()
        );
    }
}

impl Format for State {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "user {=u64:016x}-{=u32}, {=u32} rounds", self.user(), self.incarnation(), self.rounds());
    }
}

impl<T: Scalar> Format for User<'_, T> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "{}", self.state());
    }
}

impl Format for Command<'_> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "command, {=u32} events so far", self.applied());
    }
}

impl<T: Scalar> Format for Step<'_, T> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "step {}", self.event());
    }
}

impl Format for Stream {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "stream of normals");
    }
}

#[cfg(feature = "record")]
impl<T> Format for Snapshot<'_, T> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "snapshot being written");
    }
}

#[cfg(feature = "record")]
impl<T> Format for PriorVerifier<'_, T> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "prior being verified");
    }
}

#[cfg(feature = "record")]
impl<T> Format for Verifier<'_, T> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "snapshot being verified");
    }
}

#[cfg(feature = "record")]
impl<T: Scalar> Format for Loader<'_, T> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "snapshot being loaded");
    }
}

#[cfg(feature = "record")]
impl Format for Output<'_> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "bytes being written");
    }
}

#[cfg(feature = "record")]
impl Format for Input<'_> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "{=usize} bytes to read", self.rest().len());
    }
}

#[cfg(feature = "analysis")]
impl<S: Storage<f64>> Format for Span<S> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "span of rank {=usize}", self.rank());
    }
}

#[cfg(feature = "analysis")]
impl Format for Program<'_> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "program, {=usize} words of scratch", self.scratch_len());
    }
}

impl Format for ActionName<'_> {
    fn format(&self, f: Formatter<'_>) {
        Display2Format(self).format(f);
    }
}

impl Format for CoordinateName<'_> {
    fn format(&self, f: Formatter<'_>) {
        Display2Format(self).format(f);
    }
}

impl<T: Scalar> Format for Explanation<'_, T> {
    fn format(&self, f: Formatter<'_>) {
        Display2Format(self).format(f);
    }
}

/// The name of a component's value.
#[doc(hidden)]
#[macro_export]
macro_rules! format_component {
    ($name:ident) => {
        impl $crate::format::ComponentFormat for $name {
            fn format(&self, f: $crate::format::ComponentFormatter<'_>) {
                let value = Self::COMPONENT.values.get(usize::from(self.index()));
                $crate::format::ComponentFormat::format(value.map_or("", |value| value.name), f);
            }
        }
    };
}

#[doc(hidden)]
pub use defmt::{Format as ComponentFormat, Formatter as ComponentFormatter};
