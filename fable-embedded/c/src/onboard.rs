//! Stated preferences.

use crate::borrow::{reference, slice};
use crate::layout::{Entry, Pair, Preference, Where};
use crate::status::{Status, number};
use crate::user::{Handle, user};
use fable_core::Statement;
use fable_core::catalog::MAX_COMPONENTS;
use fable_core::catalog::{Direction, When};

/// Converts the contexts of a statement.
pub(crate) fn when(contexts: Where) -> Result<When, Status> {
    match contexts.kind {
        0 => Ok(When::Always),
        1 => Ok(When::Task(usize::from(contexts.position))),
        2 => Ok(When::Signal(usize::from(contexts.position))),
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
        // SAFETY: guaranteed by the caller, see the header.
        let (mut user, entries) = unsafe { (self::user(user)?, slice(entries, count)?) };
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
        // SAFETY: guaranteed by the caller, see the header.
        let (mut user, preference) = unsafe { (self::user(user)?, reference(preference)?) };
        let Preference { prefer, over, prefer_count, over_count, r#where, response, precision } = *preference;
        // SAFETY: guaranteed by the caller, see the header.
        let (prefer, over) =
            unsafe { (slice(prefer, usize::from(prefer_count))?, slice(over, usize::from(over_count))?) };
        let (mut preferred, mut others) = ([(0, 0); MAX_COMPONENTS], [(0, 0); MAX_COMPONENTS]);
        let (prefer, over) = (values(prefer, &mut preferred)?, values(over, &mut others)?);
        let direction = Direction::prefer(user.policy().catalog(), prefer, over, when(r#where)?)?;
        user.onboard(&Statement { direction, response, precision })?;
        Ok(())
    })())
}

/// Converts pairs into a buffer.
fn values<'b>(pairs: &[Pair], buffer: &'b mut [(u8, u8); MAX_COMPONENTS]) -> Result<&'b [(u8, u8)], Status> {
    let used = buffer.get_mut(..pairs.len()).ok_or(Status::UNKNOWN_VALUE)?;
    for (slot, pair) in used.iter_mut().zip(pairs) {
        *slot = (pair.component, pair.value);
    }
    Ok(used)
}
