//! `fable replay`: a journal from a store, an exported file or a device, played again.

use crate::failure::Failure;
use crate::input::{read, read_journal};
use crate::policy_arguments::PolicyArguments;
use crate::prior_argument;
use clap::Args;
use fable_core::{Catalog, DecisionId};
use fable_std::replay::{Difference, Question, Replay, Start, Tape, replay_and_explain};
use fable_std::store::{Identity, transfer};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Plays a journal again and compares every decision, bit for bit.
///
/// The same events give the same state on every machine, in the journal's own numbers (f32 or f64). Each decision is also made
/// anew from the state as it was then; the first that comes out otherwise is shown, with what it can be due to. The prior that a
/// user began with is known from the store or the file. Catalog and settings have to be those that the journal was written under: a store knows its own, except for exploration; a file has
/// neither seed nor exploration in it. A wrong --seed, --optimism, --nu, --delta, --scale or --probe shows as different decisions.
///
/// A file may have 512 MiB, a device's journal 16 MiB; what is larger is refused.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ReplayArguments {
    /// A user of the store, or without --store a file that `fable export` has written.
    #[arg(value_name = "USER|FILE", required_unless_present = "snapshot")]
    source: Option<String>,
    /// The store that has the user.
    #[arg(long, value_name = "FILE|URL", conflicts_with = "snapshot")]
    store: Option<PathBuf>,
    /// A device's snapshot, from `fable device snapshot save`.
    #[arg(long, value_name = "FILE", requires = "journal", conflicts_with = "source")]
    snapshot: Option<PathBuf>,
    /// The device's journal after it, from `fable device journal`.
    #[arg(long, value_name = "FILE", requires = "snapshot")]
    journal: Option<PathBuf>,
    /// The prior in the policy of the device, from `fable prior fit`. A store and an exported user know theirs.
    #[arg(long, value_name = "FILE")]
    prior: Option<PathBuf>,
    /// Explains this decision as it was when it was made: its id, or its round alone.
    #[arg(long, value_name = "DECISION|ROUND")]
    explain: Option<String>,
    /// What it is explained against: a complete action, COMPONENT=VALUE*COMPONENT=VALUE...; the runner-up if it is left out.
    #[arg(long, value_name = "ACTION", requires = "explain")]
    against: Option<String>,
    /// Prints JSON instead of text.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    policy: PolicyArguments,
}

const EXAMPLES: &str = "\
Examples:
  fable replay ana --store users.fable
  fable replay ana --store users.fable --explain 17 --against 'memory=no_memory*tool=no_tool*style=concise'
  fable export ana ana.fable --store users.fable && fable replay ana.fable
  fable device --port /dev/ttyACM0 snapshot save board.snapshot && fable device --port /dev/ttyACM0 journal board.journal
  fable replay --snapshot board.snapshot --journal board.journal --catalog tau2

Exit codes: 0 all decisions are the same, 1 a file cannot be read or a decision differs, 2 a mistake in the command or another
catalog or other settings, 3 the store has no such user.";

/// Runs the command and returns what it prints.
pub(crate) fn run(arguments: &ReplayArguments) -> Result<String, Failure> {
    let (mut tape, identity) = tape(arguments)?;
    let (catalog, settings) = arguments.policy.open_for(identity.as_ref())?;
    prior_argument::give(&mut tape, arguments.prior.as_deref(), catalog, settings)?;
    let question =
        arguments.explain.as_deref().map(|text| question(catalog, &tape, text, arguments.against.as_deref()));
    let replay =
        replay_and_explain(catalog, settings, &tape, question.transpose()?).map_err(Failure::mistake)?;
    let explanation = match (&arguments.explain, &replay.explanation) {
        (None, _) => None,
        (Some(_), Some(Ok(text))) => Some(text.as_str()),
        (Some(_), Some(Err(error))) => {
            return Err(Failure::Trouble(format!("the decision cannot be explained: {error}")));
        }
        (Some(decision), None) => {
            return Err(Failure::Mistake(format!("the journal has no decision {decision}")));
        }
    };
    let text = if arguments.json {
        format!("{:#}\n", described(catalog, &replay, explanation))
    } else {
        told(&replay) + explanation.unwrap_or("")
    };
    match &replay.difference {
        None => Ok(text),
        Some(_) if arguments.json => Err(Failure::Different(text)),
        Some(difference) => {
            Err(Failure::Different(text + &differs(catalog, difference, replay.different.len())))
        }
    }
}

