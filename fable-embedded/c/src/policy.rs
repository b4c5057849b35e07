//! Policies: checked catalogs with settings, made at run time or at build time.

use crate::borrow::reference_mut;
use crate::layout::Shape;
use crate::status::{Status, number};
use crate::user::user_size;
use fable_core::Policy;

/// Mark of a policy in memory of the caller, combined with its address.
#[cfg(any(feature = "runtime", not(builtin)))]
const MARK: usize = 0x4641_4250;
/// Mark of a policy that is part of the library.
const FIXED: usize = 0x4641_4243;

/// A `fable_policy`. The mark is the first field, so any memory can be checked for it.
#[derive(Debug)]
#[repr(C)]
pub struct Handle {
    mark: usize,
    policy: &'static Policy<'static, f32>,
}

impl Handle {
    /// A policy that is part of the library.
    #[must_use]
    pub const fn fixed(policy: &'static Policy<'static, f32>) -> Self {
        Self { mark: FIXED, policy }
    }

    /// A policy at the start of memory of the caller.
    #[cfg(feature = "runtime")]
    pub(crate) fn at(address: usize, policy: &'static Policy<'static, f32>) -> Self {
        Self { mark: address ^ MARK, policy }
    }
}

/// The policy behind a pointer.
///
/// # Safety
/// If the pointer is neither null nor misaligned, it points to readable memory of a handle's size. If the
/// memory has the mark, the memory is a policy that has not changed since `fable_policy_init` and does not
/// change while in use.
#[cfg(any(feature = "runtime", not(builtin)))]
pub(crate) unsafe fn policy(handle: *const Handle) -> Result<&'static Policy<'static, f32>, Status> {
    if handle.is_null() {
        return Err(Status::NULL);
    }
    if !handle.is_aligned() {
        return Err(Status::NOT_A_POLICY);
    }
    // SAFETY: the pointer is aligned and the memory is readable. Only the mark is read here.
    let mark = unsafe { (&raw const (*handle).mark).read() };
    if mark != FIXED && mark != handle.addr() ^ MARK {
        return Err(Status::NOT_A_POLICY);
    }
    // SAFETY: the mark shows that this library wrote the handle.
    Ok(unsafe { crate::borrow::reference(handle) }?.policy)
}

/// The only policy, a constant. The linker can then leave out code that its settings do not need.
///
/// # Safety
/// No requirements.
#[cfg(all(builtin, not(feature = "runtime")))]
pub(crate) unsafe fn policy(handle: *const Handle) -> Result<&'static Policy<'static, f32>, Status> {
    if core::ptr::eq(handle, &raw const crate::builtin::BUILTIN) {
        Ok(crate::builtin::catalog::POLICY.get())
    } else if handle.is_null() {
        Err(Status::NULL)
    } else {
        Err(Status::NOT_A_POLICY)
    }
}

/// A size of a policy; 0 if the pointer is not to a policy.
///
/// # Safety
/// See [`policy`].
unsafe fn size_of_policy(handle: *const Handle, size: impl FnOnce(&Policy<'static, f32>) -> usize) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe { policy(handle) }.map_or(0, size)
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_user_size(policy: *const Handle) -> usize {
    // SAFETY: guaranteed by the caller, see the header.
    unsafe { size_of_policy(policy, |policy| user_size(policy.catalog())) }
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_workspace_size(policy: *const Handle) -> usize {
    // SAFETY: guaranteed by the caller, see the header.
    unsafe { size_of_policy(policy, |policy| policy.catalog().workspace_len() * size_of::<f32>()) }
}

/// See the header.
#[cfg(feature = "record")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_snapshot_size(policy: *const Handle) -> usize {
    let length = |policy: &Policy<'static, f32>| {
        fable_core::record::snapshot::max_len::<f32>(policy.catalog(), crate::user::CAPACITY)
    };
    // SAFETY: guaranteed by the caller, see the header.
    unsafe { size_of_policy(policy, length) }
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_fingerprint(policy: *const Handle, fingerprint: *mut u64) -> i32 {
    number((|| {
        // SAFETY: guaranteed by the caller, see the header.
        let (policy, fingerprint) = unsafe { (self::policy(policy)?, reference_mut(fingerprint)?) };
        *fingerprint = policy.fingerprint();
        Ok(())
    })())
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_catalog_fingerprint(policy: *const Handle, fingerprint: *mut u64) -> i32 {
    number((|| {
        // SAFETY: guaranteed by the caller, see the header.
        let (policy, fingerprint) = unsafe { (self::policy(policy)?, reference_mut(fingerprint)?) };
        *fingerprint = policy.catalog().fingerprint();
        Ok(())
    })())
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_policy_shape(policy: *const Handle, shape: *mut Shape) -> i32 {
    number((|| {
        // SAFETY: guaranteed by the caller, see the header.
        let (policy, shape) = unsafe { (self::policy(policy)?, reference_mut(shape)?) };
        let (catalog, definition, layout) =
            (policy.catalog(), policy.catalog().definition(), policy.catalog().layout());
        // No number exceeds 8,192.
        *shape = Shape {
            actions: catalog.actions() as u16,
            dimension: catalog.dimension() as u16,
            leaves: layout.leaves() as u16,
            leaf: layout.leaf() as u16,
            root: layout.root() as u16,
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
