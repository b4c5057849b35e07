//! The installation's seed from any entropy source.
//!
//! A device draws its seed once, at first start, and keeps it with its settings: decisions are keyed by it, and a journal
//! can only be replayed with it.
//!
//! ```
//! use fable_core::{Settings, catalog::TAU2};
//! use fable_embedded::entropy;
//! use rand_xoshiro::{Xoshiro128PlusPlus, rand_core::SeedableRng};
//!
//! let mut hardware = Xoshiro128PlusPlus::seed_from_u64(1); // a true random number generator on a device
//! let settings = Settings { seed: entropy::seed(&mut hardware)?, ..Settings::default() };
//! # assert_ne!(settings.seed, 0);
//! # Ok::<(), core::convert::Infallible>(())
//! ```

use rand_core::TryRng;

/// Draws a seed.
///
/// # Errors
/// What the source returns when it cannot deliver.
pub fn seed<R: TryRng>(source: &mut R) -> Result<u64, R::Error> {
    source.try_next_u64()
}
