# Sourced by the scripts beside it, in their folder: the boards, how an image is built and how it is run.
#
#   boards [BOARD...]         the names of these boards, or of all in boards.txt
#   board BOARD               sets `board`, `target` and `shift`, the one of QEMU's -icount
#   build JOB [ARGUMENT...]   builds a job for the board, with more arguments for cargo and the `profile` (release); sets
#                             `image`, a file of its own for each job and board, and `qemu`, the command that runs it
#   enter FOLDER              goes to a folder, made if need be, where QEMU finds the board's flash
#   count FOLDER              runs the image there under -icount; sets `line` to the line that starts with the job's name
#   value KEY                 what stands in that line after KEY=
#   commas NUMBER             the number as a person reads it
#
# CARGO             cargo to use, default cargo
# CARGO_TARGET_DIR  where to build, default target beside this script
# FABLE_BUILD_STD   1: the rustup targets are not installed; Debian's rustc-web, cargo-web and rust-web-src build core
#                   themselves, in a target directory of their own, with the rust-lld of the rustup toolchain
# shellcheck shell=bash

output=${CARGO_TARGET_DIR:-$PWD/target} rustc=${RUSTC:-rustc}
cargo=("${CARGO:-cargo}") environment=()
if [[ ${FABLE_BUILD_STD:-0} == 1 ]]; then
    linkers=("$(rustc --print sysroot)"/lib/rustlib/*/bin/rust-lld)
    [[ -x ${linkers[0]} ]] || { echo "no rust-lld in the toolchain of $(command -v rustc)" >&2; exit 1; }
    for target in THUMBV6M_NONE_EABI THUMBV7EM_NONE_EABIHF RISCV32IMAC_UNKNOWN_NONE_ELF RISCV32IMAFC_UNKNOWN_NONE_ELF; do
        environment+=("CARGO_TARGET_${target}_LINKER=${linkers[0]}")
    done
    output+=/build-std rustc=/usr/bin/rustc cargo=(/usr/bin/cargo)
    environment+=(RUSTC=$rustc RUSTC_BOOTSTRAP=1 CARGO_UNSTABLE_BUILD_STD=core)
fi

# An image is of the same size wherever it is built: paths in panic messages start at the crate, not at this machine's folders.
env "${environment[@]}" "${cargo[@]}" fetch --quiet --locked
read -ra flags <<<"${RUSTFLAGS:-}"
flags+=("--remap-path-prefix=$(cd ../.. && pwd)/=")
for registry in "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*/; do flags+=("--remap-path-prefix=$registry="); done
environment+=("CARGO_TARGET_DIR=$output" "CARGO_ENCODED_RUSTFLAGS=$(IFS=$'\x1f'; echo "${flags[*]}")")
cargo=(env "${environment[@]}" "${cargo[@]}")

boards() {
    if (($#)); then printf '%s\n' "$@"; else awk '!/^#/ { print $1 }' boards.txt; fi
}

board() {
    board=$1
    read -r target shift machine < <(awk -v board="$1" '$1 == board { $1 = ""; print }' boards.txt) ||
        { echo "boards.txt has no $1" >&2; return 2; }
}

build() {
    job=$1 image=$output/images/$1-$board
    local profile=${profile:-release} kind=--bin built=$1
    [[ $job != proof ]] || kind=--example built=examples/$1
    # Boards with the flash for it have the loops of the learner optimized for speed.
    local speed=()
    [[ $board == microbit || $board == hifive1 ]] || speed=(--config profile.release.package.fable-core.opt-level=3)
    # mps2-an500 runs the image of mps2
    "${cargo[@]}" "${speed[@]}" build --quiet --locked --profile "$profile" --target "$target" --features "${board%-*}" "$kind" "$job" "${@:2}"
    mkdir -p "$output/images" && cp "$output/$target/$profile/$built" "$image"
    read -ra qemu <<<"$machine"
    qemu+=("$image" -display none -monitor none -semihosting-config "enable=on,target=native")
}

enter() {
    mkdir -p "$1" && cd "$1"
    [[ $board != virt || -e virt.flash ]] || truncate -s 32M virt.flash
}

count() {
    local code=0
    (enter "$1" && timeout 120 "${qemu[@]}" -serial none -icount "shift=$shift,sleep=off" </dev/null >log 2>&1) || code=$?
    line=$(grep "^$job " "$1/log") && [[ $code == 0 ]] || { echo "FAIL $board: exit code $code"; cat "$1/log"; exit 1; }
}

value() { local text=" $line "; text=${text#* "$1"=}; echo "${text%% *}"; }

commas() { sed -E ':more; s/([0-9])([0-9]{3})($|,)/\1,\2\3/; t more' <<<"$1"; }
