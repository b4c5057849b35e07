//! A NOR flash in RAM with power cuts at any byte.
//!
//! A write clears bits, and an erase sets the bits of a page. A part with error correction also refuses to
//! write a word twice ([`strict`](Mock::strict)). Each written byte and each eighth of an erase is a *step*.
//! [`cut_after`](Mock::cut_after) cuts the power after a number of steps, and every call fails until
//! [`power_on`](Mock::power_on). The interrupted word reads as untouched, half programmed, whole, or random.
//! The interrupted page reads as anything between untouched and erased.
//!
//! ```
//! use embedded_storage::nor_flash::{NorFlash, ReadNorFlash};
//! use fable_embedded::mock::{Mock, MockError};
//!
//! let mut flash = Mock::<4, 1024>::new(2);
//! flash.cut_after(6); // in the middle of the second word
//! assert_eq!(flash.write(0, &[0; 12]), Err(MockError::Power));
//! flash.power_on();
//! let mut bytes = [0xff; 12];
//! flash.read(0, &mut bytes)?;
//! assert!(bytes[..4] == [0; 4] && bytes[8..] == [0xff; 4]);
//! # Ok::<(), MockError>(())
//! ```

extern crate alloc;

use alloc::{vec, vec::Vec};
use core::fmt;
use embedded_storage::nor_flash as blocking;
use embedded_storage_async::nor_flash::{self, ErrorType, NorFlashError, NorFlashErrorKind};

/// Steps of an erase.
const ERASE_STEPS: u64 = 8;

/// The reason why the mock refused a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum MockError {
    /// The range is outside the memory, or not aligned to words or pages.
    Bounds,
    /// The word is not erased.
    NotErased,
    /// The power is off.
    Power,
    /// Reads fail, see [`fail_reads`](Mock::fail_reads).
    Read,
}

impl fmt::Display for MockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bounds => "outside the memory, or not aligned",
            Self::NotErased => "the word is not erased",
            Self::Power => "the power is off",
            Self::Read => "the read failed",
        })
    }
}

impl core::error::Error for MockError {}

impl NorFlashError for MockError {
    fn kind(&self) -> NorFlashErrorKind {
        if *self == Self::Bounds { NorFlashErrorKind::OutOfBounds } else { NorFlashErrorKind::Other }
    }
}

/// A flash with words of `WORD` bytes and pages of `PAGE` bytes.
#[derive(Clone, Debug)]
pub struct Mock<const WORD: usize, const PAGE: usize> {
    bytes: Vec<u8>,
    /// Words that were written since their erase.
    written: Vec<bool>,
    erases: Vec<u32>,
    strict: bool,
    steps: u64,
    cut_at: Option<u64>,
    off: bool,
    failing_reads: bool,
    random: u64,
}

impl<const WORD: usize, const PAGE: usize> Mock<WORD, PAGE> {
    /// Creates an erased flash that allows a second write to a word.
    #[must_use]
    pub fn new(pages: usize) -> Self {
        Self {
            bytes: vec![0xff; pages * PAGE],
            written: vec![false; pages * PAGE / WORD],
            erases: vec![0; pages],
            strict: false,
            steps: 0,
            cut_at: None,
            off: false,
            failing_reads: false,
            random: 1,
        }
    }

    /// Refuses writes to a word that is not erased, even if it reads as erased.
    #[must_use]
    pub const fn strict(mut self) -> Self {
        self.strict = true;
        self
    }

    /// Cuts the power after a number of further steps.
    pub const fn cut_after(&mut self, steps: u64) {
        self.cut_at = Some(self.steps + steps);
    }

    /// Seeds the content of interrupted words and pages.
    pub const fn seed(&mut self, seed: u64) {
        self.random = seed;
    }

    /// Makes every read fail or succeed.
    pub const fn fail_reads(&mut self, fail: bool) {
        self.failing_reads = fail;
    }

    /// Switches the power on and removes the next cut. Returns true if the power was off.
    pub const fn power_on(&mut self) -> bool {
        self.cut_at = None;
        core::mem::replace(&mut self.off, false)
    }

    /// Returns the number of steps so far.
    #[must_use]
    pub const fn steps(&self) -> u64 {
        self.steps
    }

    /// Returns the number of erases of each page.
    #[must_use]
    pub fn erases(&self) -> &[u32] {
        &self.erases
    }

    /// Returns the memory.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the memory, to damage it.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    fn draw(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Takes steps. If the power is cut, returns the number of completed steps.
    const fn step(&mut self, count: u64) -> Option<u64> {
        match self.cut_at {
            Some(at) if at < self.steps + count => {
                self.off = true;
                Some(at.saturating_sub(self.steps))
            }
            _ => {
                self.steps += count;
                None
            }
        }
    }

    /// Sets the content of an interrupted word.
    fn tear_word(&mut self, at: usize, target: &[u8]) {
        let kind = self.draw() % 4;
        for (offset, new) in target.iter().enumerate() {
            let random = self.draw() as u8;
            if let Some(byte) = self.bytes.get_mut(at + offset) {
                *byte &= match kind {
                    0 => 0xff,
                    1 => *new,
                    2 => *new | random,
                    _ if self.strict => random,
                    _ => *new | random | (random << 1),
                };
            }
        }
    }

