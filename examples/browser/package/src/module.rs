//! Everything behind the border: catalogs, users, and the buffer that JavaScript and the module share.
//!
//! JavaScript asks for room, writes there, calls, and reads the answer. A call returns the length of its answer, or the length of
//! a refusal as a negative number less one; after a refusal nothing has changed. The least number of all means that an earlier
//! call was cut short, so that nothing can be relied on any more. Both ways it is postcard, or the bytes of a record.

use crate::Refusal;
use crate::answer::Words;
use crate::ask::{Begin, Restore, SettingsAsk};
use crate::life::Life;
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use fable_core::host::HostLearner;
use fable_core::posterior::{Factor, Prior};
use fable_core::settings::SettingsError;
use fable_core::{Catalog, HostUser, Policy, user_hash};
use serde::{Deserialize, Serialize};
use spin::Mutex;

/// Most bytes of a user's name.
const MAX_NAME: usize = 256;

/// The users of an instance, their catalogs, and the buffer that JavaScript and the module share.
#[derive(Debug)]
pub struct Module {
    buffer: Vec<u8>,
    /// In the order of their numbers, in which they begin. A tree would be 2 KB of the page.
    users: Vec<(u32, Box<Life>)>,
    /// Users who were ever there: a number is never given twice.
    begun: u32,
    catalogs: Vec<&'static Catalog<'static>>,
    /// Names of adapters, which settings refer to.
    names: Vec<&'static str>,
    /// Numbers of priors, which policies refer to.
    priors: Vec<&'static [f32]>,
}

/// The catalog `agent`.
pub static AGENT: Catalog<'static> = fable_core::catalog::AGENT;
#[cfg(feature = "full")]
static TAU2_CATALOG: Catalog<'static> = fable_core::catalog::TAU2;
#[cfg(feature = "full")]
static RUBRIC_CATALOG: Catalog<'static> = fable_core::catalog::RUBRIC;

