//! `fable migrate`: users go on under another catalog.

use crate::failure::Failure;
use crate::input::read;
use crate::output::{is_same_file, write};
use crate::policy_arguments::ScalarName;
use crate::store::printable;
use crate::store_key;
use crate::upkeep::{bar, show};
use clap::Args;
use fable_core::catalog::BlockSet;
use fable_core::catalog::{LonePart, Rename, RenameKind};
use fable_core::migrate::MigrateError;
use fable_core::record::RecordError;
use fable_core::{Catalog, Policy, Scalar, Settings};
use fable_std::catalogs;
use fable_std::prior_file::PriorFileError;
use fable_std::settings::SettingsArguments;
use fable_std::store::migration::{Migrator, Report};
use fable_std::store::movement::Why;
use fable_std::store::{Identity, Store, StoreError, is_url, transfer};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Lets users go on under another catalog: values, tasks, signals, blocks or contrasts were added, renamed, moved or removed.
///
/// What is in both catalogs keeps what is known about it. What was removed is marginalised out, which changes nothing else; what was added
/// begins like everything did. A store is written anew at another place, a file or a database, and stays as it is: it is the backup, and
/// the way back. Nobody else may have it open meanwhile; servers of a database have to be stopped. Every user comes with rules,
/// memory and prior, and with a snapshot where the journal was. Run again after an interruption, it goes on where it was. An exported user and a prior are
/// migrated in the same way, from file to file.
///
/// Settings that are not said are those of the store. Files with one user or a prior do not know theirs: what was no default is said here, and
/// counts for before and after.
///
/// Costs, default scores and instructions may change without this command.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct MigrateArguments {
    /// What to migrate: a store (a file, or the URL of a database), an exported user, or a prior.
    #[arg(value_name = "OLD")]
    old: PathBuf,
    /// Where to: a store is made if there is none, a file is replaced.
    #[arg(value_name = "NEW")]
    new: PathBuf,
    /// The catalog of before: one that ships, or a file that ends in .toml or has a / in its path.
    #[arg(long, value_name = "NAME|FILE.toml")]
    from: String,
    /// The catalog from now on.
    #[arg(long, value_name = "NAME|FILE.toml")]
    to: String,
    /// What has another name now: a value (tool=web:tool=search), a task (task=code:task=coding), or a component, signal or contrast
    /// (style:tone). Everything else is the same by its name.
    #[arg(long, value_name = "OLD:NEW")]
    rename: Vec<String>,
    /// Only says what would happen; nothing is written.
    #[arg(long)]
    dry_run: bool,
    /// Prints JSON, for programs.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: SettingsArguments,
}

const EXAMPLES: &str = "\
Examples:
  fable migrate users.fable next.fable --from v1.toml --to v2.toml --dry-run
  fable migrate users.fable next.fable --from v1.toml --to v2.toml --rename tool=web:tool=search
  fable serve --store next.fable --catalog v2.toml
  fable migrate postgres://ana@localhost/fable postgres://ana@localhost/fable2 --from v1.toml --to v2.toml
  fable migrate crowd.prior crowd2.prior --from v1.toml --to v2.toml

Exit codes: 0 everyone is there, 1 somebody is not, or a store cannot be used, 2 a catalog or a rename that is not the store's.";

/// The two catalogs.
struct Catalogs {
    old: &'static Catalog<'static>,
    new: &'static Catalog<'static>,
}

