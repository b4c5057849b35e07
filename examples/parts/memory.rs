//! Read by the build scripts beside it: the memory map, which is the linker's as well as the program's.
//!
//! `memory.x` has a region `STORE`. The linker puts nothing there, and `store.rs`, which the program includes, says where it is:
//! `const STORE: Range<u32>`, as offsets from the start of the flash. What overlaps is refused here.

use std::ops::Range;
use std::{env, fs};

/// Hands `memory.x` to the linker and the store's region to the program; `base` is the address of the flash's first byte.
#[allow(dead_code, reason = "one part has a table of partitions")]
pub fn memory(base: u32) {
    println!("cargo::rerun-if-changed=memory.x");
    println!("cargo::rerun-if-changed=../memory.rs");
    let text = fs::read_to_string("memory.x").expect("memory.x lies beside build.rs");
    let (flash, store) = (region(&text, "FLASH"), region(&text, "STORE"));
    assert!(flash.end <= store.start || store.end <= flash.start, "memory.x: FLASH and STORE overlap");
    let out = env::var("OUT_DIR").expect("cargo sets it");
    fs::write(format!("{out}/memory.x"), text).expect("OUT_DIR can be written");
    println!("cargo::rustc-link-search={out}");
    program(store.start - base..store.end - base);
}

/// Tells the program where the store is.
pub fn program(store: Range<u32>) {
    let out = env::var("OUT_DIR").expect("cargo sets it");
    let text = format!(
        "/// The store's region, as offsets in flash.\n#[allow(clippy::unreadable_literal)]\nconst STORE: core::ops::Range<u32> = {:#x}..{:#x};\n",
        store.start, store.end
    );
    fs::write(format!("{out}/store.rs"), text).expect("OUT_DIR can be written");
}

/// `NAME : ORIGIN = 0x1000, LENGTH = 64K`.
fn region(text: &str, name: &str) -> Range<u32> {
    let line = text
        .lines()
        .find(|line| line.split_whitespace().next() == Some(name))
        .unwrap_or_else(|| panic!("memory.x has no {name}"));
    let numbers: Vec<u32> =
        line.split('=').skip(1).map(|rest| number(rest.split(',').next().unwrap_or(rest))).collect();
    let [origin, length] = numbers[..] else { panic!("memory.x: {line}: ORIGIN and LENGTH are wanted") };
    origin..origin + length
}

/// `0x1000`, `4096`, `4K` or `1M`.
pub fn number(text: &str) -> u32 {
    let text = text.trim();
    let (digits, unit) = match text.strip_suffix(['K', 'M']) {
        Some(digits) => (digits, if text.ends_with('K') { 1 << 10 } else { 1 << 20 }),
        None => (text, 1),
    };
    let parsed = digits.strip_prefix("0x").map_or_else(|| digits.parse(), |hex| u32::from_str_radix(hex, 16));
    parsed.unwrap_or_else(|_| panic!("{text} is not a number")) * unit
}
