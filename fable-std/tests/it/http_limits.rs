//! `fable serve --http` under strain: too long, too slow, too many, and the end.

use fable_serve_tests::http::HttpService;
use serde_json::json;
use std::path::Path;
use std::time::{Duration, Instant};

fn start(arguments: &[&str]) -> HttpService {
    HttpService::start(
        Path::new(env!("CARGO_BIN_EXE_fable")),
        ["--catalog", "tau2"].iter().chain(arguments),
        &[],
    )
}

const DECIDE: &str = r#"{"user":"ana","context":{}}"#;

#[test]
fn a_body_has_a_mebibyte_and_no_more() {
    let mut service = start(&[]);
    let body = |length: usize| format!("{{\"id\":\"{}\"}}", "x".repeat(length - 9));
    let mut client = service.connect();
    let longest = client.post("/v1/stats", &body(1 << 20));
    assert_eq!(longest.status, 200);
    assert_eq!(client.post("/v1/stats", &body((1 << 20) + 1)).refusal(), (413, "too_long".into()));
    assert_eq!(service.connect().post("/feedback", &body(3 << 20)).refusal(), (413, "too_long".into()));
    // One that says nothing about its length.
    let mut client = service.connect();
    client.send(
        b"POST /v1/stats HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n",
    );
    let chunk = format!("{:x}\r\n{}\r\n", 1 << 19, "x".repeat(1 << 19));
    for _ in 0..3 {
        client.send(chunk.as_bytes());
    }
    client.send(b"0\r\n\r\n");
    assert_eq!(client.answer().unwrap().refusal(), (413, "too_long".into()));
    // A head that is too long is none.
    let mut client = service.connect();
    client.send(format!("GET /healthz HTTP/1.1\r\nx: {}\r\n\r\n", "x".repeat(100_000)).as_bytes());
    assert_eq!(client.answer().map(|answer| answer.status), Some(431));
    assert_eq!(service.connect().ask("GET", "/healthz").status, 200);
    assert!(service.finish().success());
}

/// Heads and bodies that come a byte at a time are given up, and nobody else waits for them.
#[test]
fn whoever_is_slow_is_given_up_and_stops_nobody() {
    let mut service = start(&["--http-timeout", "2"]);
    let began = Instant::now();
    let mut heads: Vec<_> = (0..100).map(|_| service.connect()).collect();
    let mut bodies: Vec<_> = (0..100).map(|_| service.connect()).collect();
    for head in &mut heads {
        head.send(b"POST /v1/decide HTTP/1.1\r\nhost: loc");
    }
    for body in &mut bodies {
        body.send(
            b"POST /v1/decide HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{",
        );
    }
    let mut client = service.connect();
    let mut answered = 0;
    while began.elapsed() < Duration::from_millis(2_500) {
        assert_eq!(client.post("/v1/decide", DECIDE).status, 200);
        answered += 1;
        if answered % 50 == 0 {
            for client in heads.iter_mut().chain(&mut bodies) {
                client.send(b" "); // some are closed by now
            }
        }
    }
    assert!(answered > 100, "{answered}");
    for mut head in heads {
        assert!(head.answer().is_none_or(|answer| answer.status == 408));
    }
    for mut body in bodies {
        assert_eq!(body.answer().unwrap().refusal(), (408, "timeout".into()));
    }
    assert!(began.elapsed() < Duration::from_secs(20));
    assert!(service.finish().success());
}

/// A thousand connections that do nothing cost nobody anything, stay, and go at the end.
#[test]
fn a_thousand_idle_connections_hurt_nobody() {
    let mut service = start(&[]);
    let mut idle: Vec<_> = (0..1_000).map(|_| service.connect()).collect();
    for client in &mut idle {
        assert_eq!(client.ask("GET", "/healthz").status, 200);
    }
    let mut client = service.connect();
    let began = Instant::now();
    for _ in 0..500 {
        assert_eq!(client.post("/v1/decide", DECIDE).status, 200);
    }
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    let counts = client.ask("GET", "/metrics").body;
    assert!(counts.contains("\nfable_http_connections 1001\n"), "{counts}");
    assert!(idle.iter_mut().step_by(100).all(|client| client.ask("GET", "/healthz").status == 200));
    let began = Instant::now();
    assert!(service.finish().success());
    assert!(began.elapsed() < Duration::from_secs(8), "idle connections do not keep it");
}

