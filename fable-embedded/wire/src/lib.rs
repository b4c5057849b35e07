//! The message protocol between a host and a device: requests, replies, frames and sealed sessions.
//!
//! A **frame** is, before byte stuffing:
//!
//! | bytes | content |
//! |---|---|
//! | 1 | [`VERSION`]; bit 7 is set in a reply, bit 6 in a sealed frame |
//! | 4 | sequence number, little-endian |
//! | 1.. | message, in postcard's format |
//! | 0.. | payload of the message, raw bytes |
//! | 0 or 12 | seal, in a session with a key |
//! | 4 | CRC-32/ISO-HDLC of everything before, little-endian |
//!
//! Byte stuffing is COBS. A zero byte ends the frame, which has at most [`MAX_FRAME`] bytes in all. The line
//! may carry any bytes between frames: a receiver drops bytes that are not a frame and resumes after the next
//! zero.
//!
//! A device answers every frame except replies, so two devices on one line stay quiet. A reply has the
//! sequence number of its request. Sequence number 0 is for frames that could not be read.
//!
//! # At most once
//!
//! A device executes a request that changes something **at most once**, even if a reset comes in between. The
//! *request id* is the CRC-32 of version, sequence number, message and payload. The device stores the id of
//! the last such request together with its effect, in one write. If the request is repeated, the device
//! repeats the reply and executes nothing.
//!
//! - A host without an answer sends the request again with the same sequence number, also after a reset of
//!   the device.
//! - A host starts with a random sequence number and counts up past 0, so that no other request has the same
//!   id. Two requests that differ only in their sequence number never have the same id.
//! - A device knows only the last request. A host waits for its answer before the next request that changes
//!   something.
//!
//! A migration to another catalog is an exception: the last reply belongs to the old catalog
//! and is dropped. A request that is repeated across the update is executed again. A host sends *hello*
//! first, whose reply names the catalog.
//!
//! After a reset, staged bytes are gone and the upload starts again. A reset in the middle of a request that
//! takes several events leaves the stored events. The repeated request executes the rest. Promotions that
//! follow a reward wait for a later check.
//!
//! # Sessions with a key
//!
//! Sessions need the feature `keyed` and a device that was given a key of 16 bytes, which its host has too. A
//! host sends *open* with eight random bytes. The device answers with its own nonce. Both sides derive the
//! session's key from the key and the two nonces. From then on each frame has a seal: a counter (`u32`) and a
//! tag (eight bytes). The tag is SipHash-2-4 under the session's key over the counter and all bytes before
//! the seal.
//!
//! Each request has a higher counter than the request before, also if it is repeated. A reply has the counter
//! of its request. A frame that was changed, replayed, reordered, reflected or taken from another session is
//! refused ([`Fault::Session`]) and changes nothing. A forged frame passes once in 2^64 attempts. The key has
//! 128 bits.
//!
//! A device with a key answers unsealed frames only if they are *open*. An observer learns that a device with
//! a key exists, and its version. Seals do not encrypt: an observer can read every message. An attacker with
//! access to the line can block it. A reset ends the session. The host opens another session and sends its
//! request again.
//!
//! # Requests
//!
//! | tag | request | content | payload | reply |
//! |---|---|---|---|---|
//! | 0 | hello | | | 1 hello |
//! | 1 | onboard | response `f64`, precision `f64` | entries: coordinate `u16`, coefficient `f64`, 10 bytes each | 2 done: observations |
//! | 2 | decide | context, time `u32` | feasible set, then optional default scores, see below | 3 decided |
//! | 3 | feedback | incarnation `u32`, round `u32`, reward `f64`, weight `f32`, time `u32` | | 2 done: observations |
//! | 4 | observe | context, action `u16`, reward `f64`, weight `f32` | | 2 done: observations |
//! | 5 | unlearn | context, action `u16`, baseline `f64`, reward `f64`, weight `f32`, imputed `u8`, factor left `f32`, probed contrasts 2 x `u32` | | 2 done: observations |
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
//! | 21 | recommend | context | as for decide | 3 decided: round 0, and the mean score as baseline |
//! | 22 | user rule | [code](fable_core::preference::UserRule::code) `u32`, active `u8` | | 2 done: observations |
//! | 23 | open | nonce `u64`, fixed | | 11 opened: nonce `u64`, fixed, count `u32` |
//!
//! The payload of decide has the words of the feasible set, 4 bytes each. Without words the last recorded set
//! applies; before the first decision that is every action. An empty set is refused, also if a migration has
//! left nothing of the last set. Then follows, optionally, a default score `f32` for every action, in
//! catalogs of at most [`MAX_DEFAULTS`] actions.
//!
//! Rules of the catalog and of the user narrow every feasible set. The recorded set is the narrowed set. A
//! host sends the set again after it has removed a rule, or if rules have conditions.
//!
//! Stage at offset 0, forget, and commit prior with length 0 erase flash at once. A device with flash limits
//! these requests and allows more of them after decisions and rewards ([`Fault::Limited`]).
//!
//! Reply 0 is a [`Fault`]. A context is as in a [record](fable_core::record). Payloads of replies:
//!
//! | reply | payload |
//! |---|---|
//! | hello | name of the catalog |
//! | explanation | one [`WireShare`] after the other |
//! | chunk | at most [`CHUNK`] bytes; fewer at the end |
//! | event | one record |
//!
//! `u16` and `u32` are postcard's varints. Fields marked *fixed* have all their bytes, little-endian. So have
//! round, time and evidence of a [`Promotion`](fable_core::Promotion).
//!
//! `postcard-rpc` was rejected. Over `embedded-io` it needs embassy's executor, a task per device, a schema
//! for every type, and tokio on the host. It does not work blocking. Its frames have no checksum, and the
//! crate `cobs` does not link without panics.
//!
//! ```
//! use fable_wire::{Draft, Frame, MAX_FRAME, Request};
//! let mut buffer = [0; MAX_FRAME];
//! let request = Request::Feedback { incarnation: 0, round: 7, reward: 0.5, weight: 1.0, time: 0 };
//! let mut sent = Draft::request(&mut buffer, 1, &request).seal().to_vec();
//! assert_eq!((sent.len(), sent.pop()), (27, Some(0)));
//! let frame = Frame::open(&mut sent)?;
//! assert_eq!((frame.sequence, frame.request()?.0), (1, request));
//! # Ok::<(), fable_wire::Fault>(())
//! ```
//!
//! Features: `keyed` adds `Key` and `Session`; `defmt` gives every type a `defmt::Format`.

#![cfg_attr(not(test), no_std)]
#![cfg_attr(
    not(test),
    warn(clippy::cast_possible_truncation, clippy::cast_precision_loss, clippy::cast_sign_loss)
)]
#![deny(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::todo,
    clippy::unimplemented,
    clippy::unreachable,
    clippy::unwrap_used
)]

mod codec;
mod errors;
mod fault;
mod field;
mod frame;
mod message;
mod payload;
#[cfg(feature = "keyed")]
mod session;

pub use fault::{Fault, StorageFault};
pub use field::{Hello, Statistics, StoreUsage, WireContext, WireShare};
pub use frame::{DELIMITER, Draft, Frame, MAX_FRAME};
pub use message::{Reply, Request};
pub use payload::{
    Defaults, MAX_DEFAULTS, read_defaults, read_feasible, read_statement, write_entry, write_feasible,
};
#[cfg(feature = "keyed")]
pub use session::{Key, Session};

/// Version of the protocol, from 1 to 63.
pub const VERSION: u8 = 4;
/// Maximum number of bytes of a snapshot or a prior in one frame.
pub const CHUNK: usize = 256;
