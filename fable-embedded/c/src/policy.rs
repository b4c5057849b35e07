//! A checked catalog with settings, made at run time or at the build.

use crate::borrow::place;
use crate::layout::Shape;
use crate::status::{Status, number};
use crate::user::user_size;
use fable_core::Policy;

/// What tells a policy from other memory: of one that was made in memory of the caller together with its address.
#[cfg(any(feature = "runtime", not(builtin)))]
const MARK: usize = 0x4641_4250;
/// Of one that is part of the library.
const FIXED: usize = 0x4641_4243;

/// A `fable_policy`. The mark stands first: memory is told by it.
#[derive(Debug)]
#[repr(C)]
pub struct Handle {
    mark: usize,
    policy: &'static Policy<'static, f32>,
}

impl Handle {
    /// A policy of the library itself.
    #[must_use]
    pub const fn fixed(policy: &'static Policy<'static, f32>) -> Self {
        Self { mark: FIXED, policy }
    }

    /// One in memory of the caller, which begins with it.
    #[cfg(feature = "runtime")]
    pub(crate) fn at(address: usize, policy: &'static Policy<'static, f32>) -> Self {
        Self { mark: address ^ MARK, policy }
    }
}

/// The policy that a pointer is to.
///
/// # Safety
/// A pointer that is neither null nor misaligned is to readable memory of a handle's size; if it has its mark, it is a policy whose memory
/// has not changed since it was made, and does not as long as the reference is used.
#[cfg(any(feature = "runtime", not(builtin)))]
pub(crate) unsafe fn policy(handle: *const Handle) -> Result<&'static Policy<'static, f32>, Status> {
    if handle.is_null() {
        return Err(Status::NULL);
    }
    if !handle.is_aligned() {
        return Err(Status::NOT_A_POLICY);
    }
    // SAFETY: the pointer is aligned, and what it is to can be read. The reference after the mark is read only with it.
    let mark = unsafe { (&raw const (*handle).mark).read() };
    if mark != FIXED && mark != handle.addr() ^ MARK {
        return Err(Status::NOT_A_POLICY);
    }
    // SAFETY: as the mark says, it was written by this library.
    Ok(unsafe { crate::borrow::one(handle) }?.policy)
}

/// The same where there is only one: a constant, so that what its settings do not need can be left out of the library.
///
/// # Safety
/// None is needed.
#[cfg(all(builtin, not(feature = "runtime")))]
pub(crate) unsafe fn policy(handle: *const Handle) -> Result<&'static Policy<'static, f32>, Status> {
    if core::ptr::eq(handle, &raw const crate::builtin::BUILTIN) {
        Ok(&crate::builtin::catalog::POLICY)
    } else if handle.is_null() {
        Err(Status::NULL)
    } else {
        Err(Status::NOT_A_POLICY)
    }
}

/// The settings of a policy that C wants to know a number of; 0 if it is none.
///
/// # Safety
/// As for [`policy`].
unsafe fn size_of_policy(handle: *const Handle, size: impl FnOnce(&Policy<'static, f32>) -> usize) -> usize {
    // SAFETY: the caller's promise.
    unsafe { policy(handle) }.map_or(0, size)
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_user_size(policy: *const Handle) -> usize {
    // SAFETY: the promise of the caller, as in the header.
    unsafe { size_of_policy(policy, |policy| user_size(policy.catalog())) }
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_workspace_size(policy: *const Handle) -> usize {
    // SAFETY: the promise of the caller, as in the header.
    unsafe { size_of_policy(policy, |policy| policy.catalog().workspace_len() * size_of::<f32>()) }
}

/// See the header.
#[cfg(feature = "record")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_snapshot_size(policy: *const Handle) -> usize {
    let length = |policy: &Policy<'static, f32>| {
        fable_core::record::snapshot::max_len::<f32>(policy.catalog(), crate::user::ROOM)
    };
    // SAFETY: the promise of the caller, as in the header.
    unsafe { size_of_policy(policy, length) }
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_fingerprint(policy: *const Handle, fingerprint: *mut u64) -> i32 {
    number((|| {
        // SAFETY: the promise of the caller, as in the header.
        let (policy, fingerprint) = unsafe { (self::policy(policy)?, place(fingerprint)?) };
        *fingerprint = policy.fingerprint();
        Ok(())
    })())
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_catalog_fingerprint(policy: *const Handle, fingerprint: *mut u64) -> i32 {
    number((|| {
        // SAFETY: the promise of the caller, as in the header.
        let (policy, fingerprint) = unsafe { (self::policy(policy)?, place(fingerprint)?) };
        *fingerprint = policy.catalog().fingerprint();
        Ok(())
    })())
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_policy_shape(policy: *const Handle, shape: *mut Shape) -> i32 {
    number((|| {
        // SAFETY: the promise of the caller, as in the header.
        let (policy, shape) = unsafe { (self::policy(policy)?, place(shape)?) };
        let (catalog, definition, arrow) =
            (policy.catalog(), policy.catalog().definition(), policy.catalog().layout());
        // None of them is larger than 8,192.
        *shape = Shape {
            actions: catalog.actions() as u16,
            dimension: catalog.dimension() as u16,
            leaves: arrow.leaves() as u16,
            leaf: arrow.leaf() as u16,
            root: arrow.root() as u16,
            values: definition.components.iter().map(|component| component.values.len()).sum::<usize>()
                as u16,
            components: definition.components.len() as u16,
            tasks: definition.tasks.len() as u16,
            signals: definition.signals.len() as u16,
            blocks: definition.blocks.len() as u16,
            contrasts: definition.contrasts.len() as u16,
        };
        Ok(())
    })())
}
