//! Drives `fable serve` over a pipe.

pub mod service;
