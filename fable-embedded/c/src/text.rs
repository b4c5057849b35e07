//! Texts into a caller's buffer.

use crate::borrow::{places, tell};
use crate::status::Status;
use core::ffi::c_char;
use core::fmt;

/// A buffer that is written to as long as there is room, and counts what there would have been.
pub(crate) struct Buffer<'b> {
    room: &'b mut [u8],
    length: usize,
}

impl fmt::Write for Buffer<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            if let Some(slot) = self.room.get_mut(self.length) {
                *slot = byte;
            }
            self.length = self.length.saturating_add(1);
        }
        Ok(())
    }
}

/// Lets something be written into a buffer, ends it with a zero byte, and says how long it is; too long a text leaves it empty.
///
/// # Safety
/// `buffer` is null or has `size` bytes that nobody else uses, `length` is null or a place.
pub(crate) unsafe fn write(
    buffer: *mut c_char,
    size: usize,
    length: *mut usize,
    body: impl FnOnce(&mut Buffer<'_>) -> Result<(), Status>,
) -> Result<(), Status> {
    // SAFETY: the caller's promise; a byte is a byte.
    let room = unsafe { places(buffer.cast::<u8>(), size) }?;
    let mut text = Buffer { room, length: 0 };
    body(&mut text)?;
    let Buffer { room, length: needed } = text;
    let fits = needed < room.len();
    if let Some(end) = room.get_mut(if fits { needed } else { 0 }) {
        *end = 0;
    }
    // SAFETY: the caller's promise.
    unsafe { tell(length, needed) }?;
    if fits { Ok(()) } else { Err(Status::TOO_SMALL) }
}
