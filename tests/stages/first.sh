# Stages of tier 1. Sourced by tests/run.
# shellcheck shell=bash

FEATURES=fable-core/analysis,fable-core/migrate,fable-core/record,fable-embedded/keyed,fable-embedded/migrate,fable-wire/keyed
# Everything for the host is built with one set of features. Another choice of packages would change the features of shared
# dependencies, and cargo would build those once more. The procedural macro fable-forms is not chosen: as a dependency it has one
# profile in all commands, and as a chosen package two.
HOST=(--locked --features "$FEATURES,fable-core/alloc,fable-browser/default,fable-python/extension-module" -p fable-core -p fable-wire -p fable-embedded -p fable-std -p fable-merge
  -p fable-simulate -p fable-text -p fable-golden -p fable-browser -p fable-js -p fable-layers -p fable-part -p fable-qemu
  -p fable-image -p fable-serve-tests -p fable-c -p fable-c-tests -p fable-fuzz-targets -p fable-python -p quickstart -p assistant)

format() {
  local manifest
  try cargo fmt --all --check
  for manifest in examples/firmware/Cargo.toml examples/studies/Cargo.toml tests/fuzz/Cargo.toml examples/parts/*/Cargo.toml; do
    try cargo fmt --all --check --manifest-path "$manifest"
  done
}

links() { # every relative link of a page leads to a file, and to a heading where the link names one
  git ls-files '*.md' | python3 -c '
import pathlib, re, sys
def headings(page):
    lines = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S).splitlines()
    return {re.sub(r"[^\w -]", "", line.lstrip("# ").lower()).replace(" ", "-") for line in lines if line.startswith("#")}
dead = []
for page in map(pathlib.Path, sys.stdin.read().split()):
    for link in re.findall(r"\]\((?!https?:)([^)\s]+)\)", page.read_text()):
        path, _, heading = link.partition("#")
        target = page.parent / path if path else page
        if not target.exists() or heading and heading not in headings(target):
            dead.append(f"{page}: {link} leads nowhere")
sys.exit("\n".join(dead) or None)'
}

licences() { # licences, bans and sources of all packages; cargo-deny adds the advisories
  try tests/licences --self-test
  try tests/licences
  if cargo deny --version >/dev/null 2>&1; then try cargo deny check; fi
}

build() { # every program for the host, in one cargo command
  cargo build --all-targets "${HOST[@]}" || return
  echo "$TARGET_DIR/debug/fable" >"$notes/fable"
}

lint() {
  cargo clippy --all-targets "${HOST[@]}" -- -D warnings
}

# Runs cargo test and ends with a command for each failed test.
tested() { # ARGUMENT...
  local log code
  log=$(mktemp -p "$notes")
  cargo test --no-fail-fast "$@" 2>&1 | tee "$log"
  code=${PIPESTATUS[0]}
  # Cargo names a program after its failed tests: to rerun pass `-p fable-std --test it`
  sed -e 's/\x1b\[[0-9;]*m//g' "$log" | awk '
    /^test .* \.\.\. FAILED$/ { failed[++count] = $2 }
    /to rerun pass `/ {
      sub(/.*to rerun pass `/, ""); sub(/`.*/, "")
      for (i = 1; i <= count; i++) print "repeat it with: cargo test " $0 " " failed[i]
      count = 0
    }'
  return "$code"
}

tests() { # unit, property, integration and documentation tests
  try tested "${HOST[@]}"
  try tested --locked -p fable-forms
  try tests/list
}

quietly() { "$@" >/dev/null; }

examples() { # the programs of the first page
  try "$TARGET_DIR/debug/quickstart"
  try quietly "$TARGET_DIR/debug/assistant"
  try quietly "$FABLE" catalog show tau2
  try quietly examples/python/client.py "$FABLE"
}

c() { # the library for C on the host: the bits of Rust, misuse under sanitizers, the example of the page
  tests/c/run host readme
}

python() { # the wheel in a fresh virtual environment
  tests/python/run --debug
}

javascript() { # the npm package in node
  device examples/browser/run --package
  after_build
  device tests/browser/run --node
}

http() { # a service over HTTP with a client from PyPI
  tests/http/run --client
}

proxy() { # the package `openai`, unmodified, through the proxy
  tests/proxy/run openai
}

boards_bits() { # pinned runs on a Cortex-M0, a Cortex-M4F and a RISC-V with a floating-point unit, in QEMU
  device examples/firmware/golden.sh --bits microbit netduino virt
}

boards_serial() { # one board over its serial port, through resets
  after_build
  FABLE_BOARDS=netduino FABLE_PACKAGES="${HOST[*]}" device tests/qemu/run a_life_over_the_serial_port
}
