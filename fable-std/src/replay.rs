//! A life played again: the same events give the same state and the same decisions, bit for bit.
//!
//! A [`Tape`] is where a journal begins and the events after it, whoever kept them: a store, an exported user, a device.
//! [`replay`] applies them in the journal's own scalar. Each decision is also made anew, from the state as it was then, and
//! compared; the first that comes out otherwise is kept as a [`Difference`], with what it can be due to. The seed and the
//! exploration are not in a journal: they have to be given. The prior that the life began with is on the tape.
//!
//! ```
//! use fable_core::{Settings, catalog::TAU2};
//! use fable_std::replay::{Tape, replay};
//! use fable_std::store::{Identity, FileStore, Store, transfer};
//! # use fable_core::Policy;
//! # let policy = Policy::<f64>::new(&TAU2, Settings::default())?;
//! # let options = fable_std::serve::Options { cache: 0, ..Default::default() };
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("users.fable");
//! let lines = r#"{"op":"decide","user":"ana","context":{"task":null}}"#;
//! let options = fable_std::serve::Options { store: Some(path.clone()), ..options };
//! fable_std::serve::serve::<f64>(&TAU2, Settings::default(), &options, lines.as_bytes(), std::io::sink(), |_| ())?;
//!
//! let stored = FileStore::open_any(&path)?.whole(fable_core::user_hash("ana"))?.unwrap();
//! let replayed = replay(&TAU2, Settings::default(), &Tape::of_user(&stored)?)?;
//! assert_eq!((replayed.decisions, replayed.difference), (1, None));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::prior_file::{self, PriorFileError};
use crate::store::journal::{Entry, Note};
use crate::store::{Damage, StoreError, Stored};
use fable_core::host::HostLearner;
use fable_core::journal::{Command, Event, RemoteChange};
use fable_core::preference::{Assessment, Comparison, Probes, Trial};
use fable_core::record::{HEADER_LEN, Header, RecordError, decode_event};
use fable_core::settings::{Deadline, Expiry, SettingsError};
use fable_core::{
    Action, Catalog, Context, DecisionId, Feasible, HostUser, Policy, Request, Scalar, Settings, UserError,
};
use std::fmt;

/// Where a journal begins.
#[derive(Clone, Debug, PartialEq)]
pub enum Start {
    /// At the prior.
    Journal {
        /// Whose it is.
        header: Header,
        /// The incarnation it begins in.
        incarnation: u32,
    },
    /// At a snapshot.
    Snapshot(Vec<u8>),
}

/// A journal: where it begins, and the events after, as records.
#[derive(Clone, Debug, PartialEq)]
pub struct Tape {
    /// Where it begins.
    pub start: Start,
    /// The prior of its policy, see [`prior_file`]; the isotropic one without it. Who is forgotten goes back to it.
    pub prior: Option<Vec<u8>>,
    /// The events.
    pub events: Vec<Vec<u8>>,
    /// Positions of decisions that are known to have been made with default scores of the caller's, in order.
    pub with_defaults: Vec<usize>,
    /// Positions of decisions that were made before journals were merged by time, in order.
    pub woven: Vec<usize>,
}

impl Tape {
    /// The life of a stored or exported user, as much of it as is kept.
    ///
    /// # Errors
    /// A journal that cannot be read, or has a gap.
    pub fn of_user(stored: &Stored) -> Result<Self, StoreError> {
        let (start, mut next) = match &stored.snapshot {
            Some((seen, bytes)) => (Start::Snapshot(bytes.clone()), *seen),
            None => (Start::Journal { header: stored.row.header, incarnation: stored.row.incarnation }, 0),
        };
        let (mut events, mut with_defaults, mut woven) = (Vec::new(), Vec::new(), Vec::new());
        for segment in &stored.journal {
            if segment.first > next {
                return Err(StoreError::User(Damage::Journal));
            }
            for entry in segment.from(next) {
                let Entry { record, note } = entry?;
                match note {
                    Note::WithDefaults => with_defaults.push(events.len()),
                    Note::Woven => woven.push(events.len()),
                    Note::None | Note::TakesBack { .. } => {}
                }
                events.push(record.to_vec());
                next += 1;
            }
        }
        Ok(Self { start, prior: stored.prior.clone(), events, with_defaults, woven })
    }

