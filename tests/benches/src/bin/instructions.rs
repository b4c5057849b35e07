//! Counts the instructions of one decision, one lesson and one assessed contrast with callgrind and compares them with
//! `instructions.txt`.
//!
//! Counts repeat exactly, so that a slip of a few percent shows even on a noisy machine. They belong to a `dist` build for
//! plain x86-64; another compiler may change them, and then they are accepted anew with `--accept`.

use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::hint::black_box;
use std::process::{Command, ExitCode, Stdio};

use fable_benches::fable::Fable;
use fable_benches::user::{Moment, lessons, moments};
use fable_core::catalog::{AGENT, Catalog, TAU2};
use fable_core::preference::Assessment;
use fable_core::{Action, Decision, Policy, Scalar, Settings};

const HELP: &str = "\
Counts instructions of one decide (a draw, and optimistic), one learn and one assessed contrast with valgrind and compares them with tests/benches/instructions.txt.

usage: cargo run --profile dist -p fable-benches --no-default-features --bin instructions [-- --accept]

Without the default features, as wide registers take fewer.

  --accept  write the counts to the file instead

Exit code 1: a count is more than 2% away, in either direction, or 64 contrasts take more than 17 rounds. Exit code 2: counting is not possible here.";

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/instructions.txt");
/// How far a count may be away from the committed one.
const TOLERANCE: f64 = 0.02;
/// Lessons before counting starts.
const WARM: usize = 400;
/// A decision with the defaults instead of the paper's draw.
const OPTIMISTIC: &str = "optimistic";
/// Rounds that are counted; the count is their mean.
const ROUNDS: usize = 64;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        [] => report(false),
        ["--accept"] => report(true),
        // The program under valgrind.
        ["--run", catalog, scalar, operation] => {
            let catalog = if catalog == "agent" { &AGENT } else { &TAU2 };
            let settings = if operation == OPTIMISTIC { Settings::DEFAULT } else { Settings::PAPER };
            if scalar == "f32" { run::<f32>(catalog, settings) } else { run::<f64>(catalog, settings) }
        }
        ["--help" | "-h"] => {
            println!("{HELP}");
            Ok(ExitCode::SUCCESS)
        }
        _ => Err("unknown arguments; try --help".into()),
    }
}

/// Callgrind counts only inside this function.
#[inline(never)]
fn measured_decide<T: Scalar>(fable: &mut Fable<'_, T>, moment: &Moment<T>) -> Decision {
    black_box(fable.decide(black_box(moment)))
}

/// Callgrind counts only inside this function.
#[inline(never)]
fn measured_learn<T: Scalar>(fable: &mut Fable<'_, T>, decision: Decision, reward: f64) {
    fable.learn(black_box(decision).id, black_box(reward));
}

/// Callgrind counts only inside this function.
#[inline(never)]
fn measured_assess<T: Scalar>(
    fable: &mut Fable<'_, T>,
    moment: &Moment<T>,
    prefer: Action,
    over: Action,
) -> Assessment {
    black_box(fable.assess(black_box(moment), prefer, over))
}

/// An action that differs in one component, each component in turn.
fn neighbour(catalog: &Catalog<'_>, action: Action, turn: usize) -> Option<Action> {
    let mut values = catalog.values(action)?;
    let component = turn % values.len();
    let count = u8::try_from(catalog.definition().components[component].values.len()).ok()?;
    values[component] = (values[component] + 1) % count;
    catalog.action(&values)
}

fn run<T: Scalar>(catalog: &Catalog<'_>, settings: Settings) -> Result<ExitCode, Box<dyn Error>> {
    let policy = Policy::<T>::new(catalog, settings)?;
    let moments = moments(&policy, None, ROUNDS);
    let mut fable = Fable::new(&policy);
    lessons(&moments, WARM).for_each(|(moment, action)| fable.observe(&moments[moment], action));
    fable.round(&moments[0]); // so that the permissions are recorded
    for (turn, moment) in moments.iter().enumerate() {
        let decision = measured_decide(&mut fable, moment);
        let over = neighbour(catalog, decision.action, turn).ok_or("components of two values or more")?;
        measured_assess(&mut fable, moment, decision.action, over);
        measured_learn(&mut fable, decision, moment.rewards[decision.action.index()]);
    }
    Ok(ExitCode::SUCCESS)
}

