//! `fable proxy` where answers are long, bodies slow, and people go away: time and memory are bounded, and nobody else notices.

use crate::proxying::{
    CHAT, Connection, bypassed, chat, completion, decision, observations, op, parrot, rounds, said, start,
    start_before,
};
use fable_core::Settings;
use fable_core::catalog::AGENT;
use fable_serve_tests::upstream::{self, Upstream, json as answered, listen};
use fable_std::proxy::{self, serve_proxy};
use fable_std::serve::http::{HttpOptions, HttpStop};
use fable_std::serve::{Options, Service};
use fable_std::text::Rules;
use serde_json::json;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

/// An answer in chunks.
fn chunked(kind: &str, body: &str) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n");
    let chunks = body.as_bytes().chunks(1 << 20);
    let chunks = chunks.map(|chunk| [format!("{:x}\r\n", chunk.len()).as_bytes(), chunk, b"\r\n"].concat());
    [head.into_bytes()].into_iter().chain(chunks).chain([b"0\r\n\r\n".to_vec()]).flatten().collect()
}

#[test]
fn a_long_answer_goes_on_as_it_is() {
    let long = completion(&"word ".repeat((9 << 20) / 5)).to_string();
    let sent = long.clone();
    let upstream = Upstream::start(move |_| chunked("application/json", &sent));
    let mut service = start(&upstream, &[]);
    let mut client = service.connect();
    let asked = chat("ana", &[said("user", "Tell me everything")]);
    let answer = client.post(CHAT, &asked);
    let first = decision(&answer);
    assert!(answer.body == long, "{} bytes instead of {}", answer.body.len(), long.len());
    // It was an answer: the same again is another turn.
    assert_ne!(decision(&client.post(CHAT, &asked)), first);
    assert!(service.finish().success());
}

/// Stops a service in the end.
struct Ends(HttpStop);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.stop();
    }
}

#[test]
fn answers_have_so_much_memory_together_and_go_on_without_it() {
    let upstream = parrot("Hello.");
    let http = HttpOptions { address: Some("127.0.0.1:0".parse().unwrap()), ..HttpOptions::default() };
    let address = format!("http://{}", upstream.address).parse().unwrap();
    let options = proxy::Options { answers: 64, ..proxy::Options::new(address) };
    let settings = Settings {
        context_adapter: Rules::CONTEXT,
        feedback_adapter: Rules::FEEDBACK,
        ..Settings::default()
    };
    let stop = HttpStop::default();
    let (places, place) = channel();
    std::thread::scope(|scope| {
        let (stopping, stop) = (stop.clone(), &stop);
        scope.spawn(move || {
            let address: String = place.recv().unwrap();
            let _ends = Ends(stopping); // whatever happens
            let stream = TcpStream::connect(address.strip_prefix("http://").unwrap()).unwrap();
            stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
            let mut client = Connection::over(stream);
            let asked = chat("ana", &[said("user", "hi")]);
            let answers = [client.post(CHAT, &asked), client.post(CHAT, &asked)];
            let ids = answers.map(|answer| {
                assert_eq!(answer.json(), completion("Hello."));
                decision(&answer)
            });
            assert_ne!(ids[0], ids[1]);
        });
        Service::run::<f64>(&AGENT, settings, &Options::default(), |service| {
            serve_proxy(service, http, options, stop, move |listening| {
                places.send(listening[0].clone()).unwrap();
            })
        })
        .unwrap();
    });
}

#[test]
fn a_request_that_its_sender_gave_up_is_the_same_turn_again() {
    // The first two requests are not answered; it is told when they are there, and when nobody waits for them any more.
    let (count, (told, tells)) = (AtomicUsize::new(0), channel());
    let told = Mutex::new(told);
    let address = listen(move |mut reader| {
        loop {
            upstream::next(&mut reader)?;
            if count.fetch_add(1, Ordering::SeqCst) < 2 {
                told.lock().ok()?.send("asked").ok()?;
                assert_eq!(reader.read(&mut [0]).unwrap_or(0), 0);
                return told.lock().ok()?.send("gone").ok();
            }
            reader.get_mut().write_all(&answered(&completion("They rise and fall."))).ok()?;
        }
    });
    let mut service = start_before(address, &[]);
    let asked = chat("ana", &[said("user", "Explain tides")]);
    for _ in 0..2 {
        let mut client = service.connect();
        client.begin(CHAT, &asked);
        assert_eq!(tells.recv(), Ok("asked"));
        drop(client);
        assert_eq!(tells.recv(), Ok("gone"));
    }
    let mut client = service.connect();
    decision(&client.post(CHAT, &asked));
    assert_eq!(rounds(&mut client, "ana"), 1);
    assert!(service.finish().success());
}

