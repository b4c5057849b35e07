//! `kill -9` under load: nothing that was answered is lost, nothing is done twice, and who was forgotten stays so.
//!
//! FABLE_KILLS=N kills N times instead of 10.

use fable_core::{Settings, catalog, user_hash};
use fable_serve_tests::dice::Dice;
use fable_serve_tests::oracle::Oracle;
use fable_serve_tests::play::{Play, Sent};
use fable_serve_tests::script::{Script, Step, compare};
use fable_serve_tests::service::Service;
use fable_std::serve::user_bytes;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

const WINDOW: usize = 100;

fn kills() -> u64 {
    std::env::var("FABLE_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(10)
}

/// Sends steps until the time is up, checks what is answered, and kills. What was sent, and how much of it was answered.
fn load_and_kill(play: &mut Play<f32>, mut service: Service, time: Duration) -> (Vec<Sent>, usize) {
    let (started, mut sent, mut answered, mut line) = (Instant::now(), Vec::<Sent>::new(), 0, String::new());
    while started.elapsed() < time {
        sent.push(play.send(&service));
        if sent.len() - answered == WINDOW {
            assert!(service.answer(&mut line));
            sent[answered].check(&line);
            answered += 1;
        }
    }
    service.kill();
    while service.answer(&mut line) {
        sent[answered].check(&line); // answered before it was killed
        answered += 1;
    }
    (sent, answered)
}

/// The incarnation in which a new user starts now, from the decision id of a user with that new name: TAG-INCARNATION-ROUND.
fn incarnation(service: &mut Service, name: &str) -> u32 {
    let answer = service.ask(&json!({ "op": "decide", "user": name, "context": {} }).to_string());
    let id = answer["decision"].as_str().unwrap_or_else(|| panic!("no decision in {answer}"));
    id.split('-').nth(1).unwrap().parse().unwrap()
}

/// How many of the steps were done. Everyone is as after a beginning of the steps about them, which has all that were answered; and
/// what forgetting divides happened in order. The oracle is that far then. A new user starts in the given incarnation.
fn catch_up(
    oracle: &mut Oracle<f32>,
    users: &[String],
    sent: &[Sent],
    answered: usize,
    incarnation: u32,
    service: &mut Service,
) -> usize {
    let mut ask = |user| service.ask(&json!({ "op": "posterior", "user": user }).to_string());
    let found: Vec<(&String, Value)> = users.iter().map(|user| (user, ask(user))).collect();
    let play = |oracle: &mut Oracle<f32>, sent: &Sent| {
        assert_eq!(sent.step.play(oracle).is_ok(), sent.expected.is_ok());
    };
    let (mut start, forgets) = (0, |sent: &Sent| matches!(sent.step, Step::Forget(_)));
    loop {
        let end = sent[start..].iter().position(forgets).map_or(sent.len(), |next| start + next);
        let least = answered.min(end);
        // Where each of them is in this part.
        let reached = |(user, answer): &(&String, Value)| {
            let (number, mut alone) = (user_hash(user), oracle.clone());
            let own = (start..end).filter(|step| sent[*step].step.number() == number);
            let mut reached = start;
            for next in own.map(Some).chain([None]) {
                // No answered step of the user's comes after.
                if next.is_none_or(|next| next >= least) && compare(&alone.posterior(user), answer).is_ok() {
                    return Some((number, reached));
                }
                let next = next?;
                play(&mut alone, &sent[next]);
                reached = next + 1;
            }
            None
        };
        let all: Option<HashMap<u64, usize>> = found.iter().map(reached).collect();
        // Forgetting a user of whom nothing is known again leaves posteriors that an earlier part has, too.
        if let Some(all) = all.filter(|_| answered <= end && oracle.incarnation() == incarnation) {
            let done: Vec<&Sent> = (start..end)
                .filter(|step| *step < all[&sent[*step].step.number()])
                .map(|step| &sent[step])
                .collect();
            for sent in &done {
                play(oracle, sent);
            }
            return start + done.len();
        }
        for sent in &sent[start..end] {
            play(oracle, sent);
        }
        let forget = sent.get(end).expect("the service is in a state that the requests lead to");
        play(oracle, forget);
        start = end + 1;
    }
}

/// No file of the store has a name or a hash of anybody, and nothing is left of what was interrupted.
fn search(store: &Path, users: &[String]) {
    assert!(!store.with_file_name(".users.fable.fable-draft").exists()); // what a torn rewrite has left was cleared away
    let files = ["users.fable", "users.fable.key", "users.fable.index"];
    let bytes = files.map(|file| std::fs::read(store.with_file_name(file)).unwrap()).concat();
    for user in users {
        let hash = user_hash(user);
        let traces = [user.as_bytes(), &hash.to_le_bytes(), &hash.to_be_bytes()];
        assert!(!traces.iter().any(|trace| memchr::memmem::find(&bytes, trace).is_some()), "{user} is there");
    }
}

fn run(durability: &str, kills: u64, seed: u64) {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("users.fable");
    let cache = (4 * user_bytes::<f32>(&catalog::TAU2)).to_string();
    let arguments =
        ["--catalog", "tau2", "--scalar", "f32", "--cache", &cache, "--durability", durability, "--store"];
    let fable = Path::new(env!("CARGO_BIN_EXE_fable"));
    let start = || Service::start(fable, arguments.iter().map(Path::new).chain([store.as_path()]));
    let mut play = Play::new(Oracle::new(&catalog::TAU2, Settings::default()), Script::new(seed, 10, 150));
    let users = play.script.users().to_vec();
    let (mut dice, mut answers, mut more) = (Dice::new(seed), 0, 0);
    let mut service = start();
    let mut round = 0;
    // A busy machine may take more rounds until there is load enough.
    while round < kills || answers as u64 <= kills {
        assert!(round < 20 * kills, "there is no load");
        round += 1;
        let mut oracle = play.oracle.clone();
        let (sent, answered) =
            load_and_kill(&mut play, service, Duration::from_micros(dice.below(400_000) as u64));
        service = start();
        let least = if durability == "commit" { answered } else { 0 };
        let incarnation = incarnation(&mut service, &format!("newcomer {round}"));
        let done = catch_up(&mut oracle, &users, &sent, least, incarnation, &mut service);
        search(&store, &users);
        play.oracle = oracle;
        (answers, more) = (answers + answered, more + done.saturating_sub(answered));
    }
    play.run(&mut service, 200, 20);
    assert!(service.finish().success());
    println!("{round} kills, durability {durability}: {answers} answers, {more} further requests done");
}

#[test]
fn nothing_answered_is_lost() {
    run("commit", kills(), 11);
}

/// Without waiting for the disk a machine that stops may lose the end, but nothing in the middle.
#[test]
fn what_is_left_is_a_beginning() {
    run("none", kills().div_ceil(2), 12);
}
