//! Drives `fable serve` over a pipe: random scripts with the answers they must get, and the load generator.
//!
//! A [`script`] writes the lives of many users, the [`oracle`] knows what has to be answered because it drives
//! `fable_core`'s learners directly, and a [`play`] compares the two. The tests that use it are in `fable-std/tests`.

pub mod dice;
pub mod fleet;
pub mod frames;
pub mod http;
pub mod load;
pub mod oracle;
pub mod play;
pub mod postgres;
pub mod process;
pub mod proxy;
pub mod script;
pub mod service;
pub mod upstream;
