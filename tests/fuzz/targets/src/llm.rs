//! Any answer of a model is usable or is dropped as a whole: then the rules stand in.
//! Everything that is used is valid, and no prohibition that the rules read gets lost.

use fable_core::Context;
use fable_core::catalog::AGENT;
use fable_core::settings::{ONBOARDING_PRECISION, REWARD};
use fable_std::llm::{Endpoint, Llm};
use fable_std::store::wishes::{Wishes, decode};
use fable_std::text::{
    Constraint, Feedback, Onboarding, PreferenceText, Reaction, RequestText, Rules, Situation,
};
use fable_std::text::{ContextAdapter, FeedbackAdapter, OnboardingAdapter};
use serde_json::json;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{LazyLock, Mutex};
use std::thread;
use std::time::Duration;

const SAID: &str = "In code I adore brevity.  Keep your hands off my documents, and never search the web!";

/// The next answer of the server on this machine.
static ANSWER: Mutex<Vec<u8>> = Mutex::new(vec![]);

static MODEL: LazyLock<Llm> = LazyLock::new(|| {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            thread::spawn(|| serve(stream.unwrap()));
        }
    });
    Llm::new(Endpoint { timeout: Duration::from_mins(1), ..Endpoint::new(url, "fuzz") }, None).unwrap()
});

/// The same words as the rules read them.
static RULES: LazyLock<(Context, Option<Feedback>, Onboarding)> = LazyLock::new(|| {
    let context = Rules.context(&AGENT, Situation::new(RequestText::new(SAID))).unwrap().value;
    let onboarding = Rules.onboarding(&AGENT, PreferenceText::new(SAID)).unwrap().value;
    assert!(!onboarding.constraints.is_empty());
    (context, Rules.feedback(Reaction::new(SAID)).value, onboarding)
});

/// Answers until the client hangs up.
fn serve(stream: TcpStream) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let mut stream = BufReader::new(stream);
    loop {
        let (mut line, mut length) = (String::new(), 0);
        while line != "\r\n" {
            line.clear();
            stream.read_line(&mut line).ok().filter(|read| *read > 0)?;
            if let Some(number) = line.to_ascii_lowercase().strip_prefix("content-length: ") {
                length = number.trim().parse().ok()?;
            }
        }
        stream.read_exact(&mut vec![0; length]).ok()?;
        let body = ANSWER.lock().unwrap();
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
        stream.get_mut().write_all(&[head.as_bytes(), &body].concat()).ok()?;
    }
}

/// True if the rules stood in because of the answer. It must not be because of the line.
fn is_dropped(fallback: Option<&String>) -> bool {
    assert!(
        fallback.is_none_or(|reason| !reason.contains("reached") && !reason.contains("in time")),
        "{fallback:?}"
    );
    fallback.is_some()
}

/// The first byte says who is asked. It also says if the rest is the model's text or all that the
/// server sends.
pub fn llm(data: &[u8]) {
    let Some((who, answer)) = data.split_first() else { return };
    *ANSWER.lock().unwrap() = if who & 4 == 0 {
        json!({ "choices": [{ "message": { "content": String::from_utf8_lossy(answer) } }] })
            .to_string()
            .into_bytes()
    } else {
        answer.to_vec()
    };
    let (context, feedback, onboarding) = &*RULES;
    match who & 3 {
        0 => {
            let read = MODEL.context(&AGENT, Situation::new(RequestText::new(SAID))).unwrap();
            assert!(!is_dropped(read.fallback.as_ref()) || read.value == *context);
            assert!(read.value.signals().iter().all(|level| (0.0..=1.0).contains(level)));
        }
        1 => {
            let read = MODEL.feedback(Reaction::new(SAID));
            assert!(!is_dropped(read.fallback.as_ref()) || read.value == *feedback);
            assert!(read.value.is_none_or(|feedback| REWARD.contains(feedback.reward())));
        }
        2 => {
            let read = MODEL.onboarding(&AGENT, PreferenceText::new(SAID)).unwrap();
            assert!(!is_dropped(read.fallback.as_ref()) || read.value == *onboarding);
            let even = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
            for preference in &read.value.preferences {
                let statement = preference.statement(&AGENT).unwrap();
                assert!(
                    REWARD.contains(statement.response) && ONBOARDING_PRECISION.contains(statement.precision)
                );
                assert!(even(SAID).contains(&even(&preference.words)) && !preference.words.is_empty());
            }
            let kept = &read.value.constraints;
            let says = |one: &Constraint| (one.effect, one.component, one.values.clone(), one.when);
            assert!(
                onboarding.constraints.iter().all(|own| kept.iter().any(|other| says(other) == says(own)))
            );
            assert!(kept.iter().all(|constraint| even(SAID).contains(&even(&constraint.words))));
            let document = Wishes { rules: kept.clone(), ..Wishes::default() }.encode(&AGENT).unwrap();
            assert_eq!(decode(&AGENT, &document).unwrap(), *kept);
        }
        _ => match MODEL.answer("", [], SAID) {
            Ok(text) => assert!(!text.is_empty() && text == text.trim()),
            Err(error) => _ = is_dropped(Some(&error.to_string())),
        },
    }
}
