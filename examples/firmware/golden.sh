#!/usr/bin/env bash
# Builds the pinned runs (tests/golden) for six boards and runs them in QEMU; fails when any board gives another bit, or
# when a panic is reachable in fable-core or in the server of fable-embedded.
#
#   golden.sh [--bits] [BOARD...]    all boards, or only these; --bits leaves the proofs about panics out
#
# The proof is the optimizer's: at opt-level 3 and at z (with the few lines of rand_xoshiro at 3). FABLE_PROOF is another level
# instead of 3.
# The rest of the environment it takes is that of toolchain.sh.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. ./toolchain.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0 proved= level=${FABLE_PROOF:-3} proofs=1
if [[ ${1:-} == --bits ]]; then proofs=0 && shift; fi
[[ $level == [0-3] ]] || level="'$level'"
for name in $(boards "$@"); do
    board "$name"
    if ((proofs)) && [[ $proved != *" $target "* ]]; then
        build proof --config "profile.release.package.firmware.opt-level=$level" \
            --config "profile.release.package.fable-core.opt-level=$level"
        echo "ok   no panic is reachable in fable-core and in the server of fable-embedded ($target)"
        build proof --config "profile.release.package.firmware.opt-level='z'" \
            --config "profile.release.package.fable-core.opt-level='z'" \
            --config "profile.release.package.rand_xoshiro.opt-level=3"
        echo "ok   nor when both are built for size ($target)"
        proved+=" $target "
    fi
    build golden
    begin=$EPOCHREALTIME code=0
    (enter "$work/$board" && timeout 120 "${qemu[@]}" -serial none </dev/null) || code=$?
    milliseconds=$(((${EPOCHREALTIME/[.,]/} - ${begin/[.,]/}) / 1000))
    if [[ $code == 0 ]]; then
        echo "ok   $board ($target) $milliseconds ms"
    else
        echo "FAIL $board ($target) $milliseconds ms, exit code $code"
        failed=1
    fi
done
exit "$failed"
