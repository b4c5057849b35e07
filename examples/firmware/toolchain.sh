# Sourced by the scripts beside it: sets `cargo` and where to build.
#
# CARGO             cargo to use, default cargo
# CARGO_TARGET_DIR  where to build, default target beside this script
# FABLE_BUILD_STD   1: the rustup targets are not installed; Debian's rustc-web, cargo-web and rust-web-src build core
#                   themselves, in a target directory of their own, with the rust-lld of the rustup toolchain
# shellcheck shell=bash

cargo=${CARGO:-cargo}
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
if [[ ${FABLE_BUILD_STD:-0} == 1 ]]; then
    linkers=("$(rustc --print sysroot)"/lib/rustlib/*/bin/rust-lld)
    [[ -x ${linkers[0]} ]] || { echo "no rust-lld in the toolchain of $(command -v rustc)" >&2; exit 1; }
    for target in THUMBV6M_NONE_EABI THUMBV7EM_NONE_EABIHF RISCV32IMAC_UNKNOWN_NONE_ELF RISCV32IMAFC_UNKNOWN_NONE_ELF; do
        export "CARGO_TARGET_${target}_LINKER=${linkers[0]}"
    done
    cargo=/usr/bin/cargo
    export RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 CARGO_UNSTABLE_BUILD_STD=core CARGO_TARGET_DIR=$CARGO_TARGET_DIR/build-std
fi

# An image is of the same size wherever it is built: paths in panic messages start at the crate, not at this machine's folders.
"$cargo" fetch --quiet --locked
read -ra flags <<<"${RUSTFLAGS:-}"
flags+=("--remap-path-prefix=$(cd ../.. && pwd)/=")
for registry in "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*/; do flags+=("--remap-path-prefix=$registry="); done
CARGO_ENCODED_RUSTFLAGS=$(IFS=$'\x1f'; echo "${flags[*]}")
export CARGO_ENCODED_RUSTFLAGS
