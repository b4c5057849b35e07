//! The memory map, and the runtime's linker script.

#[path = "../memory.rs"]
mod memory;

fn main() {
    memory::memory(0x0000_0000);
    println!("cargo::rustc-link-arg-bins=--nmagic");
    println!("cargo::rustc-link-arg-bins=-Tlink.x");
}
