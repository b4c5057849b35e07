//! Everyone under another catalog: values, tasks, signals, blocks or contrasts were added, renamed, put in another order or removed.
//!
//! What becomes of a user is [`fable_core::migrate::Migration`]'s business, bit for bit; here it is done for all that a store has. The store is
//! not changed: everyone comes into another one, which belongs to the new catalog, with the same number, name and memory, and with a snapshot where the
//! journal was. The words of the user's own rules go along under their new names, and priors are migrated like users to whom nothing has
//! happened yet, so that whoever began with one goes on with it.
//!
//! A migration that was interrupted is done again and goes on: whoever is there already is left alone. Nothing that is in the other store
//! is ever overwritten, and whoever cannot be migrated is named when everyone else has been, see [`Report::refused`].
//!
//! ```
//! use fable_core::{Policy, Settings, catalog::TAU2};
//! use fable_std::store::{FileStore, Identity, migration::Migrator};
//!
//! let policy = |seed| Policy::<f64>::new(&TAU2, Settings { seed, ..Settings::default() });
//! let (old, new) = (policy(1)?, policy(2)?);
//! let (from, to) = (FileStore::in_memory(&Identity::new(&old))?, FileStore::in_memory(&Identity::new(&new))?);
//! let report = Migrator::new(&old, &new, &[])?.everyone(&from, Some(&to), &mut |_, _| {})?;
//! assert!(report.is_complete() && report.users == 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::movement::{Refused, Why};
use super::{
    Damage, Desk, Identity, Policies, Reach, Resident, Store, StoreError, Stored, UserRow, Writes, wishes,
};
use crate::prior_file;
use fable_core::catalog::{LonePart, Rename};
use fable_core::host::HostLearner;
use fable_core::migrate::{Migrated, Migration};
use fable_core::{Policy, Scalar};

/// Users that are committed together at most.
const GROUP: usize = 64;
/// Bytes of them at which they are committed.
const GROUP_BYTES: usize = 4 << 20;

/// What a migration has done.
#[derive(Debug, Default)]
#[must_use]
pub struct Report {
    /// Users who were migrated.
    pub users: u64,
    /// Users who were there already.
    pub same: u64,
    /// Priors that were migrated.
    pub priors: u64,
    /// Coordinates that are in both catalogs, new ones, and removed ones.
    pub coordinates: [u16; 3],
    /// Declared contrasts that are gone, or say something else now: what their coins have shown is dropped.
    pub contrasts: u16,
    /// Promotions that were dropped, of all users together.
    pub promotions: u64,
    /// Users' own rules that were dropped.
    pub rules: u64,
    /// Decisions that do not wait for their reward any more.
    pub waiting: u64,
    /// Users whose guarantee of promotions has ended.
    pub voided: u64,
    /// Users who were not migrated.
    pub refused: Vec<Refused>,
}

impl Report {
    /// Whether everyone is in the other store now.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.refused.is_empty()
    }

    /// Adds what became of a user.
    pub fn add(&mut self, migrated: &Migrated) {
        self.coordinates = [migrated.kept, migrated.added, migrated.removed];
        self.contrasts = migrated.contrasts;
        self.promotions += u64::from(migrated.promotions);
        self.rules += u64::from(migrated.rules);
        self.waiting += u64::from(migrated.waiting);
        self.voided += u64::from(migrated.voided);
    }
}

/// The way from one catalog to another. See the [module](self).
#[derive(Clone, Copy, Debug)]
pub struct Migrator<'m, T> {
    old: &'m Policy<'m, T>,
    new: &'m Policy<'m, T>,
    renames: &'m [Rename<'m>],
}

/// A prior in both catalogs.
struct Twice<T> {
    old: Vec<T>,
    new: Vec<T>,
}

/// A policy in both catalogs: with one of the priors, or without.
type Pair<'p, T> = (Policy<'p, T>, Policy<'p, T>);

