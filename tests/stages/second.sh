# Stages of tier 2. Sourced by tests/run.
# shellcheck shell=bash

DEFMT=fable-core/defmt,fable-embedded/defmt,fable-wire/defmt
STUDIES=(--locked --manifest-path examples/studies/Cargo.toml --target-dir "$TARGET_DIR")

docs() {
  RUSTDOCFLAGS='-D warnings' cargo doc --no-deps --quiet "${HOST[@]}"
}

lint_all() { # code that tier 1 does not compile: defmt, benchmarks, studies, C, Python
  try cargo clippy --locked --workspace --no-default-features --features "$DEFMT,$FEATURES,fable-core/alloc,fable-browser/default" --all-targets -- -D warnings
  try cargo clippy --locked -p fable-js --all-targets -- -D warnings # the features of the npm package alone
  try cargo clippy --locked -p fable-benches --all-targets -- -D warnings
  try cargo clippy "${STUDIES[@]}" --all-targets -- -D warnings
}

published() { # `-p NAME` for every member that is not marked `publish = false`
  cargo metadata --quiet --no-deps --format-version 1 | python3 -c '
import json, sys
for package in json.load(sys.stdin)["packages"]:
    if package["publish"] is None:
        print("-p", package["name"], sep="\n")'
}

package() { # each crate, built from the archives of the others
  local packages
  try tests/release/run --self-test
  mapfile -t packages < <(published)
  # Cargo keeps the unpacked archives of its own crates by version, and would not see a change.
  rm -rf "${CARGO_HOME:-$HOME/.cargo}"/registry/src/-*/fable-*
  [ ${#packages[@]} -gt 0 ] && try cargo package --quiet --locked --allow-dirty "${packages[@]}"
}

release() { # everything that would be published, made, judged, and used from its archive in an empty folder; nothing is sent
  needs_devices && needs chromium=chromium && device tests/release/run
}

needs_devices() { # the packages of C on devices
  needs cmake=cmake arm-none-eabi-gcc=gcc-arm-none-eabi arm-none-eabi-g++=gcc-arm-none-eabi c++=g++ \
    riscv64-unknown-elf-objcopy=binutils-riscv64-unknown-elf
}

studies() { # unit tests of the studies, their small versions bit for bit, and runs against stand-ins for a model
  tested "${STUDIES[@]}"
}

no_std() { # the libraries for all targets, and each crate without any feature
  echo "${TARGETS[*]}"
  try device_cargo build --quiet "${TARGETS[@]/#/--target=}" -p fable-core -p fable-wire -p fable-embedded --features "$DEFMT,$FEATURES"
  try device_cargo build --quiet --target=wasm32-unknown-unknown -p fable-text -p fable-simulate
  try keyed
}

keyed() { # the firmware with a key, from a file as `fable device --key-file` takes it
  local work code
  work=$(mktemp -d)
  printf '000102030405060708090a0b0c0d0e0f\n' >"$work/device.key"
  FABLE_KEY_FILE=$work/device.key device_cargo check --quiet --locked --manifest-path examples/firmware/Cargo.toml --target thumbv6m-none-eabi \
    --features microbit,keyed --bin device
  code=$?
  rm -rf "$work"
  return "$code"
}

without_warnings() { # CRATE FEATURE
  local said
  said=$(cargo check --quiet -p "$1" --no-default-features --features "$2" 2>&1) && [[ -z $said ]] ||
    { printf "%s with feature '%s':\n%s\n" "$1" "$2" "$said"; return 1; }
}

features() { # each feature alone, and none; a build without a capability refuses it
  local folder crate feature
  for folder in fable-core fable-embedded fable-embedded/wire; do
    crate=$(sed -n 's/^name = "\(.*\)"/\1/p' "$folder/Cargo.toml")
    try without_warnings "$crate" ''
    for feature in $(sed -n '/^\[features\]/,/^$/ s/^\([a-z_0-9]*\) = .*/\1/p' "$folder/Cargo.toml"); do
      try without_warnings "$crate" "$feature"
    done
  done
  try tested -p fable-core --no-default-features --test features
}

random() { # property tests with seeds by chance; FABLE_SEEDS=N takes N of them
  local seed modules
  # Modules of the test programs that have property tests, as filters.
  mapfile -t modules < <(grep -l 'proptest!' fable-*/tests/it/*.rs fable-*/src/*/*.rs fable-embedded/wire/src/*.rs | sed -e 's|.*/||' -e 's|\.rs$|::|' | sort -u)
  for ((count = 0; count < ${FABLE_SEEDS:-5}; count++)); do
    seed=$(od -An -N8 -tu8 /dev/urandom)
    echo "PROPTEST_RNG_SEED=${seed// /}"
    try env PROPTEST_RNG_SEED="${seed// /}" cargo test --quiet --no-fail-fast "${HOST[@]}" --lib --tests -- "${modules[@]}"
  done
}

golden() { # pinned runs on every board, and the proofs that no panic is reachable
  device examples/firmware/golden.sh
}

update() { # a board goes to the next catalog, with the power cut before every write
  device examples/firmware/update.sh microbit virt
}

boards() { # board support: flash, reset, entropy, stack mark, serial port
  device examples/firmware/boards.sh
}

qemu() { # all boards over their serial ports: 1,000 rounds, resets, crashes, noise, 100 kills
  FABLE_KILLS=100 FABLE_ROUNDS=1000 FABLE_PACKAGES="${HOST[*]}" device tests/qemu/run
}

parts() { # templates for real parts link, the starter runs in QEMU
  try examples/parts/build
  try examples/parts/build --lint
  try examples/parts/starter/check
}

c_boards() { # the library for C on boards: bits, symbols, sizes
  needs_devices && device tests/c/run
}

packaging() { # C through CMake, ESP-IDF and Arduino
  needs_devices && device tests/c/packaging
}

budget() { # RAM, stack, flash and instructions of every board
  rustup_only examples/firmware/budget.sh
}

versus() { # the same rounds with Fable and with nalgebra on a Cortex-M4F
  rustup_only examples/firmware/versus.sh
}

panics() { # what can still panic in the firmware, and where
  rustup_only examples/firmware/panics.sh
}

instructions() { # instructions of a round on the host
  needs valgrind=valgrind && cargo run --profile dist --quiet -p fable-benches --no-default-features --bin instructions
}

benches() { # time of a round beside nalgebra, faer and Eigen
  needs c++=g++ && cargo run --profile dist --quiet -p fable-benches
}

fuzz() { # coverage-guided, 10 seconds each; FABLE_SECONDS=N takes N
  FABLE_RUNS=${FABLE_RUNS:-} tests/fuzz/run "${FABLE_SECONDS:-10}"
}

browser() { # the page and the npm package in a headless Chromium
  needs chromium=chromium || return
  try device tests/browser/run
  try device tests/browser/run --package
}

gateway() { # two processes on one PostgreSQL behind a load balancer, and a device
  examples/gateway/run
}

schemas() { # Schemathesis over the OpenAPI document
  tests/http/run --full
}

clients() { # every foreign client through the proxy, faults, 200 conversations at once, the example
  try tests/proxy/run --full tampering openai litellm openai-agents anthropic odd_requests faults modes parallel
  try examples/proxy/run
}

mcp() { # the official client of MCP in Python
  tests/mcp/run
}

wheel() { # the wheel as it is published, with its size
  tests/python/run || return
  export FABLE_WHEEL=$(echo "$TARGET_DIR"/python/wheels/*.whl) # for the adapters
}

adapters() { # Fable's adapters for Python against the real packages, and the study with them
  try tests/adapters/run
  try examples/outside/run --to "$TARGET_DIR/outside/RESULTS.md"
}

damage() { # more than 15,000 damaged stores, every user in them compared with the truth
  FABLE_DAMAGE=full cargo test --profile dist -p fable-std --test it damage:: -- --nocapture
}

faults() { # a hundred kills, stops of the database and cut connections; 200 kills of the store
  try env FABLE_FAULTS=100 cargo test "${HOST[@]}" -p fable-std --test it faults:: -- --nocapture
  try env FABLE_KILLS=200 FABLE_LINES=100000 cargo test "${HOST[@]}" -p fable-std --test it -- --nocapture crash:: lines::
}

power() { # more than 100,000 power cuts of a device's flash
  FABLE_LONG=1 tested "${HOST[@]}" -p fable-embedded --test it
}

load() { # rounds a second over a pipe, over HTTP and in a fleet; the proxy's delay; the demo's own work; files of a store stop growing
  local load=$TARGET_DIR/dist/load folder seconds
  cargo build --quiet --locked --profile dist --package fable-std --package fable-serve-tests || return
  folder=$(mktemp -d)
  seconds=$(cd "$folder" && TIMEFORMAT=%U && { time "$TARGET_DIR/dist/fable" demo --plain --fast >/dev/null; } 2>&1)
  rm -rf "$folder"
  echo "the demo: $seconds s of a processor, at most 5"
  try awk "BEGIN { exit !($seconds <= 5) }"
  try tests/serve/run
  try "$load" http --least 10000
  try "$load" fleet --least 4000 --part 0.15
  try "$load" many
  try tests/proxy/run --dist --full latency
  try "$load" soak --minutes "${FABLE_SOAK_MINUTES:-5}"
}
