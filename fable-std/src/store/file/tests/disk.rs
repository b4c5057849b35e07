//! A disk of three files that remembers what is durable, and fails when it is told to.

use super::super::medium::Medium;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What is written to a disk as a whole or not at all.
const SECTOR: usize = 512;

/// Chance from a seed.
#[derive(Clone, Debug)]
pub(in super::super) struct Dice(pub(super) u64);

impl Dice {
    /// `SplitMix64`.
    pub(super) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// One of the first so many numbers.
    pub(super) fn below(&mut self, end: usize) -> usize {
        (self.roll() % end.max(1) as u64) as usize
    }

    pub(super) fn one_in(&mut self, chances: usize) -> bool {
        self.below(chances) == 0
    }
}

/// How a call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// Nothing works from then on, until the power is back.
    PowerCut,
    /// This call alone; a write is not done at all.
    Once(io::ErrorKind),
    /// This call alone; half of a write is done.
    Half(io::ErrorKind),
}

/// What calls come to.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
struct Fate {
    /// Calls so far; reads only count when they may fail.
    calls: u64,
    /// The call that fails, and how.
    failing: Option<(u64, Failure)>,
    /// Whether reads may fail.
    reads: bool,
    /// Whether the failure has come.
    failed: bool,
    /// Whether the power is cut.
    dark: bool,
    /// Whether no file can grow.
    full: bool,
}

#[derive(Clone, Debug)]
enum Step {
    Write(usize, Vec<u8>),
    Length(usize),
}

impl Step {
    fn take(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Write(start, new) => {
                bytes.resize(bytes.len().max(start + new.len()), 0);
                bytes[*start..start + new.len()].copy_from_slice(new);
            }
            Self::Length(length) => bytes.resize(*length, 0),
        }
    }
}

#[derive(Debug, Default)]
struct Content {
    /// As of the last sync.
    durable: Vec<u8>,
    /// What was done since.
    since: Vec<Step>,
    now: Vec<u8>,
}

impl Content {
    /// What a cut leaves: of every sector some state between the last sync and now, and some length between.
    fn cut(&mut self, dice: &mut Dice) {
        let steps = self.since.len();
        let moment = |dice: &mut Dice, bias: usize| match bias {
            0 => 0,
            1 => steps,
            _ => dice.below(steps + 1),
        };
        // Nothing, everything, or anything.
        let bias = dice.below(5);
        let (mut lengths, mut longest) = (vec![self.durable.len()], self.durable.len());
        let mut image = self.durable.clone();
        for step in &self.since {
            step.take(&mut image);
            lengths.push(image.len());
            longest = longest.max(image.len());
        }
        let length = match bias {
            0 | 1 => lengths[moment(dice, bias)],
            _ => {
                let (one, other) = (lengths[moment(dice, 2)], lengths[moment(dice, 2)]);
                let (low, high) = (one.min(other), one.max(other));
                // Whole sectors, most often.
                let any = low + dice.below(high - low + 1);
                if dice.one_in(3) { any } else { high }
            }
        };
        let chosen: Vec<usize> = (0..longest.div_ceil(SECTOR)).map(|_| moment(dice, bias)).collect();
        let mut left = vec![0; longest.next_multiple_of(SECTOR)];
        let mut image = self.durable.clone();
        for done in 0..=steps {
            for sector in (0..chosen.len()).filter(|sector| chosen[*sector] == done) {
                let place = sector * SECTOR;
                if let Some(bytes) = image.get(place..) {
                    let bytes = &bytes[..bytes.len().min(SECTOR)];
                    left[place..place + bytes.len()].copy_from_slice(bytes);
                }
            }
            if let Some(step) = self.since.get(done) {
                step.take(&mut image);
            }
        }
        left.resize(length, 0);
        *self = Self { durable: left.clone(), since: Vec::new(), now: left };
    }
}

/// One file.
#[derive(Clone, Debug)]
pub(in super::super) struct SimFile {
    content: Arc<Mutex<Content>>,
    fate: Arc<Mutex<Fate>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Counts a call; how it fails.
fn meet(fate: &Mutex<Fate>, read: bool) -> Option<Failure> {
    let fate = &mut *locked(fate);
    if fate.dark {
        return Some(Failure::PowerCut);
    }
    if read && !fate.reads {
        return None;
    }
    fate.calls += 1;
    let (call, failure) = fate.failing?;
    if fate.calls != call {
        return None;
    }
    fate.failed = true;
    fate.dark = failure == Failure::PowerCut;
    Some(failure)
}

fn error(failure: Failure) -> io::Error {
    match failure {
        Failure::PowerCut => io::Error::other("the power is cut"),
        Failure::Once(kind) | Failure::Half(kind) => kind.into(),
    }
}

impl SimFile {
    fn new(fate: &Arc<Mutex<Fate>>) -> Self {
        Self { content: Arc::default(), fate: Arc::clone(fate) }
    }

