//! A serial port without interrupt handlers, 115,200 baud, 8N1, over the few operations a board gives.

use core::convert::Infallible;
use embedded_io::{ErrorType, Read, ReadReady, Write, WriteReady};

/// What a board's serial hardware does.
pub trait Port {
    /// Switches it on.
    fn open() -> Self;

    /// A byte has arrived.
    fn has_byte(&self) -> bool;

    /// Waits for a byte; may return before there is one.
    fn sleep(&mut self);

    /// The byte that has arrived.
    fn take(&mut self) -> u8;

    /// The next byte can be given to [`put`](Port::put).
    fn has_room(&self) -> bool;

    /// Sends a byte; there must be room.
    fn put(&mut self, byte: u8);
}

/// The serial port of a board.
///
/// `read` sleeps until there is a byte and returns with what is there; `write` returns when all bytes have been handed to the
/// hardware. The async traits are the same operations, for protocols written over them: they never give way to another task.
#[derive(Debug)]
pub struct Uart<P>(P);

impl<P: Port> Uart<P> {
    /// Switches the port on.
    #[must_use]
    pub fn open() -> Self {
        Self(P::open())
    }
}

impl<P> ErrorType for Uart<P> {
    type Error = Infallible;
}

impl<P: Port> ReadReady for Uart<P> {
    fn read_ready(&mut self) -> Result<bool, Infallible> {
        Ok(self.0.has_byte())
    }
}

impl<P: Port> WriteReady for Uart<P> {
    fn write_ready(&mut self) -> Result<bool, Infallible> {
        Ok(self.0.has_room())
    }
}

impl<P: Port> Read for Uart<P> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Infallible> {
        let mut count = 0;
        for slot in buffer {
            while !self.0.has_byte() {
                if count > 0 {
                    return Ok(count);
                }
                self.0.sleep();
            }
            *slot = self.0.take();
            count += 1;
        }
        Ok(count)
    }
}

impl<P: Port> Write for Uart<P> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Infallible> {
        for &byte in bytes {
            while !self.0.has_room() {}
            self.0.put(byte);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<(), Infallible> {
        while !self.0.has_room() {}
        Ok(())
    }
}

impl<P: Port> embedded_io_async::Read for Uart<P> {
    async fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Infallible> {
        Read::read(self, buffer)
    }
}

impl<P: Port> embedded_io_async::Write for Uart<P> {
    async fn write(&mut self, bytes: &[u8]) -> Result<usize, Infallible> {
        Write::write(self, bytes)
    }

    async fn flush(&mut self) -> Result<(), Infallible> {
        Write::flush(self)
    }
}
