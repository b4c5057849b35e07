//! The memory map, and the runtime's linker script.

use std::{env, fs};

fn main() {
    let out = env::var("OUT_DIR").expect("cargo sets it");
    fs::copy("memory.x", format!("{out}/memory.x")).expect("memory.x lies beside build.rs");
    println!("cargo::rerun-if-changed=memory.x");
    println!("cargo::rustc-link-search={out}");
    println!("cargo::rustc-link-arg-bins=-Tlink.x");
}
