//! Stated preferences.

use crate::borrow::{many, one};
use crate::layout::{Entry, Pair, Preference, Where};
use crate::status::{Status, number};
use crate::user::{Handle, user};
use fable_core::Statement;
use fable_core::catalog::MAX_COMPONENTS;
use fable_core::catalog::{Direction, When};

/// Where something holds.
pub(crate) fn when(place: Where) -> Result<When, Status> {
    match place.kind {
        0 => Ok(When::Always),
        1 => Ok(When::Task(usize::from(place.position))),
        2 => Ok(When::Signal(usize::from(place.position))),
        _ => Err(Status::BAD_KIND),
    }
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_state(
    user: *mut Handle,
    entries: *const Entry,
    count: usize,
    response: f64,
    precision: f64,
) -> i32 {
    number((|| {
        // SAFETY: the promise of the caller, as in the header.
        let (mut user, entries) = unsafe { (self::user(user)?, many(entries, count)?) };
        let entries = entries.iter().map(|entry| (usize::from(entry.coordinate), entry.coefficient));
        let direction = Direction::new(user.policy().catalog(), entries)?;
        user.onboard(&Statement { direction, response, precision })?;
        Ok(())
    })())
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_prefer(user: *mut Handle, preference: *const Preference) -> i32 {
    number((|| {
        // SAFETY: the promise of the caller, as in the header.
        let (mut user, preference) = unsafe { (self::user(user)?, one(preference)?) };
        let Preference { prefer, over, prefer_count, over_count, r#where, response, precision } = *preference;
        // SAFETY: the promise of the caller, as in the header.
        let (prefer, over) =
            unsafe { (many(prefer, usize::from(prefer_count))?, many(over, usize::from(over_count))?) };
        let (mut prefer_room, mut over_room) = ([(0, 0); MAX_COMPONENTS], [(0, 0); MAX_COMPONENTS]);
        let (prefer, over) = (values(prefer, &mut prefer_room)?, values(over, &mut over_room)?);
        let direction = Direction::prefer(user.policy().catalog(), prefer, over, when(r#where)?)?;
        user.onboard(&Statement { direction, response, precision })?;
        Ok(())
    })())
}

/// The same pairs as core has them.
fn values<'r>(pairs: &[Pair], room: &'r mut [(u8, u8); MAX_COMPONENTS]) -> Result<&'r [(u8, u8)], Status> {
    let kept = room.get_mut(..pairs.len()).ok_or(Status::UNKNOWN_VALUE)?;
    for (slot, pair) in kept.iter_mut().zip(pairs) {
        *slot = (pair.component, pair.value);
    }
    Ok(kept)
}
