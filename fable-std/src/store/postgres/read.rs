//! Reading a user, and what has happened to users in memory. Each is one statement, so that it sees one moment.

use super::sealed::{Spot, What};
use super::session::{Fault, Session, Value};
use crate::memory::Memory;
use crate::store::journal::Segment;
use crate::store::{Damage, Known, News, Reach, StoreError, Stored, UserRow, wishes};
use fable_core::record::{HEADER_LEN, Header};
use std::collections::BTreeMap;
use tokio_postgres::{Error, Row};

/// Kind 0 is the user, 1 a snapshot, 2 entries of the journal. With `$2` everything, otherwise the newest snapshot and what is after it.
const LOAD: &str = "WITH seen AS MATERIALIZED (
        SELECT seen FROM fable_snapshots WHERE number = $1 ORDER BY seen DESC LIMIT CASE WHEN $2 THEN NULL ELSE 1 END
    ), start AS MATERIALIZED (
        SELECT CASE WHEN $2 THEN 0 ELSE coalesce((SELECT max(first) FROM fable_events
            WHERE number = $1 AND first <= coalesce((SELECT max(seen) FROM seen), 0)), 0) END AS first
    )
    SELECT 0 AS kind, birth AS a, entries AS b, head AS bytes, rules AS more, name FROM fable_users WHERE number = $1
    UNION ALL SELECT 1, s.seen, s.base::int4, s.bytes, NULL, NULL FROM fable_snapshots s
        WHERE s.number = $1 AND s.seen IN (SELECT seen FROM seen)
    UNION ALL SELECT 2, e.first, e.count, e.bytes, NULL, NULL FROM fable_events e
        WHERE e.number = $1 AND e.first >= (SELECT first FROM start)";

/// Of each user in memory who is not as known: what the store has, and the entries that are not known.
const SINCE: &str = "SELECT k.number, u.birth, u.entries, e.first, e.count, e.bytes
    FROM unnest($1::int8[], $2::int8[], $3::int8[]) AS k(number, birth, entries)
    LEFT JOIN fable_users u ON u.number = k.number
    LEFT JOIN LATERAL (
        SELECT e.first, e.count, e.bytes FROM fable_events e
        WHERE u.birth = k.birth AND u.entries > k.entries AND e.number = k.number
        AND e.first >= coalesce((SELECT max(p.first) FROM fable_events p WHERE p.number = k.number AND p.first <= k.entries), 0)
        AND e.first + e.count > k.entries
    ) e ON true
    WHERE u.number IS NULL OR u.birth <> k.birth OR u.entries <> k.entries
    ORDER BY k.number, e.first";

/// What the tables have about a user.
#[derive(Debug)]
pub(super) struct Found {
    number: u64,
    birth: u64,
    entries: u64,
    name: Vec<u8>,
    head: Vec<u8>,
    rules: Option<Vec<u8>>,
    /// By the number of entries they have seen, and whether the history begins with it.
    snapshots: BTreeMap<u64, (bool, Vec<u8>)>,
    /// By the first one; their number and the bytes.
    journal: BTreeMap<u64, (u64, Vec<u8>)>,
}

/// A number of 64 bits without a sign.
fn unsigned(row: &Row, column: usize) -> Result<u64, Error> {
    Ok(row.try_get::<_, i64>(column)?.cast_unsigned())
}

