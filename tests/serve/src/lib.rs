//! Drives `fable serve` over a pipe.

pub mod dice;
pub mod oracle;
pub mod play;
pub mod script;
pub mod service;
