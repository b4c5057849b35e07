//! What C hands over as pointers, made references after everything was looked at that can be.

use crate::status::Status;
use core::ffi::{CStr, c_char};

/// One thing to be read.
///
/// # Safety
/// A pointer that is neither null nor misaligned is to a `T` that nobody changes as long as the reference is used.
pub(crate) unsafe fn one<'a, T>(pointer: *const T) -> Result<&'a T, Status> {
    check(pointer)?;
    // SAFETY: it is not null and aligned, and the rest is the caller's promise.
    Ok(unsafe { &*pointer })
}

/// One thing to be written to.
///
/// # Safety
/// A pointer that is neither null nor misaligned is to memory of a `T` that nobody else uses as long as the reference is used.
pub(crate) unsafe fn place<'a, T>(pointer: *mut T) -> Result<&'a mut T, Status> {
    check(pointer)?;
    // SAFETY: it is not null and aligned, and the rest is the caller's promise.
    Ok(unsafe { &mut *pointer })
}

/// Several things to be read; a null pointer will do for none.
///
/// # Safety
/// As for [`one`], for `count` things.
pub(crate) unsafe fn many<'a, T>(pointer: *const T, count: usize) -> Result<&'a [T], Status> {
    if count == 0 {
        return Ok(&[]);
    }
    check(pointer)?;
    admit::<T>(count)?;
    // SAFETY: it is not null and aligned, the length is possible, and the rest is the caller's promise.
    Ok(unsafe { core::slice::from_raw_parts(pointer, count) })
}

/// Several things to be written to; a null pointer will do for none.
///
/// # Safety
/// As for [`place`], for `count` things.
pub(crate) unsafe fn places<'a, T>(pointer: *mut T, count: usize) -> Result<&'a mut [T], Status> {
    if count == 0 {
        return Ok(&mut []);
    }
    check(pointer)?;
    admit::<T>(count)?;
    // SAFETY: it is not null and aligned, the length is possible, and the rest is the caller's promise.
    Ok(unsafe { core::slice::from_raw_parts_mut(pointer, count) })
}

/// A text.
///
/// # Safety
/// A pointer that is not null is to bytes that end with a zero and that nobody changes as long as the reference is used.
pub(crate) unsafe fn text<'a>(pointer: *const c_char) -> Result<&'a str, Status> {
    check(pointer)?;
    // SAFETY: it is not null, and the rest is the caller's promise.
    unsafe { CStr::from_ptr(pointer) }.to_str().map_err(|_| Status::BAD_TEXT)
}

/// The same; null is the empty text.
///
/// # Safety
/// As for [`text`].
#[cfg(feature = "runtime")]
pub(crate) unsafe fn text_or_empty<'a>(pointer: *const c_char) -> Result<&'a str, Status> {
    // SAFETY: the caller's promise.
    if pointer.is_null() { Ok("") } else { unsafe { text(pointer) } }
}

/// A place for something that the caller may not want: null for that. It is asked for before anything is done.
///
/// # Safety
/// As for [`place`].
pub(crate) unsafe fn wanted<'a, T>(pointer: *mut T) -> Result<Option<&'a mut T>, Status> {
    // SAFETY: the caller's promise.
    if pointer.is_null() { Ok(None) } else { unsafe { place(pointer) }.map(Some) }
}

/// Writes what is wanted.
pub(crate) fn tell<T>(place: Option<&mut T>, what: T) {
    if let Some(place) = place {
        *place = what;
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

/// No object of C is larger than half of all addresses.
fn admit<T>(count: usize) -> Result<(), Status> {
    match count.checked_mul(size_of::<T>()) {
        Some(size) if isize::try_from(size).is_ok() => Ok(()),
        _ => Err(Status::TOO_SMALL),
    }
}
