//! What a board lends from the machine QEMU runs on, through semihosting: a file in place of flash, and random numbers.
//!
//! QEMU has no flash that these boards could write, so [`HostFlash`] keeps a file in QEMU's current directory to the rules
//! of NOR flash: an erase sets a page to ones, a write only clears bits. A write is in the host's page cache when it
//! returns, so it survives a killed QEMU.

use core::ffi::CStr;
use embedded_storage::nor_flash::{
    ErrorType, MultiwriteNorFlash, NorFlash, NorFlashErrorKind, ReadNorFlash, check_erase, check_read,
    check_write,
};
use semihosting::experimental::random;
use semihosting::fs::File;
use semihosting::io::{self, Read, Seek, SeekFrom, Write};

/// Bytes moved at once.
const CHUNK: usize = 256;

/// A file of the host as flash of `PAGES` pages of `PAGE` bytes that are written in words of `WORD` bytes.
#[derive(Debug)]
pub struct HostFlash<const WORD: usize, const PAGE: usize, const PAGES: usize>(File);

impl<const WORD: usize, const PAGE: usize, const PAGES: usize> HostFlash<WORD, PAGE, PAGES> {
    const CAPACITY: usize = PAGE * PAGES;

    /// Opens the file; what it lacks to its full length is filled with ones.
    ///
    /// # Errors
    /// `Other` when the host refuses, `OutOfBounds` when the file is too long: it belongs to something else.
    pub fn open(path: &CStr) -> Result<Self, NorFlashErrorKind> {
        const { assert!(PAGE.is_multiple_of(CHUNK) && CHUNK.is_multiple_of(WORD)) };
        let existing = File::options().read(true).write(true).open(path);
        let file = existing
            .or_else(|_| File::options().read(true).write(true).create(true).truncate(true).open(path));
        let file = file.map_err(|_| NorFlashErrorKind::Other)?;
        let length = file.metadata().map_err(|_| NorFlashErrorKind::Other)?.len();
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let missing = Self::CAPACITY.checked_sub(length).ok_or(NorFlashErrorKind::OutOfBounds)?;
        let mut flash = Self(file);
        flash.fill(length, missing).map_err(|_| NorFlashErrorKind::Other)?;
        Ok(flash)
    }

    fn seek(&mut self, offset: usize) -> io::Result<()> {
        self.0.seek(SeekFrom::Start(offset as u64)).map(|_| ())
    }

    fn fill(&mut self, offset: usize, mut length: usize) -> io::Result<()> {
        self.seek(offset)?;
        while length > 0 {
            let count = length.min(CHUNK);
            self.0.write_all(&[0xFF; CHUNK][..count])?;
            length -= count;
        }
        Ok(())
    }

    /// Clears the bits that are zero in `bytes`, at most a chunk.
    fn clear(&mut self, offset: usize, bytes: &[u8]) -> io::Result<()> {
        let mut stored = [0; CHUNK];
        let stored = stored.get_mut(..bytes.len()).ok_or(io::ErrorKind::InvalidInput)?;
        self.seek(offset)?;
        self.0.read_exact(stored)?;
        for (old, new) in stored.iter_mut().zip(bytes) {
            *old &= new;
        }
        self.seek(offset)?;
        self.0.write_all(stored)
    }
}

impl<const WORD: usize, const PAGE: usize, const PAGES: usize> ErrorType for HostFlash<WORD, PAGE, PAGES> {
    type Error = NorFlashErrorKind;
}

impl<const WORD: usize, const PAGE: usize, const PAGES: usize> ReadNorFlash for HostFlash<WORD, PAGE, PAGES> {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        check_read(self, offset, bytes.len())?;
        self.seek(offset as usize)
            .and_then(|()| self.0.read_exact(bytes))
            .map_err(|_| NorFlashErrorKind::Other)
    }

    fn capacity(&self) -> usize {
        Self::CAPACITY
    }
}

impl<const WORD: usize, const PAGE: usize, const PAGES: usize> NorFlash for HostFlash<WORD, PAGE, PAGES> {
    const WRITE_SIZE: usize = WORD;
    const ERASE_SIZE: usize = PAGE;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), NorFlashErrorKind> {
        check_erase(self, from, to)?;
        self.fill(from as usize, (to - from) as usize).map_err(|_| NorFlashErrorKind::Other)
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
        check_write(self, offset, bytes.len())?;
        let starts = (offset as usize..).step_by(CHUNK);
        starts
            .zip(bytes.chunks(CHUNK))
            .try_for_each(|(at, chunk)| self.clear(at, chunk))
            .map_err(|_| NorFlashErrorKind::Other)
    }
}

impl<const WORD: usize, const PAGE: usize, const PAGES: usize> MultiwriteNorFlash
    for HostFlash<WORD, PAGE, PAGES>
{
}

/// 64 bits of the host's `/dev/urandom`; `None` without a host.
pub(crate) fn random() -> Option<u64> {
    let mut bytes = [0; 8];
    random::fill_bytes(&mut bytes).ok()?;
    Some(u64::from_le_bytes(bytes))
}
