#!/usr/bin/env bash
# Plays the same rounds with Fable and with nalgebra on MPS2 AN386, a Cortex-M4F in QEMU, counts instructions, prints the
# Markdown table and fails unless a round (decide and learn) takes Fable at most a quarter of what it takes nalgebra.
# The whole image is built twice, for size as everywhere here and for speed, so that neither suffers from the other's choice;
# and nalgebra is given square roots in hardware, which it does not use: the limit holds for both builds, with and without.
# The firmware itself (versus) fails when the two do not come to the same scores. The environment is that of toolchain.sh.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. ./toolchain.sh

limit=4
board mps2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0 rows=() verdicts=()

# How many times the second number goes into the first, with two digits behind the point.
times() { local hundredths=$(((200 * $1 / $2 + 1) / 2)); printf '%d.%02d' $((hundredths / 100)) $((hundredths % 100)); }

row() { # NAME DECIDE LEARN
    rows+=("| $1, opt-level $level | $(commas "$2") | $(commas "$3") | $(commas $(($2 + $3))) | $(times $(($2 + $3)) "$fable") |")
}

judge() { # NAME ROUND
    local verdict='ok  '
    (($2 >= limit * fable)) || { verdict=FAIL failed=1; }
    verdicts+=("$verdict $1 at opt-level $level takes $(times "$2" "$fable") times Fable's instructions, at least $limit asked")
}

for level in s 3; do
    CARGO_PROFILE_RELEASE_OPT_LEVEL=$level build versus --features versus
    count "$work/$level"
    echo "opt-level=$level ${line#versus }"

    decide=$(value nalgebra_decide) learn=$(value nalgebra_learn) roots=$(value roots)
    fable=$(($(value fable_decide) + $(value fable_learn)))
    row Fable "$(value fable_decide)" "$(value fable_learn)"
    row nalgebra "$decide" "$learn"
    row 'nalgebra with roots in hardware' "$decide" $((learn - roots))
    row 'nalgebra, bordered' "$(value bordered_decide)" "$(value bordered_learn)"
    judge nalgebra $((decide + learn))
    judge 'nalgebra with roots in hardware' $((decide + learn - roots))
done

echo
echo '| `agent`, f32, on a Cortex-M4F | decide, instructions | learn, instructions | round, instructions | times Fable'"'"'s |'
echo '|---|---:|---:|---:|---:|'
printf '%s\n' "${rows[@]}"
echo
printf '%s\n' "${verdicts[@]}"
exit "$failed"
