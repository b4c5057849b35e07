//! `layers [DIRECTORY]` tells the cycles among the modules of a crate, of `fable-core/src` unless told otherwise.

use fable_layers::read_tree;
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let root = std::env::args_os().nth(1).map_or_else(|| "fable-core/src".into(), PathBuf::from);
    match read_tree(&root) {
        Ok(graph) if graph.knots().is_empty() => {
            println!("{}: {} modules, no cycle", root.display(), graph.modules.len());
            ExitCode::SUCCESS
        }
        Ok(graph) => {
            println!("{}", graph.describe_cycles());
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("layers: {error}");
            ExitCode::from(2)
        }
    }
}
