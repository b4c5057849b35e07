//! The tests of `fable-golden` over its public interface, one program: a module per subject.

mod host;
mod records;
