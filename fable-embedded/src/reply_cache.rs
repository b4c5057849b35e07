//! The reply of the last request, so that a repeated request is answered again and not executed again.
//!
//! A request has an id that no other request has (the crate `fable-wire` defines it). A store writes the id
//! with the event that executes the request, in the same write: the decision, the reward, each promotion. The
//! event and the user after it determine the reply, at once and again when the journal is replayed after a
//! reset. A snapshot replaces the journal, so the last reply is stored with the snapshot.

use fable_core::journal::Event;
use fable_core::{Scalar, User, UserError};

/// Bytes of a stored reply.
pub(crate) const REPLY_LEN: usize = 20;

/// The reply to a request that changes something.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(crate) enum Acknowledgement {
    Done {
        count: u32,
    },
    Decided {
        round: u32,
        action: u16,
        baseline: f64,
    },
    /// Done, with the rounds of a snapshot that is not loaded yet.
    Restored,
}

/// An executed request and its reply.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(crate) struct CachedReply {
    pub(crate) request_id: u32,
    pub(crate) reply: Acknowledgement,
}

impl CachedReply {
    /// Encodes request id, kind (0 for none), a zero, action, count or round, baseline.
    #[inline(never)]
    pub(crate) fn encode(cached: Option<&Self>) -> [u8; REPLY_LEN] {
        let (request_id, kind, action, count, baseline) = match cached {
            None => (0, 0, 0, 0, 0),
            Some(Self { request_id, reply }) => match reply {
                Acknowledgement::Done { count } => (*request_id, 1, 0, *count, 0),
                Acknowledgement::Decided { round, action, baseline } => {
                    (*request_id, 2, *action, *round, baseline.to_bits())
                }
                Acknowledgement::Restored => (*request_id, 3, 0, 0, 0),
            },
        };
        let mut bytes = [0; REPLY_LEN];
        let front = request_id.to_le_bytes().into_iter().chain([kind, 0]).chain(action.to_le_bytes());
        for (slot, byte) in
            bytes.iter_mut().zip(front.chain(count.to_le_bytes()).chain(baseline.to_le_bytes()))
        {
            *slot = byte;
        }
        bytes
    }

    /// Decodes a reply. Returns `None` for the bytes of no reply, and for other bytes.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let (request_id, rest) = bytes.split_first_chunk()?;
        let (kind, rest) = rest.split_first_chunk::<2>()?;
        let (action, rest) = rest.split_first_chunk()?;
        let (count, rest) = rest.split_first_chunk()?;
        let (count, baseline) = (u32::from_le_bytes(*count), f64::from_le_bytes(*rest.first_chunk()?));
        let reply = match kind {
            [1, 0] => Acknowledgement::Done { count },
            [2, 0] => {
                Acknowledgement::Decided { round: count, action: u16::from_le_bytes(*action), baseline }
            }
            [3, 0] => Acknowledgement::Restored,
            _ => return None,
        };
        Some(Self { request_id: u32::from_le_bytes(*request_id), reply })
    }
}

/// The events of a request that are stored with its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(not(feature = "serve"), expect(dead_code, reason = "there are no requests"))]
pub(crate) enum Scope {
    /// No request is under way: the application's own verbs.
    Idle,
    /// The first event. Events that follow a reward have no id.
    First,
    /// The decision, which is the last event.
    Decision,
    /// Every event. If the request is repeated after a reset, the rest of it is executed.
    Every,
}

/// The request under way and the reply of the last request.
///
/// A store that serves a host has one, and returns it with [`UserStore::replies`](crate::UserStore::replies).
/// A durable store
///
/// 1. stores [`request_id`](Self::request_id) with each event,
/// 2. stores [`to_bytes`](Self::to_bytes) with each snapshot,
/// 3. starts with [`from_bytes`](Self::from_bytes) of the snapshot, and [replays](Self::replay) the events
///    after it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ReplyCache {
    scope: Scope,
    /// The last request was executed to its end.
    finished: bool,
    known: bool,
    /// Id of the request under way.
    request_id: u32,
    last: CachedReply,
}

/// The part of an event that determines the reply, taken before the event is applied.
#[derive(Clone, Copy)]
pub(crate) enum EventKind {
    Decided {
        round: u32,
        action: u16,
        baseline: f64,
    },
    Forgot,
    /// One of several events that the reply counts.
    Counted,
    Learned,
}

impl EventKind {
    pub(crate) fn of(event: &Event) -> Self {
        match event {
            Event::Decision { round, action, baseline, .. } => {
                Self::Decided { round: *round, action: action.0, baseline: *baseline }
            }
            Event::Forget { .. } => Self::Forgot,
            Event::Promotion(_) | Event::Expiry { .. } => Self::Counted,
            _ => Self::Learned,
        }
    }
}

impl ReplyCache {
    /// Bytes of a stored cache.
    pub const LEN: usize = REPLY_LEN;

    /// No request was executed. All bits are zero.
    pub const EMPTY: Self = Self {
        scope: Scope::Idle,
        finished: false,
        known: false,
        request_id: 0,
        last: CachedReply { request_id: 0, reply: Acknowledgement::Done { count: 0 } },
    };

    /// Returns the id to store with an event, if the event executes the request under way.
    #[must_use]
    pub fn request_id(&self, event: &Event) -> Option<u32> {
        let executes = match self.scope {
            Scope::Idle => false,
            Scope::First => self.last().is_none_or(|last| last.request_id != self.request_id),
            Scope::Decision => matches!(event, Event::Decision { .. }),
            Scope::Every => true,
        };
        executes.then_some(self.request_id)
    }

