//! Where bytes are kept: a file, or memory.

use std::fmt;
use std::fs::File;
use std::io;
use std::sync::{PoisonError, RwLock};

/// Bytes that can be read and written at any place.
pub(super) trait Medium: fmt::Debug + Send + Sync {
    /// Number of bytes.
    fn len(&self) -> io::Result<u64>;
    /// Reads all of the buffer; [`io::ErrorKind::UnexpectedEof`] when there is less.
    fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()>;
    /// Writes all of the bytes.
    fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;
    /// Cuts it off, or adds zeros.
    fn set_len(&self, length: u64) -> io::Result<()>;
    /// Returns when everything that was written is on disk.
    fn sync(&self) -> io::Result<()>;
}

impl Medium for File {
    fn len(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    #[cfg(unix)]
    fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(self, buffer, offset)
    }

    #[cfg(unix)]
    fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        std::os::unix::fs::FileExt::write_all_at(self, bytes, offset)
    }

    #[cfg(windows)]
    fn read(&self, mut offset: u64, mut buffer: &mut [u8]) -> io::Result<()> {
        while !buffer.is_empty() {
            let count = std::os::windows::fs::FileExt::seek_read(self, buffer, offset)?;
            if count == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            offset += count as u64;
            buffer = buffer.get_mut(count..).unwrap_or_default();
        }
        Ok(())
    }

    #[cfg(windows)]
    fn write(&self, mut offset: u64, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let count = std::os::windows::fs::FileExt::seek_write(self, bytes, offset)?;
            offset += count as u64;
            bytes = bytes.get(count..).unwrap_or_default();
        }
        Ok(())
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        Self::set_len(self, length)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }
}

/// A file that is locked, and given back at once when it is dropped: a process that was just started by this one may have it open for
/// a moment longer.
#[derive(Debug)]
pub(super) struct Locked(pub(super) File);

impl Drop for Locked {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

impl Medium for Locked {
    fn len(&self) -> io::Result<u64> {
        Medium::len(&self.0)
    }

    fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        Medium::read(&self.0, offset, buffer)
    }

    fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        Medium::write(&self.0, offset, bytes)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        Medium::set_len(&self.0, length)
    }

    fn sync(&self) -> io::Result<()> {
        Medium::sync(&self.0)
    }
}

/// Bytes that end with the process.
#[derive(Debug, Default)]
pub(super) struct Memory(RwLock<Vec<u8>>);

impl Medium for Memory {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.read().unwrap_or_else(PoisonError::into_inner).len() as u64)
    }

    fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let bytes = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let found = bytes.get(start..).and_then(|bytes| bytes.get(..buffer.len()));
        buffer.copy_from_slice(found.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let start = usize::try_from(offset).map_err(|_| io::ErrorKind::StorageFull)?;
        let end = start + bytes.len();
        if all.len() < end {
            all.resize(end, 0);
        }
        if let Some(place) = all.get_mut(start..end) {
            place.copy_from_slice(bytes);
        }
        Ok(())
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        let length = usize::try_from(length).map_err(|_| io::ErrorKind::StorageFull)?;
        self.0.write().unwrap_or_else(PoisonError::into_inner).resize(length, 0);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}
