//! `fable device sync`: what a device has learned about a user goes into a store.

use super::Output;
use crate::failure::Failure;
use crate::merge::{news, told};
use crate::store_key::open_any;
use fable_core::{Catalog, Policy, Scalar, Settings};
use fable_std::device::Device;
use fable_std::merge::{MergeFailure, Merged, Place, sync};
use fable_std::settings::SettingsArguments;
use fable_std::store::{Identity, Store};
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
    let origin = place.origin();
    let merged = match identity.scalar() {
        Some("f32") => into::<f32>(&store, &identity, catalog, settings, user, place)?,
        _ => into::<f64>(&store, &identity, catalog, settings, user, place)?,
    };
    let merged = merged.map_err(|failure| told(path, failure))?;
    let value = json!({
        "origin": origin,
        "decisions": merged.decisions,
        "rewards": merged.rewards,
        "entries": merged.entries.count,
        "by_time": merged.base.is_some(),
    });
    Ok((format!("place {origin}: {}", news(&merged)), value))
}

fn into<T: Scalar>(
    store: &Store,
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
