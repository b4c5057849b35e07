//! From the files of a crate to its graph.

use crate::graph::{Graph, Site};
use crate::tokens::{self, Token};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

type Module = Vec<String>;

/// A path that is written somewhere.
struct Mention {
    module: Module,
    path: Vec<String>,
    /// What a `use` calls it; nothing for a path in the code.
    name: Option<String>,
    site: Site,
}

/// Reads the sources of a crate, the directory that holds `lib.rs` or `main.rs`.
///
/// # Errors
/// A directory without Rust files, or what cannot be read.
pub fn read_tree(root: &Path) -> io::Result<Graph> {
    let mut files = Vec::new();
    list(root, &mut files)?;
    if files.is_empty() {
        return Err(io::Error::new(io::ErrorKind::NotFound, format!("{} has no Rust files", root.display())));
    }
    files.sort();
    let (mut modules, mut mentions) = (BTreeSet::new(), Vec::new());
    for file in &files {
        let module = module_of(file.strip_prefix(root).unwrap_or(file));
        let tokens = tokens::read(&std::fs::read_to_string(file)?);
        Walk { file, tokens: &tokens, modules: &mut modules, mentions: &mut mentions }.block(
            &module,
            0,
            tokens.len(),
        );
        modules.insert(module);
    }
    Ok(graph(&modules, &mentions))
}

fn list(directory: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            list(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

/// `a/mod.rs` and `a.rs` are both `a`, `lib.rs` and `main.rs` the root.
fn module_of(file: &Path) -> Module {
    let mut module: Module =
        file.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
    let depth = module.len();
    if module.last().is_some_and(|last| last == "mod" || (depth == 1 && (last == "lib" || last == "main"))) {
        module.pop();
    }
    module
}

struct Walk<'a> {
    file: &'a Path,
    tokens: &'a [Token],
    modules: &'a mut BTreeSet<Module>,
    mentions: &'a mut Vec<Mention>,
}

impl Walk<'_> {
    fn is(&self, index: usize, text: &str) -> bool {
        self.tokens.get(index).is_some_and(|token| token.is(text))
    }

    fn word(&self, index: usize) -> Option<&str> {
        self.tokens.get(index).filter(|token| token.is_word()).map(|token| token.text.as_str())
    }

    /// After the bracket that closes the one here.
    fn after_group(&self, open: usize) -> usize {
        let mut depth = 0;
        for (index, token) in self.tokens.iter().enumerate().skip(open) {
            match token.text.as_str() {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return index + 1;
            }
        }
        self.tokens.len()
    }

    /// After the item that begins here, attributes included.
    fn after_item(&self, mut index: usize) -> usize {
        let mut import = false;
        while let Some(token) = self.tokens.get(index) {
            match token.text.as_str() {
                ";" => return index + 1,
                "{" if !import => return self.after_group(index),
                "(" | "[" | "{" => index = self.after_group(index),
                word => {
                    import |= word == "use";
                    index += 1;
                }
            }
        }
        index
    }

    /// Whether an attribute, given from its bracket on, is `cfg` of `test`, and not of `not(test)`.
    fn is_for_tests(&self, open: usize) -> bool {
        let inside = open + 1..self.after_group(open);
        self.is(open + 1, "cfg")
            && inside.into_iter().any(|index| self.is(index, "test") && !self.is(index - 2, "not"))
    }

    fn block(&mut self, module: &Module, start: usize, end: usize) {
        let mut index = start;
        while index < end {
            if self.is(index, "#") {
                let inner = usize::from(self.is(index + 1, "!"));
                let open = index + 1 + inner;
                if !self.is(open, "[") {
                    index += 1;
                } else if self.is_for_tests(open) {
                    index = if inner == 1 { end } else { self.after_item(self.after_group(open)) };
                } else {
                    index = self.after_group(open);
                }
            } else if self.is(index, "mod") && self.word(index + 1).is_some() {
                let inline: Module =
                    module.iter().cloned().chain(self.word(index + 1).map(str::to_owned)).collect();
                if self.is(index + 2, "{") {
                    let after = self.after_group(index + 2);
                    self.block(&inline, index + 3, after - 1);
                    self.modules.insert(inline);
                    index = after;
                } else {
                    index += 2;
                }
            } else if self.is(index, "use") && !self.is(index + 1, "<") {
                let after = self.after_item(index);
                self.tree(module, index + 1, &[]);
                index = after;
            } else if self.begins_path(index) {
                let (path, after) = self.path(index);
                self.mention(module, index, path, None);
                index = after;
            } else {
                index += 1;
            }
        }
    }

    /// A path of two words or more, not within a longer one, and not the `in` of a visibility.
    fn begins_path(&self, index: usize) -> bool {
        let before =
            index.checked_sub(1).and_then(|before| self.tokens.get(before)).map_or("", |token| &token.text);
        self.word(index).is_some() && self.is(index + 1, "::") && !matches!(before, "::" | "in" | ".")
    }

    fn path(&self, mut index: usize) -> (Vec<String>, usize) {
        let mut path = Vec::new();
        while let Some(word) = self.word(index) {
            path.push(word.to_owned());
            index += 1;
            if !self.is(index, "::") {
                break;
            }
            index += 1;
        }
        (path, index)
    }

    /// A tree of a `use`, and the index after it.
    fn tree(&mut self, module: &Module, start: usize, prefix: &[String]) -> usize {
        let leading = usize::from(self.is(start, "::")); // of the extern prelude
        let (words, mut index) = self.path(start + leading);
        let path: Vec<String> = prefix.iter().cloned().chain(words).collect();
        if self.is(index, "{") {
            let after = self.after_group(index);
            index += 1;
            while index + 1 < after {
                index = self.tree(module, index, &path);
                index += usize::from(self.is(index, ","));
            }
            return after;
        }
        let mut name = path.iter().rev().find(|word| *word != "self").cloned();
        if self.is(index, "*") {
            (name, index) = (Some("*".into()), index + 1);
        } else if self.is(index, "as") {
            (name, index) = (self.word(index + 1).map(str::to_owned), index + 2);
        }
        if leading == 0 {
            self.mention(module, start, path, name);
        }
        index.max(start + 1)
    }

    fn mention(&mut self, module: &Module, index: usize, path: Vec<String>, name: Option<String>) {
        let line = self.tokens.get(index).map_or(0, |token| token.line);
        let site = Site { file: self.file.to_owned(), line, path: path.join("::") };
        self.mentions.push(Mention { module: module.clone(), path, name, site });
    }
}

