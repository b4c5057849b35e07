//! `fable prior`: a prior for users who come, fitted from those who were there.

use crate::failure::Failure;
use crate::input::read;
use crate::output::write;
use crate::policy_arguments::{PolicyArguments, ScalarName};
use crate::prior_argument::refused;
use clap::{Args, Subcommand};
use fable_core::{Catalog, Policy, Scalar, Settings, user_hash};
use fable_std::prior::{Evidence, FitError, Kept, Options, Population, fit_telling};
use fable_std::prior_file::{self, NOBODY, address};
use fable_std::replay::Tape;
use fable_std::store::{Store, transfer};
use indicatif::ProgressBar;
use serde_json::json;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What users have in common, as a start for those who come.
///
/// A new user begins with the base prior, which knows nothing: mean 0, the same precision everywhere. What is true of most users
/// saves a new one many rounds. `fit` finds it in the journals of those who were there, --prior of `serve`, `chat`, `evaluate` and `demo`
/// begins with it, and `address` makes it one for a certain user: of a device, or of a store that imports it.
///
/// Exit codes: 0 done, 1 a file cannot be read or written, 2 a mistake in the command, too few users, or a journal of another catalog.
#[derive(Args)]
#[command(arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct PriorArguments {
    #[command(subcommand)]
    command: PriorCommand,
}

const EXAMPLES: &str = "\
Examples:
  fable prior fit crowd.prior --store users.fable
  fable serve --store users.fable --prior crowd.prior
  fable prior fit crowd.prior --store users.fable --choose-noise
  fable prior fit crowd.prior ana.user ben.user cleo.user dan.user eve.user --catalog tau2 --base-precision 8
  fable prior address crowd.prior board.snapshot --user 00000000000000ab --catalog tau2
  fable device --port /dev/ttyACM0 snapshot load board.snapshot";

#[derive(Subcommand)]
enum PriorCommand {
    Fit(Box<FitArguments>),
    Address(Box<AddressArguments>),
}

const FIT: &str = "\
Fits a prior to the users of a store, and of files that `fable export` has written.

A user's preferences theta are taken as one draw from a Gaussian N(m, P^-1). Nobody has seen a theta, only rewards, so m and P are
found by expectation and maximization: each user's posterior under the present m and P, then the m and P that these posteriors make
most likely, until nothing is gained any more. P keeps the shape of the learner's state (tasks meet through what they share), so
deciding and learning cost what they did.

With few users much of what they seem to have in common is chance, and some users have nothing in common. So users are left out of
the fit, and their rewards are foretold: by fits held back by more or fewer imagined users without anything in common, with all or a
part of the mean, by the settings' own prior, and by one four times as precise. The best fit is kept if the users left out are
likelier under it by 2 nats in all and by half a standard error, and otherwise the better of the other two. How high rewards
are in general does not count, only which choices they favour.

At least 5 users with something learned are needed, 50 are better. Rewards and stated preferences count; imputed rewards, what
was unlearned and what came before a user was forgotten do not. Catalog and settings are those of the store, unless its catalog is
a file, which has to be named; with files alone they have to be said. They have to be those of the journals; seed, exploration and
promotion may differ.

What is printed:
  users, observed     of how many users how much was used
  kept                what of the fit: the share of the mean, and how many imagined users hold the precision back; or \"nothing in
                      common\", with the precision that all coordinates have then
  gain                how much better left-out users are foretold than by the best prior that is the same everywhere: in nats for
                      each user, with the standard error
  likelihood          ln p of an observation, on average, under the base prior and under this one
  noise variance      that the prior is for: --noise-variance of every command that uses it. With --choose-noise also which one it
                      replaces; otherwise, when errors on left-out users were much larger or smaller than foretold, how much
  written             bytes of the file, and the fingerprint that `fable inspect` shows of those who begin with it
  strongest           the coordinates in which users are most alike: the mean, and the spread between users

