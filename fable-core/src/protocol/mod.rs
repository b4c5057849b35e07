//! What a host and a device say to each other over a serial line: one request, one reply, one frame each.
//!
//! A **frame** is, before byte stuffing: the version of the protocol (one byte; bit 7 is set in a reply, bit 6 where there is a
//! seal), a sequence number (four bytes, little-endian), the message (postcard), its payload (raw bytes up to the seal or the
//! checksum), in a session with a key the seal, and the CRC-32/ISO-HDLC of all that, four bytes, little-endian. It is stuffed
//! (COBS) and ends with a zero byte, at most [`MAX_FRAME`] bytes in all. Between frames the line may carry anything: a receiver
//! drops what is not a frame and goes on after the next zero.
//!
//! A device answers every frame but a reply, so two devices wired to each other stay quiet. A reply has the sequence number of
//! its request; 0 is for frames that could not be read.
//!
//! # At most once
//!
//! A request that changes something is executed **at most once**, also when the device was reset in between. The CRC-32 of its
//! version, sequence number, message and payload is its *ticket*; the device keeps the ticket of the last such request with what
//! it did, in the same write, and answers it again without doing it again. So a host that has seen no answer sends the same
//! request with the same sequence number again, at once or after the device is back. A host begins with a random sequence number
//! and counts up, past 0, so that no other request has the same ticket; two requests that differ only there never do. A device
//! knows the last request: a host waits for its answer before it sends another one that changes something.
//!
//! A [migration](crate::migrate::Migration) is the exception: the answer to the last request was of the old catalog and is not kept, so a request
//! that is resent across the update is executed again. A host asks for *hello* first, which says another catalog then.
//!
//! What a reset leaves behind is made up as follows. Bytes that were staged are gone with a reset: the upload begins again. A
//! reset in the middle of a request that takes several events leaves those that were stored, and the rest is done when the
//! request comes again; promotions that follow a reward wait for a later look.
//!
//! # Sessions with a key
//!
//! Off unless a device was given a key (feature `keyed`), 16 bytes that both sides have. A host sends *open* with eight random
//! bytes; the device answers with a nonce of its own. Both derive the session's key from the key and the nonces, and every frame
//! from then on has a seal: a counter (`u32`) and a tag (eight bytes), SipHash-2-4 under the session's key over the counter and all
//! before it. A request has a higher counter than the one before, also when it is sent again; a reply has the counter of
//! its request. So a frame that was changed, repeated, put into another order, sent back or taken from another session is
//! refused ([`Fault::Session`]), and nothing has changed. A forged frame passes once in 2^64 attempts, with 500 of them a second
//! once in a thousand million years; the key has 128 bits.
//!
//! A device with a key answers nothing without a seal but *open*, from which one learns that there is a device with a key, and
//! its version; even who it is (hello) it says only under the seal. Seals do not hide: who reads the line reads what is said.
//! Who can write to it can disturb it. A reset ends the session; the host opens another one and sends its request again.
//!
//! # Requests
//!
//! | tag | request | content | payload | reply |
//! |---|---|---|---|---|
//! | 0 | hello | | | 1 hello |
//! | 1 | onboard | response `f64`, precision `f64` | entries: coordinate `u16`, coefficient `f64`, 10 bytes each | 2 done: observations |
//! | 2 | decide | context, time `u32` | words of the feasible set, 4 bytes each; none: what the last decision was made from, at first everything; refused (as an empty set) where a migration has left nothing of it. Then, if the caller has its own, a default score `f32` for every action, of at most [`MAX_DEFAULTS`] | 3 decided |
//! | 3 | feedback | incarnation `u32`, round `u32`, reward `f64`, weight `f32`, time `u32` | | 2 done: observations |
//! | 4 | observe | context, action `u16`, reward `f64`, weight `f32` | | 2 done: observations |
//! | 5 | unlearn | context, action `u16`, baseline `f64`, reward `f64`, weight `f32`, imputed `u8`, left of it `f32`, contrasts of its coins 2 x `u32` | | 2 done: observations |
//! | 6 | explain | incarnation `u32`, round `u32`, other action (0, or 1 and `u16`), first share `u16` | | 4 explanation |
//! | 7 | assess | declared contrast `u8` | | 5 assessment |
//! | 8 | compare | context, two actions `u16`, total `u8` | | 5 assessment |
//! | 9 | profile | position `u16` | | 6 promotion |
//! | 10 | promote | time `u32` | | 2 done: newly promoted |
//! | 11 | statistics | | | 7 statistics |
//! | 12 | expire | time `u32` | | 2 done: newly expired |
//! | 13 | snapshot | offset `u32` | | 8 chunk |
//! | 14 | stage | offset `u32` | bytes of a snapshot or a prior | 2 done: bytes staged |
//! | 15 | commit | length `u32` | | 2 done: rounds |
//! | 16 | event | position `u32` | | 9 event |
//! | 17 | forget | | | 2 done: incarnation |
//! | 18 | prior | next `u8`, offset `u32` | | 8 chunk |
//! | 19 | commit prior | length `u32`, 0 for none | | 2 done: length |
//! | 20 | trial | declared contrast `u8` | | 10 trial |
//! | 21 | recommend | context | as for decide | 3 decided: round 0, and the mean score in the place of the baseline |
//! | 22 | wish | [code](crate::preference::UserRule::code) `u32`, whether it stands `u8` | | 2 done: observations |
//! | 23 | open | nonce `u64`, fixed | | 11 opened: nonce `u64`, fixed, count `u32` |
//!
//! Stage at offset 0, forget and commit prior with length 0 erase flash at once. A device that wears out allows a few of them,
//! and more after decisions and rewards ([`Fault::Limited`]).
//!
//! The rules of the catalog and of the user narrow every feasible set. A host whose rules have conditions, or that has lifted one,
//! sends the set anew: the last one was narrowed where it was used.
//!
//! Reply 0 is a [`Fault`]. A context is as in a [record](crate::record). The payload of hello is the catalog's name; of an
//! explanation its [`WireShare`]s, one after the other; of a chunk at most [`CHUNK`] bytes, fewer at the end; of an event its
//! record. Integers are postcard's varints, except where [`Hello`] and [`Promotion`] say fixed.
//!
//! `postcard-rpc` was looked at and not taken: over `embedded-io` it brings embassy's executor and a task per device, a
//! schema for every type and tokio on the host, and it does not work blocking. Its frames carry no checksum and go through
//! the `cobs` crate, which does not link without panics; what is left of it is this module.
//!
//! ```
//! use fable_core::protocol::{Draft, Frame, MAX_FRAME, Request};
//! let mut buffer = [0; MAX_FRAME];
//! let request = Request::Feedback { incarnation: 0, round: 7, reward: 0.5, weight: 1.0, time: 0 };
//! let mut sent = Draft::request(&mut buffer, 1, &request).seal().to_vec();
//! assert_eq!((sent.len(), sent.pop()), (27, Some(0)));
//! let frame = Frame::open(&mut sent)?;
//! assert_eq!((frame.sequence, frame.request()?.0), (1, request));
//! # Ok::<(), fable_core::protocol::Fault>(())
//! ```

