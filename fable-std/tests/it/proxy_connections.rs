//! `fable proxy` before an upstream that ends connections without saying so: requests are not lost where that can be known, and never sent twice.

use crate::proxying::{CHAT, chat, completion, decision, said, start_before};
use fable_serve_tests::upstream::{self, Asked, json as answered, listen};
use serde_json::json;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

/// What the user said in a request.
fn words(asked: &Asked) -> String {
    asked.json()["messages"][0]["content"].as_str().unwrap().to_owned()
}

fn asking(number: usize) -> String {
    chat("ana", &[said("user", &format!("Explain tide {number}"))])
}

/// Keeps every core busy.
struct Busy(Arc<AtomicBool>);

impl Busy {
    fn start() -> Self {
        let over = Arc::new(AtomicBool::new(false));
        for _ in 0..thread::available_parallelism().map_or(2, usize::from) {
            let over = Arc::clone(&over);
            thread::spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        Self(over)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn connections_that_have_ended_cost_one_request_a_minute_at_most() {
    // Each connection ends after one answer, and it is told when that is done.
    let (told, tells) = channel();
    let told = Mutex::new(told);
    let address = listen(move |mut reader| {
        let asked = upstream::next(&mut reader)?;
        reader.get_mut().write_all(&answered(&completion("They rise and fall."))).ok()?;
        drop(reader);
        told.lock().ok()?.send(asked).ok()
    });
    let mut service = start_before(address, &["--patience", "20000"]);
    let mut client = service.connect();
    let busy = Busy::start();
    let (began, mut refused) = (Instant::now(), 0);
    for number in 0..100 {
        let answer = client.post(CHAT, &asking(number));
        if answer.status == 502 {
            refused += 1;
        } else {
            decision(&answer);
            assert_eq!(words(&tells.recv().unwrap()), format!("Explain tide {number}"));
        }
        // What is only passed on gets there sooner.
        let answer = client.post("/v1/embeddings", &json!({"input": number}).to_string());
        if answer.status == 502 {
            refused += 1;
        } else {
            assert_eq!(answer.status, 200, "{number}: {answer:?}");
            assert_eq!(tells.recv().unwrap().json(), json!({"input": number}));
        }
    }
    // On a busy machine a request may be quicker than the news of the end. After that no connection is kept for a minute.
    assert!(refused <= 1 + began.elapsed().as_secs() / 60, "{refused} of 200 were refused");
    drop(busy);
    assert!(tells.try_recv().is_err(), "something was sent twice");
    assert!(service.finish().success());
}

/// An upstream that answers one request on each connection, and ends it when the next one has come, which it may read before.
fn ends_under_requests(reads: bool) -> (std::net::SocketAddr, Receiver<String>) {
    let (told, tells) = channel();
    let told = Mutex::new(told);
    let address = listen(move |mut reader| {
        let asked = upstream::next(&mut reader)?;
        told.lock().ok()?.send(words(&asked)).ok()?;
        reader.get_mut().write_all(&answered(&completion("They rise and fall."))).ok()?;
        if reads {
            upstream::next(&mut reader).map(|_| ())
        } else {
            reader.get_ref().peek(&mut [0]).ok().map(|_| ())
        }
    });
    (address, tells)
}

#[test]
fn an_upstream_that_ends_a_connection_under_a_request_does_so_once() {
    for reads in [false, true] {
        let (address, tells) = ends_under_requests(reads);
        let mut service = start_before(address, &[]);
        let mut client = service.connect();
        let answers: Vec<u16> = (0..20).map(|number| client.post(CHAT, &asking(number)).status).collect();
        let (lost, kept): (Vec<usize>, Vec<usize>) = (0..20).partition(|number| answers[*number] == 502);
        assert_eq!(
            (lost.len(), answers.iter().filter(|status| **status == 200).count()),
            (1, 19),
            "{answers:?}"
        );
        // Whether it was read cannot be known here: it is not sent again. The others arrive once.
        let answered: Vec<String> = kept.iter().map(|number| format!("Explain tide {number}")).collect();
        assert_eq!(tells.try_iter().collect::<Vec<_>>(), answered);
        assert!(service.finish().success());
    }
}
