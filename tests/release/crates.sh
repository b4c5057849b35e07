# The crates; sourced by run.
# shellcheck shell=bash disable=SC2154

published() { # every member that is not marked `publish = false`
    cargo metadata --quiet --locked --no-deps --format-version 1 | python3 -c '
import json, sys
print("\n".join(package["name"] for package in json.load(sys.stdin)["packages"] if package["publish"] is None))'
}

make_crates() { # FOLDER
    local names name made
    made=$(built)/release-package
    mapfile -t names < <(published)
    ((${#names[@]})) || fail 'no crate is for others' || return
    [[ -z $(git status --porcelain) ]] || echo '     there are changes that are not committed: they are in the crates, too'
    cargo package --quiet --locked --allow-dirty --no-verify --target-dir "$made" "${names[@]/#/--package=}" || return
    for name in "${names[@]}"; do
        cp "$made/package/$name-$version.crate" "$1/" || return
        linked "$name-$version.crate" "$1/$name-$version.THIRD-PARTY.txt" --names --library none "$name@$host" || return
        plain "$name-$version.THIRD-PARTY.txt"
    done
}

# In an empty folder, with the archives in place of crates.io's: what they depend on elsewhere has the versions of their lock files.
check_crates() { # FOLDER
    local place archive name short folder=$1 said target
    target=$(built)/release-check
    place=$(empty crates) && cd "$place" || return
    mkdir .cargo programs
    echo '[patch.crates-io]' >.cargo/config.toml
    for archive in "$folder"/*.crate; do
        tar -xzf "$archive" || return
        name=$(basename "${archive%-"$version".crate}")
        [[ -s $name-$version/LICENSE-MIT && -s $name-$version/LICENSE-APACHE && -s $name-$version/README.md ]] || fail "$name: a licence or the page is missing" || return
        echo "$name = { path = \"$place/$name-$version\" }" >>.cargo/config.toml
    done
    python3 - "$version" "$here/programs" <<'PYTHON' || return
"""A package with a program for each crate, and the lock file of fable-std's archive, with our own crates as they are here."""
import pathlib, re, sys
version, programs = sys.argv[1], pathlib.Path(sys.argv[2])
lock = pathlib.Path(f"fable-std-{version}/Cargo.lock").read_text()
lock = re.sub(r'(name = "fable-[a-z]+"\nversion = ".*"\n)source = .*\nchecksum = .*\n', r"\1", lock)
pathlib.Path(f"fable-std-{version}/Cargo.lock").write_text(lock)
features = {"embedded": ', features = ["mock"]'}
beside = {"embedded": "", "simulate": ', features = ["alloc"]', "text": "", "std": ""}  # whose programs name fable-core, too
members = sorted(path.stem for path in programs.glob("*.rs"))
archives = sorted(path.name.removesuffix(f"-{version}").removeprefix("fable-") for path in pathlib.Path(".").glob(f"fable-*-{version}"))
assert members == archives, f"programs for {members}, archives of {archives}"
for name in members:
    folder = pathlib.Path("programs", name, "src")
    folder.mkdir(parents=True)
    (folder / "main.rs").write_bytes((programs / f"{name}.rs").read_bytes())
    core = f'fable-core = {{ version = "={version}"{beside[name]} }}\n' if name in beside else ""
    (folder.parent / "Cargo.toml").write_text(f'[package]\nname = "use-{name}"\nedition = "2024"\n[dependencies]\nfable-{name} = {{ version = "={version}"{features.get(name, "")} }}\n{core}')
pathlib.Path("programs/Cargo.toml").write_text('[workspace]\nresolver = "3"\nmembers = ["*"]\nexclude = ["target"]\n')
pathlib.Path("programs/Cargo.lock").write_text(lock)
PYTHON
    for short in "$here"/programs/*.rs; do
        name=$(basename "$short" .rs)
        said=$(cd programs && cargo run --quiet --release --target-dir "$target" --package "use-$name") || fail "fable-$name from its archive" || return
        ok "fable-$name: $said"
    done
    cargo install --quiet --locked --path "fable-std-$version" --root "$place/installed" --target-dir "$target" --no-track || fail 'cargo install' || return
    said=$(installed/bin/fable --version) && [[ $said == "fable $version" ]] || fail "fable --version says '$said'" || return
    said=$(installed/bin/fable demo --plain --fast) || fail 'fable demo' || return
    [[ $(wc -l <<<"$said") -gt 20 ]] || fail "the demo says little: $said" || return
    ok "fable, installed from the archive: $(installed/bin/fable --version), and the demo runs"
    cp installed/bin/fable "$notes/fable"
}
