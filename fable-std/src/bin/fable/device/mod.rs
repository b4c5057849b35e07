//! `fable device`: a person or a script talks to a device.
//!
//! [`arguments`] is what can be asked, [`names`] turns names into what the protocol carries, and [`answers`] shows what comes back.

mod answers;
mod arguments;
mod key;
pub(crate) mod names;
mod sync;

pub(crate) use arguments::DeviceArguments;

use crate::failure::Failure;
use crate::input::read;
use crate::output::keep;
use crate::rules::{self, ChangeArguments};
use answers::{
    assessed, contrasts, decide, explain, hello, line, priors, profile, recommend, replayed, scores,
    statistics,
};
use arguments::{AmongArguments, DeviceCommand, PriorCommand, SnapshotCommand};
use fable_core::catalog::Direction;
use fable_core::preference::Comparison;
use fable_core::{Catalog, Feasible, Statement};
use fable_std::catalogs;
use fable_std::device::{Device, port, prior};
use fable_std::store::wishes::Wishes;
use names::{action, condition, feasible, value};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::time::Duration;

/// Runs the command and returns what it prints.
pub(crate) fn run(arguments: &DeviceArguments) -> Result<String, Failure> {
    if !(0.1..=600.0).contains(&arguments.timeout) {
        return Err(Failure::mistake("a timeout must be from 0.1 to 600 seconds"));
    }
    let timeout = Duration::from_secs_f64(arguments.timeout);
    let (text, value) = match (&arguments.place.port, &arguments.place.tcp) {
        (Some(path), _) => {
            let opened = port::serial(path, arguments.baud);
            talk(
                opened.map_err(|error| Failure::Trouble(format!("{}: {error}", path.display())))?,
                arguments,
            )?
        }
        (None, Some(address)) => {
            let opened = port::tcp(address, timeout);
            talk(opened.map_err(|error| Failure::Trouble(format!("{address}: {error}")))?, arguments)?
        }
        (None, None) => return Err(Failure::mistake("either --port or --tcp is needed")), // clap has seen to it
    };
    Ok(if arguments.json { format!("{value}\n") } else { text })
}

type Output = (String, Value);

