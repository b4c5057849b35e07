//! Fable measured against the linear algebra libraries one would use instead.
//!
//! One round is a decision (one draw of theta ~ N(mu, nu^2 Sigma), 180 scores, the best) and the learning of its reward,
//! on the catalog `agent`. Every contender sees the same simulated [`user`], starts warm and is timed in short slices that
//! take turns, so that a noisy machine is noisy for all of them. The binary `fable-benches` does that; the binary
//! `instructions` counts instructions instead, which repeat exactly.

pub mod eigen;
pub mod fable;
#[cfg(feature = "faer")]
pub mod faer;
pub mod floor;
pub mod kernel;
pub mod nalgebra;
pub mod peer;
pub mod rotation;
pub mod user;

/// The scalars that every peer can work with.
#[cfg(feature = "faer")]
pub trait Real: fable_core::Scalar + ::nalgebra::RealField + ::faer::traits::ComplexField {}
#[cfg(feature = "faer")]
impl<T: fable_core::Scalar + ::nalgebra::RealField + ::faer::traits::ComplexField> Real for T {}

/// The scalars that every peer can work with.
#[cfg(not(feature = "faer"))]
pub trait Real: fable_core::Scalar + ::nalgebra::RealField {}
#[cfg(not(feature = "faer"))]
impl<T: fable_core::Scalar + ::nalgebra::RealField> Real for T {}
