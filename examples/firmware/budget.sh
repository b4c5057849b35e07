#!/usr/bin/env bash
# Measures what Fable costs on each board and compares it with what it may cost: prints the Markdown table and fails when a
# number is over its budget, or over the value that is listed here as known to be over, or not what the table in
# fable-embedded/README.md says: to half a percent with the compiler noted there (the order of functions, and so their padding,
# depends on the folder of the build), to 5% with another one.
#
#   budget.sh [BOARD...]            all boards, or only these and their rows
#   budget.sh --write [BOARD...]    puts the numbers into fable-embedded/README.md
#
# The second table has the flash of `minimal` with each capability alone beside deciding and learning, everything for size; each image is
# run, too. Flash and static RAM are those of the `device` image; stack and instructions come from `budget`, in QEMU under -icount. The
# rows of the catalog `minimal` are those of the image `minimal`, which counts no instructions.
# The environment it takes is that of toolchain.sh.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. ./toolchain.sh

# What a board may take with a catalog. `-` is not limited.
#                   stack, RAM with stack, flash in bytes; decide by a draw, optimistic decide, learn in instructions.
# A decide with coins may take a tenth more than the optimistic one without.
budgets='
microbit  tau2          -            9216  81920           145000  1250000  155000
hifive1   tau2          -            9216  97280           120000        -  200000
netduino  agent         -          131072 131072            69000  3500000   67000
mps2      agent         -               -      -                -        -       -
virt      agent         -               -      -                -        -       -
microbit  minimal    2458               -  30720                -        -       -
netduino  minimal       -               -  27648                -        -       -'

# The features of `minimal` that a capability takes, and what it may take in bytes of flash on microbit (Cortex-M0) and netduino (M4F).
capabilities='
decide_and_learn   -                        30720 27648
instruct           with-instruct                -     -
rules              with-rules                   -     -
assess             with-assess                  -     -
promote            with-promote                 -     -
explain            with-explain                 -     -
snapshot           with-snapshot            41984 36864
records            with-records             41984 36864
store              with-store                   -     -
server             with-server                  -     -
store_and_server   with-store,with-server   75776     -'

# What is over its budget today. A number above the one here fails, and so does one that has come to fit: delete its line then.
known='
microbit  tau2     flash   125700
hifive1   tau2     flash   151600
microbit  records  flash    45100
netduino  records  flash    44200
netduino  minimal           flash  28500
netduino  decide_and_learn  flash  28500
netduino  snapshot          flash  37500'

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0 missed=() met=()

# Compares one number; sets `cell` to what the table shows.
judge() { # WHAT MEASURED BUDGET
    local limit
    limit=$(awk -v row="$board $catalog $1" '$1 " " $2 " " $3 == row { print $4 }' <<<"$known")
    cell=$(commas "$2")
    [[ $3 != - ]] || return 0
    cell+=" of $(commas "$3")"
    if (($2 <= $3)); then
        met+=("$board $catalog $1 $2 of $3")
        [[ -z $limit ]] || { echo "FAIL $board $catalog $1: $2 fits $3 now, take it off the list"; failed=1; }
    else
        cell="**$cell**"
        missed+=("$board $catalog $1 $2 of $3, $((($2 - $3) * 100 / $3)) % over")
        [[ -n $limit ]] && (($2 <= limit)) ||
            { echo "FAIL $board $catalog $1: $2 is over $3, and over the ${limit:-nothing} that is known"; failed=1; }
    fi
}

