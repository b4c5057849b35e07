//! The store's own file: groups of sealed frames, one group a commit, never changed once written.
//!
//! | bytes | content |
//! |---|---|
//! | 4096 | the head: `FABLESTO`, [`VERSION`](super::VERSION), 7 zeros, id of the file (16), id of its keys (16), its length after it was last written anew (8), length (4) and bytes of what is sealed with slot 1: the events that are kept of a user (8, 0 for all) and the identity, CRC-32 |
//! | 4096 | the head once more |
//! | ... | groups, one after the other |
//!
//! A group:
//!
//! | bytes | content |
//! |---|---|
//! | 4 | `FGRP` |
//! | 4 | CRC-32 of where the group begins (8) and of the rest of it |
//! | 8 | length of the group |
//! | 8 | its number, one more than that of the group before |
//! | 8 | up to where the file was on disk when it was written: what is damaged after that was never promised |
//! | ... | the frames |
//!
//! A frame begins at a multiple of 16 and is filled up with zeros to the next:
//!
//! | bytes | content |
//! |---|---|
//! | 4 | CRC-32 of where the frame begins (8) and of the next 24 |
//! | 4 | length of what is sealed, with its tag |
//! | 4 | [`Kind`] |
//! | 4 | slot of the key |
//! | 4 | generation of the key |
//! | 8 | position: of the first entry, or how many a snapshot has seen |
//! | 12 | nonce |
//! | n | what is sealed, and a tag of 16 |
//!
//! All numbers are little-endian. Sealed is about the id of the file, the place in it and the 24 bytes: a frame that is damaged, or
//! is another frame, does not open. Since nothing is ever written twice to one place, an old one does not open either.

use super::keys::{HOUSE, Keys, Slot};
use super::medium::Medium;
use super::seal::{NONCE, Nonces, TAG, fill};
use super::{Damage, Fault, StoreError};
use std::io;

/// What the file begins with.
pub(super) const MAGIC: &[u8; 8] = b"FABLESTO";
/// Where the groups begin.
pub(super) const START: u64 = 8192;
const GROUP_MAGIC: &[u8; 4] = b"FGRP";
const GROUP_HEAD: usize = 32;
const FRAME_HEAD: usize = 28;
const ALIGN: u64 = 16;
/// Bytes of the head before the identity.
const HEAD: usize = 60;
/// Bytes that are read at once.
const CHUNK: usize = 1 << 20;

/// What a frame has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Kind {
    /// A user's row, see [`UserRow`](super::UserRow).
    User = 1,
    /// The hard rules that a user has set, see [`wishes`](crate::store::wishes).
    Rules = 2,
    /// A snapshot.
    Snapshot = 3,
    /// Entries of a journal, after the place of those before them.
    Journal = 4,
    /// The newest entries of a journal.
    Log = 5,
    /// All of the log before it is in the journal.
    Fold = 6,
    /// Something of the user is lost.
    Lost = 7,
    /// A prior; its position is the fingerprint of the policy with it.
    Prior = 8,
    /// A snapshot that the kept history begins with.
    Base = 9,
    /// Exchanges with an assistant, after the place of those before them.
    Memory = 10,
}

impl Kind {
    const ALL: [Self; 10] = [
        Self::User,
        Self::Rules,
        Self::Snapshot,
        Self::Journal,
        Self::Log,
        Self::Fold,
        Self::Lost,
        Self::Prior,
        Self::Base,
        Self::Memory,
    ];
}

/// The head of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) kind: Kind,
    pub(super) slot: u32,
    pub(super) generation: u32,
    pub(super) position: u64,
    /// Of what is sealed, with the tag.
    length: u32,
}

impl Head {
    /// The bytes of a head at a place.
    fn encode(&self, offset: u64) -> [u8; FRAME_HEAD] {
        let mut bytes = [0; FRAME_HEAD];
        let fields = [self.length, self.kind as u32, self.slot, self.generation]
            .into_iter()
            .flat_map(u32::to_le_bytes);
        for (to, from) in bytes.iter_mut().skip(4).zip(fields.chain(self.position.to_le_bytes())) {
            *to = from;
        }
        let mut sum = sum_at(offset);
        sum.update(bytes.get(4..).unwrap_or_default());
        bytes.iter_mut().zip(sum.finalize().to_le_bytes()).for_each(|(to, from)| *to = from);
        bytes
    }

