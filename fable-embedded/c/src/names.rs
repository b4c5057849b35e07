//! Positions by name.

use crate::borrow::{reference_mut, slice, slice_mut, text};
use crate::layout::{Context as CContext, Named, Pair, Signal};
use crate::policy::{Handle, policy};
use crate::status::{Status, number};
use core::ffi::c_char;
use fable_core::catalog::MAX_SIGNALS;
use fable_core::{Catalog, Context};

/// Writes the position of a name.
///
/// # Safety
/// See the header.
unsafe fn find(
    policy: *const Handle,
    name: *const c_char,
    out: *mut u16,
    look: impl FnOnce(&Catalog<'static>, &str) -> Result<usize, Status>,
) -> i32 {
    number((|| {
        // SAFETY: guaranteed by the caller.
        let (policy, name, out) = unsafe { (self::policy(policy)?, text(name)?, reference_mut(out)?) };
        *out = u16::try_from(look(policy.catalog(), name)?).map_err(|_| Status::INTERNAL)?;
        Ok(())
    })())
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_find_task(policy: *const Handle, name: *const c_char, task: *mut u16) -> i32 {
    // SAFETY: guaranteed by the caller, see the header.
    unsafe { find(policy, name, task, |catalog, name| Ok(catalog.task(name)?)) }
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_find_signal(
    policy: *const Handle,
    name: *const c_char,
    signal: *mut u16,
) -> i32 {
    // SAFETY: guaranteed by the caller, see the header.
    unsafe { find(policy, name, signal, |catalog, name| Ok(catalog.signal(name)?)) }
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_find_contrast(
    policy: *const Handle,
    name: *const c_char,
    contrast: *mut u16,
) -> i32 {
    // SAFETY: guaranteed by the caller, see the header.
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
    // SAFETY: guaranteed by the caller, see the header.
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
        // SAFETY: guaranteed by the caller, see the header.
        let (policy, names, pairs) =
            unsafe { (self::policy(policy)?, slice(names, count)?, slice_mut(pairs, count)?) };
        let find = |named: &Named| -> Result<Pair, Status> {
            // SAFETY: guaranteed by the caller, see the header.
            let (component, value) = unsafe { (text(named.component)?, text(named.value)?) };
            let catalog = policy.catalog();
            let component = catalog.component(component).ok_or(Status::UNKNOWN_VALUE)?;
            let value = catalog.value(component, value).ok_or(Status::UNKNOWN_VALUE)?;
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
    buffer: *mut f32,
    size: usize,
    context: *mut CContext,
) -> i32 {
    number((|| {
        // SAFETY: guaranteed by the caller, see the header.
        let (policy, signals, buffer, out) = unsafe {
            let (policy, signals) = (self::policy(policy)?, slice(signals, count)?);
            (policy, signals, slice_mut(buffer, size)?, reference_mut(context)?)
        };
        let catalog = policy.catalog();
        let task = if task.is_null() {
            None
        } else {
            // SAFETY: guaranteed by the caller, see the header.
            Some(catalog.task(unsafe { text(task) }?)?)
        };
        let mut ordered = [f32::NAN; MAX_SIGNALS];
        for signal in signals {
            // SAFETY: guaranteed by the caller, see the header.
            let position = catalog.signal(unsafe { text(signal.name) }?)?;
            let slot = ordered.get_mut(position).filter(|slot| slot.is_nan()).ok_or(Status::SIGNAL_COUNT)?;
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
        let used = buffer.get_mut(..expected).ok_or(Status::TOO_SMALL)?;
        for (slot, signal) in used.iter_mut().zip(known.signals()) {
            *slot = *signal;
        }
        let task = task.map_or(0, |task| task as u16 + 1); // less than 64
        *out = CContext { signals: used.as_ptr(), signal_count: expected as u16, task };
        Ok(())
    })())
}
