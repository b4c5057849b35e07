//! The pinned outcomes on this host. `examples/firmware/golden.sh` checks the same ones on boards.

use fable_core::catalog::{AGENT, TAU2};
use fable_core::preference::Certifier;
use fable_core::{Learner, Promotion, Scalar, Workspace};
use fable_golden::{
    AGENT_F32, AGENT_F32_ADAPTED, AGENT_F64, AGENT_F64_ADAPTED, NEXT, Outcome, RING, SEED, TAU2_F32,
    TAU2_F32_ADAPTED, TAU2_F32_MIGRATED, TAU2_F32_RESUMED, TAU2_F32_SNAPSHOT, TAU2_F64, TAU2_F64_ADAPTED,
    TAU2_F64_MIGRATED, TAU2_F64_RESUMED, TAU2_F64_SNAPSHOT, agent, agent_adapting, resume, tau2,
    tau2_adapting, tau2_migrated,
};
use std::fmt::Write;
use std::path::Path;

fn tau2_heap<T: Scalar>(seed: u32) -> Outcome {
    let mut learner = Learner::from_storage(vec![T::ZERO; TAU2.state_len()]);
    tau2(seed, &mut learner, &mut vec![T::ZERO; TAU2.workspace_len()])
}

fn agent_heap<T: Scalar>(seed: u32) -> Outcome {
    let mut learner = Learner::from_storage(vec![T::ZERO; AGENT.state_len()]);
    agent(seed, &mut learner, &mut vec![T::ZERO; AGENT.workspace_len()])
}

fn tau2_adapted<T: Scalar>(seed: u32) -> Outcome {
    let mut learner = Learner::from_storage(vec![T::ZERO; TAU2.state_len()]);
    tau2_adapting(seed, &mut learner, &mut vec![T::ZERO; TAU2.workspace_len()])
}

fn agent_adapted<T: Scalar>(seed: u32) -> Outcome {
    let mut learner = Learner::from_storage(vec![T::ZERO; AGENT.state_len()]);
    agent_adapting(seed, &mut learner, &mut vec![T::ZERO; AGENT.workspace_len()])
}

fn resume_heap<T: Scalar>(stored: &[u8]) -> Outcome {
    let mut learner = Learner::from_storage(vec![T::ZERO; TAU2.state_len()]);
    resume(stored, &mut learner, &mut vec![T::ZERO; TAU2.workspace_len()])
}

fn migrate_heap<T: Scalar>() -> Outcome {
    let [mut learner, mut next] =
        [&TAU2, &NEXT].map(|catalog| Learner::from_storage(vec![T::ZERO; catalog.state_len()]));
    tau2_migrated(&mut learner, &mut next, &mut vec![T::ZERO; TAU2.workspace_len().max(NEXT.workspace_len())])
}

/// A line of `src/lib.rs`.
fn line(name: &str, outcome: Outcome) -> String {
    let grouped = |hash: u64| {
        let [a, b, c, d] = [48, 32, 16, 0].map(|shift| hash >> shift & 0xffff);
        format!("0x{a:04x}_{b:04x}_{c:04x}_{d:04x}")
    };
    let [decisions, state, snapshot] = [outcome.decisions, outcome.state, outcome.snapshot].map(grouped);
    format!(
        "pub const {name}: Outcome = Outcome {{\n    decisions: {decisions},\n    state: {state},\n    snapshot: {snapshot},\n}};"
    )
}

/// The snapshot that a resumed run begins with: the one in `records`, which is written anew together with the outcomes.
fn stored<T: Scalar>(pinned: &[u8]) -> Vec<u8> {
    if !writes() {
        return pinned.to_vec();
    }
    let mut learner = Learner::<T, _, RING>::from_storage(vec![T::ZERO; TAU2.state_len()]);
    tau2(SEED, &mut learner, &mut vec![T::ZERO; TAU2.workspace_len()]);
    let (mut snapshot, mut bytes) = (learner.snapshot().unwrap(), vec![0; 1 << 16]);
    let written = snapshot.read(&mut bytes);
    bytes[..written].to_vec()
}

fn writes() -> bool {
    std::env::var_os("FABLE_WRITE_RECORDS").is_some()
}

/// `FABLE_WRITE_RECORDS=1 cargo test -p fable-golden are_pinned` writes the outcomes and the records anew.
#[test]
fn outcomes_are_pinned() {
    let runs = [
        ("TAU2_F32", tau2_heap::<f32>(SEED), TAU2_F32),
        ("TAU2_F64", tau2_heap::<f64>(SEED), TAU2_F64),
        ("AGENT_F32", agent_heap::<f32>(SEED), AGENT_F32),
        ("AGENT_F64", agent_heap::<f64>(SEED), AGENT_F64),
        ("TAU2_F32_ADAPTED", tau2_adapted::<f32>(SEED), TAU2_F32_ADAPTED),
        ("TAU2_F64_ADAPTED", tau2_adapted::<f64>(SEED), TAU2_F64_ADAPTED),
        ("AGENT_F32_ADAPTED", agent_adapted::<f32>(SEED), AGENT_F32_ADAPTED),
        ("AGENT_F64_ADAPTED", agent_adapted::<f64>(SEED), AGENT_F64_ADAPTED),
        ("TAU2_F32_RESUMED", resume_heap::<f32>(&stored::<f32>(TAU2_F32_SNAPSHOT)), TAU2_F32_RESUMED),
        ("TAU2_F32_MIGRATED", migrate_heap::<f32>(), TAU2_F32_MIGRATED),
        ("TAU2_F64_MIGRATED", migrate_heap::<f64>(), TAU2_F64_MIGRATED),
        ("TAU2_F64_RESUMED", resume_heap::<f64>(&stored::<f64>(TAU2_F64_SNAPSHOT)), TAU2_F64_RESUMED),
    ];
    let mut changed = String::new();
    for (name, found, pinned) in runs {
        if found != pinned {
            writeln!(changed, "{}", line(name, found)).unwrap();
        }
        if writes() {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs");
            let text = std::fs::read_to_string(&path).unwrap();
            std::fs::write(&path, text.replace(&line(name, pinned), &line(name, found))).unwrap();
        }
    }
    if writes() {
        return;
    }
    assert!(
        changed.is_empty(),
        "The arithmetic gives other bits than those pinned. If that is wanted, users' decisions change: raise \
         fable_core::posterior::NUMERIC_REVISION and pin anew (FABLE_WRITE_RECORDS=1 cargo test -p fable-golden are_pinned)\n\n{changed}"
    );
}