#[test]
fn slow_bodies_take_nothing_from_others_and_go_on_as_they_come() {
    let (heads, head) = channel();
    let heads = Mutex::new(heads);
    let address = listen(move |mut reader| {
        loop {
            let (head, length) = upstream::head(&mut reader)?;
            heads.lock().ok()?.send(head).ok()?;
            reader.read_exact(&mut vec![0; length]).ok()?;
            reader.get_mut().write_all(&answered(&completion("Hello."))).ok()?;
        }
    });
    let mut service = start_before(address, &["--http-timeout", "1"]);
    let slow: Vec<TcpStream> = (0..20)
        .map(|_| {
            let mut stream = TcpStream::connect(&service.address).unwrap();
            let head =
                format!("POST {CHAT} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n");
            stream.write_all(format!("{head}content-length: {}\r\n\r\n{{", 16 << 20).as_bytes()).unwrap();
            stream
        })
        .collect();
    let mut client = service.connect();
    decision(&client.post(CHAT, &chat("ana", &[said("user", "Explain tides")])));
    drop(slow);

    // What is late is passed on while it comes, and answered.
    let asked = chat("slow", &[said("user", "Explain tides")]);
    let (begun, rest) = asked.split_at(9);
    let mut client = service.connect();
    let length = asked.len();
    client.send(
        format!(
            "POST {CHAT} HTTP/1.1\r\nhost: localhost\r\nx-late: 1\r\ncontent-length: {length}\r\n\r\n{begun}"
        )
        .as_bytes(),
    );
    while !head.recv().unwrap().contains("x-late") {}
    client.send(rest.as_bytes());
    let answer = client.answer().unwrap();
    assert_eq!((answer.status, bypassed(&answer)), (200, "the body takes too long"));
    assert!(service.finish().success());
}

#[test]
fn kinds_of_answers_are_told_apart() {
    let upstream =
        Upstream::start(|_| chunked("Application/JSON; charset=utf-8", &completion("Hello.").to_string()));
    let mut service = start(&upstream, &[]);
    let mut client = service.connect();
    let asked = chat("ana", &[said("user", "hi")]);
    assert!(client.post(CHAT, &asked).json()["fable"]["decision"].is_string());
    assert!(service.finish().success());

    // A sequence of texts is no JSON text: its first piece is there before the upstream has ended.
    let (seen, go_on) = channel::<()>();
    let go_on = Mutex::new(go_on);
    let address = listen(move |mut reader| {
        upstream::next(&mut reader)?;
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json-seq\r\ntransfer-encoding: chunked\r\n\r\n3\r\none\r\n";
        reader.get_mut().write_all(head.as_bytes()).ok()?;
        go_on.lock().ok()?.recv().ok()?;
        reader.get_mut().write_all(b"3\r\ntwo\r\n0\r\n\r\n").ok()
    });
    let mut service = start_before(address, &[]);
    let mut stream = TcpStream::connect(&service.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    let length = asked.len();
    write!(stream, "POST {CHAT} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{asked}")
        .unwrap();
    let mut come = Vec::new();
    while !come.ends_with(b"one\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).expect("the first piece");
        come.push(byte[0]);
    }
    seen.send(()).unwrap();
    stream.read_to_end(&mut come).unwrap();
    assert!(come.ends_with(b"3\r\ntwo\r\n0\r\n\r\n"), "{}", String::from_utf8_lossy(&come));
    assert!(service.finish().success());
}

#[test]
fn who_is_forgotten_while_an_answer_is_under_way_stays_forgotten() {
    let ((asked, under_way), (go, go_on)) = (channel::<()>(), channel::<()>());
    let (asked, go_on) = (Mutex::new(asked), Mutex::new(go_on));
    let address = listen(move |mut reader| {
        loop {
            upstream::next(&mut reader)?;
            asked.lock().ok()?.send(()).ok()?;
            go_on.lock().ok()?.recv().ok()?;
            reader.get_mut().write_all(&answered(&completion("Noted."))).ok()?;
        }
    });
    let mut service = start_before(address, &["--memory"]);
    let (mut client, mut other) = (service.connect(), service.connect());
    let mut messages = vec![said("user", "My pin is 9999")];
    let mut kept = Vec::new();
    for forgets in [true, false] {
        client.begin(CHAT, &chat("ana", &messages));
        under_way.recv().unwrap();
        if forgets {
            assert_eq!(op(&mut other, "forget", &json!({"user": "ana"})), json!({"forgotten": true}));
        }
        go.send(()).unwrap();
        decision(&client.answer().unwrap());
        let exchanges = op(&mut other, "memories", &json!({"user": "ana"}))["exchanges"].take();
        kept.push(
            exchanges
                .as_array()
                .unwrap()
                .iter()
                .map(|exchange| exchange["request"].to_string())
                .collect::<Vec<_>>(),
        );
        // Whoever comes back is somebody new, and what they said before is no longer known.
        messages.extend([said("assistant", "Noted."), said("user", "thanks, that's perfect")]);
    }
    assert_eq!(kept, [vec![], vec!["\"thanks, that's perfect\"".to_owned()]]);
    assert_eq!((observations(&mut other, "ana"), rounds(&mut other, "ana")), (0, 1));
    assert!(service.finish().success());
}
