//! The catalog and the settings, as flags that several commands share.

use crate::failure::Failure;
use clap::{Args, ValueEnum};
use fable_core::{Catalog, Settings};
use fable_std::catalogs;
use fable_std::settings::SettingsArguments;

/// What is chosen from, and how it is learned.
#[derive(Args)]
pub(crate) struct PolicyArguments {
    /// A catalog that ships (agent, tau2, rubric), or a file that ends in .toml or has a / in its path.
    #[arg(long, default_value = "agent", value_name = "NAME|FILE.toml")]
    pub(crate) catalog: String,
    #[command(flatten)]
    pub(crate) settings: SettingsArguments,
}

impl PolicyArguments {
    /// The catalog and the settings.
    pub(crate) fn open(&self) -> Result<(&'static Catalog<'static>, Settings<'static>), Failure> {
        let catalog = catalogs::open(&self.catalog)?;
        Ok((catalog, self.settings.resolve(&self.catalog, catalog)?))
    }
}

/// The numbers in which users are kept.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum ScalarName {
    F32,
    F64,
}
