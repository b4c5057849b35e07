//! The experiments against a model, over HTTP, with a server that misbehaves: what is asked, how often, and what is left behind.

mod bench;
mod server;

use bench::{Bench, KEY, files, said};
use clap::Parser;
use serde_json::json;
use server::{Act, Server, asked, message};
use std::collections::BTreeMap;
use std::num::NonZero;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use studies::Setup;
use studies::endpoint::cost::Console;
use studies::endpoint::options::Options;
use studies::endpoint::{self, End};

const SMALL: [&str; 6] = ["--model", "small", "--limit", "2", "--seeds", "1"];

/// `SMALL`, and more.
fn small<'a>(more: &[&'a str]) -> Vec<&'a str> {
    SMALL.iter().chain(more).copied().collect()
}

/// What a person at a terminal says, what came of it, what they were shown, and how many requests had been sent by then.
#[test]
fn the_cost_is_shown_and_asked_for_before_it_starts() {
    #[derive(Parser)]
    struct Arguments {
        #[arg(long)]
        data: std::path::PathBuf,
        #[arg(long)]
        out: std::path::PathBuf,
        #[command(flatten)]
        options: Options,
    }
    let (bench, server) = (Bench::new(), Server::kind());
    let run = |says: &str| {
        let arguments =
            bench.arguments(&server.url, "asked", &small(&["--price-in", "1", "--price-out", "2"]));
        let Arguments { data, out, options } =
            Arguments::parse_from(std::iter::once("studies".to_owned()).chain(arguments));
        let setup = Setup { data, threads: NonZero::<usize>::MIN, ..Setup::for_tests() };
        let mut shown = Vec::new();
        let mut console = Console { terminal: true, input: &mut says.as_bytes(), output: &mut shown };
        let end = endpoint::run(&options, &setup, &["two-direction".to_owned()], Some(&out), &mut console);
        (end, String::from_utf8(shown).unwrap())
    };
    for says in ["n\n", "", "perhaps\n"] {
        let (end, shown) = run(says);
        assert_eq!((end, server.seen().len()), (End::NotConfirmed, 0), "{shown}");
        let places = ["two-direction answer", "in all", "price: about 0.0", "Go on?"]
            .map(|part| shown.find(part).unwrap());
        assert!(places.is_sorted(), "{shown}");
    }
    let (end, shown) = run("y\n");
    assert_eq!((end, shown.matches("Go on?").count()), (End::Done, 1), "{shown}");
    let asked = server.seen().len();
    assert!(asked > 0);
    // What is in the transcripts costs nothing, so nobody is asked.
    let (end, shown) = run("");
    assert_eq!((end, server.seen().len()), (End::Done, asked), "{shown}");
    assert!(
        !shown.contains("Go on?") && shown.contains(&format!("All {asked} calls are in the transcripts")),
        "{shown}"
    );
}

#[test]
fn without_anybody_to_ask_only_yes_starts_it() {
    let (bench, server) = (Bench::new(), Server::kind());
    let (code, text) = bench.run(&server, "out", &SMALL);
    assert!(code == 2 && text.contains("nobody to ask") && text.contains("--yes"), "{code} {text}");
    let (code, text) = bench.run(&server, "out", &small(&["--dry-run", "--yes"]));
    assert!(
        code == 0
            && ["two-direction judge", "rubric default", "tau2 customer"]
                .iter()
                .all(|row| text.contains(row)),
        "{text}"
    );
    assert!(server.seen().is_empty() && !bench.path("out").exists());
    let (code, text) = bench.run(&server, "out", &small(&["--yes", "two-direction"]));
    assert_eq!((code, server.seen().is_empty()), (0, false), "{text}");
    assert!(bench.results("out").contains_key(std::path::Path::new("two-direction.md")));
}

/// The estimate is of calls that are made: with a model that always answers as it is asked, as many are sent as were said.
#[test]
fn as_many_calls_are_made_as_were_said() {
    let obedient = |body: &serde_json::Value| match asked(body) {
        "score" => json!({ "content": "{\"score\": 40}" }),
        "correct" => {
            json!({ "content": "<think>{}</think> {\"correct\": true, \"rigor\": 3, \"steps\": 3, \"examples\": 1}" })
        }
        "success" => json!({ "content": "{\"success\": false}" }),
        _ => json!({ "content": "A text." }),
    };
    let (bench, server) = (Bench::new(), Server::start(|_| Act::Answer, obedient));
    for name in ["rubric", "tau2"] {
        let before = server.seen().len();
        let (_, text) = bench.run(&server, name, &small(&["--dry-run", name]));
        let said: usize = text.split_whitespace().nth(1).unwrap().parse().unwrap();
        let (code, text) = bench.run(&server, name, &small(&["--yes", name]));
        assert_eq!((code, server.seen().len() - before), (0, said), "{text}");
        assert_eq!((bench.transcripts(name), bench.last(name, name, "new")), (said, said));
    }
}

