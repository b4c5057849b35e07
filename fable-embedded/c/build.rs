//! Includes the catalog that is compiled into the library: FABLE_CATALOG is a file from `fable catalog rust`.

use std::path::PathBuf;
use std::{env, fs};

fn main() {
    println!("cargo:rerun-if-env-changed=FABLE_CATALOG");
    println!("cargo:rustc-check-cfg=cfg(builtin)");
    let Some(file) = env::var_os("FABLE_CATALOG").filter(|file| !file.is_empty()) else { return };
    let file =
        fs::canonicalize(&file).unwrap_or_else(|error| panic!("FABLE_CATALOG={}: {error}", file.display()));
    println!("cargo:rerun-if-changed={}", file.display());
    println!("cargo:rustc-cfg=builtin");
    let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let fingerprint = fingerprint(&text).unwrap_or_else(|| {
        panic!("{} has no fingerprints: it is not from `fable catalog rust`", file.display())
    });
    let path = file.to_str().unwrap_or_else(|| panic!("{} is not UTF-8", file.display()));
    // A symbol's name cannot be computed, so it is part of the source. The source asserts the fingerprint.
    let source = format!(
        "#[allow(dead_code)]\npub(crate) mod catalog {{ include!({path:?}); }}\n\
         /// The catalog that was compiled into the library.\n\
         #[unsafe(export_name = \"fable_catalog_{fingerprint:016x}\")]\n\
         pub static BUILTIN: crate::policy::Handle = crate::policy::Handle::fixed(catalog::POLICY.get());\n\
         #[allow(clippy::unreadable_literal)]\n\
         const _: () = assert!(\n    catalog::POLICY.get().fingerprint() == {fingerprint:#x},\n    \
         \"another fingerprint than the file says\"\n);\n"
    );
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("builtin.rs");
    fs::write(&out, source).unwrap_or_else(|error| panic!("{}: {error}", out.display()));
}

/// The second number of `fingerprints = (0x..., 0x...)`.
fn fingerprint(text: &str) -> Option<u64> {
    let (_, rest) = text.split_once("fingerprints = (0x")?;
    let (_, rest) = rest.split_once(", 0x")?;
    let (digits, _) = rest.split_once(')')?;
    u64::from_str_radix(&digits.replace('_', ""), 16).ok()
}
