//! Positions by name.

use crate::borrow::{many, place, places, text};
use crate::layout::{Context as CContext, Named, Pair, Signal};
use crate::policy::{Handle, policy};
use crate::status::{Status, number};
use core::ffi::c_char;
use fable_core::catalog::MAX_SIGNALS;
use fable_core::{Catalog, Context};

/// Writes the position of a name.
///
/// # Safety
/// As the header says.
unsafe fn find(
    policy: *const Handle,
    name: *const c_char,
    out: *mut u16,
    look: impl FnOnce(&Catalog<'static>, &str) -> Result<usize, Status>,
) -> i32 {
    number((|| {
        // SAFETY: the caller's promise.
        let (policy, name, out) = unsafe { (self::policy(policy)?, text(name)?, place(out)?) };
        *out = u16::try_from(look(policy.catalog(), name)?).map_err(|_| Status::INTERNAL)?;
        Ok(())
    })())
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_find_task(policy: *const Handle, name: *const c_char, task: *mut u16) -> i32 {
    // SAFETY: the promise of the caller, as in the header.
    unsafe { find(policy, name, task, |catalog, name| Ok(catalog.task(name)?)) }
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_find_signal(
    policy: *const Handle,
    name: *const c_char,
    signal: *mut u16,
) -> i32 {
    // SAFETY: the promise of the caller, as in the header.
    unsafe { find(policy, name, signal, |catalog, name| Ok(catalog.signal(name)?)) }
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_find_contrast(
    policy: *const Handle,
    name: *const c_char,
    contrast: *mut u16,
) -> i32 {
    // SAFETY: the promise of the caller, as in the header.
    unsafe {
        find(policy, name, contrast, |catalog, name| catalog.contrast(name).ok_or(Status::UNKNOWN_CONTRAST))
    }
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_find_coordinate(
    policy: *const Handle,
    name: *const c_char,
    coordinate: *mut u16,
) -> i32 {
    // SAFETY: the promise of the caller, as in the header.
    unsafe {
        find(policy, name, coordinate, |catalog, name| {
            catalog.coordinate(name).ok_or(Status::UNKNOWN_COORDINATE)
        })
    }
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_find_values(
    policy: *const Handle,
    names: *const Named,
    count: usize,
    pairs: *mut Pair,
) -> i32 {
    number((|| {
        // SAFETY: the promise of the caller, as in the header.
        let (policy, names, pairs) =
            unsafe { (self::policy(policy)?, many(names, count)?, places(pairs, count)?) };
        let find = |named: &Named| -> Result<Pair, Status> {
            // SAFETY: the promise of the caller, as in the header.
            let (component, value) = unsafe { (text(named.component)?, text(named.value)?) };
            let catalog = policy.catalog();
            let found =
                catalog.component(component).and_then(|place| Some((place, catalog.value(place, value)?)));
            let (component, value) = found.ok_or(Status::UNKNOWN_VALUE)?;
            Ok(Pair { component: u8::try_from(component).map_err(|_| Status::INTERNAL)?, value })
        };
        names.iter().try_for_each(|named| find(named).map(|_| ()))?; // all or nothing
        for (slot, named) in pairs.iter_mut().zip(names) {
            *slot = find(named)?;
        }
        Ok(())
    })())
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_context_named(
    policy: *const Handle,
    task: *const c_char,
    signals: *const Signal,
    count: usize,
    room: *mut f32,
    size: usize,
    context: *mut CContext,
) -> i32 {
    number((|| {
        // SAFETY: the promise of the caller, as in the header.
        let (policy, signals, room, out) =
            unsafe { (self::policy(policy)?, many(signals, count)?, places(room, size)?, place(context)?) };
        let catalog = policy.catalog();
        let task = if task.is_null() {
            None
        } else {
            // SAFETY: the promise of the caller, as in the header.
            Some(catalog.task(unsafe { text(task) }?)?)
        };
        let mut ordered = [f32::NAN; MAX_SIGNALS];
        for signal in signals {
            // SAFETY: the promise of the caller, as in the header.
            let place = catalog.signal(unsafe { text(signal.name) }?)?;
            let slot = ordered.get_mut(place).filter(|slot| slot.is_nan()).ok_or(Status::SIGNAL_COUNT)?;
            if signal.value.is_nan() {
                return Err(Status::SIGNAL_RANGE);
            }
            *slot = signal.value;
        }
        let expected = catalog.definition().signals.len();
        if count != expected {
            return Err(Status::SIGNAL_COUNT);
        }
        let known = Context::new(catalog, task, ordered.get(..expected).unwrap_or_default())?;
        let kept = room.get_mut(..expected).ok_or(Status::TOO_SMALL)?;
        for (slot, signal) in kept.iter_mut().zip(known.signals()) {
            *slot = *signal;
        }
        let task = task.map_or(0, |task| task as u16 + 1); // one of 64
        *out = CContext { signals: kept.as_ptr(), signal_count: expected as u16, task };
        Ok(())
    })())
}
