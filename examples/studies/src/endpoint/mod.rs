//! Three of the paper's experiments against any model that speaks OpenAI's chat completions.
//!
//! An `Experiment` says what it will ask and then asks it. Every answer is kept ([`transcripts`]), so a run that was stopped
//! goes on and a finished one is made again without a call. Trajectories run beside each other; within one each call depends on
//! what was learned from those before. Of a trajectory only its outcomes are kept in memory.

pub mod cost;
pub mod model;
pub mod options;
pub mod reading;
mod rubric;
mod tau2;
pub mod transcripts;
mod two_direction;
pub mod wording;

use crate::files;
use crate::report::Report;
use crate::setup::{Setup, StudyError};
use cost::{Console, Plan};
use fable_core::{Action, Catalog, Promotion};
use fable_std::llm::{Chat, Endpoint, Key, LlmError};
use model::{Log, Model, NoAnswer, Patience, Server};
use options::Options;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{env, fs, io};
use transcripts::Transcripts;
use wording::Wording;

/// The experiments that a model can be asked for.
pub const NAMES: [&str; 3] = ["two-direction", "rubric", "tau2"];

/// An experiment with its data at hand.
trait Experiment: Sync {
    /// What will be asked.
    fn plan(&self, wording: &Wording) -> Vec<cost::Calls>;

    /// Asks it.
    fn run(&self, model: &Model, setup: &Setup) -> Result<Report, StudyError>;
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// There are reports, or it was only asked what they would cost.
    Done,
    /// Nobody said yes.
    NotConfirmed,
    /// Something went wrong, and was told.
    Failed,
    /// The command cannot be meant.
    Mistake,
}

/// An experiment before anybody is asked.
struct Prepared {
    name: &'static str,
    experiment: Box<dyn Experiment>,
    /// What is left to ask.
    rest: Plan,
    /// The report, where all of it is in the transcripts.
    report: Option<Report>,
    /// What is in the transcripts.
    found: Log,
}

/// Runs the named experiments, or all, one after the other until one does not end well. What they cost is told before the first.
#[must_use]
pub fn run(
    options: &Options,
    setup: &Setup,
    names: &[String],
    out: Option<&Path>,
    console: &mut Console<'_>,
) -> End {
    let out = out.map_or_else(|| options.usual_out(), Path::to_owned);
    let chosen = match checked(options, names, &out) {
        Ok(chosen) => chosen,
        Err(mistake) => {
            console.say(&format!("studies: {mistake}"));
            return End::Mistake;
        }
    };
    // A wrong address or key shows before anything is computed, and before the address is shown.
    let server = match server(options) {
        Ok(server) => server,
        Err(error) => {
            console.say(&format!("studies: {error}"));
            return End::Mistake;
        }
    };
    let folder = options.transcripts.clone().unwrap_or_else(|| out.join("transcripts"));
    let mut prepared = Vec::new();
    for name in chosen {
        match prepare(options, setup, name, &folder) {
            Ok(experiment) => prepared.push(experiment),
            Err(error) => {
                console.say(&format!("{name}: {error}"));
                return End::Failed;
            }
        }
    }
    if let Err(end) = confirm(options, &prepared, &folder, console) {
        return end;
    }
    for one in &prepared {
        if let Err(error) = one.run(options, setup, &server, &folder, &out, console) {
            console.say(&format!("{}: {error}", one.name));
            return End::Failed;
        }
    }
    End::Done
}

/// The experiments that are meant, or why the command cannot be meant.
fn checked(options: &Options, names: &[String], out: &Path) -> Result<Vec<&'static str>, String> {
    if options.model.as_deref().is_none_or(|model| model.trim().is_empty()) {
        return Err("--model is empty".into());
    }
    if is_home(out) {
        return Err(
            "--out is in the folder of the committed results, which a run against a model does not overwrite"
                .into(),
        );
    }
    if let Some(name) = names.iter().find(|name| *name != "all" && !NAMES.contains(&name.as_str())) {
        return Err(format!("'{name}' does not run against a model; {} do", NAMES.join(", ")));
    }
    let all = names.is_empty() || names.iter().any(|name| name == "all");
    Ok(NAMES.into_iter().filter(|known| all || names.iter().any(|name| name == known)).collect())
}

