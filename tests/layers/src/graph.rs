//! Which module uses which, where, and what is wrong with it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::path::PathBuf;

/// Where something is used.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Site {
    /// The file, with the root that was walked.
    pub file: PathBuf,
    /// From 1.
    pub line: usize,
    /// What is written there.
    pub path: String,
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{} {}", self.file.display(), self.line, self.path)
    }
}

/// The module that uses and the one that is used.
pub type Edge = (String, String);

/// The top-level modules of a crate.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// All of them.
    pub modules: BTreeSet<String>,
    /// What they use of each other, and where.
    pub edges: BTreeMap<Edge, BTreeSet<Site>>,
}

impl Graph {
    /// What a module uses.
    fn used<'a>(&'a self, module: &'a str) -> impl Iterator<Item = &'a str> {
        self.edges.keys().filter(move |(from, _)| from == module).map(|(_, to)| to.as_str())
    }

    /// A shortest way along the edges, at least one of them; the modules on it, both ends included.
    fn way(&self, from: &str, to: &str) -> Option<Vec<String>> {
        let mut ways = VecDeque::from([vec![from.to_owned()]]);
        let mut seen = BTreeSet::new();
        while let Some(way) = ways.pop_front() {
            for next in self.used(way.last()?) {
                let longer: Vec<String> = way.iter().cloned().chain([next.to_owned()]).collect();
                if next == to {
                    return Some(longer);
                }
                if seen.insert(next.to_owned()) {
                    ways.push_back(longer);
                }
            }
        }
        None
    }

    /// The strongly connected components of more than one module: sets in which everyone uses everyone, in the end.
    #[must_use]
    pub fn knots(&self) -> Vec<BTreeSet<String>> {
        let mut knots: Vec<BTreeSet<String>> = Vec::new();
        for module in &self.modules {
            if knots.iter().any(|knot| knot.contains(module)) {
                continue;
            }
            let mutual =
                |other: &&String| self.way(module, other).is_some() && self.way(other, module).is_some();
            let knot: BTreeSet<String> =
                self.modules.iter().filter(mutual).cloned().chain([module.clone()]).collect();
            if knot.len() > 1 {
                knots.push(knot);
            }
        }
        knots
    }

    /// For every edge of a knot a shortest cycle through it, each cycle once: its modules, the first one again at the end.
    #[must_use]
    pub fn cycles(&self) -> Vec<Vec<String>> {
        let mut cycles = BTreeSet::new();
        for (from, to) in self.edges.keys() {
            let Some(mut cycle) = self.way(to, from) else { continue };
            cycle.pop(); // begins with `to`, ends before `from`
            cycle.push(from.clone());
            let first = (0..cycle.len()).min_by_key(|index| &cycle[*index]).unwrap_or(0);
            cycle.rotate_left(first);
            cycle.push(cycle[0].clone());
            cycles.insert(cycle);
        }
        let mut cycles: Vec<_> = cycles.into_iter().collect();
        cycles.sort_by_key(Vec::len);
        cycles
    }

    /// The knots and cycles in words, with every place of the edges in a cycle; empty when there is none.
    #[must_use]
    pub fn describe_cycles(&self) -> String {
        let knots = self.knots();
        let mut text: Vec<String> = knots
            .iter()
            .map(|knot| format!("a knot of {}: {}", knot.len(), Vec::from_iter(knot.clone()).join(", ")))
            .collect();
        for cycle in self.cycles() {
            text.push(format!("cycle: {}", cycle.join(" -> ")));
            for pair in cycle.windows(2) {
                text.push(format!("  {} -> {}", pair[0], pair[1]));
                let sites = self.edges.get(&(pair[0].clone(), pair[1].clone()));
                text.extend(sites.into_iter().flatten().map(|site| format!("    {site}")));
            }
        }
        text.join("\n")
    }

    /// What is wrong with the layers, the lowest first: a module in none of them or in two, a name in the table that is not a
    /// module, and every use that points up. Within a layer modules may use each other.
    #[must_use]
    pub fn against(&self, layers: &[(&str, &[&str])]) -> Vec<String> {
        let heights = |module: &str| -> Vec<usize> {
            (0..layers.len()).filter(|height| layers[*height].1.contains(&module)).collect()
        };
        let mut faults: Vec<String> = Vec::new();
        for module in &self.modules {
            match heights(module).len() {
                0 => faults.push(format!("{module} stands in no layer")),
                1 => {}
                count => faults.push(format!("{module} stands in {count} layers")),
            }
        }
        for name in layers.iter().flat_map(|(_, names)| *names).filter(|name| !self.modules.contains(**name))
        {
            faults.push(format!("{name} stands in a layer, but there is no such module"));
        }
        for ((from, to), sites) in &self.edges {
            let (Some(low), Some(high)) = (heights(from).pop(), heights(to).pop()) else { continue };
            if high > low {
                let places: Vec<String> = sites.iter().map(|site| format!("\n  {site}")).collect();
                faults.push(format!(
                    "{from} ({}) points up to {to} ({}){}",
                    layers[low].0,
                    layers[high].0,
                    places.concat()
                ));
            }
        }
        faults
    }
}
