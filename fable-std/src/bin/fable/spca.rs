//! `fable spca`: which blocks of the dictionary to learn for a user with little time.

use crate::failure::Failure;
use crate::input;
use crate::inspect::source::{self, Source};
use crate::policy_arguments::PolicyArguments;
use crate::rule_arguments::RuleArguments;
use clap::Args;
use fable_core::{Catalog, HostUser, Policy, Scalar, Settings, Statement};
use fable_std::llm::{Endpoint, Key, Llm};
use fable_std::prior_file::informed;
use fable_std::spca::{Chosen, Expected, Options, choose, expect, parse, touched};
use fable_std::text::{Constraint, Onboarding, OnboardingAdapter, PreferenceText, RequestText, Rules};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::PathBuf;
use std::time::Duration;

/// Chooses the blocks of the dictionary that are worth learning for a user with little time (FABLE-SPCA).
#[derive(Args)]
#[command(long_about = ABOUT, after_help = EXAMPLES)]
pub(crate) struct SpcaArguments {
    /// Most coordinates to keep.
    #[arg(long, value_name = "COORDINATES")]
    budget: usize,
    /// A store with the user, a file that `fable export` has written, or a snapshot: what is known is taken from there. Without it
    /// it is what --about says.
    #[arg(value_name = "FILE|URL")]
    file: Option<PathBuf>,
    /// Which user of the store.
    #[arg(long, value_name = "NAME", requires = "file")]
    user: Option<String>,
    /// What the user says to prefer, in words.
    #[arg(long, value_name = "TEXT", conflicts_with = "file")]
    about: Option<String>,
    /// A request that is to be expected. Repeatable; each is as likely as the others.
    #[arg(long, value_name = "TEXT", conflicts_with = "prototypes")]
    request: Vec<String>,
    /// What is to be expected, as JSON: [{"context":{"task":"coding","risk":0.1,...},"weight":2},...].
    #[arg(long, value_name = "FILE")]
    prototypes: Option<PathBuf>,
    /// A model estimates what is to be expected of --about and the first --request: the address of an OpenAI-compatible server.
    #[arg(long, value_name = "URL", requires = "model", conflicts_with = "prototypes")]
    endpoint: Option<String>,
    /// The model to ask there.
    #[arg(long, value_name = "NAME", requires = "endpoint")]
    model: Option<String>,
    /// How long the call to the endpoint may take.
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = clap::value_parser!(u16).range(1..=3600))]
    timeout: u16,
    /// How much actions with a higher default score are expected; 0 is all alike.
    #[arg(long, value_name = "NUMBER", default_value_t = 4.0)]
    temperature: f64,
    /// Looks for the best single coordinates, too, at most so many nodes; the answer says how far off it may be.
    #[arg(long, value_name = "NODES", num_args = 0..=1, default_missing_value = "500")]
    mask: Option<u64>,
    #[command(flatten)]
    rules: RuleArguments,
    /// Prints JSON instead of text.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    policy: PolicyArguments,
}

const ABOUT: &str = "\
Chooses the blocks of the dictionary that are worth learning for a user with little time (FABLE-SPCA).

Fewer weights are learned from fewer rewards. What is left out changes scores; the blocks are chosen so that this is least, in the mean
square, over the requests that are to be expected, the actions that the default would take, and what is known about the user.
Main effects come before interactions, and blocks that --about speaks of are kept. The search is exact.

What is to be expected is one of: --request, read by fixed rules; --prototypes, a file; --endpoint, a language model, which estimates
contexts and nothing else (its key comes from FABLE_API_KEY or else OPENAI_API_KEY). Without any of them every task is as likely as
the others, with all signals at one half.

What is on the screen:
  retained     the blocks to keep, as the setting: `retained = [...]` in a TOML file, or --retained
  coordinates  how many weights they have, of how many
  lost         the mean square of what the scores lose, and what part that is of losing everything
  mask         with --mask: single coordinates instead of blocks, and what those would lose. Learners keep whole blocks: this
               says what that gives away. It is searched, not solved: `may be lower by` is how far off it is at most";

const EXAMPLES: &str = "\
Examples:
  fable spca --budget 100 --about 'For coding I like short answers' --request 'Fix the bug in parser.rs'
  fable spca --budget 60 users.fable --user ana --prototypes expected.json
  fable spca --budget 40 --about 'I am a nurse' --endpoint http://localhost:11434/v1 --model qwen3
  fable spca --catalog tau2 --budget 8 --mask --json

Exit codes: 0 done, 1 a file or the endpoint cannot be used, 2 a mistake in the command, 3 the store has no such user.";

/// Runs the command and returns what it prints.
pub(crate) fn run(arguments: &SpcaArguments) -> Result<String, Failure> {
    let source = arguments
        .file
        .as_deref()
        .map(|file| source::open(file, arguments.user.as_deref(), None))
        .transpose()?;
    let (catalog, settings) =
        arguments.policy.open_for(source.as_ref().and_then(|source| source.identity.as_ref()))?;
    let mut options = Options {
        inverse_temperature: arguments.temperature,
        mask: arguments.mask,
        ..Options::new(arguments.budget)
    };
    options.allowed = arguments.rules.feasible(catalog)?;
    let said = match &arguments.about {
        Some(text) => Rules.onboarding(catalog, PreferenceText::new(text)).map_err(Failure::mistake)?.value,
        None => Onboarding::default(),
    };
    let statements = said.preferences.iter().filter_map(|preference| preference.statement(catalog).ok());
    let statements: Vec<Statement> = statements.collect();
    for statement in &statements {
        touched(catalog, &statement.direction).iter().for_each(|block| options.keep.insert(block));
    }
    let constraints = source.as_ref().map_or(Ok(said.constraints), |source| source.stated(catalog))?;
    let expected = expected(arguments, catalog)?;
    let digits = source.as_ref().map_or(Ok(53), Source::digits)?;
    let asked = Asked { source, statements, constraints, expected, options };
    let chosen = if digits == 24 {
        asked.choose::<f32>(catalog, settings)
    } else {
        asked.choose::<f64>(catalog, settings)
    }?;
    let report = json!({
        "catalog": catalog.definition().name,
        "budget": arguments.budget,
        "dimension": catalog.dimension(),
        "chosen": chosen,
        "prototypes": asked.expected.iter().map(|expected| shown(catalog, expected)).collect::<Vec<_>>(),
    });
    Ok(if arguments.json { format!("{report:#}\n") } else { told(catalog, &chosen, asked.expected.len()) })
}

