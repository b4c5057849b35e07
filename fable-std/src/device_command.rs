//! `fable device`: a person or a script talks to a device.

use clap::{Args, Subcommand};
use fable_core::feasible::ActionSet;
use fable_core::onboarding::{Direction, Statement, When};
use fable_core::trust::{Assessment, Comparison, Part, Standing, Thousandths, Verdict};
use fable_core::{Action, Catalog, Context, DecisionId, Exploration, Feasible, Policy, Settings};
use fable_std::device::{Device, DeviceError, port, replay};
use serde_json::{Value, json};
use std::fmt::{Display, Write as _};
use std::io::{Read, Write};
use std::path::PathBuf;
use std::time::Duration;

/// Talks to a device that runs Fable, over a serial port or TCP.
///
/// A serial port is set up with stty: raw, 8 bits, no parity, no flow control. A board in QEMU can be given a TCP port with
/// `-serial tcp::4000,server` and is reached with `--tcp 127.0.0.1:4000`. Names of components, values, tasks, signals and
/// contrasts are those of the device's catalog: `fable catalog show NAME`.
///
/// Exit codes: 0 done, 1 no device or no answer, 2 a mistake in the command, 3 the device refuses (its state is as before).
#[derive(Args)]
#[command(verbatim_doc_comment, arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct DeviceArguments {
    #[command(flatten)]
    place: Place,
    /// Bits per second of the serial port.
    #[arg(long, default_value_t = 115_200, global = true)]
    baud: u32,
    /// Seconds to wait for an answer; a request is sent three times.
    #[arg(long, default_value_t = 2.0, global = true)]
    timeout: f64,
    /// Prints JSON instead of text.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: DeviceCommand,
}

