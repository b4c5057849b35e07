//! A base prior as bytes: a population's prior on its way to a device, and in its flash.
//!
//! The record is a [header](super) of the kind `FABP`, the packed numbers of the
//! [`Factor`](crate::posterior::Factor), 4 or 8 bytes each, and the CRC-32 of everything before.
//!
//! The header's fingerprint is that of the policy *without* the prior: catalog and settings have to agree
//! with it. Its user is the fingerprint of the policy *with* the prior, which snapshots of users with this
//! prior have. Capacity and guarantee fingerprint are 0. The header's length is a multiple of every
//! alignment. So flash that is mapped into memory can be the factor.
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
use super::{CRC_32, HEADER_LEN, Header, Kind, RecordError, Way};
use crate::catalog::{Catalog, score::Scalar};
use crate::policy::{Policy, Sum};
use crate::posterior::Prior;
use crc::Digest;

/// Bytes of the prior of a catalog, for a device to reserve.
#[must_use]
pub const fn prior_len<T: Scalar>(catalog: &Catalog<'_>) -> usize {
    HEADER_LEN + width::<T>() * catalog.layout().packed_len() + 4
}

/// Checks every byte of a prior and changes nothing. [`Factor::new`](crate::posterior::Factor::new) checks
/// variances and means, which takes the whole factor.
pub struct PriorVerifier<'p, T> {
    policy: &'p Policy<'p, T>,
    progress: Progress,
    /// The bytes of the part that is not complete, and their number.
    part: [u8; HEADER_LEN],
    filled: usize,
    digest: Digest<'static, u32, Way>,
    sum: Sum,
}

/// The part of a prior that comes next.
#[derive(Clone, Copy)]
enum Progress {
    Header,
    /// Number `index` of the packed factor.
    Number {
        header: Header,
        index: usize,
    },
    Sum(Header),
    Done(Header),
}

impl<'p, T: Scalar> PriorVerifier<'p, T> {
    /// Starts verifying a prior for a policy. The policy's own prior does not matter.
    #[must_use]
    pub fn new(policy: &'p Policy<'p, T>) -> Self {
        let (part, digest) = ([0; HEADER_LEN], CRC_32.digest());
        let sum = policy.sum().u64(Prior::<T>::FACTOR);
        Self { policy, progress: Progress::Header, part, filled: 0, digest, sum }
    }

    /// Takes the next bytes.
    ///
    /// # Errors
    /// A fault in the bytes; the verifier cannot be used afterwards.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), RecordError> {
        for byte in bytes {
            if let Progress::Done(_) = self.progress {
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

    /// Length of the next part.
    const fn wanted(&self) -> usize {
        match self.progress {
            Progress::Header => HEADER_LEN,
            Progress::Number { .. } => width::<T>(),
            Progress::Sum(_) | Progress::Done(_) => 4,
        }
    }

    /// Checks a complete part.
    fn take(&mut self) -> Result<(), RecordError> {
        match self.progress {
            Progress::Header => {
                let header = Header::decode(&self.part)?;
                header.admit_as::<T>(Kind::Prior, self.policy.sum().u64(Prior::<T>::ISOTROPIC).finish())?;
                self.progress = Progress::Number { header, index: 0 };
            }
            Progress::Number { header, index } => {
                let layout = self.policy.catalog().layout();
                let number: T = number(&self.part);
                Prior::check_entry(layout, index, number).map_err(|_| RecordError::Content)?;
                self.sum = self.sum.u64(number.bits());
                self.progress = if index + 1 < layout.packed_len() {
                    Progress::Number { header, index: index + 1 }
                } else {
                    Progress::Sum(header)
                };
            }
            Progress::Sum(header) | Progress::Done(header) => {
                let sum = self.part.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
                if sum != self.digest.clone().finalize() {
                    return Err(RecordError::Checksum);
                }
                self.progress = Progress::Done(header);
                if header.user != self.sum.finish() {
                    return Err(RecordError::Content);
                }
            }
        }
        Ok(())
    }

    /// Ends the pass when all bytes were pushed: the fingerprint of the policy with this prior.
    ///
    /// # Errors
    /// [`RecordError::Truncated`] when some are missing.
    pub fn finish(self) -> Result<u64, RecordError> {
        match self.progress {
            Progress::Done(header) if self.filled == 0 => Ok(header.user),
            _ => Err(RecordError::Truncated),
        }
    }
}

/// The number at the start of `bytes`.
fn number<T: Scalar>(bytes: &[u8]) -> T {
    let mut bits = [0; 8];
    for (slot, byte) in bits.iter_mut().zip(bytes).take(width::<T>()) {
        *slot = *byte;
    }
    T::from_bits(u64::from_le_bytes(bits))
}

/// Copies the bytes of numbers, from the number `first` on, into a packed factor: for devices whose flash is
/// not mapped into memory. Chunks are whole numbers.
pub fn read_numbers<T: Scalar>(packed: &mut [T], first: usize, bytes: &[u8]) {
    for (slot, bytes) in packed.iter_mut().skip(first).zip(bytes.chunks_exact(width::<T>())) {
        *slot = number(bytes);
    }
}

/// The bytes of a policy's prior; `None` if it is not a factor.
#[cfg(feature = "alloc")]
#[must_use]
pub fn encode_prior<T: Scalar>(policy: &Policy<'_, T>) -> Option<alloc::vec::Vec<u8>> {
    let Prior::Factor(factor) = policy.prior() else { return None };
    let fingerprint = policy.sum().u64(Prior::<T>::ISOTROPIC).finish();
    let digits = super::digits::<T>();
    let header = Header {
        kind: Kind::Prior,
        digits,
        capacity: 0,
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
