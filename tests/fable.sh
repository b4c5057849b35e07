# Sets FABLE, for scripts at the top of the repository: the command that it names already, or the debug build, which is made.
# shellcheck shell=bash
if [ -z "${FABLE:-}" ]; then
  cargo build --quiet --locked --package fable-std --bin fable
  FABLE=${CARGO_TARGET_DIR:-$PWD/target}/debug/fable
fi
export FABLE
