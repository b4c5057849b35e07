//! Gives each board's binary the runtime's `link.x`, the board's `memory.x` and, with a log, defmt's `defmt.x`.

fn main() {
    let boards = concat!(env!("CARGO_MANIFEST_DIR"), "/../boards");
    for board in ["microbit", "netduino", "mps2", "hifive1", "virt"] {
        println!("cargo::rustc-link-arg-bin={board}=-L{boards}/{board}");
        println!("cargo::rerun-if-changed={boards}/{board}");
    }
    println!("cargo::rustc-link-arg-bins=-Tlink.x");
    if std::env::var_os("CARGO_FEATURE_LOG").is_some() {
        println!("cargo::rustc-link-arg-bins=-Tdefmt.x");
    }
}
