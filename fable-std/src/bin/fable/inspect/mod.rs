//! `fable inspect`: what Fable believes about one user, from a store, an exported file or a device's snapshot.

pub(crate) mod source;
mod text;

use crate::failure::Failure;
use crate::output;
use crate::policy_arguments::PolicyArguments;
use crate::prior_argument;
use crate::rule_arguments::RuleArguments;
use clap::Args;
use fable_core::{Catalog, Policy, Scalar, Settings};
use fable_std::identify::Allowed;
use fable_std::inspect::{Inspection, Question, Selection, inspect, inspect_under, picture};
use fable_std::prior_file::informed;
use serde_json::json;
use source::Source;
use std::path::{Path, PathBuf};

/// Shows what Fable believes about one user, and how sure it is.
#[derive(Args)]
#[command(long_about = ABOUT, after_help = EXAMPLES)]
pub(crate) struct InspectArguments {
    /// A store, a file that `fable export` has written, or a snapshot from `fable device snapshot save`.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Which user of the store.
    #[arg(long, value_name = "NAME", conflicts_with = "journal")]
    user: Option<String>,
    /// The store, when FILE is the name of a user instead: `fable inspect ana --store users.fable`.
    #[arg(long, value_name = "FILE|URL", conflicts_with_all = ["user", "journal"])]
    store: Option<PathBuf>,
    /// The device's journal after the snapshot, from `fable device journal`.
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
    /// The prior in the policy of the device, from `fable prior fit`. A store and an exported user know theirs.
    #[arg(long, value_name = "FILE")]
    prior: Option<PathBuf>,
    /// Lists every weight, not only the strongest of each block.
    #[arg(long)]
    all: bool,
    /// Shows these blocks of the dictionary alone, all of their weights: names from `fable catalog show`.
    #[arg(long, value_name = "BLOCK,...", value_delimiter = ',')]
    block: Vec<String>,
    /// Asks for one more contrast: the other components are at their null or first value and all signals are 0.
    #[arg(long, value_name = "COMPONENT=VALUE:VALUE[@TASK]")]
    contrast: Vec<String>,
    #[command(flatten)]
    rules: RuleArguments,
    /// Draws a picture into a file that nobody else can read.
    #[arg(long, value_name = "FILE.svg")]
    svg: Option<PathBuf>,
    /// Prints JSON instead of text: everything, or the chosen blocks.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    policy: PolicyArguments,
}

const ABOUT: &str = "\
Shows what Fable believes about one user, and how sure it is.

Nothing is changed. Catalog and settings have to be those that the user was
learned under; seed and exploration do not matter. The prior that the user began
with is known from the store or the file. The same life looks the same
from a store, an exported file and a device. A file may have 512 MiB, a device's
journal 16 MiB; what is larger is refused.

What is on the screen:
  Weights      what was learned, block by block of the catalog's dictionary,
               the largest first. A weight is added to the score of every
               action that has the value (or the pair, in the task, in
               proportion to the signal). `style, for each task` has a weight
               for each style in each task; `style, the more risk` one that
               counts in proportion to the risk; `memory with tool` one for
               each pair. Weights at exactly 0 are shown with --all alone
  the bar      the mean: right of the line is liked, left disliked. `a full
               bar` says how much fills a side
  mean         the best guess of the weight, on the scale of rewards (-1 to 1)
  sd           the standard deviation of that guess. Single weights stay
               uncertain, since many settings of them give the same scores: to
               know whether a user prefers one thing to another, look at the
               contrasts
  rewards      how many rewards it was learned from; <= where the state counts
               the values alone, so it may be fewer. For a contrast: of actions
               with one of the two values
  Contrasts    preferences that the catalog declares or --contrast asks for:
               how much better one action is than another that differs in one
               value. The name says which over which; positive is for the first
  estimate     the best guess, the dot in the line
  interval     where the true value is with probability 1 - alpha, for all
               contrasts and all time at once, however often one looks: the
               line, with 0 in the middle. `a full side` says how long half the
               line is
  needs        what is missing until the preference can be promoted: the
               interval has to leave zero, on at least --min-evidence rewards.
               The number of rewards is a guess; it takes the estimate for the
               truth. `more than rewards can tell`: what is allowed never
               compares the two. Allowed is what the user's own rules leave in
               the store, with --forbid and --require; without any of them what
               the last decision had to choose from. `fable identify` says more
  coins        with --probe: rounds in which a fair coin chose between the two
               values, everything else being the same. `12 of 480 needed`: the
               e-value, what a bet on the coins has made of 1. Without a
               difference it ever reaches 480 in one life of 480 at most. On
               average: how much better the first value was rewarded over
               these coins, costs and all, and the interval of that, which
               holds for all time. It shrinks more slowly than the bet wins, so
               it may cover zero when the preference is certain already
  Profile      promoted preferences: what the assistant is told, by which rule,
               since when, on how much and on which interval. By coins: a bet
               has won what is needed, which takes no model and no assumption
               about noise. By the model: its interval has left zero. Each
               holds, is doubtful (its interval covers zero again) or revoked
               (its interval lies on the other side, or later coins spoke
               against it).
               Coins say that in the contexts in which they were tossed the
               value was preferred at some time. A reward that does not come
               says nothing; if whether a user answers depends on how pleased
               the user is, what coins show can be wrong
  State        the user as a whole:
  rounds       decisions made, rewards learned, and decisions still waiting for
               their reward
  learned      how many independent directions of preference the rewards (and
               onboarding) have settled, of how many there are; movable is how
               many weights feedback can reach under the permissions of the
               last decision
  information  how much was learned in all (log-determinant ratio), and beta:
               half an interval is beta times sd
  guarantee    whether the promise of the intervals holds, or why it has ended
  surprise     how much more than expected rewards differ from what was
               predicted, and whether the user seems to have changed; of users
               who stay the same one in 1,000 rewards raises that alarm, or
               fewer
  numbers      whether all numbers of the state are finite, and the pivots of
               its factor: far apart is ill-conditioned
  size         bytes of the posterior, and the numbers it is kept in
  catalog      name and fingerprint of the catalog; stored state is refused
               under another one
  settings     fingerprint of catalog, settings and prior together, and whether
               the user began with a fitted prior
  user         hash of the user's name, and how often the user was forgotten
               (the incarnation); of several places which one decides, and
               how much is known of the others
  version      version of stored records and revision of the arithmetic";