/// Where a path leads, from the root; nothing for another crate or a name that is none of a module.
fn resolve(modules: &BTreeSet<Module>, module: &Module, path: &[String]) -> Option<Vec<String>> {
    let (first, mut rest) = path.split_first()?;
    let mut base = match first.as_str() {
        "crate" => Vec::new(),
        "self" => module.clone(),
        "super" => module[..module.len().checked_sub(1)?].to_vec(),
        child => {
            let path: Module = module.iter().cloned().chain([child.to_owned()]).collect();
            return modules.contains(&path).then(|| path.into_iter().chain(rest.iter().cloned()).collect());
        }
    };
    while let [first, further @ ..] = rest {
        match first.as_str() {
            "super" => drop(base.pop()?),
            "self" => {}
            _ => break,
        }
        rest = further;
    }
    Some(base.into_iter().chain(rest.iter().cloned()).collect())
}

fn graph(modules: &BTreeSet<Module>, mentions: &[Mention]) -> Graph {
    let top: BTreeSet<String> = modules.iter().filter_map(|module| module.first().cloned()).collect();
    // What the root calls by another module's name: `pub use a::X` makes `crate::X` a use of `a`.
    let at_root = |mention: &&Mention| mention.module.is_empty();
    let mut exported: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for mention in mentions.iter().filter(at_root) {
        if let (Some(name), Some(path)) = (&mention.name, resolve(modules, &mention.module, &mention.path))
            && path.len() > 1
        {
            exported.entry(name.clone()).or_insert(path);
        }
    }
    let mut graph = Graph { modules: top, ..Graph::default() };
    for mention in mentions {
        let Some(from) = mention.module.first() else { continue };
        let Some(path) = resolve(modules, &mention.module, &mention.path) else { continue };
        let Some(first) = path.first() else { continue };
        let to = if graph.modules.contains(first) {
            first
        } else {
            exported.get(first).map_or(first, |path| &path[0])
        };
        if to != from && graph.modules.contains(to) {
            graph.edges.entry((from.clone(), to.clone())).or_default().insert(mention.site.clone());
        }
    }
    graph
}
