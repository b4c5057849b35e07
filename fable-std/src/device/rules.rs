//! What a device's user wishes, from its records: the end of the snapshot, and the events after it.

use super::Tape;
use fable_core::Catalog;
use fable_core::journal::Event;
use fable_core::preference::{MAX_USER_RULES, UserRule};
use fable_core::record::decode_event;

/// The wishes of a tape; `None` when its records cannot be read.
pub(super) fn wishes(catalog: &Catalog<'_>, tape: &Tape) -> Option<Vec<UserRule>> {
    let width = if tape.hello.digits == 24 { 4 } else { 8 };
    let end = tape.snapshot.len().checked_sub(4)?; // the checksum
    let numbers = tape.snapshot.get(end.checked_sub(width * MAX_USER_RULES)?..end)?;
    let mut codes = Vec::new();
    for number in numbers.chunks_exact(width) {
        let code = u32::from_le_bytes(*number.first_chunk()?);
        if code != 0 {
            codes.push(code);
        }
    }
    for event in &tape.events {
        match decode_event(catalog, event).ok()? {
            Event::Forget { .. } => codes.clear(),
            Event::UserRule { code, stands: true } => codes.push(code),
            Event::UserRule { code, stands: false } => codes.retain(|known| *known != code),
            _ => {}
        }
    }
    codes.into_iter().map(UserRule::from_code).collect()
}