/// One line of the table.
struct Count {
    name: String,
    instructions: u64,
}

fn report(accept: bool) -> Result<ExitCode, Box<dyn Error>> {
    if cfg!(debug_assertions) || cfg!(target_feature = "avx2") || !cfg!(target_arch = "x86_64") {
        eprintln!("instructions are counted in a build with --profile dist for plain x86-64 only");
        return Ok(ExitCode::from(2));
    }
    if Command::new("valgrind").arg("--version").stdout(Stdio::null()).status().is_err() {
        eprintln!("valgrind is missing (apt-get install valgrind): nothing was counted");
        return Ok(ExitCode::from(2));
    }
    let mut counts = Vec::new();
    for catalog in ["agent", "tau2"] {
        for scalar in ["f32", "f64"] {
            for operation in ["decide", "learn", "assess", OPTIMISTIC] {
                let name = format!("{catalog:<7} {scalar:<6} {operation:<10}");
                counts.push(Count { name, instructions: count(catalog, scalar, operation)? });
            }
        }
    }
    let compiler = compiler()?;
    let mut table = format!("{compiler}\ncatalog scalar operation instructions\n");
    for Count { name, instructions } in &counts {
        writeln!(table, "{name} {instructions:>12}")?;
    }
    print!("{table}");
    // All contrasts of a large catalog, looked at after every round, have to stay affordable.
    if let [decide, learn, assess, ..] = &counts[..]
        && 64 * assess.instructions > 17 * (decide.instructions + learn.instructions)
    {
        println!("64 contrasts take more than 17 rounds");
        return Ok(ExitCode::FAILURE);
    }
    if accept {
        fs::write(FILE, table)?;
        println!("written to {FILE}");
        return Ok(ExitCode::SUCCESS);
    }
    let committed = fs::read_to_string(FILE).unwrap_or_default();
    if !committed.starts_with(&compiler) {
        println!(
            "the committed counts are from another compiler: {}",
            committed.lines().next().unwrap_or("none")
        );
        return Ok(ExitCode::SUCCESS);
    }
    let away = counts.iter().filter(|count| is_away(count, &committed)).count();
    if away > 0 {
        println!("{away} counts are more than 2% away; if that is meant: --accept");
        return Ok(ExitCode::FAILURE);
    }
    println!("all within 2% of {FILE}");
    Ok(ExitCode::SUCCESS)
}

/// The compiler in use; another one gives other counts.
fn compiler() -> Result<String, Box<dyn Error>> {
    let output = Command::new("rustc").arg("--version").output()?;
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

/// Says so if a count is not where the committed table has it.
#[expect(clippy::cast_precision_loss, reason = "counts are small")]
fn is_away(count: &Count, committed: &str) -> bool {
    let Count { name, instructions } = count;
    let found = committed.lines().find_map(|line| line.strip_prefix(name.as_str()));
    let Some(expected) = found.and_then(|rest| rest.trim().parse::<u64>().ok()) else {
        println!("{name}: not in the file");
        return true;
    };
    let change = *instructions as f64 / expected as f64 - 1.0;
    if change.abs() > TOLERANCE {
        println!("{name}: {expected} -> {instructions} ({:+.1}%)", 100.0 * change);
    }
    change.abs() > TOLERANCE
}

/// Runs this program under callgrind.
fn count(catalog: &str, scalar: &str, operation: &str) -> Result<u64, Box<dyn Error>> {
    let executable = std::env::current_exe()?;
    let out = executable.with_file_name(format!("callgrind.{}", std::process::id()));
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--quiet", "--collect-atstart=no"])
        .arg(format!(
            "--toggle-collect=*measured_{}*",
            if operation == OPTIMISTIC { "decide" } else { operation }
        ))
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg(&executable)
        .args(["--run", catalog, scalar, operation])
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let text = fs::read_to_string(&out)?;
    fs::remove_file(&out)?;
    let total = text
        .lines()
        .find_map(|line| line.strip_prefix("summary: ").or_else(|| line.strip_prefix("totals: ")));
    let total: u64 = total.ok_or("callgrind gave no summary")?.trim().parse()?;
    if total == 0 {
        Err("callgrind did not find the measured function".into())
    } else {
        Ok(total / ROUNDS as u64)
    }
}