    /// What a device was read as: the bytes of its snapshot, and of its journal, where each record has its length, two
    /// bytes, before it.
    ///
    /// # Errors
    /// A journal that ends within a record.
    pub fn of_device(snapshot: Vec<u8>, journal: &[u8]) -> Result<Self, RecordError> {
        let (mut events, mut rest) = (Vec::new(), journal);
        while !rest.is_empty() {
            let (length, behind) = rest.split_first_chunk().ok_or(RecordError::Truncated)?;
            let length = usize::from(u16::from_le_bytes(*length));
            let (event, behind) = behind.split_at_checked(length).ok_or(RecordError::Truncated)?;
            events.push(event.to_vec());
            rest = behind;
        }
        let (with_defaults, woven) = (Vec::new(), Vec::new());
        Ok(Self { start: Start::Snapshot(snapshot), prior: None, events, with_defaults, woven })
    }

    /// The numbers of its prior, to make its policy of with [`prior_file::informed`].
    ///
    /// # Errors
    /// A prior of another catalog, of other settings or in the other scalar.
    pub fn prior_numbers<T: Scalar>(&self, base: &Policy<'_, T>) -> Result<Option<Vec<T>>, PriorFileError> {
        self.prior.as_deref().map(|bytes| prior_file::read(base, bytes)).transpose()
    }

    /// Fingerprint of its catalog and settings without the prior.
    ///
    /// # Errors
    /// A prior or a snapshot that has no readable header.
    pub fn base_fingerprint(&self) -> Result<u64, RecordError> {
        match (&self.prior, &self.start) {
            (Some(prior), _) => head(prior).map(|header| header.fingerprint),
            (None, Start::Journal { header, .. }) => Ok(header.fingerprint),
            (None, Start::Snapshot(bytes)) => head(bytes).map(|header| header.fingerprint),
        }
    }

    /// Bits of the scalar's significand: 24 for `f32`, 53 for `f64`.
    ///
    /// # Errors
    /// A snapshot that has no readable header.
    pub fn digits(&self) -> Result<u8, RecordError> {
        match &self.start {
            Start::Journal { header, .. } => Ok(header.digits),
            Start::Snapshot(bytes) => head(bytes).map(|header| header.digits),
        }
    }

    /// The user at the end of the tape, under the policy with its prior; no decision is made anew.
    ///
    /// # Errors
    /// As for [`replay`], and a policy in the other scalar.
    pub fn play<'p, T: Scalar>(&self, policy: &Policy<'p, T>) -> Result<HostUser<'p, T>, ReplayError> {
        let mut life = self.begin(policy)?;
        let mut user = life.user();
        for index in 0..self.events.len() {
            let event = self.event(policy.catalog(), index)?;
            user.check(&event).map_err(|error| ReplayError::State { index, error })?.apply();
        }
        Ok(life)
    }

    /// The user before the first event.
    pub(crate) fn begin<'p, T: Scalar>(
        &self,
        policy: &Policy<'p, T>,
    ) -> Result<HostUser<'p, T>, ReplayError> {
        let mut learner = HostLearner::for_policy(policy);
        match &self.start {
            Start::Journal { header, incarnation } => learner.start_journal_in(policy, header, *incarnation),
            Start::Snapshot(bytes) => learner.restore(policy, bytes),
        }
        .map_err(ReplayError::Start)?;
        HostUser::from_learner(policy, learner).map_err(|error| ReplayError::State { index: 0, error })
    }

    pub(crate) fn event(&self, catalog: &Catalog<'_>, index: usize) -> Result<Event, ReplayError> {
        let record = self.events.get(index).map_or(&[][..], Vec::as_slice);
        decode_event(catalog, record).map_err(|error| ReplayError::Event { index, error })
    }
}

fn head(bytes: &[u8]) -> Result<Header, RecordError> {
    Header::decode(bytes.get(..HEADER_LEN).unwrap_or(bytes))
}

