//! Bodies that are taken into memory to be read: so much of each, so much of all together, and for so long. What does not fit goes on
//! as it comes, after what has been taken of it; nothing is lost.

use axum::body::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::body::{Body, Frame, SizeHint};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

/// Bytes that are sent on at a time of what is in memory: who reads slowly leaves the others where they are counted.
const PIECE: usize = 64 << 10;

/// Bytes of memory that bodies share. A body has as much of it as has come of it.
#[derive(Clone, Debug)]
pub(super) struct Room(Arc<Semaphore>);

impl Room {
    pub(super) fn new(bytes: usize) -> Self {
        Self(Arc::new(Semaphore::new(bytes.min(Semaphore::MAX_PERMITS))))
    }

    fn take(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.0).try_acquire_many_owned(u32::try_from(bytes).ok()?).ok()
    }
}

/// Why a body was not taken as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    TooLong,
    NoRoom,
    Late,
}

/// A body as far as it was taken.
#[derive(Debug)]
pub(super) enum Taken<B> {
    /// All of it, and its share of the room.
    Whole(Bytes, OwnedSemaphorePermit),
    /// All of it, of which some has not come yet.
    Part(Begun<B>, Why),
}

/// Takes a body of at most so many bytes, if it comes in time.
pub(super) async fn take<B>(
    mut body: B,
    most: usize,
    room: &Room,
    patience: Option<Duration>,
) -> Result<Taken<B>, B::Error>
where
    B: Body<Data = Bytes> + Unpin,
{
    let Some(mut share) = room.take(0) else { return Ok(Taken::Part(Begun::not_yet(body), Why::NoRoom)) };
    if body.size_hint().lower() > most as u64 {
        return Ok(Taken::Part(Begun::not_yet(body), Why::TooLong));
    }
    let deadline = patience.and_then(|patience| Instant::now().checked_add(patience));
    let mut taken = Vec::new();
    loop {
        let Ok(frame) = until(deadline, body.frame()).await else {
            return Ok(Taken::Part(Begun::after(taken.into(), share, body), Why::Late));
        };
        let Some(frame) = frame else { return Ok(Taken::Whole(taken.into(), share)) };
        let Ok(data) = frame?.into_data() else { continue };
        let more = room.take(data.len());
        let why = if taken.len() + data.len() > most {
            Some(Why::TooLong)
        } else {
            more.is_none().then_some(Why::NoRoom)
        };
        if let Some(more) = more {
            share.merge(more);
        }
        if why.is_none() && taken.is_empty() && body.is_end_stream() {
            return Ok(Taken::Whole(data, share)); // in one piece, as most are
        }
        taken.extend_from_slice(&data); // one piece of small ones, which would take more memory than they say
        if let Some(why) = why {
            return Ok(Taken::Part(Begun::after(taken.into(), share, body), why));
        }
    }
}

async fn until<F: Future>(
    deadline: Option<Instant>,
    work: F,
) -> Result<F::Output, tokio::time::error::Elapsed> {
    match deadline {
        Some(deadline) => timeout_at(deadline, work).await,
        None => Ok(work.await),
    }
}

/// A body of which the beginning is in memory. It comes first, and its room is given back once it is not needed any more.
#[derive(Debug)]
pub(super) struct Begun<B> {
    before: Option<Bytes>,
    room: Option<OwnedSemaphorePermit>,
    rest: B,
}

impl<B> Begun<B> {
    /// Nothing of it has come.
    pub(super) const fn not_yet(rest: B) -> Self {
        Self { before: None, room: None, rest }
    }

    fn after(before: Bytes, room: OwnedSemaphorePermit, rest: B) -> Self {
        Self { before: Some(before).filter(|before| !before.is_empty()), room: Some(room), rest }
    }
}

impl Begun<Empty<Bytes>> {
    /// Nothing is missing.
    pub(super) fn whole(bytes: Bytes, room: OwnedSemaphorePermit) -> Self {
        Self::after(bytes, room, Empty::new())
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for Begun<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        if let Some(mut before) = self.before.take() {
            // A copy: a piece that waits to be sent must not keep all the others in memory, when their room is given back.
            let piece = Bytes::copy_from_slice(&before.split_to(before.len().min(PIECE)));
            self.before = Some(before).filter(|left| !left.is_empty());
            return Poll::Ready(Some(Ok(Frame::data(piece))));
        }
        self.room = None;
        Pin::new(&mut self.rest).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.before.is_none() && self.rest.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (before, rest) =
            (self.before.as_ref().map_or(0, |before| before.len() as u64), self.rest.size_hint());
        let mut hint = SizeHint::new();
        hint.set_lower(rest.lower().saturating_add(before));
        if let Some(upper) = rest.upper().and_then(|upper| upper.checked_add(before)) {
            hint.set_upper(upper);
        }
        hint
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body as Stream;
    use futures_util::stream;

    fn pieces(pieces: &'static [&'static str]) -> Stream {
        Stream::from_stream(stream::iter(
            pieces.iter().map(|piece| Ok::<_, std::io::Error>(Bytes::from_static(piece.as_bytes()))),
        ))
    }

    fn run<F: Future>(work: F) -> F::Output {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(work)
    }

    #[test]
    fn what_does_not_fit_goes_on_after_what_was_taken() {
        run(async {
            let room = Room::new(10);
            let Taken::Whole(bytes, share) = take(pieces(&["abc", "def"]), 6, &room, None).await.unwrap()
            else {
                panic!("a part")
            };
            assert_eq!((&bytes[..], room.0.available_permits()), (&b"abcdef"[..], 4));
            // There is room for four more.
            let Taken::Part(begun, why) =
                take(pieces(&["abc", "d", "e", "f"]), 6, &room, None).await.unwrap()
            else {
                panic!("all of it")
            };
            assert_eq!((why, room.0.available_permits()), (Why::NoRoom, 0));
            assert_eq!(begun.collect().await.unwrap().to_bytes(), "abcdef");
            assert_eq!(room.0.available_permits(), 4);
            drop(share);
            let Taken::Part(begun, why) = take(pieces(&["abcd", "efg", "hi"]), 6, &room, None).await.unwrap()
            else {
                panic!("all of it")
            };
            assert_eq!((why, begun.size_hint().lower()), (Why::TooLong, 7));
            assert_eq!(begun.collect().await.unwrap().to_bytes(), "abcdefghi");
            // One that says how long it is is not begun with.
            let Taken::Part(begun, why) = take(Stream::from("abcdefg"), 6, &room, None).await.unwrap() else {
                panic!("all of it")
            };
            assert_eq!(
                (why, begun.before.is_none(), begun.size_hint().exact()),
                (Why::TooLong, true, Some(7))
            );
            assert_eq!(room.0.available_permits(), 10);
        });
    }

    #[test]
    fn what_does_not_come_in_time_goes_on_as_it_comes() {
        run(async {
            let (sender, mut receiver) = tokio::sync::mpsc::channel::<Bytes>(1);
            sender.send("ab".into()).await.unwrap();
            let slow = stream::poll_fn(move |cx| {
                receiver.poll_recv(cx).map(|piece| piece.map(Ok::<_, std::io::Error>))
            });
            let room = Room::new(10);
            let taken =
                take(Stream::from_stream(slow), 6, &room, Some(Duration::from_millis(1))).await.unwrap();
            let Taken::Part(begun, Why::Late) = taken else { panic!("{taken:?}") };
            sender.send("cd".into()).await.unwrap();
            drop(sender);
            assert_eq!(begun.collect().await.unwrap().to_bytes(), "abcd");
        });
    }
}
