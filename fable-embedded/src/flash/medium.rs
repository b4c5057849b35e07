//! The flash under a store, in either form: words and pages, bytes out and in.

use super::Bytes;
use super::blocking::{Blocking, Ready};
use super::error::FlashError;
use super::layout::MAX_WORD;
use embedded_storage::nor_flash as blocking;
use embedded_storage_async::nor_flash::{NorFlash, NorFlashErrorKind, ReadNorFlash};
use fable_forms::blocking;

/// What a [`FlashStore`](super::FlashStore) can be over: a driver with the traits of `embedded-storage-async` as it is, and one with
/// those of `embedded-storage` as [`Blocking`].
pub trait Flash {
    /// Bytes of a word, the larger of what is read and what is written.
    const WORD: usize;
    /// Bytes of a page, which is erased at once.
    const PAGE: usize;

    /// The driver as the journal's queue takes it.
    type Driver<'f>: NorFlash
    where
        Self: 'f;

    /// The driver as the journal's queue takes it.
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

/// The flash with what the store does to it.
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

    /// Writes and reads back.
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
