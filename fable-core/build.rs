//! Sets at most one condition, by which loops are laid out for a target. The bits of all layouts are equal.
//!
//! - `fable_softfloat`: floating point is software.
//! - `fable_host`: the target has an operating system, and memory for the longer code of wide loops.
//!
//! The name of the target decides. `target_feature` does not: stable Rust hides the feature `f` of RISC-V.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(fable_host, fable_softfloat)");
    let variable = |name| std::env::var(name).unwrap_or_default();
    if let Some(condition) = condition(&variable("TARGET"), &variable("CARGO_CFG_TARGET_OS")) {
        println!("cargo::rustc-cfg={condition}");
    }
}

/// The condition of a target triple and its operating system. It is empty for WebAssembly and for bare metal
/// with a floating-point unit.
#[must_use]
pub fn condition(triple: &str, system: &str) -> Option<&'static str> {
    let bare = system == "none";
    if is_software(triple, bare) {
        Some("fable_softfloat")
    } else if bare || triple.starts_with("wasm") {
        None
    } else {
        Some("fable_host")
    }
}

/// RISC-V names its extensions, ARM its ABI. Other bare-metal triples, custom ones included, count as
/// software floats unless listed. Software layouts take the least memory.
fn is_software(triple: &str, bare: bool) -> bool {
    const HARDWARE: [&str; 5] = ["aarch64", "loongarch", "wasm", "xtensa-esp32-", "xtensa-esp32s3-"];
    if let Some(name) = triple.strip_prefix("riscv32").or_else(|| triple.strip_prefix("riscv64")) {
        // Extensions of several letters follow `_`, `x` or `z`. `g` includes `d`, and so do the profiles,
        // which start with `a`.
        let letters = name.split(['-', '_', 'x', 'z']).next().unwrap_or_default();
        return !letters.contains(['d', 'f', 'g']) && !letters.starts_with('a');
    }
    let unlisted = bare && !triple.ends_with("hf") && !HARDWARE.iter().any(|start| triple.starts_with(start));
    triple.ends_with("-eabi") || triple.ends_with("softfloat") || unlisted
}
