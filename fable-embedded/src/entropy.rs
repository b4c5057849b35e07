//! The seed of an installation from an entropy source.
//!
//! A device draws its seed once, at its first start, and stores it. The seed keys all decisions, and a
//! journal can be replayed only with the same seed.
//!
//! ```
//! use fable_core::{Settings, catalog::TAU2};
//! use fable_embedded::entropy;
//! use rand_xoshiro::{Xoshiro128PlusPlus, rand_core::SeedableRng};
//!
//! let mut hardware = Xoshiro128PlusPlus::seed_from_u64(1); // a true random number generator on a device
//! let settings = Settings { seed: entropy::seed(&mut hardware)?, ..Settings::default() };
//! # assert_ne!(settings.seed, 0);
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! | The HAL's generator has | Function | Feature |
//! |---|---|---|
//! | `TryRng` of `rand_core` 0.10 | [`seed`] | |
//! | `TryRngCore` or `RngCore` of 0.9 | `seed_09` | `rand_core_09` |
//! | `RngCore` of 0.6 | `seed_06` | `rand_core_06` |
//! | none of these traits | [`seed_from`] | |
//!
//! Each function reads [`WORDS`] words and mixes them, which removes a bias of single bits. A source that
//! fails or repeats a word is refused. A seed is never zero. The functions do not test randomness: the
//! quality of a source is stated in its data sheet.

use core::fmt;
use rand_core::TryRng;

/// Number of 64-bit words that are read for one seed.
pub const WORDS: usize = 16;

/// The reason why no seed was drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum EntropyError<E> {
    /// The source fails.
    Source(E),
    /// The source repeats a word: it is stuck or switched off.
    Stuck,
}

impl<E: fmt::Display> fmt::Display for EntropyError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Source(error) => write!(f, "the entropy source failed: {error}"),
            Self::Stuck => f.write_str("the entropy source repeats itself"),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> core::error::Error for EntropyError<E> {}

/// Draws a seed.
///
/// # Errors
/// An error of the source, or a source that is stuck.
pub fn seed<R: TryRng>(source: &mut R) -> Result<u64, EntropyError<R::Error>> {
    seed_from(|| source.try_next_u64())
}

/// Draws a seed from a source of `rand_core` 0.9.
///
/// # Errors
/// As for [`seed`].
#[cfg(feature = "rand_core_09")]
pub fn seed_09<R: rand_core_09::TryRngCore>(source: &mut R) -> Result<u64, EntropyError<R::Error>> {
    seed_from(|| source.try_next_u64())
}

/// Draws a seed from a source of `rand_core` 0.6.
///
/// # Errors
/// As for [`seed`].
#[cfg(feature = "rand_core_06")]
pub fn seed_06<R: rand_core_06::RngCore>(source: &mut R) -> Result<u64, EntropyError<rand_core_06::Error>> {
    seed_from(|| {
        let mut bytes = [0; 8];
        source.try_fill_bytes(&mut bytes)?; // the other functions report no failure
        Ok(u64::from_le_bytes(bytes))
    })
}

/// Draws a seed from a function that gives 64 random bits each time it is called.
///
/// # Errors
/// As for [`seed`].
pub fn seed_from<E>(mut draw: impl FnMut() -> Result<u64, E>) -> Result<u64, EntropyError<E>> {
    let (mut mixed, mut last) = (0, None);
    for _ in 0..WORDS {
        let word = draw().map_err(EntropyError::Source)?;
        // A random source repeats a word once in 2^60 seeds.
        if last.replace(word) == Some(word) {
            return Err(EntropyError::Stuck);
        }
        mixed = mix(mixed ^ word);
    }
    if mixed == 0 { Err(EntropyError::Stuck) } else { Ok(mixed) }
}

/// The finalizer of SplitMix64. It is a bijection, so it loses no entropy.
const fn mix(word: u64) -> u64 {
    let word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}
