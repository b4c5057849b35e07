#!/usr/bin/env bash
# Measures what Fable costs on each board and compares it with what it may cost: prints the Markdown table and fails when a
# number is over its budget, or over the value that is listed here as known to be over, or not what README.md says: to half a
# percent with the compiler noted there (the order of functions, and so their padding, depends on the folder of the build), to 5%
# with another one.
#
#   budget.sh [BOARD...]            all boards, or only these and their rows
#   budget.sh --write [BOARD...]    puts the numbers into README.md
#
# Flash and static RAM are those of the `device` image; stack and instructions come from `budget`, in QEMU under -icount.
# The environment it takes is that of toolchain.sh.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. ./toolchain.sh

# What a board may take. `-` is measured and not limited.
#              RAM with stack, flash in bytes; decide, learn in instructions
budgets='
microbit           8192          65536         200000  300000
hifive1            8192          65536         120000  200000
netduino         131072         131072          70000   75000
mps2                  -              -              -       -
virt                  -              -              -       -'

# What is over its budget today. A number above the one here fails, and so does one that has come to fit: delete its line then.
known='
microbit  flash   102400
hifive1   flash   122400'

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0 missed=() met=()

# The column `number` of the line of a board in one of the tables above.
column() { awk -v board="$2" -v number="$3" '$1 == board { print $number }' <<<"$1"; }

# The value of a key in the line that the firmware printed.
value() { local text=" $1 "; text=${text#* "$2"=}; echo "${text%% *}"; }

# A number as a person reads it.
commas() { sed -E ':more; s/([0-9])([0-9]{3})($|,)/\1,\2\3/; t more' <<<"$1"; }

# Compares one number; sets `cell` to what the table shows.
judge() { # BOARD WHAT MEASURED BUDGET
    local limit
    limit=$(awk -v board="$1" -v what="$2" '$1 == board && $2 == what { print $3 }' <<<"$known")
    cell=$(commas "$3")
    [[ $4 != - ]] || return 0
    cell+=" of $(commas "$4")"
    if (($3 <= $4)); then
        met+=("$1 $2 $3 of $4")
        [[ -z $limit ]] || { echo "FAIL $1 $2: $3 fits $4 now, take it off the list"; failed=1; }
    else
        cell="**$cell**"
        missed+=("$1 $2 $3 of $4, $((($3 - $4) * 100 / $4)) % over")
        [[ -n $limit ]] && (($3 <= limit)) || { echo "FAIL $1 $2: $3 is over $4, and over the ${limit:-nothing} that is known"; failed=1; }
    fi
}

rows=()
measure() { # BOARD TARGET SHIFT QEMU...
    local board=$1 target=$2 shift=$3 image line text data bss cells=() code=0
    shift 3
    [[ -z $only || " $only " == *" $board "* ]] || return 0
    image=$CARGO_TARGET_DIR/$target/release/$board
    "$cargo" build --quiet --locked --release --package device --target "$target" --bin "$board"
    # .text and .rodata stay in flash; .data is there too, and in RAM; .stack (RISC-V) is what is left of RAM.
    read -r text data bss < <(size -A -d "$image" | awk '
        $1 ~ /^\.(vector_table|text|init|rodata|eh_frame)/ { text += $2 }
        $1 ~ /^\.(data|sdata)/ { data += $2 }
        $1 ~ /^\.(bss|sbss|uninit)/ { bss += $2 }
        END { print text + 0, data + 0, bss + 0 }')
    "$cargo" build --quiet --locked --release --package budget --target "$target" --bin "$board"
    mkdir "$work/$board"
    pushd "$work/$board" >/dev/null
    if [[ $board == virt ]]; then
        truncate -s 32M virt.flash
        set -- "$1" -drive if=pflash,unit=1,file=virt.flash,format=raw "${@:2}"
    fi
    timeout 120 "$@" "$image" -icount "shift=$shift,sleep=off" -display none -monitor none -serial none \
        -semihosting-config enable=on,target=native </dev/null >log 2>&1 || code=$?
    line=$(grep '^budget ' log) && [[ $code == 0 ]] || { echo "FAIL $board: exit code $code"; cat log; exit 1; }
    popd >/dev/null

    local static=$((data + bss)) stack decide learn cell
    stack=$(value "$line" stack) decide=$(value "$line" decide) learn=$(value "$line" learn)
    judge "$board" ram $((static + stack)) "$(column "$budgets" "$board" 2)"; cells+=("$cell")
    judge "$board" flash $((text + data)) "$(column "$budgets" "$board" 3)"; cells+=("$cell")
    judge "$board" decide "$decide" "$(column "$budgets" "$board" 4)"; cells+=("$cell")
    judge "$board" learn "$learn" "$(column "$budgets" "$board" 5)"; cells+=("$cell")
    rows+=("| $board, $(value "$line" catalog) | $(commas "$static") | $(commas "$stack") | ${cells[0]} | ${cells[1]} | ${cells[2]} | ${cells[3]} |")
}

write=0
[[ ${1:-} != --write ]] || { write=1; shift; }
only="$*"
measure microbit thumbv6m-none-eabi 6 qemu-system-arm -M microbit -kernel
measure hifive1 riscv32imac-unknown-none-elf 0 qemu-system-riscv32 -M sifive_e -kernel
measure netduino thumbv7em-none-eabihf 3 qemu-system-arm -M netduinoplus2 -kernel
measure mps2 thumbv7em-none-eabihf 6 qemu-system-arm -M mps2-an386 -kernel
measure virt riscv32imafc-unknown-none-elf 0 qemu-system-riscv32 -M virt -bios

readme=../../README.md
compiler=$("${RUSTC:-rustc}" --version)
noted=$(sed -n '/^<!-- budget -->$/,/^<!-- \/budget -->$/p' "$readme")
[[ -n $noted ]] || { echo "FAIL README.md has no place for the table: <!-- budget --> and <!-- /budget -->"; exit 1; }
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
table=()
for board in $(awk '{ print $1 }' <<<"$budgets"); do
    old=$(grep "^| $board, " <<<"$noted") || old=
    new=$(printf '%s\n' "${rows[@]}" | grep "^| $board, ") || new=
    table+=("${new:-$old}")
    if [[ $write == 1 || -z $new || $new == "$old" ]]; then
        :
    elif [[ $compiler == "$noted_compiler" ]] && near 0.005 "$old" "$new"; then
        :
    elif [[ $compiler == "$noted_compiler" ]]; then
        printf 'FAIL %s: README.md is out of date (budget.sh --write)\n  %s\n  %s\n' "$board" "$old" "$new"
        failed=1
    elif near 0.05 "$old" "$new"; then
        echo "$board: README.md was measured with $noted_compiler; this is within 5%, with $compiler"
    else
        printf 'FAIL %s: more than 5%% from README.md, which was measured with %s\n  %s\n  %s\n' "$board" "$noted_compiler" "$old" "$new"
        failed=1
    fi
done

text="From \`examples/firmware/budget.sh\`, $compiler:

| Board, catalog | Static RAM | Stack | RAM with stack | Flash | decide, instructions | learn, instructions |
|---|---:|---:|---:|---:|---:|---:|
$(printf '%s\n' "${table[@]}" | sed '/^$/d')"
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
