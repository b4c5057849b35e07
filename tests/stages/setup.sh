# What the stages need from Debian and from rustup, and how cargo is called for a device. Sourced by tests/run.
# shellcheck shell=bash

TARGETS=(thumbv6m-none-eabi thumbv7em-none-eabihf riscv32imac-unknown-none-elf riscv32imafc-unknown-none-elf wasm32-unknown-unknown)
# Where rustup cannot fetch a target, its standard library is built from Debian's sources.
DEBIAN_TOOLCHAIN=(rustc-web cargo-web rust-web-src)

as_root() { # PACKAGE...; installs with apt, or prints the command
  if [ "$(id -u)" -ne 0 ]; then
    printf 'Please run as root, then start again:\n  apt-get update && apt-get install -y --no-install-recommends %s\n' "$*" >&2
    return 1
  fi
  echo "installing with apt: $*"
  ( # both lanes install
    flock 9
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
  ) 9>>"${TMPDIR:-/tmp}/fable-apt.lock"
}

packages_of() { # COMMAND=PACKAGE...; the packages of commands that are missing
  local pair
  for pair in "$@"; do command -v "${pair%%=*}" >/dev/null || echo "${pair#*=}"; done
}

needs() { # COMMAND=PACKAGE...; installs what is missing for a stage of tier 2
  local packages
  mapfile -t packages < <(packages_of "$@")
  [ ${#packages[@]} -eq 0 ] || as_root "${packages[@]}"
}

have_targets() { # the active toolchain has the standard library of every target
  local libraries target
  [ -z "${FABLE_BUILD_STD:-}" ] || return 1
  libraries=$(rustc --print sysroot)/lib/rustlib
  for target in "${TARGETS[@]}"; do [ -d "$libraries/$target/lib" ] || return 1; done
}

# Tier 1's packages. Stages of tier 2 install more, each for itself.
setup() {
  local packages
  mapfile -t packages < <(packages_of cc=gcc cc=libc6-dev openssl=openssl node=nodejs npm=npm qemu-system-arm=qemu-system-arm \
    qemu-system-riscv32=qemu-system-misc)
  ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || packages+=(postgresql)
  python3 -c 'import ensurepip' 2>/dev/null || packages+=(python3 python3-venv)
  if ! have_targets; then
    echo "adding rustup targets: ${TARGETS[*]}"
    command -v rustup >/dev/null && timeout 300 rustup target add "${TARGETS[@]}"
  fi
  if ! have_targets; then
    echo "rustup has no targets here: the standard library will be built with Debian's ${DEBIAN_TOOLCHAIN[0]}"
    dpkg -s "${DEBIAN_TOOLCHAIN[@]}" >/dev/null 2>&1 || packages+=("${DEBIAN_TOOLCHAIN[@]}")
  fi
  [ ${#packages[@]} -eq 0 ] || as_root "${packages[@]}" || return
  if ! cargo fmt --version >/dev/null 2>&1 || ! cargo clippy --version >/dev/null 2>&1; then
    rustup component add rustfmt clippy || return
  fi
  echo "$(rustc --version), $(qemu-system-arm --version | head -n 1), node $(node --version)"
}

# Runs cargo for a device target: rustup's own standard library, or one built from Debian's sources.
device_cargo() {
  if have_targets; then
    cargo "$@"
  else
    local lld
    lld=$(echo "$(rustc --print sysroot)"/lib/rustlib/*/bin/rust-lld)
    RUSTC_BOOTSTRAP=1 RUSTC=/usr/bin/rustc CARGO_UNSTABLE_BUILD_STD=core,alloc CARGO_TARGET_DIR="$TARGET_DIR/build-std" \
      CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER="$lld" /usr/bin/cargo "$@"
  fi
}

# Runs a script that builds for devices; FABLE_BUILD_STD tells it which toolchain to take.
device() { # SCRIPT ARGUMENT...
  if have_targets; then "$@"; else FABLE_BUILD_STD=1 "$@"; fi
}

# Sizes and instructions belong to rustup's compiler.
rustup_only() { # SCRIPT ARGUMENT...
  if have_targets; then "$@"; else skip "the numbers belong to rustup's compiler, which has no targets here"; fi
}
