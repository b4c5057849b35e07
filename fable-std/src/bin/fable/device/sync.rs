//! `fable device join` and `sync`: a device becomes one more place of a user, and what it has learned goes into a store.

use super::Output;
use crate::failure::Failure;
use crate::merge::{news, told};
use crate::store::printable;
use crate::store_key::open_any;
use fable_core::host::HostLearner;
use fable_core::journal::Command;
use fable_core::preference::UserRule;
use fable_core::record::{Header, Kind};
use fable_core::{Catalog, HostUser, Policy, Scalar, Settings};
use fable_std::device::Device;
use fable_std::merge::{MergeFailure, Merged, Place, sync};
use fable_std::replay::Tape;
use fable_std::settings::SettingsArguments;
use fable_std::store::{Desk, Identity, Priors, Reach, Resident, Store, StoreError, Stored};
use serde_json::json;
use std::io::{Read, Write};
use std::path::Path;

/// Reads a device's journal, checks it, and merges what is new into a user of a store.
pub(super) fn synchronized<P: Read + Write>(
    device: &mut Device<P>,
    path: &Path,
    user: &str,
    settings: &SettingsArguments,
    named: &str,
) -> Result<Output, Failure> {
    let catalog = device.catalog()?;
    let store = open_any(path)?;
    let identity = store.identity()?;
    let settings = settings.resolve_over(identity.settings(catalog), named, catalog)?;
    let tape = device.tape()?;
    let place = Place::of_device(catalog, settings, &tape).map_err(|failure| told(path, failure))?;
    let site = place.site();
    let merged = match identity.scalar() {
        Some("f32") => into::<f32>(&*store, &identity, catalog, settings, user, place)?,
        _ => into::<f64>(&*store, &identity, catalog, settings, user, place)?,
    };
    let merged = merged.map_err(|failure| told(path, failure))?;
    let rules = match identity.scalar() {
        Some("f32") => wishes::<f32>(&*store, catalog, settings, user)?,
        _ => wishes::<f64>(&*store, catalog, settings, user)?,
    };
    let changed = device.wish(&rules)?;
    let value = json!({
        "site": site,
        "decisions": merged.decisions,
        "rewards": merged.rewards,
        "entries": merged.entries.count,
        "by_time": merged.base.is_some(),
        "wishes": changed,
    });
    let rules = if changed == 0 {
        String::new()
    } else {
        format!("{changed} rules or switches were new to the device\n")
    };
    Ok((format!("place {site}: {}{rules}", news(&merged)), value))
}

fn into<T: Scalar>(
    store: &dyn Store,
    identity: &Identity,
    catalog: &Catalog<'_>,
    settings: Settings<'_>,
    user: &str,
    place: Place,
) -> Result<Result<Merged, MergeFailure>, Failure> {
    let policy = Policy::<T>::new(catalog, settings).map_err(Failure::mistake)?;
    identity.admit(&Identity::new(&policy))?;
    Ok(sync(store, &policy, user, &[place]))
}

/// What a user of a store wishes; nothing if there is none.
fn wishes<T: Scalar>(
    store: &dyn Store,
    catalog: &Catalog<'_>,
    settings: Settings<'_>,
    user: &str,
) -> Result<Vec<UserRule>, Failure> {
    let base = Policy::<T>::new(catalog, settings).map_err(Failure::mistake)?;
    let priors = Priors::open(store, &base, None)?;
    let policies = priors.policies(&base)?;
    let Some(number) = store.find(user)? else { return Ok(Vec::new()) };
    let stored = store.user(number, Reach::Snapshot)?.ok_or(StoreError::NoUser)?;
    Ok(Resident::revive(&mut Desk::new(&policies), &stored, None)?.learner().user_rules().collect())
}

/// Makes a device with which nothing has happened yet one more place of a user of a store.
pub(super) fn joined<P: Read + Write>(
    device: &mut Device<P>,
    path: &Path,
    user: &str,
    settings: &SettingsArguments,
    named: &str,
) -> Result<Output, Failure> {
    let catalog = device.catalog()?;
    let store = open_any(path)?;
    let settings = settings.resolve_over(store.identity()?.settings(catalog), named, catalog)?;
    let hello = *device.hello();
    let site = if settings.site == 0 { hello.site } else { settings.site };
    if hello.rounds > 0 || hello.observations > 0 {
        return Err(Failure::Refused(
            "something has happened with the device already; it can be forgotten".to_owned(),
        ));
    }
    if device.prior_header(false)?.is_some() {
        return Err(Failure::Refused(
            "the device has a prior; remove it first, and load it when it has joined".to_owned(),
        ));
    }
    let (number, incarnation) = match store.find(user)? {
        Some(number) => {
            let stored = store.whole(number)?.ok_or(StoreError::NoUser)?;
            (number, incarnation(&stored, catalog, settings).map_err(|failure| told(path, failure))?)
        }
        None => (store.number_for(user)?, store.incarnation()?),
    };
    let rules = match store.identity()?.scalar() {
        Some("f32") => wishes::<f32>(&*store, catalog, settings, user)?,
        _ => wishes::<f64>(&*store, catalog, settings, user)?,
    };
    let settings = Settings { site, ..settings };
    let bytes = match hello.digits {
        24 => beginning::<f32>(catalog, settings, number, incarnation, &rules)?,
        _ => beginning::<f64>(catalog, settings, number, incarnation, &rules)?,
    };
    device.restore(&bytes)?;
    let text = format!(
        "the device is place {site} of '{}' now, user {number:016x}, incarnation {incarnation}\n",
        printable(user)
    );
    Ok((text, json!({ "site": site, "user": format!("{number:016x}"), "incarnation": incarnation })))
}

/// The incarnation that a stored user is in.
fn incarnation(stored: &Stored, catalog: &Catalog<'_>, settings: Settings<'_>) -> Result<u32, MergeFailure> {
    Ok(Place::of_tape(catalog, settings, &Tape::of_user(stored)?)?.incarnation())
}

/// A snapshot of somebody at the prior, whose place is recorded, and what they wish.
fn beginning<T: Scalar>(
    catalog: &Catalog<'_>,
    settings: Settings<'_>,
    user: u64,
    incarnation: u32,
    wishes: &[UserRule],
) -> Result<Vec<u8>, Failure> {
    let policy = Policy::<T>::new(catalog, settings).map_err(Failure::mistake)?;
    let mut learner = HostLearner::<T>::for_policy(&policy);
    let header = Header::new(Kind::Journal, &policy, user, 1);
    learner.start_journal_in(&policy, &header, incarnation).map_err(Failure::mistake)?;
    let mut life = HostUser::from_learner(&policy, learner).map_err(Failure::mistake)?;
    if let Some(event) = life.user().site_event() {
        life.user().check(&event).map_err(Failure::mistake)?.apply();
    }
    life.user().run(&mut Command::user_rules(wishes)).map_err(Failure::mistake)?;
    Ok(life.to_bytes())
}