    /// Sets the content of an interrupted page.
    fn tear_page(&mut self, page: usize, done: u64) {
        let kind = (self.draw() ^ done) % 8;
        for offset in 0..PAGE {
            let random = self.draw();
            let cut = PAGE as u64 * done / ERASE_STEPS;
            let edge = offset < WORD || offset >= PAGE - WORD;
            let Some(byte) = self.bytes.get_mut(page * PAGE + offset) else { return };
            *byte = match kind {
                1 => 0,
                2 if random.is_multiple_of(2) => 0xff,
                3 if (offset as u64) < cut => 0xff,
                4 if (offset as u64) >= cut => 0xff,
                5 => *byte | (random >> 8) as u8,
                6 if edge => 0xff,
                7 => 0xff,
                _ => *byte,
            };
        }
        let words = self.written.iter_mut().skip(page * PAGE / WORD).take(PAGE / WORD);
        words.for_each(|written| *written = true); // the page needs another erase
    }

    fn check(&self, offset: u32, len: usize, unit: usize) -> Result<usize, MockError> {
        let at = offset as usize;
        let inside = at.checked_add(len).is_some_and(|end| end <= self.bytes.len());
        if self.off {
            Err(MockError::Power)
        } else if inside && at.is_multiple_of(unit) && len.is_multiple_of(unit) {
            Ok(at)
        } else {
            Err(MockError::Bounds)
        }
    }

    fn read_bytes(&self, offset: u32, bytes: &mut [u8]) -> Result<(), MockError> {
        let at = self.check(offset, bytes.len(), WORD)?;
        if self.failing_reads {
            return Err(MockError::Read);
        }
        bytes.iter_mut().zip(self.bytes.iter().skip(at)).for_each(|(out, byte)| *out = *byte);
        Ok(())
    }

    fn write_bytes(&mut self, offset: u32, bytes: &[u8]) -> Result<(), MockError> {
        let at = self.check(offset, bytes.len(), WORD)?;
        for (at, word) in (at..).step_by(WORD).zip(bytes.chunks(WORD)) {
            let written = self.written.get_mut(at / WORD).ok_or(MockError::Bounds)?;
            if self.strict && *written {
                return Err(MockError::NotErased);
            }
            *written = true;
            if self.step(WORD as u64).is_some() {
                self.tear_word(at, word);
                return Err(MockError::Power);
            }
            self.bytes.iter_mut().skip(at).zip(word).for_each(|(byte, new)| *byte &= new);
        }
        Ok(())
    }

    fn erase_pages(&mut self, from: u32, to: u32) -> Result<(), MockError> {
        let at = self.check(from, to.checked_sub(from).ok_or(MockError::Bounds)? as usize, PAGE)?;
        for page in at / PAGE..to as usize / PAGE {
            if let Some(erases) = self.erases.get_mut(page) {
                *erases += 1;
            }
            if let Some(done) = self.step(ERASE_STEPS) {
                self.tear_page(page, done);
                return Err(MockError::Power);
            }
            self.bytes.iter_mut().skip(page * PAGE).take(PAGE).for_each(|byte| *byte = 0xff);
            self.written
                .iter_mut()
                .skip(page * PAGE / WORD)
                .take(PAGE / WORD)
                .for_each(|written| *written = false);
        }
        Ok(())
    }
}

impl<const WORD: usize, const PAGE: usize> ErrorType for Mock<WORD, PAGE> {
    type Error = MockError;
}

impl<const WORD: usize, const PAGE: usize> blocking::ReadNorFlash for Mock<WORD, PAGE> {
    const READ_SIZE: usize = WORD;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), MockError> {
        self.read_bytes(offset, bytes)
    }

    fn capacity(&self) -> usize {
        self.bytes.len()
    }
}

impl<const WORD: usize, const PAGE: usize> blocking::NorFlash for Mock<WORD, PAGE> {
    const WRITE_SIZE: usize = WORD;
    const ERASE_SIZE: usize = PAGE;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), MockError> {
        self.erase_pages(from, to)
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), MockError> {
        self.write_bytes(offset, bytes)
    }
}

impl<const WORD: usize, const PAGE: usize> nor_flash::ReadNorFlash for Mock<WORD, PAGE> {
    const READ_SIZE: usize = WORD;

    async fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), MockError> {
        self.read_bytes(offset, bytes)
    }

    fn capacity(&self) -> usize {
        self.bytes.len()
    }
}

impl<const WORD: usize, const PAGE: usize> nor_flash::NorFlash for Mock<WORD, PAGE> {
    const WRITE_SIZE: usize = WORD;
    const ERASE_SIZE: usize = PAGE;

    async fn erase(&mut self, from: u32, to: u32) -> Result<(), MockError> {
        self.erase_pages(from, to)
    }

    async fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), MockError> {
        self.write_bytes(offset, bytes)
    }
}