#[derive(Args)]
#[group(required = true, multiple = false)]
struct Place {
    /// The serial port, for example /dev/ttyACM0.
    #[arg(long, value_name = "PATH")]
    port: Option<PathBuf>,
    /// A TCP server with a device behind it.
    #[arg(long, value_name = "HOST:PORT")]
    tcp: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  fable device --port /dev/ttyACM0 hello
  fable device --port /dev/ttyACM0 onboard --prefer style=concise --over style=guided
  fable device --port /dev/ttyACM0 decide --forbid tool=verify
  fable device --port /dev/ttyACM0 feedback 00000000000000ab-0-17 0.5
  fable device --tcp 127.0.0.1:4000 --json contrast concise_over_guided";

#[derive(Subcommand)]
enum DeviceCommand {
    /// Who is there: versions, catalog, fingerprint, user, rounds.
    Hello,
    /// States a preference.
    Onboard {
        /// What is preferred: a value, or values of two components for their pair.
        #[arg(long, value_name = "COMPONENT=VALUE", required = true)]
        prefer: Vec<String>,
        /// What it is preferred to; may be left out.
        #[arg(long, value_name = "COMPONENT=VALUE")]
        over: Vec<String>,
        /// Only in this task, or in proportion to this signal.
        #[arg(long, value_name = "TASK|SIGNAL")]
        when: Option<String>,
        /// How strongly, from -1 to 1.
        #[arg(long, default_value_t = 1.0, allow_negative_numbers = true)]
        response: f64,
        /// How firmly: about so many observations divided by the noise variance.
        #[arg(long, default_value_t = 4.0)]
        precision: f64,
    },
    /// Asks for a decision.
    Decide {
        #[command(flatten)]
        context: ContextArguments,
        /// Actions that must not be chosen: COMPONENT=VALUE, several joined with ',' for a combination. Repeatable.
        #[arg(long, value_name = "PATTERN")]
        forbid: Vec<String>,
        /// What must hold for the action chosen. Repeatable. Without --forbid and --require the last feasible set holds.
        #[arg(long, value_name = "PATTERN")]
        require: Vec<String>,
        /// Everything is allowed again.
        #[arg(long, conflicts_with_all = ["forbid", "require"])]
        all: bool,
        /// The caller's time, in its own unit.
        #[arg(long, default_value_t = 0)]
        at: u32,
    },
    /// Tells how a decision went.
    Feedback {
        /// The decision, as `decide` has printed it.
        decision: DecisionId,
        /// From -1 to 1.
        #[arg(allow_negative_numbers = true)]
        reward: f64,
        /// How much it counts.
        #[arg(long, default_value_t = 1.0)]
        weight: f32,
        /// The caller's time, in its own unit.
        #[arg(long, default_value_t = 0)]
        at: u32,
    },
    /// Why an action was chosen and not another one.
    Explain {
        /// The decision, as `decide` has printed it.
        decision: DecisionId,
        /// A complete action, COMPONENT=VALUE*COMPONENT=VALUE...; the runner-up if it is left out.
        #[arg(long, value_name = "ACTION")]
        against: Option<String>,
    },
    /// The promoted preferences and whether they still hold.
    Profile {
        /// Promotes first what is decided now.
        #[arg(long)]
        promote: bool,
        /// The caller's time, kept with a promotion.
        #[arg(long, default_value_t = 0)]
        at: u32,
    },
    /// How contrasts stand: all that the catalog declares, one of them, or two complete actions.
    Contrast {
        /// The name of a declared contrast.
        name: Option<String>,
        /// A complete action to compare.
        #[arg(long, value_name = "ACTION", requires = "over", conflicts_with = "name")]
        prefer: Option<String>,
        /// The complete action it is compared with; they differ in one component.
        #[arg(long, value_name = "ACTION", requires = "prefer")]
        over: Option<String>,
        /// Adds the known difference of their reference scores.
        #[arg(long, requires = "prefer")]
        total: bool,
        #[command(flatten)]
        context: ContextArguments,
    },
    /// Counts: decisions, observations, frames, storage.
    Stats,
    /// Saves the kept snapshot to a file, or restores the device from one.
    #[command(subcommand)]
    Snapshot(SnapshotCommand),
    /// Saves the events behind the kept snapshot: each its length, two bytes, and its record.
    Journal {
        /// The file to write.
        file: PathBuf,
    },
    /// Replays the device's snapshot and journal here and compares every decision and contrast, bit for bit.
    Replay {
        /// The device's seed.
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// The device's nu, if it is not the default.
        #[arg(long)]
        nu: Option<f64>,
    },
    /// Forgets the user; nothing of what was learned remains on the device.
    Forget {
        /// Yes, really.
        #[arg(long, required = true)]
        yes: bool,
    },
}

#[derive(Subcommand)]
enum SnapshotCommand {
    /// Writes the kept snapshot to a file.
    Save {
        /// The file to write.
        file: PathBuf,
    },
    /// Replaces the device's state by a snapshot; the device verifies it before.
    Load {
        /// The file to read.
        file: PathBuf,
    },
}

#[derive(Args)]
struct ContextArguments {
    /// The task, if any.
    #[arg(long)]
    task: Option<String>,
    /// Each signal of the catalog, from 0 to 1.
    #[arg(long = "signal", value_name = "NAME=NUMBER")]
    signals: Vec<String>,
}

/// What the command ends with when it fails.
pub(crate) enum Failure {
    /// A mistake of the person, exit code 2.
    Mistake(String),
    /// No device, no answer, no file: exit code 1.
    Trouble(String),
    /// The device refuses: exit code 3.
    Refused(String),
}

impl From<DeviceError> for Failure {
    fn from(error: DeviceError) -> Self {
        let text = error.to_string();
        if matches!(error, DeviceError::Refused(_)) { Self::Refused(text) } else { Self::Trouble(text) }
    }
}

fn mistake(error: impl Display) -> Failure {
    Failure::Mistake(error.to_string())
}

/// Runs the command and returns what it prints.
pub(crate) fn run(arguments: &DeviceArguments) -> Result<String, Failure> {
    if !(0.1..=25.0).contains(&arguments.timeout) {
        return Err(mistake("a timeout must be from 0.1 to 25 seconds"));
    }
    let timeout = Duration::from_secs_f64(arguments.timeout);
    let (text, value) = match (&arguments.place.port, &arguments.place.tcp) {
        (Some(path), _) => {
            let opened = port::serial(path, arguments.baud, timeout);
            talk(opened.map_err(|error| Failure::Trouble(format!("{}: {error}", path.display())))?, &arguments.command)?
        }
        (None, Some(address)) => {
            let opened = port::tcp(address, timeout);
            talk(opened.map_err(|error| Failure::Trouble(format!("{address}: {error}")))?, &arguments.command)?
        }
        (None, None) => return Err(mistake("either --port or --tcp is needed")), // clap has seen to it
    };
    Ok(if arguments.json { format!("{value}\n") } else { text })
}

type Output = (String, Value);

fn talk<P: Read + Write>(port: P, command: &DeviceCommand) -> Result<Output, Failure> {
    let device = &mut Device::open(port)?;
    match command {
        DeviceCommand::Hello => Ok(hello(device)),
        DeviceCommand::Onboard { prefer, over, when, response, precision } => {
            let catalog = device.catalog()?;
            let side = |names: &[String]| names.iter().map(|name| value(catalog, name)).collect::<Result<Vec<_>, _>>();
            let when = condition(catalog, when.as_deref())?;
            let direction = Direction::prefer(catalog, &side(prefer)?, &side(over)?, when).map_err(mistake)?;
            device.onboard(&Statement { direction, response: *response, precision: *precision })?;
            Ok(("the preference was accepted\n".into(), json!({ "accepted": 1 })))
        }
        DeviceCommand::Decide { context, forbid, require, all, at } => {
            let catalog = device.catalog()?;
            let context = context.context(catalog)?;
            let restricted = *all || !forbid.is_empty() || !require.is_empty();
            let feasible = if restricted { Some(feasible(catalog, forbid, require)?) } else { None };
            decide(device, catalog, &context, feasible.as_ref(), *at)
        }
        DeviceCommand::Feedback { decision, reward, weight, at } => {
            let count = device.feedback(*decision, *reward, *weight, *at)?;
            Ok((format!("learned, {count} observations\n"), json!({ "observations": count })))
        }
        DeviceCommand::Explain { decision, against } => {
            let catalog = device.catalog()?;
            let against = against.as_deref().map(|name| action(catalog, name)).transpose()?;
            explain(device, catalog, *decision, against)
        }
        DeviceCommand::Profile { promote, at } => {
            if *promote {
                device.promote(*at)?;
            }
            profile(device)
        }
        DeviceCommand::Contrast { name, prefer, over, total, context } => {
            let catalog = device.catalog()?;
            match (prefer, over) {
                (Some(prefer), Some(over)) => {
                    let (prefer, over) = (action(catalog, prefer)?, action(catalog, over)?);
                    let comparison = Comparison { context: context.context(catalog)?, prefer, over, total: *total };
                    let assessment = device.compare(&comparison)?;
                    Ok((line("contrast", &assessment), assessed(&assessment)))
                }
                _ => contrasts(device, catalog, name.as_deref()),
            }
        }
        DeviceCommand::Stats => statistics(device),
        DeviceCommand::Snapshot(SnapshotCommand::Save { file }) => {
            let bytes = device.snapshot()?;
            write_file(file, &bytes)?;
            Ok((format!("{} bytes\n", bytes.len()), json!({ "bytes": bytes.len() })))
        }
        DeviceCommand::Snapshot(SnapshotCommand::Load { file }) => {
            let bytes = std::fs::read(file).map_err(|error| Failure::Trouble(format!("{}: {error}", file.display())))?;
            let rounds = device.restore(&bytes)?;
            Ok((format!("restored, {rounds} rounds\n"), json!({ "rounds": rounds })))
        }
        DeviceCommand::Journal { file } => {
            let events = device.journal()?;
            let length = |event: &Vec<u8>| u16::try_from(event.len()).unwrap_or(u16::MAX).to_le_bytes();
            let bytes: Vec<u8> = events.iter().flat_map(|event| length(event).into_iter().chain(event.clone())).collect();
            write_file(file, &bytes)?;
            Ok((format!("{} events, {} bytes\n", events.len(), bytes.len()), json!({ "events": events.len() })))
        }
        DeviceCommand::Replay { seed, nu } => replayed(device, *seed, *nu),
        DeviceCommand::Forget { .. } => {
            let incarnation = device.forget()?;
            Ok((format!("forgotten, incarnation {incarnation}\n"), json!({ "incarnation": incarnation })))
        }
    }
}

fn hello<P: Read + Write>(device: &Device<P>) -> Output {
    let hello = device.hello();
    let scalar = if hello.digits == 24 { "f32" } else { "f64" };
    let catalog = device.catalog();
    let settings = match catalog.as_ref().map(|catalog| Policy::<f32>::new(catalog, Settings::default())) {
        Ok(Ok(policy)) if policy.fingerprint() == hello.fingerprint => "default",
        Ok(_) => "other than the defaults",
        Err(_) => "unknown",
    };
    let mut text = String::new();
    let mut put = |head: &str, value: &dyn Display| {
        let _ = writeln!(text, "{head:<12} {value}"); // writing to a String cannot fail
    };
    put("protocol", &hello.protocol);
    put("records", &hello.record);
    put("catalog", &device.name());
    put("sizes", &format!("{} actions, dimension {}, in {scalar}", hello.actions, hello.dimension));
    put("settings", &settings);
    put("fingerprint", &format!("{:016x}", hello.fingerprint));
    put("user", &format!("{:016x}", hello.user));
    put("incarnation", &hello.incarnation);
    put("rounds", &hello.rounds);
    put("observations", &hello.observations);
    let value = json!({
        "protocol": hello.protocol,
        "record": hello.record,
        "catalog": device.name(),
        "actions": hello.actions,
        "dimension": hello.dimension,
        "scalar": scalar,
        "settings": settings,
        "fingerprint": format!("{:016x}", hello.fingerprint),
        "promise": format!("{:08x}", hello.promise),
        "ring": hello.ring,
        "user": format!("{:016x}", hello.user),
        "incarnation": hello.incarnation,
        "rounds": hello.rounds,
        "observations": hello.observations,
    });
    (text, value)
}

fn decide<P: Read + Write>(
    device: &mut Device<P>,
    catalog: &Catalog<'_>,
    context: &Context,
    feasible: Option<&Feasible>,
    at: u32,
) -> Result<Output, Failure> {
    let decision = device.decide(context, feasible, at)?;
    let mut instruction = String::new();
    let _ = catalog.instruct(decision.action, &mut instruction); // writing to a String cannot fail
    let (name, id) = (named(catalog, decision.action), decision.id.to_string());
    let text = format!("decision     {id}\naction       {name}\ninstruction  {instruction}\n");
    let value = json!({ "decision": id, "action": parts(catalog, decision.action), "instruction": instruction, "baseline": decision.baseline });
    Ok((text, value))
}

fn explain<P: Read + Write>(
    device: &mut Device<P>,
    catalog: &Catalog<'_>,
    decision: DecisionId,
    against: Option<Action>,
) -> Result<Output, Failure> {
    let why = device.explain(decision, against)?;
    let mut text = format!(
        "chosen {} {}{}\nnot    {} {}{}\n",
        Thousandths(why.chosen_score.into()),
        named(catalog, why.chosen),
        if why.explored { ", to explore" } else { "" },
        Thousandths(why.other_score.into()),
        named(catalog, why.other),
        if why.feasible { "" } else { ", not feasible" },
    );
    let coordinate =
        |index: Option<u16>| index.and_then(|index| catalog.coordinate_name(usize::from(index))).map(|name| name.to_string());
    let mut shares = Vec::new();
    for share in &why.shares {
        let names = [share.chosen_coordinate, share.other_coordinate].map(coordinate);
        let part = match share.part() {
            Part::Default => "default score".to_owned(),
            Part::Cost => "cost".to_owned(),
            Part::Draw => "the draw".to_owned(),
            Part::Block(_) => {
                let [chosen, other] = names.clone().map(|name| name.unwrap_or_else(|| "nothing".into()));
                format!("{chosen} against {other}")
            }
        };
        let _ = writeln!(text, "  {} {} {part}", Thousandths(share.chosen.into()), Thousandths(share.other.into()));
        let [chosen, other] = names;
        shares.push(json!({
            "part": match share.part() { Part::Default => "default", Part::Cost => "cost", Part::Draw => "draw", Part::Block(_) => "block" },
            "chosen": share.chosen,
            "other": share.other,
            "chosen_coordinate": chosen,
            "other_coordinate": other,
        }));
    }
    let value = json!({
        "chosen": parts(catalog, why.chosen),
        "other": parts(catalog, why.other),
        "feasible": why.feasible,
        "explored": why.explored,
        "chosen_score": why.chosen_score,
        "other_score": why.other_score,
        "shares": shares,
    });
    Ok((text, value))
}

fn profile<P: Read + Write>(device: &mut Device<P>) -> Result<Output, Failure> {
    let catalog = device.catalog()?;
    let (mut text, mut entries) = (String::new(), Vec::new());
    for (promotion, standing) in device.profile()? {
        let standing = match standing {
            Standing::Holds => "holds",
            Standing::Doubtful => "doubtful",
            Standing::Revoked => "revoked",
        };
        let mut sentence = String::new();
        let _ = promotion.write_sentence(catalog, &mut sentence); // writing to a String cannot fail
        let _ = writeln!(text, "{standing:<9} {sentence} (round {}, {} observations)", promotion.round, promotion.evidence);
        entries.push(json!({
            "contrast": catalog.contrasts().get(usize::from(promotion.contrast)).map(|contrast| contrast.name),
            "verdict": promotion.verdict.sign(),
            "standing": standing,
            "sentence": sentence,
            "valid": promotion.valid,
            "round": promotion.round,
            "at": promotion.at,
            "evidence": promotion.evidence,
            "lower": promotion.lower,
            "upper": promotion.upper,
        }));
    }
    if entries.is_empty() {
        text.push_str("nothing is promoted\n");
    }
    Ok((text, Value::Array(entries)))
}

fn contrasts<P: Read + Write>(device: &mut Device<P>, catalog: &Catalog<'_>, name: Option<&str>) -> Result<Output, Failure> {
    let (mut text, mut values) = (String::new(), serde_json::Map::new());
    for (index, contrast) in (0_u8..).zip(catalog.contrasts()) {
        if name.is_none_or(|name| name == contrast.name) {
            let assessment = device.assess(index)?;
            text.push_str(&line(contrast.name, &assessment));
            values.insert(contrast.name.to_owned(), assessed(&assessment));
        }
    }
    match name {
        Some(name) if values.is_empty() => {
            let known: Vec<&str> = catalog.contrasts().iter().map(|contrast| contrast.name).collect();
            Err(Failure::Mistake(format!("there is no contrast '{name}'; the catalog declares {}", known.join(", "))))
        }
        Some(name) => Ok((text, values.remove(name).unwrap_or_default())),
        None => Ok((text, Value::Object(values))),
    }
}

fn line(name: &str, assessment: &Assessment) -> String {
    let Assessment { mean, lower, upper, evidence, verdict, valid, .. } = *assessment;
    let verdict = match verdict {
        Verdict::For => "for",
        Verdict::Against => "against",
        Verdict::Open => "open",
    };
    let valid = if valid { "" } else { ", no guarantee" };
    let [mean, lower, upper] = [mean, lower, upper].map(Thousandths);
    format!("{name:<32} {verdict:<8} {mean} from {lower} to {upper}, {evidence} observations{valid}\n")
}

fn assessed(assessment: &Assessment) -> Value {
    json!({
        "mean": assessment.mean,
        "sd": assessment.sd,
        "probability": assessment.probability,
        "lower": assessment.lower,
        "upper": assessment.upper,
        "beta": assessment.beta,
        "evidence": assessment.evidence,
        "valid": assessment.valid,
        "promoted": assessment.verdict.sign(),
    })
}

fn statistics<P: Read + Write>(device: &mut Device<P>) -> Result<Output, Failure> {
    let counts = device.statistics()?;
    let rows = [
        ("rounds", counts.rounds),
        ("observations", counts.observations),
        ("waiting", counts.waiting.into()),
        ("promotions", counts.promotions.into()),
        ("answered", counts.answered),
        ("refused", counts.refused),
        ("snapshots", counts.kept.generation),
        ("events", counts.kept.events),
        ("free_bytes", counts.kept.free),
        ("erases", counts.kept.erases),
    ];
    let text = rows.map(|(name, count)| format!("{name:<12} {count}\n")).concat();
    let value = rows.into_iter().map(|(name, count)| (name.to_owned(), Value::from(count))).collect();
    Ok((text, Value::Object(value)))
}

fn replayed<P: Read + Write>(device: &mut Device<P>, seed: u64, nu: Option<f64>) -> Result<Output, Failure> {
    let catalog = device.catalog()?;
    let exploration = nu.map_or(Settings::DEFAULT.exploration, Exploration::Constant);
    let tape = device.tape()?;
    let settings = Settings { seed, exploration, ..Settings::default() };
    let replay = replay::replay(catalog, settings, &tape).map_err(|error| Failure::Trouble(error.to_string()))?;
    let mut contrasts = 0;
    for (index, here) in (0_u8..).zip(&replay.contrasts) {
        contrasts += usize::from(device.assess(index)? != *here);
    }
    if !replay.agrees(&tape) || contrasts > 0 {
        return Err(Failure::Trouble(format!(
            "{} of {} decisions and {contrasts} of {} contrasts come out differently here; are --seed and --nu the device's?",
            replay.different.len(),
            replay.decisions,
            replay.contrasts.len()
        )));
    }
    let text = format!(
        "{} events replayed: {} decisions and {} contrasts are the same, bit for bit\n",
        replay.events,
        replay.decisions,
        replay.contrasts.len()
    );
    Ok((
        text,
        json!({ "events": replay.events, "decisions": replay.decisions, "contrasts": replay.contrasts.len(), "same": true }),
    ))
}

fn write_file(file: &PathBuf, bytes: &[u8]) -> Result<(), Failure> {
    std::fs::write(file, bytes).map_err(|error| Failure::Trouble(format!("{}: {error}", file.display())))
}

impl ContextArguments {
    fn context(&self, catalog: &Catalog<'_>) -> Result<Context, Failure> {
        let mut signals = Vec::new();
        for signal in &self.signals {
            let parsed = signal.split_once('=').and_then(|(name, number)| Some((name, number.parse().ok()?)));
            signals.push(parsed.ok_or_else(|| Failure::Mistake(format!("'{signal}' is not NAME=NUMBER")))?);
        }
        Context::from_names(catalog, self.task.as_deref(), &signals).map_err(mistake)
    }
}

/// A value by name: positions of the component and of the value.
fn value(catalog: &Catalog<'_>, name: &str) -> Result<(u8, u8), Failure> {
    let found = name.split_once('=').and_then(|(component, value)| {
        let components = catalog.definition().components;
        let index = components.iter().position(|known| known.name == component)?;
        let value = components.get(index)?.values.iter().position(|known| known.name == value)?;
        Some((u8::try_from(index).ok()?, u8::try_from(value).ok()?))
    });
    let catalog = catalog.definition().name;
    found.ok_or_else(|| Failure::Mistake(format!("'{name}' is no COMPONENT=VALUE; see: fable catalog show {catalog}")))
}

fn condition(catalog: &Catalog<'_>, name: Option<&str>) -> Result<When, Failure> {
    let Some(name) = name else { return Ok(When::Always) };
    let found = catalog.task(name).map(When::Task).or_else(|| catalog.signal(name).map(When::Signal));
    found.ok_or_else(|| Failure::Mistake(format!("'{name}' is neither a task nor a signal of the catalog")))
}

/// The actions that match no `forbid` and every `require`.
fn feasible(catalog: &Catalog<'_>, forbid: &[String], require: &[String]) -> Result<Feasible, Failure> {
    let patterns = |texts: &[String]| {
        let pattern = |text: &String| text.split(',').map(|part| value(catalog, part)).collect::<Result<Vec<_>, _>>();
        texts.iter().map(pattern).collect::<Result<Vec<_>, _>>()
    };
    let (forbid, require) = (patterns(forbid)?, patterns(require)?);
    let mut set = ActionSet::EMPTY;
    for action in Feasible::all(catalog).set().iter() {
        let values = catalog.values(action).unwrap_or_default();
        let matches = |pattern: &Vec<(u8, u8)>| pattern.iter().all(|(part, value)| values.get(usize::from(*part)) == Some(value));
        if !forbid.iter().any(matches) && require.iter().all(matches) {
            set.insert(action);
        }
    }
    Feasible::from_set(catalog, set).map_err(mistake)
}

fn action(catalog: &Catalog<'_>, name: &str) -> Result<Action, Failure> {
    let example = named(catalog, Action(0));
    catalog.action_named(name).ok_or_else(|| Failure::Mistake(format!("'{name}' is no action; one is {example}")))
}

fn named(catalog: &Catalog<'_>, action: Action) -> String {
    catalog.action_name(action).map_or_else(|| "?".to_owned(), |name| name.to_string())
}

fn parts(catalog: &Catalog<'_>, action: Action) -> Value {
    let values = catalog.values(action).unwrap_or_default();
    let components = catalog.definition().components.iter().zip(&values);
    let parts = components.map(|(component, value)| {
        let name = component.values.get(usize::from(*value)).map_or("?", |value| value.name);
        (component.name.to_owned(), Value::from(name))
    });
    Value::Object(parts.collect())
}
