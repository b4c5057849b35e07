//! The modules of a crate and what they use of each other: no cycles, and nothing points up the layers.
//!
//! Nodes are the top-level modules of a crate. An edge is a `use` or a path in the code that begins with `crate`, `super`,
//! `self` or the name of a module that is in sight. What `lib.rs` re-exports counts as use of the module it comes from; what
//! `lib.rs` itself uses does not count, for it stands above all. Code under `#[cfg(test)]` and comments do not count.
//!
//! Not followed: names that a `use ...::*` brings in, `#[path]`, and what a macro makes.

mod graph;
mod tokens;
mod walk;

pub use graph::{Edge, Graph, Site};
pub use walk::read_tree;
