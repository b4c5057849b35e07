//! A device's life, played again here: see [`replay`](crate::replay).

use crate::replay::{self, Replay, ReplayError, Start};
use fable_core::protocol::Hello;
use fable_core::{Catalog, Settings};

/// A device's kept snapshot and the events behind it.
#[derive(Clone, Debug, PartialEq)]
pub struct Tape {
    /// Who the device was when they were read.
    pub hello: Hello,
    /// The bytes of the snapshot.
    pub snapshot: Vec<u8>,
    /// The events as records.
    pub events: Vec<Vec<u8>>,
}

impl Tape {
    /// Replays it in the device's own scalar, under the device's own settings with its seed.
    ///
    /// # Errors
    /// Settings of another device, records that were damaged or do not follow from each other.
    pub fn replay(&self, catalog: &Catalog<'_>, settings: Settings<'_>) -> Result<Replay, ReplayError> {
        let start = Start::Snapshot(self.snapshot.clone());
        replay::replay(catalog, settings, &replay::Tape { start, events: self.events.clone(), with_defaults: Vec::new() })
    }

    /// Whether every decision came out as on the device, and the counts at the end are those it says it has.
    #[must_use]
    pub fn agrees(&self, replay: &Replay) -> bool {
        replay.different.is_empty() && (replay.rounds, replay.observations) == (self.hello.rounds, self.hello.observations)
    }
}