/// A server that is busy, fails, hangs up and stammers costs time, and changes no byte of the results.
#[test]
fn faults_change_nothing() {
    let bench = Bench::new();
    let (code, text) = bench.run(&Server::kind(), "sound", &small(&["--yes"]));
    assert_eq!(code, 0, "{text}");
    let faulty = Server::with(|number| match number % 12 {
        1 => Act::Status(429, "Retry-After: 0\r\n"),
        3 => Act::Status(500, ""),
        5 => Act::Cut,
        7 => Act::Malformed,
        9 => Act::Other,
        11 => Act::Status(503, "Retry-After: soon\r\n"),
        _ => Act::Answer,
    });
    // With three threads one of them may have all the bad luck for a while.
    let (code, text) = bench.run(&faulty, "faulty", &small(&["--yes", "--threads", "3", "--retries", "30"]));
    assert_eq!(code, 0, "{text}");
    assert_eq!(bench.results("faulty"), bench.results("sound"));
    let faults = faulty.seen().len() - faulty.answered();
    let told: usize = endpoint::NAMES.iter().map(|name| bench.last("faulty", name, "tried again")).sum();
    assert!(told == faults && faults > 200, "{told} of {faults}");
    assert_eq!(
        (bench.transcripts("faulty"), bench.transcripts("sound")),
        (faulty.answered(), faulty.answered())
    );
}

/// Killed in the middle of a call, as by a power cut: what was answered is not asked again, and the end is the same.
#[test]
fn a_killed_run_goes_on_where_it_was() {
    let bench = Bench::new();
    let more = small(&["--yes", "--threads", "1", "two-direction", "rubric"]);
    let whole = Server::kind();
    let (code, text) = bench.run(&whole, "whole", &more);
    assert_eq!(code, 0, "{text}");
    let all = whole.answered();
    // In the experiment's first half, its second, and the next one.
    let stops = [3, 9, 60, 150];
    let server = Server::with(move |number| if stops.contains(&number) { Act::Hold } else { Act::Answer });
    for _ in stops {
        let mut child = bench.command(&server.url, "killed", &more).spawn().unwrap();
        server.wait_for_hold();
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(bench.transcripts("killed"), server.answered());
    }
    let (_, text) = bench.run(&server, "killed", &small(&["--dry-run", "two-direction", "rubric"]));
    assert!(text.contains(&format!("; {} are in the transcripts", server.answered())), "{text}");
    let (code, text) = bench.run(&server, "killed", &more);
    assert_eq!(code, 0, "{text}");
    assert_eq!((server.answered(), bench.transcripts("killed")), (all, all));
    assert_eq!(bench.results("killed"), bench.results("whole"));
    // Without results they are made from the transcripts alone, by whatever number of threads.
    std::fs::remove_dir_all(bench.path("killed/results")).unwrap();
    let (code, text) = bench.run(&server, "killed", &small(&["--threads", "4", "two-direction", "rubric"]));
    assert!(code == 0 && text.contains("nothing is asked"), "{text}");
    assert_eq!((server.answered(), bench.results("killed")), (all, bench.results("whole")));
}

/// A refusal that will not pass ends the run at once, with what to do about it; the rest is asked for when it is gone.
#[test]
fn a_refusal_stops_all_threads_and_keeps_what_was_answered() {
    let bench = Bench::new();
    let open = Arc::new(AtomicBool::new(false));
    let opened = Arc::clone(&open);
    let server = Server::with(move |number| {
        if number < 40 || opened.load(Ordering::SeqCst) { Act::Answer } else { Act::Status(401, "") }
    });
    let more = small(&["--yes", "--threads", "4", "rubric"]);
    let (code, text) = bench.run(&server, "out", &more);
    assert_eq!((code, server.answered(), bench.transcripts("out")), (1, 40, 40), "{text}");
    assert!(
        text.contains(&format!("{KEY} is not set")) && text.contains("stopped after 40 new calls"),
        "{text}"
    );
    // Those that were under way at the same time, and none after them.
    assert!(server.seen().len() <= 44, "{}", server.seen().len());
    open.store(true, Ordering::SeqCst);
    let (code, text) = bench.run(&server, "out", &more);
    assert_eq!((code, bench.transcripts("out")), (0, server.answered()), "{text}");
    for (status, advice) in [(400, "--max-completion-tokens"), (404, "before /chat/completions")] {
        let server = Server::with(move |_| Act::Status(status, ""));
        let (code, text) = bench.run(&server, "none", &small(&["--yes", "--threads", "1", "rubric"]));
        assert!(code == 1 && server.seen().len() == 1 && text.contains(advice), "{text}");
    }
}