rows=()
measure() { # CATALOG STACK RAM FLASH DECIDE OPTIMISTIC LEARN; the budgets
    local catalog=$1 text data bss static cell row
    if [[ $catalog == minimal ]]; then profile=minimal build minimal --no-default-features; else build device; fi
    # .text and .rodata stay in flash; .data is there too, and in RAM; .stack (RISC-V) is what is left of RAM.
    read -r text data bss < <(size -A -d "$image" | awk '
        $1 ~ /^\.(vector_table|text|init|rodata|eh_frame)/ { text += $2 }
        $1 ~ /^\.(data|sdata)/ { data += $2 }
        $1 ~ /^\.(bss|sbss|uninit)/ { bss += $2 }
        END { print text + 0, data + 0, bss + 0 }')
    [[ $catalog == minimal ]] || build budget
    count "$work/$catalog-$board"
    [[ $(value catalog) == "$catalog" ]] || { echo "FAIL $board: the catalog is $(value catalog), not $catalog"; exit 1; }
    static=$((data + bss))
    row="| $board, $catalog | $(commas "$static") |"
    judge stack "$(value stack)" "$2"; row+=" $cell |"
    judge ram $((static + $(value stack))) "$3"; row+=" $cell |"
    judge flash $((text + data)) "$4"; row+=" $cell |"
    if [[ $catalog == minimal ]]; then
        row+=' | | | |'
    else
        judge decide "$(value decide)" "$5"; row+=" $cell |"
        judge optimistic "$(value optimistic)" "$6"; row+=" $cell |"
        judge probed "$(value probed)" $(($(value optimistic) * 11 / 10)); row+=" $cell |"
        judge learn "$(value learn)" "$7"; row+=" $cell |"
    fi
    rows+=("$row")
}

# Bytes of flash of the image that was built.
flash() {
    size -A -d "$image" | awk '$1 ~ /^\.(vector_table|text|init|rodata|eh_frame|data|sdata)/ { sum += $2 } END { print sum + 0 }'
}

costs=()
weigh() { # CAPABILITY FEATURES M0 M4F; the budgets
    local catalog=$1 features=$2 bytes cell limit=$3
    [[ $board == microbit ]] || limit=$4
    [[ $features != - ]] || features=
    profile=minimal build minimal --no-default-features --features "$features"
    count "$work/$catalog-$board" # it ends with code 0 if it does what it is there for
    bytes=$(flash)
    [[ $catalog != decide_and_learn ]] || least=$bytes
    judge flash "$bytes" "$limit"
    costs+=("| $board, $catalog | $cell | $(commas $((bytes - least))) | $(commas "$(value stack)") |")
}

write=0
[[ ${1:-} != --write ]] || { write=1; shift; }
only="$*"
while read -r name budget; do
    [[ -n $name && (-z $only || " $only " == *" $name "*) ]] || continue
    board "$name"
    # shellcheck disable=SC2086 # a word for each budget
    measure $budget
done <<<"$budgets"

for board in microbit netduino; do
    [[ -z $only || " $only " == *" $board "* ]] || continue
    board "$board"
    while read -r capability features limits; do
        # shellcheck disable=SC2086 # a word for each budget
        [[ -z $capability ]] || weigh "$capability" "$features" $limits
    done <<<"$capabilities"
done

readme=../../fable-embedded/README.md
compiler=$("$rustc" --version)
noted=$(sed -n '/^<!-- budget -->$/,/^<!-- \/budget -->$/p' "$readme")
[[ -n $noted ]] || { echo "FAIL fable-embedded/README.md has no place for the table: <!-- budget --> and <!-- /budget -->"; exit 1; }
noted_compiler=$(sed -nE 's/^.*budget\.sh`, (rustc .*):$/\1/p' <<<"$noted")

# Whether all numbers of two rows lie within a share of each other.
near() { # SHARE ROW ROW
    awk -v share="$1" 'function numbers(row, into) { gsub(/[,*]/, "", row); gsub(/[^0-9]+/, " ", row); return split(row, into, " ") }
        { count[NR] = numbers($0, row); for (i in row) all[NR, i] = row[i] }
        END {
            if (count[1] != count[2]) exit 1
            for (i = 1; i <= count[1]; i++) if ((all[1, i] - all[2, i]) ^ 2 > (share * all[1, i]) ^ 2) exit 1
        }' <<<"$2"$'\n'"$3"
}

# The rows of the README with those that were measured in their place; compares them.
table=() prices=()
while read -r name catalog _; do
    old=$(grep "^| $name, $catalog " <<<"$noted") || old=
    new=$(printf '%s\n' "${rows[@]}" "${costs[@]}" | grep "^| $name, $catalog ") || new=
    if [[ $capabilities == *$'\n'"$catalog "* ]]; then prices+=("${new:-$old}"); else table+=("${new:-$old}"); fi
    if [[ $write == 1 || -z $new || $new == "$old" ]]; then
        :
    elif [[ $compiler == "$noted_compiler" ]] && near 0.005 "$old" "$new"; then
        :
    elif [[ $compiler == "$noted_compiler" ]]; then
        printf 'FAIL %s: README.md is out of date (budget.sh --write)\n  %s\n  %s\n' "$name, $catalog" "$old" "$new"
        failed=1
    elif near 0.05 "$old" "$new"; then
        echo "$name, $catalog: README.md was measured with $noted_compiler; this is within 5%, with $compiler"
    else
        printf 'FAIL %s: more than 5%% from README.md, which was measured with %s\n  %s\n  %s\n' "$name, $catalog" "$noted_compiler" "$old" "$new"
        failed=1
    fi
done < <(sed '/^$/d' <<<"$budgets"; for name in microbit netduino; do sed "/^\$/d; s/^/$name /" <<<"$capabilities"; done)

text="From \`examples/firmware/budget.sh\`, $compiler:

| Board, catalog | Static RAM | Stack | RAM with stack | Flash | decide by a draw, instructions | optimistic | with coins | learn |
|---|---:|---:|---:|---:|---:|---:|---:|---:|
$(printf '%s\n' "${table[@]}" | sed '/^$/d')

| Board, capability | Flash | more than without | Stack |
|---|---:|---:|---:|
$(printf '%s\n' "${prices[@]}" | sed '/^$/d')"
printf '\n%s\n\n' "$text"
if [[ $write == 1 ]]; then
    if [[ -n $only && $compiler != "$noted_compiler" ]]; then
        echo "FAIL the table is of ${noted_compiler:-no compiler}: with $compiler all boards have to be measured"
        failed=1
    else
        sed -i -e '/^<!-- budget -->$/,/^<!-- \/budget -->$/{ //!d }' -e "/^<!-- budget -->\$/r /dev/stdin" "$readme" <<<"$text"
    fi
fi
((${#met[@]} == 0)) || printf 'met     %s\n' "${met[@]}"
((${#missed[@]} == 0)) || printf 'missed  %s\n' "${missed[@]}"
exit "$failed"
