#!/usr/bin/env bash
# Builds the pinned runs (tests/golden) for six boards and runs them in QEMU; fails when any board gives another bit, or
# when a panic is reachable in fable-core or in the server of fable-embedded.
# The environment it takes is that of toolchain.sh.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

. ./toolchain.sh

# Links only if no panic is reachable in fable-core and in the server of fable-embedded.
for target in thumbv6m-none-eabi thumbv7em-none-eabihf riscv32imac-unknown-none-elf riscv32imafc-unknown-none-elf; do
    "$cargo" build --quiet --locked --release --package panic-free --target "$target"
    echo "ok   no panic is reachable in fable-core and in the server of fable-embedded ($target)"
done

failed=0
golden() { # BOARD TARGET QEMU...; mps2-an500 runs the image of mps2
    local board=$1 target=$2 image=${1%-*} begin code=0
    shift 2
    "$cargo" build --quiet --locked --release --package golden-firmware --target "$target" --bin "$image"
    begin=$EPOCHREALTIME
    timeout 60 "$@" "$CARGO_TARGET_DIR/$target/release/$image" -nographic -monitor none -serial none \
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
golden mps2 thumbv7em-none-eabihf qemu-system-arm -M mps2-an386 -kernel
golden mps2-an500 thumbv7em-none-eabihf qemu-system-arm -M mps2-an500 -kernel
golden hifive1 riscv32imac-unknown-none-elf qemu-system-riscv32 -M sifive_e -kernel
golden virt riscv32imafc-unknown-none-elf qemu-system-riscv32 -M virt -bios
exit "$failed"