mod codec;
mod fault;
mod frame;
#[cfg(feature = "keyed")]
mod session;

pub use fault::{Fault, StorageFault};
pub use frame::{DELIMITER, Draft, Frame, MAX_FRAME};
#[cfg(feature = "keyed")]
pub use session::{Key, Session};

use crate::catalog::{
    ActionSet, Catalog, Context, ContextError, Direction, Feasible, MAX_SIGNALS, Statement,
};
use crate::user::{Assessment, ProbeOutcomes, Promotion, Share, Source, Standing, State, Trial, UserError};
use postcard::fixint;
use serde::{Deserialize, Serialize};

/// The version of the protocol, from 1 to 63.
pub const VERSION: u8 = 4;
/// Most bytes of a snapshot or a prior in one frame.
pub const CHUNK: usize = 256;
/// Most actions of a catalog that a request can have default scores for.
pub const MAX_DEFAULTS: usize = 32;

/// Default scores that came with a request.
pub type Defaults<const N: usize = MAX_DEFAULTS> = heapless::Vec<f64, N>;

/// A context as it is sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct WireContext {
    /// 0, or 1 + the task.
    task: u8,
    signals: heapless::Vec<f32, MAX_SIGNALS>,
}

impl WireContext {
    /// For the wire.
    #[must_use]
    #[inline]
    pub fn new(context: &Context) -> Self {
        let task = context.task().and_then(|task| u8::try_from(task + 1).ok()).unwrap_or(0);
        Self { task, signals: heapless::Vec::from_slice(context.signals()).unwrap_or_default() }
    }

