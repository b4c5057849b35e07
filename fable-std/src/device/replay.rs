//! A device's life, played again here: the same events give the same state and the same decisions, bit for bit.
//!
//! A [`Tape`] is a snapshot and the events behind it. Replaying loads the one and applies the others; each decision is also
//! made anew, from the state as it was then, and compared. That needs the device's own settings with its seed.

use fable_core::event::Event;
use fable_core::protocol::Hello;
use fable_core::record::{RecordError, Verifier, decode_event};
use fable_core::trust::{Assessment, Comparison};
use fable_core::{Catalog, Feasible, Learner, LearnerError, Policy, Request, Scalar, Settings, SettingsError, Workspace};
use std::fmt;

/// Room for decisions that wait; at least that of any device. A larger ring than the device's accepts whatever it recorded.
const RING: usize = 64;

/// A device's kept snapshot and the events behind it.
#[derive(Clone, Debug, PartialEq)]
pub struct Tape {
    /// Who the device was when they were read.
    pub hello: Hello,
    /// The bytes of the snapshot.
    pub snapshot: Vec<u8>,
    /// The events as records.
    pub events: Vec<Vec<u8>>,
}

/// How a replay went.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    /// Events applied.
    pub events: u32,
    /// Decisions among them.
    pub decisions: u32,
    /// Rounds of the decisions that come out differently here.
    pub different: Vec<u32>,
    /// Rounds at the end.
    pub rounds: u32,
    /// Observations at the end.
    pub observations: u32,
    /// The declared contrasts at the end, to be compared with the device's own.
    pub contrasts: Vec<Assessment>,
}

impl Replay {
    /// Whether every decision came out as on the device, and the counts at the end are those it says it has.
    #[must_use]
    pub fn agrees(&self, tape: &Tape) -> bool {
        self.different.is_empty() && (self.rounds, self.observations) == (tape.hello.rounds, tape.hello.observations)
    }
}

/// Why a tape cannot be replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReplayError {
    /// The settings are out of range.
    Settings(SettingsError),
    /// The snapshot cannot be read, or not under these settings.
    Snapshot(RecordError),
    /// An event cannot be read.
    Event {
        /// Its position.
        index: usize,
        /// What is wrong with it.
        error: RecordError,
    },
    /// An event does not fit the state.
    State {
        /// Its position.
        index: usize,
        /// What is wrong with it.
        error: LearnerError,
    },
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Settings(error) => error.fmt(f),
            Self::Snapshot(error) => write!(f, "the snapshot cannot be used: {error}"),
            Self::Event { index, error } => write!(f, "event {index} cannot be read: {error}"),
            Self::State { index, error } => write!(f, "event {index} does not fit: {error}"),
        }
    }
}

impl std::error::Error for ReplayError {}

/// Replays a tape in the device's own scalar.
///
/// # Errors
/// Settings of another device, records that were damaged or do not follow from each other.
pub fn replay(catalog: &Catalog<'_>, settings: Settings<'_>, tape: &Tape) -> Result<Replay, ReplayError> {
    if tape.hello.digits == 24 { run::<f32>(catalog, settings, tape) } else { run::<f64>(catalog, settings, tape) }
}

fn run<T: Scalar>(catalog: &Catalog<'_>, settings: Settings<'_>, tape: &Tape) -> Result<Replay, ReplayError> {
    let policy = Policy::<T>::new(catalog, settings).map_err(ReplayError::Settings)?;
    let mut learner = Learner::<T, Vec<T>, RING>::over(vec![T::ZERO; catalog.state_len()]);
    let mut workspace = Workspace::over(vec![T::ZERO; catalog.workspace_len()]);
    load(&policy, &mut learner, &tape.snapshot).map_err(ReplayError::Snapshot)?;
    let (mut decisions, mut different) = (0, Vec::new());
    for (index, record) in tape.events.iter().enumerate() {
        let event = decode_event(catalog, record).map_err(|error| ReplayError::Event { index, error })?;
        let state = |error| ReplayError::State { index, error };
        if let Event::Decision { round, context, at, .. } = &event {
            decisions += 1;
            let feasible = Feasible::from_set(catalog, *learner.permissions());
            let feasible = feasible.map_err(LearnerError::Feasible).map_err(state)?;
            let again = learner.propose_decision(&policy, &mut workspace, &Request::new(context, &feasible).at(*at));
            if again.map_err(state)? != event {
                different.push(*round);
            }
        }
        learner.check(&policy, &mut workspace, &event).map_err(state)?.apply();
    }
    let index = tape.events.len();
    let declared = (0..catalog.contrasts().len()).filter_map(|contrast| Comparison::declared(catalog, contrast));
    let contrasts: Result<Vec<_>, _> = declared.map(|comparison| learner.assess(&policy, &mut workspace, &comparison)).collect();
    Ok(Replay {
        events: u32::try_from(index).unwrap_or(u32::MAX),
        decisions,
        different,
        rounds: learner.rounds(),
        observations: learner.observations(),
        contrasts: contrasts.map_err(|error| ReplayError::State { index, error })?,
    })
}

fn load<T: Scalar, const R: usize>(
    policy: &Policy<'_, T>,
    learner: &mut Learner<T, Vec<T>, R>,
    snapshot: &[u8],
) -> Result<(), RecordError> {
    let mut verifier = Verifier::new(policy);
    verifier.push(snapshot)?;
    let verified = verifier.finish()?;
    let mut loader = learner.load(policy, verified)?;
    loader.push(snapshot)?;
    loader.finish()
}
