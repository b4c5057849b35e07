//! The prior that a device keeps: what its next user begins from.
//!
//! A device takes a prior in its own scalar and for its own catalog and settings, as a [record](fable_core::record::prior);
//! [`record`] makes one of what `fable prior fit` has written. It counts from the next incarnation on: after the device has
//! forgotten its user, or at once if nothing has happened yet.

use super::{Device, DeviceError, Tape};
use crate::prior_file::{PriorFileError, informed, read_rounded};
use crate::replay::{self, Replay, ReplayError, Start, replay_under};
use fable_core::posterior::{Factor, Prior};
use fable_core::record::{Header, Kind, RecordError, decode_prior, encode_prior};
use fable_core::{Catalog, Policy, Scalar, Settings};
use fable_wire::{Reply, Request};
use std::io::{Read, Write};

/// A fitted prior for a device with numbers of so many [digits](fable_wire::Hello::digits).
///
/// # Errors
/// As for [`read_rounded`], and numbers out of range in that scalar.
pub fn record(
    catalog: &Catalog<'_>,
    settings: Settings<'_>,
    digits: u8,
    prior: &[u8],
) -> Result<Vec<u8>, PriorFileError> {
    if digits == 24 { seal::<f32>(catalog, settings, prior) } else { seal::<f64>(catalog, settings, prior) }
}

fn seal<T: Scalar>(
    catalog: &Catalog<'_>,
    settings: Settings<'_>,
    prior: &[u8],
) -> Result<Vec<u8>, PriorFileError> {
    let base = Policy::<T>::new(catalog, settings)?;
    let packed = read_rounded(&base, prior)?;
    Ok(encode_prior(&informed(&base, Some(&packed))?).ok_or(RecordError::Content)?)
}

impl<P: Read + Write> Device<P> {
    /// Makes a [record] the prior of the next incarnation. The device verifies all of it first.
    ///
    /// # Errors
    /// As for every request; a device without a place for a prior refuses.
    pub fn load_prior(&mut self, record: &[u8]) -> Result<(), DeviceError> {
        let length = self.stage(record)?;
        self.count(&Request::CommitPrior { length }, &[])?;
        self.greet()?;
        Ok(())
    }

    /// The next incarnation begins from the policy's own prior again.
    ///
    /// # Errors
    /// As for [`load_prior`](Self::load_prior).
    pub fn remove_prior(&mut self) -> Result<(), DeviceError> {
        self.count(&Request::CommitPrior { length: 0 }, &[])?;
        self.greet()?;
        Ok(())
    }

    /// The prior that the next incarnation begins from, or that this one began from, as a record; empty for the policy's own.
    ///
    /// # Errors
    /// As for every request.
    pub fn prior(&mut self, next: bool) -> Result<Vec<u8>, DeviceError> {
        self.collect(|offset| Request::Prior { next, offset })
    }

    /// The header of that record. Its `fingerprint` is that of the policy without the prior, its `user` that of the policy with
    /// it, which is in [`Hello`](fable_wire::Hello) while the prior is in use.
    ///
    /// # Errors
    /// As for every request.
    pub fn prior_header(&mut self, next: bool) -> Result<Option<Header>, DeviceError> {
        match self.ask(&Request::Prior { next, offset: 0 }, &[])? {
            (Reply::Chunk { offset: 0 }, chunk) if chunk.is_empty() => Ok(None),
            (Reply::Chunk { offset: 0 }, chunk) => {
                let header = Header::decode(&chunk).ok().filter(|header| header.kind == Kind::Prior);
                header.map(Some).ok_or(DeviceError::Unexpected)
            }
            _ => Err(DeviceError::Unexpected),
        }
    }
}

impl Tape {
    /// The same as a tape that a host can play, without the prior.
    #[must_use]
    pub fn tape(&self) -> replay::Tape {
        let (start, events) = (Start::Snapshot(self.snapshot.clone()), self.events.clone());
        replay::Tape { start, prior: None, events, with_defaults: Vec::new(), woven: Vec::new() }
    }

    /// Replays it in the device's own scalar, under the device's own settings with its seed, and from its prior.
    ///
    /// # Errors
    /// Settings of another device, records that were damaged or do not follow from each other.
    pub fn replay(&self, catalog: &Catalog<'_>, settings: Settings<'_>) -> Result<Replay, ReplayError> {
        let tape = self.tape();
        if self.prior.is_empty() {
            return replay::replay(catalog, settings, &tape);
        }
        match tape.digits().map_err(ReplayError::Start)? {
            24 => self.replay_from::<f32>(catalog, settings, &tape),
            _ => self.replay_from::<f64>(catalog, settings, &tape),
        }
    }

    fn replay_from<T: Scalar>(
        &self,
        catalog: &Catalog<'_>,
        settings: Settings<'_>,
        tape: &replay::Tape,
    ) -> Result<Replay, ReplayError> {
        let base = Policy::<T>::new(catalog, settings).map_err(ReplayError::Settings)?;
        let packed = decode_prior(&base, &self.prior).map_err(ReplayError::Start)?;
        let factor = Factor::new(catalog.layout(), &packed, &mut vec![T::ZERO; catalog.workspace_len()]);
        let factor = factor.map_err(|_| ReplayError::Start(RecordError::Content))?;
        let policy =
            Policy::with_prior(catalog, settings, Prior::Factor(factor)).map_err(ReplayError::Settings)?;
        replay_under(&policy, tape, None)
    }
}
