//! A device on the other end of a line: the host's side of the [protocol](fable_wire).
//!
//! A [`Device`] works over anything that reads and writes bytes: a serial port or a TCP connection from [`port`], a pipe, a
//! test. What is not a frame on the line (boot messages, noise) is skipped. A request whose reply does not come in time, or that
//! the device could not read, is sent again under the same number; a device executes it at most once, also when it was reset in
//! between. A request has a deadline, whatever the port sends. With a [`Key`] that the device has too, both sides seal what
//! they say: [`open_with`](Device::open_with).
//!
//! ```no_run
//! use fable_core::{Context, catalog::TAU2};
//! use fable_std::device::{Device, port};
//! use std::time::Duration;
//!
//! let mut device = Device::open(port::tcp("127.0.0.1:4000", Duration::from_secs(2))?)?;
//! let context = Context::new(device.catalog()?, None, &[])?;
//! let decision = device.decide(&context, None, 0)?;
//! println!("{}", TAU2.action_name(decision.action).unwrap());
//! device.feedback(decision.id, 0.5, 1.0, 0)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod line;
pub mod port;
pub mod prior;
mod rules;

use crate::catalogs;
use crate::replay::Replay;
use fable_core::catalog::ContrastSet;
use fable_core::journal::Observation;
use fable_core::preference::{Assessment, Comparison, ProbeOutcome, Standing, Trial, UserRule};
use fable_core::{Action, Catalog, Context, Decision, DecisionId, Feasible, Promotion, Statement};
pub use fable_wire::Key;
use fable_wire::{
    CHUNK, Fault, Hello, Reply, Request, Statistics, WireContext, WireShare, write_entry, write_feasible,
};
use line::{ATTEMPTS, Line};
use std::io::{Read, Write};
use std::time::Duration;
use std::{fmt, io};

/// The longest that a request takes, unless [`open_with`](Device::open_with) says otherwise.
const DEADLINE: Duration = Duration::from_secs(30);

/// What can go wrong on the way to a device and back.
#[derive(Debug)]
#[non_exhaustive]
pub enum DeviceError {
    /// The port fails.
    Port(io::Error),
    /// No answer, each time the request was sent, until its deadline.
    Silent,
    /// The port takes no bytes.
    Stuck,
    /// The other end has closed.
    Closed,
    /// The device speaks another version of the protocol.
    Version {
        /// Its version.
        found: u8,
    },
    /// The device refuses. Its state is as before.
    Refused(Fault),
    /// The answer is not an answer to the request.
    Unexpected,
    /// The device's catalog is none that ships, and was not described.
    Catalog(String),
    /// The device's catalog is another one under the same name.
    OtherCatalog(String),
    /// The device has another key.
    Key,
    /// The device kept on changing while its records were read.
    Restless,
}

impl fmt::Display for DeviceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Port(error) => write!(f, "the port fails: {error}"),
            Self::Silent => {
                write!(f, "the device does not answer in time; a request is sent {ATTEMPTS} times")
            }
            Self::Stuck => f.write_str("the port takes no bytes"),
            Self::Closed => f.write_str("the device has closed the connection"),
            Self::Version { found } => write!(
                f,
                "the device speaks version {found} of the protocol, this program version {}",
                fable_wire::VERSION
            ),
            Self::Refused(Fault::Locked) => {
                f.write_str("the device answers only who has its key: --key-file")
            }
            Self::Refused(Fault::Keyless) => {
                f.write_str("the device has no key, so --key-file would protect nothing")
            }
            Self::Refused(fault) => write!(f, "the device refuses: {fault}"),
            Self::Unexpected => f.write_str("the device answers something else than it was asked"),
            Self::Catalog(name) => {
                let ships = catalogs::NAMES.join(", ");
                write!(
                    f,
                    "the device's catalog '{name}' is none that ships ({ships}) and not the one of --catalog"
                )
            }
            Self::OtherCatalog(name) => write!(
                f,
                "the device's catalog '{name}' has the name of the one here but other content: its own file is needed, with --catalog"
            ),
            Self::Key => f.write_str("the device has another key"),
            Self::Restless => f.write_str("the device keeps on changing while its records are read"),
        }
    }
}

