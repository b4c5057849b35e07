//! References from the pointers of C, after all possible checks.

use crate::status::Status;
use core::ffi::{CStr, c_char};

/// A reference from a pointer.
///
/// # Safety
/// If the pointer is neither null nor misaligned, it points to a `T` that does not change while the reference
/// is in use.
pub(crate) unsafe fn reference<'a, T>(pointer: *const T) -> Result<&'a T, Status> {
    check(pointer)?;
    // SAFETY: it is not null and aligned, and the caller guarantees the rest.
    Ok(unsafe { &*pointer })
}

/// A mutable reference from a pointer.
///
/// # Safety
/// If the pointer is neither null nor misaligned, it points to a `T` without any other user while the
/// reference is in use.
pub(crate) unsafe fn reference_mut<'a, T>(pointer: *mut T) -> Result<&'a mut T, Status> {
    check(pointer)?;
    // SAFETY: it is not null and aligned, and the caller guarantees the rest.
    Ok(unsafe { &mut *pointer })
}

/// A slice from a pointer. The pointer may be null if `count` is 0.
///
/// # Safety
/// See [`reference`], for `count` elements.
pub(crate) unsafe fn slice<'a, T>(pointer: *const T, count: usize) -> Result<&'a [T], Status> {
    if count == 0 {
        return Ok(&[]);
    }
    check(pointer)?;
    admit::<T>(count)?;
    // SAFETY: it is not null and aligned, the length is possible, and the caller guarantees the rest.
    Ok(unsafe { core::slice::from_raw_parts(pointer, count) })
}

/// A mutable slice from a pointer. The pointer may be null if `count` is 0.
///
/// # Safety
/// See [`reference_mut`], for `count` elements.
pub(crate) unsafe fn slice_mut<'a, T>(pointer: *mut T, count: usize) -> Result<&'a mut [T], Status> {
    if count == 0 {
        return Ok(&mut []);
    }
    check(pointer)?;
    admit::<T>(count)?;
    // SAFETY: it is not null and aligned, the length is possible, and the caller guarantees the rest.
    Ok(unsafe { core::slice::from_raw_parts_mut(pointer, count) })
}

/// A text from a pointer.
///
/// # Safety
/// If the pointer is not null, it points to bytes that end with a zero and do not change while the reference
/// is in use.
pub(crate) unsafe fn text<'a>(pointer: *const c_char) -> Result<&'a str, Status> {
    check(pointer)?;
    // SAFETY: it is not null, and the caller guarantees the rest.
    unsafe { CStr::from_ptr(pointer) }.to_str().map_err(|_| Status::BAD_TEXT)
}

/// A text from a pointer; null gives the empty text.
///
/// # Safety
/// See [`text`].
#[cfg(feature = "runtime")]
pub(crate) unsafe fn text_or_empty<'a>(pointer: *const c_char) -> Result<&'a str, Status> {
    // SAFETY: guaranteed by the caller.
    if pointer.is_null() { Ok("") } else { unsafe { text(pointer) } }
}

/// A mutable reference from a pointer; `None` for null. Called before the function has any effect.
///
/// # Safety
/// See [`reference_mut`].
pub(crate) unsafe fn optional_mut<'a, T>(pointer: *mut T) -> Result<Option<&'a mut T>, Status> {
    // SAFETY: guaranteed by the caller.
    if pointer.is_null() { Ok(None) } else { unsafe { reference_mut(pointer) }.map(Some) }
}

/// Writes a value if there is a reference.
pub(crate) fn write_optional<T>(target: Option<&mut T>, value: T) {
    if let Some(target) = target {
        *target = value;
    }
}

fn check<T>(pointer: *const T) -> Result<(), Status> {
    if pointer.is_null() {
        Err(Status::NULL)
    } else if pointer.is_aligned() {
        Ok(())
    } else {
        Err(Status::MISALIGNED)
    }
}

/// Refuses objects larger than half of the address space, which C does not have.
fn admit<T>(count: usize) -> Result<(), Status> {
    match count.checked_mul(size_of::<T>()) {
        Some(size) if isize::try_from(size).is_ok() => Ok(()),
        _ => Err(Status::TOO_SMALL),
    }
}
