//! A base prior as bytes, to send a population's prior to a device and keep it in flash.
//!
//! The record has three parts:
//!
//! - a [header](super) of the kind `FABP`;
//! - the packed numbers of the [`Factor`](crate::posterior::Factor), 4 or 8 bytes each;
//! - the CRC-32 of everything before.
//!
//! The header's fingerprint is the policy's *without* the prior; catalog and settings must agree with it. The
//! field of the user's hash has the policy's fingerprint *with* the prior, which is also in snapshots of
//! users who started from the prior. Capacity and guarantee fingerprint are 0.
//!
//! The header's length is a multiple of every alignment. Memory-mapped flash can therefore serve as the
//! factor's storage.
//!
//! ```
//! use fable_core::record::{PriorVerifier, decode_prior, encode_prior};
//! use fable_core::catalog::TAU2;
//! use fable_core::posterior::{Factor, Prior};
//! use fable_core::{Policy, Settings};
//!
//! let base = Policy::<f32>::new(&TAU2, Settings::default())?;
//! let mut packed = vec![0.0; TAU2.layout().packed_len()];
//! packed[..TAU2.dimension()].fill(0.25);
//! let factor = Factor::new(TAU2.layout(), &packed, &mut vec![0.0; TAU2.workspace_len()])?;
//! let fitted = Policy::with_prior(&TAU2, Settings::default(), Prior::Factor(factor))?;
//!
//! let bytes = encode_prior(&fitted).unwrap();
//! let mut verifier = PriorVerifier::new(&base); // a device sees the bytes in chunks
//! bytes.chunks(100).try_for_each(|chunk| verifier.push(chunk))?;
//! assert_eq!(verifier.finish()?, fitted.fingerprint());
//! assert_eq!(decode_prior(&base, &bytes)?, packed);
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

use super::snapshot::width;
use super::{CRC_32, HEADER_LEN, Header, Implementation, Kind, RecordError};
use crate::catalog::{Catalog, score::Scalar};
use crate::policy::{Policy, Sum};
use crate::posterior::Prior;
use crc::Digest;

/// Bytes that a device reserves for a prior of a catalog.
#[must_use]
pub const fn prior_len<T: Scalar>(catalog: &Catalog<'_>) -> usize {
    HEADER_LEN + width::<T>() * catalog.layout().packed_len() + 4
}

/// Checks every byte of a prior and changes nothing.
///
/// Ranges of variances and means need the whole factor; [`Factor::new`](crate::posterior::Factor::new) checks
/// them.
pub struct PriorVerifier<'p, T> {
    policy: &'p Policy<'p, T>,
    header: Option<Header>,
    /// Bytes of the incomplete part.
    part: [u8; HEADER_LEN],
    /// Number of bytes in `part`.
    filled: usize,
    /// Numbers seen.
    numbers: usize,
    digest: Digest<'static, u32, Implementation>,
    sum: Sum,
    done: bool,
}

impl<'p, T: Scalar> PriorVerifier<'p, T> {
    /// Starts verifying a prior for a policy. The policy's own prior does not matter.
    #[must_use]
    pub fn new(policy: &'p Policy<'p, T>) -> Self {
        let (part, digest) = ([0; HEADER_LEN], CRC_32.digest());
        let sum = policy.sum().u64(Prior::<T>::FACTOR);
        Self { policy, header: None, part, filled: 0, numbers: 0, digest, sum, done: false }
    }

