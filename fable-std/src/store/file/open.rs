//! Opening: from the index if the store was closed, from the store's own file, which is checked on the way, if it was not.

use super::StoreError;
use super::UserRow;
use super::frame::{Data, Head, Kind, Place, START, Stretch, Walk, frames_of};
use super::index::{Index, Mirror, Rebuild, Reflection};
use super::keys::{INDEX, Keys};
use super::medium::Medium;
use fable_core::user_hash;
use std::io;

/// What was found.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) index: Index,
    /// The index's file, to go on with.
    pub(super) mirror: Option<Mirror>,
    /// Where the next group goes.
    pub(super) end: u64,
    /// The number of the last group.
    pub(super) number: u64,
    /// Whether the store was closed, and the index said so: the file was not looked at then.
    pub(super) closed: bool,
    /// Groups whose checksum is wrong.
    pub(super) damaged: usize,
    /// Places of which it is not known whose they are.
    pub(super) unaccounted: usize,
}

/// Finds out what a store has. With `thorough` the whole file is looked at in any case. Nothing is written but, with `write`, keys
/// whose destruction was interrupted.
pub(super) fn find(
    data: &Data,
    keys: &Keys,
    mirror: Option<Box<dyn Medium>>,
    history: Option<u64>,
    (write, thorough): (bool, bool),
) -> Result<Found, StoreError> {
    keys.carry_out(write)?;
    let length = data.medium.len()?;
    let key = keys.slot(INDEX)?.ok_or(StoreError::Key("the key of its index is damaged"))?;
    let reflected = mirror.and_then(|medium| Mirror::open(medium, data, key).ok().flatten());
    let (mirror, reflection) =
        reflected.map_or((None, Reflection::default()), |(mirror, reflection)| (Some(mirror), reflection));
    let Reflection { index, end: covered, number, closed, .. } = reflection;
    let closed = closed && covered == length;
    if closed && !thorough {
        return Ok(Found { index, mirror, end: covered, number, closed, damaged: 0, unaccounted: 0 });
    }
    if !closed {
        keys.settle(write)?;
    }
    let mut found = Found {
        index: Index::default(),
        mirror,
        end: covered.max(START),
        number,
        closed,
        damaged: 0,
        unaccounted: 0,
    };
    let mut rebuild = Rebuild::from(index);
    let stretches: Vec<Stretch> = Walk::new(data, START, length).collect();
    let synced =
        stretches.iter().map(|stretch| if let Stretch::Group { synced, .. } = stretch { *synced } else { 0 });
    // Up to here everything was on disk once.
    let promised = synced.fold(covered.max(data.live), u64::max);
    for stretch in stretches {
        match stretch {
            Stretch::Group { to, .. } if to <= covered => {}
            Stretch::Group { from, to, number, .. } => {
                match data.frames_between(frames_of(from), to, true) {
                    Some(frames) => take(&mut rebuild, data, keys, &frames, history)?,
                    None => rebuild.gaps += 1,
                }
                (found.end, found.number) = (to, number.max(found.number));
            }
            Stretch::Bad { to, .. } if to <= covered => found.damaged += 1,
            // Commits that were under way when the machine stopped; those after the first of them cannot be without it.
            Stretch::Bad { from, unread: false, .. } if from >= promised => break,
            // What cannot be read now may be a commit that was promised.
            Stretch::Bad { from, .. } if from >= promised && write => {
                return Err(io::Error::other("the end of the store's file cannot be read").into());
            }
            // The end of a commit that was under way when the machine stopped; a file that was written anew was whole.
            Stretch::Bad { from, to, .. } if to == length && from.max(covered) >= data.live => {
                found.damaged += usize::from(from < covered);
            }
            Stretch::Bad { from, to, .. } => {
                found.damaged += 1;
                let first = frames_of(from.max(covered));
                let whole = data.frames_between(first, to, true);
                rebuild.gaps += usize::from(whole.is_none());
                let frames = whole.or_else(|| data.frames_between(first, to, false)).unwrap_or_default();
                take(&mut rebuild, data, keys, &frames, history)?;
                found.end = to;
            }
        }
    }
    found.damaged += usize::from(length < covered);
    rebuild.gaps += usize::from(length.max(covered) < data.live);
    found.unaccounted = rebuild.unaccounted();
    found.index = rebuild.index;
    Ok(found)
}

fn take(
    rebuild: &mut Rebuild,
    data: &Data,
    keys: &Keys,
    frames: &[(Head, Place)],
    history: Option<u64>,
) -> Result<(), StoreError> {
    for (head, place) in frames {
        let Some(key) = keys.slot(head.slot)? else {
            rebuild.stray((head.slot, head.generation));
            continue;
        };
        if key.generation != head.generation {
            continue; // of a user who was forgotten
        }
        let row = match head.kind {
            Kind::User => {
                data.read(*place, &key).ok().and_then(|(_, bytes)| UserRow::decode(&bytes).ok()).map(|row| {
                    let number = row.header.user;
                    (number, number != user_hash(&row.name))
                })
            }
            Kind::Lost => data.read(*place, &key).ok().and_then(|(_, bytes)| {
                let (number, moved) = bytes.split_first_chunk()?;
                Some((u64::from_le_bytes(*number), moved == [1]))
            }),
            _ => None,
        };
        rebuild.frame((head.kind, *place, head.position), (head.slot, head.generation), row, history);
    }
    Ok(())
}