impl std::error::Error for DeviceError {}

crate::from!(DeviceError: io::Error => Port);

/// Why a device chose what it chose; the names are in its catalog.
#[derive(Clone, Debug, PartialEq)]
pub struct Why {
    /// The action that was chosen.
    pub chosen: Action,
    /// What the rule chose before coins were tossed.
    pub intended: Action,
    /// The contrasts that coins were tossed for.
    pub probed: ContrastSet,
    /// The action it is compared with.
    pub other: Action,
    /// Whether the other action was feasible.
    pub feasible: bool,
    /// Whether the action chosen is not the one with the highest mean score.
    pub explored: bool,
    /// Sampled score of the action chosen.
    pub chosen_score: f32,
    /// Sampled score of the other action.
    pub other_score: f32,
    /// What the scores are made of.
    pub shares: Vec<WireShare>,
}

/// A device's kept snapshot, the events after it, and the prior.
#[derive(Clone, Debug, PartialEq)]
pub struct Tape {
    /// Who the device was when they were read.
    pub hello: Hello,
    /// The bytes of the snapshot.
    pub snapshot: Vec<u8>,
    /// The events as records.
    pub events: Vec<Vec<u8>>,
    /// The prior that the incarnation began from, as a [record](prior); empty where it is the policy's own.
    pub prior: Vec<u8>,
}

impl Tape {
    /// Whether every decision came out as on the device, and the counts at the end are those it says it has.
    #[must_use]
    pub fn agrees(&self, replay: &Replay) -> bool {
        replay.different.is_empty()
            && (replay.rounds, replay.observations) == (self.hello.rounds, self.hello.observations)
    }
}

/// A device.
pub struct Device<P> {
    line: Line<P>,
    hello: Hello,
    name: String,
    described: Option<&'static Catalog<'static>>,
}

impl<P: Read + Write> Device<P> {
    /// Ends whatever the line was in the middle of and says hello.
    ///
    /// # Errors
    /// No device at the other end, or one that speaks another version.
    pub fn open(port: P) -> Result<Self, DeviceError> {
        Self::open_with(port, DEADLINE, None)
    }

    /// The same with the longest that a request may take, and with the key that the device has, if it has one.
    ///
    /// # Errors
    /// As for [`open`](Self::open); [`DeviceError::Key`] for a device with another key, [`Fault::Locked`] and [`Fault::Keyless`] where
    /// only one side has one.
    pub fn open_with(port: P, deadline: Duration, key: Option<Key>) -> Result<Self, DeviceError> {
        let nobody = Hello {
            protocol: 0,
            record: 0,
            fingerprint: 0,
            guarantee_fingerprint: 0,
            catalog: 0,
            digits: 0,
            actions: 0,
            dimension: 0,
            tasks: 0,
            signals: 0,
            contrasts: 0,
            ring: 0,
            user: 0,
            incarnation: 0,
            site: 0,
            rounds: 0,
            observations: 0,
        };
        let line = Line::new(port, deadline, key)?;
        let mut device = Self { line, hello: nobody, name: String::new(), described: None };
        device.greet()?;
        Ok(device)
    }

    /// Says hello again and returns what is true now.
    ///
    /// # Errors
    /// As for every request: a port that fails, a device that does not answer or refuses.
    pub fn greet(&mut self) -> Result<Hello, DeviceError> {
        let (Reply::Hello(hello), name) = self.ask(&Request::Hello, &[])? else {
            return Err(DeviceError::Unexpected);
        };
        self.hello = hello;
        self.name = String::from_utf8_lossy(&name).into_owned();
        Ok(hello)
    }

    /// What the device last said about itself.
    #[must_use]
    pub const fn hello(&self) -> &Hello {
        &self.hello
    }

