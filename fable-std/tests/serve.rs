//! `fable serve` against learners that are driven directly: every op, every answer, bit for bit.

use fable_core::policy::{Deadline, Expiry};
use fable_core::{Catalog, Scalar, Settings, catalog};
use fable_serve_tests::oracle::Oracle;
use fable_serve_tests::play::Play;
use fable_serve_tests::script::Script;
use fable_serve_tests::service::Service;
use std::path::Path;

fn fable() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_fable"))
}

fn play<T: Scalar>(catalog: &'static Catalog<'static>, seed: u64, users: usize, forgets: usize) -> Play<T> {
    let settings = Settings { seed: 7, ..Settings::default() };
    Play::new(Oracle::new(catalog, settings), Script::new(seed, users, forgets))
}

fn start(catalog: &Catalog<'_>, scalar: &str, cache: usize, store: Option<&Path>) -> Service {
    let mut arguments: Vec<String> =
        ["--catalog", catalog.definition().name, "--scalar", scalar, "--seed", "7", "--cache", &cache.to_string()]
            .map(str::to_owned)
            .into();
    if let Some(store) = store {
        arguments.extend(["--store".to_owned(), store.display().to_string()]);
    }
    Service::start(fable(), arguments)
}

/// The service is stopped and started in between, and keeps fewer users in memory than there are.
fn with_store<T: Scalar>(catalog: &'static Catalog<'static>, scalar: &str, seed: u64, steps: usize) {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("users.fable");
    let mut play = play::<T>(catalog, seed, 12, 400);
    for cache in [3, 100, 1] {
        let mut service = start(catalog, scalar, cache, Some(&store));
        play.run(&mut service, steps, 50);
        assert!(service.finish().success());
    }
}

#[test]
fn agent_in_f64_with_a_store() {
    with_store::<f64>(&catalog::AGENT, "f64", 1, 400);
}

#[test]
fn tau2_in_f32_with_a_store() {
    with_store::<f32>(&catalog::TAU2, "f32", 2, 3_000);
}

#[test]
fn rubric_in_f64_with_a_store() {
    with_store::<f64>(&catalog::RUBRIC, "f64", 3, 3_000);
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
