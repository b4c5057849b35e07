//! A commit: one transaction, one round trip, and the same again until it is known whether it has happened.
//!
//! ```text
//! BEGIN
//!   priors
//!   the store's row: shared by those who add users, alone for those who erase or import
//!   lock the users, in the order of their numbers
//!   delete who is erased, in the life that was asked about
//!   insert newcomers, unless the name or the number is taken, or a user was forgotten since they asked for an incarnation
//!   UPDATE the number of entries where life and number are what the writer knew; insert entries and rules of these
//!   snapshots of these; entries that no history needs any more; exchanges with these, and those that are too many
//! COMMIT
//! ```
//!
//! Everybody locks in the same order, so nobody waits in a circle. A user whose life or number of entries is another one than the writer
//! knew has been written by somebody else: nothing of that user is written, and the others are not touched.
//!
//! Most commits only add to the journals of users who are there. The first attempt of such a one is the `UPDATE` alone, a transaction of its own:
//! rows are locked in the order in which they come, which is that of their numbers.
//!
//! When the connection is lost, the commit may or may not have happened, or may even be about to. It is sent again with the same token:
//! entries with that token are its own, so it has happened; otherwise life and number decide once more, and an attempt that arrives later finds that they have moved on.
//! Erasing names the life that it ends, so it never ends the next one. Rules alone are written once more, and so is that nothing of what was
//! exchanged before is to stay.

use super::change::{self, Batch, Life};
use super::session::{Course, Fault, PATIENCE, Pauses, Pool, Session, Step, Value};
use crate::memory::Bounds;
use crate::store::{StoreError, Writes};
use std::collections::BTreeSet;
use std::time::Duration;
use tokio_postgres::error::{Severity, SqlState};
use tokio_postgres::{Error, Row};

/// How long a database is waited for when it is not known whether it has committed.
const DOUBT: Duration = Duration::from_secs(30);

const PRIORS: &str = "INSERT INTO fable_priors AS p (fingerprint, bytes)
    SELECT i.fingerprint, i.bytes FROM unnest($1::int8[], $2::bytea[]) AS i(fingerprint, bytes) ORDER BY i.fingerprint
    ON CONFLICT (fingerprint) DO UPDATE SET bytes = excluded.bytes WHERE p.bytes <> excluded.bytes";

const SHARE: &str = "SELECT incarnation FROM fable_store WHERE single FOR SHARE";

const ADVANCE: &str = "UPDATE fable_store SET incarnation = greatest(incarnation + $1, $2) WHERE single";

const LOCK: &str =
    "SELECT number FROM fable_users WHERE number = ANY($1::int8[]) ORDER BY number FOR NO KEY UPDATE";

const ERASE: &str = "WITH gone AS (
        DELETE FROM fable_users u USING unnest($1::int8[], $2::int8[]) AS i(number, birth)
        WHERE u.number = i.number AND u.birth = i.birth RETURNING u.number
    ), events AS (DELETE FROM fable_events e USING gone WHERE e.number = gone.number)
    , memories AS (DELETE FROM fable_memories m USING gone WHERE m.number = gone.number)
    DELETE FROM fable_snapshots s USING gone WHERE s.number = gone.number";

const BEAR: &str = "WITH born AS (
        INSERT INTO fable_users (number, birth, entries, incarnation, name, head, rules)
        SELECT i.number, i.birth, i.last, i.incarnation, i.name, i.head, i.rules
        FROM unnest($1::int8[], $2::int8[], $3::int8[], $4::int8[], $5::bytea[], $6::bytea[], $7::bytea[], $8::bool[])
            AS i(number, birth, last, incarnation, name, head, rules, arrives), fable_store s
        WHERE s.single AND (i.arrives OR i.incarnation >= s.incarnation)
        ORDER BY i.number ON CONFLICT DO NOTHING RETURNING number
    )
    INSERT INTO fable_events (number, first, count, token, bytes)
    SELECT r.number, r.first, r.count, $13, r.bytes
    FROM unnest($9::int8[], $10::int8[], $11::int4[], $12::bytea[]) AS r(number, first, count, bytes)
    WHERE (r.number IN (SELECT number FROM born)) IS TRUE";

