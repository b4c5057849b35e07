//! Who may ask: anybody, or with a key those who seal their requests with it.
//!
//! A session that somebody opens counts when its first request has come: who has no key can open as many as they like, and the
//! one that is in use goes on.

use fable_wire::{Draft, Fault, Frame};
#[cfg(feature = "keyed")]
use fable_wire::{Key, Reply, Session};

/// A session, and the counter of the last request in it.
#[cfg(feature = "keyed")]
#[derive(Clone, Copy, Debug)]
struct Open {
    session: Session,
    counter: u32,
}

/// What a device with a key knows.
#[cfg(feature = "keyed")]
#[derive(Debug)]
struct Lock {
    key: Key,
    nonce: u64,
    /// Sessions that were opened.
    count: u32,
    /// The one that is in use.
    current: Option<Open>,
    /// The one that was opened last, if nothing has come in it yet.
    next: Option<Open>,
}

/// Looks at every frame that comes in.
#[derive(Debug)]
pub(super) struct Guard {
    #[cfg(feature = "keyed")]
    lock: Option<Lock>,
}

/// What a reply is sealed with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamp {
    #[cfg(feature = "keyed")]
    open: Option<Open>,
}

impl Stamp {
    /// Nothing.
    pub(super) const NONE: Self = Self {
        #[cfg(feature = "keyed")]
        open: None,
    };

    /// The finished frame.
    #[cfg_attr(not(feature = "keyed"), expect(clippy::unused_self, reason = "there are no seals"))]
    pub(super) fn seal(self, draft: Draft<'_>) -> &[u8] {
        #[cfg(feature = "keyed")]
        if let Some(Open { session, counter }) = self.open {
            return draft.seal_by(&session, counter);
        }
        draft.seal()
    }
}

impl Guard {
    /// Admits everybody.
    pub(super) const fn new() -> Self {
        Self {
            #[cfg(feature = "keyed")]
            lock: None,
        }
    }

    /// Admits who has the key.
    #[cfg(feature = "keyed")]
    pub(super) const fn keyed(key: Key, nonce: u64) -> Self {
        Self { lock: Some(Lock { key, nonce, count: 0, current: None, next: None }) }
    }

    /// Whether a request may be looked at, and what its reply is sealed with. A request to open a session needs no seal.
    #[cfg(feature = "keyed")]
    pub(super) fn admit(&mut self, frame: &Frame<'_>, opens: bool) -> Result<Stamp, Fault> {
        let Some(lock) = &mut self.lock else {
            return if frame.is_sealed() { Err(Fault::Keyless) } else { Ok(Stamp::NONE) };
        };
        if opens {
            return Ok(Stamp::NONE); // a seal makes no difference: it is answered with one of the new session
        }
        if !frame.is_sealed() {
            return Err(Fault::Locked);
        }
        for open in [lock.current, lock.next].into_iter().flatten() {
            // A counter that has come before is not looked at a second time.
            if let Some(counter) = frame.sealed_by(&open.session).filter(|counter| *counter > open.counter) {
                let open = Open { counter, ..open };
                if lock.next.is_some_and(|next| next.session == open.session) {
                    lock.next = None;
                }
                lock.current = Some(open);
                return Ok(Stamp { open: Some(open) });
            }
        }
        Err(Fault::Session)
    }

    /// The same where there are no keys.
    #[cfg(not(feature = "keyed"))]
    #[expect(clippy::unused_self, reason = "there are no keys")]
    pub(super) fn admit(&mut self, frame: &Frame<'_>, _: bool) -> Result<Stamp, Fault> {
        if frame.is_sealed() { Err(Fault::Keyless) } else { Ok(Stamp::NONE) }
    }

    /// Opens a session.
    #[cfg(feature = "keyed")]
    pub(super) fn open(&mut self, host: u64) -> Result<(Reply, Stamp), Fault> {
        let lock = self.lock.as_mut().ok_or(Fault::Keyless)?;
        let Lock { key, nonce, .. } = *lock;
        lock.count = lock.count.checked_add(1).ok_or(Fault::Limited)?; // no two sessions of a start have the same number
        let open = Open { session: Session::new(&key, host, nonce, lock.count), counter: 0 };
        lock.next = Some(open);
        Ok((Reply::Opened { nonce, count: lock.count }, Stamp { open: Some(open) }))
    }
}