/// Everything about a user, or only what the state needs; `None` when there is none.
pub(super) async fn load(session: &Session, number: u64, reach: Reach) -> Result<Option<Found>, Fault> {
    let (key, whole) = (number.cast_signed(), reach == Reach::Whole);
    let values: [Value<'_>; 2] = [&key, &whole];
    let (mut user, mut snapshots, mut journal) = (None, BTreeMap::new(), BTreeMap::new());
    for row in session.query(LOAD, &values).await? {
        let (a, b) = (unsigned(&row, 1)?, unsigned(&row, 2)?);
        match row.try_get::<_, i32>(0)? {
            0 => user = Some((a, b, row.try_get(5)?, row.try_get(3)?, row.try_get(4)?)),
            1 => drop(snapshots.insert(a, (b != 0, row.try_get(3)?))),
            _ => drop(journal.insert(a, (b, row.try_get(3)?))),
        }
    }
    Ok(user.map(|(birth, entries, name, head, rules)| Found {
        number,
        birth,
        entries,
        name,
        head,
        rules,
        snapshots,
        journal,
    }))
}

impl Found {
    fn spot(&self, what: What, position: u64) -> Spot {
        Spot { what, number: self.number, birth: self.birth, position }
    }

    fn row(&self) -> Option<UserRow> {
        let row = UserRow::decode(self.spot(What::Row, 0).open(&self.head)?).ok()?;
        (row.header.user == self.number && row.name.as_bytes() == self.name).then_some(row)
    }

    fn rules(&self) -> Option<Vec<u8>> {
        let Some(sealed) = &self.rules else { return Some(Vec::new()) };
        let rules = Spot { birth: 0, ..self.spot(What::Rules, 0) }.open(sealed)?;
        wishes::is_document(rules).then(|| rules.to_vec())
    }

    /// A snapshot that belongs to the row.
    fn snapshot(&self, row: &UserRow, seen: u64) -> Option<Vec<u8>> {
        let (_, sealed) = self.snapshots.get(&seen)?;
        let bytes = self.spot(What::Snapshot, seen).open(sealed)?;
        let header = Header::decode(bytes.get(..HEADER_LEN)?).ok()?;
        let of = |header: &Header| (header.user, header.fingerprint, header.digits);
        (of(&header) == of(&row.header)).then(|| bytes.to_vec())
    }

    /// The entries from a position to the end, without a gap.
    fn journal(&self, from: u64) -> Option<Vec<Segment>> {
        let start = self.journal.range(..=from).next_back().map_or(from, |(first, _)| *first);
        let (mut segments, mut end) = (Vec::new(), start);
        for (first, (count, sealed)) in self.journal.range(start..) {
            let segment = entries(self.number, self.birth, (*first, *count), sealed)
                .filter(|segment| segment.first == end)?;
            end = segment.end();
            if end > from {
                segments.push(segment);
            }
        }
        (end == self.entries || (segments.is_empty() && from == self.entries)).then_some(segments)
    }

    /// The user, from the first place that is sound: from the newest snapshot on for the state; from the beginning on, or from
    /// where the history begins, for the history.
    pub(super) fn stored(&self, reach: Reach) -> Result<Stored, Damage> {
        let row = self.row().ok_or(Damage::Row)?;
        let wishes = self.rules().ok_or(Damage::Rules)?;
        let beginning = (!self.snapshots.values().any(|(base, _)| *base)).then_some(None);
        let mut starts: Vec<Option<u64>> =
            beginning.into_iter().chain(self.snapshots.keys().map(|seen| Some(*seen))).collect();
        if reach == Reach::Snapshot {
            starts.reverse();
        }
        let mut damage = Damage::Journal;
        for start in starts {
            let snapshot = match start.map(|seen| (seen, self.snapshot(&row, seen))) {
                None => None,
                Some((seen, Some(bytes))) => Some((seen, bytes)),
                Some((_, None)) => {
                    damage = Damage::Snapshot;
                    continue;
                }
            };
            match self.journal(start.unwrap_or(0)) {
                Some(journal) => {
                    let (birth, memory) = (self.birth, Memory::default());
                    return Ok(Stored { row, snapshot, journal, birth, wishes, prior: None, memory });
                }
                None => damage = Damage::Journal,
            }
        }
        Err(damage)
    }
}

/// The entries of a row, if they are sound.
fn entries(number: u64, birth: u64, (first, count): (u64, u64), sealed: &[u8]) -> Option<Segment> {
    let bytes = Spot { what: What::Entries, number, birth, position: first }.open(sealed)?;
    let segment = Segment::read(first, bytes).ok()?;
    (segment.count == count && count > 0).then_some(segment)
}

/// The exchanges with a user, the oldest first.
const MEMORY: &str = "SELECT u.birth, m.bytes FROM fable_users u JOIN fable_memories m USING (number)
    WHERE u.number = $1 ORDER BY m.seq";

/// What was exchanged with a user, as far as it is kept.
pub(super) async fn memory(session: &Session, number: u64) -> Result<Result<Memory, Damage>, Fault> {
    let mut exchanges = Vec::new();
    for row in session.query(MEMORY, &[&number.cast_signed()]).await? {
        let spot = Spot { what: What::Memory, number, birth: unsigned(&row, 0)?, position: 0 };
        let part = spot.open(row.try_get(1)?).and_then(|bytes| Memory::decode(bytes).ok());
        let Some(part) = part else { return Ok(Err(Damage::Memory)) };
        exchanges.extend(part.into_exchanges());
    }
    Ok(Ok(Memory::from(exchanges)))
}

/// What has happened to users in memory. Whatever is missing or damaged is told by reading the user anew.
pub(super) async fn since(session: &Session, known: &[Known]) -> Result<Vec<(u64, News)>, Fault> {
    let column =
        |of: fn(&Known) -> u64| known.iter().map(|known| of(known).cast_signed()).collect::<Vec<i64>>();
    let (numbers, births, counts) =
        (column(|known| known.number), column(|known| known.birth), column(|known| known.entries));
    let rows = session.query(SINCE, &[&numbers, &births, &counts]).await?;
    let known: BTreeMap<u64, &Known> = known.iter().map(|known| (known.number, known)).collect();
    let mut news = BTreeMap::<u64, (u64, Option<Vec<Segment>>)>::new();
    for row in &rows {
        let number = unsigned(row, 0)?;
        let Some(known) = known.get(&number) else { continue };
        let there: (Option<i64>, Option<i64>) = (row.try_get(1)?, row.try_get(2)?);
        let end = there.1.unwrap_or(0).cast_unsigned();
        let same = there.0.map(i64::cast_unsigned) == Some(known.birth) && end > known.entries;
        let (_, segments) = news.entry(number).or_insert_with(|| (end, same.then(Vec::new)));
        let (Some(first), Some(all)) = (row.try_get::<_, Option<i64>>(3)?, segments.as_mut()) else {
            continue;
        };
        let count = u64::try_from(row.try_get::<_, i32>(4)?).unwrap_or(0);
        let next = all.last().map(Segment::end);
        let segment = entries(number, known.birth, (first.cast_unsigned(), count), row.try_get(5)?);
        match segment
            .filter(|segment| next.map_or(segment.first <= known.entries, |next| segment.first == next))
        {
            Some(segment) => all.push(segment),
            None => *segments = None,
        }
    }
    let told = |(number, (end, segments)): (u64, (u64, Option<Vec<Segment>>))| {
        let whole = segments.filter(|segments| segments.last().is_some_and(|last| last.end() == end));
        (number, whole.map_or(News::Anew, News::Entries))
    };
    Ok(news.into_iter().map(told).collect())
}

/// A prior, if it is sound.
pub(super) fn prior(fingerprint: u64, sealed: &[u8]) -> Result<Vec<u8>, StoreError> {
    let spot = Spot { what: What::Prior, number: fingerprint, birth: 0, position: 0 };
    spot.open(sealed).map(<[u8]>::to_vec).ok_or(StoreError::User(Damage::Prior))
}
