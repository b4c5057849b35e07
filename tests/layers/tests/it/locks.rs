//! The lock files of the repository: results are equal bit for bit only with equal versions of the crates that compute them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The crates whose code computes numbers.
const NUMERIC: [&str; 4] = ["libm", "nalgebra", "rand_xoshiro", "wide"];

/// The workspaces beside the one at the top of the repository. All of them give bits that are compared with those of the top.
const WORKSPACES: [&str; 8] = [
    "examples/firmware",
    "examples/parts/esp32c3",
    "examples/parts/nrf52840",
    "examples/parts/rp2040",
    "examples/parts/starter",
    "examples/parts/stm32f4",
    "examples/studies",
    "tests/fuzz",
];

type Version = Vec<u64>;

/// The versions of a crate in the text of a lock file.
fn versions(lock: &str, name: &str) -> BTreeSet<Version> {
    let head = format!("\nname = \"{name}\"\nversion = \"");
    let packages = lock.split("[[package]]").filter_map(|package| package.strip_prefix(&head));
    packages
        .map(|rest| {
            rest.split(['"', '+']).next().unwrap().split('.').map(|part| part.parse().unwrap()).collect()
        })
        .collect()
}

/// The differences of a lock file from the top's. The top may have older versions in addition, which tests alone use.
fn differences(top: &str, other: &str) -> Vec<String> {
    let mut found = Vec::new();
    for name in NUMERIC {
        let (expected, actual) = (versions(top, name), versions(other, name));
        if actual.is_empty() || !actual.is_subset(&expected) || actual.last() != expected.last() {
            found.push(format!("{name}: {actual:?}, at the top {expected:?}"));
        }
    }
    found
}

#[test]
fn every_lock_file_has_the_numeric_crates_of_the_top() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |folder: &str| {
        fs::read_to_string(root.join(folder).join("Cargo.lock"))
            .unwrap_or_else(|error| panic!("{folder}: {error}"))
    };
    let top = read("");
    for folder in WORKSPACES {
        let found = differences(&top, &read(folder));
        assert!(found.is_empty(), "{folder}/Cargo.lock:\n{}", found.join("\n"));
    }
}

#[test]
fn a_different_version_is_found() {
    let package = |name: &str, version: &str| {
        format!("[[package]]\nname = \"{name}\"\nversion = \"{version}\"\nsource = \"x\"\n\n")
    };
    let lock = |libm: &str, xoshiro: &[&str]| {
        let mut text = package("libm", libm) + &package("nalgebra", "0.35.0") + &package("wide", "1.7.1");
        text.extend(xoshiro.iter().map(|version| package("rand_xoshiro", version)));
        text
    };
    let top = lock("0.2.16", &["0.6.0", "0.8.1"]);
    assert!(differences(&top, &top).is_empty());
    assert!(differences(&top, &lock("0.2.16", &["0.8.1"])).is_empty());
    assert_eq!(differences(&top, &lock("0.2.9", &["0.8.1"])), ["libm: {[0, 2, 9]}, at the top {[0, 2, 16]}"]);
    for xoshiro in [&["0.6.0"][..], &["0.8.2"], &["0.7.0", "0.8.1"], &[]] {
        assert_eq!(differences(&top, &lock("0.2.16", xoshiro)).len(), 1, "{xoshiro:?}");
    }
}