    fn change(&self, step: Step) -> io::Result<()> {
        let dark = locked(&self.fate).dark;
        let failure = meet(&self.fate, false);
        let content = &mut *locked(&self.content);
        let step = match (failure, step) {
            (None, step) => {
                let length = match &step {
                    Step::Write(start, bytes) => start + bytes.len(),
                    Step::Length(length) => *length,
                };
                if locked(&self.fate).full && length > content.now.len() {
                    return Err(io::ErrorKind::StorageFull.into());
                }
                step
            }
            // What was under way when the power went may be there.
            (Some(Failure::PowerCut), step) if !dark => step,
            (Some(Failure::Half(_)), Step::Write(start, bytes)) => {
                Step::Write(start, bytes[..bytes.len() / 2].to_vec())
            }
            (Some(failure), _) => return Err(error(failure)),
        };
        step.take(&mut content.now);
        content.since.push(step);
        failure.map_or(Ok(()), |failure| Err(error(failure)))
    }
}

impl Medium for SimFile {
    fn len(&self) -> io::Result<u64> {
        if locked(&self.fate).dark {
            return Err(error(Failure::PowerCut));
        }
        Ok(locked(&self.content).now.len() as u64)
    }

    fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        if let Some(failure) = meet(&self.fate, true) {
            return Err(error(failure));
        }
        let found = &locked(&self.content).now;
        let found = found.get(offset as usize..).and_then(|bytes| bytes.get(..buffer.len()));
        buffer.copy_from_slice(found.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.change(Step::Write(offset as usize, bytes.to_vec()))
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.change(Step::Length(length as usize))
    }

    fn sync(&self) -> io::Result<()> {
        if let Some(failure) = meet(&self.fate, false) {
            return Err(error(failure));
        }
        let content = &mut *locked(&self.content);
        for step in content.since.drain(..) {
            step.take(&mut content.durable);
        }
        Ok(())
    }
}

/// A store's three files, and the one that may take the place of the first.
#[derive(Clone, Debug)]
pub(in super::super) struct Disk {
    data: Arc<Mutex<SimFile>>,
    draft: Arc<Mutex<Option<SimFile>>>,
    pub(super) keys: SimFile,
    pub(in super::super) index: SimFile,
    fate: Arc<Mutex<Fate>>,
    /// How often the store's file was replaced.
    placed: Arc<AtomicU64>,
}

impl Disk {
    pub(super) fn new() -> Self {
        let fate = Arc::default();
        let [data, keys, index] = [(); 3].map(|()| SimFile::new(&fate));
        Self {
            data: Arc::new(Mutex::new(data)),
            draft: Arc::default(),
            keys,
            index,
            fate,
            placed: Arc::default(),
        }
    }

    pub(super) fn data(&self) -> SimFile {
        locked(&self.data).clone()
    }

    /// A new file.
    pub(in super::super) fn draft(&self) -> SimFile {
        let file = SimFile::new(&self.fate);
        *locked(&self.draft) = Some(file.clone());
        file
    }

    /// Puts it into the place of the store's.
    pub(in super::super) fn place(&self) -> io::Result<()> {
        let dark = locked(&self.fate).dark;
        let failure = meet(&self.fate, false);
        let draft = locked(&self.draft).take();
        // When the power goes in this moment, it is there or not.
        let done = failure.is_none()
            || (failure == Some(Failure::PowerCut) && !dark && locked(&self.fate).calls.is_multiple_of(2));
        if let (true, Some(draft)) = (done, draft) {
            *locked(&self.data) = draft;
            self.placed.fetch_add(1, Ordering::Relaxed);
        }
        failure.map_or(Ok(()), |failure| Err(error(failure)))
    }

    /// How often the store's file was replaced.
    pub(super) fn placed(&self) -> u64 {
        self.placed.load(Ordering::Relaxed)
    }

    /// Lets a call from now on fail; the first one is 1.
    pub(super) fn fail(&self, call: u64, failure: Failure, reads: bool) {
        *locked(&self.fate) = Fate { failing: Some((call, failure)), reads, ..Fate::default() };
    }

    /// Lets nothing grow any more.
    pub(super) fn fill(&self) {
        locked(&self.fate).full = true;
    }

    /// Whether the failure has come.
    pub(super) fn has_failed(&self) -> bool {
        locked(&self.fate).failed
    }

    /// The process ends here: nothing that it does is done, and all of what it has done is still there.
    pub(super) fn stop(&self) {
        locked(&self.fate).dark = true;
    }

    /// Everything works again.
    pub(super) fn recover(&self) {
        *locked(&self.fate) = Fate::default();
    }

    /// The power was cut: what was not synced is there in part.
    pub(super) fn cut(&self, dice: &mut Dice) {
        for file in [&self.data(), &self.keys, &self.index] {
            locked(&file.content).cut(dice);
        }
    }
}
