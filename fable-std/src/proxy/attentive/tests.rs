//! A kept connection has ended, the system knows it, and the runtime has had no time to hear of it: no request is lost.

use super::Connector;
use crate::proxy::upstream::Upstream;
use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt;
use hyper_rustls::HttpsConnectorBuilder;
use hyper_util::client::legacy::connect::HttpConnector;
use ring::rand::SystemRandom;
use ring::signature::Ed25519KeyPair;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::server::AlwaysResolvesServerRawPublicKeys;
use rustls::sign::CertifiedKey;
use rustls::{
    ClientConfig, DigitallySignedStruct, ServerConfig, ServerConnection, SignatureScheme, StreamOwned,
};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

const ROUNDS: usize = 50;

/// What a server speaks, and how it ends a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Plain,
    /// TLS, and the connection below ends.
    Silent,
    /// TLS, whose end is announced on a connection that stays.
    Announced,
}

/// Somebody who ends connections when it is asked for, and says when that is done.
struct Server {
    ending: Ending,
    tls: Arc<ServerConfig>,
    end: Receiver<()>,
    /// Gets the number of requests so far.
    ended: Sender<usize>,
}

impl Server {
    /// Answers one request on each connection, until nobody asks for an end.
    fn serve(self, listener: &TcpListener) -> Option<()> {
        let mut kept = Vec::new();
        for count in 1.. {
            let (stream, _) = listener.accept().ok()?;
            stream.set_nodelay(true).ok()?; // what is written has come
            if self.ending == Ending::Plain {
                let reader = answer(stream)?;
                self.end.recv().ok()?;
                drop(reader);
            } else {
                let session = ServerConnection::new(Arc::clone(&self.tls)).ok()?;
                let mut stream = answer(StreamOwned::new(session, stream))?.into_inner();
                self.end.recv().ok()?;
                if self.ending == Ending::Announced {
                    stream.conn.send_close_notify();
                    stream.flush().ok()?;
                    kept.push(stream);
                }
            }
            self.ended.send(count).ok()?;
        }
        None
    }
}

/// Answers one request.
fn answer<S: Read + Write>(stream: S) -> Option<BufReader<S>> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    while line != "\r\n" {
        line.clear();
        reader.read_line(&mut line).ok().filter(|count| *count > 0)?;
    }
    reader.read_exact(&mut [0; 4]).ok()?;
    reader.get_mut().write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").ok()?;
    reader.get_mut().flush().ok()?;
    Some(reader)
}

/// A client that trusts whoever has a key: there are no certificates here.
#[derive(Debug)]
struct Anybody;

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Err(rustls::Error::General("keys alone are of TLS 1.3".into()))
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}

/// Both ends of TLS with a new key.
fn tls() -> (Arc<ServerConfig>, ClientConfig) {
    let provider = Arc::new(default_provider());
    let key = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
    let key = PrivatePkcs8KeyDer::from(key.as_ref().to_vec()).into();
    let key = provider.key_provider.load_private_key(key).unwrap();
    let public = CertificateDer::from(key.public_key().unwrap().to_vec());
    let keys = AlwaysResolvesServerRawPublicKeys::new(Arc::new(CertifiedKey::new(vec![public], key)));
    let server = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[&rustls::version::TLS13]);
    let server = server.unwrap().with_no_client_auth().with_cert_resolver(Arc::new(keys));
    let client = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap();
    let client = client.dangerous().with_custom_certificate_verifier(Arc::new(Anybody)).with_no_client_auth();
    (Arc::new(server), client)
}

/// Every request is answered, and none arrives twice.
fn rounds(ending: Ending) {
    let (tls, trust) = tls();
    let ((asks, end), (ended, tells)) = (channel(), channel());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let scheme = if ending == Ending::Plain { "http" } else { "https" };
    let address = format!("{scheme}://{}", listener.local_addr().unwrap()).parse().unwrap();
    thread::spawn(move || Server { ending, tls, end, ended }.serve(&listener));

    let mut http = HttpConnector::new();
    http.enforce_http(false);
    let connector = HttpsConnectorBuilder::new().with_tls_config(trust).https_or_http().enable_http1();
    let upstream = Upstream::over(connector.wrap_connector(Connector(http)), address, Duration::from_mins(1));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        for round in 0..ROUNDS {
            let (parts, ()) = Request::post("/").body(()).unwrap().into_parts();
            let answer = upstream.send(parts, Body::from("body"), false).await;
            let answer = answer.unwrap_or_else(|lost| panic!("{ending:?}, round {round}: {lost:?}"));
            assert_eq!(answer.into_body().collect().await.unwrap().to_bytes(), "ok");
            for _ in 0..8 {
                tokio::task::yield_now().await; // until the connection is among those that are used again
            }
            asks.send(()).unwrap();
            assert_eq!(tells.recv(), Ok(round + 1)); // nothing else runs on this thread meanwhile
        }
    });
}

#[test]
fn an_end_is_found_before_a_request_is_written() {
    rounds(Ending::Plain);
}

#[test]
fn an_end_below_tls_is_found() {
    rounds(Ending::Silent);
}

#[test]
fn an_end_that_tls_announces_is_found() {
    rounds(Ending::Announced);
}