/// The users who are written, by this attempt or by an earlier one. `IS TRUE` makes the planner look the winners up in a hash table,
/// where a join would compare each with each: joins are to go through the indexes alone.
const WRITE: &str = "WITH input AS (
        SELECT * FROM unnest($1::int8[], $2::int8[], $3::int8[], $4::int8[], $5::bytea[]) AS i(number, birth, first, last, rules)
    ), won AS (
        UPDATE fable_users u SET entries = coalesce(i.last, u.entries), rules = coalesce(i.rules, u.rules)
        FROM input i WHERE u.number = i.number AND u.birth = i.birth AND (i.first IS NULL OR u.entries = i.first)
        RETURNING u.number
    ), put AS (
        INSERT INTO fable_events (number, first, count, token, bytes)
        SELECT r.number, r.first, r.count, $10, r.bytes
        FROM unnest($6::int8[], $7::int8[], $8::int4[], $9::bytea[]) AS r(number, first, count, bytes)
        WHERE (r.number IN (SELECT number FROM won)) IS TRUE
    )
    SELECT number FROM won
    UNION ALL SELECT i.number FROM input i JOIN fable_events e ON e.number = i.number AND e.first = i.first WHERE e.token = $10";

/// The same for a first attempt.
const WRITE_ONCE: &str = "WITH input AS (
        SELECT * FROM unnest($1::int8[], $2::int8[], $3::int8[], $4::int8[], $5::bytea[]) AS i(number, birth, first, last, rules)
    ), won AS (
        UPDATE fable_users u SET entries = coalesce(i.last, u.entries), rules = coalesce(i.rules, u.rules)
        FROM input i WHERE u.number = i.number AND u.birth = i.birth AND (i.first IS NULL OR u.entries = i.first)
        RETURNING u.number
    ), put AS (
        INSERT INTO fable_events (number, first, count, token, bytes)
        SELECT r.number, r.first, r.count, $10, r.bytes
        FROM unnest($6::int8[], $7::int8[], $8::int4[], $9::bytea[]) AS r(number, first, count, bytes) JOIN won USING (number)
    )
    SELECT number FROM won";

/// The history begins with these: whatever was before them goes.
const BASES: &str = "WITH input AS (
        SELECT i.number, i.seen, i.bytes
        FROM unnest($1::int8[], $2::int8[], $3::int8[], $4::int8[], $5::bytea[]) AS i(number, birth, first, seen, bytes)
        JOIN fable_users u ON u.number = i.number AND u.birth = i.birth
        WHERE i.first IS NULL OR EXISTS (SELECT FROM fable_events e WHERE e.number = i.number AND e.first = i.first AND e.token = $6)
    ), gone AS (
        DELETE FROM fable_snapshots x USING input i WHERE x.number = i.number AND x.seen < i.seen
    ), unneeded AS (
        DELETE FROM fable_events e USING input i WHERE e.number = i.number AND e.first < i.seen AND e.first + e.count <= i.seen
    )
    INSERT INTO fable_snapshots (number, seen, base, bytes) SELECT number, seen, true, bytes FROM input ON CONFLICT DO NOTHING";

/// The newest snapshot takes the place of the one before. Once there are more than half of the history after the middle one, the
/// history begins with that, and this is the middle one.
const SNAPSHOTS: &str = "WITH input AS (
        SELECT i.number, i.seen, i.bytes, (s.history + 1) / 2 AS half
        FROM unnest($1::int8[], $2::int8[], $3::int8[], $4::int8[], $5::bytea[]) AS i(number, birth, first, seen, bytes)
        JOIN fable_users u ON u.number = i.number AND u.birth = i.birth, fable_store s
        WHERE s.single
        AND (i.first IS NULL OR EXISTS (SELECT FROM fable_events e WHERE e.number = i.number AND e.first = i.first AND e.token = $6))
        AND NOT EXISTS (SELECT FROM fable_snapshots x WHERE x.number = i.number AND x.seen >= i.seen)
    ), based AS (
        SELECT i.*, coalesce((SELECT max(x.seen) FROM fable_snapshots x WHERE x.number = i.number AND x.base), 0) AS base FROM input i
    ), plan AS (
        SELECT b.*, coalesce((SELECT min(x.seen) FROM fable_snapshots x
            WHERE x.number = b.number AND NOT x.base AND x.seen - b.base >= b.half), b.base) AS middle FROM based b
    ), moved AS MATERIALIZED (
        SELECT p.*, coalesce(p.seen - p.middle >= p.half, false) AS moves FROM plan p
    ), put AS (
        INSERT INTO fable_snapshots (number, seen, base, bytes) SELECT number, seen, false, bytes FROM moved
    ), gone AS (
        DELETE FROM fable_snapshots x USING moved m WHERE x.number = m.number AND x.seen <> m.middle AND (m.moves OR NOT x.base)
    ), begun AS (
        UPDATE fable_snapshots x SET base = true FROM moved m
        WHERE x.number = m.number AND x.seen = m.middle AND m.moves AND NOT x.base
    )
    DELETE FROM fable_events e USING moved m
    WHERE e.number = m.number AND m.moves AND e.first < m.middle AND e.first + e.count <= m.middle";

