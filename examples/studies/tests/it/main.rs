//! The tests of the studies, in one program.

mod endpoint;
mod reduced;
