#!/usr/bin/env bash
# Builds the checks of the boards (boardtest) and runs them in QEMU: flash and its rules, reset, panic, fault, entropy,
# stack mark, serial port, instruction counts, and that the store survives a killed QEMU. `boards.sh BOARD...` runs only those.
# The environment it takes is that of toolchain.sh.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. ./toolchain.sh

work=$(mktemp -d)
trap 'kill -9 $(cat "$work"/*/pid 2>/dev/null) 2>/dev/null || true; rm -rf "$work"' EXIT

# Starts QEMU in the directory of the board, with its serial port on descriptors 7 (to the board) and 8 (from the board).
start() { # [ARGUMENT...]
    rm -f uart.in uart.out pid
    mkfifo uart.in uart.out
    exec 7<>uart.in 8<>uart.out
    timeout --signal KILL 60 "${qemu[@]}" -serial pipe:uart -pidfile pid "$@" </dev/null >log 2>&1 &
    pid=$!
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

for name in $(boards "$@"); do
    board "$name"
    build boardtest
    begin=$EPOCHREALTIME code=0
    (
        enter "$work/$board"
        start || fail "$board" "does not come up"
        serial "$board" || fail "$board" "the serial port garbles"
        kill -9 "$(<pid)"
        { wait "$pid" || true; } 2>/dev/null
        cat log

        # The store of the micro:bit goes with QEMU: it starts from the beginning. The others find theirs, of the fourth boot.
        start -icount "shift=$shift,sleep=off" || fail "$board" "does not come up again"
        [[ $board == microbit ]] || grep -q 'boot 3' log || fail "$board" "the store is gone"
        echoes MEASURE || fail "$board" "miscounts"
        echoes EXIT || fail "$board" "does not answer"
        wait "$pid" || code=$?
        [[ $code == 0 ]] || fail "$board" "exit code $code"
        grep rounds log
    )
    echo "ok   $board ($target) $(((${EPOCHREALTIME/[.,]/} - ${begin/[.,]/}) / 1000)) ms"
done