/// Exchanges go after those that are there, once.
const MEMORIES: &str = "WITH input AS MATERIALIZED (
        SELECT i.number, i.anew, coalesce((SELECT max(m.seq) FROM fable_memories m WHERE m.number = i.number), 0) AS last
        FROM unnest($1::int8[], $2::int8[], $3::int8[], $4::bool[]) AS i(number, birth, first, anew)
        JOIN fable_users u ON u.number = i.number AND u.birth = i.birth
        WHERE (i.first IS NULL OR EXISTS (SELECT FROM fable_events e WHERE e.number = i.number AND e.first = i.first AND e.token = $8))
        AND NOT EXISTS (SELECT FROM fable_memories m WHERE m.number = i.number AND m.token = $8)
    ), gone AS (
        DELETE FROM fable_memories m USING input i WHERE m.number = i.number AND i.anew
    )
    INSERT INTO fable_memories (number, seq, token, size, bytes)
    SELECT i.number, i.last + r.place, $8, r.size, r.bytes
    FROM unnest($5::int8[], $6::int4[], $7::bytea[]) WITH ORDINALITY AS r(number, size, bytes, place) JOIN input i USING (number)";

/// The oldest leave until the rest is within the bounds.
const FADED: &str = "DELETE FROM fable_memories m USING (
        SELECT number, seq, row_number() OVER newest AS place, sum(size) OVER newest AS size
        FROM fable_memories WHERE number = ANY($1::int8[]) WINDOW newest AS (PARTITION BY number ORDER BY seq DESC)
    ) k WHERE m.number = k.number AND m.seq = k.seq AND (k.place > $2 OR k.size > $3)";

const LIVES: &str = "SELECT number, birth, incarnation FROM fable_users WHERE number = ANY($1::int8[])";

/// How an attempt has ended that has not done it.
struct Failure {
    fault: Fault,
    /// Whether it may have happened nevertheless, or may yet happen.
    doubt: bool,
}

/// Commits writes; returns the users of whom nothing was written.
pub(super) async fn commit(pool: &Pool, writes: &Writes, bounds: &Bounds) -> Result<Vec<u64>, StoreError> {
    let mut changes = change::by_user(writes)?;
    let everyone: BTreeSet<u64> = changes.iter().map(|change| change.number).collect();
    let unknown: Vec<i64> = changes
        .iter()
        .filter(|change| change.birth.is_none())
        .map(|change| change.number.cast_signed())
        .collect();
    if !unknown.is_empty() {
        change::settle(&mut changes, &lives(pool, &unknown).await?);
    }
    let mut batch = Batch::new(writes, &changes, bounds)?;
    if writes.erases() {
        let erased: Vec<i64> = writes.erased.iter().map(|number| number.cast_signed()).collect();
        batch.erase(&lives(pool, &erased).await?, erased.len())?;
    }
    let won: BTreeSet<u64> = persist(pool, &batch).await?.into_iter().collect();
    Ok(everyone.difference(&won).copied().collect())
}

async fn lives(pool: &Pool, numbers: &[i64]) -> Result<Vec<Life>, Fault> {
    let rows = pool.read(async |session| session.query(LIVES, &[&numbers]).await).await?;
    let life = |row: &Row| {
        let (number, birth) =
            (row.try_get::<_, i64>(0)?.cast_unsigned(), row.try_get::<_, i64>(1)?.cast_unsigned());
        Ok(Life { number, birth, incarnation: row.try_get(2)? })
    };
    rows.iter().map(life).collect()
}

/// Sends a batch until it is known what has become of it.
async fn persist(pool: &Pool, batch: &Batch) -> Result<Vec<u64>, StoreError> {
    let (mut pauses, mut doubt, mut again) = (Pauses::new(), false, false);
    loop {
        let mut failure = None;
        // What goes wrong before anything is sent leaves no doubt.
        let done = pool.with(async |session| {
            attempt(session, batch, again).await.map_err(|found| failure.insert(found).report())
        });
        let fault = match done.await {
            Ok(won) => return Ok(won),
            Err(fault) => fault,
        };
        again = true;
        doubt |= failure.is_some_and(|failure| failure.doubt);
        if doubt || fault.course != Course::Final {
            tracing::warn!(doubt, error = %StoreError::from(fault.again()), "a commit is sent again");
            if pauses.pause(if doubt { DOUBT } else { PATIENCE }).await {
                continue;
            }
        }
        let error = match fault.code {
            Some(SqlState::CHECK_VIOLATION) => StoreError::Exhausted,
            _ => fault.into(),
        };
        return Err(if doubt { error.uncertain() } else { error });
    }
}

