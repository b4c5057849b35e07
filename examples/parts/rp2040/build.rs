//! The memory map, the runtime's linker script, and that of the boot loader's second stage.

#[path = "../memory.rs"]
mod memory;

fn main() {
    memory::memory(0x1000_0000);
    println!("cargo::rustc-link-arg-bins=--nmagic");
    println!("cargo::rustc-link-arg-bins=-Tlink.x");
    println!("cargo::rustc-link-arg-bins=-Tlink-rp.x");
}