/// Whether a folder is in the one with the committed results, however it is written and whether or not it is there yet.
fn is_home(out: &Path) -> bool {
    let whole = |path: &Path| path.ancestors().find_map(|path| path.canonicalize().ok());
    let home = [files::home(), PathBuf::from("examples/studies")].map(|path| path.canonicalize().ok());
    whole(out).is_some_and(|out| home.iter().flatten().any(|home| out.starts_with(home)))
}

fn server(options: &Options) -> Result<Server, LlmError> {
    let mut endpoint = Endpoint::new(options.endpoint.clone().unwrap_or_default(), "");
    endpoint.timeout = Duration::from_secs(options.timeout.get().into());
    let key = env::var_os(&options.key_env)
        .map(|key| key.to_string_lossy().trim().to_owned())
        .filter(|key| !key.is_empty());
    let key = key.map(|key| Key::new(&key)).transpose()?;
    let no_key = key.is_none().then(|| options.key_env.clone());
    let patience = Patience { retries: options.retries, first_wait: Duration::from_millis(options.wait) };
    Ok(Server { chat: Chat::new(endpoint, key)?, patience, no_key })
}

/// Reads an experiment's data and looks how much of it is in the transcripts.
fn prepare(
    options: &Options,
    setup: &Setup,
    name: &'static str,
    folder: &Path,
) -> Result<Prepared, StudyError> {
    let experiment: Box<dyn Experiment> = match name {
        "two-direction" => Box::new(two_direction::TwoDirection::read(options)?),
        "rubric" => Box::new(rubric::Rubric::read(options, setup)?),
        _ => Box::new(tau2::Tau2::read(options, setup)?),
    };
    let wording = options.wording();
    // Each trajectory is made again until a transcript is missing.
    let model = Model::offline(wording.clone(), Transcripts::new(folder));
    let report = match experiment.run(&model, &quiet(setup)) {
        Ok(report) => Some(report),
        Err(StudyError::Failed(error)) if error.downcast_ref::<NoAnswer>() == Some(&NoAnswer::NotYet) => None,
        Err(error) => return Err(error),
    };
    let found = model.finish();
    let calls = if report.is_some() { Vec::new() } else { experiment.plan(&wording) };
    let rest = Plan { name, calls }.without(&found.cached);
    Ok(Prepared { name, experiment, rest, report, found })
}

/// The progress of a run is that of its calls.
fn quiet(setup: &Setup) -> Setup {
    Setup { progress: false, ..setup.clone() }
}

/// Says what the experiments cost and asks whether to go on; how it ended, where it does not.
fn confirm(
    options: &Options,
    prepared: &[Prepared],
    folder: &Path,
    console: &mut Console<'_>,
) -> Result<(), End> {
    let rest: Vec<Plan> =
        prepared.iter().filter(|one| one.report.is_none()).map(|one| one.rest.clone()).collect();
    let there: usize = prepared.iter().map(|one| one.found.calls.len()).sum();
    let Wording { host, judge, .. } = options.wording();
    let (calls, address) =
        (rest.iter().map(Plan::count).sum::<usize>(), options.endpoint.as_deref().unwrap_or_default());
    if rest.is_empty() {
        console.say(&format!(
            "All {there} calls are in the transcripts in {}; nothing is asked.",
            folder.display()
        ));
        return if options.dry_run { Err(End::Done) } else { Ok(()) };
    }
    console.say(&format!(
        "About {calls} calls to {address}, model {host}, judge {judge}; {there} are in the transcripts in {}.\n{}",
        folder.display(),
        cost::table(&rest, options.prices())
    ));
    if options.dry_run {
        return Err(End::Done);
    }
    match console.confirmed(options.yes) {
        Ok(Some(true)) => Ok(()),
        Ok(Some(false)) => {
            console.say("Not started.");
            Err(End::NotConfirmed)
        }
        Ok(None) => {
            console.say(
                "Not started: there is nobody to ask. --yes starts it, --dry-run only says what it costs.",
            );
            Err(End::NotConfirmed)
        }
        Err(error) => {
            console.say(&format!("Not started: {error}"));
            Err(End::Failed)
        }
    }
}

