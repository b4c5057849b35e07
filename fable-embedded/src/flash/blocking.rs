//! The store over a blocking driver: blocking functions instead of futures.
//!
//! ```
//! use fable_embedded::flash::{Blocking, Layout, FlashStore, FlashError};
//! use fable_embedded::mock::Mock;
//!
//! type Driver = Mock<4, 1024>; // implements the traits of `embedded-storage`
//! let layout = Layout::try_new::<Blocking<Driver>>(0, 4 * 1024, 64).unwrap();
//! let mut store = FlashStore::new(Blocking(Driver::new(4)), layout);
//! assert_eq!(store.read_events(0, |_, _| true), Err(FlashError::Closed)); // no `await`
//! ```

use core::future::Future;
use core::pin::pin;
use core::task::{Context, Poll, Waker};
use embedded_storage::nor_flash as blocking;
use embedded_storage_async::nor_flash::{ErrorType, NorFlash, ReadNorFlash};

/// A driver with the traits of `embedded-storage`. A store over it is blocking.
#[derive(Clone, Debug)]
pub struct Blocking<F>(pub F);

impl<F: blocking::NorFlash> Blocking<F> {
    pub(super) fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), F::Error> {
        self.0.read(offset, bytes)
    }

    pub(super) fn erase(&mut self, from: u32, to: u32) -> Result<(), F::Error> {
        self.0.erase(from, to)
    }

    pub(super) fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), F::Error> {
        self.0.write(offset, bytes)
    }
}

/// A blocking driver as an asynchronous driver that never waits, for the journal's queue.
pub struct Ready<'f, F>(pub(super) &'f mut F);

impl<F: blocking::ErrorType> ErrorType for Ready<'_, F> {
    type Error = F::Error;
}

impl<F: blocking::ReadNorFlash> ReadNorFlash for Ready<'_, F> {
    const READ_SIZE: usize = F::READ_SIZE;

    async fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Self::Error> {
        self.0.read(offset, bytes)
    }

    fn capacity(&self) -> usize {
        self.0.capacity()
    }
}

impl<F: blocking::NorFlash> NorFlash for Ready<'_, F> {
    const WRITE_SIZE: usize = F::WRITE_SIZE;
    const ERASE_SIZE: usize = F::ERASE_SIZE;

    async fn erase(&mut self, from: u32, to: u32) -> Result<(), Self::Error> {
        self.0.erase(from, to)
    }

    async fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Self::Error> {
        self.0.write(offset, bytes)
    }
}

/// Runs a future to its end. It polls in a loop, and suits storage that does not wait for an interrupt.
#[inline]
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        core::hint::spin_loop();
    }
}

/// Returns a future of the queue unchanged. Its blocking form is [`block_on`].
pub(super) fn wait_async<T>(future: impl Future<Output = T>) -> impl Future<Output = T> {
    future
}
