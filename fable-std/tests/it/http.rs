//! `fable serve --http`: every op as over a pipe, metrics of decisions, who may do what, and what is told about it.

use fable_core::{Settings, catalog};
use fable_serve_tests::http::{Client, HttpService};
use fable_serve_tests::oracle::Oracle;
use fable_serve_tests::script::{Script, compare};
use fable_serve_tests::service::Service;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const DECIDES: &str = "a-token-to-decide";
const ALL: &str = "a-token-for-everything";

fn fable() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_fable"))
}

fn start(arguments: &[&str]) -> HttpService {
    HttpService::start(fable(), ["--catalog", "tau2", "--scalar", "f64"].iter().chain(arguments), &[])
}

/// The id of a new decision for somebody.
fn decide(client: &mut Client<impl std::io::Read + std::io::Write>, user: &str) -> String {
    let answer = client.post("/v1/decide", &json!({"user": user, "context": {}}).to_string());
    answer.json()["decision"].as_str().unwrap_or_else(|| panic!("{answer:?}")).to_owned()
}

/// Learners that are driven directly know what has to be answered; so does a service over a pipe, byte for byte.
#[test]
fn every_op_is_answered_as_over_a_pipe() {
    let settings = Settings { seed: 7, ..Settings::default() };
    let (mut oracle, mut script) =
        (Oracle::<f64>::new(&catalog::TAU2, settings), Script::new(11, 6, 100).with_memory());
    let mut service = start(&["--seed", "7", "--cache", "30000", "--memory"]);
    let mut pipe = Service::start(
        fable(),
        ["--catalog", "tau2", "--scalar", "f64", "--seed", "7", "--cache", "30000", "--memory"],
    );
    let (mut client, mut line) = (service.connect(), String::new());
    let mut outcomes: BTreeMap<(String, u16), u32> = BTreeMap::new();
    for number in 0..2_000 {
        let step = script.step(&mut oracle);
        let mut request = step.json(&catalog::TAU2);
        let expected = step.play(&mut oracle);
        request["id"] = json!({"number": number});
        pipe.send(format!("{request}\n").into_bytes());
        let op = request.as_object_mut().unwrap().remove("op").unwrap().as_str().unwrap().to_owned();
        let answer = client.post(&format!("/v1/{op}"), &request.to_string());
        assert!(pipe.answer(&mut line));
        assert_eq!(answer.body, line.trim_end(), "{op} {request}");
        let mut said = answer.json();
        assert_eq!(said.as_object_mut().unwrap().remove("id"), Some(json!({"number": number})));
        compare(&expected, &said).unwrap_or_else(|message| panic!("{op} {request}\n{message}"));
        assert_eq!(answer.status == 200, expected.is_ok(), "{answer:?}");
        assert_eq!(answer.header("content-type"), Some("application/json"));
        *outcomes.entry((op, answer.status)).or_default() += 1;
    }
    let seen = |status| outcomes.keys().filter(|(_, own)| *own == status).count();
    assert_eq!(seen(200), 17, "{outcomes:?}");
    assert!(seen(404) >= 2 && seen(409) >= 2 && seen(422) >= 2, "{outcomes:?}");
    assert_eq!(client.post("/v1/stats", "{}").body, pipe.ask(r#"{"op":"stats"}"#).to_string());
    assert!(service.finish().success());
}

#[test]
fn a_backup_is_made_and_told_about() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let mut service = start(&["--store", &path("users.fable")]);
    let mut client = service.connect();
    decide(&mut client, "ana");
    assert_eq!(client.post("/v1/backup", "{}").refusal(), (400, "bad_request".into()));
    let begun = client.post("/v1/backup", &json!({"file": path("copy.fable")}).to_string());
    assert_eq!((begun.status, &begun.json()["backup"]), (200, &json!(path("copy.fable"))));
    let mut done = json!(null);
    for _ in 0..1_000 {
        done = client.post("/v1/backup", "{}").json();
        if done["state"] != "running" {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!((&done["state"], &done["users"]), (&json!("done"), &json!(1)), "{done}");
    assert!(service.finish().success());
}

#[test]
fn what_cannot_be_asked_has_its_status_and_code() {
    let mut service = start(&[]);
    let mut client = service.connect();
    let posted = [
        ("/v1/decide", "", 400, "bad_json"),
        ("/v1/decide", "[]", 400, "bad_json"),
        ("/v1/decide", "{\"user\":", 400, "bad_json"),
        ("/v1/decide", "{}", 400, "bad_request"),
        ("/v1/decide", r#"{"op":"decide","user":"ana","context":{}}"#, 400, "bad_request"),
        ("/v1/decide", r#"{"user":"ana","context":{},"reward":1}"#, 400, "bad_request"),
        ("/v1/decide", r#"{"user":"","context":{}}"#, 422, "out_of_range"),
        ("/v1/decide", r#"{"user":"ana","context":{"moon":1}}"#, 422, "unknown_name"),
        ("/v1/decide", r#"{"user":"ana","context":{},"only":[]}"#, 422, "infeasible"),
        ("/v1/feedback", r#"{"decision":"e6f79c19051ffb05-0-1","reward":0}"#, 404, "unknown_decision"),
        ("/v1/stats", r#"{"user":"ana"}"#, 400, "bad_request"),
        ("/v1/nothing", "{}", 404, "not_found"),
        ("/v1/decide/", "{}", 404, "not_found"),
        ("/v1", "{}", 404, "not_found"),
    ];
    for (path, body, status, code) in posted {
        assert_eq!(client.post(path, body).refusal(), (status, code.to_owned()), "{path} {body}");
    }
    for (method, path, allowed) in
        [("GET", "/v1/decide", "POST"), ("DELETE", "/feedback", "POST"), ("PUT", "/metrics", "GET,HEAD")]
    {
        let answer = client.ask(method, path);
        assert_eq!(answer.refusal(), (405, "method_not_allowed".into()));
        assert_eq!(answer.header("allow"), Some(allowed));
    }
    for kind in ["", "content-type: text/plain\r\n", "content-type: application/x-www-form-urlencoded\r\n"] {
        let request =
            format!("POST /v1/stats HTTP/1.1\r\nhost: localhost\r\n{kind}content-length: 2\r\n\r\n{{}}");
        assert!(client.send(request.as_bytes()));
        assert_eq!(client.answer().unwrap().refusal(), (415, "unsupported_media_type".into()), "{kind}");
    }
    // A page of the web whose name was made to lead here.
    client.send(b"GET /openapi.json HTTP/1.1\r\nhost: rebound.example.com\r\n\r\n");
    assert_eq!(client.answer().unwrap().refusal(), (403, "forbidden".into()));
    // In pieces, and with the id of whoever asks even where nothing else can be read.
    let chunked = "POST /v1/stats HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n";
    client.send(format!("{chunked}6\r\n{{\"id\":\r\n3\r\n[1]\r\n1\r\n}}\r\n0\r\n\r\n").as_bytes());
    assert_eq!(client.answer().unwrap().json()["id"], json!([1]));
    assert_eq!(client.post("/v1/stats", r#"{"id":5,"x":0}"#).json()["id"], json!(5));
    // What is not HTTP ends its connection and nothing else.
    let mut noise = service.connect();
    noise.send(b"\x16\x03\x01 this is not HTTP\r\n\r\n");
    assert_eq!(noise.answer().map(|answer| answer.status), Some(400));
    assert_eq!(client.ask("GET", "/healthz").body, r#"{"status":"ok"}"#);
    assert!(service.finish().success());
}

#[test]
fn tokens_have_their_roles() {
    let mut service = HttpService::start(
        fable(),
        ["--catalog", "tau2"],
        &[("FABLE_TOKENS_DECIDE", DECIDES), ("FABLE_TOKENS_ALL", ALL)],
    );
    let (mut none, mut wrong) =
        (service.connect(), service.connect().with_token("a-token-that-is-not-known"));
    let (mut decides, mut all) = (service.connect().with_token(DECIDES), service.connect().with_token(ALL));
    for client in [&mut none, &mut wrong] {
        for path in ["/v1/decide", "/v1/feedback", "/v1/backup", "/feedback"] {
            let refused = client.post(path, "{}");
            assert_eq!(refused.refusal(), (401, "unauthorized".into()));
            assert_eq!(refused.header("www-authenticate"), Some("Bearer"));
        }
        for path in ["/metrics", "/openapi.json"] {
            assert_eq!(client.ask("GET", path).refusal(), (401, "unauthorized".into()));
        }
        assert_eq!(client.ask("GET", "/healthz").status, 200);
    }
    let decision = decide(&mut decides, "ana");
    assert_eq!(
        decides.post("/v1/feedback", &json!({"decision": decision, "reward": 1}).to_string()).status,
        200
    );
    let decision = decide(&mut decides, "ana");
    let said = json!({"inference_id": decision, "metric_name": "reward", "value": 1});
    assert_eq!(decides.post("/feedback", &said.to_string()).status, 200);
    let document = decides.ask("GET", "/openapi.json").json();
    let mut asked = 0;
    for path in document["paths"].as_object().unwrap().keys().filter(|path| path.starts_with("/v1/")) {
        let (refusal, allowed) = (decides.post(path, "[]").refusal(), all.post(path, "[]").refusal());
        let clients = ["/v1/decide", "/v1/recommend", "/v1/feedback", "/v1/read"].contains(&path.as_str());
        assert_eq!(refusal.0, if clients { 400 } else { 403 }, "{path}");
        assert_eq!(allowed, (400, "bad_json".into()), "{path}");
        asked += 1;
    }
    assert_eq!(asked, 26);
    assert_eq!(decides.ask("GET", "/metrics").refusal(), (403, "forbidden".into()));
    assert_eq!(all.ask("GET", "/metrics").status, 200);
    assert!(service.finish().success());
}

/// What would open the door too far, or cannot be meant, is a mistake: nothing is served.
#[test]
fn doors_are_not_opened_by_mistake() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("metrics.toml");
    std::fs::write(&file, "[metrics.a]\nkind = \"bool\"\n").unwrap();
    let file = file.to_str().unwrap();
    let run = |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut command = Command::new(fable());
        command.args(["serve", "--catalog", "tau2"]).args(arguments).envs(variables.iter().copied());
        let output = command.stdin(Stdio::null()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let here = "127.0.0.1:0";
    for (arguments, variables, said) in [
        (&["--http", "0.0.0.0:0"][..], &[][..], "or say that it may be public: --http-public"),
        (&["--http", "0.0.0.0:0"], &[("FABLE_TOKENS_ALL", ALL)], "others can reach this address"),
        (&["--http", "0.0.0.0:0", "--http-public"], &[], "needs tokens"),
        (&["--http", here], &[("FABLE_TOKENS_ALL", "short")], "FABLE_TOKENS_ALL: a token has at least 16"),
        (&["--http", here], &[("FABLE_TOKENS_DECIDE", "")], "FABLE_TOKENS_DECIDE has no token in it"),
        (&["--http", here, "--metrics", file], &[], "metrics.toml:2:8: there is no kind of metric 'bool'"),
        (&["--metrics", file], &[], "required arguments were not provided"),
        (&["--http-public"], &[], "required arguments were not provided"),
    ] {
        let (code, told) = run(arguments, variables);
        assert!(code == Some(2) && told.contains(said), "{arguments:?} {code:?} {told}");
        assert!(!told.contains("short\n") && !told.contains(ALL));
    }
}

#[test]
fn a_unix_socket_is_for_this_user_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fable.sock");
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap()); // left behind by somebody who was killed
    let mut service = start(&["--socket", path.to_str().unwrap()]);
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let mut client = Client::over(UnixStream::connect(&path).unwrap());
    let decision = decide(&mut client, "ana");
    let mut other = service.connect();
    assert_eq!(
        other.post("/v1/feedback", &json!({"decision": decision, "reward": 1}).to_string()).json()["observations"],
        1
    );
    // One at which somebody listens is left alone, and so is what is not a socket.
    let file = folder.path().join("file");
    std::fs::write(&file, "mine").unwrap();
    for taken in [&path, &file] {
        let output = Command::new(fable())
            .args(["serve", "--socket", taken.to_str().unwrap()])
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
    assert_eq!(client.ask("GET", "/healthz").status, 200);
    assert!(service.finish().success());
    assert!(!path.exists());
}

/// The document lists what is served and nothing else.
#[test]
fn the_document_has_exactly_the_routes() {
    let mut service = start(&[]);
    let mut client = service.connect();
    let document = client.ask("GET", "/openapi.json").json();
    assert_eq!(document["openapi"], "3.1.0");
    let listed = document["paths"].as_object().unwrap();
    let ops = fable_std::serve::OPS.map(|op| format!("/v1/{op}"));
    let served: BTreeSet<&str> = ops
        .iter()
        .map(String::as_str)
        .chain(["/feedback", "/metrics", "/healthz", "/openapi.json"])
        .collect();
    assert_eq!(listed.keys().map(String::as_str).collect::<BTreeSet<_>>(), served);
    for (path, methods) in listed {
        let own: Vec<&String> = methods.as_object().unwrap().keys().collect();
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE"] {
            let status = client.ask(method, path).status;
            let allowed = own.iter().any(|own| own.eq_ignore_ascii_case(method));
            assert_eq!(status == 405, !allowed, "{method} {path} {status}");
            assert!(
                !allowed || methods[method.to_lowercase()]["responses"].get(status.to_string()).is_some()
            );
        }
    }
    assert!(service.finish().success());
}

/// The text format of Prometheus, line by line, and that it counts.
#[test]
fn counts_can_be_read() {
    let mut service = start(&[]);
    let mut client = service.connect();
    let secret = "a-name-that-is-nobody-else's";
    for _ in 0..5 {
        decide(&mut client, secret);
    }
    client.post("/v1/decide", "[]");
    client.ask("GET", "/nowhere");
    let answer = client.ask("GET", "/metrics");
    assert_eq!(answer.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    assert!(!answer.body.contains(secret));
    let (mut values, mut types) = (BTreeMap::new(), BTreeMap::new());
    for line in answer.body.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            assert!(
                ["counter", "gauge", "histogram"].contains(&kind) && types.insert(name, kind).is_none(),
                "{line}"
            );
        } else if !line.starts_with("# HELP ") {
            let (name, value) = line.rsplit_once(' ').unwrap();
            let family = name.split('{').next().unwrap();
            let family = ["_bucket", "_sum", "_count"]
                .iter()
                .find_map(|end| family.strip_suffix(end))
                .filter(|family| types.contains_key(family))
                .unwrap_or(family);
            assert!(types.contains_key(family), "{line}");
            assert!(values.insert(name, value.parse::<f64>().unwrap()).is_none(), "{line}");
        }
    }
    let requests = "fable_http_requests_total{op=\"decide\"}";
    assert_eq!(values[requests], 6.0);
    assert_eq!(values["fable_http_request_seconds_count{op=\"decide\"}"], 6.0);
    assert_eq!(values["fable_http_request_seconds_bucket{op=\"decide\",le=\"+Inf\"}"], 6.0);
    assert_eq!(values["fable_http_errors_total{code=\"bad_json\"}"], 1.0);
    assert_eq!(values["fable_http_errors_total{code=\"not_found\"}"], 1.0);
    assert_eq!(values["fable_users_in_memory"], 1.0);
    assert!(values["fable_users_in_memory_bytes"] > 1_000.0);
    assert_eq!(values["fable_http_connections"], 1.0);
    assert!(values["fable_commits_total"] >= 5.0);
    let buckets = answer
        .body
        .lines()
        .filter(|line| line.starts_with("fable_http_request_seconds_bucket{op=\"decide\""));
    let counts: Vec<f64> = buckets.map(|line| line.rsplit_once(' ').unwrap().1.parse().unwrap()).collect();
    assert!(counts.is_sorted() && counts.len() == 16);
    assert!(service.finish().success());
}

/// The lines of the README give an answer, as they stand.
#[test]
fn the_lines_of_the_readme_work() {
    let readme = include_str!("../../README.md");
    let mut service = HttpService::start(fable(), &[] as &[&str], &[]);
    let mut client = service.connect();
    let mut paths = Vec::new();
    for line in readme.lines().filter_map(|line| line.strip_prefix("curl -s http://127.0.0.1:8080")) {
        let path = line.split(' ').next().unwrap();
        let answer = match line.split_once("-d '") {
            Some((_, body)) => client.post(path, body.strip_suffix('\'').unwrap()),
            None => client.ask("GET", path),
        };
        assert_eq!(answer.status, 200, "{line} {answer:?}");
        paths.push(path);
    }
    assert_eq!(paths, ["/v1/decide", "/feedback", "/v1/profile", "/metrics"]);
    assert!(service.finish().success());
}