const EXAMPLES: &str = "\
Examples:
  fable inspect users.fable --user ana
  fable inspect users.fable --user ana --block style,task*style --svg ana.svg
  fable inspect users.fable --user ana --contrast style=concise:detailed@coding
  fable inspect users.fable --user ana --require memory=no_memory   # if that is all that is allowed
  fable export ana ana.user --store users.fable && fable inspect ana.user --json
  fable device --port /dev/ttyACM0 snapshot save board.snapshot
  fable inspect board.snapshot --catalog tau2

Exit codes: 0 done, 1 a file cannot be read or written or is damaged, 2 a
mistake in the command, or another catalog or other settings, 3 the store has
no such user.";

/// Runs the command and returns what it prints.
pub(crate) fn run(arguments: &InspectArguments) -> Result<String, Failure> {
    let named = arguments.file.to_string_lossy();
    let (file, user) = match &arguments.store {
        Some(store) => (store, Some(&*named)),
        None => (&arguments.file, arguments.user.as_deref()),
    };
    let mut source = source::open(file, user, arguments.journal.as_deref())?;
    let (catalog, settings) = arguments.policy.open_for(source.identity.as_ref())?;
    prior_argument::give(&mut source.tape, arguments.prior.as_deref(), catalog, settings)?;
    let chosen = chosen(catalog, &arguments.block)?;
    let questions =
        arguments.contrast.iter().map(|text| Question::parse(catalog, text).map_err(Failure::mistake));
    let questions = questions.collect::<Result<Vec<_>, _>>()?;
    let allowed = arguments.rules.allowed(catalog, source.allowed(catalog)?)?;
    let mut report = match source.digits()? {
        24 => inspected::<f32>(catalog, settings, &source, &questions, allowed.as_ref())?,
        _ => inspected::<f64>(catalog, settings, &source, &questions, allowed.as_ref())?,
    };
    if !chosen.is_empty() {
        report.blocks.retain(|block| chosen.contains(&block.name));
    }
    let selection = if arguments.all || !chosen.is_empty() { Selection::All } else { Selection::Strongest };
    if let Some(svg) = &arguments.svg {
        for taken in [Some(file), arguments.journal.as_ref()].into_iter().flatten() {
            if same(taken, svg) {
                return Err(Failure::Mistake(format!(
                    "{} is what is looked at: --svg would replace it",
                    svg.display()
                )));
            }
        }
        output::keep(svg, picture::draw(&source.name, &report, selection).as_bytes())?;
    }
    if arguments.json {
        let Inspection { state, blocks, contrasts } = &report;
        return Ok(format!(
            "{:#}\n",
            json!({ "source": source.name, "state": state, "blocks": blocks, "contrasts": contrasts })
        ));
    }
    Ok(text::told(&source.name, &report, selection, !chosen.is_empty()))
}

/// Whether two paths lead to one file.
fn same(one: &Path, other: &Path) -> bool {
    one.canonicalize().ok().zip(other.canonicalize().ok()).is_some_and(|(one, other)| one == other)
}

/// The names of the chosen blocks.
fn chosen(catalog: &Catalog<'_>, names: &[String]) -> Result<Vec<String>, Failure> {
    let known = fable_std::settings::block_names(catalog);
    match names.iter().find(|name| !known.contains(name)) {
        Some(name) => {
            Err(Failure::Mistake(format!("--block: there is no block '{name}'; known: {}", known.join(", "))))
        }
        None => Ok(names.to_vec()),
    }
}

fn inspected<T: Scalar>(
    catalog: &Catalog<'_>,
    settings: Settings<'_>,
    source: &Source,
    questions: &[Question],
    allowed: Option<&Allowed>,
) -> Result<Inspection, Failure> {
    let base = Policy::<T>::new(catalog, settings).map_err(Failure::mistake)?;
    let prior = source.prior(&base)?;
    let policy = informed(&base, prior.as_deref()).map_err(Failure::mistake)?;
    let mut played = source.play(&policy)?;
    let report = match allowed {
        Some(allowed) => inspect_under(&mut played.user(), questions, allowed),
        None => inspect(&mut played.user(), questions),
    };
    report.map_err(Failure::mistake)
}
