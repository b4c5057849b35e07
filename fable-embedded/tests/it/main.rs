//! The tests of `fable-embedded` over its public interface, one program: a module per subject.

mod again;
mod common;
mod device;
mod entropy;
mod file_store;
mod flash;
mod format;
mod frames;
mod keyed;
mod lost;
mod migrate;
mod outside;
mod power;
mod prior;
mod seed;
mod serve;
mod wear;

// The tests of `fable-std` use it, too.
#[path = "../wire/mod.rs"]
mod wire;