    /// The head at a place; `None` for what was not written there as one.
    fn decode(bytes: &[u8], offset: u64) -> Option<Self> {
        let bytes = bytes.get(..FRAME_HEAD)?;
        let word = |at: usize| Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
        let mut sum = sum_at(offset);
        sum.update(bytes.get(4..)?);
        if word(0)? != sum.finalize() {
            return None;
        }
        let (length, kind) = (word(4)?, word(8)?);
        let kind = Kind::ALL.into_iter().find(|known| *known as u32 == kind)?;
        let position = u64::from_le_bytes(*bytes.get(20..)?.first_chunk()?);
        (length as usize >= TAG).then_some(Self {
            kind,
            slot: word(12)?,
            generation: word(16)?,
            position,
            length,
        })
    }

    /// Bytes of the whole frame.
    const fn size(&self) -> u64 {
        (FRAME_HEAD as u64 + NONCE as u64 + self.length as u64).next_multiple_of(ALIGN)
    }
}

/// Where a frame is and how long: the place in units of 16 bytes, 36 bits, and the length in the same units, 28 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Place(u64);

impl Place {
    /// Nowhere.
    pub(super) const NONE: Self = Self(0);

    fn new(offset: u64, size: u64) -> Option<Self> {
        let (unit, units) = (offset / ALIGN, size / ALIGN);
        (unit < 1 << 36 && units < 1 << 28).then_some(Self(units << 36 | unit))
    }

    pub(super) const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    pub(super) const fn bits(self) -> u64 {
        self.0
    }

    pub(super) const fn is_none(self) -> bool {
        self.0 == 0
    }

    pub(super) const fn offset(self) -> u64 {
        (self.0 & ((1 << 36) - 1)) * ALIGN
    }

    pub(super) const fn size(self) -> u64 {
        (self.0 >> 36) * ALIGN
    }
}

/// A file of groups.
#[derive(Debug)]
pub(super) struct Data {
    pub(super) medium: Box<dyn Medium>,
    id: [u8; 16],
    /// Length after it was last written anew.
    pub(super) live: u64,
    /// Sealed.
    identity: Vec<u8>,
}

/// What is said about a store as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct About {
    /// Events that are kept of a user; all of them without a number.
    pub(super) history: Option<u64>,
    /// An [`Identity`](super::Identity).
    pub(super) identity: Vec<u8>,
}

/// Why a frame was not read.
#[derive(Debug)]
pub(super) enum Unread {
    /// It is not what was written.
    Damaged,
    /// The disk says no.
    Failed(io::Error),
}

impl Data {
    /// A file for a store with these keys and of this identity. Nothing is written before [`finish`](Self::finish).
    pub(super) fn create(medium: Box<dyn Medium>, keys: &Keys, about: &About) -> Result<Self, StoreError> {
        let mut id = [0; 16];
        fill(&mut id)?;
        let mut data = Self { medium, id, live: 0, identity: Vec::new() };
        data.set_about(keys, about)?;
        Ok(data)
    }

    /// Changes what is said about the store; it is not written yet.
    pub(super) fn set_about(&mut self, keys: &Keys, about: &About) -> Result<(), StoreError> {
        let mut sealed = vec![0; NONCE];
        sealed.extend_from_slice(&about.history.unwrap_or(0).to_le_bytes());
        sealed.extend_from_slice(&about.identity);
        let house = keys.slot(HOUSE)?.ok_or(StoreError::Key("the key of the house is damaged"))?;
        house.key.seal(&Nonces::new()?, &self.id, &mut sealed, 0)?;
        if HEAD + 4 + sealed.len() > START as usize / 2 {
            return Err(StoreError::Exhausted);
        }
        self.identity = sealed;
        Ok(())
    }

    /// The head of a file with these keys.
    fn head(&self, keys: &Keys) -> Vec<u8> {
        let mut head = MAGIC.to_vec();
        head.extend_from_slice(&[super::VERSION, 0, 0, 0, 0, 0, 0, 0]);
        head.extend_from_slice(&self.id);
        head.extend_from_slice(keys.id());
        head.extend_from_slice(&self.live.to_le_bytes());
        head.extend_from_slice(&(self.identity.len() as u32).to_le_bytes());
        head.extend_from_slice(&self.identity);
        head.extend_from_slice(&crc32fast::hash(&head).to_le_bytes());
        head.resize(START as usize / 2, 0);
        head
    }