    /// Returns the last reply as bytes.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        CachedReply::encode(self.last())
    }

    /// Restores a cache. Other bytes than those of [`to_bytes`](Self::to_bytes) give an empty cache.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let mut cache = Self::EMPTY;
        cache.set(CachedReply::decode(bytes));
        cache
    }

    /// Applies a stored event to the user, and restores the reply of the request that the event was stored
    /// with.
    ///
    /// # Errors
    /// An event that the user refuses. Nothing has changed then.
    pub fn replay<T: Scalar>(
        &mut self,
        user: &mut User<'_, T>,
        event: &Event,
        request_id: Option<u32>,
    ) -> Result<(), UserError> {
        apply(user, event)?;
        self.note(request_id, EventKind::of(event), user);
        Ok(())
    }

    /// Notes that the request under way has replaced the state by a snapshot of so many rounds.
    pub fn note_commit(&mut self, rounds: u32) {
        if let Some(request_id) = self.under_way() {
            self.set(Some(CachedReply { request_id, reply: Acknowledgement::Done { count: rounds } }));
        }
    }

    pub(crate) fn last(&self) -> Option<&CachedReply> {
        Some(&self.last).filter(|_| self.known)
    }

    /// Returns the id of the request under way.
    pub(crate) fn under_way(&self) -> Option<u32> {
        (self.scope != Scope::Idle).then_some(self.request_id)
    }

    pub(crate) fn set(&mut self, last: Option<CachedReply>) {
        (self.known, self.finished) = (last.is_some(), false);
        self.last = last.unwrap_or(Self::EMPTY.last);
    }

    /// Notes an event that was applied, with the user after it. Forgetting drops the reply of an earlier
    /// request.
    #[inline(never)]
    pub(crate) fn note<T: Scalar>(&mut self, request_id: Option<u32>, kind: EventKind, user: &User<'_, T>) {
        if matches!(kind, EventKind::Forgot) {
            self.set(None);
        }
        let Some(request_id) = request_id else { return };
        let before = self.last().filter(|last| last.request_id == request_id).map(|last| last.reply);
        let reply = match (kind, before) {
            (EventKind::Decided { round, action, baseline }, _) => {
                Acknowledgement::Decided { round, action, baseline }
            }
            (EventKind::Forgot, _) => Acknowledgement::Done { count: user.state().incarnation() },
            (EventKind::Counted, Some(Acknowledgement::Done { count })) => {
                Acknowledgement::Done { count: count.saturating_add(1) }
            }
            (EventKind::Counted, _) => Acknowledgement::Done { count: 1 },
            (EventKind::Learned, _) => Acknowledgement::Done { count: user.state().observations() },
        };
        self.set(Some(CachedReply { request_id, reply }));
    }

    /// Completes the reply of a request that has replaced the state, now that the snapshot is loaded.
    #[cfg(feature = "flash")]
    pub(crate) fn note_loaded(&mut self, rounds: u32) {
        if self.last.reply == Acknowledgement::Restored {
            self.last.reply = Acknowledgement::Done { count: rounds };
        }
    }
}

/// Checking and applying have a stack frame of their own.
#[inline(never)]
fn apply<T: Scalar>(user: &mut User<'_, T>, event: &Event) -> Result<(), UserError> {
    user.check(event)?.apply();
    Ok(())
}

/// The server's half.
#[cfg(feature = "serve")]
impl ReplyCache {
    /// Begins a request. Returns its reply if the request was executed before.
    #[inline(never)]
    pub(crate) fn begin(&mut self, request_id: u32, scope: Scope) -> Option<Acknowledgement> {
        (self.scope, self.request_id) = (scope, request_id);
        let done = self.finished || scope != Scope::Every;
        let known = self
            .last()
            .filter(|last| last.request_id == request_id && last.reply != Acknowledgement::Restored && done);
        known.map(|last| last.reply)
    }

    /// Returns true if the last request was executed to its end since the start.
    pub(crate) const fn is_finished(&self) -> bool {
        self.finished
    }

    /// Returns the number of counted events of the request under way, including those before a reset.
    pub(crate) fn counted(&self) -> u32 {
        match self.last().filter(|last| last.request_id == self.request_id) {
            Some(CachedReply { reply: Acknowledgement::Done { count }, .. }) => *count,
            _ => 0,
        }
    }

    /// Ends a request.
    pub(crate) fn end(&mut self, reply: Option<Acknowledgement>) {
        if let Some(reply) = reply {
            self.set(Some(CachedReply { request_id: self.request_id, reply }));
            self.finished = true;
        }
        self.scope = Scope::Idle;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receipts_go_through_bytes() {
        let replies = [
            Acknowledgement::Done { count: 7 },
            Acknowledgement::Decided { round: 1 << 20, action: 300, baseline: -0.125 },
            Acknowledgement::Restored,
        ];
        for reply in replies {
            let cached = CachedReply { request_id: 0x0102_0304, reply };
            let bytes = CachedReply::encode(Some(&cached));
            assert_eq!(CachedReply::decode(&bytes), Some(cached));
            for end in 0..REPLY_LEN {
                assert_eq!(CachedReply::decode(&bytes[..end]), None);
            }
            assert_eq!(ReplyCache::from_bytes(&bytes).to_bytes(), bytes);
        }
        assert_eq!(CachedReply::decode(&CachedReply::encode(None)), None);
        assert_eq!(CachedReply::encode(None), [0; REPLY_LEN]);
    }
}
