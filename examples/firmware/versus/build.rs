//! Gives the binary the runtime's `link.x` and the board's `memory.x`.

fn main() {
    let boards = concat!(env!("CARGO_MANIFEST_DIR"), "/../boards");
    println!("cargo::rustc-link-arg-bin=mps2=-L{boards}/mps2");
    println!("cargo::rerun-if-changed={boards}/mps2");
    println!("cargo::rustc-link-arg-bins=-Tlink.x");
}
