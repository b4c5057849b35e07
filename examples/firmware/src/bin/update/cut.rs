//! Flash whose power is cut: before one of its writes and erases the board goes out.

use embedded_storage::nor_flash::{ErrorType, MultiwriteNorFlash, NorFlash, ReadNorFlash};
use firmware::boards::{Board, Here, exit};

/// What QEMU ends with at a cut, on boards whose flash outlives it.
pub(crate) const OUT: i32 = 7;

/// The board's flash, which counts what is done to it.
pub(crate) struct Cut {
    flash: <Here as Board>::Flash,
    /// Writes and erases so far.
    pub(crate) done: u32,
    /// Before which of them the power goes.
    pub(crate) at: u32,
}

impl Cut {
    pub(crate) fn new(flash: <Here as Board>::Flash) -> Self {
        Self { flash, done: 0, at: u32::MAX }
    }

    fn count(&mut self) {
        if self.done == self.at {
            // The micro:bit's flash goes with QEMU and stays through a reset.
            if cfg!(feature = "microbit") { Here::reset() } else { exit(OUT) }
        }
        self.done += 1;
    }
}

impl ErrorType for Cut {
    type Error = <<Here as Board>::Flash as ErrorType>::Error;
}

impl ReadNorFlash for Cut {
    const READ_SIZE: usize = <Here as Board>::Flash::READ_SIZE;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Self::Error> {
        self.flash.read(offset, bytes)
    }

    fn capacity(&self) -> usize {
        self.flash.capacity()
    }
}

impl NorFlash for Cut {
    const WRITE_SIZE: usize = <Here as Board>::Flash::WRITE_SIZE;
    const ERASE_SIZE: usize = <Here as Board>::Flash::ERASE_SIZE;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), Self::Error> {
        self.count();
        self.flash.erase(from, to)
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Self::Error> {
        self.count();
        self.flash.write(offset, bytes)
    }
}

impl MultiwriteNorFlash for Cut {}
