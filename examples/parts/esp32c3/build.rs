//! The table of partitions is the memory map here: where the store is, and how long an image may be.

#[path = "../memory.rs"]
mod memory;

use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=partitions.csv");
    println!("cargo::rerun-if-changed=../memory.rs");
    let text = fs::read_to_string("partitions.csv").expect("partitions.csv lies beside build.rs");
    let partition = |name: &str| {
        let fields = text.lines().map(|line| line.split(',').map(str::trim).collect::<Vec<_>>());
        let fields = fields.into_iter().find(|fields| fields.first() == Some(&name) && fields.len() == 5);
        let fields = fields.unwrap_or_else(|| panic!("partitions.csv has no {name}"));
        let start = memory::number(fields[3]);
        start..start + memory::number(fields[4])
    };
    let (image, store) = (partition("factory"), partition("fable"));
    assert!(
        image.end <= store.start || store.end <= image.start,
        "partitions.csv: factory and fable overlap"
    );
    memory::program(store);

    // What is loaded to RAM is in the image too; 64 KiB for what pages are filled up with.
    let out = env::var("OUT_DIR").expect("cargo sets it");
    let limit = format!(
        "ASSERT(ADDR(.text) + SIZEOF(.text) - ORIGIN(IROM) + SIZEOF(.trap) + SIZEOF(.rwtext) + SIZEOF(.data) + 64K <= {:#x}, \
         \"the image does not fit its partition\");\n",
        image.end - image.start
    );
    fs::write(format!("{out}/limit.x"), limit).expect("OUT_DIR can be written");
    println!("cargo::rustc-link-search={out}");
    println!("cargo::rustc-link-arg-bins=-Tlinkall.x");
    println!("cargo::rustc-link-arg-bins=-Tlimit.x");
}
