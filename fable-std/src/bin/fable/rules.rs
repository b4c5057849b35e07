//! `fable rules`: what a user of a store wishes, to be seen and changed.

use crate::failure::Failure;
use crate::policy_arguments::PolicyArguments;
use crate::store_key::open_any;
use clap::{Args, ValueEnum};
use fable_core::{Catalog, Policy, Scalar, Settings};
use fable_std::catalogs::lookup;
use fable_std::rules::{self, Change, RulesError};
use fable_std::store::wishes::Wishes;
use fable_std::store::{Desk, Priors, Reach, Resident, Store, StoreError, Writes};
use std::fmt::Write as _;
use std::path::PathBuf;

/// How often somebody else may be first.
const PATIENCE: u32 = 100;

/// Shows and changes a user's own rules and switches.
///
/// They are obeyed by `fable serve` and `fable chat`, by every process that shares the store, and by a device after `fable device sync`.
/// The rules of the catalog are shown with them; they hold for everybody.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RulesArguments {
    /// The store: a file, or the URL of a database.
    #[arg(value_name = "STORE")]
    store: PathBuf,
    /// Name of the user.
    user: String,
    #[command(flatten)]
    changes: ChangeArguments,
    #[command(flatten)]
    policy: PolicyArguments,
}

/// What is to be different.
#[derive(Args)]
pub(crate) struct ChangeArguments {
    /// A value that is never chosen, like tool=web_search; may be given several times.
    #[arg(long, value_name = "VALUE")]
    forbid: Vec<String>,
    /// A value that is always chosen; several of one component are alternatives.
    #[arg(long, value_name = "VALUE")]
    require: Vec<String>,
    /// Lifts what stands against a value, before anything is added.
    #[arg(long, value_name = "VALUE")]
    allow: Vec<String>,
    /// Where the new rules hold: task=NAME, or a signal, which counts while it is above 0.5. Everywhere if it is left out.
    #[arg(long, value_name = "PLACE")]
    when: Option<String>,
    /// The words in which they were said.
    #[arg(long, default_value = "")]
    words: String,
    /// Whether anything is decided for the user and learned about them.
    #[arg(long)]
    layer: Option<Switch>,
    /// Whether what the user says may be remembered.
    #[arg(long)]
    memory: Option<Switch>,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Switch {
    On,
    Off,
}

impl Switch {
    const fn word(on: bool) -> &'static str {
        if on { "on" } else { "off" }
    }
}

const EXAMPLES: &str = "\
Examples:
  fable rules users.fable ana
  fable rules users.fable ana --forbid tool=web_search --words \"never search the web\"
  fable rules users.fable ana --require style=confirm_first --when risk
  fable rules users.fable ana --allow tool=web_search
  fable rules users.fable ana --layer off

Exit codes: 0 done, 1 the store cannot be read or written, 2 a mistake in the command, 3 no such user, or nothing would be left to
choose.";

/// Runs the command and returns what it prints.
pub(crate) fn run(arguments: &RulesArguments) -> Result<String, Failure> {
    let store = open_any(&arguments.store)?;
    let identity = store.identity()?;
    let (catalog, settings) = arguments.policy.open_for(Some(&identity))?;
    let changes = arguments.changes.changes(catalog)?;
    match identity.scalar() {
        Some("f64") => change::<f64>(&*store, catalog, settings, &arguments.user, &changes),
        _ => change::<f32>(&*store, catalog, settings, &arguments.user, &changes),
    }
}

impl ChangeArguments {
    /// The changes that are asked for, in the order in which they are made.
    pub(crate) fn changes(&self, catalog: &Catalog<'_>) -> Result<Vec<Change>, Failure> {
        let Self { forbid, require, allow, when, words, layer, memory } = self;
        let values = |names: &[String]| rules::values(catalog, &names.join(" ")).map_err(Failure::mistake);
        let place = rules::when(catalog, when.as_deref()).map_err(Failure::mistake)?;
        let mut changes = Vec::new();
        if !allow.is_empty() {
            changes.push(Change::Allow(values(allow)?));
        }
        if !forbid.is_empty() {
            changes.push(Change::Rules(rules::forbidding(&values(forbid)?, place, words).collect()));
        }
        if !require.is_empty() {
            changes.push(Change::Rules(rules::requiring(&values(require)?, place, words)));
        }
        let on = |switch: &Switch| *switch == Switch::On;
        if layer.is_some() || memory.is_some() {
            changes.push(Change::Switch { layer: layer.as_ref().map(on), memory: memory.as_ref().map(on) });
        }
        Ok(changes)
    }
}

/// Does all changes in one commit, again when somebody else was first.
fn change<T: Scalar>(
    store: &dyn Store,
    catalog: &'static Catalog<'static>,
    settings: Settings<'static>,
    name: &str,
    changes: &[Change],
) -> Result<String, Failure> {
    let base = Policy::<T>::new(catalog, settings).map_err(Failure::mistake)?;
    let priors = Priors::open(store, &base, None)?;
    let policies = priors.policies(&base)?;
    let mut desk = Desk::new(&policies);
    for _ in 0..PATIENCE {
        let number = store.find(name)?.ok_or(StoreError::NoUser)?;
        let stored = store.user(number, Reach::Snapshot)?.ok_or(StoreError::NoUser)?;
        let mut user = Resident::revive(&mut desk, &stored, None)?;
        let before = user.wishes(&stored.wishes)?;
        let wishes = changed(catalog, &before, changes)?;
        let mut writes = Writes::default();
        if wishes != before {
            user.wish(&mut desk, &mut writes, &wishes)?;
        }
        if writes.is_empty() || store.commit(writes, true)?.is_empty() {
            return Ok(shown(catalog, &wishes));
        }
    }
    Err(StoreError::Contended.into())
}

/// Wishes after changes.
pub(crate) fn changed(catalog: &Catalog<'_>, wishes: &Wishes, changes: &[Change]) -> Result<Wishes, Failure> {
    let refused = |error: RulesError| Failure::Refused(error.to_string());
    changes.iter().try_fold(wishes.clone(), |wishes, change| change.of(catalog, &wishes).map_err(refused))
}

/// A line for each rule and switch.
pub(crate) fn shown(catalog: &Catalog<'_>, wishes: &Wishes) -> String {
    let mut text = String::new();
    let mut line = |head: &str, what: &str| {
        let _ = writeln!(text, "{head:<12} {what}"); // writing to a String cannot fail
    };
    for rule in &wishes.rules {
        line("rule", &rules::described(catalog, rule));
    }
    for standing in catalog.rules() {
        line("catalog", &lookup::described(catalog, standing));
    }
    line("layer", Switch::word(wishes.layer));
    line("memory", wishes.memory.map_or("not said", Switch::word));
    text
}
