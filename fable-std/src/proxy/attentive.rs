//! Connections to the assistant's server that notice an end as soon as it has come.
//!
//! A runtime reads from a connection when the system has told it that there is something to read, and the system is asked about that from
//! time to time. In between a kept connection may have ended: it looks as if it were there, a request is written to it, and nobody can say
//! afterwards whether it was read. So where the runtime has heard of nothing, the system is asked itself. The client reads before it writes a
//! request: an end that has come is found then, and the request goes out on another connection without having been sent on this one.

use axum::http::Uri;
use futures_util::TryFutureExt;
use futures_util::future::MapOk;
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::rt::TokioIo;
use rustix::io::Errno;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tower_service::Service;

/// Bytes that are read when the system is asked itself: an end has none, and what is more the runtime hears of.
const SOME: usize = 1 << 10;

/// Makes such connections.
#[derive(Clone, Debug)]
pub(super) struct Connector(pub(super) HttpConnector);

impl Service<Uri> for Connector {
    type Response = TokioIo<Attentive>;
    type Error = <HttpConnector as Service<Uri>>::Error;
    type Future =
        MapOk<<HttpConnector as Service<Uri>>::Future, fn(TokioIo<TcpStream>) -> TokioIo<Attentive>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, place: Uri) -> Self::Future {
        self.0.call(place).map_ok(|stream| TokioIo::new(Attentive(stream.into_inner())))
    }
}

/// Such a connection. Under TLS it is the one below: what ends there, or says that it will, is read there.
#[derive(Debug)]
pub(super) struct Attentive(TcpStream);

impl Connection for Attentive {
    fn connected(&self) -> Connected {
        self.0.connected()
    }
}

impl AsyncRead for Attentive {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let heard = Pin::new(&mut self.0).poll_read(cx, buf);
        if heard.is_ready() {
            return heard;
        }
        let some = buf.remaining().min(SOME);
        match rustix::io::read(&self.0, buf.initialize_unfilled_to(some)) {
            Ok(count) => {
                buf.advance(count);
                Poll::Ready(Ok(()))
            }
            // There is nothing, and the runtime will tell when there is.
            Err(Errno::AGAIN | Errno::INTR) => Poll::Pending,
            Err(error) => Poll::Ready(Err(error.into())),
        }
    }
}

impl AsyncWrite for Attentive {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(cx, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests;
