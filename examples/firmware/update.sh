#!/usr/bin/env bash
# A device gets the firmware of another catalog: builds the job `update`, counts what a migration of tau2 costs in instructions and
# stack, and goes from version 1 to version 2 with the power cut before every write and erase of the flash.
# `update.sh BOARD...` runs only those. The environment it takes is that of toolchain.sh.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. ./toolchain.sh

# What a migration of tau2 may take on the micro:bit.
most_instructions=5000000 most_stack=1024

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for name in $(boards "$@"); do
    board "$name"
    build update --features update
    count "$work/$board-count"
    echo "$line"
    if [[ $board == microbit ]] && (($(value instructions) > most_instructions || $(value stack) > most_stack)); then
        echo "FAIL $board: a migration takes more than $most_instructions instructions or $most_stack bytes of stack"
        exit 1
    fi
    begin=$EPOCHREALTIME code=7
    enter "$work/$board"
    : >update # the script of the play, which begins
    # The board goes out at every cut and after every act; the micro:bit, whose flash would go with QEMU, resets.
    while ((code == 7)); do
        code=0
        timeout 120 "${qemu[@]}" -serial none </dev/null >log 2>&1 || code=$?
    done
    [[ $code == 0 ]] && line=$(grep '^update ' log) || { echo "FAIL $board: exit code $code"; cat log; exit 1; }
    [[ $(value old) != 0 && $(value new) != 0 ]] || { echo "FAIL $board: one of the versions was never there"; exit 1; }
    echo "ok   $line, $(((${EPOCHREALTIME/[.,]/} - ${begin/[.,]/}) / 1000)) ms"
    cd - >/dev/null
done
