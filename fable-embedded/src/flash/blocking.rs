//! The store over a blocking driver: the same futures, which then never wait.
//!
//! ```
//! use fable_embedded::flash::{Blocking, block_on};
//! use fable_embedded::mock::Mock;
//! use embedded_storage_async::nor_flash::ReadNorFlash;
//!
//! let driver = Mock::<4, 1024>::new(4); // implements the traits of `embedded-storage`
//! let mut flash = Blocking(driver); // and now those of `embedded-storage-async`
//! let mut word = [0; 4];
//! block_on(flash.read(0, &mut word))?;
//! assert_eq!(word, [0xff; 4]);
//! # Ok::<(), fable_embedded::mock::MockError>(())
//! ```

use embedded_storage::nor_flash as blocking;
use embedded_storage_async::nor_flash::{ErrorType, NorFlash, ReadNorFlash};

/// Makes an asynchronous flash of a blocking driver.
#[derive(Clone, Debug)]
pub struct Blocking<F>(pub F);

impl<F: blocking::ErrorType> ErrorType for Blocking<F> {
    type Error = F::Error;
}

impl<F: blocking::ReadNorFlash> ReadNorFlash for Blocking<F> {
    const READ_SIZE: usize = F::READ_SIZE;

    async fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Self::Error> {
        self.0.read(offset, bytes)
    }

    fn capacity(&self) -> usize {
        self.0.capacity()
    }
}

impl<F: blocking::NorFlash> NorFlash for Blocking<F> {
    const WRITE_SIZE: usize = F::WRITE_SIZE;
    const ERASE_SIZE: usize = F::ERASE_SIZE;

    async fn erase(&mut self, from: u32, to: u32) -> Result<(), Self::Error> {
        self.0.erase(from, to)
    }

    async fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Self::Error> {
        self.0.write(offset, bytes)
    }
}
