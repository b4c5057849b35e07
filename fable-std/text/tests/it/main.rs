//! The tests of `fable-text` over its public interface, one program: a module per subject.

mod outside;
mod sentences;
mod situation;
mod text;
mod wording;
