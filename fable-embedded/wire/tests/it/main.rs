//! The tests of `fable-wire` over its public interface, one program: a module per subject.

mod format;
mod migrated;
mod protocol;
