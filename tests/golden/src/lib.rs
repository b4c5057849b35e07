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
//! let mut learner: Learner<f32, [f32; TAU2.state_len()], 8> = const { Learner::new(&TAU2) };
//! let mut workspace: Workspace<f32, [f32; TAU2.workspace_len()]> = const { Workspace::new(&TAU2) };
//! assert_eq!(tau2(SEED, &mut learner, &mut workspace), TAU2_F32);
//! ```

#![no_std]

mod migrate;
mod records;
mod resume;
mod script;
mod user;

use core::fmt;
use fable_core::posterior::Storage;
use fable_core::preference::{Comparison, Trial};
use fable_core::settings::{OnChange, Scale};
use fable_core::{Exploration, Feasible, Learner, Policy, Request, Scalar, Settings, UserError, user_hash};
pub use migrate::{NEXT, RENAMES, policies, tau2_migrated};
pub use records::{
    EVENTS, LAMP, LAMP_PRIOR, LAMP_SNAPSHOT, TAU2_F32_SNAPSHOT, TAU2_F64_SNAPSHOT, events, lamp,
};
pub use resume::resume;
use script::{AGENT_SCRIPT, Script, TAU2_SCRIPT};
use user::Person;

/// `tau2` in `f32`.
pub const TAU2_F32: Outcome = Outcome {
    decisions: 0x29fe_054b_789b_fee8,
    state: 0x30ec_6a0f_d93b_cb3c,
    snapshot: 0x549f_4818_b3c7_b3e9,
};
/// `tau2` in `f64`.
pub const TAU2_F64: Outcome = Outcome {
    decisions: 0xcaa1_bd1d_52be_568c,
    state: 0xa26d_bc51_0971_bf88,
    snapshot: 0x1079_e30e_f447_a4f3,
};
/// `agent` in `f32`.
pub const AGENT_F32: Outcome = Outcome {
    decisions: 0x6b5a_05fc_c3f9_0fd7,
    state: 0x6dd4_9d74_8afd_6b29,
    snapshot: 0x90e1_1bdc_7f4c_b969,
};
/// `agent` in `f64`.
pub const AGENT_F64: Outcome = Outcome {
    decisions: 0xa7d4_f249_3f64_9d85,
    state: 0x6745_ddb2_95fd_98ed,
    snapshot: 0x740c_e9f5_e9c4_416a,
};

/// `tau2` in `f32`, adapting.
pub const TAU2_F32_ADAPTED: Outcome = Outcome {
    decisions: 0x1d10_859f_caac_0bd9,
    state: 0xa4be_6269_e7b4_247a,
    snapshot: 0xfdb2_2a00_d26c_1b2c,
};
/// `tau2` in `f64`, adapting.
pub const TAU2_F64_ADAPTED: Outcome = Outcome {
    decisions: 0xbd3f_a790_16b2_637e,
    state: 0xf34b_b210_4492_fc2f,
    snapshot: 0xb1ca_824e_d1a8_efb0,
};
/// `agent` in `f32`, adapting.
pub const AGENT_F32_ADAPTED: Outcome = Outcome {
    decisions: 0x06d8_7d98_e9b7_644a,
    state: 0x56c3_8898_0101_acd8,
    snapshot: 0x5ce6_97ac_3bdc_25d6,
};
/// `agent` in `f64`, adapting.
pub const AGENT_F64_ADAPTED: Outcome = Outcome {
    decisions: 0x2d72_d871_a687_8ae9,
    state: 0x26dc_55f8_fe93_dc68,
    snapshot: 0x53b4_fcf5_1dfe_7bbb,
};

/// Everything that adapts, and coins, with an alpha at which they certify something within so few rounds.
const ADAPTING: Settings<'static> = Settings {
    scale: Scale::Learned,
    half_life: Some(20),
    on_change: OnChange::Halve,
    probe: 0.5,
    alpha: 0.5,
    ..Settings::DEFAULT
};

/// Rounds after those of the script in runs with coins.
const SURE: u32 = 40;

/// The seed of the pinned outcomes.
pub const SEED: u32 = 0x000f_ab1e;

/// Decisions that can wait for their reward.
pub const RING: usize = 8;

/// `tau2` in `f32`, resumed from [`TAU2_F32_SNAPSHOT`].
pub const TAU2_F32_RESUMED: Outcome = Outcome {
    decisions: 0x507c_4f5a_2fea_f8e7,
    state: 0xe7ca_a356_3ee9_9f1d,
    snapshot: 0x973f_4898_dcb5_dba9,
};
/// `tau2` in `f64`, resumed from [`TAU2_F64_SNAPSHOT`].
pub const TAU2_F64_RESUMED: Outcome = Outcome {
    decisions: 0x507c_4f5a_2fea_f8e7,
    state: 0x601f_1be5_035e_9199,
    snapshot: 0x9bbb_5cb2_b730_0c92,
};

