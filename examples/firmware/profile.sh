#!/usr/bin/env bash
# Where the instructions of a round go: functions of the `budget` image that decide and learn by the paper's rule, per round, in QEMU.
#
#   profile.sh BOARD    for example netduino (Cortex-M4F, agent) or microbit (Cortex-M0, tau2)
#
# It needs python3 and readelf. The environment it takes is that of toolchain.sh.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
[[ $# == 1 && $1 != -* ]] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2; exit 2; }
. ./toolchain.sh

board "$1"
build budget
script=$PWD/profile.py work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
enter "$work"
python3 "$script" "$image" "${qemu[@]}" -serial none
