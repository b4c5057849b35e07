//! The tests of `fable-layers`, and of pages and lock files of the whole repository: a module per subject.

mod formulas;
mod locks;
mod trees;
mod walker;
