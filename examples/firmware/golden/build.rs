//! Gives each board's binary the runtime's `link.x` and the board's `memory.x`.

fn main() {
    let boards = concat!(env!("CARGO_MANIFEST_DIR"), "/../boards");
    for board in ["microbit", "netduino", "mps2", "hifive1", "virt"] {
        println!("cargo::rustc-link-arg-bin={board}=-L{boards}/{board}");
    }
    println!("cargo::rustc-link-arg-bins=-Tlink.x");
    println!("cargo::rerun-if-changed={boards}");
}
