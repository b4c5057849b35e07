//! A store in PostgreSQL that any number of processes on any number of machines may use at once.
//!
//! The processes share nothing but the database. Whoever commits says which life of a user is meant and how many entries were
//! known; if the database has more, somebody else was first, nothing of that user is written, and [`commit`](Store::commit) says so. The
//! one who was not first reads what has happened [since](Store::since) and proposes again, from the same bits.
//!
//! | | |
//! |---|---|
//! | where | a URL, see [`Place`]; the tables are made by the first one who opens it |
//! | a commit | one transaction in one round trip, whatever the number of users; durable when it returns |
//! | a lost connection | the commit is sent again until it is known whether it has happened, for half a minute at most; then [`StoreError::Uncertain`] |
//! | a database that is not there | [`StoreError::Database`] after ten seconds; nothing has changed, and the next commit may succeed |
//! | damage | every value has a CRC-32 about itself and its place; a user of whom something is damaged gets [`StoreError::User`], the others go on |
//! | a copy | `pg_dump`, or what the database has for that |
//!
//! *Forgetting* deletes every row of the user in one transaction and answers when that is durable. The database itself keeps the bytes
//! longer: in dead rows until `VACUUM` has passed, in the write-ahead log until its segments are used again, in replicas until they
//! have followed, and in backups and log archives until these expire. Nothing is sealed by Fable here, other than in a
//! [`FileStore`](crate::store::FileStore): the rights and the encryption of the database and its disks protect what is in it. Everyone who comes later starts in an incarnation
//! that was never used before, whichever process was asked to forget.
//!
//! *Growth*: as in a file, the last [`History`](crate::store::History) events of every user are kept; what is before them is a snapshot.
//!
//! A pooler in between has to keep prepared statements (`PgBouncer` from 1.21 on, or in session mode). A server with `fsync` off
//! can lose what was committed; opening it says so in the log.

mod change;
mod commit;
mod place;
mod read;
mod sealed;
mod session;
mod tables;
mod tls;

pub use place::{Place, is_url};

use super::{Damage, Identity, Known, News, Options, Reach, Store, StoreError, Stored, Writes};
use crate::memory::{Bounds, Memory};
use session::{Fault, Pool, Session};
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::runtime::{Builder, Runtime};

/// The version of the tables in a database.
pub const TABLES_VERSION: i32 = tables::VERSION;

/// A store in a PostgreSQL database that any number of processes share. It is used from ordinary threads, each of which waits for its answer; not from tasks of an asynchronous runtime.
pub struct PostgresStore {
    /// Taken when the store is dropped.
    runtime: Option<Runtime>,
    pool: Pool,
    identity: Identity,
    /// How much is remembered of a user.
    bounds: Bounds,
    /// Users of whom something could not be read.
    damaged: Mutex<BTreeMap<u64, Damage>>,
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore").field("place", self.pool.place()).finish_non_exhaustive()
    }
}

impl PostgresStore {
    /// Opens the store in a database, or makes one where there is none.
    ///
    /// # Errors
    /// A database that does not answer or does not let us in, tables of another identity or version.
    pub fn open(place: &Place, identity: &Identity, options: &Options) -> Result<Self, StoreError> {
        let store = Self::begin(place, options, Some(identity))?;
        store.identity.admit(identity)?;
        Ok(store)
    }

    /// Opens an existing store, whatever it belongs to.
    ///
    /// # Errors
    /// As for [`open`](Self::open), and [`StoreError::Missing`] for a database without a store.
    pub fn open_any(place: &Place, options: &Options) -> Result<Self, StoreError> {
        Self::begin(place, options, None)
    }

    fn begin(place: &Place, options: &Options, made_for: Option<&Identity>) -> Result<Self, StoreError> {
        let pool = Pool::new(place.clone())?;
        let runtime =
            Builder::new_multi_thread().worker_threads(1).thread_name("postgres").enable_all().build()?;
        let found = runtime.block_on(pool.read(async |session| {
            if let Some(identity) = made_for
                && tables::about(session).await?.is_none()
            {
                tables::make(session, identity, options.history).await?;
            }
            tables::about(session).await
        }))?;
        let about = found.ok_or_else(|| StoreError::Missing(place.to_string().into()))?;
        let identity = about.identity()?;
        if let Some(given) = made_for {
            identity.admit(given)?;
        }
        let store = Self {
            runtime: Some(runtime),
            pool,
            identity,
            bounds: options.memory,
            damaged: Mutex::default(),
        };
        store.read(async |session| tables::keep(session, &about, options).await)?;
        let lax = store.read(async |session| {
            session.query("SELECT 1 WHERE current_setting('fsync') = 'off'", &[]).await
        })?;
        if !lax.is_empty() {
            tracing::warn!(
                "the database has `fsync` off: what is committed may be lost when its machine stops"
            );
        }
        Ok(store)
    }

    /// Where the database is.
    #[must_use]
    pub const fn place(&self) -> &Place {
        self.pool.place()
    }

    fn wait<R>(&self, work: impl Future<Output = R>) -> R {
        match &self.runtime {
            Some(runtime) => runtime.block_on(work),
            None => unreachable!("it is taken by dropping alone"),
        }
    }

    fn read<R>(&self, work: impl AsyncFn(&Session) -> Result<R, Fault>) -> Result<R, StoreError> {
        Ok(self.wait(self.pool.read(work))?)
    }

