#!/usr/bin/env bash
# Builds the checks of the boards package (boardtest) and runs them in QEMU: flash and its rules, reset, panic, fault, entropy,
# stack mark, serial port, instruction counts, and that the store survives a killed QEMU. `boards.sh BOARD...` runs only those.
# The environment it takes is that of toolchain.sh.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. ./toolchain.sh

work=$(mktemp -d)
trap 'kill -9 $(cat "$work"/*/pid 2>/dev/null) 2>/dev/null || true; rm -rf "$work"' EXIT

# Starts QEMU in the directory of the board, with its serial port on descriptors 7 (to the board) and 8 (from the board).
start() { # COMMAND...
    rm -f uart.in uart.out pid
    mkfifo uart.in uart.out
    exec 7<>uart.in 8<>uart.out
    timeout --signal KILL 60 "$@" -display none -monitor none -serial pipe:uart -pidfile pid \
        -semihosting-config enable=on,target=native </dev/null >log 2>&1 &
    qemu=$!
    IFS= read -r -t 20 -u 8 line && [[ $line == ready ]]
}

# Sends a block of 64 bytes and waits for it to come back.
echoes() { # TEXT
    local sent got
    printf -v sent '%-64s' "$1"
    printf '%s' "$sent" >&7
    IFS= read -r -N 64 -t 20 -u 8 got && [[ $got == "$sent" ]]
}

# Every byte value goes through the serial port; then the time of a round trip of 64 bytes, on average over 100.
serial() {
    local byte begin
    for byte in {0..255}; do printf "\\x$(printf %x "$byte")"; done >sent
    cat sent >&7
    timeout 30 head -c 256 <&8 >got
    cmp sent got || return 1
    begin=$EPOCHREALTIME
    for byte in {1..100}; do echoes "$byte" || return 1; done
    echo "$1: 64 bytes and back in $(((${EPOCHREALTIME/[.,]/} - ${begin/[.,]/}) / 100)) us"
}

# Shows what the firmware said and ends the script.
fail() { # BOARD WHAT
    echo "FAIL $1: $2"
    cat log
    exit 1
}

check() { # BOARD TARGET SHIFT QEMU...; mps2-an500 runs the image of mps2
    local board=$1 target=$2 shift=$3 image=${1%-*} begin code=0
    shift 3
    [[ -z $only || " $only " == *" $board "* ]] || return 0
    "$cargo" build --quiet --locked --release --package boardtest --target "$target" --bin "$image"
    begin=$EPOCHREALTIME
    mkdir "$work/$board"
    pushd "$work/$board" >/dev/null
    if [[ $board == virt ]]; then
        truncate -s 32M virt.flash
        set -- "$1" -drive if=pflash,unit=1,file=virt.flash,format=raw "${@:2}"
    fi
    set -- "$@" "$CARGO_TARGET_DIR/$target/release/$image"

    start "$@" || fail "$board" "does not come up"
    serial "$board" || fail "$board" "the serial port garbles"
    kill -9 "$(<pid)"
    { wait "$qemu" || true; } 2>/dev/null
    cat log

    # The store of the micro:bit goes with QEMU: it starts from the beginning. The others find theirs, of the fourth boot.
    start "$@" -icount "shift=$shift,sleep=off" || fail "$board" "does not come up again"
    [[ $board == microbit ]] || grep -q 'boot 3' log || fail "$board" "the store is gone"
    echoes MEASURE || fail "$board" "miscounts"
    echoes EXIT || fail "$board" "does not answer"
    wait "$qemu" || code=$?
    [[ $code == 0 ]] || fail "$board" "exit code $code"
    grep rounds log
    popd >/dev/null
    echo "ok   $board ($target) $(((${EPOCHREALTIME/[.,]/} - ${begin/[.,]/}) / 1000)) ms"
}

only="$*"
check microbit thumbv6m-none-eabi 6 qemu-system-arm -M microbit -kernel
check netduino thumbv7em-none-eabihf 3 qemu-system-arm -M netduinoplus2 -kernel
check mps2 thumbv7em-none-eabihf 6 qemu-system-arm -M mps2-an386 -kernel
check mps2-an500 thumbv7em-none-eabihf 6 qemu-system-arm -M mps2-an500 -kernel
check hifive1 riscv32imac-unknown-none-elf 0 qemu-system-riscv32 -M sifive_e -kernel
check virt riscv32imafc-unknown-none-elf 0 qemu-system-riscv32 -M virt -bios