    /// The name of its catalog.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Tells what a device's catalog is when it does not ship.
    pub const fn describe(&mut self, catalog: &'static Catalog<'static>) {
        self.described = Some(catalog);
    }

    /// Its catalog: the one it was [described](Self::describe) with, or one that ships.
    ///
    /// # Errors
    /// [`DeviceError::Catalog`] when there is none of that name, [`DeviceError::OtherCatalog`] when its
    /// [fingerprint](Catalog::fingerprint) is not the device's.
    pub fn catalog(&self) -> Result<&'static Catalog<'static>, DeviceError> {
        let described = self.described.filter(|catalog| catalog.definition().name == self.name);
        let Some(catalog) = described.or_else(|| catalogs::find(&self.name)) else {
            return Err(DeviceError::Catalog(self.name.clone()));
        };
        let same = catalog.fingerprint() == self.hello.catalog;
        if same { Ok(catalog) } else { Err(DeviceError::OtherCatalog(self.name.clone())) }
    }

    /// The port, when the device is no longer needed.
    pub fn into_port(self) -> P {
        self.line.port
    }

    /// States a preference; the observations so far.
    ///
    /// # Errors
    /// As for every request.
    pub fn onboard(&mut self, statement: &Statement) -> Result<u32, DeviceError> {
        let entry = |(coordinate, value): (usize, f64)| {
            write_entry(u16::try_from(coordinate).unwrap_or(u16::MAX), value)
        };
        let payload: Vec<u8> = statement.direction.entries().flat_map(entry).collect();
        self.count(
            &Request::Onboard { response: statement.response, precision: statement.precision },
            &payload,
        )
    }

    /// Asks for a decision. Without a feasible set the last one holds, and at first everything is allowed.
    ///
    /// # Errors
    /// As for every request.
    pub fn decide(
        &mut self,
        context: &Context,
        feasible: Option<&Feasible>,
        at: u32,
    ) -> Result<Decision, DeviceError> {
        self.decide_and_tell(context, feasible, at).map(|(decision, _)| decision)
    }

    /// The same with the coins that were tossed for it.
    ///
    /// # Errors
    /// As for every request.
    pub fn decide_and_tell(
        &mut self,
        context: &Context,
        feasible: Option<&Feasible>,
        at: u32,
    ) -> Result<(Decision, Vec<ProbeOutcome>), DeviceError> {
        self.decide_against(context, feasible, None, at)
    }

    /// The same with the caller's own default scores, one for every action of a catalog that has at most
    /// [`MAX_DEFAULTS`](fable_wire::MAX_DEFAULTS).
    ///
    /// # Errors
    /// As for every request.
    pub fn decide_against(
        &mut self,
        context: &Context,
        feasible: Option<&Feasible>,
        defaults: Option<&[f32]>,
        at: u32,
    ) -> Result<(Decision, Vec<ProbeOutcome>), DeviceError> {
        match self
            .ask(
                &Request::Decide { context: WireContext::new(context), time: at },
                &terms(feasible, defaults),
            )?
            .0
        {
            Reply::Decided { round: round @ 1.., action, baseline, probes } => {
                self.hello.rounds = round;
                let id = DecisionId {
                    user: self.hello.user,
                    incarnation: self.hello.incarnation,
                    site: self.hello.site,
                    round,
                };
                Ok((Decision { id, action: Action(action), baseline }, probes.to_vec()))
            }
            _ => Err(DeviceError::Unexpected),
        }
    }

    /// What would be best by what is known, with its mean score: nothing is explored and nothing kept.
    ///
    /// # Errors
    /// As for every request.
    pub fn recommend(
        &mut self,
        context: &Context,
        feasible: Option<&Feasible>,
        defaults: Option<&[f32]>,
    ) -> Result<(Action, f64), DeviceError> {
        match self
            .ask(&Request::Recommend { context: WireContext::new(context) }, &terms(feasible, defaults))?
            .0
        {
            Reply::Decided { round: 0, action, baseline: score, .. } => Ok((Action(action), score)),
            _ => Err(DeviceError::Unexpected),
        }
    }

