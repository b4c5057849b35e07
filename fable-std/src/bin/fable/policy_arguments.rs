//! The catalog and the settings, as flags that several commands share.

use crate::failure::Failure;
use clap::{Args, ValueEnum};
use fable_core::record::{HEADER_LEN, Header};
use fable_core::{Catalog, Settings};
use fable_std::catalogs::{self, CatalogFileError, ToolTable};
use fable_std::settings::SettingsArguments;
use fable_std::store::{self, Identity, Options, transfer};
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

    /// The tools that the catalog's values stand for.
    pub(crate) fn tools(&self, catalog: &Catalog<'_>) -> Result<ToolTable, Failure> {
        let name = self.catalog.as_deref().unwrap_or(DEFAULT_CATALOG);
        catalogs::tools(name, catalog).map_err(|error| CatalogFileError::from(error).into())
    }

    /// The same where a store is only looked at: what is not said here is as the store has it.
    pub(crate) fn open_for(
        &self,
        store: Option<&Identity>,
    ) -> Result<(&'static Catalog<'static>, Settings<'static>), Failure> {
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
    /// What is said, or what a store has, or what is brought to it (an exported user, a snapshot or a prior), or `f32`. What is wrong with a
    /// store is told when it is opened.
    pub(crate) fn of(
        said: Option<Self>,
        store: Option<&Path>,
        options: &Options,
        brought: Option<&[u8]>,
    ) -> Self {
        let stored = || store.and_then(|place| store::identity_at(place, options).ok().flatten());
        let double = || match stored().as_ref().and_then(Identity::scalar) {
            Some(scalar) => scalar == "f64",
            None => brought.and_then(digits) == Some(53),
        };
        said.unwrap_or_else(|| if double() { Self::F64 } else { Self::F32 })
    }
}

/// Bits of the significand of the numbers in an exported user, a snapshot or a prior.
fn digits(bytes: &[u8]) -> Option<u8> {
    if bytes.starts_with(b"FABX") {
        return transfer::read(bytes).ok().map(|stored| stored.row.header.digits);
    }
    Header::decode(bytes.get(..HEADER_LEN)?).ok().map(|header| header.digits)
}
