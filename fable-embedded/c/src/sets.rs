//! Feasible sets of actions.

use crate::borrow::{reference, reference_mut, slice};
use crate::layout::{Pair, Set};
use crate::policy::{Handle, policy};
use crate::status::{Status, number};
use fable_core::catalog::ActionSet;
use fable_core::{Catalog, Feasible};

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_allow_all(policy: *const Handle, set: *mut Set) -> i32 {
    number((|| {
        // SAFETY: guaranteed by the caller, see the header.
        let (policy, set) = unsafe { (self::policy(policy)?, reference_mut(set)?) };
        set.words = *policy.catalog().all_actions().words();
        Ok(())
    })())
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_forbid(
    policy: *const Handle,
    set: *mut Set,
    pairs: *const Pair,
    count: usize,
) -> i32 {
    // SAFETY: guaranteed by the caller, see the header.
    number(unsafe { narrow(policy, set, pairs, count, false) })
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_require(
    policy: *const Handle,
    set: *mut Set,
    pairs: *const Pair,
    count: usize,
) -> i32 {
    // SAFETY: guaranteed by the caller, see the header.
    number(unsafe { narrow(policy, set, pairs, count, true) })
}

/// # Safety
/// See the header.
unsafe fn narrow(
    policy: *const Handle,
    set: *mut Set,
    pairs: *const Pair,
    count: usize,
    wanted: bool,
) -> Result<(), Status> {
    // SAFETY: guaranteed by the caller.
    let (policy, pairs) = unsafe { (self::policy(policy)?, slice(pairs, count)?) };
    let catalog = policy.catalog();
    admit(catalog, pairs)?;
    // SAFETY: guaranteed by the caller.
    let before = ActionSet::from_words(unsafe { reference(set.cast_const()) }?.words);
    Feasible::from_set(catalog, before)?;
    let mut left = before;
    for action in before.iter() {
        let values = catalog.values(action).unwrap_or_default();
        let matches = pairs.iter().all(|pair| values.get(usize::from(pair.component)) == Some(&pair.value));
        if matches != wanted {
            left.remove(action);
        }
    }
    Feasible::from_set(catalog, left)?;
    // SAFETY: guaranteed by the caller.
    unsafe { reference_mut(set) }?.words = *left.words();
    Ok(())
}

/// Checks that there is at least one value, that the catalog has all values, and that no component is
/// repeated.
fn admit(catalog: &Catalog<'_>, pairs: &[Pair]) -> Result<(), Status> {
    let mut named = 0_u32;
    for pair in pairs {
        let component =
            catalog.definition().components.get(usize::from(pair.component)).ok_or(Status::UNKNOWN_VALUE)?;
        if usize::from(pair.value) >= component.values.len() || named >> pair.component & 1 == 1 {
            return Err(Status::UNKNOWN_VALUE);
        }
        named |= 1 << pair.component;
    }
    if named == 0 { Err(Status::UNKNOWN_VALUE) } else { Ok(()) }
}