/// A decision that comes out otherwise.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Its incarnation and round.
    pub id: DecisionId,
    /// Position of the event.
    pub index: usize,
    /// Where it was made.
    pub context: Context,
    /// What the journal says, and the score that the draw gives it here.
    pub recorded: (Action, f64),
    /// What comes out here, and its score.
    pub found: (Action, f64),
}

/// How a replay went.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    /// Events applied.
    pub events: u32,
    /// Decisions among them.
    pub decisions: u32,
    /// Decisions among them with default scores of the caller's, which a journal does not keep: they cannot be made anew.
    pub with_defaults: u32,
    /// Decisions among them that were made before journals were merged by time, when not all was known that stands before them: they
    /// cannot be made anew.
    pub woven: u32,
    /// Rewards of decisions that were made elsewhere, which are not in this journal.
    pub elsewhere: u32,
    /// Rounds of the decisions that come out otherwise here.
    pub different: Vec<u32>,
    /// The first of them.
    pub difference: Option<Difference>,
    /// The explanation that was asked for, as text.
    pub explanation: Option<Result<String, UserError>>,
    /// Rounds at the end.
    pub rounds: u32,
    /// Observations at the end.
    pub observations: u32,
    /// The declared contrasts at the end.
    pub contrasts: Vec<Assessment>,
    /// What coins have shown about each at the end.
    pub trials: Vec<Trial>,
}

/// Why a tape cannot be replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReplayError {
    /// The settings are out of range.
    Settings(SettingsError),
    /// The prior cannot be read, or not under these settings.
    Prior(PriorFileError),
    /// What the journal begins with cannot be read, or not under these settings.
    Start(RecordError),
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
        error: UserError,
    },
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Settings(error) => error.fmt(f),
            Self::Prior(error) => error.fmt(f),
            Self::Start(error) => write!(f, "the journal cannot be begun: {error}"),
            Self::Event { index, error } => write!(f, "event {index} cannot be read: {error}"),
            Self::State { index, error } => write!(f, "event {index} does not fit: {error}"),
        }
    }
}

impl std::error::Error for ReplayError {}

crate::from!(ReplayError: PriorFileError => Prior);

/// A decision to explain: its incarnation and round, and what it is explained against, the runner-up if nothing is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// The incarnation; the last one that has the round if it is left out.
    pub incarnation: Option<u32>,
    /// The place; the journal's own if it is left out.
    pub site: Option<u32>,
    /// The round.
    pub round: u32,
    /// Another action.
    pub other: Option<Action>,
}

/// Replays a tape in its own scalar.
///
/// # Errors
/// Another catalog or other settings, records that were damaged or do not follow from each other.
pub fn replay(catalog: &Catalog<'_>, settings: Settings<'_>, tape: &Tape) -> Result<Replay, ReplayError> {
    replay_and_explain(catalog, settings, tape, None)
}

/// The same, and explains a decision as it was when it was made.
///
/// # Errors
/// As for [`replay`].
pub fn replay_and_explain(
    catalog: &Catalog<'_>,
    settings: Settings<'_>,
    tape: &Tape,
    question: Option<Question>,
) -> Result<Replay, ReplayError> {
    match tape.digits().map_err(ReplayError::Start)? {
        24 => play::<f32>(catalog, settings, tape, question),
        _ => play::<f64>(catalog, settings, tape, question),
    }
}

fn play<T: Scalar>(
    catalog: &Catalog<'_>,
    settings: Settings<'_>,
    tape: &Tape,
    question: Option<Question>,
) -> Result<Replay, ReplayError> {
    let base = Policy::<T>::new(catalog, settings).map_err(ReplayError::Settings)?;
    let prior = tape.prior_numbers(&base)?;
    replay_under(&prior_file::informed(&base, prior.as_deref())?, tape, question)
}

