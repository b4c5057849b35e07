//! `fable identify`: which preferences can be known at all, given what is allowed.

use crate::failure::Failure;
use crate::inspect::source;
use crate::policy_arguments::PolicyArguments;
use crate::rule_arguments::RuleArguments;
use clap::Args;
use fable_core::preference::Comparison;
use fable_core::{Catalog, Feasible, Policy, Settings};
use fable_std::identify::{Allowed, SafeSpan};
use fable_std::inspect::Question;
use serde_json::{Map, Value, json};
use std::fmt::Write;
use std::path::PathBuf;

/// Says which preferences rewards can tell, given what is allowed.
#[derive(Args)]
#[command(long_about = ABOUT, after_help = EXAMPLES)]
pub(crate) struct IdentifyArguments {
    /// A store with the user whose own rules hold, or a file that `fable export` has written.
    #[arg(value_name = "FILE|URL")]
    file: Option<PathBuf>,
    /// Which user of the store.
    #[arg(long, value_name = "NAME", requires = "file")]
    user: Option<String>,
    #[command(flatten)]
    rules: RuleArguments,
    /// Asks for one more contrast than the catalog declares.
    #[arg(long, value_name = "COMPONENT=VALUE:VALUE[@TASK]")]
    contrast: Vec<String>,
    /// Prints JSON instead of text.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    policy: PolicyArguments,
}

const ABOUT: &str = "\
Says which preferences rewards can tell, given what is allowed.

Rewards come from what is allowed alone. How much better one action is than another can be known from them exactly when the
difference of the two is made up of what is allowed: then enough rewards tell, and otherwise none do, however many come. It
depends on the catalog and on the rules, and on nobody's rewards.

What is on the screen:
  allowed      how many actions are, without a task and in each task where that differs
  directions   independent preferences that rewards can tell, of how many there would be without rules
  weights      weights that a reward can move. A weight that moves need not be known: many settings of the weights give the
               same scores. Which are not moved is in --json
  contrasts    preferences that the catalog declares or --contrast asks for, and why one cannot be known

A rule that holds while a signal is high takes nothing away: what it leaves out is allowed while the signal is low.";

const EXAMPLES: &str = "\
Examples:
  fable identify --require memory=no_memory                # somebody who has memory switched off
  fable identify --catalog tau2 --forbid tool=verify --contrast tool=standard:verify
  fable identify users.fable --user ana                    # under the rules that ana has set in `fable chat`
  fable identify --forbid tool=web_search --json

Exit codes: 0 done, 1 a file cannot be read, 2 a mistake in the command, 3 the store has no such user.";

/// Runs the command and returns what it prints.
pub(crate) fn run(arguments: &IdentifyArguments) -> Result<String, Failure> {
    let source = arguments
        .file
        .as_deref()
        .map(|file| source::open(file, arguments.user.as_deref(), None))
        .transpose()?;
    let identity = source.as_ref().and_then(|source| source.identity.as_ref());
    let (catalog, settings) = arguments.policy.open_for(identity)?;
    let own = source.as_ref().map(|source| source.allowed(catalog)).transpose()?.flatten();
    let everything = Allowed::everywhere(catalog, &Feasible::all(catalog));
    let allowed = arguments.rules.allowed(catalog, own)?.unwrap_or_else(|| everything.clone());
    let questions =
        arguments.contrast.iter().map(|text| Question::parse(catalog, text).map_err(Failure::mistake));
    let report =
        report(catalog, settings, (&allowed, &everything), &questions.collect::<Result<Vec<_>, _>>()?)?;
    Ok(if arguments.json { format!("{report:#}\n") } else { told(&report) })
}

/// Everything there is to say.
fn report(
    catalog: &Catalog<'_>,
    settings: Settings<'_>,
    (allowed, everything): (&Allowed, &Allowed),
    questions: &[Question],
) -> Result<Value, Failure> {
    let policy = Policy::<f64>::new(catalog, settings).map_err(Failure::mistake)?;
    let (mut safe, whole) = (SafeSpan::new(&policy, allowed), SafeSpan::new(&policy, everything));
    let definition = catalog.definition();
    let counts: Vec<usize> = allowed.counts().collect();
    let in_tasks: Map<String, Value> = definition
        .tasks
        .iter()
        .zip(counts.iter().skip(1))
        .map(|(task, count)| ((*task).to_owned(), (*count).into()))
        .collect();
    let frozen = whole.active().iter().filter(|coordinate| !safe.active().contains(*coordinate));
    let frozen: Vec<String> =
        frozen.filter_map(|index| catalog.coordinate_name(index)).map(|name| name.to_string()).collect();
    let declared = (0..).zip(catalog.contrasts());
    let declared =
        declared.filter_map(|(index, contrast)| Some((contrast.name, Comparison::declared(catalog, index)?)));
    let asked = questions.iter().map(|question| (question.name.as_str(), question.comparison));
    let contrasts = declared.chain(asked).map(|(name, comparison)| {
        let reason = safe.reason(&policy, &comparison);
        json!({ "name": name, "identifiable": reason.is_none(), "reason": reason })
    });
    let contrasts: Vec<Value> = contrasts.collect();
    Ok(json!({
        "catalog": definition.name,
        "actions": catalog.actions(),
        "allowed": counts.first(),
        "allowed_in_tasks": in_tasks,
        "directions": safe.rank(),
        "directions_without_rules": whole.rank(),
        "weights": whole.active().len(),
        "movable": safe.active().len(),
        "not_movable": frozen,
        "contrasts": contrasts,
    }))
}

fn told(report: &Value) -> String {
    let mut out = String::new();
    let mut line = |head: &str, text: &str| {
        let _ = writeln!(out, "{}", format!("{head:<12} {text}").trim_end()); // writing to a String cannot fail
    };
    let number = |key: &str| report.get(key).and_then(Value::as_u64).unwrap_or(0);
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
    line("catalog", &text(report, "catalog"));
    line("allowed", &format!("{} of {} actions", number("allowed"), number("actions")));
    let tasks = report.get("allowed_in_tasks").and_then(Value::as_object).into_iter().flatten();
    for (task, count) in tasks.filter(|(_, count)| count.as_u64() != Some(number("allowed"))) {
        line("", &format!("{count} in {task}"));
    }
    line(
        "directions",
        &format!("{} of {} can be learned", number("directions"), number("directions_without_rules")),
    );
    line("weights", &format!("{} of {} can move", number("movable"), number("weights")));
    let contrasts: Vec<&Value> =
        report.get("contrasts").and_then(Value::as_array).into_iter().flatten().collect();
    let longest = contrasts.iter().map(|contrast| text(contrast, "name").len()).max().unwrap_or(0);
    for (index, contrast) in contrasts.iter().enumerate() {
        let reason = text(contrast, "reason");
        let verdict =
            if reason.is_empty() { "can be known".to_owned() } else { format!("cannot be known: {reason}") };
        line(
            if index == 0 { "contrasts" } else { "" },
            &format!("{:<longest$}  {verdict}", text(contrast, "name")),
        );
    }
    out
}
