//! A page that keeps the installation's seed, which is secret: no request of the protocol reads it.
//!
//! A first start draws the seed, writes it, formats the store and settles the seed. One that is not settled says that the power was
//! cut on the way: whatever the store looks like then, nobody's state is in it and it may be formatted.
//!
//! ```
//! use fable_embedded::flash::{Blocking, Seed, read_seed, settle_seed, write_seed};
//! use fable_embedded::mock::Mock;
//!
//! let mut flash = Blocking(Mock::<4, 1024>::new(1));
//! assert_eq!(read_seed(&mut flash, 0), Ok(None)); // never written, or the power was cut
//! write_seed(&mut flash, 0, 7)?;
//! assert_eq!(read_seed(&mut flash, 0), Ok(Some(Seed { number: 7, settled: false })));
//! settle_seed(&mut flash, 0)?; // the store is there now
//! assert_eq!(read_seed(&mut flash, 0), Ok(Some(Seed { number: 7, settled: true })));
//! # Ok::<(), fable_embedded::flash::FlashError>(())
//! ```
//!
//! The page holds records of 32 bytes: 16 of text, the seed, little-endian, and its complement. The first one has the text
//! `fable seed`, one of the others `fable settled`, each filled up with zeros; a mark that was cut is left as it is and the next
//! place taken. A page that is cut while it is written, or that is damaged, has no seed; it never has another one.

use super::error::FlashError;
use super::layout::MAX_WORD;
use super::{Blocking, Bytes};
use embedded_storage::nor_flash::NorFlash as BlockingNorFlash;
use embedded_storage_async::nor_flash::{NorFlash, NorFlashErrorKind};
use fable_forms::blocking;

/// Bytes of a record, a whole number of words of any flash.
const LEN: usize = 32;
const _: () = assert!(LEN.is_multiple_of(MAX_WORD));
/// Places for a mark: what is left of the smallest page.
const MARKS: u32 = 1024 / LEN as u32 - 1;

const BEGUN: &[u8; 16] = b"fable seed\0\0\0\0\0\0";
const SETTLED: &[u8; 16] = b"fable settled\0\0\0";

/// The seed of an installation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Seed {
    /// The seed, for [`Settings`](fable_core::Settings).
    pub number: u64,
    /// Whether the store was formatted since.
    pub settled: bool,
}

/// Nothing secret in logs.
impl core::fmt::Debug for Seed {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Seed").field("settled", &self.settled).finish_non_exhaustive()
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

/// Where the places for a mark are.
fn marks(page: u32) -> impl Iterator<Item = u32> {
    (1..=MARKS).map(move |place| page.saturating_add(place * LEN as u32))
}

#[blocking(fn read<F: BlockingNorFlash>(flash: &mut Blocking<F>, at: u32) -> Result<[u8; LEN], FlashError>)]
async fn read_async<F: NorFlash>(flash: &mut F, at: u32) -> Result<[u8; LEN], FlashError> {
    let mut found = Bytes([0; LEN]);
    flash.read(at, &mut found.0).await.map_err(FlashError::driver)?;
    Ok(found.0)
}

/// The seed that stands in the page at offset `page`; `None` if there is no whole one.
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
    let mark = record(SETTLED, number).0;
    for at in marks(page) {
        if read_async(flash, at).await? == mark {
            return Ok(Some(Seed { number, settled: true }));
        }
    }
    Ok(Some(Seed { number, settled: false }))
}

/// Erases the page and writes a seed that is not settled.
///
/// # Errors
/// A flash that fails, or does not give back what was written.
#[blocking(pub fn write_seed<F: BlockingNorFlash>(flash: &mut Blocking<F>, page: u32, number: u64) -> Result<(), FlashError>)]
pub async fn write_seed_async<F: NorFlash>(flash: &mut F, page: u32, number: u64) -> Result<(), FlashError> {
    flash.erase(page, page.saturating_add(F::ERASE_SIZE as u32)).await.map_err(FlashError::driver)?;
    flash.write(page, &record(BEGUN, number).0).await.map_err(FlashError::driver)?;
    let kept = read_seed_async(flash, page).await?;
    if kept == Some(Seed { number, settled: false }) {
        Ok(())
    } else {
        Err(FlashError::Driver(NorFlashErrorKind::Other))
    }
}

/// Marks the seed as settled, if it is not yet.
///
/// # Errors
/// [`FlashError::Closed`] if there is no seed; a flash that fails, or one with no place left for a mark.
#[blocking(pub fn settle_seed<F: BlockingNorFlash>(flash: &mut Blocking<F>, page: u32) -> Result<(), FlashError>)]
pub async fn settle_seed_async<F: NorFlash>(flash: &mut F, page: u32) -> Result<(), FlashError> {
    let Some(seed) = read_seed_async(flash, page).await? else { return Err(FlashError::Closed) };
    if seed.settled {
        return Ok(());
    }
    let mark = record(SETTLED, seed.number);
    for at in marks(page) {
        let blank = read_async(flash, at).await? == [0xff; LEN];
        // A place that was cut may look blank and still refuse to be written.
        if blank && flash.write(at, &mark.0).await.is_ok() && read_async(flash, at).await? == mark.0 {
            return Ok(());
        }
    }
    Err(FlashError::Driver(NorFlashErrorKind::Other))
}
