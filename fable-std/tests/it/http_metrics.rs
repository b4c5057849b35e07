//! Metrics over HTTP: what they are worth, how they wait for others, and what survives.

use fable_serve_tests::http::{Client, HttpService};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

fn start(arguments: &[&str]) -> HttpService {
    HttpService::start(
        Path::new(env!("CARGO_BIN_EXE_fable")),
        ["--catalog", "tau2"].iter().chain(arguments),
        &[],
    )
}

/// The id of a new decision for somebody.
fn decide(client: &mut Client<impl std::io::Read + std::io::Write>, user: &str) -> String {
    let answer = client.post("/v1/decide", &json!({"user": user, "context": {}}).to_string());
    answer.json()["decision"].as_str().unwrap_or_else(|| panic!("{answer:?}")).to_owned()
}

#[test]
fn metrics_become_rewards() {
    let mut service = start(&[]);
    let mut client = service.connect();
    let mut say = |body: Value| client.post("/feedback", &body.to_string());
    let mut other = service.connect();
    let first = decide(&mut other, "ana");
    for (body, status, code) in [
        (json!({"metric_name": "reward", "value": 1}), 400, "bad_request"),
        (
            json!({"inference_id": first, "episode_id": first, "metric_name": "reward", "value": 1}),
            400,
            "bad_request",
        ),
        (json!({"inference_id": first, "metric_name": "reward", "value": 1, "extra": 1}), 400, "bad_request"),
        (json!({"inference_id": first, "metric_name": "reward", "value": [1]}), 400, "bad_request"),
        (json!({"inference_id": first, "metric_name": "reward", "value": true}), 400, "bad_request"),
        (
            json!({"inference_id": first, "metric_name": "reward", "value": 1, "tags": {"a": 1}}),
            400,
            "bad_request",
        ),
        (json!({"inference_id": first, "metric_name": "stars", "value": 1}), 422, "unknown_name"),
        (json!({"inference_id": "e6f79c19", "metric_name": "reward", "value": 1}), 404, "unknown_decision"),
        (
            json!({"inference_id": "e6f79c19051ffb05-0-9", "metric_name": "reward", "value": 1}),
            404,
            "unknown_decision",
        ),
        (
            json!({"inference_id": "e6f79c19051ffb05-0-9", "metric_name": "reward", "value": 1, "dryrun": true}),
            404,
            "unknown_decision",
        ),
    ] {
        assert_eq!(say(body.clone()).refusal(), (status, code.to_owned()), "{body}");
    }
    let observations = |other: &mut Client<_>| {
        other.post("/v1/posterior", r#"{"user":"ana"}"#).json()["observations"].clone()
    };
    let dry = say(
        json!({"inference_id": first, "metric_name": "reward", "value": 0.5, "dryrun": true, "tags": {"a": "b"}}),
    );
    assert_eq!((dry.status, &dry.json()["reward"]), (200, &json!(0.5)), "{dry:?}");
    let silent = say(
        json!({"inference_id": first, "metric_name": "comment", "value": "now translate it into French"}),
    );
    assert_eq!((silent.status, &silent.json()["reward"]), (200, &json!(null)), "{silent:?}");
    assert_eq!(observations(&mut other), 0);
    let learned = say(
        json!({"episode_id": first, "inference_id": null, "metric_name": "comment", "value": "thanks, that's perfect"}),
    );
    assert!(learned.json()["reward"].as_f64() > Some(0.8), "{learned:?}");
    let id = learned.json()["feedback_id"].as_str().unwrap().to_owned();
    let earlier = dry.json()["feedback_id"].as_str().unwrap().to_owned();
    assert!(
        id.len() == 36 && id.as_bytes()[14] == b'7' && id[..13] >= earlier[..13] && id != earlier,
        "{earlier} {id}"
    );
    assert_eq!(observations(&mut other), 1);
    for dryrun in [true, false] {
        let again =
            say(json!({"inference_id": first, "metric_name": "reward", "value": 1, "dryrun": dryrun}));
        assert_eq!(again.refusal(), (409, "duplicate_feedback".into()));
    }
    assert!(service.finish().success());
}

const WAITING: &str = r#"
[reward]
required = ["solved", "seconds"]
wait = WAIT
[metrics.solved]
kind = "boolean"
[metrics.seconds]
kind = "float"
range = [0, 30]
better = "lower"
"#;

/// Metrics wait for others: until they come, until time is up, or until the end.
#[test]
fn metrics_wait_for_others() {
    let folder = tempfile::tempdir().unwrap();
    let (file, store) = (folder.path().join("metrics.toml"), folder.path().join("users.fable"));
    let (file, store) = (file.to_str().unwrap(), store.to_str().unwrap());
    std::fs::write(file, WAITING.replace("WAIT", "1")).unwrap();
    let mut service = start(&["--metrics", file, "--store", store]);
    let mut client = service.connect();
    let say = |client: &mut Client<_>, id: &str, metric: &str, value: Value| {
        client.post(
            "/feedback",
            &json!({"inference_id": id, "metric_name": metric, "value": value}).to_string(),
        )
    };
    let observations = |client: &mut Client<_>, user: &str| {
        client.post("/v1/posterior", &json!({"user": user}).to_string()).json()["observations"]
            .as_u64()
            .unwrap()
    };
    let ana = decide(&mut client, "ana");
    assert_eq!(say(&mut client, &ana, "seconds", json!(7.5)).json()["pending"], json!(["solved"]));
    assert_eq!(say(&mut client, &ana, "seconds", json!(7.5)).refusal(), (409, "duplicate_feedback".into()));
    assert_eq!(observations(&mut client, "ana"), 0);
    assert_eq!(say(&mut client, &ana, "solved", json!(true)).json()["reward"], json!(0.75));
    assert_eq!(observations(&mut client, "ana"), 1);
    assert_eq!(
        say(&mut client, &ana, "comment", json!("perfect")).refusal(),
        (409, "duplicate_feedback".into())
    );
    assert_eq!(
        say(&mut client, "e6f79c19051ffb05-0-9", "solved", json!(true)).refusal(),
        (404, "unknown_decision".into())
    );
    // Time is up.
    let ben = decide(&mut client, "ben");
    assert_eq!(say(&mut client, &ben, "solved", json!(false)).json()["pending"], json!(["seconds"]));
    let learned = (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        observations(&mut client, "ben") == 1
    });
    assert!(learned);
    assert!(service.finish().success());

    std::fs::write(file, WAITING.replace("WAIT", "600")).unwrap();
    let mut service = start(&["--metrics", file, "--store", store]);
    let mut client = service.connect();
    let eva = decide(&mut client, "eva");
    assert_eq!(say(&mut client, &eva, "solved", json!(true)).json()["pending"], json!(["seconds"]));
    assert!(service.finish().success());
    let mut service = start(&["--store", store]);
    assert_eq!(observations(&mut service.connect(), "eva"), 1);
    assert!(service.finish().success());
}

