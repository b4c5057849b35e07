//! Seeded runs of `fable-core` whose every bit is pinned: the same numbers on hosts, Cortex-M and RISC-V.
//!
//! A simulated user states preferences, makes requests under changing rules, rewards some decisions at once, some late and
//! out of order, some never, rewards actions chosen elsewhere, and is forgotten once. All it does is integer arithmetic, and
//! the fractions it hands over are exact in binary, so a difference between two targets can only come from `fable-core`.
//! The learner and its workspace are borrowed: a board keeps them in statics.
//!
//! ```
//! use fable_core::{Learner, Workspace, catalog::TAU2};
//! use fable_golden::{SEED, TAU2_F32, tau2};
//!
//! let mut learner: Learner<f32, [f32; TAU2.state_len()], 8> = const { Learner::vacant(&TAU2) };
//! let mut workspace: Workspace<f32, [f32; TAU2.workspace_len()]> = const { Workspace::vacant(&TAU2) };
//! assert_eq!(tau2(SEED, &mut learner, &mut workspace), TAU2_F32);
//! ```

#![no_std]

mod records;
mod resume;
mod script;
mod user;

use core::fmt;
use fable_core::{
    Exploration, Feasible, Learner, OnChange, Policy, Request, Scalar, Scale, Settings, Storage, UserError, user_hash,
};
pub use records::{EVENTS, LAMP, LAMP_PRIOR, LAMP_SNAPSHOT, TAU2_F32_SNAPSHOT, TAU2_F64_SNAPSHOT, events, lamp};
pub use resume::resume;
use script::{AGENT_SCRIPT, Script, TAU2_SCRIPT};
use user::Person;

/// `tau2` in `f32`.
pub const TAU2_F32: Outcome =
    Outcome { decisions: 0x29fe_054b_789b_fee8, state: 0x30ec_6a0f_d93b_cb3c, snapshot: 0x4a74_05eb_5f7e_b3d4 };
/// `tau2` in `f64`.
pub const TAU2_F64: Outcome =
    Outcome { decisions: 0xcaa1_bd1d_52be_568c, state: 0xa26d_bc51_0971_bf88, snapshot: 0xa8c0_6a59_7ce5_0b3e };
/// `agent` in `f32`.
pub const AGENT_F32: Outcome =
    Outcome { decisions: 0x6b5a_05fc_c3f9_0fd7, state: 0x6dd4_9d74_8afd_6b29, snapshot: 0x4d0a_a090_9017_a557 };
/// `agent` in `f64`.
pub const AGENT_F64: Outcome =
    Outcome { decisions: 0xa7d4_f249_3f64_9d85, state: 0x6745_ddb2_95fd_98ed, snapshot: 0x5e64_eeea_cb31_ca85 };

/// `tau2` in `f32`, adapting.
pub const TAU2_F32_ADAPTED: Outcome =
    Outcome { decisions: 0x1ad1_2613_8ab1_802f, state: 0x6a85_2e95_3b9a_2a83, snapshot: 0xdbe5_ac11_c692_10a8 };
/// `tau2` in `f64`, adapting.
pub const TAU2_F64_ADAPTED: Outcome =
    Outcome { decisions: 0x0129_fc13_e10f_3348, state: 0x9ed6_1811_3811_79cf, snapshot: 0x2f04_7844_7152_e238 };
/// `agent` in `f32`, adapting.
pub const AGENT_F32_ADAPTED: Outcome =
    Outcome { decisions: 0x240d_e30f_4d99_8f06, state: 0x92f7_e06f_c274_4d0f, snapshot: 0xde7e_13d7_98ce_1516 };
/// `agent` in `f64`, adapting.
pub const AGENT_F64_ADAPTED: Outcome =
    Outcome { decisions: 0xd63d_7cc8_5cd0_3ed8, state: 0x94f9_f078_4b67_c6df, snapshot: 0x0c2a_5085_0f18_b338 };

/// Everything that adapts.
const ADAPTING: Settings<'static> =
    Settings { scale: Scale::Learned, half_life: Some(20), on_change: OnChange::Halve, ..Settings::DEFAULT };

/// The seed of the pinned outcomes.
pub const SEED: u32 = 0x000f_ab1e;

/// Decisions that can wait for their reward.
pub const RING: usize = 8;

/// `tau2` in `f32`, resumed from [`TAU2_F32_SNAPSHOT`].
pub const TAU2_F32_RESUMED: Outcome =
    Outcome { decisions: 0x507c_4f5a_2fea_f8e7, state: 0xe7ca_a356_3ee9_9f1d, snapshot: 0x0e60_f958_80db_354d };
/// `tau2` in `f64`, resumed from [`TAU2_F64_SNAPSHOT`].
pub const TAU2_F64_RESUMED: Outcome =
    Outcome { decisions: 0x507c_4f5a_2fea_f8e7, state: 0x601f_1be5_035e_9199, snapshot: 0xc82a_4dea_341e_84b6 };

/// What a run came to, as three hashes (FNV-1a, 64 bits).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Round, action and bits of the baseline of every decision.
    pub decisions: u64,
    /// Bits of the packed posterior and of its log-determinant ratio at the end.
    pub state: u64,
    /// Bytes of a snapshot at the end.
    pub snapshot: u64,
}

