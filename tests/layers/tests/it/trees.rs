//! The modules of Fable's crates use each other in one direction. `cargo run -p fable-layers -- DIRECTORY` tells the same of
//! any crate; FABLE_LAYERS_ROOT=DIRECTORY lets the test of the layers look at another copy of `fable-core/src`.

use fable_layers::{Graph, read_tree};
use std::path::PathBuf;

/// Trees that still have cycles. Whoever has untangled one takes it off this list; until then it must have one.
const UNTANGLED_LATER: &[&str] = &[];

const TREES: &[&str] = &[
    "fable-core/src",
    "fable-embedded/src",
    "fable-embedded/wire/src",
    "fable-std/src",
    "fable-std/python/src",
];

/// The layers of fable-core, the lowest first. A module uses its own layer and those below.
const LAYERS: &[(&str, &[&str])] = &[
    ("numbers", &["numbers"]),
    ("catalog", &["catalog"]),
    ("posterior", &["posterior"]),
    ("policy", &["policy"]),
    ("user", &["analysis", "user"]),
    ("record", &["record"]),
    ("public", &["explain", "host", "journal", "migrate", "preference", "settings"]),
    ("format", &["format"]),
];

fn tree(name: &str) -> Graph {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    read_tree(&root.canonicalize().unwrap()).unwrap()
}

#[test]
fn no_tree_has_cycles_but_those_that_are_untangled_later() {
    for name in TREES {
        let graph = tree(name);
        assert!(graph.modules.len() > 3 && !graph.edges.is_empty(), "{name} was not read");
        let cyclic = !graph.knots().is_empty();
        if UNTANGLED_LATER.contains(name) {
            assert!(cyclic, "{name} has no cycles any more: take it off UNTANGLED_LATER");
        } else {
            assert!(!cyclic, "{name}:\n{}", graph.describe_cycles());
        }
    }
    assert!(UNTANGLED_LATER.iter().all(|name| TREES.contains(name)));
}

#[test]
fn nothing_in_the_core_points_up_the_layers() {
    let asked = std::env::var("FABLE_LAYERS_ROOT").ok();
    let faults = tree(asked.as_deref().unwrap_or("fable-core/src")).against(LAYERS);
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}
