//! What a firmware image tells: where it can panic, and what its log says.

#[cfg(feature = "log")]
pub mod log;
pub mod panics;