impl Failure {
    fn report(&self) -> Fault {
        self.fault.again()
    }
}

/// One attempt: the users who are written.
async fn attempt(session: &Session, batch: &Batch, again: bool) -> Result<Vec<u64>, Failure> {
    let everyone = batch.everyone();
    let alone = !again && batch.only_adds();
    let steps =
        if alone { vec![Step { text: WRITE_ONCE, values: written(batch) }] } else { steps(batch, &everyone) };
    let certain = |fault| Failure { fault, doubt: false };
    let statements = session.prepare(&steps).await.map_err(certain)?;
    let answers =
        session.pipeline(&statements, &steps).await.map_err(|fault| Failure { fault, doubt: true })?;
    let last = answers.len().saturating_sub(1);
    let mut won = Vec::new();
    for (place, (answer, step)) in answers.into_iter().zip(&steps).enumerate() {
        let rows = answer.map_err(|error| {
            // A statement that was refused ends the transaction, so that it cannot be committed; anything else says nothing about it.
            let refused =
                error.as_db_error().is_some_and(|said| said.parsed_severity() == Some(Severity::Error));
            Failure { fault: error.into(), doubt: !(refused && (alone || place > 0 && place < last)) }
        })?;
        if [WRITE, WRITE_ONCE].contains(&step.text) {
            let read = |row: &Row| Ok::<_, Error>(row.try_get::<_, i64>(0)?.cast_unsigned());
            won = rows.iter().map(read).collect::<Result<_, _>>().map_err(|error| certain(error.into()))?;
        }
    }
    Ok(won)
}

/// The transaction, with what it does not need left out.
fn steps<'b>(batch: &'b Batch, everyone: &'b Vec<i64>) -> Vec<Step<'b>> {
    let mut steps = vec![Step { text: "BEGIN", values: Vec::new() }];
    let mut step = |text, values: Vec<Value<'b>>| steps.push(Step { text, values });
    if !batch.priors.is_empty() {
        step(PRIORS, vec![&batch.fingerprints, &batch.priors]);
    }
    match &batch.advance {
        Some((count, least)) => step(ADVANCE, vec![count, least]),
        None if !batch.newcomers.names.is_empty() => step(SHARE, Vec::new()),
        None => {}
    }
    if !everyone.is_empty() {
        step(LOCK, vec![everyone]);
    }
    if !batch.erased.is_empty() {
        step(ERASE, vec![&batch.erased, &batch.ended]);
    }
    let new = &batch.newcomers;
    if !new.names.is_empty() {
        let (users, rows) = (&new.users, &new.entries);
        let values: [Value<'b>; 13] = [
            &users.numbers,
            &users.births,
            &users.lasts,
            &new.incarnations,
            &new.names,
            &new.heads,
            &users.rules,
            &new.arrive,
            &rows.numbers,
            &rows.firsts,
            &rows.counts,
            &rows.bytes,
            &batch.token,
        ];
        step(BEAR, values.to_vec());
    }
    if !batch.users.numbers.is_empty() {
        step(WRITE, written(batch));
    }
    for (text, snapshots) in [(BASES, &batch.bases), (SNAPSHOTS, &batch.snapshots)] {
        let users = &snapshots.users;
        if !users.numbers.is_empty() {
            step(
                text,
                vec![
                    &users.numbers,
                    &users.births,
                    &users.firsts,
                    &snapshots.seen,
                    &snapshots.bytes,
                    &batch.token,
                ],
            );
        }
    }
    let (memories, users) = (&batch.memories, &batch.memories.users);
    if !users.numbers.is_empty() {
        let values: [Value<'b>; 8] = [
            &users.numbers,
            &users.births,
            &users.firsts,
            &memories.anew,
            &memories.numbers,
            &memories.sizes,
            &memories.bytes,
            &batch.token,
        ];
        step(MEMORIES, values.to_vec());
        step(FADED, vec![&users.numbers, &memories.most, &memories.room]);
    }
    step("COMMIT", Vec::new());
    steps
}

/// What is said about users who are there by then.
fn written(batch: &Batch) -> Vec<Value<'_>> {
    let (users, rows) = (&batch.users, &batch.entries);
    let values: [Value<'_>; 10] = [
        &users.numbers,
        &users.births,
        &users.firsts,
        &users.lasts,
        &users.rules,
        &rows.numbers,
        &rows.firsts,
        &rows.counts,
        &rows.bytes,
        &batch.token,
    ];
    values.to_vec()
}