/// Migrates what is there.
pub(crate) fn run(arguments: &MigrateArguments) -> Result<String, Failure> {
    let catalogs = Catalogs { old: catalogs::open(&arguments.from)?, new: catalogs::open(&arguments.to)? };
    let renames: Vec<Rename<'_>> =
        arguments.rename.iter().map(|said| renames(&catalogs, said)).collect::<Result<Vec<_>, _>>()?.concat();
    let sources = [&arguments.old, Path::new(&arguments.from), Path::new(&arguments.to)];
    if arguments.old == arguments.new || sources.iter().any(|source| is_same_file(source, &arguments.new)) {
        return Err(Failure::Mistake("what is migrated is written anew: NEW has to be another place".into()));
    }
    if is_url(&arguments.old) || !is_file_of_one(&arguments.old) {
        return store(arguments, &catalogs, &renames);
    }
    let bytes = read(&arguments.old)?;
    let old = arguments.settings.resolve(&arguments.from, catalogs.old)?;
    let new = arguments.settings.resolve(&arguments.to, catalogs.new)?;
    match ScalarName::of(None, None, &store_key::options()?, Some(&bytes)) {
        ScalarName::F32 => file::<f32>(arguments, &catalogs, (old, new), &renames, &bytes),
        ScalarName::F64 => file::<f64>(arguments, &catalogs, (old, new), &renames, &bytes),
    }
}

/// Whether a file is an exported user or a prior.
fn is_file_of_one(path: &Path) -> bool {
    crate::input::read_within(path, 4).is_ok_and(|start| matches!(start.as_slice(), b"FABX" | b"FABS"))
}

/// What a `--rename` means: everything that has the one name in the old catalog and the other in the new one.
fn renames<'a>(catalogs: &Catalogs, said: &'a str) -> Result<Vec<Rename<'a>>, Failure> {
    let wrong = |what: &str| Failure::Mistake(format!("--rename {}: {what}", printable(said)));
    let (from, to) = said.split_once(':').ok_or_else(|| wrong("say OLD:NEW"))?;
    let (old, new) = (catalogs.old.definition(), catalogs.new.definition());
    let missing = |kind: &str, name: &str, side: &str| {
        Err(wrong(&format!("the {side} catalog has no {kind} {}", printable(name))))
    };
    let tasks = from.strip_prefix("task=").zip(to.strip_prefix("task="));
    if let Some((from, to)) = tasks {
        return match (old.tasks.contains(&from), new.tasks.contains(&to)) {
            (false, _) => missing("task", from, "old"),
            (_, false) => missing("task", to, "new"),
            _ => Ok(vec![Rename::task(from, to)]),
        };
    }
    if from.contains('=') || to.contains('=') {
        return match (has_value(catalogs.old, from), has_value(catalogs.new, to)) {
            (false, _) => missing("value", from, "old"),
            (_, false) => missing("value", to, "new"),
            _ => Ok(vec![Rename::value(from, to)]),
        };
    }
    let known = [
        (catalogs.old.component(from).is_some() && catalogs.new.component(to).is_some())
            .then(|| Rename::component(from, to)),
        (old.signals.contains(&from) && new.signals.contains(&to)).then(|| Rename::signal(from, to)),
        (old.contrasts.iter().any(|contrast| contrast.name == from)
            && new.contrasts.iter().any(|contrast| contrast.name == to))
        .then(|| Rename::contrast(from, to)),
    ];
    let known: Vec<Rename<'a>> = known.into_iter().flatten().collect();
    if known.is_empty() {
        Err(wrong("no component, signal or contrast has these names in the two catalogs"))
    } else {
        Ok(known)
    }
}

/// Whether a catalog has a value that is said as `component=value`.
fn has_value(catalog: &Catalog<'_>, name: &str) -> bool {
    let Some((component, value)) = name.split_once('=') else { return false };
    catalog.component(component).is_some_and(|component| catalog.value(component, value).is_some())
}

/// The way between the catalogs; a rename that cannot be meant is told as it was said.
fn migrator<'m, T: Scalar>(
    arguments: &MigrateArguments,
    (old, new): (&'m Policy<'m, T>, &'m Policy<'m, T>),
    renames: &'m [Rename<'m>],
) -> Result<Migrator<'m, T>, Failure> {
    Migrator::new(old, new, renames).map_err(|error| match error {
        StoreError::Migrate(MigrateError::Rename { index }) => {
            let Rename { from, to, .. } = renames.get(index).copied().unwrap_or(Rename::task("", ""));
            let is_said = |said: &&String| {
                said.split_once(':').is_some_and(|(old, new)| old.ends_with(from) && new.ends_with(to))
            };
            let said = arguments.rename.iter().rev().find(is_said).map_or("", String::as_str);
            let why = "one of the names has been said before, or the values are of different components";
            Failure::Mistake(format!("--rename {}: {why}", printable(said)))
        }
        error => error.into(),
    })
}