    /// How many of the two copies of the head are not as they were written.
    pub(super) fn damaged_heads(&self, keys: &Keys) -> usize {
        let (head, mut page) = (self.head(keys), vec![0; START as usize / 2]);
        let mut is_sound = |offset| self.medium.read(offset, &mut page).is_ok() && page == head;
        [0, START / 2].into_iter().filter(|offset| !is_sound(*offset)).count()
    }

    /// Writes both copies of the head of a file that is `live` bytes long.
    pub(super) fn finish(&mut self, keys: &Keys, live: u64) -> Result<(), StoreError> {
        self.live = live;
        let head = self.head(keys);
        self.medium.write(0, &head)?;
        self.medium.sync()?; // one of them is always whole
        Ok(self.medium.write(START / 2, &head)?)
    }

    /// Opens a file; with it the id of its keys.
    ///
    /// # Errors
    /// A file that is no store, or one of another version.
    pub(super) fn open(medium: Box<dyn Medium>) -> Result<(Self, [u8; 16]), StoreError> {
        let mut looks_like_one = false;
        for offset in [0, START / 2] {
            let mut page = vec![0; START as usize / 2];
            if medium.read(offset, &mut page).is_err() {
                continue;
            }
            looks_like_one |= page.starts_with(MAGIC);
            let part = |start: usize| {
                page.get(start..).and_then(<[u8]>::first_chunk::<16>).copied().unwrap_or_default()
            };
            let length = page
                .get(56..)
                .and_then(<[u8]>::first_chunk)
                .map_or(0, |bytes| u32::from_le_bytes(*bytes) as usize);
            let whole = page
                .split_at_checked(HEAD.saturating_add(length))
                .filter(|(content, _)| content.starts_with(MAGIC));
            let whole =
                whole.filter(|(content, sum)| sum.starts_with(&crc32fast::hash(content).to_le_bytes()));
            let Some((content, _)) = whole else { continue };
            let version = content.get(8).copied().unwrap_or_default();
            if version != super::VERSION {
                return Err(StoreError::Version { found: version });
            }
            let live =
                content.get(48..).and_then(<[u8]>::first_chunk).map_or(0, |bytes| u64::from_le_bytes(*bytes));
            let identity = content.get(HEAD..).unwrap_or_default().to_vec();
            let (id, keys) = (part(16), part(32));
            return Ok((Self { medium, id, live, identity }, keys));
        }
        Err(if looks_like_one {
            StoreError::Damaged("both copies of its head are damaged")
        } else {
            StoreError::Foreign
        })
    }

    /// What the store belongs to.
    pub(super) fn about_store(&self, keys: &Keys) -> Result<About, StoreError> {
        let house = keys.slot(HOUSE)?.ok_or(StoreError::Key("the key of the house is damaged"))?;
        let mut sealed = self.identity.clone();
        let plain = house.key.open(&self.id, &mut sealed).and_then(|plain| plain.split_first_chunk());
        let (history, identity) = plain.ok_or(StoreError::Damaged("its identity cannot be read"))?;
        let history = u64::from_le_bytes(*history);
        Ok(About { history: (history > 0).then_some(history), identity: identity.to_vec() })
    }

    /// Which file this is.
    pub(super) const fn id(&self) -> &[u8; 16] {
        &self.id
    }

    fn about(&self, offset: u64, head: &[u8; FRAME_HEAD]) -> [u8; 48] {
        let mut about = [0; 48];
        let all = self.id.into_iter().chain(offset.to_le_bytes()).chain(head.iter().skip(4).copied());
        about.iter_mut().zip(all).for_each(|(to, from)| *to = from);
        about
    }

