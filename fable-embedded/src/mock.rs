//! A NOR flash in RAM whose power can be cut at any byte.
//!
//! Writing only clears bits and erasing sets a page. A part with error correction also refuses to write a word twice
//! ([`strict`](Mock::strict)). Each byte written and each eighth of an erase is a *step*; [`cut_after`](Mock::cut_after) so many the
//! power is gone, and every call fails until [`power_on`](Mock::power_on). A cut leaves the word it hits undefined: untouched to
//! look at, half programmed, whole, or garbage; and the page it hits anything from untouched to erased to look at.
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

/// Why the mock refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum MockError {
    /// Outside the memory, or not at a word or page.
    Bounds,
    /// The word is not erased.
    NotErased,
    /// The power is off.
    Power,
    /// A read failed, as asked for.
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

/// A flash with words of `WORD` and pages of `PAGE` bytes.
#[derive(Clone, Debug)]
pub struct Mock<const WORD: usize, const PAGE: usize> {
    bytes: Vec<u8>,
    /// Words written since they were erased.
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
    /// An erased flash that allows a word to be written twice.
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

    /// Refuses to write a word that is not erased, also when it reads as erased.
    #[must_use]
    pub const fn strict(mut self) -> Self {
        self.strict = true;
        self
    }

    /// Cuts the power when so many more steps were done.
    pub const fn cut_after(&mut self, steps: u64) {
        self.cut_at = Some(self.steps + steps);
    }

    /// Chooses what cut words and pages look like.
    pub const fn seed(&mut self, seed: u64) {
        self.random = seed;
    }

    /// Makes every read fail, or no longer.
    pub const fn fail_reads(&mut self, fail: bool) {
        self.failing_reads = fail;
    }

    /// Switches the power on again, without another cut in sight. Says whether it was off.
    pub const fn power_on(&mut self) -> bool {
        self.cut_at = None;
        core::mem::replace(&mut self.off, false)
    }

    /// Steps done so far.
    #[must_use]
    pub const fn steps(&self) -> u64 {
        self.steps
    }

    /// How often each page was erased.
    #[must_use]
    pub fn erases(&self) -> &[u32] {
        &self.erases
    }

    /// The memory.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The memory, to damage it.
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

    /// Takes steps; how many are left to do when the power goes, if it does.
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

    /// What a word looks like when it was being written.
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

    /// What a page looks like when it was being erased.
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
        words.for_each(|written| *written = true); // none of them is sound before the page is erased again
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