#[test]
fn patience_has_an_end() {
    let bench = Bench::new();
    let more = small(&["--yes", "--threads", "1", "--retries", "2", "rubric"]);
    let failing = Server::with(|_| Act::Status(500, ""));
    let (code, text) = bench.run(&failing, "out", &more);
    assert!(code == 1 && failing.seen().len() == 3 && text.contains("status 500), after 3 tries"), "{text}");
    let resting = Server::with(|_| Act::Status(429, "Retry-After: 86400\r\n"));
    let (code, text) = bench.run(&resting, "out", &more);
    assert!(code == 1 && resting.seen().len() == 1 && text.contains("86400 s of rest"), "{text}");
    assert_eq!(bench.transcripts("out"), 0);
}

/// An answer of one model is not taken for that of another, and an answer to one question not for that to another.
#[test]
fn another_model_is_asked_anew() {
    let (bench, server) = (Bench::new(), Server::kind());
    let transcripts = bench.path("shared");
    let run = |out: &str, more: &[&str]| {
        let before = server.seen().len();
        let usual =
            ["two-direction", "--yes", "--limit", "4", "--transcripts", transcripts.to_str().unwrap()];
        let (code, text) = bench.run(&server, out, &usual.iter().chain(more).copied().collect::<Vec<_>>());
        assert_eq!(code, 0, "{text}");
        let mut models: BTreeMap<String, usize> = BTreeMap::new();
        for seen in server.seen().iter().skip(before) {
            *models.entry(seen.body["model"].as_str().unwrap().to_owned()).or_default() += 1;
        }
        models
    };
    let first = run("one", &["--model", "one"]);
    let second = run("two", &["--model", "two"]);
    assert_eq!(first.keys().chain(second.keys()).collect::<Vec<_>>(), ["one", "two"]);
    assert_ne!(bench.results("one"), bench.results("two"));
    assert!(run("one again", &["--model", "one"]).is_empty());
    assert_eq!(bench.results("one again"), bench.results("one"));
    // Another judge judges the answers that are there; another temperature is another request.
    let judged = run("judge", &["--model", "one", "--judge", "other"]);
    assert_eq!(judged.keys().collect::<Vec<_>>(), ["other"]);
    assert!(run("warm", &["--model", "one", "--temperature", "0.5"])["one"] > 8);
}

/// The key is in the header of every request and nowhere else, even if the server repeats it.
#[test]
fn the_key_is_passed_on_and_never_kept() {
    let secret = "sk-9f1c7be02d5a4e";
    let bench = Bench::new();
    let server = Server::start(
        |number| if number == 30 { Act::Status(403, "X-Key: sk-9f1c7be02d5a4e\r\n") } else { Act::Answer },
        move |body| match asked(body) {
            "text" => json!({ "content": format!("Your key is {secret}.") }),
            _ => message(body),
        },
    );
    let run = |more: &[&str]| {
        said(
            &bench
                .command(&server.url, "out", &small(more))
                .env(KEY, format!("{secret}\n"))
                .output()
                .unwrap(),
        )
    };
    let (stopped, first) = run(&["--yes", "--threads", "1"]);
    let (code, second) = run(&["--yes"]);
    assert_eq!((stopped, code), (1, 0), "{first}{second}");
    assert!(first.contains("refused the API key"), "{first}");
    let bearer = Some(format!("Bearer {secret}"));
    assert!(server.seen().len() > 200 && server.seen().iter().all(|seen| seen.authorization == bearer));
    assert!(!format!("{first}{second}").contains(secret));
    let left = files(&bench.path("out"));
    assert!(left.values().any(|text| text.contains("Your key is [key].")));
    assert!(
        left.iter().all(|(path, text)| !text.contains(secret) && !path.to_str().unwrap().contains(secret))
    );
    let open = Server::kind();
    let (code, text) = bench.run(&open, "open", &small(&["--yes", "two-direction"]));
    assert!(code == 0 && open.seen().iter().all(|seen| seen.authorization.is_none()), "{text}");
}

/// Equal requests, also at the same time, get one answer where that is wanted.
#[test]
fn shared_answers_are_asked_for_once() {
    let bench = Bench::new();
    let slow = Server::start(
        |_| Act::Answer,
        |body| {
            thread::sleep(Duration::from_millis(2));
            message(body)
        },
    );
    let (code, text) = bench.run(&slow, "shared", &small(&["--yes", "--share", "--threads", "8", "rubric"]));
    assert_eq!(code, 0, "{text}");
    let mut bodies: Vec<String> = slow.seen().iter().map(|seen| seen.body.to_string()).collect();
    let all = bodies.len();
    bodies.sort_unstable();
    bodies.dedup();
    assert_eq!((bodies.len(), bench.transcripts("shared")), (all, all));
    let apart = Server::kind();
    let (code, text) = bench.run(&apart, "apart", &small(&["--yes", "rubric"]));
    assert!(code == 0 && apart.seen().len() > all, "{text}");
}

