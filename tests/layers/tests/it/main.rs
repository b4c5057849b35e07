//! The tests of `fable-layers` over its public interface, one program: a module per subject.

mod trees;
mod walker;