/// The catalogs that ship.
#[cfg(feature = "full")]
static SHIPPED: [&Catalog<'static>; 3] = [&AGENT, &TAU2_CATALOG, &RUBRIC_CATALOG];
#[cfg(not(feature = "full"))]
static SHIPPED: [&Catalog<'static>; 1] = [&AGENT];

static MODULE: Mutex<Module> = Mutex::new(Module {
    buffer: Vec::new(),
    users: Vec::new(),
    begun: 0,
    catalogs: Vec::new(),
    names: Vec::new(),
    priors: Vec::new(),
});

/// Makes room for what JavaScript is going to write, and returns where.
pub(crate) fn room(length: usize) -> *const u8 {
    MODULE.try_lock().map_or(core::ptr::null(), |mut module| {
        module.buffer.clear();
        module.buffer.resize(length, 0);
        module.buffer.as_ptr()
    })
}

/// Where the answer is.
pub(crate) fn address() -> *const u8 {
    MODULE.try_lock().map_or(core::ptr::null(), |module| module.buffer.as_ptr())
}

/// Runs a call that answers with bytes.
pub fn call(work: impl FnOnce(&mut Module, &[u8]) -> Result<Vec<u8>, Refusal>) -> i32 {
    let mut work = Some(work);
    run(&mut |module, asked| {
        work.take().map_or_else(|| Err(Refusal::unreadable()), |work| work(module, asked))
    })
}

/// What a call does with the module and with what was asked.
type Work<'w> = dyn FnMut(&mut Module, &[u8]) -> Result<Vec<u8>, Refusal> + 'w;

/// The same, once for all calls: every export would have a copy of it.
#[inline(never)]
fn run(work: &mut Work<'_>) -> i32 {
    // There is one thread: whoever holds the lock was cut short and will never come back.
    let Some(mut module) = MODULE.try_lock() else { return i32::MIN };
    let asked = core::mem::take(&mut module.buffer);
    let answer = work(&mut module, &asked);
    let (bytes, failed) = match answer {
        Ok(bytes) => (bytes, false),
        Err(refusal) => (postcard::to_allocvec(&refusal).unwrap_or_default(), true),
    };
    module.buffer = bytes;
    let length = i32::try_from(module.buffer.len()).unwrap_or(i32::MAX - 1);
    if failed { -length - 1 } else { length }
}

/// Runs a call that answers with a value.
pub fn tell<A: Serialize>(work: impl FnOnce(&mut Module, &[u8]) -> Result<A, Refusal>) -> i32 {
    call(|module, asked| Ok(postcard::to_allocvec(&work(module, asked)?)?))
}

/// Reads what was asked, all of it.
///
/// # Errors
/// Bytes that are not that.
pub fn read<'a, A: Deserialize<'a>>(asked: &'a [u8]) -> Result<A, Refusal> {
    match postcard::take_from_bytes(asked)? {
        (ask, []) => Ok(ask),
        _ => Err(Refusal::unreadable()),
    }
}

impl Module {
    /// A catalog that ships, by its name; it is numbered when it is first asked for.
    pub(crate) fn shipped(&mut self, name: &[u8]) -> Result<u32, Refusal> {
        let found = SHIPPED.into_iter().find(|catalog| catalog.definition().name.as_bytes() == name);
        let found = found.ok_or_else(|| {
            let names: Vec<&str> = SHIPPED.iter().map(|catalog| catalog.definition().name).collect();
            Refusal::new(
                "unknown_name",
                format_args!("there is no such catalog; the catalogs that ship are {}", names.join(", ")),
            )
        })?;
        Ok(self.number(found))
    }

    /// The number of a catalog.
    pub(crate) fn number(&mut self, catalog: &'static Catalog<'static>) -> u32 {
        let known = self.catalogs.iter().position(|known| core::ptr::eq(*known, catalog));
        let number = known.unwrap_or_else(|| {
            self.catalogs.push(catalog);
            self.catalogs.len() - 1
        });
        number as u32
    }

    /// The catalog with a number.
    pub(crate) fn catalog(&self, number: u32) -> Result<&'static Catalog<'static>, Refusal> {
        self.catalogs
            .get(number as usize)
            .copied()
            .ok_or_else(|| Refusal::new("internal", "there is no such catalog"))
    }

    /// Its names and lists.
    pub(crate) fn words(&self, catalog: u32) -> Result<Words, Refusal> {
        Ok(Words::new(self.catalog(catalog)?))
    }

    /// A policy of a catalog.
    pub(crate) fn policy(
        &mut self,
        catalog: u32,
        settings: &SettingsAsk<'_>,
    ) -> Result<Policy<'static, f32>, Refusal> {
        let (context, feedback) = (self.name(settings.context_adapter), self.name(settings.feedback_adapter));
        let base = Policy::new(self.catalog(catalog)?, settings.settings(context, feedback)?)?;
        if settings.prior.is_empty() { Ok(base) } else { self.informed(&base, settings.prior) }
    }

    /// The policy of those who begin with a prior: a snapshot of somebody who has done nothing yet, under the policy without it.
    fn informed(
        &mut self,
        base: &Policy<'static, f32>,
        prior: &[u8],
    ) -> Result<Policy<'static, f32>, Refusal> {
        let mut learner = HostLearner::<f32>::for_policy(base);
        learner.restore(base, prior)?;
        if learner.state().rounds() > 0 || learner.state().observations() > 0 {
            return Err(Refusal::new(
                "bad_request",
                "a snapshot of a user who has decided or learned something is not a prior",
            ));
        }
        let (catalog, posterior) = (base.catalog(), learner.posterior());
        let known = self.priors.iter().copied().find(|known| *known == posterior.packed());
        let packed = known.unwrap_or_else(|| {
            let kept: &'static [f32] = posterior.packed().to_vec().leak();
            self.priors.push(kept);
            kept
        });
        let factor = Factor::new(catalog.layout(), packed, &mut vec![0.0; catalog.workspace_len()]);
        Ok(Policy::with_prior(
            catalog,
            *base.settings(),
            Prior::Factor(factor.map_err(SettingsError::Prior)?),
        )?)
    }

    /// A name that lives as long as the module; the same one is kept once.
    fn name(&mut self, name: &str) -> &'static str {
        if name.is_empty() {
            return "";
        }
        if let Some(known) = self.names.iter().find(|known| **known == name) {
            return known;
        }
        let kept: &'static str = alloc::string::String::leak(name.to_owned());
        self.names.push(kept);
        kept
    }

    /// Somebody new, at the prior.
    pub(crate) fn begin(&mut self, catalog: u32, asked: &[u8]) -> Result<u32, Refusal> {
        let begin: Begin<'_> = read(asked)?;
        if begin.name.is_empty() || begin.name.len() > MAX_NAME {
            return Err(Refusal::new(
                "out_of_range",
                format_args!("the name of a user must have 1 to {MAX_NAME} bytes"),
            ));
        }
        let policy = self.policy(catalog, &begin.settings)?;
        self.enter(Life::begin(&policy, user_hash(begin.name), begin.taped)?)
    }

    /// Somebody who goes on from a snapshot.
    pub(crate) fn restore(&mut self, catalog: u32, asked: &[u8]) -> Result<u32, Refusal> {
        let restore: Restore<'_> = read(asked)?;
        let policy = self.policy(catalog, &restore.settings)?;
        self.enter(Life::of(HostUser::restore(&policy, restore.bytes)?, restore.taped))
    }

    fn enter(&mut self, life: Life) -> Result<u32, Refusal> {
        let number = self.begun;
        self.begun =
            number.checked_add(1).ok_or_else(|| Refusal::new("exhausted", "there were too many users"))?;
        self.users.push((number, Box::new(life)));
        Ok(number)
    }

    /// A user who is there.
    ///
    /// # Errors
    /// A user who was freed.
    pub fn life(&mut self, user: u32) -> Result<&mut Life, Refusal> {
        let found = self.find(user).ok().and_then(|place| self.users.get_mut(place));
        found.map(|(_, life)| &mut **life).ok_or_else(|| Refusal::new("bad_request", "the user was freed"))
    }

    /// Lets go of a user; of one who is not there, too.
    pub(crate) fn free(&mut self, user: u32) {
        if let Ok(place) = self.find(user) {
            self.users.remove(place);
        }
    }

    fn find(&self, user: u32) -> Result<usize, usize> {
        self.users.binary_search_by_key(&user, |(number, _)| *number)
    }
}