/// `tau2` in `f32`, adapting, and then migrated to [`NEXT`].
pub const TAU2_F32_MIGRATED: Outcome = Outcome {
    decisions: 0x779b_e72f_00c7_fce7,
    state: 0x093b_3d8b_8314_3c3d,
    snapshot: 0xa959_069d_d2e8_8747,
};
/// `tau2` in `f64`, adapting, and then migrated to [`NEXT`].
pub const TAU2_F64_MIGRATED: Outcome = Outcome {
    decisions: 0x779b_e72f_00c7_fce7,
    state: 0xd7d8_3ba9_a90d_1fdd,
    snapshot: 0x5bbc_b09e_10f8_c33c,
};

/// What a run came to, as three hashes (FNV-1a, 64 bits).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Round, action and bits of the baseline of every decision, and its coins; in runs with coins also what was promoted and
    /// what the coins have shown.
    pub decisions: u64,
    /// Bits of the packed posterior and of its log-determinant ratio at the end.
    pub state: u64,
    /// Bytes of a snapshot at the end.
    pub snapshot: u64,
}

/// The hashes in hexadecimal.
impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "decisions {:016x} state {:016x} snapshot {:016x}",
            self.decisions, self.state, self.snapshot
        )
    }
}

/// 200 rounds on `tau2`, forgotten before round 101.
///
/// # Panics
/// When `fable-core` refuses what the run asks for, which is a failure like another outcome.
pub fn tau2<T: Scalar, S: Storage<T>>(
    seed: u32,
    learner: &mut Learner<T, S, RING>,
    workspace: &mut impl AsMut<[T]>,
) -> Outcome {
    run(&TAU2_SCRIPT, Settings::PAPER, seed, learner, workspace)
}

/// The same with the default settings and everything that adapts: optimism, a learned scale, fading, halving on a change; and
/// with coins, what they show and what they certify.
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
pub fn agent<T: Scalar, S: Storage<T>>(
    seed: u32,
    learner: &mut Learner<T, S, RING>,
    workspace: &mut impl AsMut<[T]>,
) -> Outcome {
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
        let mut user = learner.bind(&steady, workspace).expect("a started learner");
        user.onboard(&stated.statement(script.catalog)).expect("a statement in range");
    }
    for round in 0..script.rounds {
        if Some(round) == script.forget_after {
            learner.bind(&steady, workspace).and_then(|mut user| user.forget()).expect("a started learner");
            waiting = [None; 4];
        }
        let request = person.request();
        let rules = script.rules[person.below(script.rules.len())];
        let feasible = Feasible::new(script.catalog, rules).expect("rules that leave something");
        let policy = if person.below(8) == 0 { &bold } else { &steady };
        let mut user = learner.bind(policy, workspace).expect("a started learner");
        let decision = user.decide(&Request::new(&request.context, &feasible)).expect("a decision");
        decisions.add(u64::from(decision.id.round));
        decisions.add(u64::from(decision.action.0));
        decisions.add(decision.baseline.to_bits());

        for probe in user.probe_outcomes(decision.id) {
            decisions.add(u64::from(probe.contrast) << 1 | u64::from(probe.preferred));
            decisions.add(u64::from(probe.expected.to_bits()));
        }

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
    if settings.probe > 0.0 {
        be_sure(&steady, learner, workspace, &mut decisions);
    }

    outcome(learner, &decisions)
}

/// Rounds in which one value of the first contrast is liked and the other one is not, until coins have certified it; then what
/// coins have shown.
fn be_sure<T: Scalar, S: Storage<T>>(
    policy: &Policy<'_, T>,
    learner: &mut Learner<T, S, RING>,
    workspace: &mut impl AsMut<[T]>,
    decisions: &mut Fnv,
) {
    let (catalog, feasible) = (policy.catalog(), Feasible::all(policy.catalog()));
    let wanted = Comparison::declared(catalog, 0).expect("a declared contrast");
    let component = catalog.contrasts()[0].component().expect("actions that differ");
    let value = |action| catalog.values(action).expect("an action of the catalog")[component];
    let mut user = learner.bind(policy, workspace).expect("a started learner");
    for round in 0..SURE {
        let decision = user.decide(&Request::new(&wanted.context, &feasible)).expect("a decision");
        decisions.add(u64::from(decision.action.0));
        for probe in user.probe_outcomes(decision.id) {
            decisions.add(u64::from(probe.expected.to_bits()));
        }
        let reward = if value(decision.action) == value(wanted.prefer) { 0.875 } else { -0.875 };
        let known = user.profile().len();
        user.feedback(decision.id, reward).expect("a waiting decision");
        user.promote(round).expect("declared contrasts");
        decisions.add((user.profile().len() - known) as u64);
    }
    for contrast in 0..catalog.contrasts().len() {
        let Trial { trials, e_value, average, .. } = user.trial(contrast).expect("a declared contrast");
        decisions.add(u64::from(trials));
        for number in [e_value, average.mean, average.lower, average.upper] {
            decisions.add(number.to_bits());
        }
    }
}

/// The hashes at the end of a run.
fn outcome<T: Scalar, S: Storage<T>>(learner: &Learner<T, S, RING>, decisions: &Fnv) -> Outcome {
    let mut state = Fnv::new();
    learner.posterior().packed().iter().for_each(|number| state.add(number.bits()));
    state.add(learner.posterior().log_det_ratio().to_bits());
    let (mut snapshot, mut chunk, mut bytes) =
        (learner.snapshot().expect("a started learner"), [0; 256], Fnv::new());
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
