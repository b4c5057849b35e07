//! What the last request was answered with, so that one that comes again is answered again and not done again.
//!
//! A request has a *ticket*, a number that no other request has ([`protocol`](fable_wire)). Storage keeps the ticket with the
//! event in which the request comes true, in the same write: the decision, the reward, each promotion. From the event and
//! the user after it follows what the request is answered with, at the time and again when a journal is replayed after a reset.
//! A snapshot takes the place of a journal, and has the last receipt with it.

use fable_core::journal::Event;
use fable_core::{Scalar, User};
use fable_wire::Request;

/// Bytes of a stored receipt.
pub(crate) const RECEIPT_LEN: usize = 20;

/// What a request that changes something is answered with.
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

/// A request that was done, and what it was answered with.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(crate) struct Receipt {
    pub(crate) ticket: u32,
    pub(crate) reply: Acknowledgement,
}

impl Receipt {
    /// Ticket, kind (0 for none), a zero, action, count or round, baseline.
    #[inline(never)]
    pub(crate) fn encode(receipt: Option<&Self>) -> [u8; RECEIPT_LEN] {
        let (ticket, kind, action, count, baseline) = match receipt {
            None => (0, 0, 0, 0, 0),
            Some(Self { ticket, reply }) => match reply {
                Acknowledgement::Done { count } => (*ticket, 1, 0, *count, 0),
                Acknowledgement::Decided { round, action, baseline } => {
                    (*ticket, 2, *action, *round, baseline.to_bits())
                }
                Acknowledgement::Restored => (*ticket, 3, 0, 0, 0),
            },
        };
        let mut bytes = [0; RECEIPT_LEN];
        let front = ticket.to_le_bytes().into_iter().chain([kind, 0]).chain(action.to_le_bytes());
        for (slot, byte) in
            bytes.iter_mut().zip(front.chain(count.to_le_bytes()).chain(baseline.to_le_bytes()))
        {
            *slot = byte;
        }
        bytes
    }

    /// The way back; `None` for none, and for what is not a receipt.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let (ticket, rest) = bytes.split_first_chunk()?;
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
        Some(Self { ticket: u32::from_le_bytes(*ticket), reply })
    }
}

/// Which events of a request have its ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
enum Scope {
    /// Nothing is asked for: the application's own verbs.
    Idle,
    /// The first: what follows a reward follows without it, and the others have one.
    First,
    /// The decision, which is the last: without it nothing has been decided.
    Decision,
    /// Each; when such a request comes again after a reset, the rest of it is done.
    Every,
}

/// The request that is under way, and what the last one was answered with. A [`Keep`](crate::Keep) has one.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Receipts {
    scope: Scope,
    /// The last one was done to its end.
    finished: bool,
    known: bool,
    /// Of the request that is under way.
    ticket: u32,
    last: Receipt,
}

/// What an event says about the answer, before it is applied.
#[derive(Clone, Copy)]
pub(crate) enum Deed {
    Decided {
        round: u32,
        action: u16,
        baseline: f64,
    },
    Forgot,
    /// One of several.
    Counted,
    Learned,
}

impl Deed {
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

impl Receipts {
    /// Nothing was asked yet; all zero bits.
    pub const NONE: Self = Self {
        scope: Scope::Idle,
        finished: false,
        known: false,
        ticket: 0,
        last: Receipt { ticket: 0, reply: Acknowledgement::Done { count: 0 } },
    };

    pub(crate) fn last(&self) -> Option<&Receipt> {
        Some(&self.last).filter(|_| self.known)
    }

    /// Begins a request: what it was answered with, if it was done before.
    #[inline(never)]
    pub(crate) fn begin(&mut self, ticket: u32, request: &Request) -> Option<Acknowledgement> {
        self.scope = match request {
            Request::Decide { .. } => Scope::Decision,
            Request::Promote { .. } | Request::Expire { .. } => Scope::Every,
            _ => Scope::First,
        };
        self.ticket = ticket;
        let done = self.finished || self.scope != Scope::Every;
        let known = self
            .last()
            .filter(|last| last.ticket == ticket && last.reply != Acknowledgement::Restored && done);
        known.map(|last| last.reply)
    }

    /// Whether the last request was done to its end, since the start.
    pub(crate) const fn is_finished(&self) -> bool {
        self.finished
    }

    /// Events of the request that is under way which were counted, before a reset too.
    pub(crate) fn counted(&self) -> u32 {
        match self.last().filter(|last| last.ticket == self.ticket) {
            Some(Receipt { reply: Acknowledgement::Done { count }, .. }) => *count,
            _ => 0,
        }
    }

    /// Ends a request.
    pub(crate) fn end(&mut self, reply: Option<Acknowledgement>) {
        if let Some(reply) = reply {
            self.set(Some(Receipt { ticket: self.ticket, reply }));
            self.finished = true;
        }
        self.scope = Scope::Idle;
    }

    /// The ticket of the request that is under way.
    pub(crate) fn under_way(&self) -> Option<u32> {
        (self.scope != Scope::Idle).then_some(self.ticket)
    }

    pub(crate) fn set(&mut self, last: Option<Receipt>) {
        (self.known, self.finished) = (last.is_some(), false);
        self.last = last.unwrap_or(Self::NONE.last);
    }

    /// The ticket that an event is stored with, if the request that is under way comes true in it.
    #[must_use]
    pub fn stamp(&self, event: &Event) -> Option<u32> {
        let stamped = match self.scope {
            Scope::Idle => false,
            Scope::First => self.last().is_none_or(|last| last.ticket != self.ticket),
            Scope::Decision => matches!(event, Event::Decision { .. }),
            Scope::Every => true,
        };
        stamped.then_some(self.ticket)
    }

    /// Takes note of an event that was applied, with the user after it. What came before is forgotten with the user.
    #[inline(never)]
    pub(crate) fn note<T: Scalar>(&mut self, ticket: Option<u32>, deed: Deed, user: &User<'_, T>) {
        if matches!(deed, Deed::Forgot) {
            self.set(None);
        }
        let Some(ticket) = ticket else { return };
        let before = self.last().filter(|last| last.ticket == ticket).map(|last| last.reply);
        let reply = match (deed, before) {
            (Deed::Decided { round, action, baseline }, _) => {
                Acknowledgement::Decided { round, action, baseline }
            }
            (Deed::Forgot, _) => Acknowledgement::Done { count: user.state().incarnation() },
            (Deed::Counted, Some(Acknowledgement::Done { count })) => {
                Acknowledgement::Done { count: count.saturating_add(1) }
            }
            (Deed::Counted, _) => Acknowledgement::Done { count: 1 },
            (Deed::Learned, _) => Acknowledgement::Done { count: user.state().observations() },
        };
        self.set(Some(Receipt { ticket, reply }));
    }

    /// Takes note that a snapshot is loaded.
    pub(crate) fn restored(&mut self, rounds: u32) {
        if self.last.reply == Acknowledgement::Restored {
            self.last.reply = Acknowledgement::Done { count: rounds };
        }
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
            let receipt = Receipt { ticket: 0x0102_0304, reply };
            let bytes = Receipt::encode(Some(&receipt));
            assert_eq!(Receipt::decode(&bytes), Some(receipt));
            for end in 0..RECEIPT_LEN {
                assert_eq!(Receipt::decode(&bytes[..end]), None);
            }
        }
        assert_eq!(Receipt::decode(&Receipt::encode(None)), None);
        assert_eq!(Receipt::encode(None), [0; RECEIPT_LEN]);
    }
}
