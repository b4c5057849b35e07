//! The page of the installation's seed. The seed is secret: no request of the protocol reads it.
//!
//! A first start draws the seed, writes it, formats the store and confirms the seed. An unconfirmed seed
//! means an interrupted first start. The store has no user then and may be formatted.
//!
//! ```
//! use fable_embedded::flash::{Blocking, Seed, confirm_seed, read_seed, write_seed};
//! use fable_embedded::mock::Mock;
//!
//! let mut flash = Blocking(Mock::<4, 1024>::new(1));
//! assert_eq!(read_seed(&mut flash, 0), Ok(None)); // never written, or interrupted by a power cut
//! write_seed(&mut flash, 0, 7)?;
//! assert_eq!(read_seed(&mut flash, 0), Ok(Some(Seed { number: 7, confirmed: false })));
//! confirm_seed(&mut flash, 0)?; // the store is formatted now
//! assert_eq!(read_seed(&mut flash, 0), Ok(Some(Seed { number: 7, confirmed: true })));
//! # Ok::<(), fable_embedded::flash::FlashError>(())
//! ```
//!
//! The page has records of 32 bytes: 16 bytes of text, the seed, little-endian, and its complement. The first
//! record has the text `fable seed`. Another record has the text `fable settled`, which confirms the seed.
//! The texts are padded with zeros. After a torn confirmation the next record is used. A torn or damaged page
//! has no seed, and never a wrong seed.

use super::error::FlashError;
use super::layout::MAX_WORD;
use super::{Blocking, Bytes};
use embedded_storage::nor_flash::NorFlash as BlockingNorFlash;
use embedded_storage_async::nor_flash::{NorFlash, NorFlashErrorKind};
use fable_forms::blocking;

/// Bytes of a record, a multiple of the word of any flash.
const LEN: usize = 32;
const _: () = assert!(LEN.is_multiple_of(MAX_WORD));
/// Number of records for a confirmation in the smallest page.
const MARKS: u32 = 1024 / LEN as u32 - 1;

const BEGUN: &[u8; 16] = b"fable seed\0\0\0\0\0\0";
const CONFIRMED: &[u8; 16] = b"fable settled\0\0\0";

/// The seed of an installation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Seed {
    /// The seed, for [`Settings`](fable_core::Settings).
    pub number: u64,
    /// True after the store was formatted.
    pub confirmed: bool,
}

/// The number is secret and is not printed.
impl core::fmt::Debug for Seed {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Seed").field("confirmed", &self.confirmed).finish_non_exhaustive()
    }
}

fn record(text: &[u8; 16], seed: u64) -> Bytes<LEN> {
    let mut record = Bytes([0; LEN]);
    let fields = text.iter().copied().chain(seed.to_le_bytes()).chain((!seed).to_le_bytes());
    for (slot, byte) in record.0.iter_mut().zip(fields) {
        *slot = byte;
    }
    record
}

/// Returns the positions of the records for a confirmation.
fn marks(page: u32) -> impl Iterator<Item = u32> {
    (1..=MARKS).map(move |place| page.saturating_add(place * LEN as u32))
}

#[blocking(fn read<F: BlockingNorFlash>(flash: &mut Blocking<F>, at: u32) -> Result<[u8; LEN], FlashError>)]
async fn read_async<F: NorFlash>(flash: &mut F, at: u32) -> Result<[u8; LEN], FlashError> {
    let mut found = Bytes([0; LEN]);
    flash.read(at, &mut found.0).await.map_err(FlashError::driver)?;
    Ok(found.0)
}

/// Reads the seed in the page at offset `page`. Returns `None` without a whole record.
///
/// # Errors
/// A flash that fails.
#[blocking(pub fn read_seed<F: BlockingNorFlash>(flash: &mut Blocking<F>, page: u32) -> Result<Option<Seed>, FlashError>)]
pub async fn read_seed_async<F: NorFlash>(flash: &mut F, page: u32) -> Result<Option<Seed>, FlashError> {
    let found = read_async(flash, page).await?;
    let [.., a, b, c, d, e, f, g, h, _, _, _, _, _, _, _, _] = found;
    let number = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
    if record(BEGUN, number).0 != found {
        return Ok(None);
    }
    let mark = record(CONFIRMED, number).0;
    for at in marks(page) {
        if read_async(flash, at).await? == mark {
            return Ok(Some(Seed { number, confirmed: true }));
        }
    }
    Ok(Some(Seed { number, confirmed: false }))
}

/// Erases the page and writes an unconfirmed seed.
///
/// # Errors
/// A flash that fails, or returns other bytes than were written.
#[blocking(pub fn write_seed<F: BlockingNorFlash>(flash: &mut Blocking<F>, page: u32, number: u64) -> Result<(), FlashError>)]
pub async fn write_seed_async<F: NorFlash>(flash: &mut F, page: u32, number: u64) -> Result<(), FlashError> {
    flash.erase(page, page.saturating_add(F::ERASE_SIZE as u32)).await.map_err(FlashError::driver)?;
    flash.write(page, &record(BEGUN, number).0).await.map_err(FlashError::driver)?;
    let kept = read_seed_async(flash, page).await?;
    if kept == Some(Seed { number, confirmed: false }) {
        Ok(())
    } else {
        Err(FlashError::Driver(NorFlashErrorKind::Other))
    }
}

/// Confirms the seed, if it is not confirmed yet.
///
/// # Errors
/// [`FlashError::Closed`] without a seed; a flash that fails, or has no record left for a confirmation.
#[blocking(pub fn confirm_seed<F: BlockingNorFlash>(flash: &mut Blocking<F>, page: u32) -> Result<(), FlashError>)]
pub async fn confirm_seed_async<F: NorFlash>(flash: &mut F, page: u32) -> Result<(), FlashError> {
    let Some(seed) = read_seed_async(flash, page).await? else { return Err(FlashError::Closed) };
    if seed.confirmed {
        return Ok(());
    }
    let mark = record(CONFIRMED, seed.number);
    for at in marks(page) {
        let blank = read_async(flash, at).await? == [0xff; LEN];
        // A record after a power cut may look blank and still refuse a write.
        if blank && flash.write(at, &mark.0).await.is_ok() && read_async(flash, at).await? == mark.0 {
            return Ok(());
        }
    }
    Err(FlashError::Driver(NorFlashErrorKind::Other))
}