impl Prepared {
    fn run(
        &self,
        options: &Options,
        setup: &Setup,
        server: &Server,
        folder: &Path,
        out: &Path,
        console: &mut Console<'_>,
    ) -> Result<(), StudyError> {
        let wording = options.wording();
        if let Some(report) = &self.report {
            return self.write(out, report, &self.found, &wording, console);
        }
        let expected = self.found.all_cached() + self.rest.count();
        let model = Model::online(
            wording.clone(),
            Transcripts::new(folder),
            server.clone(),
            expected,
            setup.progress,
        );
        let report = self.experiment.run(&model, &quiet(setup));
        let log = model.finish();
        match report {
            Ok(report) => self.write(out, &report, &log, &wording, console),
            Err(error) => {
                let why = log.failure().map_or_else(|| error.to_string(), str::to_owned);
                let new = log.new;
                Err(StudyError::Failed(
                    format!(
                        "{why}\n{}: stopped after {new} new calls, which are kept: the same command goes on from there",
                        self.name
                    )
                    .into(),
                ))
            }
        }
    }

    /// Writes the report, the hashes of its transcripts, and what this run did for it.
    fn write(
        &self,
        out: &Path,
        report: &Report,
        log: &Log,
        wording: &Wording,
        console: &mut Console<'_>,
    ) -> Result<(), StudyError> {
        let name = self.name;
        let mut report = report.clone();
        report.heading("The calls");
        let models: Vec<String> =
            log.models.iter().map(|(model, calls)| format!("`{model}` ({calls})")).collect();
        report.text(&format!(
            "{} calls; the model is `{}`, the judge `{}`; the server answered as {}. It counted {} tokens of requests and {} of answers;
             {} answers broke off at the limit of tokens. The SHA-256 of the list of all calls with the hashes of their requests and
             answers, `{name}-transcripts.csv`, is `{}`. How many of them were new in the last run is in `{name}-run.txt`.",
            log.calls.len(),
            wording.host,
            wording.judge,
            models.join(", "),
            log.tokens.0,
            log.tokens.1,
            log.cut,
            log.hash()
        ));
        files::write(out, name, &report)?;
        let folder = out.join("results");
        let (cached, new) = (log.all_cached(), log.new);
        for (part, text) in [
            ("transcripts.csv", log.csv()),
            ("numbers.txt", report.numbers_text()),
            ("run.txt", format!("cached {cached}\nnew {new}\ntried again {}\n", log.retried)),
        ] {
            fs::write(folder.join(format!("{name}-{part}")), text)?;
        }
        let page = folder.join(format!("{name}.md"));
        console.say(&format!(
            "{name}: {new} new calls, {cached} from the transcripts; look at {}",
            page.display()
        ));
        Ok(())
    }
}

/// What an action asks for, a sentence for each component, and what was promoted about the user.
fn instruction(catalog: &Catalog<'_>, action: Action, profile: &[Promotion]) -> String {
    let values = catalog.values(action);
    let values = values.iter().flat_map(|values| values.iter());
    let asked = catalog.definition().components.iter().zip(values);
    let mut lines: Vec<String> = asked
        .filter_map(|(component, value)| {
            Some(component.values.get(usize::from(*value))?.instruction.to_owned())
        })
        .collect();
    for promotion in profile {
        let mut line = String::new();
        // Writing into a text does not fail.
        let _ = promotion.write_sentence(catalog, &mut line);
        lines.extend((!line.is_empty()).then_some(line));
    }
    lines.join(" ")
}

/// The text of a file of the data, or what is missing.
fn text_of(path: &Path, source: &'static str) -> Result<String, StudyError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(StudyError::MissingData { path: path.to_owned(), source })
        }
        Err(error) => Err(StudyError::BadData { path: path.to_owned(), reason: error.to_string() }),
    }
}

/// A table's cell for something that is true so many times.
fn of(count: usize, all: usize) -> String {
    format!("{count} of {all}")
}
