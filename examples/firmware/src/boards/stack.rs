//! RAM in use: static variables from the linker's marks, the stack from the paint that is gone.

use super::mmio;

/// Paints the unused stack; [`firmware!`](crate::firmware) does it first of all. Painting again starts a new measurement.
#[inline(never)]
pub fn paint() {
    mmio::paint();
}

/// The deepest the stack has been since it was painted, in bytes.
#[must_use]
pub fn used() -> usize {
    size() - mmio::painted()
}

/// The room there is for the stack, in bytes: all RAM that static variables leave.
#[must_use]
pub fn size() -> usize {
    let (bottom, top) = mmio::stack();
    top - bottom
}

/// RAM of static variables, in bytes.
#[must_use]
pub fn statics() -> usize {
    let (first, last) = mmio::statics();
    last - first
}
