//! The command that runs the studies.

use clap::Parser;
use std::io::{IsTerminal, stderr, stdin};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;
use studies::endpoint::{self, End, cost::Console, options::Options};
use studies::studies::{ALL, Study, find};
use studies::{Setup, StudyError, files};

/// The studies of the paper and checks of its guarantees.
///
/// Each writes a section, its tables as CSV and its plots as SVG into OUT/results. OUT/RESULTS.md has the
/// goals of all sections. Equal seeds give equal numbers on any machine and with any number of threads.
#[derive(Parser)]
#[command(name = "studies", after_help = help())]
struct Arguments {
    /// The names of studies, `all`, `list`, or `assemble` to write RESULTS.md again.
    /// With --endpoint `two-direction`, `rubric` or `tau2`, and all three where none is named.
    #[arg(required_unless_present = "endpoint", value_name = "NAME")]
    names: Vec<String>,
    /// The small versions, in seconds; their numbers are compared with the committed ones and nothing is written.
    #[arg(long, conflicts_with = "endpoint")]
    reduced: bool,
    /// With --reduced: writes the numbers instead of comparing them.
    #[arg(long, requires = "reduced")]
    write: bool,
    /// The folder with the data sets. They are not part of the repository; a study says where to get its own.
    #[arg(long, value_name = "PATH", default_value = Setup::DATA)]
    data: PathBuf,
    /// Where the results go; without it over the committed ones, and with --endpoint into runs/MODEL.
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
    /// How many threads work; changes no number. With --endpoint as many calls are under way at the same time.
    #[arg(long, default_value_t = Setup::all_cores())]
    threads: NonZero<usize>,
    #[command(flatten)]
    against: Options,
}

impl Arguments {
    fn out(&self) -> &Path {
        self.out.as_deref().unwrap_or(Path::new("examples/studies"))
    }

    fn setup(&self) -> Setup {
        Setup { reduced: self.reduced, data: self.data.clone(), threads: self.threads, progress: true }
    }
}

/// The names of the studies and what they are about.
fn list() -> String {
    let line = |study: &Study| format!("  {:<16} {}", study.name, study.about);
    ALL.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn help() -> String {
    format!("Studies:\n{}\n{EXAMPLES}", list())
}

const EXAMPLES: &str = "
Examples; `studies` is, from the top of the repository, `cargo run --release --manifest-path examples/studies/Cargo.toml --`:
  studies two-direction            # one study; look at examples/studies/RESULTS.md
  studies all --out /tmp/studies   # all of them, somewhere else
  studies all --reduced            # the small versions against the committed numbers

Against a real model; what it costs is said before it starts, and --dry-run says only that:
  studies --endpoint http://localhost:11434/v1 --model qwen3 --dry-run
  studies two-direction --endpoint http://localhost:11434/v1 --model qwen3 --thoughts 4000
  studies rubric --endpoint https://api.deepseek.com/v1 --model deepseek-chat --judge deepseek-reasoner \\
      --key-env DEEPSEEK_API_KEY --price-in 0.3 --price-out 1.2 --limit 5 --seeds 1 --threads 8

A study whose data is missing is skipped, but not against a model. Exit codes: 0 done, 1 a study failed or gave other numbers, 2 a
mistake in the command, or nobody said yes to what a run against a model costs.";

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if arguments.against.endpoint.is_some() {
        let terminal = stdin().is_terminal() && stderr().is_terminal();
        let mut console = Console { terminal, input: &mut stdin().lock(), output: &mut stderr() };
        let (against, out) = (&arguments.against, arguments.out.as_deref());
        return match endpoint::run(against, &arguments.setup(), &arguments.names, out, &mut console) {
            End::Done => ExitCode::SUCCESS,
            End::Failed => ExitCode::FAILURE,
            End::NotConfirmed | End::Mistake => ExitCode::from(2),
        };
    }
    let mut chosen: Vec<&Study> = Vec::new();
    for name in &arguments.names {
        match name.as_str() {
            "list" => {
                println!("{}", list());
                return ExitCode::SUCCESS;
            }
            "all" => chosen.extend(ALL),
            "assemble" => {}
            name => {
                let Some(study) = find(name) else {
                    eprintln!("studies: there is no study '{name}'; `studies list` lists them");
                    return ExitCode::from(2);
                };
                chosen.push(study);
            }
        }
    }
    let failed = chosen.into_iter().filter(|study| !run(&arguments, study)).count();
    let assembled = arguments.reduced || tell("RESULTS.md", files::assemble(arguments.out()));
    if failed == 0 && assembled { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs a study; whether all went well.
fn run(arguments: &Arguments, study: &Study) -> bool {
    let (setup, reduced) = (arguments.setup(), arguments.reduced);
    let started = Instant::now();
    let report = match (study.run)(&setup) {
        Ok(report) => report,
        Err(error @ StudyError::MissingData { .. }) => {
            eprintln!("{}: skipped: {error}", study.name);
            return true;
        }
        Err(error) => return tell(study.name, Err(error)),
    };
    eprintln!("{}: {:.1} s", study.name, started.elapsed().as_secs_f64());
    if !reduced {
        for goal in &report.goals {
            eprintln!("  {} {}: {}", if goal.reached { "reached" } else { "MISSED " }, goal.what, goal.value);
        }
        return tell(study.name, files::write(arguments.out(), study.name, &report));
    }
    let (path, numbers) = (files::reduced(study.name), report.numbers_text());
    if arguments.write {
        return tell(study.name, std::fs::write(path, numbers));
    }
    let same = std::fs::read_to_string(&path).is_ok_and(|committed| committed == numbers);
    if !same {
        print!("{numbers}");
        eprintln!("{}: these are not the numbers in {}", study.name, path.display());
    }
    same
}

/// Whether something went well; says what went wrong.
fn tell<E: std::fmt::Display>(what: &str, result: Result<(), E>) -> bool {
    result.map_err(|error| eprintln!("{what}: {error}")).is_ok()
}
