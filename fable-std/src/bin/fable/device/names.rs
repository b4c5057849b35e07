//! The catalog's names, from what a person types to what goes over the line, and back.

use super::arguments::ContextArguments;
use crate::failure::Failure;
use fable_core::catalog::When;
use fable_core::{Action, Catalog, Context, Feasible};
use fable_std::catalogs::lookup;

impl ContextArguments {
    pub(super) fn context(&self, catalog: &Catalog<'_>) -> Result<Context, Failure> {
        let mut signals = Vec::new();
        for signal in &self.signals {
            let parsed = signal.split_once('=').and_then(|(name, number)| Some((name, number.parse().ok()?)));
            signals.push(parsed.ok_or_else(|| Failure::Mistake(format!("'{signal}' is not NAME=NUMBER")))?);
        }
        catalog.context(self.task.as_deref(), signals).map_err(Failure::mistake)
    }
}

/// A value by name: positions of the component and of the value.
pub(super) fn value(catalog: &Catalog<'_>, name: &str) -> Result<(u8, u8), Failure> {
    let shipped = catalog.definition().name;
    lookup::value(catalog, name).map_err(|_| {
        Failure::Mistake(format!("'{name}' is no COMPONENT=VALUE; see: fable catalog show {shipped}"))
    })
}

pub(super) fn condition(catalog: &Catalog<'_>, name: Option<&str>) -> Result<When, Failure> {
    let Some(name) = name else { return Ok(When::Always) };
    let found = catalog.task(name).map(When::Task).or_else(|_| catalog.signal(name).map(When::Signal));
    found.map_err(|_| Failure::Mistake(format!("'{name}' is neither a task nor a signal of the catalog")))
}

/// The actions that match no `forbid` and every `require`.
pub(crate) fn feasible(
    catalog: &Catalog<'_>,
    forbid: &[String],
    require: &[String],
) -> Result<Feasible, Failure> {
    let mut feasible = Feasible::all(catalog);
    for (text, forbidden) in
        forbid.iter().map(|text| (text, true)).chain(require.iter().map(|text| (text, false)))
    {
        let named = |name| value(catalog, name).map(|_| name.split_once('=').unwrap_or_default());
        let pattern = text.split(',').map(named).collect::<Result<Vec<_>, _>>()?;
        let left =
            if forbidden { feasible.forbid(catalog, &pattern) } else { feasible.require(catalog, &pattern) };
        feasible = left.map_err(Failure::mistake)?;
    }
    Ok(feasible)
}

pub(super) fn action(catalog: &Catalog<'_>, name: &str) -> Result<Action, Failure> {
    let example = named(catalog, Action(0));
    catalog
        .action_named(name)
        .ok_or_else(|| Failure::Mistake(format!("'{name}' is no action; one is {example}")))
}

pub(super) fn named(catalog: &Catalog<'_>, action: Action) -> String {
    catalog.action_name(action).map_or_else(|| "?".to_owned(), |name| name.to_string())
}
