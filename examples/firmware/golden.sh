#!/usr/bin/env bash
# Builds the pinned runs (tests/golden) for four boards and runs them in QEMU; fails when any board gives another bit, or
# when a panic is reachable in fable-core or in the server of fable-embedded.
#
# CARGO             cargo to use, default cargo
# CARGO_TARGET_DIR  where to build, default target beside this script
# FABLE_BUILD_STD   1: the rustup targets are not installed; Debian's rustc-web, cargo-web and rust-web-src build core
#                   themselves, in a target directory of their own, with the rust-lld of the rustup toolchain
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

cargo=${CARGO:-cargo}
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
if [[ ${FABLE_BUILD_STD:-0} == 1 ]]; then
    linkers=("$(rustc --print sysroot)"/lib/rustlib/*/bin/rust-lld)
    [[ -x ${linkers[0]} ]] || { echo "no rust-lld in the toolchain of $(command -v rustc)" >&2; exit 1; }
    for target in THUMBV6M_NONE_EABI THUMBV7EM_NONE_EABIHF RISCV32IMAC_UNKNOWN_NONE_ELF; do
        export "CARGO_TARGET_${target}_LINKER=${linkers[0]}"
    done
    cargo=/usr/bin/cargo
    export RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 CARGO_UNSTABLE_BUILD_STD=core CARGO_TARGET_DIR=$CARGO_TARGET_DIR/build-std
fi

# Links only if no panic is reachable in fable-core and in the server of fable-embedded.
for target in thumbv6m-none-eabi thumbv7em-none-eabihf riscv32imac-unknown-none-elf; do
    "$cargo" build --quiet --locked --release --package panic-free --target "$target"
    echo "ok   no panic is reachable in fable-core and in the server of fable-embedded ($target)"
done

failed=0
golden() { # BOARD TARGET QEMU...
    local board=$1 target=$2 begin code=0
    shift 2
    "$cargo" build --quiet --locked --release --package golden-firmware --target "$target" --bin "$board"
    begin=$EPOCHREALTIME
    timeout 60 "$@" "$CARGO_TARGET_DIR/$target/release/$board" -nographic -monitor none -serial none \
        -semihosting-config enable=on,target=native </dev/null || code=$?
    local milliseconds=$(((${EPOCHREALTIME/[.,]/} - ${begin/[.,]/}) / 1000))
    if [[ $code == 0 ]]; then
        echo "ok   $board ($target) $milliseconds ms"
    else
        echo "FAIL $board ($target) $milliseconds ms, exit code $code"
        failed=1
    fi
}

golden microbit thumbv6m-none-eabi qemu-system-arm -M microbit -kernel
golden netduino thumbv7em-none-eabihf qemu-system-arm -M netduinoplus2 -kernel
golden hifive1 riscv32imac-unknown-none-elf qemu-system-riscv32 -M sifive_e -kernel
golden virt riscv32imac-unknown-none-elf qemu-system-riscv32 -M virt -bios
exit "$failed"
