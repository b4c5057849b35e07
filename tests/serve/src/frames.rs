//! The frames of a store's file, found by nothing but the documented layout: to aim damage at.

use std::path::Path;

/// What a frame has; see `fable_std::store`.
pub const USER: u32 = 1;
/// Hard rules.
pub const RULES: u32 = 2;
/// A snapshot.
pub const SNAPSHOT: u32 = 3;
/// A part of a journal.
pub const JOURNAL: u32 = 4;
/// The newest entries.
pub const LOG: u32 = 5;
/// A prior.
pub const PRIOR: u32 = 8;
/// A snapshot that a history begins with.
pub const BASE: u32 = 9;
/// Exchanges with an assistant.
pub const MEMORY: u32 = 10;

/// One frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Where it begins.
    pub offset: usize,
    /// Bytes up to the end of its tag.
    pub length: usize,
    /// What it has.
    pub kind: u32,
    /// Whose it is.
    pub slot: u32,
    /// Which of those who have had the slot.
    pub generation: u32,
}

impl Frame {
    /// Where its bytes are.
    #[must_use]
    pub const fn range(&self) -> std::ops::Range<usize> {
        self.offset..self.offset + self.length
    }
}

/// All frames of a file, in order.
///
/// # Panics
/// Never: every read is within the file.
#[must_use]
pub fn frames(bytes: &[u8]) -> Vec<Frame> {
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    let (mut found, mut at) = (Vec::new(), 8192);
    while at + 28 <= bytes.len() {
        let sealed = word(at + 4) as usize;
        let end = at + 28 + 12 + sealed;
        if (1..=10).contains(&word(at + 8))
            && end <= bytes.len()
            && word(at)
                == fable_core::record::checksum(
                    &[&(at as u64).to_le_bytes(), &bytes[at + 4..at + 28]].concat(),
                )
        {
            found.push(Frame {
                offset: at,
                length: end - at,
                kind: word(at + 8),
                slot: word(at + 12),
                generation: word(at + 16),
            });
            at = end.next_multiple_of(16);
        } else {
            at += 16;
        }
    }
    found
}

/// The frames of one kind in a store's file.
///
/// # Panics
/// When there is no such file.
#[must_use]
pub fn of_kind(store: &Path, kind: u32) -> Vec<Frame> {
    let bytes = std::fs::read(store).expect("a store");
    frames(&bytes).into_iter().filter(|frame| frame.kind == kind).collect()
}

/// Removes all files of a store, if it is there.
pub fn remove(store: &Path) {
    for end in ["", ".key", ".index"] {
        let _ = std::fs::remove_file(format!("{}{end}", store.display()));
    }
}