/// A board keeps its state in arrays: the storage must make no difference. One learner after another in the same memory,
/// too: a start leaves nothing of what was there.
#[test]
fn arrays_and_used_memory_give_the_same_bits() {
    let mut learner: Learner<f32, [f32; TAU2.state_len()], RING> = const { Learner::new(&TAU2) };
    let mut workspace: Workspace<f32, [f32; TAU2.workspace_len()]> = const { Workspace::new(&TAU2) };
    tau2(SEED + 1, &mut learner, &mut workspace);
    assert_eq!(tau2(SEED, &mut learner, &mut workspace), tau2_heap::<f32>(SEED));

    let mut learner: Learner<f64, [f64; TAU2.state_len()], RING> = const { Learner::new(&TAU2) };
    let mut workspace: Workspace<f64, [f64; TAU2.workspace_len()]> = const { Workspace::new(&TAU2) };
    assert_eq!(tau2(SEED, &mut learner, &mut workspace), tau2_heap::<f64>(SEED));

    let mut learner: Box<Learner<f32, [f32; AGENT.state_len()], RING>> =
        Box::new(const { Learner::new(&AGENT) });
    let mut workspace: Workspace<f32, [f32; AGENT.workspace_len()]> = const { Workspace::new(&AGENT) };
    assert_eq!(agent(SEED, &mut learner, &mut workspace), agent_heap::<f32>(SEED));

    let mut learner: Box<Learner<f64, [f64; AGENT.state_len()], RING>> =
        Box::new(const { Learner::new(&AGENT) });
    let mut workspace: Workspace<f64, [f64; AGENT.workspace_len()]> = const { Workspace::new(&AGENT) };
    assert_eq!(agent(SEED, &mut learner, &mut workspace), agent_heap::<f64>(SEED));
}

/// What the hashes stand for has happened: a forgotten user, decisions that were rewarded and decisions that were not.
#[test]
fn the_runs_are_as_described() {
    let mut learner = Learner::<f32, _, RING>::from_storage(vec![0.0; TAU2.state_len()]);
    tau2(SEED, &mut learner, &mut vec![0.0; TAU2.workspace_len()]);
    assert_eq!((learner.state().incarnation(), learner.state().rounds()), (1, 100));
    assert!((50..100).contains(&learner.state().observations()), "{}", learner.state().observations());

    // Coins have certified something.
    let by_coins = |profile: &[Promotion]| profile.iter().any(|promotion| promotion.by == Certifier::Probes);
    let mut learner = Learner::<f32, _, RING>::from_storage(vec![0.0; TAU2.state_len()]);
    tau2_adapting(SEED, &mut learner, &mut vec![0.0; TAU2.workspace_len()]);
    assert!(by_coins(learner.profile()), "{:?}", learner.profile());
    let mut learner = Learner::<f32, _, RING>::from_storage(vec![0.0; AGENT.state_len()]);
    agent_adapting(SEED, &mut learner, &mut vec![0.0; AGENT.workspace_len()]);
    assert!(by_coins(learner.profile()), "{:?}", learner.profile());

    let mut learner = Learner::<f32, _, RING>::from_storage(vec![0.0; AGENT.state_len()]);
    agent(SEED, &mut learner, &mut vec![0.0; AGENT.workspace_len()]);
    assert_eq!((learner.state().incarnation(), learner.state().rounds()), (0, 50));
    assert!((25..50).contains(&learner.state().observations()), "{}", learner.state().observations());
}

/// The check can fail: another seed leads elsewhere in every hash, and f32 and f64 differ.
#[test]
fn another_seed_gives_other_hashes() {
    let pairs = [
        (tau2_heap::<f32>(SEED), tau2_heap::<f32>(SEED + 1)),
        (tau2_heap::<f64>(SEED), tau2_heap::<f64>(SEED + 1)),
        (agent_heap::<f32>(SEED), agent_heap::<f32>(SEED + 1)),
        (agent_heap::<f64>(SEED), agent_heap::<f64>(SEED + 1)),
    ];
    for (one, other) in pairs {
        assert_ne!(one.decisions, other.decisions);
        assert_ne!(one.state, other.state);
        assert_ne!(one.snapshot, other.snapshot);
    }
}
