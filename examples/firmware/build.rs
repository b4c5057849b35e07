//! Gives every image the runtime's `link.x`, the memory of its board and, with a log, defmt's `defmt.x`.

use std::env;
use std::fs;

fn main() {
    let has = |feature: &str| env::var_os(format!("CARGO_FEATURE_{}", feature.to_uppercase())).is_some();
    let out = env::var("OUT_DIR").expect("cargo sets it");
    let boards = ["microbit", "netduino", "mps2", "hifive1", "virt"].into_iter().filter(|board| has(board));
    for board in boards {
        fs::copy(format!("src/boards/{board}.x"), format!("{out}/memory.x"))
            .expect("a board has its memory.x");
        println!("cargo::rerun-if-changed=src/boards/{board}.x");
    }
    println!("cargo::rustc-link-arg-bins=-L{out}");
    println!("cargo::rustc-link-arg-bins=-Tlink.x");
    if has("log") {
        println!("cargo::rustc-link-arg-bins=-Tdefmt.x");
    }
}