The file is for --prior of serve, chat, evaluate and demo. The store that it was fitted from takes it too: its users go on with the
prior they began with, new ones begin with this one. A later fit counts users of every prior, for only what was observed matters. Promotions
are not `valid` for those who begin with it: that needs to know how far a user can be from the prior, and nobody does.

The file is a snapshot with zero rounds. It holds averages, no user; but an average of five still tells about each of them. Nobody
else can read it, and one that is there is replaced as a whole or not at all. An exported user may have 512 MiB; what is larger is refused.
Exit codes: 0 done, 1 a file cannot be read or written, 2 a mistake in the command, too few users, or a journal of another catalog.";

/// Fits a prior to the users of a store, and of files that `fable export` has written.
#[derive(Args)]
#[command(long_about = FIT, after_help = EXAMPLES)]
struct FitArguments {
    /// The file to write; `-` is standard output.
    prior: PathBuf,
    /// Exported users.
    #[arg(value_name = "USER_FILE", required_unless_present = "store")]
    files: Vec<PathBuf>,
    /// A store; all of its users count.
    #[arg(long, value_name = "FILE|URL")]
    store: Option<PathBuf>,
    /// Keeps the whole mean, with so many imagined users to hold the precision back. Users left out decide if it is not given.
    #[arg(long, value_name = "COUNT")]
    shrink: Option<f64>,
    /// Chooses the noise variance on users left out, too. The prior is then one for that noise variance, which is printed, and
    /// which has to be given to every command that uses the prior.
    #[arg(long, conflicts_with = "shrink")]
    choose_noise: bool,
    /// Most steps of expectation and maximization.
    #[arg(long, value_name = "COUNT", default_value_t = Options::default().steps as u32, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    steps: u32,
    /// The numbers in which the new users will be kept; default those of the store, and f64 without one.
    #[arg(long, value_enum)]
    scalar: Option<ScalarName>,
    /// Prints JSON instead of text.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    policy: PolicyArguments,
}

/// Makes a prior the first snapshot of one user, for a device or for `fable import`.
///
/// A device has one user, and takes no other's snapshot: `fable device hello` says whose it is. `fable device snapshot load` then
/// puts it there. What the device had learned is replaced; after `forget` it begins from its own prior again. That is another
/// matter: `fable device prior load` puts a prior where forgetting goes back to. A prior may have 512 MiB; what is larger is refused.
///
/// Exit codes: 0 done, 1 a file cannot be read or written, 2 a mistake in the command, or a prior of another catalog.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
struct AddressArguments {
    /// A prior that `fable prior fit` has written.
    prior: PathBuf,
    /// The snapshot to write; `-` is standard output.
    snapshot: PathBuf,
    /// The user's name, or the 16 hexadecimal digits that `fable device hello` prints.
    #[arg(long, value_name = "NAME|HASH")]
    user: String,
    /// The numbers that the device computes in.
    #[arg(long, value_enum, default_value_t = ScalarName::F32)]
    scalar: ScalarName,
    #[command(flatten)]
    policy: PolicyArguments,
}

/// Runs the command and returns what it prints.
pub(crate) fn run(arguments: &PriorArguments) -> Result<String, Failure> {
    match &arguments.command {
        PriorCommand::Fit(arguments) => fit_users(arguments),
        PriorCommand::Address(arguments) => address_user(arguments),
    }
}

