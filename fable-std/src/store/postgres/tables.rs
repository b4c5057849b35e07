//! The tables, and how they come into a database.
//!
//! | table | a row for | |
//! |---|---|---|
//! | `fable_store` | the store | version, identity, the incarnation in which users start, how much is kept |
//! | `fable_users` | a user | name, header, life, entries in the journal, hard rules |
//! | `fable_events` | the entries that one commit has added to one user's journal | with the commit's token |
//! | `fable_snapshots` | a snapshot of a user: the newest, a middle one, and the one that the history begins with | |
//! | `fable_memories` | an exchange of a user with an assistant | with the token of its commit |
//! | `fable_priors` | a prior | |
//!
//! Numbers of users, lives, tokens and fingerprints have 64 bits and no sign; the tables have the same bits with one. What is stored as
//! bytes ends with a CRC-32 about the bytes and the place they belong to, see [`sealed`](super::sealed). Nothing that is indexed changes with an ordinary
//! commit, and there is room in the pages, so that a commit writes a row of `fable_users` beside the old one and touches no index.

use super::session::{Fault, Session, Value};
use crate::store::{History, Identity, Options, StoreError};

/// The version of the tables.
pub(super) const VERSION: i32 = 2;

/// Whoever makes the tables has this lock: `Fable` in ASCII.
const MAKING: i64 = 0x0046_6162_6c65;

const TABLES: &str = "
CREATE TABLE fable_store (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    version integer NOT NULL,
    identity text NOT NULL,
    incarnation bigint NOT NULL CHECK (incarnation BETWEEN 0 AND 4294967295),
    history bigint CHECK (history > 0)
);
CREATE TABLE fable_users (
    number bigint PRIMARY KEY,
    birth bigint NOT NULL,
    entries bigint NOT NULL,
    incarnation bigint NOT NULL,
    name bytea NOT NULL UNIQUE,
    head bytea NOT NULL,
    rules bytea
) WITH (fillfactor = 60);
CREATE TABLE fable_events (
    number bigint NOT NULL,
    first bigint NOT NULL,
    count integer NOT NULL,
    token bigint NOT NULL,
    bytes bytea NOT NULL,
    PRIMARY KEY (number, first)
);
CREATE TABLE fable_snapshots (
    number bigint NOT NULL,
    seen bigint NOT NULL,
    base boolean NOT NULL,
    bytes bytea NOT NULL,
    PRIMARY KEY (number, seen)
);
ALTER TABLE fable_snapshots ALTER bytes SET STORAGE EXTERNAL;
CREATE TABLE fable_memories (
    number bigint NOT NULL,
    seq bigint NOT NULL,
    token bigint NOT NULL,
    size integer NOT NULL,
    bytes bytea NOT NULL,
    PRIMARY KEY (number, seq)
);
CREATE TABLE fable_priors (
    fingerprint bigint PRIMARY KEY,
    bytes bytea NOT NULL
);";

/// What the row of the store says.
#[derive(Debug)]
pub(super) struct About {
    pub(super) version: i32,
    pub(super) identity: String,
    pub(super) incarnation: u32,
    pub(super) history: Option<i64>,
}

/// The row of the store; `None` when there are no tables.
pub(super) async fn about(session: &Session) -> Result<Option<About>, Fault> {
    // Not `to_regclass`, which remembers what was not there before a lock was waited for.
    let there = "SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = $1 AND tablename = 'fable_store'";
    if session.query(there, &[&session.schema]).await?.is_empty() {
        return Ok(None);
    }
    let rows = session
        .query("SELECT version, identity, incarnation, history FROM fable_store WHERE single", &[])
        .await?;
    let row = rows.first().ok_or_else(|| Fault::foreign("`fable_store` is empty"))?;
    let incarnation =
        u32::try_from(row.try_get::<_, i64>(2)?).map_err(|_| Fault::foreign("an incarnation is negative"))?;
    Ok(Some(About {
        version: row.try_get(0)?,
        identity: row.try_get(1)?,
        incarnation,
        history: row.try_get(3)?,
    }))
}

/// How much is kept, as the tables have it.
fn kept(history: Option<u64>) -> Option<i64> {
    history.map(|events| i64::try_from(events).unwrap_or(i64::MAX).min(i64::MAX / 2))
}

/// Makes the tables unless somebody else does.
pub(super) async fn make(session: &Session, identity: &Identity, history: History) -> Result<(), Fault> {
    let identity = String::from_utf8_lossy(&identity.encode()).into_owned();
    let history = kept(history.or(Some(History::EVENTS)));
    session.client.batch_execute("BEGIN").await?;
    let made = async {
        session.query("SELECT pg_advisory_xact_lock($1)", &[&MAKING]).await?;
        if session.schema != "public" {
            let schema = session.schema.replace('"', "\"\"");
            session.client.batch_execute(&format!("CREATE SCHEMA IF NOT EXISTS \"{schema}\"")).await?;
        }
        if about(session).await?.is_none() {
            session.client.batch_execute(TABLES).await?;
            let values: [Value<'_>; 3] = [&VERSION, &identity, &history];
            let put =
                "INSERT INTO fable_store (version, identity, incarnation, history) VALUES ($1, $2, 0, $3)";
            session.query(put, &values).await?;
        }
        Ok::<_, Fault>(())
    };
    let made = made.await;
    session.client.batch_execute(if made.is_ok() { "COMMIT" } else { "ROLLBACK" }).await?;
    made
}

/// Lets the store keep as much as is asked for.
pub(super) async fn keep(session: &Session, about: &About, options: &Options) -> Result<(), Fault> {
    let wanted = match options.history {
        History::AsItIs => return Ok(()),
        history => kept(history.or(None)),
    };
    if wanted != about.history {
        session.query("UPDATE fable_store SET history = $1 WHERE single", &[&wanted]).await?;
    }
    Ok(())
}

impl About {
    /// What the tables belong to, if this program can read them.
    pub(super) fn identity(&self) -> Result<Identity, StoreError> {
        if self.version == VERSION {
            Identity::decode(self.identity.as_bytes())
        } else {
            Err(StoreError::Tables { found: self.version })
        }
    }
}
