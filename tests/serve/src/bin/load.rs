//! Puts `fable serve` under load: many users round robin, pipelined, every answer checked.

use clap::Parser;
use fable_core::user_hash;
use fable_serve_tests::service::Service;
use serde::Deserialize;
use std::collections::VecDeque;
use std::fmt::Write;
use std::path::PathBuf;
use std::time::Instant;

#[derive(Parser)]
struct Arguments {
    #[arg(long)]
    fable: Option<PathBuf>,
    #[arg(long)]
    store: Option<PathBuf>,
    #[arg(long, default_value = "commit")]
    durability: String,
    #[arg(long, default_value = "f64")]
    scalar: String,
    #[arg(long, default_value_t = 1000)]
    users: usize,
    #[arg(long, default_value_t = 1000)]
    window: usize,
    #[arg(long, default_value_t = 100_000)]
    rounds: usize,
    #[arg(long, default_value_t = 1024)]
    cache: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Decided<'a> {
    decision: &'a str,
    #[serde(borrow)]
    action: Action<'a>,
    instruction: &'a str,
    explored: bool,
    score: f64,
    sampled_score: f64,
    feasible: usize,
}
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Action<'a> {
    memory: &'a str,
    tool: &'a str,
    style: &'a str,
}
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Learned {
    observations: u32,
}

enum Sent {
    Decide(usize),
    Feedback(usize),
}

fn main() {
    let a = Arguments::parse();
    let fable = a.fable.unwrap_or_else(|| std::env::current_exe().unwrap().with_file_name("fable"));
    let mut args = vec![
        "--durability".to_string(),
        a.durability.clone(),
        "--scalar".into(),
        a.scalar.clone(),
        "--cache".into(),
        a.cache.to_string(),
    ];
    if let Some(s) = &a.store {
        args.push("--store".into());
        args.push(s.display().to_string());
    }
    let mut service = Service::start(&fable, &args);
    let names: Vec<String> = (0..a.users).map(|u| format!("user-{u:06}")).collect();
    let hashes: Vec<u64> = names.iter().map(|n| user_hash(n)).collect();
    let (mut started, mut finished, mut next) = (0, 0, 0);
    let mut sent = VecDeque::new();
    let mut observations = vec![0u32; a.users];
    let mut out = String::new();
    let mut line = String::new();
    let t = Instant::now();
    let tasks = ["coding", "analysis", "factual", "simple_preference"];
    let decide = |out: &mut String, u: usize, n: usize| {
        let _ = writeln!(
            out,
            r#"{{"op":"decide","user":"{}","context":{{"task":"{}","risk":{},"ambiguity":0.25,"memory_need":0.7,"tool_need":{}}}}}"#,
            names[u],
            tasks[n % 4],
            (n % 10) as f64 / 10.0,
            (n % 7) as f64 / 7.0
        );
    };
    while started < a.rounds.min(a.window) {
        decide(&mut out, next, started);
        sent.push_back(Sent::Decide(next));
        started += 1;
        next = (next + 1) % a.users;
    }
    service.send(std::mem::take(&mut out).into_bytes());
    while finished < a.rounds {
        assert!(service.answer(&mut line), "ended");
        match sent.pop_front().unwrap() {
            Sent::Decide(u) => {
                let d: Decided = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line}"));
                let id: fable_core::DecisionId = d.decision.parse().unwrap();
                assert_eq!(id.user, hashes[u]);
                assert!(
                    d.feasible == 180
                        && d.score.is_finite()
                        && d.sampled_score.is_finite()
                        && !d.action.memory.is_empty()
                        && !d.action.tool.is_empty()
                        && !d.instruction.is_empty()
                );
                let _ = d.explored;
                let reward = if d.action.style == "concise" { 0.5 } else { -0.1 };
                let _ = writeln!(out, r#"{{"op":"feedback","decision":"{}","reward":{reward}}}"#, d.decision);
                sent.push_back(Sent::Feedback(u));
            }
            Sent::Feedback(u) => {
                let l: Learned = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line}"));
                observations[u] += 1;
                if a.store.is_none() {
                    assert_eq!(l.observations, observations[u]);
                }
                finished += 1;
                if started < a.rounds {
                    decide(&mut out, next, started);
                    sent.push_back(Sent::Decide(next));
                    started += 1;
                    next = (next + 1) % a.users;
                }
            }
        }
        if !service.has_more() && !out.is_empty() {
            service.send(std::mem::take(&mut out).into_bytes());
        }
    }
    let s = t.elapsed().as_secs_f64();
    println!("{} rounds in {s:.2} s: {:.0} rounds/s", a.rounds, a.rounds as f64 / s);
    for (name, time) in fable_serve_tests::process::processor_time(service.id()) {
        println!("  {name}: {:.1} us/round", time / a.rounds as f64 * 1e6);
    }
    assert!(service.finish().success());
}
