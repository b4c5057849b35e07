//! The tests of the boards, one program. It is not called `it` as elsewhere: `tests/qemu/run` names the
//! packages of the whole host build, and `--test it` would run the program of each of them.

mod boards;
mod log;
