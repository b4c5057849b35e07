//! The memory map, and the runtime's linker script.

#[path = "../memory.rs"]
mod memory;

fn main() {
    memory::memory(0x0802_0000); // the driver counts from the first sector of 128 KiB
    println!("cargo::rustc-link-arg-bins=--nmagic");
    println!("cargo::rustc-link-arg-bins=-Tlink.x");
}