/// The same under a policy in the tape's scalar, with the prior that the journal began from.
///
/// # Errors
/// As for [`replay`], and a policy in the other scalar.
pub fn replay_under<T: Scalar>(
    policy: &Policy<'_, T>,
    tape: &Tape,
    question: Option<Question>,
) -> Result<Replay, ReplayError> {
    // What expired is in the journal, whatever the deadlines were, and so is the place.
    let (catalog, settings) = (policy.catalog(), *policy.settings());
    let settings = Settings { deadline: Deadline::None, expiry: Expiry::Nothing, site: 0, ..settings };
    let policy = Policy::with_prior(catalog, settings, *policy.prior()).map_err(ReplayError::Settings)?;
    let mut life = tape.begin(&policy)?;
    let mut replay = Replay {
        events: u32::try_from(tape.events.len()).unwrap_or(u32::MAX),
        decisions: 0,
        with_defaults: 0,
        woven: 0,
        elsewhere: 0,
        different: Vec::new(),
        difference: None,
        explanation: None,
        rounds: 0,
        observations: 0,
        contrasts: Vec::new(),
        trials: Vec::new(),
    };
    for index in 0..tape.events.len() {
        let event = tape.event(catalog, index)?;
        let state = |error| ReplayError::State { index, error };
        if let Event::Decision { round, action, baseline, context, time: at, probes: ref coins } = event {
            replay.decisions += 1;
            // A journal that does not say so shows it, if the action's own default was another.
            let own = policy.baseline(&context, action, None).to_f64();
            if tape.woven.binary_search(&index).is_ok() {
                replay.woven += 1;
            } else if tape.with_defaults.binary_search(&index).is_ok() || own.to_bits() != baseline.to_bits()
            {
                replay.with_defaults += 1;
            } else if decided_anew(&mut life, &context, at).map_err(state)? != (action, coins.clone()) {
                replay.different.push(round);
                if replay.difference.is_none() {
                    let ([recorded, found], id) =
                        (scored(&life, &context, at, action).map_err(state)?, life.user().id(round));
                    replay.difference = Some(Difference { id, index, context, recorded, found });
                }
            }
        }
        if let Event::Remote(told) = &event
            && matches!(told.change, RemoteChange::Reward { round: 1.., .. })
        {
            replay.elsewhere += 1;
        }
        let mut user = life.user();
        user.check(&event).map_err(state)?.apply();
        if let (Event::Decision { round, .. }, Some(question)) = (&event, question)
            && *round == question.round
            && question.site.is_none_or(|site| site == user.state().site())
            && question.incarnation.is_none_or(|incarnation| incarnation == user.state().incarnation())
        {
            let explained = user.explain(user.id(*round), None, question.other);
            replay.explanation = Some(explained.map(|explanation| explanation.to_string()));
        }
    }
    (replay.rounds, replay.observations) = (life.state().rounds(), life.state().observations());
    let end = |error| ReplayError::State { index: tape.events.len(), error };
    for contrast in 0..catalog.contrasts().len() {
        let Some(comparison) = Comparison::declared(catalog, contrast) else { continue };
        replay.contrasts.push(life.user().assess(&comparison).map_err(end)?);
        replay.trials.push(life.user().trial(contrast).map_err(end)?);
    }
    Ok(replay)
}

/// What the next decision comes out as, and the coins of it. It is proposed and does not happen.
fn decided_anew<T: Scalar>(
    life: &mut HostUser<'_, T>,
    context: &Context,
    at: u32,
) -> Result<(Action, Probes), UserError> {
    let feasible = Feasible::from_set(life.policy().catalog(), *life.state().permissions())
        .map_err(UserError::Feasible)?;
    let mut command = Command::decide(Request::new(context, &feasible).at(at));
    match life.user().next(&mut command)?.map(|step| step.event()) {
        Some(Event::Decision { action, probes: coins, .. }) => Ok((*action, coins.clone())),
        _ => Err(UserError::OutOfOrder),
    }
}

/// Another action and what the next decision comes out as, with the scores that the draw gives them.
fn scored<T: Scalar>(
    life: &HostUser<'_, T>,
    context: &Context,
    at: u32,
    other: Action,
) -> Result<[(Action, f64); 2], UserError> {
    let feasible = Feasible::from_set(life.policy().catalog(), *life.state().permissions())
        .map_err(UserError::Feasible)?;
    let mut here = life.clone();
    let mut user = here.user();
    let decision = user.decide(&Request::new(context, &feasible).at(at))?;
    let why = user.explain(decision.id, None, Some(other))?;
    Ok([(why.other, why.other_score), (why.chosen, why.chosen_score)])
}
