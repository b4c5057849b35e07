# The page for the browser; sourced by run.
# shellcheck shell=bash disable=SC2154

make_page() { # FOLDER
    need_target wasm32-unknown-unknown || return
    local name=fable-page-$version place=$work/page-$RANDOM
    CARGO_TARGET_DIR=$(built)/release-build CARGO_ENCODED_RUSTFLAGS=$(own_flags) examples/browser/run --build || return
    mkdir -p "$place" && cp -R examples/browser/www "$place/$name" && rm -f "$place/$name/.gitignore" && cp LICENSE-MIT LICENSE-APACHE "$place/$name/" || return
    linked "$name.zip" "$place/$name/THIRD-PARTY.txt" fable-browser@wasm32-unknown-unknown && pack "$place/$name" "$1/$name.zip"
}

check_page() { # FOLDER
    local place modules status
    need chromium chromium && need node nodejs && need npm npm || return
    modules=$(built)/browser-tests # as tests/browser/run has it
    mkdir -p "$modules" && cp tests/browser/package.json tests/browser/package-lock.json "$modules/"
    [[ -d $modules/node_modules/playwright-core && $modules/node_modules/.package-lock.json -nt $modules/package-lock.json ]] ||
        npm ci --prefix "$modules" --silent --no-audit --no-fund --ignore-scripts || return
    place=$(empty page) && python3 -m zipfile -e "$1/fable-page-$version.zip" "$place" || return
    PLAYWRIGHT=$modules/node_modules/playwright-core/index.mjs CHROMIUM=$(command -v chromium) \
        timeout 120 node "$here/programs/page.mjs" "$place/fable-page-$version" || { status=$?; fail "the page: exit code $status"; }
}