/// The hashes in hexadecimal.
impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "decisions {:016x} state {:016x} snapshot {:016x}", self.decisions, self.state, self.snapshot)
    }
}

/// 200 rounds on `tau2`, forgotten before round 101.
///
/// # Panics
/// When `fable-core` refuses what the run asks for, which is a failure like another outcome.
pub fn tau2<T: Scalar, S: Storage<T>>(seed: u32, learner: &mut Learner<T, S, RING>, workspace: &mut impl AsMut<[T]>) -> Outcome {
    run(&TAU2_SCRIPT, Settings::PAPER, seed, learner, workspace)
}

/// The same with the default settings and everything that adapts: optimism, a learned scale, fading, halving on a change.
///
/// # Panics
/// As [`tau2`].
pub fn tau2_adapting<T: Scalar, S: Storage<T>>(
    seed: u32,
    learner: &mut Learner<T, S, RING>,
    workspace: &mut impl AsMut<[T]>,
) -> Outcome {
    run(&TAU2_SCRIPT, ADAPTING, seed, learner, workspace)
}

/// The same on `agent`.
///
/// # Panics
/// As [`tau2`].
pub fn agent_adapting<T: Scalar, S: Storage<T>>(
    seed: u32,
    learner: &mut Learner<T, S, RING>,
    workspace: &mut impl AsMut<[T]>,
) -> Outcome {
    run(&AGENT_SCRIPT, ADAPTING, seed, learner, workspace)
}

/// 50 rounds on `agent`.
///
/// # Panics
/// As [`tau2`].
pub fn agent<T: Scalar, S: Storage<T>>(seed: u32, learner: &mut Learner<T, S, RING>, workspace: &mut impl AsMut<[T]>) -> Outcome {
    run(&AGENT_SCRIPT, Settings::PAPER, seed, learner, workspace)
}

fn run<T: Scalar, S: Storage<T>>(
    script: &Script,
    settings: Settings<'static>,
    seed: u32,
    learner: &mut Learner<T, S, RING>,
    workspace: &mut impl AsMut<[T]>,
) -> Outcome {
    let settings = Settings { seed: u64::from(seed), ..settings };
    let theorem = Settings { exploration: Exploration::Theorem { delta: 0.1 }, ..settings };
    let steady = Policy::new(script.catalog, settings).expect("settings in range");
    let bold = Policy::new(script.catalog, theorem).expect("settings in range");
    let mut person = Person::new(script.catalog, seed);
    let mut waiting = [None; 4];
    let mut decisions = Fnv::new();

    learner.start(&steady, user_hash("golden")).expect("storage of the right length");
    for stated in script.stated {
        let mut user = learner.with(&steady, workspace).expect("a started learner");
        user.onboard(&stated.statement(script.catalog)).expect("a statement in range");
    }
    for round in 0..script.rounds {
        if Some(round) == script.forget_after {
            learner.with(&steady, workspace).and_then(|mut user| user.forget()).expect("a started learner");
            waiting = [None; 4];
        }
        let request = person.request();
        let rules = script.rules[person.below(script.rules.len())];
        let feasible = Feasible::new(script.catalog, rules).expect("rules that leave something");
        let policy = if person.below(8) == 0 { &bold } else { &steady };
        let mut user = learner.with(policy, workspace).expect("a started learner");
        let decision = user.decide(&Request::new(&request.context, &feasible)).expect("a decision");
        decisions.add(u64::from(decision.id.round));
        decisions.add(u64::from(decision.action.0));
        decisions.add(decision.baseline.to_bits());

        let reward = person.reward(&request, decision.action);
        match person.below(8) {
            0..4 => drop(user.feedback(decision.id, reward).expect("a waiting decision")),
            4..7 => waiting[person.below(waiting.len())] = Some((decision.id, reward)), // forgets another one for ever
            _ => {}
        }
        if person.below(2) == 0
            && let Some((id, reward)) = waiting[person.below(waiting.len())].take()
        {
            match user.feedback(id, reward) {
                Ok(_) | Err(UserError::ExpiredDecision) => {}
                Err(error) => panic!("late feedback: {error}"),
            }
        }
        if person.below(8) == 0 {
            let action = person.action();
            let reward = person.reward(&request, action);
            user.observe(&request.context, action, reward).expect("an observation in range");
        }
    }

    outcome(learner, &decisions)
}

/// The hashes at the end of a run.
fn outcome<T: Scalar, S: Storage<T>>(learner: &Learner<T, S, RING>, decisions: &Fnv) -> Outcome {
    let mut state = Fnv::new();
    learner.posterior().packed().iter().for_each(|number| state.add(number.bits()));
    state.add(learner.posterior().log_det_ratio().to_bits());
    let (mut snapshot, mut chunk, mut bytes) = (learner.snapshot().expect("a started learner"), [0; 256], Fnv::new());
    while let written @ 1.. = snapshot.read(&mut chunk) {
        bytes.add_bytes(&chunk[..written]);
    }
    Outcome { decisions: decisions.0, state: state.0, snapshot: bytes.0 }
}

/// FNV-1a over little-endian words.
struct Fnv(u64);

impl Fnv {
    const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, word: u64) {
        self.add_bytes(&word.to_le_bytes());
    }

    fn add_bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}