fn store(
    arguments: &MigrateArguments,
    catalogs: &Catalogs,
    renames: &[Rename<'_>],
) -> Result<String, Failure> {
    let from = store_key::open_any(&arguments.old)?;
    let identity = from.identity()?;
    let old = identity.settings(catalogs.old);
    // What was a default is the new catalog's default.
    let usual = Policy::<f64>::new(catalogs.old, Settings { base_precision: None, ..old });
    let usual = usual.is_ok_and(|usual| Some(usual.base_precision()) == old.base_precision);
    let base_precision = old.base_precision.filter(|_| !usual);
    let rest = Settings { retained: BlockSet::FULL, base_precision, ..old };
    let new = arguments.settings.resolve_over(rest, &arguments.to, catalogs.new)?;
    match identity.scalar() {
        Some("f64") => everyone::<f64>(arguments, catalogs, (old, new), renames, &*from),
        _ => everyone::<f32>(arguments, catalogs, (old, new), renames, &*from),
    }
}

fn everyone<T: Scalar>(
    arguments: &MigrateArguments,
    catalogs: &Catalogs,
    (old, new): (Settings<'_>, Settings<'_>),
    renames: &[Rename<'_>],
    from: &dyn Store,
) -> Result<String, Failure> {
    let old = Policy::<T>::new(catalogs.old, old).map_err(Failure::mistake)?;
    let new = Policy::<T>::new(catalogs.new, new).map_err(Failure::mistake)?;
    from.identity()?.admit(&Identity::new(&old)).map_err(|error| {
        Failure::Mistake(format!("--from {}: {}", arguments.from, not_its_catalog(&error)))
    })?;
    let migrator = migrator(arguments, (&old, &new), renames)?;
    let open = || {
        fable_std::store::open(&arguments.new, &Identity::new(&new), &store_key::options()?)
            .map_err(|error| Failure::from_reading(&arguments.new, &error))
    };
    let to = if arguments.dry_run { None } else { Some(open()?) };
    let bar = bar();
    let report = migrator.everyone(from, to.as_deref(), &mut show(&bar))?;
    bar.finish_and_clear();
    let text = tell(arguments, &report, &migrator.differences());
    if report.is_complete() { Ok(text) } else { Err(Failure::Different(text)) }
}

/// Why a store is not of the catalog and the settings of before, without the advice to migrate it.
fn not_its_catalog(error: &StoreError) -> String {
    match error {
        StoreError::Mismatch { what, stored, given } if what == "catalog" => {
            format!("the store was made with catalog {stored}, not {given}")
        }
        StoreError::Mismatch { what, .. } if what == "shape of the catalog" => {
            "the store was made with a catalog of this name and another shape: this is not the file of then"
                .into()
        }
        error => error.to_string(),
    }
}

/// What a command has done: with what only the old catalog has, and what only the new one has.
fn tell(arguments: &MigrateArguments, report: &Report, differences: &[Vec<LonePart<'_>>; 2]) -> String {
    let [gone, new] =
        differences.each_ref().map(|parts| parts.iter().map(ToString::to_string).collect::<Vec<_>>());
    if arguments.json {
        return json(report, &gone, &new);
    }
    let mut text = told(report, arguments.dry_run);
    if report.users + report.priors > 0 {
        for (what, names) in [("gone", &gone), ("new", &new)] {
            if !names.is_empty() {
                let _ = writeln!(text, "{what}: {}", printable(&names.join(", ")));
            }
        }
        let [gone, new] = differences;
        let like = |part: &&LonePart<'_>| {
            new.iter().any(|other| (other.kind, other.component) == (part.kind, part.component))
        };
        if gone.iter().filter(|part| part.kind != RenameKind::Contrast).any(|part| like(&part)) {
            text += "If something that is gone only has another name now, say so: --rename OLD:NEW\n";
        }
    }
    if report.refused.iter().any(|refused| refused.why == Why::Differs) {
        let new = fable_std::store::shown(&arguments.new);
        let _ = writeln!(
            text,
            "Nothing in {new} was overwritten. If it comes from a migration with other catalogs, renames or settings, delete it, with the files beside it, \
             and run this again."
        );
    }
    text
}

fn told(report: &Report, dry_run: bool) -> String {
    let Report { users, same, priors, coordinates: [kept, added, removed], .. } = report;
    let done = if dry_run { "would migrate" } else { "migrated" };
    let mut text = format!("{done}: {users} users, {priors} priors; there already: {same}\n");
    if *users > 0 {
        let _ = writeln!(text, "coordinates: {kept} kept, {added} added, {removed} removed");
    }
    for (what, count) in [
        ("declared contrasts that are gone or say something else", report.contrasts.into()),
        ("promotions that were dropped", report.promotions),
        ("rules of users that were dropped: what they are about is gone", report.rules),
        ("decisions that do not wait for a reward any more", report.waiting),
        ("users whose guarantee of promotions has ended", report.voided),
    ] {
        if count > 0 {
            let _ = writeln!(text, "{what}: {count}");
        }
    }
    for refused in &report.refused {
        let _ = writeln!(text, "not migrated: {}", printable(&refused.to_string()));
    }
    text
}

fn json(report: &Report, gone: &[String], new: &[String]) -> String {
    let [kept, added, removed] = report.coordinates;
    let refused = |refused: &fable_std::store::movement::Refused| serde_json::json!({ "user": refused.name, "number": format!("{:016x}", refused.number), "why": refused.to_string() });
    let report = serde_json::json!({
        "users": report.users,
        "there_already": report.same,
        "priors": report.priors,
        "coordinates": { "kept": kept, "added": added, "removed": removed },
        "gone": gone,
        "new": new,
        "dropped_contrasts": report.contrasts,
        "dropped_promotions": report.promotions,
        "dropped_rules": report.rules,
        "expired_decisions": report.waiting,
        "ended_guarantees": report.voided,
        "refused": report.refused.iter().map(refused).collect::<Vec<_>>(),
    });
    format!("{report}\n")
}

/// An exported user or a prior.
fn file<T: Scalar>(
    arguments: &MigrateArguments,
    catalogs: &Catalogs,
    (old, new): (Settings<'_>, Settings<'_>),
    renames: &[Rename<'_>],
    bytes: &[u8],
) -> Result<String, Failure> {
    let old = Policy::<T>::new(catalogs.old, old).map_err(Failure::mistake)?;
    let new = Policy::<T>::new(catalogs.new, new).map_err(Failure::mistake)?;
    let migrator = migrator(arguments, (&old, &new), renames)?;
    let mut report = Report::default();
    let migrated = if bytes.starts_with(b"FABS") {
        report.priors = 1;
        migrator.prior(bytes)
    } else {
        transfer::read(bytes).and_then(|stored| {
            let (user, migrated) = migrator.user(&stored)?;
            report.add(&migrated);
            report.users = 1;
            transfer::write(&user)
        })
    };
    let migrated = migrated.map_err(|error| refused(arguments, error))?;
    let text = tell(arguments, &report, &migrator.differences());
    if arguments.dry_run { Ok(text) } else { write(&arguments.new, &migrated, text) }
}

fn refused(arguments: &MigrateArguments, error: StoreError) -> Failure {
    let file = arguments.old.display();
    match error {
        StoreError::Record(RecordError::Catalog | RecordError::Policy)
        | StoreError::Prior(PriorFileError::Record(RecordError::Catalog | RecordError::Policy))
        | StoreError::User(_) => Failure::Mistake(format!(
            "{file} belongs to another catalog or other settings than --from and the flags say"
        )),
        StoreError::Prior(PriorFileError::NotAPrior) => Failure::Mistake(format!("{file}: {error}")),
        error => Failure::Trouble(format!("{file}: {error}")),
    }
}