fn fit_users(arguments: &FitArguments) -> Result<String, Failure> {
    let store = arguments.store.as_deref().map(|path| opened(path, &arguments.prior)).transpose()?;
    let identity = store.as_ref().map(|store| store.identity()).transpose()?;
    let (catalog, settings) = arguments.policy.open_for(identity.as_ref())?;
    let policy = Policy::<f64>::new(catalog, settings).map_err(Failure::mistake)?;
    let (users, scalar) = gather(arguments, store.as_deref(), &policy)?;
    let options = Options {
        shrinkage: arguments.shrink,
        choose_noise: arguments.choose_noise,
        steps: arguments.steps as usize,
        ..Options::default()
    };
    let bar = ProgressBar::new_spinner().with_message(format!("{} users", users.len()));
    bar.enable_steady_tick(Duration::from_millis(200));
    let population = fit_telling(&policy, &users, &options, &mut |doing| bar.set_message(doing.to_owned()));
    bar.finish_and_clear();
    let population = population.map_err(Failure::mistake)?;
    let chosen = Settings { noise_variance: population.noise_variance, ..settings };
    let (bytes, fingerprint) = match scalar {
        ScalarName::F32 => {
            written(&Policy::<f32>::new(catalog, chosen).map_err(Failure::mistake)?, &population)
        }
        ScalarName::F64 => {
            written(&Policy::<f64>::new(catalog, chosen).map_err(Failure::mistake)?, &population)
        }
    }
    .map_err(Failure::mistake)?;
    let told = if arguments.json {
        described(catalog, &population, fingerprint)
    } else {
        told(catalog, &population, &settings, bytes.len(), fingerprint)
    };
    write(&arguments.prior, &bytes, told)
}

/// The file, and the fingerprint that those have who begin with it.
fn written<T: Scalar>(base: &Policy<'_, T>, population: &Population) -> Result<(Vec<u8>, u64), FitError> {
    let bytes = population.snapshot(base, NOBODY)?;
    let packed = prior_file::read(base, &bytes)?;
    Ok((bytes, prior_file::informed(base, Some(&packed))?.fingerprint()))
}

/// The store to fit from, which is not what the prior is written to.
fn opened(path: &Path, prior: &Path) -> Result<Box<dyn Store>, Failure> {
    let store = crate::store_key::open_any(path)?;
    if store.is_at(prior) {
        return Err(Failure::Mistake(format!("{} is the store itself", prior.display())));
    }
    Ok(store)
}

/// What was observed of everyone, and the numbers in which new users will be kept.
fn gather(
    arguments: &FitArguments,
    store: Option<&dyn Store>,
    policy: &Policy<'_, f64>,
) -> Result<(Vec<Evidence>, ScalarName), Failure> {
    let (mut users, mut scalar) = (Vec::new(), ScalarName::F64);
    if let (Some(path), Some(store)) = (&arguments.store, store) {
        users = Evidence::of_store(policy, store).map_err(|error| Failure::from_reading(path, &error))?;
        if store.identity()?.scalar() == Some("f32") {
            scalar = ScalarName::F32;
        }
    }
    for path in &arguments.files {
        let told = |error| Failure::from_reading(path, &error);
        let stored = transfer::read(&read(path)?).map_err(told)?;
        users.push(Evidence::of_tape(policy, &Tape::of_user(&stored).map_err(told)?).map_err(told)?);
    }
    Ok((users, arguments.scalar.unwrap_or(scalar)))
}

/// The coordinates with the largest means against the spread, and that spread.
fn strongest(catalog: &Catalog<'_>, population: &Population, count: usize) -> Vec<(String, f64, f64)> {
    let (mean, spread) = (population.prior.mean(), population.prior.deviations());
    let mut all: Vec<usize> = (0..mean.len()).collect();
    all.sort_by(|one, other| {
        (mean[*other] / spread[*other]).abs().total_cmp(&(mean[*one] / spread[*one]).abs())
    });
    let named =
        |index: usize| Some((catalog.coordinate_name(index)?.to_string(), mean[index], spread[index]));
    all.into_iter().filter_map(named).take(count).collect()
}