    /// The context of a catalog.
    ///
    /// # Errors
    /// As for [`Context::new`].
    #[inline]
    pub fn context(&self, catalog: &Catalog<'_>) -> Result<Context, ContextError> {
        Context::new(catalog, self.task.checked_sub(1).map(usize::from), &self.signals)
    }
}

/// What a host asks. The module says what each is answered with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Request {
    /// Who are you?
    Hello,
    /// A stated preference; its direction is the payload.
    Onboard {
        /// In [-1, 1].
        response: f64,
        /// 0 skips the statement.
        precision: f64,
    },
    /// Choose; the feasible set is the payload, if it has changed.
    Decide {
        /// Where.
        context: WireContext,
        /// The caller's time.
        time: u32,
    },
    /// A reward for an earlier decision.
    Feedback {
        /// The decision's incarnation.
        incarnation: u32,
        /// The decision's round.
        round: u32,
        /// In [-1, 1].
        reward: f64,
        /// 1 for an ordinary reward.
        weight: f32,
        /// The caller's time.
        time: u32,
    },
    /// A reward for an action chosen elsewhere.
    Observe {
        /// Where.
        context: WireContext,
        /// What was done.
        action: u16,
        /// In [-1, 1].
        reward: f64,
        /// 1 for an ordinary reward.
        weight: f32,
    },
    /// Take an earlier observation back.
    Unlearn {
        /// Where.
        context: WireContext,
        /// What was done.
        action: u16,
        /// The reference score it was compared with.
        baseline: f64,
        /// In [-1, 1].
        reward: f64,
        /// As it was learned.
        weight: f32,
        /// Whether its reward was imputed, so that it is not evidence.
        imputed: bool,
        /// How much of it fadings have left, 1 without any.
        kept: f32,
        /// Contrasts whose coins it was the reward of, 32 each, the first lowest.
        probed: [u32; 2],
    },
    /// Why was this chosen?
    Explain {
        /// The decision's incarnation.
        incarnation: u32,
        /// The decision's round.
        round: u32,
        /// The action to compare with; the runner-up if none.
        other: Option<u16>,
        /// The first share that is wanted.
        first: u16,
    },
    /// How does a declared contrast stand?
    Assess {
        /// Its position in the catalog.
        contrast: u8,
    },
    /// How do two actions compare?
    Compare {
        /// Where.
        context: WireContext,
        /// The action a positive contrast prefers.
        prefer: u16,
        /// The other one.
        over: u16,
        /// Whether the difference of the reference scores is added.
        total: bool,
    },
    /// One promoted preference.
    Profile {
        /// Its position.
        index: u16,
    },
    /// Promote what is decided now.
    Promote {
        /// The caller's time.
        time: u32,
    },
    /// Counts.
    Statistics,
    /// End the wait of every decision whose deadline has passed.
    Expire {
        /// The caller's time.
        time: u32,
    },
    /// Bytes of the kept snapshot.
    Snapshot {
        /// Where they start.
        offset: u32,
    },
    /// Keep the payload as part of a snapshot or a prior that is not yet used.
    Stage {
        /// Where it starts. 0 starts over.
        offset: u32,
    },
    /// Use the staged snapshot instead of the present state.
    Commit {
        /// Its bytes in all.
        length: u32,
    },
    /// One event of the journal after the kept snapshot.
    Event {
        /// Its position.
        index: u32,
    },
    /// Go back to the prior, leaving nothing readable.
    Forget,
    /// Bytes of a kept prior, as a [record](crate::record::prior); none where the policy's own counts.
    Prior {
        /// The one that the next incarnation begins from, not the one that this one began from.
        next: bool,
        /// Where they start.
        offset: u32,
    },
    /// Begin the next incarnation from the staged prior, or with length 0 from the policy's own again.
    CommitPrior {
        /// Its bytes in all.
        length: u32,
    },
    /// What have coins shown about a declared contrast?
    Trial {
        /// Its position in the catalog.
        contrast: u8,
    },
    /// What would be best by what is known? Nothing is explored and nothing kept; the payload is that of a request to decide.
    Recommend {
        /// Where.
        context: WireContext,
    },
    /// The user wishes something from now on, or does not any more.
    UserRule {
        /// [What](crate::preference::UserRule::code).
        code: u32,
        /// Whether it stands.
        stands: bool,
    },
    /// Begin a session with the key that both have.
    Open {
        /// The host's random part of it. Fixed, 8 bytes.
        #[serde(with = "fixint::le")]
        nonce: u64,
    },
}

