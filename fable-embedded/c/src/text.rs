//! Writes texts into a buffer of the caller.

use crate::borrow::{optional_mut, slice_mut, write_optional};
use crate::status::Status;
use core::ffi::c_char;
use core::fmt;

/// A buffer and the length of the whole text. Bytes past the end of the buffer are counted, but not written.
pub(crate) struct Buffer<'b> {
    bytes: &'b mut [u8],
    length: usize,
}

impl fmt::Write for Buffer<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            if let Some(slot) = self.bytes.get_mut(self.length) {
                *slot = byte;
            }
            self.length = self.length.saturating_add(1);
        }
        Ok(())
    }
}

/// Writes a text and a zero byte into a buffer, and the text's length into `length`.
///
/// The first pass only counts, so a text that is too long leaves the buffer unchanged.
///
/// # Safety
/// `buffer` is null or has `size` bytes that no other reference uses. `length` is null or valid for writes.
pub(crate) unsafe fn write(
    buffer: *mut c_char,
    size: usize,
    length: *mut usize,
    mut body: impl FnMut(&mut Buffer<'_>) -> Result<(), Status>,
) -> Result<(), Status> {
    // SAFETY: guaranteed by the caller; every bit pattern is a valid `u8`.
    let (bytes, length) = unsafe { (slice_mut(buffer.cast::<u8>(), size)?, optional_mut(length)?) };
    let (mut used, mut needed) = (0, 0);
    loop {
        let mut text = Buffer { bytes: bytes.get_mut(..used).unwrap_or_default(), length: 0 };
        body(&mut text)?;
        needed = text.length.max(needed);
        if used > 0 || needed >= bytes.len() {
            break;
        }
        used = bytes.len();
    }
    write_optional(length, needed);
    let end = bytes.get_mut(needed).ok_or(Status::TOO_SMALL)?;
    *end = 0;
    Ok(())
}