    /// Opens a frame: its head and its content.
    pub(super) fn read(&self, place: Place, key: &Slot) -> Result<(Head, Vec<u8>), Unread> {
        let size = usize::try_from(place.size()).map_err(|_| Unread::Damaged)?;
        let mut bytes = vec![0; size];
        self.medium.read(place.offset(), &mut bytes).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => Unread::Damaged,
            _ => Unread::Failed(error),
        })?;
        self.open_frame(place.offset(), bytes, key).ok_or(Unread::Damaged)
    }

    /// Opens a frame whose bytes are there.
    pub(super) fn open_frame(&self, offset: u64, mut bytes: Vec<u8>, key: &Slot) -> Option<(Head, Vec<u8>)> {
        let raw: [u8; FRAME_HEAD] = *bytes.first_chunk()?;
        let head = Head::decode(&raw, offset)?;
        if head.generation != key.generation || head.size() != bytes.len() as u64 {
            return None;
        }
        let end = FRAME_HEAD + NONCE + head.length as usize;
        let length = key.key.open(&self.about(offset, &raw), bytes.get_mut(FRAME_HEAD..end)?)?.len();
        bytes.copy_within(FRAME_HEAD + NONCE..FRAME_HEAD + NONCE + length, 0);
        bytes.truncate(length);
        Some((head, bytes))
    }

    /// The head of the frame at a place, if it can be read.
    fn head_at(&self, offset: u64) -> Option<Head> {
        let mut bytes = [0; FRAME_HEAD];
        self.medium.read(offset, &mut bytes).ok()?;
        Head::decode(&bytes, offset)
    }

    /// The frames that begin between two places. With `whole` they have to follow each other without a gap up to the end, and
    /// `None` says that they do not; otherwise every place is looked at.
    pub(super) fn frames_between(&self, from: u64, to: u64, whole: bool) -> Option<Vec<(Head, Place)>> {
        let (mut frames, mut offset) = (Vec::new(), from);
        while offset + FRAME_HEAD as u64 <= to {
            let found = self.head_at(offset).filter(|head| offset + head.size() <= to);
            let placed = found.and_then(|head| Some((head, Place::new(offset, head.size())?)));
            match placed {
                Some((head, place)) => {
                    frames.push((head, place));
                    offset += head.size();
                }
                None if whole => return None,
                None => offset += ALIGN,
            }
        }
        (!whole || offset == to).then_some(frames)
    }
}

/// A group in the making.
#[derive(Debug)]
pub(super) struct Group {
    start: u64,
    bytes: Vec<u8>,
}

impl Group {
    /// A group that will be written at a place.
    pub(super) fn at(start: u64) -> Self {
        Self { start, bytes: vec![0; GROUP_HEAD] }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.bytes.len() == GROUP_HEAD
    }

    /// Where it will be written.
    pub(super) const fn start(&self) -> u64 {
        self.start
    }

    /// Where the next one begins.
    pub(super) fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }

    /// Adds a frame of some parts; where it will be.
    pub(super) fn push(
        &mut self,
        data: &Data,
        nonces: &Nonces,
        (slot, key): (u32, &Slot),
        (kind, position): (Kind, u64),
        parts: &[&[u8]],
    ) -> Result<Place, StoreError> {
        let offset = self.end();
        let length = TAG + parts.iter().map(|part| part.len()).sum::<usize>();
        let length = u32::try_from(length).map_err(|_| StoreError::Exhausted)?;
        let head = Head { kind, slot, generation: key.generation, position, length };
        let place = Place::new(offset, head.size()).ok_or(StoreError::Exhausted)?;
        let raw = head.encode(offset);
        self.bytes.extend_from_slice(&raw);
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&[0; NONCE]);
        for part in parts {
            self.bytes.extend_from_slice(part);
        }
        key.key.seal(nonces, &data.about(offset, &raw), &mut self.bytes, start)?;
        self.bytes.resize(self.bytes.len().next_multiple_of(ALIGN as usize), 0);
        Ok(place)
    }

    /// The bytes to write, while the file is on disk up to `synced`.
    pub(super) fn finish(&mut self, number: u64, synced: u64) -> &[u8] {
        let length = self.bytes.len() as u64;
        let head = [length, number, synced].into_iter().flat_map(u64::to_le_bytes);
        self.bytes.iter_mut().skip(8).zip(head).for_each(|(to, from)| *to = from);
        let mut sum = sum_at(self.start);
        sum.update(self.bytes.get(8..).unwrap_or_default());
        let head = GROUP_MAGIC.iter().copied().chain(sum.finalize().to_le_bytes());
        self.bytes.iter_mut().zip(head).for_each(|(to, from)| *to = from);
        &self.bytes
    }
}