/// What was answered with a reward is there after `kill -9`; what was said to be pending is not.
#[test]
fn a_reward_that_was_answered_survives_and_a_pending_one_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let (file, store) = (folder.path().join("metrics.toml"), folder.path().join("users.fable"));
    let (file, store) = (file.to_str().unwrap(), store.to_str().unwrap());
    std::fs::write(file, WAITING.replace("WAIT", "600")).unwrap();
    let mut service = start(&["--metrics", file, "--store", store]);
    let mut client = service.connect();
    for round in 1..=20 {
        let decision = decide(&mut client, "ana");
        for (metric, value, key) in [("solved", json!(true), "pending"), ("seconds", json!(round), "reward")]
        {
            let said =
                json!({"inference_id": decision, "metric_name": metric, "value": value, "dryrun": true});
            let dry = client.post("/feedback", &said.to_string()).json();
            let said = json!({"inference_id": decision, "metric_name": metric, "value": value});
            let answer = client.post("/feedback", &said.to_string()).json();
            assert!(answer.get(key).is_some() && answer[key] == dry[key], "{answer} {dry}");
        }
    }
    let last = decide(&mut client, "ana");
    let said = json!({"inference_id": last, "metric_name": "solved", "value": true}).to_string();
    assert_eq!(client.post("/feedback", &said).json()["pending"], json!(["seconds"]));
    service.signal("KILL");
    assert!(!service.wait().success());
    let mut service = start(&["--metrics", file, "--store", store]);
    let mut client = service.connect();
    let posterior = client.post("/v1/posterior", r#"{"user":"ana"}"#).json();
    assert_eq!((&posterior["rounds"], &posterior["observations"]), (&json!(21), &json!(20)));
    assert_eq!(client.post("/feedback", &said).json()["pending"], json!(["seconds"]), "it can be said again");
    assert!(service.finish().success());
}
