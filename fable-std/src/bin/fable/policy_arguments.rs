//! The catalog and the settings, as flags that several commands share.

use crate::failure::Failure;
use clap::{Args, ValueEnum};
use fable_core::{Catalog, Settings};
use fable_std::catalogs;
use fable_std::settings::SettingsArguments;
use fable_std::store::{self, Identity, Options};
use std::path::Path;

const DEFAULT_CATALOG: &str = "agent";

/// What is chosen from, and how it is learned.
#[derive(Args)]
pub(crate) struct PolicyArguments {
    /// A catalog that ships (agent, tau2, rubric), or a file that ends in .toml or has a / in its path. Default agent.
    #[arg(long, value_name = "NAME|FILE.toml")]
    pub(crate) catalog: Option<String>,
    #[command(flatten)]
    pub(crate) settings: SettingsArguments,
}

impl PolicyArguments {
    /// The catalog and the settings.
    pub(crate) fn open(&self) -> Result<(&'static Catalog<'static>, Settings<'static>), Failure> {
        let name = self.catalog.as_deref().unwrap_or(DEFAULT_CATALOG);
        let catalog = catalogs::open(name)?;
        Ok((catalog, self.settings.resolve(name, catalog)?))
    }

    /// The same where a store is only looked at: what is not said here is as the store has it.
    pub(crate) fn open_for(&self, store: Option<&Identity>) -> Result<(&'static Catalog<'static>, Settings<'static>), Failure> {
        let Some(store) = store else { return self.open() };
        let shipped = store.catalog().filter(|name| catalogs::NAMES.contains(name));
        let name = self.catalog.as_deref().or(shipped).unwrap_or(DEFAULT_CATALOG);
        let catalog = catalogs::open(name)?;
        Ok((catalog, self.settings.resolve_over(store.settings(catalog), name, catalog)?))
    }
}

/// The numbers in which users are kept.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum ScalarName {
    F32,
    F64,
}

impl ScalarName {
    /// What is said, or what a store has, or `f32`. What is wrong with a store is told when it is opened.
    pub(crate) fn of(said: Option<Self>, store: Option<&Path>, options: &Options) -> Self {
        let stored = || store.and_then(|place| store::identity_at(place, options).ok().flatten());
        said.unwrap_or_else(|| match stored().as_ref().and_then(Identity::scalar) {
            Some("f64") => Self::F64,
            _ => Self::F32,
        })
    }
}
