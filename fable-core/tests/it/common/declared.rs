//! The public types that a crate declares, from its source.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The types of a folder that no `has::<...>` of a list names. A comment can name a type of a private module.
pub fn unlisted(folder: &Path, list: &str) -> Vec<String> {
    let listed: BTreeSet<&str> =
        list.lines().filter(|line| line.contains("has::<")).flat_map(words).collect();
    let types = public_types(folder);
    assert!(!types.is_empty(), "{} declares nothing", folder.display());
    types.into_iter().filter(|name| !listed.contains(name.as_str())).collect()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric())
}

fn public_types(folder: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            names.extend(public_types(&path));
            continue;
        }
        for line in fs::read_to_string(path).unwrap().lines().map(str::trim_start) {
            let declared = line.strip_prefix("pub struct ").or_else(|| line.strip_prefix("pub enum "));
            names.extend(declared.and_then(|rest| words(rest).next()).map(str::to_owned));
        }
    }
    names
}
