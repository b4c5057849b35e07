//! libFuzzer for the target that is named by `--target=NAME`.
//!
//! `fuzz seeds FOLDER` writes the seeds into a folder for each target, and prints the targets.
#![no_main]

use fable_fuzz_targets::{TARGETS, Target, seeds};
use libfuzzer_sys::fuzz_target;
use std::path::Path;
use std::sync::OnceLock;
use std::{env, fs, process};

static TARGET: OnceLock<Target> = OnceLock::new();

fuzz_target!(init: start(), |data: &[u8]| TARGET.get().unwrap()(data));

fn start() {
    let arguments: Vec<String> = env::args().collect();
    if let [_, verb, folder] = &arguments[..]
        && verb == "seeds"
    {
        write_seeds(Path::new(folder));
        process::exit(0);
    }
    let name = arguments.iter().find_map(|argument| argument.strip_prefix("--target=")).unwrap_or_default();
    let Some((_, target)) = TARGETS.iter().find(|(known, _)| *known == name) else {
        eprintln!("there is no target '{name}'");
        process::exit(2);
    };
    TARGET.set(*target).unwrap();
}

fn write_seeds(folder: &Path) {
    for (target, _) in TARGETS {
        let folder = folder.join(target);
        fs::create_dir_all(&folder).unwrap();
        for seed in seeds(target) {
            fs::write(folder.join(seed.name), seed.bytes).unwrap();
        }
        println!("{target}");
    }
}
