//! `fable demo`: a simulated user, an assistant that is not there, and Fable learning between them.

mod lives;
mod picture;
mod screen;
mod summary;
mod tastes;
mod trials;

use crate::failure::Failure;
use crate::output;
use crate::prior_argument;
use clap::{Args, value_parser};
use fable_core::catalog::{AGENT, Part, agent};
use fable_core::journal::Command;
use fable_core::{Feasible, HostUser, Policy, Rule, Settings, values};
use fable_std::catalogs;
use fable_std::prior_file::informed;
use fable_std::settings::SettingsArguments;
use fable_std::simulate::SimulatedUser;
use fable_std::text::wording;
use lives::{Kind, companion};
use picture::Curve;
use screen::{Screen, Step};
use std::error::Error;
use std::io;
use std::path::PathBuf;
use trials::Trials;

/// Shows Fable learning what a simulated user likes, in 15 seconds.
#[derive(Args)]
#[command(long_about = ABOUT, after_help = EXAMPLES)]
pub(crate) struct DemoArguments {
    /// Which user: any whole number. The same number gives the same preferences, requests and choices.
    #[arg(long, value_name = "N", default_value_t = SEED)]
    seed: u64,
    /// How many requests the user makes, from 20 to 2000.
    #[arg(long, value_name = "N", default_value_t = ROUNDS, value_parser = value_parser!(u32).range(20..=2_000))]
    rounds: u32,
    /// Does not wait between rounds.
    #[arg(long)]
    fast: bool,
    /// Prints plain lines: no colours, nothing moves. So it is anyway without a terminal, in a small one, and with NO_COLOR.
    #[arg(long)]
    plain: bool,
    /// What can be chosen: agent, tau2, rubric, or a catalog file of your own.
    #[arg(long, value_name = "NAME|FILE.toml", default_value = CATALOG)]
    catalog: String,
    /// What Fable begins with, from `fable prior fit`; without it the isotropic prior. The others do not have it.
    #[arg(long, value_name = "FILE")]
    prior: Option<PathBuf>,
    /// Where the picture goes.
    #[arg(long, value_name = "FILE.svg", default_value = PICTURE)]
    svg: PathBuf,
}

const SEED: u64 = 23;
const ROUNDS: u32 = 300;
const CATALOG: &str = "agent";
const PICTURE: &str = "fable-demo.svg";

impl Default for DemoArguments {
    fn default() -> Self {
        Self {
            seed: SEED,
            rounds: ROUNDS,
            fast: false,
            plain: false,
            catalog: CATALOG.into(),
            prior: None,
            svg: PICTURE.into(),
        }
    }
}

const ABOUT: &str = "\
Shows Fable learning what a simulated user likes, in 15 seconds.

A simulated user with hidden preferences asks for things. Each time Fable chooses how an assistant should act, the user
reacts, and Fable learns from one number. Nothing is needed and nothing is sent anywhere: the assistant's answers are not
shown, because only the choice and the reaction matter here. This is what `fable` without a command does.

What is on the screen:
  asked          what the user says, and the task that a context adapter would make of it
  chosen         the action: one value of each component (memory, tool and style in the catalog `agent`)
  why            what made it better than the runner-up, and how much of the score that is: what pleased or displeased so
                 far, what is cheaper or suits the request by the catalog's own rules; `the bonus for what is uncertain` is
                 exploration: an action is given credit for what is not known about it, so that it is tried while it
                 may be the best. (`the draw`: the same for settings that sample beliefs instead.)
  reward         the reaction as a number from -1 to 1, and in words; the number is all that Fable learns from
  the bars       how much the user is believed to like each value, other things being equal; right of the line is liked
  forbidden      no action with this value is allowed, so none is ever tried
  the curves     the mean reward of what was chosen, from the first round to the last
  lately         the same over the last 25 rounds
  Fable          learns a weight for each value, for each value in each task, for each pair ..., shared by all actions
  flat           the same learner with one weight per complete action, so that nothing is shared; it explores by sampling
                 beliefs, which suits it better than the bonus
  rules only     the catalog's default scores less costs; never learns
  best possible  what someone who knew the hidden preferences would get
  a life         the same user once more from the beginning, with other requests and other moods; one life is shown
  first, last    the mean over the first and over the last so many rounds of every life
  likes          the value of a component that the user is believed to like best; `dislikes` is the other end
  learned        how much the user is believed to like a value in the end, as in the bars
  hidden         how much the user really likes it
  to be sure     in such a round a fair coin chose between two values, everything else being the same: `the other way` if it
                 is not what Fable would have chosen, `a coin agreed` if it is. So a preference can become certain without
                 trusting any model. The coins cost a little reward, which is in the curve of Fable
  certain        a preference that goes into the assistant's prompt. A bet on the coins has won what is `needed`; without a
                 difference that happens in 5% of lives at most, for all preferences and all time together. It says: in the
                 requests in which coins were tossed the user preferred it, at some time. In 300 requests about one user in
                 three has a preference that is clear enough; the one that is shown without --seed is among the clearest
  coins          how many there were, how much of what is `needed` a bet on them has won `by now`, how much better the value
                 was rewarded over all of them, and how much better it `really` was, which nobody but this demo knows";

const EXAMPLES: &str = "\
Examples:
  fable demo
  fable demo --seed 11 --fast
  fable demo --catalog tau2 --rounds 1000 --svg tau2.svg
  fable demo --prior crowd.prior

