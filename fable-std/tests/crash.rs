//! `kill -9` under load: nothing that was answered is lost, nothing is done twice, and who was forgotten stays so.
//!
//! FABLE_KILLS=N kills N times instead of 10.

use fable_core::{Settings, catalog, user_hash};
use fable_serve_tests::dice::Dice;
use fable_serve_tests::oracle::Oracle;
use fable_serve_tests::play::{Play, Sent};
use fable_serve_tests::script::{Script, Step, compare};
use fable_serve_tests::service::Service;
use serde_json::json;
use std::collections::{HashSet, VecDeque};
use std::path::Path;
use std::time::{Duration, Instant};

const WINDOW: usize = 100;

fn kills() -> u64 {
    std::env::var("FABLE_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(10)
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    memchr::memmem::find(bytes, part).is_some()
}

/// Sends steps until the time is up, checks what is answered, kills, and returns what was not answered.
fn load_and_kill(
    play: &mut Play<f32>,
    behind: &mut Oracle<f32>,
    torn: &mut HashSet<String>,
    mut service: Service,
    time: Duration,
) -> VecDeque<Sent> {
    let (started, mut waiting, mut line) = (Instant::now(), VecDeque::<Sent>::new(), String::new());
    let mut take = |waiting: &mut VecDeque<Sent>, line: &str| {
        let sent = waiting.pop_front().unwrap();
        sent.check(line);
        if matches!(sent.step, Step::Forget(_)) {
            torn.clear();
        }
        assert_eq!(sent.step.play(behind).is_ok(), sent.expected.is_ok());
    };
    while started.elapsed() < time {
        waiting.push_back(play.send(&service));
        if waiting.len() == WINDOW {
            assert!(service.answer(&mut line));
            take(&mut waiting, &line);
        }
    }
    service.kill();
    while service.answer(&mut line) {
        take(&mut waiting, &line); // answered before it was killed
    }
    waiting
}

/// How many of the unanswered steps were done: the first number after which everyone is as the service says.
fn catch_up(behind: &mut Oracle<f32>, service: &mut Service, script: &Script, unanswered: &VecDeque<Sent>) -> usize {
    let found: Vec<_> =
        script.users().iter().map(|user| (user, service.ask(&json!({ "op": "posterior", "user": user }).to_string()))).collect();
    for done in 0..=unanswered.len() {
        if found.iter().all(|(user, answer)| compare(&behind.posterior(user), answer).is_ok()) {
            return done;
        }
        if let Some(sent) = unanswered.get(done) {
            let _ = sent.step.play(behind); // whether it is an error or not was checked when it was sent
        }
    }
    panic!("the service is in no state that the requests lead to");
}

fn run(durability: &str, script: Script, kills: u64, dice: &mut Dice) {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("users.fable");
    let arguments = ["--catalog", "tau2", "--scalar", "f32", "--cache", "4", "--durability", durability, "--store"];
    let start =
        || Service::start(Path::new(env!("CARGO_BIN_EXE_fable")), arguments.iter().map(Path::new).chain([store.as_path()]));
    let oracle = Oracle::new(&catalog::TAU2, Settings::default());
    let (mut behind, mut play) = (oracle.clone(), Play::new(oracle, script));
    let (mut answered, mut unanswered_done) = (0, 0);
    // Who was in a commit that never came to an end may be in the file until the next forgetting.
    let mut torn = HashSet::new();
    let mut service = start();
    for _ in 0..kills {
        let time = Duration::from_micros(dice.below(400_000) as u64);
        let before = play.sent();
        let unanswered = load_and_kill(&mut play, &mut behind, &mut torn, service, time);
        answered += play.sent() - before - unanswered.len() as u64;
        service = start();
        let done = catch_up(&mut behind, &mut service, &play.script, &unanswered);
        if unanswered.iter().take(done).any(|sent| matches!(sent.step, Step::Forget(_))) {
            torn.clear();
        }
        torn.extend(unanswered.iter().skip(done).filter_map(|sent| sent.step.user().map(str::to_owned)));
        unanswered_done += done;
        play.oracle = behind.clone();
        // The file is read while the service has it open: everything committed is in it.
        let bytes = std::fs::read(&store).unwrap();
        for user in play.script.users() {
            let hash = user_hash(user);
            let there = [user.as_bytes(), &hash.to_le_bytes(), &hash.to_be_bytes()].iter().any(|part| contains(&bytes, part));
            assert!(there || !behind.knows(user), "{user} is not there");
            assert!(!there || behind.knows(user) || torn.contains(user), "{user} is there");
        }
    }
    play.run(&mut service, 200, 20);
    assert!(service.finish().success());
    println!("{kills} kills: {answered} answers kept, {unanswered_done} further requests done");
    assert!(answered > kills, "there was no load");
}

#[test]
fn nothing_answered_is_lost() {
    run("commit", Script::new(11, 10, 150), kills(), &mut Dice::new(1));
}
