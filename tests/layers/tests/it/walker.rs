//! The walker itself, on small trees made for it.

use fable_layers::{Graph, read_tree};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Writes a tree of files, given as names and contents, into a directory of this test.
fn write(test: &str, files: &[(&str, &str)]) -> PathBuf {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("layers").join(test);
    let _ = std::fs::remove_dir_all(&root); // of an earlier run
    for (name, content) in files {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    root
}

fn read(test: &str, files: &[(&str, &str)]) -> Graph {
    read_tree(&write(test, files)).unwrap()
}

/// Edges as `a>b`.
fn edges(graph: &Graph) -> Vec<String> {
    graph.edges.keys().map(|(from, to)| format!("{from}>{to}")).collect()
}

#[test]
fn a_cycle_is_found_and_every_place_of_it_told() {
    let root = write(
        "cycle",
        &[
            ("lib.rs", "mod a;\nmod b;\nmod c;\nmod d;\n"),
            ("a.rs", "use crate::b::X;\n"),
            ("b/mod.rs", "mod inner;\n"),
            ("b/inner.rs", "\n\nfn f() -> crate::c::Y { super::super::c::y() }\n"),
            ("c.rs", "use super::a;\n"),
            ("d.rs", "use crate::a;\n"),
        ],
    );
    let graph = read_tree(&root).unwrap();
    assert_eq!(edges(&graph), ["a>b", "b>c", "c>a", "d>a"]);
    assert_eq!(graph.knots(), [["a", "b", "c"].map(str::to_owned).into()]);
    assert_eq!(graph.cycles(), [["a", "b", "c", "a"]]);
    let place = |file: &str| root.join(file).display().to_string();
    let expected = format!(
        "a knot of 3: a, b, c\ncycle: a -> b -> c -> a\n  a -> b\n    {}:1 crate::b::X\n  b -> c\n    {inner}:3 crate::c::Y\n    \
         {inner}:3 super::super::c::y\n  c -> a\n    {}:1 super::a",
        place("a.rs"),
        place("c.rs"),
        inner = place("b/inner.rs"),
    );
    assert_eq!(graph.describe_cycles(), expected);

    // The command says the same.
    let command = |root: &Path| Command::new(env!("CARGO_BIN_EXE_fable-layers")).arg(root).output().unwrap();
    let told = command(&root);
    assert_eq!((told.status.code(), String::from_utf8(told.stdout).unwrap()), (Some(1), expected + "\n"));
    assert_eq!(command(&root.join("b")).status.code(), Some(0));
    assert_eq!(command(&root.join("nowhere")).status.code(), Some(2));
}

#[test]
fn two_knots_are_two() {
    let files = [
        ("lib.rs", ""),
        ("a.rs", "use crate::b;"),
        ("b.rs", "use crate::a;"),
        ("c.rs", "use crate::{a, d};"),
        ("d.rs", "use crate::c;"),
    ];
    let graph = read("two", &files);
    assert_eq!(graph.knots(), [["a", "b"].map(str::to_owned).into(), ["c", "d"].map(str::to_owned).into()]);
    assert_eq!(graph.cycles(), [["a", "b", "a"], ["c", "d", "c"]]);
}

#[test]
fn a_tree_without_cycles_is_free() {
    let files = [
        ("lib.rs", "pub mod a;\nmod b;\nmod c;\n"),
        ("a.rs", "use crate::b;\nuse crate::c;\nuse self::own::Z;\nmod own { use super::super::c; }"),
        ("b.rs", "use crate::c::{self, Y};\nuse crate::b::X;"),
        ("c.rs", "use core::fmt;\nuse std::a::b;\nuse ::a::X;\nuse other::a;"),
    ];
    let graph = read("free", &files);
    assert_eq!(edges(&graph), ["a>b", "a>c", "b>c"]);
    assert!(graph.knots().is_empty() && graph.cycles().is_empty() && graph.describe_cycles().is_empty());
}

#[test]
fn every_form_of_use_is_read() {
    let forms = [
        ("use crate::{b, c::{self, X}, d::e::*};", "a>b a>c a>d"),
        ("pub(crate) use crate::{b::{x, y}, c::z as w};", "a>b a>c"),
        ("pub(in crate::b) use crate::c::z;", "a>c"),
        ("use {crate::b, crate::{c, d}};", "a>b a>c a>d"),
        ("use crate::{\n  b::x, // c\n  /* d */\n};", "a>b"),
        ("pub use super::b as c;", "a>b"),
        ("fn f() { let x = crate::b::C; g::<crate::c::D>(); }", "a>b a>c"),
        ("fn f() { use crate::b; x.crate_like::<u8>() }", "a>b"),
        ("macro_rules! m { () => { $crate::b::x!() } }", "a>b"),
        ("pub(crate) fn f() {} pub(super) struct S;", ""),
        ("impl<'a> crate::b::T for S<'a> { const C: char = '\"'; }\nuse crate::c;", "a>b a>c"),
        (
            "const S: &str = \"use crate::b;\"; const R: &str = r#\"\" crate::c::x \"#; const B: u8 = b'\\''; use crate::d;",
            "a>d",
        ),
        ("fn f() -> impl Sized + use<'_> { crate::b::x() }", "a>b"),
    ];
    for (index, (source, expected)) in forms.iter().enumerate() {
        let files =
            [("lib.rs", ""), ("a.rs", *source), ("b.rs", ""), ("c.rs", ""), ("d/mod.rs", ""), ("d/e.rs", "")];
        assert_eq!(edges(&read(&format!("form{index}"), &files)).join(" "), *expected, "{source}");
    }
}

#[test]
fn tests_and_comments_do_not_count() {
    let silent = [
        "//! use crate::b;\n/// crate::b::X\n// crate::b::X\n/* crate::b::X /* crate::b::X */ crate::b::X */",
        "#[cfg(test)]\nmod tests {\n    use crate::b;\n    fn f() { { crate::b::x() } }\n}",
        "#[cfg(test)]\nuse crate::b::{self, X};",
        "#[cfg(all(test, feature = \"x\"))]\n#[allow(unused)]\nfn f() -> [u8; 2] { crate::b::x() }",
        "#![cfg(test)]\nuse crate::b;",
        "#[doc = \"crate::b::X\"]\nfn f() {}",
    ];
    for (index, source) in silent.iter().enumerate() {
        let files = [("lib.rs", ""), ("a.rs", *source), ("b.rs", "")];
        assert!(edges(&read(&format!("silent{index}"), &files)).is_empty(), "{source}");
    }
    let files = [
        ("lib.rs", ""),
        ("a.rs", "#[cfg(test)]\nuse crate::c;\nuse crate::b;\n#[cfg(not(test))]\nuse crate::d;"),
    ];
    let more = [("b.rs", ""), ("c.rs", ""), ("d.rs", "")];
    assert_eq!(edges(&read("after", &[&files[..], &more].concat())), ["a>b", "a>d"]);
}

/// The root stands above all: what it re-exports is not use, but whoever uses the re-export uses the module.
#[test]
fn reexports_of_the_root_lead_to_their_module() {
    let files = [
        ("lib.rs", "mod a;\nmod b;\npub use a::X;\npub use b::{Y, inner::Z as W};\npub trait Own {}"),
        ("a.rs", "use crate::{Own, W};"),
        ("b/mod.rs", "use crate::Own;\nuse super::Nothing;"),
    ];
    assert_eq!(edges(&read("root", &files)), ["a>b"]);
    let files =
        [("lib.rs", "pub use crate::b::Y;"), ("a.rs", "fn f(y: crate::Y) {}"), ("b.rs", "use crate::a;")];
    assert_eq!(read("root_cycle", &files).cycles(), [["a", "b", "a"]]);
}

#[test]
fn layers_tell_what_points_up_and_what_stands_nowhere() {
    let files = [
        ("lib.rs", ""),
        ("a.rs", "use crate::c;\nuse crate::b;"),
        ("b.rs", "use crate::a;"),
        ("c.rs", "use crate::a;"),
        ("d.rs", ""),
    ];
    let graph = read("layers", &files);
    let place = write("layers", &files).join("a.rs").display().to_string();
    assert_eq!(
        graph.against(&[("low", &["a", "b"]), ("high", &["c", "e"])]),
        [
            "d stands in no layer".to_owned(),
            "e stands in a layer, but there is no such module".to_owned(),
            format!("a (low) points up to c (high)\n  {place}:1 crate::c"),
        ]
    );
    assert_eq!(graph.against(&[("all", &["a", "b", "c", "d"]), ("again", &["d"])]), ["d stands in 2 layers"]);
    assert!(graph.against(&[("all", &["a", "b", "c", "d"])]).is_empty());
}