impl Request {
    /// The highest tag.
    pub(super) const LAST: u8 = 23;

    #[inline]
    const fn has_payload(&self) -> bool {
        matches!(
            self,
            Self::Onboard { .. } | Self::Decide { .. } | Self::Recommend { .. } | Self::Stage { .. }
        )
    }
}

/// What a device answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Reply {
    /// No, and nothing has changed.
    Fault(Fault),
    /// Who it is; the payload is the catalog's name.
    Hello(Hello),
    /// Done, with the count that the table of the [module](self) says.
    Done {
        /// How many.
        count: u32,
    },
    /// What was chosen, or recommended.
    Decided {
        /// The decision's round; 0 for a recommendation.
        round: u32,
        /// The action.
        action: u16,
        /// Its known reference score; the mean score of a recommendation.
        baseline: f64,
        /// The coins that were tossed for it.
        probes: ProbeOutcomes,
    },
    /// Why; the payload is the shares, from the one that was asked for on, as many as fit.
    Explanation {
        /// The action that was chosen.
        chosen: u16,
        /// What the rule chose before coins were tossed.
        intended: u16,
        /// The contrasts that coins were tossed for, 32 each, the first lowest.
        probed: [u32; 2],
        /// The action it is compared with.
        other: u16,
        /// Whether the other action was feasible.
        feasible: bool,
        /// Whether the action chosen is not the one with the highest mean score.
        explored: bool,
        /// Sampled score of the action chosen.
        chosen_score: f32,
        /// Sampled score of the other action.
        other_score: f32,
        /// Shares in all.
        shares: u16,
    },
    /// What is known about a contrast.
    Assessment(Assessment),
    /// A promoted preference.
    Promotion {
        /// Promoted preferences in all.
        count: u16,
        /// The one asked for, and what has become of it; none in an empty profile.
        entry: Option<(Promotion, Standing)>,
    },
    /// Counts.
    Statistics(Statistics),
    /// Bytes of the kept snapshot or prior, the payload.
    Chunk {
        /// Where they start.
        offset: u32,
    },
    /// An event, the payload.
    Event {
        /// Its position.
        index: u32,
    },
    /// What coins have shown about a contrast.
    Trial(Trial),
    /// A session has begun; the frame is sealed by it, with counter 0.
    Opened {
        /// The device's part of it, which it has for all sessions since its start. Fixed, 8 bytes.
        #[serde(with = "fixint::le")]
        nonce: u64,
        /// Which of those this is.
        count: u32,
    },
}

