//! An answer on its way to the application, overheard.

use super::answer::{Heard, Listener};
use super::bodies::Begun;
use super::conversations::{Shared, State, lock};
use super::turn::Decider;
use axum::body::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// Whoever wants to know how an answer ends. Dropped before that there is none: the upstream broke off, or whoever asked has gone.
#[derive(Debug)]
pub(super) struct Hearing {
    decider: Arc<Decider>,
    turn: Shared,
    user: String,
    /// Whether the exchange is to be kept.
    remembers: bool,
    /// Whether there was an answer.
    ended: bool,
}

impl Hearing {
    pub(super) const fn new(decider: Arc<Decider>, turn: Shared, user: String, remembers: bool) -> Self {
        Self { decider, turn, user, remembers, ended: false }
    }

    /// There is an answer.
    pub(super) fn end(mut self, heard: &Heard) {
        self.ended = true;
        self.decider.answered(self.remembers, &self.user, &self.turn, heard);
    }
}

impl Drop for Hearing {
    /// There is no answer, unless there was one.
    fn drop(&mut self) {
        let mut turn = lock(&self.turn);
        if !self.ended && turn.state == State::Working {
            turn.state = State::Failed;
        }
    }
}

/// A body that is passed on as it comes and listened to.
#[derive(Debug)]
pub(super) struct Tapped {
    body: Begun<Incoming>,
    /// Until the end.
    listening: Option<(Listener, Hearing)>,
}

impl Tapped {
    pub(super) const fn new(body: Begun<Incoming>, listener: Listener, hearing: Hearing) -> Self {
        Self { body, listening: Some((listener, hearing)) }
    }

    fn end(&mut self) {
        if let Some((mut listener, hearing)) = self.listening.take() {
            hearing.end(&listener.end());
        }
    }
}

impl Body for Tapped {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        match &frame {
            Some(Ok(frame)) => {
                if let (Some(data), Some((listener, _))) = (frame.data_ref(), self.listening.as_mut()) {
                    listener.feed(data);
                }
                if self.body.is_end_stream() {
                    self.end(); // nobody may ask again
                }
            }
            Some(Err(_)) => self.listening = None,
            None => self.end(),
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