/// What is chosen from.
struct Asked {
    source: Option<Source>,
    statements: Vec<Statement>,
    constraints: Vec<Constraint>,
    expected: Vec<Expected>,
    options: Options,
}

impl Asked {
    fn choose<T: Scalar + nalgebra::Scalar>(
        &self,
        catalog: &Catalog<'_>,
        settings: Settings<'_>,
    ) -> Result<Chosen, Failure> {
        let base = Policy::<T>::new(catalog, settings).map_err(Failure::mistake)?;
        let prior = self.source.as_ref().map_or(Ok(None), |source| source.prior(&base))?;
        let policy = informed(&base, prior.as_deref()).map_err(Failure::mistake)?;
        let mut host = match &self.source {
            Some(source) => source.play(&policy)?,
            None => HostUser::new(&policy, "").map_err(Failure::mistake)?,
        };
        for statement in &self.statements {
            host.user().onboard(statement).map_err(Failure::mistake)?;
        }
        choose(&mut host.user(), &self.expected, &self.constraints, &self.options).map_err(Failure::mistake)
    }
}

fn expected(arguments: &SpcaArguments, catalog: &Catalog<'_>) -> Result<Vec<Expected>, Failure> {
    if let Some(path) = &arguments.prototypes {
        let text = String::from_utf8(input::read(path)?)
            .map_err(|_| Failure::Trouble(format!("{}: not a text", path.display())))?;
        return parse(catalog, &text)
            .map_err(|error| Failure::Mistake(format!("{}: {error}", path.display())));
    }
    if let (Some(url), Some(model)) = (&arguments.endpoint, &arguments.model) {
        let timeout = Duration::from_secs(arguments.timeout.into());
        let endpoint = Endpoint { timeout, ..Endpoint::new(url, model) };
        let llm = Llm::new(endpoint, Key::from_env().map_err(Failure::mistake)?).map_err(Failure::mistake)?;
        let about = PreferenceText::new(arguments.about.as_deref().unwrap_or(""));
        let request = arguments.request.first().map(|text| RequestText::new(text));
        return llm.prototypes(catalog, about, request).map_err(|error| Failure::Trouble(error.to_string()));
    }
    if !arguments.request.is_empty() {
        let requests: Vec<&str> = arguments.request.iter().map(String::as_str).collect();
        return expect(catalog, &requests).map_err(Failure::mistake);
    }
    let definition = catalog.definition();
    let tasks: Vec<Option<&str>> = definition.tasks.iter().map(|task| Some(*task)).collect();
    let tasks = if tasks.is_empty() { vec![None] } else { tasks };
    let weight = 1.0 / tasks.len() as f64;
    let halves = || definition.signals.iter().map(|signal| (*signal, 0.5));
    let context = |task| catalog.context(task, halves()).map_err(Failure::mistake);
    tasks.into_iter().map(|task| Ok(Expected { context: context(task)?, weight })).collect()
}

fn shown(catalog: &Catalog<'_>, expected: &Expected) -> Value {
    let definition = catalog.definition();
    let signals = definition.signals.iter().zip(expected.context.signals());
    let mut context: serde_json::Map<String, Value> =
        signals.map(|(name, level)| ((*name).to_owned(), json!(level))).collect();
    context.insert("task".into(), json!(expected.context.task().and_then(|task| definition.tasks.get(task))));
    json!({ "context": context, "weight": expected.weight })
}

fn told(catalog: &Catalog<'_>, chosen: &Chosen, expected: usize) -> String {
    let mut out = String::new();
    let mut line = |head: &str, text: String| {
        let _ = writeln!(out, "{head:<12} {text}"); // writing to a String cannot fail
    };
    let part = |error: f64| 100.0 * error / chosen.error_of_nothing.max(f64::MIN_POSITIVE);
    line(
        "expected",
        if expected == 1 { "one kind of request".into() } else { format!("{expected} kinds of requests") },
    );
    line("retained", if chosen.retained.is_empty() { "nothing".into() } else { chosen.retained.join(",") });
    line("coordinates", format!("{} of {}", chosen.coordinates, catalog.dimension()));
    line("lost", format!("{:.6}, {:.1}% of everything", chosen.error, part(chosen.error)));
    if let Some(mask) = &chosen.mask {
        let off = if mask.gap > 0.0 { format!("; may be lower by {:.6}", mask.gap) } else { String::new() };
        line(
            "mask",
            format!(
                "{} coordinates lose {:.6}, {:.1}%{off}",
                mask.coordinates.len(),
                mask.error,
                part(mask.error)
            ),
        );
        mask.coordinates.iter().for_each(|name| line("", name.clone()));
    }
    out
}
