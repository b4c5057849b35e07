//! Shows: a durable store outside of the crate, in one file with a snapshot and the events after it.
//!
//! The file starts with the length of the snapshot, `u32`, and the snapshot. Then follow the events, each
//! with its length, `u16`. An event is synced before it is acknowledged. A kill during a write leaves a torn
//! event, which the next start cuts off.

use fable_core::catalog::TAU2;
use fable_core::host::HostLearner;
use fable_core::journal::Event;
use fable_core::record::{MAX_EVENT_LEN, decode_event, encode_event};
use fable_core::{Feasible, Policy, Request, Scalar, Settings, User, user_hash};
use fable_embedded::{Device, UserStore};
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Errors of files, users and records.
pub type Error = Box<dyn std::error::Error>;
/// Events between two snapshots.
const MAX_EVENTS: u32 = 100;

/// A store in one file.
#[derive(Debug)]
pub struct FileStore {
    path: PathBuf,
    file: File,
    end: u64,
    events: u32,
}

impl FileStore {
    /// Restores the user of the file. Without a file, creates the file of a new user.
    ///
    /// # Errors
    /// A file that cannot be read or written, is damaged, or has a user of another policy.
    pub fn open(path: &Path, user: &mut User<'_, f32>) -> Result<Self, Error> {
        let bytes = match fs::read(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Self::create(path, user),
            bytes => bytes?,
        };
        let (length, rest) = bytes.split_first_chunk().ok_or("the file has no snapshot")?;
        let length = u32::from_le_bytes(*length) as usize;
        let (snapshot, mut rest) = rest.split_at_checked(length).ok_or("the file has no snapshot")?;
        user.restore(snapshot)?;
        let (mut events, mut forgot) = (0, false);
        while let Some((length, body)) = rest.split_first_chunk()
            && let Some((record, after)) = body.split_at_checked(u16::from_le_bytes(*length).into())
        {
            let event = match decode_event(user.policy().catalog(), record) {
                Err(_) if after.is_empty() => break, // torn
                event => event?,
            };
            user.check(&event)?.apply();
            forgot |= matches!(event, Event::Forget { .. });
            (rest, events) = (after, events + 1);
        }
        if forgot {
            return Self::create(path, user); // completes an interrupted `forget`
        }
        let (file, end) = (OpenOptions::new().append(true).open(path)?, (bytes.len() - rest.len()) as u64);
        file.set_len(end)?;
        Ok(Self { path: path.into(), file, end, events })
    }

    /// Replaces the file by a file with a snapshot. The rename is the moment at which it replaces the old
    /// file.
    fn create(path: &Path, user: &User<'_, impl Scalar>) -> Result<Self, Error> {
        let (mut snapshot, mut chunk, mut bytes) = (user.snapshot()?, [0; 256], vec![0; 4]);
        while let read @ 1.. = snapshot.read(&mut chunk) {
            bytes.extend_from_slice(&chunk[..read]);
        }
        let length = u32::try_from(bytes.len() - 4)?.to_le_bytes();
        bytes[..4].copy_from_slice(&length);
        let temporary = path.with_extension("new");
        let mut file = File::create(&temporary)?;
        file.write_all(&bytes)?;
        file.sync_all()?;
        fs::rename(&temporary, path)?;
        File::open(path.parent().ok_or("the file has no folder")?)?.sync_all()?;
        let file = OpenOptions::new().append(true).open(path)?;
        Ok(Self { path: path.into(), file, end: bytes.len() as u64, events: 0 })
    }
}

impl UserStore for FileStore {
    type Error = Error;

    fn append(&mut self, event: &Event) -> Result<bool, Error> {
        if self.events == MAX_EVENTS {
            return Ok(false);
        }
        let mut bytes = [0; 2 + MAX_EVENT_LEN];
        let length = encode_event(event, &mut bytes[2..])?.len();
        bytes[..2].copy_from_slice(&u16::try_from(length)?.to_le_bytes());
        self.file.set_len(self.end)?; // cuts off the event of a failed write
        self.file.write_all(&bytes[..2 + length])?;
        self.file.sync_data()?;
        (self.end, self.events) = (self.end + 2 + length as u64, self.events + 1);
        Ok(true)
    }

    fn ensure_capacity<T: Scalar>(&mut self, user: &User<'_, T>) -> Result<(), Error> {
        *self = Self::create(&self.path, user)?;
        Ok(())
    }

    fn forget<T: Scalar>(&mut self, user: &User<'_, T>) -> Result<(), Error> {
        self.ensure_capacity(user)
    }
}

fn main() -> Result<(), Error> {
    let policy = Policy::<f32>::new(&TAU2, Settings::default())?;
    let path = std::env::temp_dir().join(format!("fable-{}.user", std::process::id()));
    let (context, all) = (TAU2.context(None, [])?, Feasible::all(&TAU2));
    let mut last = None;
    for start in 0..3 {
        let (mut learner, mut scratch) =
            (HostLearner::<f32>::for_policy(&policy), vec![0.0; TAU2.workspace_len()]);
        learner.start(&policy, user_hash("ana"))?;
        let mut store = FileStore::open(&path, &mut learner.bind(&policy, &mut scratch)?)?;
        if let Some(last) = last {
            assert!(learner == last, "a restart finds the same state");
        }
        let mut device = Device::new(learner.bind(&policy, &mut scratch)?, &mut store);
        println!("start {start} finds {} rounds", device.user().state().rounds());
        for _ in 0..80 {
            let decision = device.decide(&Request::new(&context, &all))?;
            device.feedback(decision.id, 0.5)?;
        }
        last = Some(learner);
    }
    fs::remove_file(&path)?;
    Ok(())
}
