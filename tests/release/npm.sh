# The npm package; sourced by run.
# shellcheck shell=bash disable=SC2154

make_npm() { # FOLDER
    need npm npm && need node nodejs && need_target wasm32-unknown-unknown || return
    CARGO_TARGET_DIR=$(built)/release-build CARGO_ENCODED_RUSTFLAGS=$(own_flags) examples/browser/run --package || return
    local place=$work/npm-$RANDOM
    mkdir -p "$place" && cp -R examples/browser/package "$place/" || return
    linked "fable-bandit-$version.tgz" "$place/package/THIRD-PARTY.txt" fable-js@wasm32-unknown-unknown || return
    npm pack --silent --pack-destination "$1" "$place/package" >/dev/null
}

check_npm() { # FOLDER
    local place said
    place=$(empty npm) && cd "$place" || return
    echo '{ "private": true, "type": "module" }' >package.json
    npm install --silent --offline --no-audit --no-fund "$1/fable-bandit-$version.tgz" || fail 'npm install' || return
    for file in LICENSE-MIT LICENSE-APACHE README.md THIRD-PARTY.txt fable.wasm index.d.ts; do
        [[ -s node_modules/fable-bandit/$file ]] || fail "the package has no $file" || return
    done
    cp "$here/programs/npm.mjs" . && said=$(node npm.mjs) || fail "a program of node: $said" || return
    ok "fable-bandit in node: $said"
}
