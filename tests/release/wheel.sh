# The wheel for Python and its sources; sourced by run.
# shellcheck shell=bash disable=SC2015,SC2154

environment() { # FOLDER; a fresh environment for Python with the maturin of the tests in it
    python3 -m venv "$1" && "$1/bin/pip" install --quiet --disable-pip-version-check "$(grep '^maturin==' "$root/tests/python/requirements.txt")" ||
        fail 'maturin is missing, and pip does not get it'
}

with() { # FOLDER COMMAND...; in that environment, with paths of this machine left out of what is built
    env CARGO_TARGET_DIR="$(built)/release-build" CARGO_ENCODED_RUSTFLAGS="$(own_flags)" PATH="$1/bin:$PATH" "${@:2}"
}

make_wheel() { # FOLDER
    local place=$work/wheel-$RANDOM python=fable-std/python archive code=0
    mkdir -p "$place" && environment "$place/venv" || return
    with "$place/venv" maturin sdist --manifest-path "$python/Cargo.toml" --out "$1" >"$place/log" 2>&1 || { cat "$place/log"; fail 'the sources: maturin'; } || return
    plain "fable_bandit-$version.tar.gz"
    # It is where pyproject.toml looks for texts, for as long as the wheel is made.
    linked wheel "$python/THIRD-PARTY.txt" --library std "fable-python@$host+extension-module" &&
        with "$place/venv" maturin build --locked --compression-level 9 --manifest-path "$python/Cargo.toml" --out "$1" >"$place/log" 2>&1 || code=1
    rm -f "$python/THIRD-PARTY.txt"
    ((code == 0)) || { cat "$place/log"; fail 'the wheel: maturin'; } || return
    for archive in "$1"/*.whl; do
        licence "$(basename "$archive")" "$(sed -n 's/^wheel\t//p' "$notes/wheel.licences" | tail -n 1)"
    done
}

use_wheel() { # ENVIRONMENT; a program with what is installed in it
    local said
    said=$("$1/bin/python" -I "$here/programs/wheel.py" "$version") || fail "$1: the program says: $said" || return
    ok "Python, $1: $said"
}

check_wheel() { # FOLDER
    local place wheel name
    place=$(empty wheel) && cd "$place" || return
    wheel=$(echo "$1"/*.whl)
    python3 -m venv binary && binary/bin/pip install --quiet --disable-pip-version-check --no-index "$wheel" || fail 'the wheel does not install' || return
    use_wheel binary || return
    for name in LICENSE-MIT LICENSE-APACHE THIRD-PARTY.txt; do
        compgen -G "binary/lib/python*/site-packages/fable_bandit-$version.dist-info/licenses/$name" >/dev/null || fail "the wheel has no $name" || return
    done
    # From the sources as pip does it; what is not ours was built already.
    environment source || return
    with "$place/source" source/bin/pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --no-index "$1/fable_bandit-$version.tar.gz" ||
        fail 'the sources do not install' || return
    use_wheel source || return
}