Exit codes: 0 done, 1 the picture cannot be written or the prior not be read, 2 a mistake in the command or in the catalog's file.";

/// Lives that the picture is the mean of.
const LIVES: u64 = 60;

/// Nothing runs code on this machine: a permission, not a preference, so it is not for the learner to find out.
const NO_SANDBOX: &[Rule<'static>] =
    &[Rule::forbid("no sandbox", &[Part::new(agent::TOOL, values![agent::Tool::CodeExecution])])];

/// Runs the command; returns what is printed at the end.
pub(crate) fn run(arguments: &DemoArguments) -> Result<String, Failure> {
    let catalog = catalogs::open(&arguments.catalog)?;
    let probe = Some(Settings::PROBING.probe);
    let settings = SettingsArguments { seed: Some(arguments.seed), probe, ..SettingsArguments::default() };
    let settings = settings.resolve(&arguments.catalog, catalog)?;
    let base = Policy::new(catalog, settings).map_err(Failure::mistake)?;
    let prior = prior_argument::rounded(arguments.prior.as_deref(), &base)?;
    let policy = informed(&base, prior.as_deref()).map_err(Failure::mistake)?;
    match play(arguments, &policy) {
        Ok(text) => Ok(text),
        Err(error) => match error.downcast_ref::<io::Error>() {
            // A reader that went away (`fable demo --plain | head`) is not an error.
            Some(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(String::new()),
            _ => Err(Failure::Trouble(error.to_string())),
        },
    }
}

fn play(arguments: &DemoArguments, policy: &Policy<'_, f32>) -> Result<String, Box<dyn Error>> {
    let catalog = policy.catalog();
    let user = SimulatedUser::new(catalog, arguments.seed);
    let sandboxed = catalog.fingerprint() == AGENT.fingerprint();
    let feasible = if sandboxed { Feasible::new(catalog, NO_SANDBOX)? } else { Feasible::all(catalog) };
    let tastes = tastes::tastes(&user, catalog, &feasible)?;
    let lives = lives::all(&user, &feasible, policy, LIVES, arguments.rounds)?;
    let curves: Vec<Curve> = lives.into_iter().map(|(kind, lives)| kind.curve(lives)).collect();
    // Before anything is shown: nobody should watch for 15 seconds to learn of a folder that is not there.
    let title =
        format!("Learning what one user likes: {} ways to act, one number per request", feasible.len());
    let subtitle = format!(
        "Mean reward over {LIVES} lives of the same simulated user; a band holds the middle half of the lives"
    );
    let written = output::put(&arguments.svg, picture::draw(&title, &subtitle, &curves).as_bytes());
    written.map_err(|error| format!("{}: {error}", arguments.svg.display()))?;

    let race: Vec<(&str, &[f64])> =
        curves.iter().filter_map(|curve| Some((curve.name, curve.lives.first()?.as_slice()))).collect();

    let screen = Screen::new(arguments.plain, arguments.fast, arguments.rounds, &tastes);
    screen.open(catalog, &feasible)?;
    let mut fable = companion(policy, 0)?;
    let mut trials = Trials::new(catalog);
    for round in 1..=arguments.rounds {
        let step = step(&mut fable, &user, &feasible, &mut trials, round, screen.columns())?;
        screen.show(&step, arguments.rounds, &race, &tastes, || lives::mean(&mut fable))?;
    }
    screen.finish();
    summary::text(arguments, &user, &mut fable, &curves, &tastes, &trials)
}

/// One round: the user asks, Fable chooses and says why in at most `columns` characters, the user reacts, Fable learns.
fn step(
    fable: &mut HostUser<'_, f32>,
    person: &SimulatedUser<'_>,
    feasible: &Feasible,
    trials: &mut Trials,
    round: u32,
    columns: usize,
) -> Result<Step, Box<dyn Error>> {
    let catalog = person.catalog();
    let asked = person.request(round)?;
    let decision = fable.decide(&asked.context, feasible)?;
    let mut user = fable.user();
    trials.count(person, &asked.context, &decision, user.probe_outcomes(decision.id));
    let why = user.explain(decision.id, None, None)?;
    let (both, first) = (wording::reasons(catalog, &why, 2), wording::reasons(catalog, &why, 1));
    let why = if both.chars().count() <= columns { both } else { first };
    let reward = person.reward(round, &asked.context, decision.action);
    let before = user.profile().to_vec();
    user.run(&mut Command::feedback(decision.id, reward))?;
    let new = user.profile().iter().filter(|promotion| !before.contains(promotion));
    let certain = new.map(|promotion| wording::promotion(catalog, promotion)).collect();
    let standing = trials::standing(&user)?;
    let said = person.reaction(&asked.context, feasible, decision.action, reward);
    let task = asked.context.task().and_then(|task| catalog.definition().tasks.get(task));
    let task = task.map_or_else(String::new, |task| (*task).to_owned());
    Ok(Step {
        round,
        asked,
        task,
        chosen: wording::action(catalog, decision.action),
        why,
        said,
        reward,
        certain,
        standing,
    })
}

impl Kind {
    fn curve(self, lives: Vec<Vec<f64>>) -> Curve {
        let (name, note, class) = match self {
            Self::Fable => ("Fable", "factorized, learns", "fable"),
            Self::Flat => ("flat", "one weight per action", "flat"),
            Self::Rules => ("rules only", "no learning", "rules"),
            Self::Best => ("best possible", "knows the user", "best"),
        };
        Curve { name, note, class, dashed: self == Self::Best, lives }
    }
}