    /// Takes the next bytes.
    ///
    /// # Errors
    /// The first error in the bytes. The verifier cannot be used after an error.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), RecordError> {
        for byte in bytes {
            if self.done {
                return Err(RecordError::TooLong);
            }
            if let Some(slot) = self.part.get_mut(self.filled) {
                *slot = *byte;
            }
            self.filled += 1;
            if self.filled == self.wanted() {
                self.take()?;
                self.digest.update(self.part.get(..self.filled).unwrap_or_default());
                self.filled = 0;
            }
        }
        Ok(())
    }

    fn wanted(&self) -> usize {
        match self.header {
            None => HEADER_LEN,
            Some(_) if self.numbers < self.policy.catalog().layout().packed_len() => width::<T>(),
            Some(_) => 4,
        }
    }

    /// Checks a complete part.
    fn take(&mut self) -> Result<(), RecordError> {
        let Some(header) = self.header else {
            let header = Header::decode(&self.part)?;
            header.admit_as::<T>(Kind::Prior, self.policy.sum().u64(Prior::<T>::ISOTROPIC).finish())?;
            self.header = Some(header);
            return Ok(());
        };
        let layout = self.policy.catalog().layout();
        if self.numbers < layout.packed_len() {
            let number: T = number(&self.part);
            Prior::check_entry(layout, self.numbers, number).map_err(|_| RecordError::Content)?;
            self.sum = self.sum.u64(number.bits());
            self.numbers += 1;
            return Ok(());
        }
        let sum = self.part.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        if sum != self.digest.clone().finalize() {
            return Err(RecordError::Checksum);
        }
        self.done = true;
        if header.user == self.sum.finish() { Ok(()) } else { Err(RecordError::Content) }
    }

    /// Ends the pass after all bytes were pushed. Returns the fingerprint of the policy with this prior.
    ///
    /// # Errors
    /// [`RecordError::Truncated`] if bytes are missing.
    pub fn finish(self) -> Result<u64, RecordError> {
        match self.header {
            Some(header) if self.done && self.filled == 0 => Ok(header.user),
            _ => Err(RecordError::Truncated),
        }
    }
}

/// Reads a number from the first bytes.
fn number<T: Scalar>(bytes: &[u8]) -> T {
    let mut bits = [0; 8];
    for (slot, byte) in bits.iter_mut().zip(bytes).take(width::<T>()) {
        *slot = *byte;
    }
    T::from_bits(u64::from_le_bytes(bits))
}

/// Writes numbers into a packed factor, from the index `first` on.
///
/// Devices whose flash is not mapped into memory read a prior in chunks of whole numbers.
pub fn read_numbers<T: Scalar>(packed: &mut [T], first: usize, bytes: &[u8]) {
    for (slot, bytes) in packed.iter_mut().skip(first).zip(bytes.chunks_exact(width::<T>())) {
        *slot = number(bytes);
    }
}

/// The bytes of a policy's prior; `None` if the prior is not a factor.
#[cfg(feature = "alloc")]
#[must_use]
pub fn encode_prior<T: Scalar>(policy: &Policy<'_, T>) -> Option<alloc::vec::Vec<u8>> {
    let Prior::Factor(factor) = policy.prior() else { return None };
    let fingerprint = policy.sum().u64(Prior::<T>::ISOTROPIC).finish();
    let digits = super::digits::<T>();
    let header = Header {
        kind: Kind::Prior,
        digits,
        room: 0,
        fingerprint,
        user: policy.fingerprint(),
        guarantee_fingerprint: 0,
    };
    let mut bytes = header.encode().to_vec();
    for number in factor.packed() {
        bytes.extend(number.bits().to_le_bytes().into_iter().take(width::<T>()));
    }
    bytes.extend(CRC_32.checksum(&bytes).to_le_bytes());
    Some(bytes)
}

/// The packed numbers of a prior, for a [`Factor`](crate::posterior::Factor).
///
/// # Errors
/// Bytes that are not a sound prior of this catalog and these settings.
#[cfg(feature = "alloc")]
pub fn decode_prior<T: Scalar>(
    policy: &Policy<'_, T>,
    bytes: &[u8],
) -> Result<alloc::vec::Vec<T>, RecordError> {
    let mut verifier = PriorVerifier::new(policy);
    verifier.push(bytes)?;
    verifier.finish()?;
    let mut packed = alloc::vec![T::ZERO; policy.catalog().layout().packed_len()];
    read_numbers(&mut packed, 0, bytes.get(HEADER_LEN..).unwrap_or_default());
    Ok(packed)
}