#[expect(clippy::too_many_lines, reason = "one subcommand after the other")]
fn talk<P: Read + Write>(port: P, arguments: &DeviceArguments) -> Result<Output, Failure> {
    let DeviceArguments { catalog, command, .. } = arguments;
    let described = catalog.as_deref().map(catalogs::open).transpose()?;
    let key = arguments.key_file.as_deref().map(key::read).transpose()?;
    let device = &mut Device::open_with(port, Duration::from_secs_f64(arguments.timeout), key)?;
    if let Some(catalog) = described {
        device.describe(catalog);
    }
    match command {
        DeviceCommand::Hello => hello(device),
        DeviceCommand::Onboard { prefer, over, when, response, precision } => {
            let catalog = device.catalog()?;
            let side = |names: &[String]| {
                names.iter().map(|name| value(catalog, name)).collect::<Result<Vec<_>, _>>()
            };
            let when = condition(catalog, when.as_deref())?;
            let direction =
                Direction::prefer(catalog, &side(prefer)?, &side(over)?, when).map_err(Failure::mistake)?;
            device.onboard(&Statement { direction, response: *response, precision: *precision })?;
            Ok(("the preference was accepted\n".into(), json!({ "accepted": 1 })))
        }
        DeviceCommand::Decide { among: AmongArguments { context, forbid, require, all, defaults }, at } => {
            let catalog = device.catalog()?;
            let context = context.context(catalog)?;
            let feasible = restricted(catalog, forbid, require, *all)?;
            decide(device, catalog, &context, (feasible.as_ref(), scores(catalog, defaults)?), *at)
        }
        DeviceCommand::Recommend { among: AmongArguments { context, forbid, require, all, defaults } } => {
            let catalog = device.catalog()?;
            let context = context.context(catalog)?;
            let feasible = restricted(catalog, forbid, require, *all)?;
            recommend(device, catalog, &context, (feasible.as_ref(), scores(catalog, defaults)?))
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
            let (Some(prefer), Some(over)) = (prefer, over) else {
                return contrasts(device, catalog, name.as_deref());
            };
            let (prefer, over) = (action(catalog, prefer)?, action(catalog, over)?);
            let comparison = Comparison { context: context.context(catalog)?, prefer, over, total: *total };
            let assessment = device.compare(&comparison)?;
            Ok((line("contrast", &assessment), assessed(&assessment)))
        }
        DeviceCommand::Stats => statistics(device),
        DeviceCommand::Snapshot(SnapshotCommand::Save { file }) => {
            let bytes = device.snapshot()?;
            keep(file, &bytes)?;
            Ok((format!("{} bytes\n", bytes.len()), json!({ "bytes": bytes.len() })))
        }
        DeviceCommand::Snapshot(SnapshotCommand::Load { file }) => {
            let bytes = read(file)?;
            let rounds = device.restore(&bytes)?;
            Ok((format!("restored, {rounds} rounds\n"), json!({ "rounds": rounds })))
        }
        DeviceCommand::Prior(PriorCommand::Load { file, settings }) => {
            let bytes = read(file)?;
            let (catalog, digits) = (device.catalog()?, device.hello().digits);
            let settings = settings.resolve(arguments.catalog.as_deref().unwrap_or(""), catalog)?;
            let record = prior::record(catalog, settings, digits, &bytes);
            device.load_prior(
                &record.map_err(|error| Failure::Mistake(format!("{}: {error}", file.display())))?,
            )?;
            priors(device)
        }
        DeviceCommand::Prior(PriorCommand::Show) => priors(device),
        DeviceCommand::Prior(PriorCommand::Remove) => {
            device.remove_prior()?;
            priors(device)
        }
        DeviceCommand::Journal { file } => {
            let events = device.journal()?;
            let length = |event: &Vec<u8>| u16::try_from(event.len()).unwrap_or(u16::MAX).to_le_bytes();
            let bytes: Vec<u8> =
                events.iter().flat_map(|event| length(event).into_iter().chain(event.clone())).collect();
            keep(file, &bytes)?;
            Ok((
                format!("{} events, {} bytes\n", events.len(), bytes.len()),
                json!({ "events": events.len() }),
            ))
        }
        DeviceCommand::Replay { settings } => {
            replayed(device, settings.resolve(catalog.as_deref().unwrap_or(""), device.catalog()?)?)
        }
        DeviceCommand::Join { store, user, settings } => {
            sync::joined(device, store, user, settings, catalog.as_deref().unwrap_or(""))
        }
        DeviceCommand::Sync { store, user, settings } => {
            sync::synchronized(device, store, user, settings, catalog.as_deref().unwrap_or(""))
        }
        DeviceCommand::Rules { changes } => standing(device, changes),
        DeviceCommand::Forget { .. } => {
            let incarnation = device.forget()?;
            Ok((format!("forgotten, incarnation {incarnation}\n"), json!({ "incarnation": incarnation })))
        }
    }
}

/// The user's own rules, after changes.
fn standing<P: Read + Write>(device: &mut Device<P>, changes: &ChangeArguments) -> Result<Output, Failure> {
    let catalog = device.catalog()?;
    let changes = changes.changes(catalog)?;
    let mut wishes = Wishes::of(catalog, device.wishes()?, &[])?;
    if !changes.is_empty() {
        wishes = rules::changed(catalog, &wishes, &changes)?;
        device.wish(&wishes.list())?;
    }
    let names = wishes.rules.iter().map(|rule| rule.describe(catalog)).collect::<Vec<_>>();
    let value = json!({ "rules": names, "layer": wishes.layer, "memory": wishes.memory });
    Ok((rules::shown(catalog, &wishes), value))
}

/// What rules leave; none for the set of the last time.
fn restricted(
    catalog: &Catalog<'_>,
    forbid: &[String],
    require: &[String],
    all: bool,
) -> Result<Option<Feasible>, Failure> {
    let restricted = all || !forbid.is_empty() || !require.is_empty();
    restricted.then(|| feasible(catalog, forbid, require)).transpose()
}
