//! Texts into a caller's buffer.

use crate::borrow::{places, tell, wanted};
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

/// Lets something be written into a buffer, ends it with a zero byte, and says how long it is. It is counted first: too long a text
/// leaves the buffer as it was.
///
/// # Safety
/// `buffer` is null or has `size` bytes that nobody else uses, `length` is null or a place.
pub(crate) unsafe fn write(
    buffer: *mut c_char,
    size: usize,
    length: *mut usize,
    mut body: impl FnMut(&mut Buffer<'_>) -> Result<(), Status>,
) -> Result<(), Status> {
    // SAFETY: the caller's promise; a byte is a byte.
    let (room, length) = unsafe { (places(buffer.cast::<u8>(), size)?, wanted(length)?) };
    let (mut used, mut needed) = (0, 0);
    loop {
        let mut text = Buffer { room: room.get_mut(..used).unwrap_or_default(), length: 0 };
        body(&mut text)?;
        needed = text.length.max(needed);
        if used > 0 || needed >= room.len() {
            break;
        }
        used = room.len();
    }
    tell(length, needed);
    let end = room.get_mut(needed).ok_or(Status::TOO_SMALL)?;
    *end = 0;
    Ok(())
}