fn told(
    catalog: &Catalog<'_>,
    population: &Population,
    settings: &Settings<'_>,
    bytes: usize,
    fingerprint: u64,
) -> String {
    let Population { users, observations, noise_variance, log_likelihood: [before, after], .. } = population;
    let mut out = String::new();
    let _ = writeln!(out, "users            {users}, {observations} observations");
    let _ = match population.kept {
        Kept::Isotropic { precision } => {
            writeln!(out, "kept             nothing in common; precision {precision} everywhere")
        }
        Kept::Fitted { imagined, share } => {
            let percent = 100.0 * share;
            writeln!(
                out,
                "kept             {percent}% of the mean; the precision with {imagined:.1} imagined users"
            )
        }
    };
    if let Some((gain, error)) = population.gain {
        let _ = writeln!(out, "gain             {gain:+.2} ± {error:.2} nats for each user left out");
    }
    let _ = writeln!(
        out,
        "likelihood       {before:.4} under the base prior, {after:.4} under this one, per observation"
    );
    let _ = writeln!(out, "noise variance   {noise_variance}{}", about_noise(population, settings));
    let _ = writeln!(out, "written          {bytes} bytes, fingerprint {fingerprint:016x}");
    let _ = writeln!(out, "strongest        mean and spread between users");
    for (name, mean, spread) in strongest(catalog, population, 8) {
        let _ = writeln!(out, "  {name:<44} {mean:+.3} ± {spread:.3}");
    }
    out
}

/// What is to be known about the noise variance beyond the number.
fn about_noise(population: &Population, settings: &Settings<'_>) -> String {
    let (own, chosen) = (settings.noise_variance, population.noise_variance);
    if own != chosen {
        return format!(", not {own}: use the prior with --noise-variance {chosen}");
    }
    match population.surprise {
        Some(surprise) if !(0.5..=2.0).contains(&surprise) => {
            format!(
                "; the errors on users left out were {surprise:.2} times what it foretells, see --choose-noise"
            )
        }
        _ => String::new(),
    }
}

fn described(catalog: &Catalog<'_>, population: &Population, fingerprint: u64) -> String {
    let all = strongest(catalog, population, catalog.dimension());
    let numbers = |of: fn(&(String, f64, f64)) -> f64| {
        all.iter().map(|row| (row.0.clone(), json!(of(row)))).collect::<serde_json::Map<_, _>>()
    };
    let kept = match population.kept {
        Kept::Isotropic { precision } => json!({ "isotropic_precision": precision }),
        Kept::Fitted { imagined, share } => json!({ "share_of_mean": share, "imagined_users": imagined }),
    };
    let document = json!({
        "users": population.users,
        "observations": population.observations,
        "log_likelihood": { "base": population.log_likelihood[0], "prior": population.log_likelihood[1] },
        "kept": kept,
        "gain": population.gain.map(|(gain, error)| json!({ "nats_per_user": gain, "standard_error": error })),
        "noise_variance": population.noise_variance,
        "surprise": population.surprise,
        "fingerprint": format!("{fingerprint:016x}"),
        "steps": population.objective.len(),
        "mean": numbers(|row| row.1),
        "sd": numbers(|row| row.2),
    });
    format!("{document:#}\n")
}

fn address_user(arguments: &AddressArguments) -> Result<String, Failure> {
    let (catalog, settings) = arguments.policy.open()?;
    let bytes = read(&arguments.prior)?;
    let hexadecimal =
        arguments.user.len() == 16 && arguments.user.bytes().all(|byte| byte.is_ascii_hexdigit());
    let hash = u64::from_str_radix(&arguments.user, 16).ok().filter(|_| hexadecimal);
    let user = hash.unwrap_or_else(|| user_hash(&arguments.user));
    let snapshot = match arguments.scalar {
        ScalarName::F32 => {
            address(&Policy::<f32>::new(catalog, settings).map_err(Failure::mistake)?, &bytes, user)
        }
        ScalarName::F64 => {
            address(&Policy::<f64>::new(catalog, settings).map_err(Failure::mistake)?, &bytes, user)
        }
    };
    let snapshot = snapshot.map_err(|error| refused(&arguments.prior, &bytes, catalog, settings, &error))?;
    write(&arguments.snapshot, &snapshot, format!("{} bytes for user {user:016x}\n", snapshot.len()))
}