impl Reply {
    #[inline]
    const fn has_payload(&self) -> bool {
        matches!(self, Self::Hello(_) | Self::Explanation { .. } | Self::Chunk { .. } | Self::Event { .. })
    }
}

/// Who a device is: everything a host needs to know before it can make sense of the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Hello {
    /// [`VERSION`] of the protocol.
    pub protocol: u8,
    /// [`VERSION`](crate::record::VERSION) of its records.
    pub record: u8,
    /// [Fingerprint](crate::Policy::fingerprint) of its policy. Fixed, 8 bytes.
    #[serde(with = "fixint::le")]
    pub fingerprint: u64,
    /// [Fingerprint](crate::Policy::guarantee_fingerprint) of its promotion settings. Fixed, 4 bytes.
    #[serde(with = "fixint::le")]
    pub guarantee_fingerprint: u32,
    /// [Fingerprint](Catalog::fingerprint) of its catalog. Fixed, 8 bytes.
    #[serde(with = "fixint::le")]
    pub catalog: u64,
    /// 24 for `f32`, 53 for `f64`.
    pub digits: u8,
    /// Actions of the catalog.
    pub actions: u16,
    /// Coordinates of the dictionary.
    pub dimension: u16,
    /// Tasks.
    pub tasks: u8,
    /// Signals.
    pub signals: u8,
    /// Declared contrasts.
    pub contrasts: u8,
    /// Room for decisions that wait and for promotions.
    pub ring: u16,
    /// Hash of the user. Fixed, 8 bytes.
    #[serde(with = "fixint::le")]
    pub user: u64,
    /// How often the user was forgotten.
    pub incarnation: u32,
    /// The place that decides.
    pub site: u32,
    /// Decisions in this incarnation.
    pub rounds: u32,
    /// Rewards learned in this incarnation.
    pub observations: u32,
}

/// Counts of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Statistics {
    /// Decisions in this incarnation.
    pub rounds: u32,
    /// Rewards learned in this incarnation.
    pub observations: u32,
    /// Decisions that wait for their reward; those whose deadline in time has passed are among them until that is recorded.
    pub waiting: u16,
    /// Promoted preferences.
    pub promotions: u16,
    /// Requests answered since the reset.
    pub answered: u32,
    /// Frames and requests refused since the reset.
    pub refused: u32,
    /// What is kept.
    pub kept: Kept,
}

/// Counts of the place where a device keeps its state; all 0 when it keeps nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Kept {
    /// Snapshots written so far; changes when the kept snapshot does.
    pub generation: u32,
    /// Events after the kept snapshot.
    pub events: u32,
    /// Bytes free for events, about.
    pub free: u32,
    /// Pages erased since the place was formatted, as far as it is known.
    pub erases: u32,
}

/// One share of an explanation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct WireShare {
    /// 0 for the default score, 1 for the cost, 2 for the draw, 3 for the bonus, 4 + the position of a block.
    part: u8,
    /// What it adds to the score of the action chosen.
    pub chosen: f32,
    /// What it adds to the score of the other action.
    pub other: f32,
    /// The coordinate that the action chosen has.
    pub chosen_coordinate: Option<u16>,
    /// The coordinate that the other action has.
    pub other_coordinate: Option<u16>,
}

impl WireShare {
    /// For the wire.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "seven digits are plenty for people")]
    #[inline]
    pub fn new(share: &Share) -> Self {
        let part = match share.source {
            Source::Default => 0,
            Source::Cost => 1,
            Source::Draw => 2,
            Source::Bonus => 3,
            Source::Block(block) => block.saturating_add(4),
        };
        let coordinate =
            |coordinate: Option<usize>| coordinate.and_then(|coordinate| u16::try_from(coordinate).ok());
        Self {
            part,
            chosen: share.chosen as f32,
            other: share.other as f32,
            chosen_coordinate: coordinate(share.chosen_coordinate),
            other_coordinate: coordinate(share.other_coordinate),
        }
    }

