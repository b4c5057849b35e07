//! A stored user as a learner: the last snapshot, and the events behind it applied.

use super::{StoreError, Stored};
use fable_core::record::{Verifier, decode_event};
use fable_core::{Learner, Policy, Scalar, Workspace};

/// Decisions of one user that can wait for their reward. As many as a catalog can declare contrasts, so the profile has room
/// for all of them.
pub const ROOM: usize = 64;

/// Entries between two snapshots of a user: applying so many takes about as long as loading a snapshot.
pub const SNAPSHOT_EVERY: u64 = 512;

/// A learner on the heap.
pub type HostLearner<T> = Learner<T, Vec<T>, ROOM>;

/// Scratch on the heap.
pub type HostWorkspace<T> = Workspace<T, Vec<T>>;

/// Makes a learner what a user was after the last stored event, and returns the number of entries in the journal.
///
/// # Errors
/// Records that cannot be read, or do not follow from each other; the learner is of no use then.
pub fn revive<T: Scalar>(
    policy: &Policy<'_, T>,
    workspace: &mut HostWorkspace<T>,
    learner: &mut HostLearner<T>,
    stored: &Stored,
) -> Result<u64, StoreError> {
    learner.vacate();
    let mut entries = 0;
    if let Some((seen, bytes)) = &stored.snapshot {
        let mut verifier = Verifier::new(policy);
        verifier.push(bytes)?;
        let mut loader = learner.load(policy, verifier.finish()?)?;
        loader.push(bytes)?;
        loader.finish()?;
        entries = *seen;
    } else {
        learner.start_journal_in(policy, &stored.row.header, stored.row.incarnation)?;
    }
    for segment in &stored.journal {
        if segment.first > entries {
            return Err(StoreError::Damaged("a journal has a gap"));
        }
        for entry in segment.from(entries) {
            let event = decode_event(policy.catalog(), entry?.record)?;
            learner.check(policy, workspace, &event).map_err(StoreError::State)?.apply();
            entries += 1;
        }
    }
    Ok(entries)
}

/// The bytes of a snapshot.
///
/// # Errors
/// A vacant learner.
pub fn snapshot<T: Scalar>(policy: &Policy<'_, T>, learner: &HostLearner<T>) -> Result<Vec<u8>, StoreError> {
    let mut bytes = vec![0; fable_core::record::snapshot::max_len::<T>(policy.catalog(), ROOM)];
    let length = learner.snapshot().map_err(StoreError::State)?.read(&mut bytes);
    bytes.truncate(length);
    Ok(bytes)
}