impl<'m, T: Scalar> Migrator<'m, T> {
    /// The way from an old policy to a new one, both without a prior: parts are the same by name, or as the renames say.
    ///
    /// # Errors
    /// A rename that cannot be meant.
    pub fn new(
        old: &'m Policy<'m, T>,
        new: &'m Policy<'m, T>,
        renames: &'m [Rename<'m>],
    ) -> Result<Self, StoreError> {
        Migration::new(old, new, renames)?;
        Ok(Self { old, new, renames })
    }

    /// What the old catalog alone has, by name, and what the new one alone has.
    #[must_use]
    pub fn differences(&self) -> [Vec<LonePart<'m>>; 2] {
        let migration = Migration::new(self.old, self.new, self.renames); // as in `new`
        migration.map_or_else(
            |_| [vec![], vec![]],
            |migration| [migration.removed().collect(), migration.added().collect()],
        )
    }

    /// Migrates everyone of a store into another one; without one it is only tried. `progress` gets how many users are done, and how
    /// many there are.
    ///
    /// # Errors
    /// Stores of other policies than these, or one that cannot be read or written; whoever was migrated before is there.
    pub fn everyone(
        &self,
        from: &dyn Store,
        to: Option<&dyn Store>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Report, StoreError> {
        from.identity()?.admit(&Identity::new(self.old))?;
        let mut report = Report::default();
        let mut first = Writes::default();
        // Nobody who comes there later may start in an incarnation that somebody was in.
        first.start_in(from.incarnation()?);
        let mut priors = Vec::new();
        for fingerprint in from.priors()? {
            let prior = match from.prior(fingerprint) {
                Err(StoreError::User(_)) => continue, // whoever began with it is refused
                prior => prior?,
            };
            priors.extend(prior.map(|bytes| self.twice(&bytes)).transpose()?);
        }
        let pairs = self.pairs(&priors)?;
        for (prior, (_, new)) in priors.iter().zip(pairs.iter().skip(1)) {
            first.prior(new.fingerprint(), &prior_file::write(self.new, &prior.new, prior_file::NOBODY)?);
        }
        report.priors = priors.len() as u64;
        if let Some(to) = to {
            to.identity()?.admit(&Identity::new(self.new))?;
            to.commit(first, true)?;
        }
        let everyone = from.everyone()?;
        let (mut group, total) = (Group::default(), everyone.len() as u64);
        progress(0, total);
        for (number, done) in everyone.into_iter().zip(1..) {
            self.take(from, to, number, &pairs, &mut group, &mut report)?;
            if group.is_full() {
                group.commit(to, &mut report)?;
                progress(done, total);
            }
        }
        group.commit(to, &mut report)?;
        progress(total, total);
        Ok(report)
    }

    /// Looks at a user of both stores, and adds what is missing in the second.
    fn take(
        &self,
        from: &dyn Store,
        to: Option<&dyn Store>,
        number: u64,
        pairs: &[Pair<'_, T>],
        group: &mut Group,
        report: &mut Report,
    ) -> Result<(), StoreError> {
        let mut refuse = |name: Option<&str>, why| {
            report.refused.push(Refused { number, name: name.map(str::to_owned), why });
            Ok(())
        };
        let source = match read(from, number) {
            Ok(Some(source)) => source,
            Ok(None) => return Ok(()), // forgotten meanwhile
            Err(StoreError::User(damage)) => return refuse(None, Why::Damaged(damage)),
            Err(error) => return Err(error),
        };
        let name = &source.row.name;
        let (user, migrated) = match self.carry(pairs, &source) {
            Ok(done) => done,
            // What one user's records say stops nobody else.
            Err(StoreError::Record(_) | StoreError::State(_)) => {
                return refuse(Some(name), Why::Damaged(Damage::Journal));
            }
            Err(StoreError::Damaged(_)) => return refuse(Some(name), Why::Damaged(Damage::Rules)),
            Err(StoreError::User(damage)) => return refuse(Some(name), Why::Damaged(damage)),
            Err(error) => return Err(error),
        };
        if let Some(to) = to {
            match to.find(name) {
                Ok(None) if to.has(number)? => return refuse(Some(name), Why::Taken),
                Ok(None) => {}
                Ok(Some(holder)) if holder != number => return refuse(Some(name), Why::Renumbered),
                Ok(Some(_)) => {
                    let there = to.user(number, Reach::Whole);
                    let same = there.map(|there| {
                        there.is_some_and(|there| there.row == user.row && there.snapshot == user.snapshot)
                    });
                    return match same {
                        Ok(true) => {
                            report.same += 1;
                            Ok(())
                        }
                        Ok(false) => refuse(Some(name), Why::Differs),
                        Err(StoreError::User(damage)) => refuse(Some(name), Why::Damaged(damage)),
                        Err(error) => Err(error),
                    };
                }
                Err(StoreError::User(damage)) => return refuse(Some(name), Why::Damaged(damage)),
                Err(error) => return Err(error),
            }
        }
        report.add(&migrated);
        group.add(number, &user);
        Ok(())
    }

    /// A user as a store or an [exported file](super::transfer) has it, under the new catalog: with the prior that it began with, and
    /// with a snapshot in place of the journal.
    ///
    /// # Errors
    /// Records that cannot be read, or are of another policy.
    pub fn user(&self, stored: &Stored) -> Result<(Stored, Migrated), StoreError> {
        let prior: Vec<Twice<T>> =
            stored.prior.as_deref().map(|bytes| self.twice(bytes)).transpose()?.into_iter().collect();
        let (mut user, migrated) = self.carry(&self.pairs(&prior)?, stored)?;
        if let [prior] = &prior[..] {
            user.prior = Some(prior_file::write(self.new, &prior.new, prior_file::NOBODY)?);
        }
        Ok((user, migrated))
    }

    /// The file of a prior under the new catalog, addressed as it was.
    ///
    /// # Errors
    /// No prior of the old policy.
    pub fn prior(&self, bytes: &[u8]) -> Result<Vec<u8>, StoreError> {
        let Twice { new, .. } = self.twice(bytes)?;
        Ok(prior_file::write(self.new, &new, prior_file::header(bytes)?.user)?)
    }

    /// A prior is a user to whom nothing has happened yet.
    fn twice(&self, bytes: &[u8]) -> Result<Twice<T>, StoreError> {
        let old = prior_file::read(self.old, bytes)?;
        let (mut nobody, mut next) =
            (HostLearner::<T>::for_policy(self.old), HostLearner::<T>::for_policy(self.new));
        nobody.restore(self.old, bytes)?;
        self.carry_learner((self.old, self.new), &mut nobody, &mut next)?;
        Ok(Twice { old, new: next.posterior().packed().to_vec() })
    }

    /// The policies without a prior, then those with each of them.
    fn pairs<'p>(&self, priors: &'p [Twice<T>]) -> Result<Vec<Pair<'p, T>>, StoreError>
    where
        'm: 'p,
    {
        let mut pairs = vec![(*self.old, *self.new)];
        for Twice { old, new } in priors {
            pairs.push((
                prior_file::informed(self.old, Some(old))?,
                prior_file::informed(self.new, Some(new))?,
            ));
        }
        Ok(pairs)
    }

    fn carry_learner(
        &self,
        (old, new): (&Policy<'_, T>, &Policy<'_, T>),
        from: &mut HostLearner<T>,
        to: &mut HostLearner<T>,
    ) -> Result<Migrated, StoreError> {
        let migration = Migration::new(old, new, self.renames)?;
        Ok(migration.carry(from, to, &mut vec![T::ZERO; migration.workspace_len()][..])?)
    }

    fn carry(&self, pairs: &[Pair<'_, T>], stored: &Stored) -> Result<(Stored, Migrated), StoreError> {
        let fingerprint = stored.row.header.fingerprint;
        let pair = pairs.iter().find(|(old, _)| old.fingerprint() == fingerprint);
        let (old, new) = pair.ok_or(StoreError::User(Damage::Prior))?;
        let policies = Policies::from(*old);
        let resident = Resident::revive(&mut Desk::new(&policies), stored, None)?;
        let mut next = HostLearner::<T>::for_policy(new);
        let migrated = self.carry_learner((old, new), &mut resident.learner().clone(), &mut next)?;
        let UserRow { header, incarnation, name } = &stored.row;
        let seen = resident.entries();
        let user = Stored {
            row: UserRow::newcomer(new, name, header.user, *incarnation),
            snapshot: if seen > 0 { Some((seen, next.to_bytes()?)) } else { None },
            journal: Vec::new(),
            birth: 0,
            wishes: wishes::carried(&stored.wishes, self.renames, self.new.catalog())?,
            prior: None,
            memory: stored.memory.clone(),
        };
        Ok((user, migrated))
    }
}

/// A user as after the last event, with the memory.
fn read(store: &dyn Store, number: u64) -> Result<Option<Stored>, StoreError> {
    let Some(mut stored) = store.user(number, Reach::Snapshot)? else { return Ok(None) };
    stored.memory = store.memory(number)?;
    Ok(Some(stored))
}

/// Users who are committed together.
#[derive(Debug, Default)]
struct Group {
    writes: Writes,
    users: Vec<(u64, String)>,
    bytes: usize,
}

impl Group {
    const fn is_full(&self) -> bool {
        self.users.len() >= GROUP || self.bytes >= GROUP_BYTES
    }

    fn add(&mut self, number: u64, user: &Stored) {
        self.writes.user(number, &user.row);
        self.writes.arrival(number);
        if let Some((seen, bytes)) = &user.snapshot {
            self.writes.base(number, *seen, bytes);
            self.bytes += bytes.len();
        }
        if !user.wishes.is_empty() {
            self.writes.wishes(number, &user.wishes);
        }
        if !user.memory.is_empty() {
            self.writes.memory(number, &user.memory);
        }
        self.users.push((number, user.row.name.clone()));
    }

    /// Writes what has been collected.
    fn commit(&mut self, to: Option<&dyn Store>, report: &mut Report) -> Result<(), StoreError> {
        let Self { writes, users, .. } = std::mem::take(self);
        if users.is_empty() {
            return Ok(());
        }
        let losers = to.map_or(Ok(Vec::new()), |to| to.commit(writes, true))?;
        for (number, name) in users {
            if losers.contains(&number) {
                report.refused.push(Refused { number, name: Some(name), why: Why::Meanwhile });
            } else {
                report.users += 1;
            }
        }
        Ok(())
    }
}
