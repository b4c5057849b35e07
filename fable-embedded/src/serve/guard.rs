//! Admission of frames: all frames, or with a key only frames with a valid seal.
//!
//! A new session replaces the current session with its first valid request. A host without the key can open
//! sessions, and the current session stays in use.

use fable_wire::{Draft, Fault, Frame};
#[cfg(feature = "keyed")]
use fable_wire::{Key, Reply, Session};

/// A session, and the counter of the last request in it.
#[cfg(feature = "keyed")]
#[derive(Clone, Copy, Debug)]
struct OpenSession {
    session: Session,
    counter: u32,
}

/// State of a device with a key.
#[cfg(feature = "keyed")]
#[derive(Debug)]
struct Lock {
    key: Key,
    nonce: u64,
    /// Number of opened sessions.
    count: u32,
    /// The session in use.
    current: Option<OpenSession>,
    /// The last opened session, if it has had no request.
    next: Option<OpenSession>,
}

/// Checks every received frame.
#[derive(Debug)]
pub(super) struct Guard {
    #[cfg(feature = "keyed")]
    lock: Option<Lock>,
}

/// The session and the counter that seal a reply.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReplySeal {
    #[cfg(feature = "keyed")]
    open: Option<OpenSession>,
}

impl ReplySeal {
    /// No seal.
    pub(super) const NONE: Self = Self {
        #[cfg(feature = "keyed")]
        open: None,
    };

    /// Finishes a frame.
    #[cfg_attr(not(feature = "keyed"), expect(clippy::unused_self, reason = "there are no seals"))]
    pub(super) fn seal(self, draft: Draft<'_>) -> &[u8] {
        #[cfg(feature = "keyed")]
        if let Some(OpenSession { session, counter }) = self.open {
            return draft.seal_by(&session, counter);
        }
        draft.seal()
    }
}

impl Guard {
    /// Admits all frames without a seal.
    pub(super) const fn new() -> Self {
        Self {
            #[cfg(feature = "keyed")]
            lock: None,
        }
    }

    /// Admits frames that are sealed with the key.
    #[cfg(feature = "keyed")]
    pub(super) const fn keyed(key: Key, nonce: u64) -> Self {
        Self { lock: Some(Lock { key, nonce, count: 0, current: None, next: None }) }
    }

    /// Checks the seal of a request and returns the seal of its reply. A request to open a session needs no
    /// seal.
    #[cfg(feature = "keyed")]
    pub(super) fn admit(&mut self, frame: &Frame<'_>, opens: bool) -> Result<ReplySeal, Fault> {
        let Some(lock) = &mut self.lock else {
            return if frame.is_sealed() { Err(Fault::Keyless) } else { Ok(ReplySeal::NONE) };
        };
        if opens {
            return Ok(ReplySeal::NONE); // the reply is sealed by the new session
        }
        if !frame.is_sealed() {
            return Err(Fault::Locked);
        }
        for open in [lock.current, lock.next].into_iter().flatten() {
            // A used counter is refused.
            if let Some(counter) = frame.sealed_by(&open.session).filter(|counter| *counter > open.counter) {
                let open = OpenSession { counter, ..open };
                if lock.next.is_some_and(|next| next.session == open.session) {
                    lock.next = None;
                }
                lock.current = Some(open);
                return Ok(ReplySeal { open: Some(open) });
            }
        }
        Err(Fault::Session)
    }

    /// Refuses sealed requests.
    #[cfg(not(feature = "keyed"))]
    #[expect(clippy::unused_self, reason = "there are no keys")]
    pub(super) fn admit(&mut self, frame: &Frame<'_>, _: bool) -> Result<ReplySeal, Fault> {
        if frame.is_sealed() { Err(Fault::Keyless) } else { Ok(ReplySeal::NONE) }
    }

    /// Opens a session.
    #[cfg(feature = "keyed")]
    pub(super) fn open(&mut self, host: u64) -> Result<(Reply, ReplySeal), Fault> {
        let lock = self.lock.as_mut().ok_or(Fault::Keyless)?;
        let Lock { key, nonce, .. } = *lock;
        lock.count = lock.count.checked_add(1).ok_or(Fault::Limited)?; // numbers of sessions are unique
        let open = OpenSession { session: Session::new(&key, host, nonce, lock.count), counter: 0 };
        lock.next = Some(open);
        Ok((Reply::Opened { nonce, count: lock.count }, ReplySeal { open: Some(open) }))
    }
}
