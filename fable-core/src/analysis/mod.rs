//! Computations of a host about a user, beside the learner (feature `analysis`).
//!
//! [`span`] tells which contrasts can be learned under hard constraints. [`spca`] and [`program`] choose,
//! before the first round, the blocks that matter most to this user (FABLE-SPCA). [`budget`] tells for how
//! many rounds the smaller dictionary is the better choice. A chosen [`BlockSet`](crate::catalog::BlockSet)
//! goes into [`Settings::retained`](crate::Settings::retained). All numbers are `f64`, and all memory is the
//! caller's.
//!
//! From prototypes of the user's requests to a learner over the best eight coordinates of `tau2`:
//!
//! ```
//! use fable_core::analysis::{Program, Prototype, reduce, spca};
//! use fable_core::catalog::TAU2;
//! use fable_core::posterior::Posterior;
//! use fable_core::{Feasible, Policy, Settings};
//! use nalgebra::SMatrix;
//!
//! const D: usize = TAU2.dimension();
//! let policy = Policy::<f64>::new(&TAU2, Settings::default())?;
//! let mut posterior = Posterior::<f64, _>::from_storage([0.0; TAU2.layout().packed_len()]);
//! posterior.start(TAU2.layout(), policy.prior(), 16.0)?;
//! let mut scratch = [0.0; TAU2.workspace_len()];
//!
//! let request = Prototype { context: TAU2.context(None, [])?, weight: 1.0, feasible: Feasible::all(&TAU2) };
//! let mut relevance = SMatrix::<f64, D, D>::zeros();
//! let mut moment = SMatrix::<f64, D, D>::zeros();
//! let mut mean = [0.0; D];
//! spca::feature_covariance_into(&policy, &[request], 4.0, &mut relevance)?; // G
//! spca::second_moment_into(&posterior, &mut scratch, &mut mean, &mut moment)?; // M
//! spca::weigh(&mut relevance, &moment)?; // H = G o M
//!
//! let mut blocks = [0.0; 36];
//! reduce(&TAU2, &relevance, &mut blocks)?;
//! let program = Program::of(&TAU2, &blocks)?.main_effects_first(&TAU2)?;
//! let chosen = program.solve(8, &mut [0; 8])?;
//! assert_eq!(chosen.retained.bits(), 0b111); // the main effects, 2 + 3 + 3 coordinates
//! let sparse = Policy::<f64>::new(&TAU2, Settings { retained: chosen.retained, ..Settings::default() })?;
//! assert_eq!(sparse.active_dimension(), 8);
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

pub mod budget;
mod error;
pub mod program;
mod search;
pub mod span;
pub mod spca;

pub use budget::Rate;
pub use program::{CoordinateProgram, Program, ProgramError, Selection, reduce};
pub use span::{Span, SpanError};
pub use spca::{Prototype, SpcaError};