    /// Tells how a decision went, at the caller's time `now`; the observations so far.
    ///
    /// # Errors
    /// As for every request. A decision of another user is refused here.
    pub fn feedback(
        &mut self,
        id: DecisionId,
        reward: f64,
        weight: f32,
        now: u32,
    ) -> Result<u32, DeviceError> {
        self.own(id)?;
        self.count(
            &Request::Feedback { incarnation: id.incarnation, round: id.round, reward, weight, time: now },
            &[],
        )
    }

    /// Tells how an action chosen elsewhere went; the observations so far.
    ///
    /// # Errors
    /// As for every request.
    pub fn observe(
        &mut self,
        context: &Context,
        action: Action,
        reward: f64,
        weight: f32,
    ) -> Result<u32, DeviceError> {
        self.count(
            &Request::Observe { context: WireContext::new(context), action: action.0, reward, weight },
            &[],
        )
    }

    /// Takes an observation back, of which fadings have kept so much; the observations left. The contrasts whose coins it was the
    /// reward of start again.
    ///
    /// # Errors
    /// As for every request.
    pub fn unlearn(
        &mut self,
        observation: &Observation,
        imputed: bool,
        kept: f32,
        probed: ContrastSet,
    ) -> Result<u32, DeviceError> {
        let Observation { context, action: Action(action), baseline, reward, weight } = *observation;
        let (context, probed) = (WireContext::new(&context), *probed.words());
        self.count(
            &Request::Unlearn { context, action, baseline, reward, weight, imputed, kept, probed },
            &[],
        )
    }

    /// Asks why an action was chosen, against another one or the runner-up.
    ///
    /// # Errors
    /// As for every request.
    pub fn explain(&mut self, id: DecisionId, against: Option<Action>) -> Result<Why, DeviceError> {
        self.own(id)?;
        let mut found = Vec::new();
        loop {
            let request = Request::Explain {
                incarnation: id.incarnation,
                round: id.round,
                other: against.map(|action| action.0),
                first: u16::try_from(found.len()).map_err(|_| DeviceError::Unexpected)?,
            };
            let (reply, payload) = self.ask(&request, &[])?;
            let Reply::Explanation {
                chosen,
                intended,
                probed,
                other,
                feasible,
                explored,
                chosen_score,
                other_score,
                shares,
            } = reply
            else {
                return Err(DeviceError::Unexpected);
            };
            let (mut payload, before) = (&payload[..], found.len());
            while !payload.is_empty() {
                found.push(WireShare::take(&mut payload).map_err(|_| DeviceError::Unexpected)?);
            }
            if found.len() >= usize::from(shares) {
                let (chosen, intended, other) = (Action(chosen), Action(intended), Action(other));
                let (probed, shares) = (ContrastSet::from_words(probed), found);
                return Ok(Why {
                    chosen,
                    intended,
                    probed,
                    other,
                    feasible,
                    explored,
                    chosen_score,
                    other_score,
                    shares,
                });
            }
            if found.len() == before {
                return Err(DeviceError::Unexpected);
            }
        }
    }

    /// How a contrast that the catalog declares stands.
    ///
    /// # Errors
    /// As for every request.
    pub fn assess(&mut self, contrast: u8) -> Result<Assessment, DeviceError> {
        self.assessment(&Request::Assess { contrast })
    }

    /// What coins have shown about a contrast that the catalog declares.
    ///
    /// # Errors
    /// As for every request.
    pub fn trial(&mut self, contrast: u8) -> Result<Trial, DeviceError> {
        match self.ask(&Request::Trial { contrast }, &[])?.0 {
            Reply::Trial(trial) => Ok(trial),
            _ => Err(DeviceError::Unexpected),
        }
    }

    /// How two actions compare.
    ///
    /// # Errors
    /// As for every request.
    pub fn compare(&mut self, comparison: &Comparison) -> Result<Assessment, DeviceError> {
        let Comparison { context, prefer, over, total } = comparison;
        let context = WireContext::new(context);
        self.assessment(&Request::Compare { context, prefer: prefer.0, over: over.0, total: *total })
    }

