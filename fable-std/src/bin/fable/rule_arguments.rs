//! What is allowed, as flags that several commands share.

use crate::device::names::feasible;
use crate::failure::Failure;
use clap::Args;
use fable_core::{Catalog, Feasible};
use fable_std::identify::Allowed;

/// Rules that hold everywhere.
#[derive(Args)]
pub(crate) struct RuleArguments {
    /// Actions that are never allowed: COMPONENT=VALUE, several joined with ',' for a combination. Repeatable.
    #[arg(long, value_name = "PATTERN")]
    forbid: Vec<String>,
    /// What every action must have. Repeatable.
    #[arg(long, value_name = "PATTERN")]
    require: Vec<String>,
}

impl RuleArguments {
    /// What they leave of what is allowed; none if neither is known.
    pub(crate) fn allowed(
        &self,
        catalog: &Catalog<'_>,
        own: Option<Allowed>,
    ) -> Result<Option<Allowed>, Failure> {
        let Some(left) = self.feasible(catalog)? else { return Ok(own) };
        let own = own.unwrap_or_else(|| Allowed::everywhere(catalog, &Feasible::all(catalog)));
        Ok(Some(own.within(&left)))
    }

    /// What they leave, if there are any.
    pub(crate) fn feasible(&self, catalog: &Catalog<'_>) -> Result<Option<Feasible>, Failure> {
        let any = !self.forbid.is_empty() || !self.require.is_empty();
        any.then(|| feasible(catalog, &self.forbid, &self.require)).transpose()
    }
}