    fn damages(&self) -> MutexGuard<'_, BTreeMap<u64, Damage>> {
        self.damaged.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers whether something of a user could not be read.
    fn remember(&self, number: u64, damage: Option<Damage>) {
        let Some(damage) = damage else {
            self.damages().remove(&number);
            return;
        };
        if self.damages().insert(number, damage).is_none() {
            tracing::error!(%damage, user = format_args!("{number:016x}"), "what is stored about a user is damaged");
        }
    }
}

impl Drop for PostgresStore {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Store for PostgresStore {
    fn identity(&self) -> Result<Identity, StoreError> {
        Ok(self.identity.clone())
    }

    fn incarnation(&self) -> Result<u32, StoreError> {
        let about = self.read(tables::about)?;
        about.map(|about| about.incarnation).ok_or(StoreError::Damaged("its tables are gone"))
    }

    fn users(&self) -> Result<u64, StoreError> {
        let rows = self.read(async |session| session.query("SELECT count(*) FROM fable_users", &[]).await)?;
        let count = rows.first().map(|row| row.try_get::<_, i64>(0)).transpose().map_err(Fault::from)?;
        Ok(count.unwrap_or(0).cast_unsigned())
    }

    fn everyone(&self) -> Result<Vec<u64>, StoreError> {
        self.numbers("SELECT number FROM fable_users")
    }

    fn find(&self, name: &str) -> Result<Option<u64>, StoreError> {
        let name = name.as_bytes();
        let rows = self.read(async |session| {
            session.query("SELECT number FROM fable_users WHERE name = $1", &[&name]).await
        })?;
        let number = rows.first().map(|row| row.try_get::<_, i64>(0)).transpose().map_err(Fault::from)?;
        Ok(number.map(i64::cast_unsigned))
    }

    fn has(&self, number: u64) -> Result<bool, StoreError> {
        let number = number.cast_signed();
        let rows = self.read(async |session| {
            session.query("SELECT 1 FROM fable_users WHERE number = $1", &[&number]).await
        })?;
        Ok(!rows.is_empty())
    }

    fn user(&self, number: u64, reach: Reach) -> Result<Option<Stored>, StoreError> {
        let Some(found) = self.read(async |session| read::load(session, number, reach).await)? else {
            self.remember(number, None);
            return Ok(None);
        };
        let mut stored = found.stored(reach);
        if let (Err(damage @ (Damage::Snapshot | Damage::Journal)), Reach::Snapshot) = (&stored, reach) {
            tracing::warn!(%damage, "a part of what is stored about a user cannot be read; another one is tried");
            let Some(whole) = self.read(async |session| read::load(session, number, Reach::Whole).await)?
            else {
                return Ok(None);
            };
            stored = whole.stored(reach);
        }
        self.remember(number, stored.as_ref().err().copied());
        stored.map(Some).map_err(StoreError::User)
    }

    fn memory(&self, number: u64) -> Result<Memory, StoreError> {
        let found = self.read(async |session| read::memory(session, number).await)?;
        found.map_err(|damage| {
            tracing::error!(
                user = format_args!("{number:016x}"),
                "what was exchanged with a user is damaged"
            );
            StoreError::User(damage)
        })
    }

    fn prior(&self, fingerprint: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let key = fingerprint.cast_signed();
        let rows = self.read(async |session| {
            session.query("SELECT bytes FROM fable_priors WHERE fingerprint = $1", &[&key]).await
        })?;
        let sealed = rows.first().map(|row| row.try_get::<_, &[u8]>(0)).transpose().map_err(Fault::from)?;
        sealed.map(|sealed| read::prior(fingerprint, sealed)).transpose()
    }

    fn priors(&self) -> Result<Vec<u64>, StoreError> {
        self.numbers("SELECT fingerprint FROM fable_priors")
    }

    fn commit(&self, writes: Writes, _sync: bool) -> Result<Vec<u64>, StoreError> {
        if writes.is_empty() && writes.incarnation.is_none() {
            return Ok(Vec::new());
        }
        let losers = self.wait(commit::commit(&self.pool, &writes, &self.bounds))?;
        if writes.erases() {
            self.damages().retain(|number, _| !writes.erased.contains(number));
        }
        Ok(losers)
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn since(&self, known: &[Known]) -> Result<Vec<(u64, News)>, StoreError> {
        if known.is_empty() {
            return Ok(Vec::new());
        }
        self.read(async |session| read::since(session, known).await)
    }

    fn damaged(&self) -> u64 {
        self.damages().len() as u64
    }

    fn bytes(&self) -> u64 {
        let size = "SELECT sum(pg_total_relation_size(name::regclass))::int8 FROM unnest(ARRAY['fable_store', 'fable_users', \
            'fable_events', 'fable_snapshots', 'fable_memories', 'fable_priors']) AS name";
        let rows = self.read(async |session| session.query(size, &[]).await);
        let bytes = rows.ok().and_then(|rows| rows.first()?.try_get::<_, i64>(0).ok());
        bytes.unwrap_or(0).cast_unsigned()
    }

    fn backup(&self, _: &Path, _: &mut dyn FnMut(u64, u64)) -> Result<u64, StoreError> {
        Err(StoreError::Database(
            "a store in a database is copied by the database itself, for example with `pg_dump`".to_owned(),
        ))
    }
}

impl PostgresStore {
    /// A column of numbers, in order.
    fn numbers(&self, text: &'static str) -> Result<Vec<u64>, StoreError> {
        let rows = self.read(async |session| session.query(text, &[]).await)?;
        let numbers = rows
            .iter()
            .map(|row| row.try_get::<_, i64>(0).map(i64::cast_unsigned))
            .collect::<Result<Vec<u64>, _>>();
        let mut numbers = numbers.map_err(Fault::from)?;
        numbers.sort_unstable();
        Ok(numbers)
    }
}
