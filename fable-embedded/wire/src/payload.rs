//! Payloads of requests: statements, feasible sets, default scores.

use crate::fault::Fault;
use fable_core::catalog::{ActionSet, Direction};
use fable_core::journal::State;
use fable_core::{Catalog, Feasible, Statement, UserError};

/// Maximum number of actions of a catalog whose requests can have default scores.
pub const MAX_DEFAULTS: usize = 32;

/// Default scores of a request.
pub type Defaults<const N: usize = MAX_DEFAULTS> = heapless::Vec<f64, N>;

/// Bytes of an entry of a direction.
const ENTRY: usize = 10;

/// Reads the statement of an onboarding request.
///
/// # Errors
/// A payload that is not a direction of the catalog.
#[inline]
pub fn read_statement(
    catalog: &Catalog<'_>,
    response: f64,
    precision: f64,
    payload: &[u8],
) -> Result<Statement, Fault> {
    let (entries, []) = payload.as_chunks::<ENTRY>() else { return Err(Fault::Content) };
    let entries = entries.iter().map(|[low, high, value @ ..]| {
        (usize::from(u16::from_le_bytes([*low, *high])), f64::from_le_bytes(*value))
    });
    let direction = Direction::new(catalog, entries).map_err(UserError::Onboarding)?;
    Ok(Statement { direction, response, precision })
}

/// Returns one entry for the payload of an onboarding request.
#[must_use]
pub fn write_entry(coordinate: u16, coefficient: f64) -> [u8; ENTRY] {
    let ([low, high], [a, b, c, d, e, f, g, h]) = (coordinate.to_le_bytes(), coefficient.to_le_bytes());
    [low, high, a, b, c, d, e, f, g, h]
}

/// Reads the default scores at the end of the payload of a request to decide, and returns the bytes before
/// them.
///
/// There is a score for every action, or none.
///
/// # Errors
/// A catalog with more than `N` actions.
#[inline]
pub fn read_defaults<'p, const N: usize>(
    catalog: &Catalog<'_>,
    payload: &'p [u8],
    defaults: &mut Defaults<N>,
) -> Result<&'p [u8], Fault> {
    // The words of a feasible set are shorter than the scores.
    let Some(words) = payload.len().checked_sub(4 * catalog.actions()).filter(|_| catalog.actions() > 1)
    else {
        return Ok(payload);
    };
    let (set, scores) = payload.split_at_checked(words).ok_or(Fault::Content)?;
    for score in scores.as_chunks::<4>().0 {
        defaults.push(f64::from(f32::from_le_bytes(*score))).map_err(|_| Fault::Content)?;
    }
    Ok(set)
}

/// Reads the feasible set of a request to decide.
///
/// An empty payload means the last recorded set. Before the first decision that is every action.
///
/// # Errors
/// A payload that is not a set of the catalog's actions. An empty payload, if a migration has left nothing of
/// the last set.
#[inline]
pub fn read_feasible(catalog: &Catalog<'_>, state: &State, payload: &[u8]) -> Result<Feasible, Fault> {
    if payload.is_empty() {
        let everything = state.rounds() == 0 && state.permissions().is_empty();
        let last = if everything { catalog.all_actions() } else { *state.permissions() };
        return Feasible::from_set(catalog, last).map_err(|error| UserError::Feasible(error).into());
    }
    let (words, []) = payload.as_chunks::<4>() else { return Err(Fault::Content) };
    let mut set = *ActionSet::EMPTY.words();
    if words.len() > set.len() {
        return Err(Fault::Content);
    }
    for (slot, word) in set.iter_mut().zip(words) {
        *slot = u32::from_le_bytes(*word);
    }
    Feasible::from_set(catalog, ActionSet::from_words(set)).map_err(|error| UserError::Feasible(error).into())
}

/// Returns the words of a feasible set, for the payload of a request to decide.
pub fn write_feasible(feasible: &Feasible) -> impl Iterator<Item = [u8; 4]> {
    feasible.set().used_words().iter().map(|word| word.to_le_bytes())
}
