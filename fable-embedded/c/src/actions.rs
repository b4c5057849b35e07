//! Values of actions, and the instruction for the assistant.

use crate::borrow::{reference_mut, slice, slice_mut};
use crate::policy::{Handle, policy};
use crate::status::{Status, number};
use crate::text;
use core::ffi::c_char;
use fable_core::Action;

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_action_of(
    policy: *const Handle,
    values: *const u8,
    count: usize,
    action: *mut u16,
) -> i32 {
    number((|| {
        // SAFETY: guaranteed by the caller, see the header.
        let (policy, values, action) =
            unsafe { (self::policy(policy)?, slice(values, count)?, reference_mut(action)?) };
        *action = policy.catalog().action(values).ok_or(Status::UNKNOWN_VALUE)?.0;
        Ok(())
    })())
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_values_of(
    policy: *const Handle,
    action: u16,
    values: *mut u8,
    count: usize,
) -> i32 {
    number((|| {
        // SAFETY: guaranteed by the caller, see the header.
        let (policy, out) = unsafe { (self::policy(policy)?, slice_mut(values, count)?) };
        let values = policy.catalog().values(Action(action)).ok_or(Status::UNKNOWN_ACTION)?;
        if out.len() < values.len() {
            return Err(Status::TOO_SMALL);
        }
        for (slot, value) in out.iter_mut().zip(&values) {
            *slot = *value;
        }
        Ok(())
    })())
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_instruct(
    policy: *const Handle,
    action: u16,
    buffer: *mut c_char,
    size: usize,
    length: *mut usize,
) -> i32 {
    number((|| {
        // SAFETY: guaranteed by the caller, see the header.
        unsafe {
            let catalog = self::policy(policy)?.catalog();
            if usize::from(action) >= catalog.actions() {
                return Err(Status::UNKNOWN_ACTION);
            }
            text::write(buffer, size, length, |out| {
                catalog.instruct(Action(action), out).map_err(|_| Status::INTERNAL)
            })
        }
    })())
}