    /// Where it comes from.
    #[must_use]
    pub const fn source(&self) -> Source {
        match self.part {
            0 => Source::Default,
            1 => Source::Cost,
            2 => Source::Draw,
            3 => Source::Bonus,
            block => Source::Block(block - 4),
        }
    }

    /// Takes one share from a payload and leaves the rest.
    ///
    /// # Errors
    /// [`Fault::Content`] when there is none.
    pub fn take<'b>(payload: &mut &'b [u8]) -> Result<Self, Fault> {
        let (share, rest): (Self, &'b [u8]) =
            postcard::take_from_bytes(payload).map_err(|_| Fault::Content)?;
        *payload = rest;
        Ok(share)
    }
}

/// Bytes of a direction's entry.
const ENTRY: usize = 10;

/// The statement of an onboarding request.
///
/// # Errors
/// A payload that is not a direction of the catalog.
#[inline]
pub fn read_statement(
    catalog: &Catalog<'_>,
    response: f64,
    precision: f64,
    payload: &[u8],
) -> Result<Statement, Fault> {
    let (entries, []) = payload.as_chunks::<ENTRY>() else { return Err(Fault::Content) };
    let entries = entries.iter().map(|[low, high, value @ ..]| {
        (usize::from(u16::from_le_bytes([*low, *high])), f64::from_le_bytes(*value))
    });
    let direction = Direction::new(catalog, entries).map_err(UserError::Onboarding)?;
    Ok(Statement { direction, response, precision })
}

/// One entry of the payload of an onboarding request.
#[must_use]
pub fn write_entry(coordinate: u16, coefficient: f64) -> [u8; ENTRY] {
    let ([low, high], [a, b, c, d, e, f, g, h]) = (coordinate.to_le_bytes(), coefficient.to_le_bytes());
    [low, high, a, b, c, d, e, f, g, h]
}

/// The caller's own default scores at the end of the payload of a request to decide, one for every action or none, and what is before them.
///
/// # Errors
/// A catalog with more actions than such a request can have scores for.
#[inline]
pub fn read_defaults<'p, const N: usize>(
    catalog: &Catalog<'_>,
    payload: &'p [u8],
    defaults: &mut Defaults<N>,
) -> Result<&'p [u8], Fault> {
    // A set of so many actions has fewer words than that.
    let Some(words) = payload.len().checked_sub(4 * catalog.actions()).filter(|_| catalog.actions() > 1)
    else {
        return Ok(payload);
    };
    let (set, scores) = payload.split_at_checked(words).ok_or(Fault::Content)?;
    for score in scores.as_chunks::<4>().0 {
        defaults.push(f64::from(f32::from_le_bytes(*score))).map_err(|_| Fault::Content)?;
    }
    Ok(set)
}

/// The feasible set of a request to decide: the payload, or the last one recorded, or everything before there was one.
///
/// # Errors
/// A payload that is not a set of the catalog's actions. No payload, where a migration has left nothing of the last set.
#[inline]
pub fn read_feasible(catalog: &Catalog<'_>, state: &State, payload: &[u8]) -> Result<Feasible, Fault> {
    if payload.is_empty() {
        let everything = state.rounds() == 0 && state.permissions().is_empty();
        let last = if everything { catalog.all_actions() } else { *state.permissions() };
        return Feasible::from_set(catalog, last).map_err(|error| UserError::Feasible(error).into());
    }
    let (words, []) = payload.as_chunks::<4>() else { return Err(Fault::Content) };
    if words.len() > ActionSet::WORDS {
        return Err(Fault::Content);
    }
    let mut set = ActionSet::EMPTY;
    for (index, word) in words.iter().enumerate() {
        set.set_word(index, u32::from_le_bytes(*word));
    }
    Feasible::from_set(catalog, set).map_err(|error| UserError::Feasible(error).into())
}

/// The words of a feasible set, for the payload of a request to decide.
pub fn write_feasible(feasible: &Feasible) -> impl Iterator<Item = [u8; 4]> {
    feasible.set().used_words().iter().map(|word| word.to_le_bytes())
}
