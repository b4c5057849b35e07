//! `fable evaluate`: what another configuration would have earned.

use crate::failure::Failure;
use crate::output;
use crate::prior_argument;
use clap::{Args, value_parser};
use fable_core::{Catalog, Exploration, Policy, Settings};
use fable_std::catalogs;
use fable_std::evaluate::{self, Estimate, LogError, LogFlaw, Mode, Options, Record, Report};
use fable_std::settings::SettingsArguments;
use fable_std::simulate::SimulatedUser;
use serde_json::{Value, json};
use std::fmt::{Display, Write};
use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

const ABOUT: &str = "\
Estimates what another configuration would have earned, from a log of what was done.

The log has a line of JSON for each decision: what was asked, what was allowed, what was done, the reward from -1 to 1, and
the propensities, that is, how probable each action was. `fable serve --nu 0.3` answers a decide request that has
\"propensities\":1000 with them; its K goes into the log as \"draws\". `fable serve --probe 0.5` tosses coins instead, and its
propensities are exact: ask with \"propensities\":0 and leave \"draws\" out. (Without either there is no chance in what is chosen, and
a log can tell about nothing else.) A line is the request, the answer and the reward in one:

  {\"user\":\"ana\",\"context\":{\"task\":\"coding\",\"risk\":0.1,\"ambiguity\":0.2,\"memory_need\":0.7,\"tool_need\":0.3},
   \"forbid\":[{\"tool\":\"web_search\"}],\"action\":{\"memory\":\"no_memory\",\"tool\":\"no_tool\",\"style\":\"direct\"},
   \"reward\":0.5,\"propensities\":[0.12, ... one for each action in catalog order ...],\"draws\":1000}

(On one line; `forbid`, `require`, `only`, `defaults`, `user` and `draws` may be left out. Lines of a user are in order.
A line may have 1 MiB and a log 1 GiB.)

The target is a catalog with settings and a prior. A line counts with the weight p(target does what was done) / p(log did it), so nothing
has to be tried on anybody. The target learns along: at each line it has learned from the log's earlier lines of the same user.
What is estimated is the mean reward that its choices would have had in these lines. It is not what it would have earned with
experience of its own, which no log has. With --frozen it learns from the lines of --train alone. An optimistic target, like
the defaults, looks worse than it is: what it would find out is not in the log, so it tries it again and again. With
--greedy it is judged by what it has learned.

What is printed:
  log              the file, its lines that are judged by, and how many users they are about
  target           the catalog; `learning along the log` or `frozen`; `exploring`, as the settings say, or `greedy`; the prior
                   that its users begin with, if one is given
  value            an estimate of the target's mean reward, from -1 to 1
  logged           the mean reward in the log, what the policy that made it got
  IPS              inverse propensity scores: the mean of weight x reward. Unbiased where there is support; scatters much
  SNIPS            the same, divided by the mean weight: scatters less, but its interval covers in 90% rather than 95%
  doubly robust    a reward model's prediction for the target, corrected by the weighted errors of the model: unbiased as IPS is,
                   and scatters least. The model has learned from the user's earlier lines only
  gain             doubly robust less logged, line by line: whether the target is better
  95% interval     normal: 1.96 standard errors on either side. For these users, and only where there is no warning
  warning          a reason to doubt the estimates, mostly thin support: the target does what the log seldom did
  truth            the true value; known with --simulate alone
  effective lines  so many lines of the target's own would say as much: (sum of weights)^2 / sum of squared weights
  largest weight   the share of one line in all the weight
  mean weight      should be 1 less what is unsupported, or the propensities are not those of the log
  rare             the target's choices that would have a weight above 10
  unsupported      the target's choices that the logged policy never made: what they earn is not in the log";

const EXAMPLES: &str = "\
Examples:
  fable evaluate --simulate try.jsonl                  # writes a log to try it with, and evaluates the defaults on it
  fable evaluate try.jsonl --nu 0.1 --base-precision 8 # the same log, other settings
  fable evaluate try.jsonl --frozen --train 500 --greedy --json
  fable evaluate try.jsonl --prior crowd.prior         # what a fitted prior would have earned
  fable evaluate --simulate coins.jsonl --logged-probe 0.5 --greedy    # a log of the optimistic rule, with coins

Exit codes: 0 done, 1 a file cannot be read or written, 2 a mistake in the command or in a file, told with its line.";

/// Estimates what another configuration would have earned, from a log of what was done.
#[derive(Args)]
#[command(arg_required_else_help = true, long_about = ABOUT, after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "they are flags")]
pub(crate) struct EvaluateArguments {
    /// The log; - is standard input.
    #[arg(value_name = "LOG.jsonl")]
    log: String,
    /// What can be chosen: agent, tau2, rubric, or a catalog file. It must be the one that the log was made with.
    #[arg(long, value_name = "NAME|FILE.toml", default_value = "agent")]
    catalog: String,
    /// What the target's users begin with, from `fable prior fit`; without it the isotropic prior.
    #[arg(long, value_name = "FILE")]
    prior: Option<PathBuf>,
    /// Judges a target that does not learn from the lines it is judged by, only from those of --train.
    #[arg(long)]
    frozen: bool,
    /// Learns from the first COUNT lines of the log and judges by the others.
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    train: usize,
    /// Judges a target that always takes what it thinks best and does not explore.
    #[arg(long)]
    greedy: bool,
    /// Draws that the target's probabilities are estimated from, in each line: more are slower and more precise.
    #[arg(long, value_name = "COUNT", default_value_t = 200, value_parser = value_parser!(u32).range(1..=100_000))]
    draws: u32,
    /// Draws that the log's propensities were estimated from, for lines without `draws`: the K of "propensities":K.
    #[arg(long, value_name = "K", value_parser = value_parser!(u32).range(1..))]
    logged_draws: Option<u32>,
    /// Prints JSON, for programs.
    #[arg(long)]
    json: bool,
    /// Writes the log first, as a new file: Fable, drawing with nu 0.5, and a simulated user. The truth is known then, and shown.
    #[arg(long)]
    simulate: bool,
    /// --simulate logs the optimistic rule instead, with coins at this rate: from 0 to 1.
    #[arg(long, value_name = "RATE", requires = "simulate")]
    logged_probe: Option<f64>,
    /// Lines that --simulate writes.
    #[arg(long, value_name = "COUNT", default_value_t = 1000, value_parser = value_parser!(u32).range(2..=100_000), requires = "simulate")]
    rounds: u32,
    #[command(flatten)]
    settings: Box<SettingsArguments>,
}

/// How boldly the policy explores that makes simulated logs: by draws, which the defaults do not, so that others have support.
const SIMULATED_NU: f64 = 0.5;
/// Draws for the propensities of simulated logs.
const SIMULATED_DRAWS: u32 = 500;

/// Runs the command and returns what it prints.
pub(crate) fn run(arguments: &EvaluateArguments) -> Result<String, Failure> {
    let catalog = catalogs::open(&arguments.catalog)?;
    let settings = arguments.settings.resolve(&arguments.catalog, catalog)?;
    let base = Policy::<f32>::new(catalog, settings).map_err(Failure::mistake)?;
    let prior = prior_argument::rounded(arguments.prior.as_deref(), &base)?; // before a log is written
    let user = SimulatedUser::new(catalog, settings.seed);
    let log = if arguments.simulate { simulate(arguments, &user)? } else { read(arguments, catalog)? };
    let truth = |record: &Record, action| user.expected(&record.context, action);
    let options = Options {
        prior: prior.as_deref(),
        mode: if arguments.frozen { Mode::Frozen } else { Mode::Learning },
        train: arguments.train,
        greedy: arguments.greedy,
        draws: arguments.draws,
        logged_draws: arguments.logged_draws,
        truth: if arguments.simulate { Some(&truth) } else { None },
    };
    let report = evaluate::evaluate(catalog, settings, &arguments.log, &log, &options);
    let report = report.map_err(|error| Failure::Mistake(error.to_string()))?;
    Ok(if arguments.json {
        format!("{:#}\n", document(arguments, &report))
    } else {
        text(arguments, &report)
    })
}

fn trouble(file: &str, error: impl Display) -> Failure {
    Failure::Trouble(format!("{file}: {error}"))
}

fn read(arguments: &EvaluateArguments, catalog: &Catalog<'_>) -> Result<Vec<Record>, Failure> {
    let told = |error: LogError| match error.flaw {
        LogFlaw::Unreadable(_) => Failure::Trouble(error.to_string()),
        _ => Failure::Mistake(error.to_string()),
    };
    if arguments.log == "-" {
        return evaluate::read(catalog, "standard input", io::stdin().lock()).map_err(told);
    }
    let file = File::open(&arguments.log).map_err(|error| trouble(&arguments.log, error))?;
    evaluate::read(catalog, &arguments.log, BufReader::new(file)).map_err(told)
}

/// Makes a log and writes it to a file that is not there yet.
fn simulate(arguments: &EvaluateArguments, user: &SimulatedUser<'_>) -> Result<Vec<Record>, Failure> {
    let catalog = user.catalog();
    let settings = match arguments.logged_probe {
        Some(probe) => Settings { probe, ..Settings::DEFAULT },
        None => Settings { exploration: Exploration::Constant(SIMULATED_NU), ..Settings::DEFAULT },
    };
    let policy = Policy::new(catalog, settings).map_err(|error| Failure::Mistake(error.to_string()))?;
    let path = Path::new(&arguments.log);
    if path.symlink_metadata().is_ok() {
        return Err(trouble(&arguments.log, "it is there already; a simulated log is a new file"));
    }
    let log = evaluate::simulate(user, &policy, arguments.rounds, SIMULATED_DRAWS);
    let log = log.map_err(|error| Failure::Mistake(error.to_string()))?;
    let lines: String = log.iter().map(|record| record.write(catalog) + "\n").collect();
    output::create(path, lines.as_bytes()).map_err(|error| trouble(&arguments.log, error))?;
    Ok(log)
}

fn text(arguments: &EvaluateArguments, report: &Report) -> String {
    let mut out = String::new();
    let mut line = |head: &str, words: String| {
        let _ = writeln!(out, "{head:<16} {words}"); // writing to a String cannot fail
    };
    let (lines, users) = (report.lines, report.users);
    let trained = if arguments.train > 0 {
        format!(", after {} to learn from", arguments.train)
    } else {
        String::new()
    };
    line(
        "log",
        format!(
            "{}: {lines} lines{trained}, {users} {}",
            arguments.log,
            if users == 1 { "user" } else { "users" }
        ),
    );
    let learning = if arguments.frozen { "frozen" } else { "learning along the log" };
    let prior =
        arguments.prior.as_ref().map_or_else(String::new, |prior| format!(", from {}", prior.display()));
    let exploring = if arguments.greedy { "greedy" } else { "exploring" };
    line("target", format!("{}, {learning}, {exploring}{prior}", arguments.catalog));
    line("", String::new());
    line("", "value    95% interval".into());
    let row = |estimate: &Estimate| {
        format!("{:+.3}   {:+.3} to {:+.3}", estimate.value, estimate.lower, estimate.upper)
    };
    line("logged", row(&report.logged));
    line("IPS", row(&report.ips));
    line("SNIPS", report.snips.as_ref().map_or_else(|| "none, for every weight is 0".into(), row));
    line("doubly robust", row(&report.doubly_robust));
    line("gain", row(&report.gain));
    if let Some(truth) = report.truth {
        line("truth", format!("{truth:+.3}"));
    }
    line("", String::new());
    let percent = |share: f64| format!("{:.1}%", 100.0 * share);
    let effective = report.effective_lines;
    line("effective lines", format!("{effective:.0} of {lines} ({})", percent(effective / lines as f64)));
    line("largest weight", format!("{} of all", percent(report.largest_weight)));
    line("mean weight", format!("{:.3}", report.mean_weight.value));
    line("rare", percent(report.rare));
    line("unsupported", percent(report.unsupported));
    let mut out: String = out.lines().map(|line| line.trim_end().to_owned() + "\n").collect();
    for warning in report.warnings() {
        let _ = writeln!(out, "\nwarning: {warning}");
    }
    out
}

fn document(arguments: &EvaluateArguments, report: &Report) -> Value {
    let estimate = |estimate: &Estimate| json!({ "value": estimate.value, "error": estimate.error, "lower": estimate.lower, "upper": estimate.upper });
    json!({
        "lines": report.lines,
        "trained": arguments.train,
        "users": report.users,
        "target": if arguments.frozen { "frozen" } else { "learning" },
        "greedy": arguments.greedy,
        "prior": arguments.prior,
        "interval": "normal 95%",
        "logged": estimate(&report.logged),
        "ips": estimate(&report.ips),
        "snips": report.snips.as_ref().map(estimate),
        "doubly_robust": estimate(&report.doubly_robust),
        "gain": estimate(&report.gain),
        "truth": report.truth,
        "effective_lines": report.effective_lines,
        "largest_weight": report.largest_weight,
        "mean_weight": report.mean_weight.value,
        "rare": report.rare,
        "unsupported": report.unsupported,
        "warnings": report.warnings().iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}