    /// The promoted preferences and what has become of them.
    ///
    /// # Errors
    /// As for every request.
    pub fn profile(&mut self) -> Result<Vec<(Promotion, Standing)>, DeviceError> {
        let mut profile = Vec::new();
        loop {
            let index = u16::try_from(profile.len()).map_err(|_| DeviceError::Unexpected)?;
            let Reply::Promotion { count, entry } = self.ask(&Request::Profile { index }, &[])?.0 else {
                return Err(DeviceError::Unexpected);
            };
            profile.extend(entry);
            if profile.len() >= usize::from(count) {
                return Ok(profile);
            }
            if entry.is_none() {
                return Err(DeviceError::Unexpected);
            }
        }
    }

    /// Promotes what is decided now; how much that was.
    ///
    /// # Errors
    /// As for every request.
    pub fn promote(&mut self, at: u32) -> Result<u32, DeviceError> {
        self.count(&Request::Promote { time: at }, &[])
    }

    /// Ends the wait of every decision whose deadline has passed; how many there were.
    ///
    /// # Errors
    /// As for every request.
    pub fn expire(&mut self, now: u32) -> Result<u32, DeviceError> {
        self.count(&Request::Expire { time: now }, &[])
    }

    /// Counts.
    ///
    /// # Errors
    /// As for every request.
    pub fn statistics(&mut self) -> Result<Statistics, DeviceError> {
        match self.ask(&Request::Statistics, &[])?.0 {
            Reply::Statistics(statistics) => Ok(statistics),
            _ => Err(DeviceError::Unexpected),
        }
    }

    /// The bytes of the kept snapshot, to be written to a file.
    ///
    /// # Errors
    /// As for every request.
    pub fn snapshot(&mut self) -> Result<Vec<u8>, DeviceError> {
        self.collect(|offset| Request::Snapshot { offset })
    }

    /// The bytes that come chunk by chunk.
    fn collect(&mut self, request: impl Fn(u32) -> Request) -> Result<Vec<u8>, DeviceError> {
        let mut bytes = Vec::new();
        loop {
            let wanted = u32::try_from(bytes.len()).map_err(|_| DeviceError::Unexpected)?;
            match self.ask(&request(wanted), &[])? {
                (Reply::Chunk { offset }, chunk) if offset == wanted => {
                    bytes.extend_from_slice(&chunk);
                    if chunk.len() < CHUNK {
                        return Ok(bytes);
                    }
                }
                _ => return Err(DeviceError::Unexpected),
            }
        }
    }

    /// Replaces the device's state by a snapshot; the rounds it has. The device verifies all of it first.
    ///
    /// # Errors
    /// As for every request.
    pub fn restore(&mut self, snapshot: &[u8]) -> Result<u32, DeviceError> {
        let length = self.stage(snapshot)?;
        let rounds = self.count(&Request::Commit { length }, &[])?;
        self.greet()?;
        Ok(rounds)
    }

    /// Sends bytes to be committed; how many they are.
    fn stage(&mut self, bytes: &[u8]) -> Result<u32, DeviceError> {
        let length = u32::try_from(bytes.len()).map_err(|_| DeviceError::Unexpected)?;
        for (offset, chunk) in (0..).step_by(CHUNK).zip(bytes.chunks(CHUNK)) {
            self.count(&Request::Stage { offset }, chunk)?;
        }
        Ok(length)
    }

