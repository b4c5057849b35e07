//! What the device tells a person: lines of text, or with the feature `log` a log of defmt, which also has what the store and
//! the server report. Both go to QEMU's standard output; a panic goes to its standard error, as text, whichever it is.

use super::ROOM;
use crate::boards::{Board, Here};
use fable_core::posterior::Storage;
use fable_core::{Catalog, Learner};
use fable_embedded::flash::Restored;

#[cfg(not(feature = "log"))]
mod channel {
    use super::{Board, Catalog, Here, Learner, ROOM, Restored, Storage};
    use crate::boards::{Piece, say};

    pub(crate) fn started(_: &Catalog<'_>) {}

    pub(crate) fn opened() {
        say(&[Piece::Text(Here::NAME), Piece::Text(": "), Piece::Text(Here::STORE)]);
    }

    pub(crate) fn restored<S: Storage<f32>>(restored: &Restored, _: &Learner<f32, S, ROOM>) {
        let [user, snapshot, and, events] = [": user ", ", snapshot ", " and ", " events"].map(Piece::Text);
        let (generation, count) = (Piece::Number(restored.generation), Piece::Number(restored.events));
        let older = Piece::Text(if restored.rolled_back { ", rolled back: a page is lost" } else { "" });
        say(&[
            Piece::Text(Here::NAME),
            user,
            Piece::Hex(restored.user),
            snapshot,
            generation,
            and,
            count,
            events,
            older,
        ]);
    }

    pub(crate) fn ready() {
        say(&[Piece::Text(Here::NAME), Piece::Text(": ready")]);
    }

    pub(crate) fn stopped(why: &str) {
        say(&[Piece::Text(why)]);
    }
}

#[cfg(feature = "log")]
mod channel {
    use super::{Board, Catalog, Here, Learner, ROOM, Restored, Storage};
    use defmt_semihosting as _; // carries the log
    #[cfg(target_arch = "riscv32")]
    use riscv as _; // a critical section, for the above

    pub(crate) fn started(catalog: &Catalog<'_>) {
        defmt::info!("{=str} starts, {}", Here::NAME, catalog);
    }

    pub(crate) fn opened() {
        defmt::info!("store: {=str}", Here::STORE);
    }

    /// The store has told what it found.
    pub(crate) fn restored<S: Storage<f32>>(_: &Restored, learner: &Learner<f32, S, ROOM>) {
        defmt::info!("{}", learner);
    }

    pub(crate) fn ready() {
        defmt::info!("{=str}: ready", Here::NAME);
    }

    pub(crate) fn stopped(why: &str) {
        defmt::error!("stopped: {=str}", why);
    }
}

pub(crate) use channel::{opened, ready, restored, started, stopped};
