//! The inputs to start from: the files of `tests/fuzz/corpus`, and pieces of golden files and pages.

use std::fs;
use std::path::{Path, PathBuf};

/// An input with a name of its own among those of its target.
pub struct Seed {
    /// The name of a file.
    pub name: String,
    /// The input.
    pub bytes: Vec<u8>,
}

impl Seed {
    fn new(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { name: name.into(), bytes: bytes.into() }
    }
}

/// The folder of committed inputs, with a folder for each target.
#[must_use]
pub fn corpus() -> PathBuf {
    top().join("tests/fuzz/corpus")
}

/// All inputs of a target, in the same order every time.
///
/// # Panics
///
/// When a file is missing.
#[must_use]
pub fn seeds(target: &str) -> Vec<Seed> {
    let mut seeds = derived(target);
    seeds.extend(files(&corpus().join(target)));
    seeds
}

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").canonicalize().expect("the repository")
}

/// The files of a folder by name; a folder that is missing has none.
fn files(folder: &Path) -> Vec<Seed> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths.iter().map(|path| at(path)).collect()
}

fn at(path: &Path) -> Seed {
    let name = path.file_name().expect("a name").to_string_lossy();
    Seed::new(name, fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

/// A file of this repository.
fn file(path: &str) -> Seed {
    at(&top().join(path))
}

fn text(path: &str) -> String {
    String::from_utf8(file(path).bytes).expect("UTF-8")
}

/// The lines after each line `begin` and before the next line `end`, without their margin.
fn block(text: &str, begin: &str, end: &str, margin: &str) -> String {
    let (mut inside, mut found) = (false, String::new());
    for line in text.lines() {
        if inside && line == end {
            inside = false;
        } else if inside {
            found.extend([line.strip_prefix(margin).unwrap_or(""), "\n"]);
        } else {
            inside = line == begin;
        }
    }
    assert!(!found.is_empty(), "no block {begin}");
    found
}

/// Inputs that are in the repository already.
fn derived(target: &str) -> Vec<Seed> {
    match target {
        "catalog" => vec![Seed::new("lamp", block(&text("fable-std/README.md"), "```toml", "```", ""))],
        "event" => vec![file("tests/golden/records/agent.events")],
        "exported" => users(),
        "log" => {
            let test = text("fable-std/tests/it/evaluate_log.rs");
            let line = test
                .lines()
                .find_map(|line| line.strip_prefix("const LINE: &str = r#\"")?.strip_suffix("\"#;"));
            vec![Seed::new("tau2", format!("{}\n", line.expect("a line of a log")))]
        }
        "metrics" => {
            let gateway = file("examples/gateway/metrics.toml");
            let number = Seed::new("number", [&gateway.bytes[..], b"\x004.5"].concat());
            let page = text("fable-std/src/rewards/mod.rs");
            vec![
                Seed::new("example", block(&page, "//! let text = r#\"", "//! \"#;", "//! ")),
                gateway,
                number,
            ]
        }
        "prior" => vec![file("tests/golden/records/tau2_f32.snapshot")],
        "rows" => users().iter().map(row).chain(users()).collect(),
        "settings" => {
            let example = block(&text("fable-std/src/settings.rs"), "//! ```toml", "//! ```", "//! ");
            vec![Seed::new("example", example), file("fable-std/tests/catalogs/lamp.toml")]
        }
        "snapshot" => {
            let golden = file("tests/golden/records/tau2_f32.snapshot");
            vec![Seed::new(golden.name, [b"\x40", &golden.bytes[..]].concat())]
        }
        "text" => ["feedback", "onboarding"].into_iter().flat_map(sentences).collect(),
        _ => vec![],
    }
}

/// Exported users.
fn users() -> Vec<Seed> {
    ["ana", "ben"].iter().map(|name| file(&format!("fable-std/tests/golden/{name}.user"))).collect()
}

/// The row of an exported user, whose name has three bytes or more: header, incarnation, name.
fn row(user: &Seed) -> Seed {
    let bytes = &user.bytes;
    let end = 11 + usize::from(u16::from_le_bytes([bytes[9], bytes[10]]));
    Seed::new(format!("row-{}", user.name), [&bytes[end..end + 32], &bytes[5..9], &bytes[11..end]].concat())
}

/// The sentences that the rules were tuned with: the third column of a table.
fn sentences(table: &str) -> Vec<Seed> {
    let rows = text(&format!("fable-std/text/tests/sentences/tuned/{table}.tsv"));
    let sentence = |row: &str| row.splitn(3, '\t').last().map(|sentence| format!("{sentence}\n"));
    rows.lines()
        .filter_map(sentence)
        .enumerate()
        .map(|(at, line)| Seed::new(format!("{table}{at}"), line))
        .collect()
}