    /// The events after the kept snapshot, as records.
    ///
    /// # Errors
    /// As for every request.
    pub fn journal(&mut self) -> Result<Vec<Vec<u8>>, DeviceError> {
        let mut events = Vec::new();
        for wanted in 0.. {
            match self.ask(&Request::Event { index: wanted }, &[]) {
                Ok((Reply::Event { index }, event)) if index == wanted => events.push(event),
                Ok(_) => return Err(DeviceError::Unexpected),
                Err(DeviceError::Refused(Fault::Missing)) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(events)
    }

    /// Snapshot, journal and prior that belong together: everything needed to [replay](Tape::replay) the device here.
    ///
    /// # Errors
    /// As for every request; [`DeviceError::Restless`] when someone else keeps on changing the device.
    pub fn tape(&mut self) -> Result<Tape, DeviceError> {
        for _ in 0..ATTEMPTS {
            let before = self.statistics()?;
            let (snapshot, events, prior) = (self.snapshot()?, self.journal()?, self.prior(false)?);
            let after = self.statistics()?;
            if (before.store, before.rounds, before.observations)
                == (after.store, after.rounds, after.observations)
            {
                return Ok(Tape { hello: self.greet()?, snapshot, events, prior });
            }
        }
        Err(DeviceError::Restless)
    }

    /// What the device's user wishes: of the kept snapshot, with the events after it.
    ///
    /// # Errors
    /// As for [`tape`](Self::tape); [`DeviceError::Unexpected`] for records that say something impossible.
    pub fn wishes(&mut self) -> Result<Vec<UserRule>, DeviceError> {
        let catalog = self.catalog()?;
        rules::wishes(catalog, &self.tape()?).ok_or(DeviceError::Unexpected)
    }

    /// Makes these all that the device's user wishes, one change after the other; how many there were.
    ///
    /// # Errors
    /// As for every request. Those before may have happened: do it again.
    pub fn wish(&mut self, wishes: &[UserRule]) -> Result<usize, DeviceError> {
        let known = self.wishes()?;
        let gone = known.iter().filter(|wish| !wishes.contains(wish)).map(|wish| (wish, false));
        let new = wishes.iter().filter(|wish| !known.contains(wish)).map(|wish| (wish, true));
        let changes: Vec<(&UserRule, bool)> = gone.chain(new).collect();
        for (wish, stands) in &changes {
            self.count(&Request::UserRule { code: wish.code(), stands: *stands }, &[])?;
        }
        Ok(changes.len())
    }

    /// Forgets the user; the new incarnation.
    ///
    /// # Errors
    /// As for every request.
    pub fn forget(&mut self) -> Result<u32, DeviceError> {
        let incarnation = self.count(&Request::Forget, &[])?;
        self.greet()?;
        Ok(incarnation)
    }

    /// Sends a request and returns the reply to it with its payload.
    ///
    /// # Errors
    /// A port that fails, a device that does not answer or refuses.
    pub fn ask(&mut self, request: &Request, payload: &[u8]) -> Result<(Reply, Vec<u8>), DeviceError> {
        self.line.ask(request, payload)
    }

    fn count(&mut self, request: &Request, payload: &[u8]) -> Result<u32, DeviceError> {
        match self.ask(request, payload)?.0 {
            Reply::Done { count } => Ok(count),
            _ => Err(DeviceError::Unexpected),
        }
    }

    fn assessment(&mut self, request: &Request) -> Result<Assessment, DeviceError> {
        match self.ask(request, &[])?.0 {
            Reply::Assessment(assessment) => Ok(assessment),
            _ => Err(DeviceError::Unexpected),
        }
    }

    /// Decisions of other users are unknown, and those of other places are learned there.
    fn own(&self, id: DecisionId) -> Result<(), DeviceError> {
        let refused = |error: fable_core::UserError| Err(DeviceError::Refused(error.into()));
        if id.user != self.hello.user {
            refused(fable_core::UserError::UnknownDecision)
        } else if id.site != self.hello.site {
            refused(fable_core::UserError::DecidedElsewhere)
        } else {
            Ok(())
        }
    }
}

/// The payload of a request to decide.
fn terms(feasible: Option<&Feasible>, defaults: Option<&[f32]>) -> Vec<u8> {
    let words = feasible.into_iter().flat_map(write_feasible).flatten();
    words.chain(defaults.into_iter().flatten().flat_map(|score| score.to_le_bytes())).collect()
}
