#!/usr/bin/env bash
# Lists what can still panic in the `device` image of each board and compares it with panics.txt. A place of a crate of this
# repository fails. So does a place that is not in the list, and one of the list that is gone.
#
#   panics.sh [BOARD...]    all boards, or only these: then nothing counts as gone
#   panics.sh --write       writes panics.txt; what stands there behind a # stays
#
# An `async fn` panics when it is polled after its end. The compiler puts that into each, and neither `.await` nor `block_on`
# polls so: these are counted, and listed by crate only.
# The environment it takes is that of toolchain.sh.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
export LC_ALL=C
write=0
[[ ${1:-} != --write ]] || { write=1; shift; }
only="$*"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

. ./toolchain.sh
for name in $(boards "$@" | grep -v mps2-an500); do
    board "$name"
    # The board's image, but every call is kept as a relocation, no two calls are made one, and a panic says where.
    "${cargo[@]}" rustc --quiet --locked --release --target "$target" --features "$board,located" --bin device -- \
        -C link-arg=--emit-relocs -C llvm-args='-enable-tail-merge=0 -enable-machine-outliner=never'
    cp "$output/$target/release/device" "$work/$board"
done
# Lines of crate, place in it, what panics there, the function it is in, and the boards.
for image in "$work"/*; do
    (cd ../.. && cargo run --quiet --package fable-image --bin panics -- "$image") | sed "s/\$/\t${image##*/}/"
done | sed -E -e 's|/src/|\tsrc/|' -e 's/\tpanic_const_/\t/' | sort -u | awk -F '\t' -v OFS='\t' '
    { site = $1 OFS $2 OFS $3 OFS $4 }
    site != last { if (NR > 1) print last, boards; last = site; boards = $5; next }
    { boards = boards ", " $5 }
    END { print last, boards }' >"$work/sites"
grep -P '\tasync_fn_resumed\t' "$work/sites" >"$work/async" || true
grep -vP '\tasync_fn_resumed\t' "$work/sites" >"$work/other" || true

{
    awk -F '\t' '{ print $1 "\t  " $2 " " $3 ", in " $4 " (" $5 ")" }' "$work/other"
    cut -f 1,2 "$work/async" | uniq | awk '{ count[$1]++ } END { for (crate in count) print crate "\t  " count[crate] " async fn" }'
} | sort | awk -F '\t' '$1 != last { print last = $1 } { print $2 }'

failed=0
fail() { # WHAT LINES
    [[ -n $2 ]] || return 0
    printf 'FAIL %s:\n%s\n' "$1" "$2"
    failed=1
}
third='-[0-9]+\.[0-9]+\.' # a crate of this repository has no version in its path
fail 'a crate of this repository can panic' "$(awk -F '\t' -v third="$third" '$1 !~ third { print $1 "/" $2 " " $3 }' "$work/other" | uniq)"

{
    awk -F '\t' -v third="$third" '$1 ~ third { print $1 "/" $2 " " $3 }' "$work/other"
    awk -F '\t' -v third="$third" '$1 ~ third { print $1 " async fn" }' "$work/async"
} | sort -u >"$work/found"
sed -E -e '/^#/d' -e 's/ *#.*//' panics.txt | sort -u >"$work/listed"
compiler=$("$rustc" --version)
if [[ $write == 1 && -z $only ]]; then
    {
        sed -E -e '/^#/!d' -e "s/rustc [0-9].*/$compiler/" panics.txt
        while read -r site; do
            reason=$(awk -v site="$site " 'index($0, site) == 1 && sub(/^[^#]*# */, "")' panics.txt)
            echo "$site${reason:+  # $reason}"
        done <"$work/found"
    } >"$work/panics.txt"
    cp "$work/panics.txt" panics.txt
else
    fail 'not in panics.txt' "$(comm -23 "$work/found" "$work/listed")"
    gone=$(comm -13 "$work/found" "$work/listed")
    if [[ -n $gone && -z $only ]]; then
        if grep -qF "$compiler" panics.txt; then
            fail 'gone, take it off the list (panics.sh --write)' "$gone"
        else
            printf 'gone, but panics.txt is of another compiler:\n%s\n' "$gone"
        fi
    fi
fi
((failed)) || echo 'ok   nothing else can panic'
exit "$failed"
