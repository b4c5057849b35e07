//! What a user has stated, from the journal: it has the numbers of every statement, and the catalog has their names.

use super::StoreError;
use super::journal::Segment;
use crate::memory::{Stated, describe};
use fable_core::Catalog;
use fable_core::journal::Event;
use fable_core::record::decode_event;

/// What was stated in a journal, in order and each once. What is older than the [history](super::History) that is kept is not there.
///
/// # Errors
/// Events that cannot be read.
pub fn stated<'s>(
    catalog: &Catalog<'_>,
    journal: impl IntoIterator<Item = &'s Segment>,
) -> Result<Vec<Stated>, StoreError> {
    let mut stated = Vec::new();
    for entry in journal.into_iter().flat_map(|segment| segment.from(0)) {
        match decode_event(catalog, entry?.record)? {
            Event::Forget { .. } => stated.clear(),
            Event::Onboarding(statement) => {
                let Some(prefers) = describe(catalog, &statement) else { continue };
                let said = Stated::Preference { prefers };
                stated.retain(|known| *known != said);
                stated.push(said);
            }
            _ => {}
        }
    }
    Ok(stated)
}
