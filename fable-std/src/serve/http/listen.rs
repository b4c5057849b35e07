//! Connections: where they come in, how many there can be, and how they end.

use super::HttpOptions;
use super::front::{Beside, Door, Front};
use super::limits::Share;
use crate::serve::ServeError;
use crate::serve::service::Service;
use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, UnixListener};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

/// Connections that the system holds until they are taken.
const BACKLOG: u32 = 1024;
/// Bytes of a head, and of a body in memory before it is handed on.
const BUFFER: usize = 64 << 10;
/// Rest after a connection could not be taken, as when there are too many open files.
const REST: Duration = Duration::from_millis(50);

/// Tells a service over HTTP to answer what it has read and to end.
#[derive(Clone, Debug)]
pub struct HttpStop(watch::Sender<bool>);

impl Default for HttpStop {
    fn default() -> Self {
        Self(watch::Sender::new(false))
    }
}

impl HttpStop {
    /// Returns at once.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

/// Serves until it is stopped.
pub(super) fn run(
    service: Service,
    options: HttpOptions,
    stop: &HttpStop,
    ready: impl FnOnce(&[String]),
    beside: impl FnOnce(&Arc<Front>) -> Option<Beside>,
) -> Result<(), ServeError> {
    raise_open_files();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()
        .map_err(ServeError::Output)?;
    runtime.block_on(serve(service, options, stop.0.subscribe(), ready, beside))
}

/// As many open files as are allowed: a connection is one.
fn raise_open_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let raised = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
    if let Err(error) = raised {
        tracing::warn!(%error, "the number of open files stays as it is");
    }
}

async fn serve(
    service: Service,
    options: HttpOptions,
    mut stopped: watch::Receiver<bool>,
    ready: impl FnOnce(&[String]),
    beside: impl FnOnce(&Arc<Front>) -> Option<Beside>,
) -> Result<(), ServeError> {
    let (mut places, time, linger) = (Vec::new(), options.timeout, options.linger);
    let tcp = options.address.map(bind).transpose()?;
    let socket = options.socket.as_deref().map(SocketFile::bind).transpose()?;
    let front = Arc::new(Front::new(service, options));
    let doors = Arc::new(GracefulShutdown::new());
    let beside = beside(&front);
    let router =
        |door| beside.as_ref().map_or_else(|| front.router(door), |beside| front.router_beside(door, beside));
    let connections = |door| Connections {
        router: router(door),
        front: Arc::clone(&front),
        time,
        doors: Arc::clone(&doors),
    };
    let mut accepting = Vec::new();
    if let Some(listener) = tcp {
        let place =
            listener.local_addr().map_err(|error| ServeError::Listen { place: "--http".into(), error })?;
        places.push(format!("http://{place}"));
        accepting.push(tokio::spawn(connections(Door::Tcp).accept(listener)));
    }
    if let Some((listener, file)) = &socket {
        places.push(file.0.display().to_string());
        accepting.push(tokio::spawn(connections(Door::Socket).accept(Arc::clone(listener))));
    }
    let looking = tokio::spawn({
        let front = Arc::clone(&front);
        async move { front.keep_looking().await }
    });
    ready(&places);
    let _ = stopped.wait_for(|stopped| *stopped).await; // whoever could stop it is gone, too
    accepting.iter().for_each(tokio::task::JoinHandle::abort);
    for ended in accepting {
        let _ = ended.await; // the port is free from here on
    }
    drop(socket);
    let ended = async {
        if let Some(doors) = Arc::into_inner(doors) {
            doors.shutdown().await; // nobody else has it since nothing is accepted
        }
    };
    if timeout(linger, ended).await.is_err() {
        tracing::warn!("connections that did not end are closed");
    }
    looking.abort();
    let _ = looking.await;
    front.finish().await;
    Ok(())
}

fn bind(address: SocketAddr) -> Result<TcpListener, ServeError> {
    let bound = || {
        let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        socket.listen(BACKLOG)
    };
    bound().map_err(|error| ServeError::Listen { place: address.to_string(), error })
}

/// The file of a UNIX socket, removed when it is dropped.
#[derive(Debug)]
struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0); // somebody else has, perhaps
    }
}

impl SocketFile {
    /// Listens at a path, for this user alone. A socket that is there is replaced if nobody listens at it.
    fn bind(path: &Path) -> Result<(Arc<UnixListener>, Self), ServeError> {
        let failed = |error| ServeError::Listen { place: path.display().to_string(), error };
        let private = || {
            let before = rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o177));
            let bound = UnixListener::bind(path);
            rustix::process::umask(before);
            bound
        };
        let bound = match private() {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && is_stale(path) => {
                std::fs::remove_file(path).map_err(failed)?;
                private()
            }
            bound => bound,
        };
        bound.map(|listener| (Arc::new(listener), Self(path.to_owned()))).map_err(failed)
    }
}

/// A socket at which nobody listens.
fn is_stale(path: &Path) -> bool {
    let is_socket = std::fs::symlink_metadata(path).is_ok_and(|data| data.file_type().is_socket());
    let refused = |error: io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
    is_socket && std::os::unix::net::UnixStream::connect(path).is_err_and(refused)
}

/// What connections come from.
trait Listen {
    type Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static;

    fn next(&self) -> impl Future<Output = io::Result<Self::Stream>> + Send;
}

impl Listen for TcpListener {
    type Stream = tokio::net::TcpStream;

    async fn next(&self) -> io::Result<Self::Stream> {
        let (stream, _) = self.accept().await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }
}

impl Listen for Arc<UnixListener> {
    type Stream = tokio::net::UnixStream;

    async fn next(&self) -> io::Result<Self::Stream> {
        Ok(self.accept().await?.0)
    }
}

/// The connections of one door.
struct Connections {
    router: Router,
    front: Arc<Front>,
    time: Duration,
    doors: Arc<GracefulShutdown>,
}

impl Connections {
    async fn accept(self, listener: impl Listen) {
        loop {
            let mut stream = match listener.next().await {
                Ok(stream) => stream,
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be taken");
                    sleep(REST).await;
                    continue;
                }
            };
            match self.front.connections.take(1) {
                Some(share) => self.keep(stream, share),
                None => {
                    tokio::spawn(async move {
                        let _ = timeout(REST, stream.write_all(TOO_MANY)).await; // whoever does not read it is closed all the same
                    });
                }
            }
        }
    }

    fn keep(&self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, share: Share) {
        let mut builder = http1::Builder::new();
        builder
            .timer(TokioTimer::new())
            .header_read_timeout(self.time)
            .max_buf_size(BUFFER)
            .max_header_size(BUFFER);
        let service = TowerToHyperService::new(self.router.clone());
        let connection = self.doors.watch(builder.serve_connection(TokioIo::new(stream), service));
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection has ended");
            }
            drop(share);
        });
    }
}

/// The answer to a connection that there is no room for.
const TOO_MANY: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 1\r\nconnection: close\r\n\
content-length: 67\r\n\r\n{\"error\":{\"code\":\"busy\",\"message\":\"too many connections are open\"}}";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_to_too_many_is_as_long_as_it_says() {
        let text = std::str::from_utf8(TOO_MANY).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("content-length: {}", body.len())), "{}", body.len());
        serde_json::from_str::<serde_json::Value>(body).unwrap();
    }
}
