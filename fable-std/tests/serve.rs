//! `fable serve` against learners that are driven directly: every op, every answer, bit for bit.

use fable_core::{Catalog, Exploration, Scalar, Settings, catalog};
use fable_core::{Deadline, Expiry};
use fable_serve_tests::oracle::Oracle;
use fable_serve_tests::play::Play;
use fable_serve_tests::script::Script;
use fable_serve_tests::service::Service;
use fable_std::serve::{Options, serve};
use std::path::Path;

fn play<T: Scalar>(catalog: &'static Catalog<'static>, seed: u64, users: usize, forgets: usize) -> Play<T> {
    let settings = Settings { seed: 7, ..Settings::default() };
    Play::new(Oracle::new(catalog, settings), Script::new(seed, users, forgets))
}

fn start(catalog: &Catalog<'_>, scalar: &str, cache: usize, store: Option<&Path>) -> Service {
    let cache = cache.to_string();
    let name = catalog.definition().name;
    let arguments = ["--catalog", name, "--scalar", scalar, "--seed", "7", "--cache", &cache].map(Path::new);
    let store = store.into_iter().flat_map(|store| [Path::new("--store"), store]);
    Service::start(Path::new(env!("CARGO_BIN_EXE_fable")), arguments.into_iter().chain(store))
}

/// Every op was done, and those that can be refused were.
fn assert_all_outcomes<T: Scalar>(play: &Play<T>) {
    for op in ["onboard", "decide", "feedback", "observe", "unlearn", "posterior", "contrast", "explain", "profile", "forget"] {
        let (done, refused) = play.outcomes[op];
        assert!(done >= 5, "{op} {:?}", play.outcomes);
        let refusable = ["decide", "feedback", "unlearn", "contrast", "explain"].contains(&op);
        assert!(!refusable || refused >= 5, "{op} {:?}", play.outcomes);
    }
}

/// The service is stopped and started in between, and keeps fewer users in memory than there are.
fn with_store<T: Scalar>(catalog: &'static Catalog<'static>, scalar: &str, seed: u64, steps: usize) {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("users.fable");
    let mut play = play::<T>(catalog, seed, 12, 100);
    for cache in [3, 100, 1] {
        let mut service = start(catalog, scalar, cache, Some(&store));
        play.run(&mut service, steps, 50);
        assert!(service.finish().success());
    }
    assert_all_outcomes(&play);
}

#[test]
fn agent_in_f64_with_a_store() {
    with_store::<f64>(&catalog::AGENT, "f64", 1, 500);
}

#[test]
fn tau2_in_f32_with_a_store() {
    with_store::<f32>(&catalog::TAU2, "f32", 2, 1_000);
}

#[test]
fn rubric_in_f64_with_a_store() {
    with_store::<f64>(&catalog::RUBRIC, "f64", 3, 1_000);
}

#[test]
fn agent_in_f32_in_memory() {
    let mut play = play::<f32>(&catalog::AGENT, 4, 5, 100);
    let mut service = start(&catalog::AGENT, "f32", 2, None);
    play.run(&mut service, 1_000, 200);
    let stats = service.ask(r#"{"op":"stats"}"#);
    assert_eq!(stats["users"], play.oracle.known());
    assert_eq!(stats["requests"], 1_001);
    assert!(service.finish().success());
}

/// One user and no forgetting: long journals, many snapshots, brought back again and again.
#[test]
fn long_lives() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("users.fable");
    let mut play = play::<f64>(&catalog::RUBRIC, 5, 2, 0);
    for _ in 0..3 {
        let mut service = start(&catalog::RUBRIC, "f64", 1, Some(&store));
        play.run(&mut service, 2_000, 100);
        assert!(service.finish().success());
    }
}

/// Serves in this process, with settings that decisions expire under and preferences are promoted under.
fn here(settings: Settings<'static>, seed: u64) -> Play<f64> {
    let folder = tempfile::tempdir().unwrap();
    let (input, requests) = std::io::pipe().unwrap();
    let (answers, output) = std::io::pipe().unwrap();
    let options = Options { store: Some(folder.path().join("users.fable")), durable: false, cache: 2.try_into().unwrap() };
    let server = std::thread::spawn(move || serve::<f64>(&catalog::RUBRIC, settings, &options, input, output, |_| {}));
    let mut service = Service::over(requests, answers);
    let mut play = Play::new(Oracle::new(&catalog::RUBRIC, settings), Script::new(seed, 4, 1_000));
    play.run(&mut service, 3_000, 100);
    service.close();
    server.join().unwrap().unwrap();
    play
}

#[test]
fn deadlines_and_imputed_rewards() {
    let settings = Settings { deadline: Deadline::Time(20), expiry: Expiry::Impute(-0.25), ..Settings::default() };
    let mut play = here(settings, 6);
    let expired = (0..4).filter(|user| {
        let posterior = play.oracle.posterior(&play.script.users()[*user].clone()).unwrap();
        posterior["observations"].as_u64() > Some(10)
    });
    assert_eq!(expired.count(), 4);
    here(Settings { deadline: Deadline::Rounds(3), ..Settings::default() }, 7);
}

#[test]
fn promoted_preferences() {
    let bold = Settings { exploration: Exploration::Constant(5.0), prior_radius: Some(0.1), alpha: 0.5, ..Settings::default() };
    let mut play = here(Settings { base_precision: 0.1, min_evidence: 1, noise_variance: 0.01, ..bold }, 8);
    let users = play.script.users().to_vec();
    let promoted = users.iter().filter(|user| play.oracle.profile(user, false, 0).unwrap()["profile"] != serde_json::json!([]));
    assert!(promoted.count() > 0);
}