#[test]
fn what_is_too_much_is_told_to_come_again() {
    let mut service = start(&["--http-connections", "3"]);
    let mut kept: Vec<_> = (0..3).map(|_| service.connect()).collect();
    for client in &mut kept {
        assert_eq!(client.post("/v1/decide", DECIDE).status, 200);
    }
    let answer = service.connect().answer().unwrap();
    assert_eq!(answer.refusal(), (503, "busy".into()));
    assert_eq!(answer.header("retry-after"), Some("1"));
    kept.pop();
    let room = (0..500).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        service.connect().ask("GET", "/healthz").status == 200
    });
    assert!(room);
    assert!(service.finish().success());

    // No request may wait at all: each is refused, and has changed nothing.
    let mut service = start(&["--http-in-flight", "0"]);
    let mut client = service.connect();
    for (path, body) in [
        ("/v1/decide", DECIDE.to_owned()),
        (
            "/feedback",
            json!({"inference_id": "e6f79c19051ffb05-0-1", "metric_name": "reward", "value": 1}).to_string(),
        ),
    ] {
        let answer = client.post(path, &body);
        assert_eq!(answer.refusal(), (503, "busy".into()));
        assert_eq!(answer.header("retry-after"), Some("1"));
    }
    assert_eq!(client.ask("GET", "/healthz").status, 200);
    assert!(service.finish().success());
}

/// What was sent before the signal is answered, what was answered is on disk, and the port is free again.
#[test]
fn the_end_is_graceful() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("users.fable");
    let store = store.to_str().unwrap();
    let mut service = start(&["--store", store, "--http-timeout", "5"]);
    let address = service.address.clone();
    let (mut asking, mut idle) = (service.connect(), service.connect());
    assert_eq!(idle.ask("GET", "/healthz").status, 200);
    let mut half = service.connect();
    let head = format!(
        "POST /v1/decide HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        DECIDE.len()
    );
    half.send(head.as_bytes());
    half.send(&DECIDE.as_bytes()[..5]);
    let answered = std::thread::spawn(move || {
        let mut answered = 0_u64;
        loop {
            asking.send(format!("{head}{DECIDE}").as_bytes());
            let Some(answer) = asking.answer() else { return answered };
            assert_eq!(answer.status, 200);
            answered += 1;
            if answer.header("connection") == Some("close") {
                return answered;
            }
        }
    });
    std::thread::sleep(Duration::from_millis(300));
    service.signal("TERM");
    let refused = (0..500).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        std::net::TcpStream::connect(&address).is_err()
    });
    assert!(refused, "nothing is accepted any more");
    half.send(&DECIDE.as_bytes()[5..]);
    assert_eq!(half.answer().map(|answer| answer.status), Some(200), "what was under way is finished");
    let answered = answered.join().unwrap() + 1;
    assert!(service.wait().success());
    assert!(idle.answer().is_none());
    let mut service = start(&["--store", store]);
    let rounds =
        service.connect().post("/v1/posterior", r#"{"user":"ana"}"#).json()["rounds"].as_u64().unwrap();
    assert!(answered > 1 && rounds == answered, "{rounds} {answered}");
    assert!(service.finish().success());
}

/// Whoever sends no end of a body does not keep the service from ending.
#[test]
fn the_end_does_not_wait_for_ever() {
    let mut service = start(&["--http-timeout", "2"]);
    let mut client = service.connect();
    client.send(b"POST /v1/decide HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 10\r\n\r\n{");
    std::thread::sleep(Duration::from_millis(100));
    let began = Instant::now();
    assert!(service.finish().success());
    assert!(began.elapsed() < Duration::from_secs(8));
    assert_eq!(client.answer().unwrap().refusal(), (408, "timeout".into()));
}