/// A judge that cannot be used is told about and not made up for.
#[test]
fn a_judge_without_judgement_is_counted() {
    let (bench, rambling) =
        (Bench::new(), Server::start(|_| Act::Answer, |_| json!({ "content": "It depends." })));
    let (code, text) = bench.run(&rambling, "out", &small(&["--yes"]));
    assert_eq!(code, 0, "{text}");
    let rows = &bench.results("out")[std::path::Path::new("rubric-rows.csv")];
    let full = rows.lines().find(|row| row.starts_with("Fable (full)")).unwrap();
    assert!(full.ends_with(",4"), "two problems to learn from and two others: {full}");
    let page = &bench.results("out")[std::path::Path::new("rubric.md")];
    assert!(page.contains("108 of 108 not usable"), "{page}");
}

#[test]
fn mistakes_are_told_before_anything_is_asked() {
    let (bench, server) = (Bench::new(), Server::kind());
    for (more, part) in [
        (vec!["--model", "m", "fleet"], "does not run against a model"),
        (vec!["--model", " "], "--model is empty"),
        (vec![], "--model"),
        (vec!["--model", "m", "--reduced"], "--reduced"),
        (vec!["--model", "m", "--price-in", "1"], "--price-out"),
        (vec!["--model", "m", "--temperature", "hot"], "a number from 0 to 2, or none"),
    ] {
        let (code, text) = bench.run(&server, "out", &[&["--yes"], more.as_slice()].concat());
        assert!(code == 2 && text.contains(part), "{code} {more:?}: {text}");
    }
    for (url, part) in [
        ("http://me:sk-1234@127.0.0.1:1/v1", "must be like https://host/v1"),
        ("http://192.0.2.1/v1", "would travel unencrypted"),
        ("http://127.0.0.1/v1?key=sk-1234", "must be like https://host/v1"),
    ] {
        let output = bench.command(url, "out", &small(&["--yes"])).env(KEY, "sk-1234").output().unwrap();
        let (code, text) = said(&output);
        assert!(code == 2 && text.contains(part) && !text.contains("sk-1234"), "{text}");
    }
    let home = studies::files::home().join("results/new");
    let (code, text) = bench.run(&server, home.to_str().unwrap(), &small(&["--yes"]));
    assert!(code == 2 && text.contains("does not overwrite"), "{text}");
    std::fs::remove_file(bench.path("data/math500/test.jsonl")).unwrap();
    let (code, text) = bench.run(&server, "out", &small(&["--yes"]));
    assert!(
        code == 1 && text.contains("test.jsonl is missing; get it from github.com/openai/prm800k"),
        "{text}"
    );
    assert!(server.seen().is_empty() && !bench.path("out").exists());
}

/// The costs on the page are those of the real data. Where that is missing, they are not looked at.
#[test]
fn the_page_says_what_it_costs() {
    let page = std::fs::read_to_string(studies::files::home().join("README.md")).unwrap();
    let root = studies::files::home().join("../..");
    let whole = root.join("../shared/paper/fable.tex").exists()
        && root.join(Setup::DATA).join("tau2-bench/domains").exists();
    if !whole || !root.join(Setup::DATA).join("math500/test.jsonl").exists() {
        eprintln!("skipped: there is no data");
        return;
    }
    let run = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_studies"));
        command.args(["--endpoint", "http://127.0.0.1:9/v1", "--model", "qwen3", "--dry-run"]).args(more);
        said(&command.current_dir(&root).output().unwrap())
    };
    let prices = [
        "--judge",
        "big",
        "--price-in",
        "0.3",
        "--price-out",
        "1.2",
        "--judge-price-in",
        "2",
        "--judge-price-out",
        "8",
    ];
    let (code, text) = run(&prices);
    assert_eq!(code, 0, "{text}");
    for line in text.lines().filter(|line| line.starts_with("  ") && !line.starts_with("  Tokens")) {
        assert!(page.contains(line), "{line}");
    }
    for (name, part) in [("rubric", " calls of `rubric`"), ("tau2", " of `tau2`")] {
        let (_, text) = run(&["--limit", "5", "--seeds", "1", name]);
        let number = text.split_whitespace().nth(1).unwrap();
        assert!(page.contains(&format!(" {number}{part}")), "{name}: {number}");
    }
}