/// The checksum of what begins at a place: what was written to another place is damage.
fn sum_at(start: u64) -> crc32fast::Hasher {
    let mut sum = crc32fast::Hasher::new();
    sum.update(&start.to_le_bytes());
    sum
}

/// What a walk over the file comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stretch {
    /// A group whose checksum is right, and up to where the file was on disk when it was written.
    Group { from: u64, to: u64, number: u64, synced: u64 },
    /// Bytes that are no such group, up to the next one or the end; `unread` if the disk could not read some of them.
    Bad { from: u64, to: u64, unread: bool },
}

/// Walks over the groups of a file.
#[derive(Debug)]
pub(super) struct Walk<'d> {
    data: &'d Data,
    offset: u64,
    end: u64,
    unread: bool,
}

impl<'d> Walk<'d> {
    pub(super) const fn new(data: &'d Data, from: u64, end: u64) -> Self {
        Self { data, offset: from, end, unread: false }
    }

    /// The group at a place, if its checksum is right.
    fn group_at(&mut self, offset: u64) -> Option<Stretch> {
        let mut head = [0; GROUP_HEAD];
        if offset + GROUP_HEAD as u64 > self.end || !self.read(offset, &mut head) {
            return None;
        }
        let word = |at: usize| {
            head.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |bytes| u64::from_le_bytes(*bytes))
        };
        let (length, number, synced) = (word(8), word(16), word(24));
        let to = offset.checked_add(length).filter(|to| *to <= self.end)?;
        if !head.starts_with(GROUP_MAGIC) || length < GROUP_HEAD as u64 || length % ALIGN != 0 {
            return None;
        }
        let mut sum = sum_at(offset);
        sum.update(head.get(8..).unwrap_or_default());
        let (mut at, mut buffer) = (offset + GROUP_HEAD as u64, Vec::new());
        while at < to {
            buffer.resize(usize::try_from(to - at).unwrap_or(CHUNK).min(CHUNK), 0);
            if !self.read(at, &mut buffer) {
                return None;
            }
            sum.update(&buffer);
            at += buffer.len() as u64;
        }
        let right = head.get(4..8) == Some(&sum.finalize().to_le_bytes()[..]);
        right.then_some(Stretch::Group { from: offset, to, number, synced })
    }

    /// The next place after one at which a group begins.
    fn next_group(&mut self, after: u64) -> u64 {
        let mut buffer = Vec::new();
        let mut at = after + ALIGN;
        while at < self.end {
            buffer.resize(usize::try_from(self.end - at).unwrap_or(CHUNK).min(CHUNK), 0);
            if !self.read(at, &mut buffer) {
                // A part that cannot be read is passed over in small steps.
                buffer.truncate(512);
                if !self.read(at, &mut buffer) {
                    buffer.fill(0);
                }
            }
            for (step, unit) in (0_u64..).zip(buffer.chunks(ALIGN as usize)) {
                let offset = at + step * ALIGN;
                if unit.starts_with(GROUP_MAGIC) && self.group_at(offset).is_some() {
                    return offset;
                }
            }
            at += (buffer.len() as u64).next_multiple_of(ALIGN);
        }
        self.end
    }

    /// Whether bytes were read; a place that the disk cannot read is like a damaged one.
    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> bool {
        let read = self.data.medium.read(offset, buffer).is_ok();
        self.unread |= !read;
        read
    }
}

impl Iterator for Walk<'_> {
    type Item = Stretch;

    fn next(&mut self) -> Option<Self::Item> {
        if self.offset >= self.end {
            return None;
        }
        let from = self.offset;
        self.unread = false;
        let stretch = self.group_at(from);
        let stretch = stretch.unwrap_or_else(|| {
            let to = self.next_group(from);
            Stretch::Bad { from, to, unread: self.unread }
        });
        let (Stretch::Group { to, .. } | Stretch::Bad { to, .. }) = stretch;
        self.offset = to;
        Some(stretch)
    }
}

/// Where the frames of a group begin.
pub(super) const fn frames_of(group: u64) -> u64 {
    group + GROUP_HEAD as u64
}
impl Unread {
    pub(super) fn of(self, damage: Damage) -> Fault {
        match self {
            Self::Damaged => Fault::Damaged(damage),
            Self::Failed(error) => Fault::Failed(error),
        }
    }
}