/// The journal that is meant, and what its store was made with.
fn tape(arguments: &ReplayArguments) -> Result<(Tape, Option<Identity>), Failure> {
    let trouble = |error: fable_core::record::RecordError| Failure::Trouble(error.to_string());
    match (&arguments.store, &arguments.source, &arguments.snapshot, &arguments.journal) {
        (Some(store), Some(user), ..) => {
            let store = crate::store_key::open_any(store)?;
            Ok((Tape::of_user(&store.named(user)?)?, Some(store.identity()?)))
        }
        (None, Some(file), ..) => Ok((Tape::of_user(&transfer::read(&read(Path::new(file))?)?)?, None)),
        (_, _, Some(snapshot), Some(journal)) => {
            Ok((Tape::of_device(read(snapshot)?, &read_journal(journal)?).map_err(trouble)?, None))
        }
        _ => Err(Failure::Mistake("a user, a file, or --snapshot and --journal are needed".to_owned())), // clap has seen to it
    }
}

fn question(
    catalog: &Catalog<'_>,
    tape: &Tape,
    decision: &str,
    against: Option<&str>,
) -> Result<Question, Failure> {
    let (incarnation, site, round) = if let Ok(round) = decision.parse() {
        (None, None, round)
    } else {
        let id: DecisionId = decision.parse().map_err(Failure::mistake)?;
        if let Start::Journal { header, .. } = &tape.start
            && header.user != id.user
        {
            return Err(Failure::Mistake(format!("{decision} is a decision of another user")));
        }
        (Some(id.incarnation), Some(id.site), id.round)
    };
    let other = match against {
        None => None,
        Some(name) => {
            let known = catalog.action_named(name);
            Some(known.ok_or_else(|| Failure::Mistake(format!("'{name}' is no action of the catalog")))?)
        }
    };
    Ok(Question { incarnation, site, round, other })
}

fn told(replay: &Replay) -> String {
    let Replay { events, decisions, with_defaults, woven, elsewhere, different, .. } = replay;
    let same = *decisions as usize - *with_defaults as usize - *woven as usize - different.len();
    let mut text =
        format!("{events} events replayed: {same} of {decisions} decisions are the same, bit for bit\n");
    if *with_defaults > 0 {
        let _ = writeln!(
            text,
            "{with_defaults} were made with default scores of the caller's, which a journal does not keep"
        );
    }
    if *woven > 0 {
        let _ =
            writeln!(text, "{woven} were made before journals were merged by time, and cannot be made anew");
    }
    if *elsewhere > 0 {
        let _ = writeln!(
            text,
            "{elsewhere} rewards are of decisions that were made elsewhere; their own journals have them"
        );
    }
    text
}

/// The first difference, for a person.
fn differs(catalog: &Catalog<'_>, difference: &Difference, count: usize) -> String {
    let name = |action| catalog.action_name(action).map_or_else(|| "?".to_owned(), |name| name.to_string());
    let Difference { id, index, recorded, found, .. } = difference;
    format!(
        "{count} came out otherwise; the first is {id}, event {index}:\n  recorded {:.6} {}\n  here     {:.6} {}\n\
         The state before it is the journal's own, so exploration differs:\n\
         another --seed, --optimism, --nu, --delta, --scale or --probe, or other numerics.\n",
        recorded.1,
        name(recorded.0),
        found.1,
        name(found.0)
    )
}

/// The outcome, for programs.
fn described(catalog: &Catalog<'_>, replay: &Replay, explanation: Option<&str>) -> Value {
    let name = |action| catalog.action_name(action).map(|name| name.to_string());
    let difference = replay.difference.as_ref().map(|difference| {
        json!({
            "decision": difference.id.to_string(),
            "event": difference.index,
            "recorded": { "action": name(difference.recorded.0), "sampled_score": difference.recorded.1 },
            "here": { "action": name(difference.found.0), "sampled_score": difference.found.1 },
        })
    });
    json!({
        "events": replay.events,
        "decisions": replay.decisions,
        "with_defaults": replay.with_defaults,
        "woven": replay.woven,
        "elsewhere": replay.elsewhere,
        "different": replay.different.len(),
        "first_difference": difference,
        "rounds": replay.rounds,
        "observations": replay.observations,
        "explanation": explanation,
    })
}
