# Environments for Python with one package each and Fable's wheel in it; sourced by tests/adapters/run and examples/outside/run.
#
#   wheel                  sets WHEEL: the variable FABLE_WHEEL if it is given, otherwise a wheel that is built now
#   environment NAME       sets python: an interpreter below target/adapters with the packages of tests/adapters/requirements/NAME.txt and the wheel

target=${CARGO_TARGET_DIR:-$PWD/target}
export PYTHONDONTWRITEBYTECODE=1

wheel() {
  WHEEL=${FABLE_WHEEL:-}
  if [ -z "$WHEEL" ]; then
    local place=$target/python # that of tests/python/run, so that nothing is compiled again
    [ -x "$place/bin/maturin" ] || { python3 -m venv "$place" && "$place/bin/pip" install --quiet --disable-pip-version-check -r tests/python/requirements.txt; }
    rm -rf "$target/adapters/wheel"
    (cd fable-std/python && PATH=$place/bin:$PATH maturin build --quiet --locked --out "$target/adapters/wheel")
    WHEEL=$(echo "$target"/adapters/wheel/*.whl)
  fi
}

environment() {
  local place=$target/adapters/$1 wanted=tests/adapters/requirements/$1.txt
  [ -n "${WHEEL:-}" ] || wheel
  if ! cmp -s "$wanted" "$place/requirements.txt"; then
    rm -rf "$place"
    python3 -m venv "$place"
    # The files name every package. obp wants a version of torch that does not exist here, so nothing is asked what it wants.
    "$place/bin/pip" install --quiet --disable-pip-version-check --no-deps -r "$wanted"
    cp "$wanted" "$place/requirements.txt"
  fi
  "$place/bin/pip" install --quiet --disable-pip-version-check --no-deps --force-reinstall "$WHEEL"
  python=$place/bin/python
}
