//! The flash of a store, blocking or asynchronous: word, page, and verified writes.

use super::Bytes;
use super::blocking::{Blocking, Ready};
use super::error::FlashError;
use super::layout::MAX_WORD;
use embedded_storage::nor_flash as blocking;
use embedded_storage_async::nor_flash::{NorFlash, NorFlashErrorKind, ReadNorFlash};
use fable_forms::blocking;

/// The flash of a [`FlashStore`](super::FlashStore): a driver with the traits of `embedded-storage-async`, or
/// a [`Blocking`] driver with the traits of `embedded-storage`.
pub trait Flash {
    /// Bytes of a word, the larger of the read and the write unit.
    const WORD: usize;
    /// Bytes of a page, the erase unit.
    const PAGE: usize;

    /// The driver of the journal's queue.
    type Driver<'f>: NorFlash
    where
        Self: 'f;

    /// Returns the driver for the journal's queue.
    fn driver(&mut self) -> Self::Driver<'_>;
}

impl<F: NorFlash> Flash for F {
    const WORD: usize = max(<F as NorFlash>::WRITE_SIZE, <F as ReadNorFlash>::READ_SIZE);
    const PAGE: usize = F::ERASE_SIZE;

    type Driver<'f>
        = &'f mut F
    where
        F: 'f;

    fn driver(&mut self) -> &mut F {
        self
    }
}

impl<F: blocking::NorFlash> Flash for Blocking<F> {
    const WORD: usize = max(<F as blocking::NorFlash>::WRITE_SIZE, <F as blocking::ReadNorFlash>::READ_SIZE);
    const PAGE: usize = F::ERASE_SIZE;

    type Driver<'f>
        = Ready<'f, F>
    where
        F: 'f;

    fn driver(&mut self) -> Ready<'_, F> {
        Ready(&mut self.0)
    }
}

const fn max(a: usize, b: usize) -> usize {
    if a > b { a } else { b }
}

/// The flash with the operations of the store.
pub(super) struct Medium<F>(pub(super) F);

#[blocking(impl<F: blocking::NorFlash> Medium<Blocking<F>>)]
impl<F: NorFlash> Medium<F> {
    pub(super) async fn read(&mut self, at: u32, bytes: &mut [u8]) -> Result<(), FlashError> {
        self.0.read(at, bytes).await.map_err(FlashError::driver)
    }

    /// Erases one page.
    pub(super) async fn erase(&mut self, page: u32, len: u32) -> Result<(), FlashError> {
        self.0.erase(page, page + len).await.map_err(FlashError::driver)
    }

    /// Writes bytes and reads them back.
    pub(super) async fn put(&mut self, at: u32, bytes: &[u8]) -> Result<(), FlashError> {
        self.0.write(at, bytes).await.map_err(FlashError::driver)?;
        let mut read = Bytes([0; MAX_WORD]);
        for (at, piece) in (at..).step_by(MAX_WORD).zip(bytes.chunks(MAX_WORD)) {
            let read = read.0.get_mut(..piece.len()).ok_or(FlashError::Layout)?;
            self.read(at, read).await?;
            if read != piece {
                return Err(FlashError::Driver(NorFlashErrorKind::Other));
            }
        }
        Ok(())
    }
}
