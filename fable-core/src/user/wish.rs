//! What a user wishes, whatever is learned: rules of their own, and switches.
//!
//! A [`Wish`] is a small number. A learner has room for [`MAX_WISHES`] of them after its other numbers, so they are wherever the user
//! is: in snapshots, in exported files, in the flash of a device. They change by an [event](crate::Event::Wish), so whoever follows the
//! journal obeys them, and forgetting forgets them. A rule is enforced like one of the [catalog](crate::catalog::StandingRule): before
//! anything is drawn. What they are called and in which words they were said is for hosts to keep.
//!
//! ```
//! use fable_core::{Command, Feasible, HostUser, Policy, Settings, When, Wish, catalog::AGENT};
//!
//! let policy = Policy::<f32>::new(&AGENT, Settings::default())?;
//! let mut ana = HostUser::<f32>::new(&policy, "ana")?;
//! let never = Wish::Never { component: 1, value: 1, when: When::Always }; // tool=web_search
//! ana.user().run(&mut Command::wishes(&[never]))?;
//! let context = AGENT.context(None, [("risk", 0.1), ("ambiguity", 0.2), ("memory_need", 0.7), ("tool_need", 0.9)])?;
//! for _ in 0..20 {
//!     let decision = ana.decide(&context, &Feasible::all(&AGENT))?;
//!     assert_ne!(AGENT.values(decision.action).unwrap()[1], 1);
//! }
//! assert!(ana.learner().wishes().eq([never]));
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

use super::{Event, Learner, Memory, Request, User, UserError};
use crate::catalog::score::Scalar;
use crate::catalog::{Action, Catalog, Context, Feasible, FeasibleError, MAX_SIGNALS, MAX_TASKS, SIGNAL_HIGH, WISH_LEN, When};
use crate::numbers::Storage;

/// Most wishes of one user.
pub const MAX_WISHES: usize = WISH_LEN;

/// Something that a user wishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Wish {
    /// The value is not chosen in these contexts.
    Never {
        /// Position of the component.
        component: u8,
        /// Position of the value.
        value: u8,
        /// Where; a signal counts while it is above [`SIGNAL_HIGH`].
        when: When,
    },
    /// The value is chosen in these contexts, or another one that is wished of the same component in the same contexts.
    Always {
        /// Position of the component.
        component: u8,
        /// Position of the value.
        value: u8,
        /// Where; a signal counts while it is above [`SIGNAL_HIGH`].
        when: When,
    },
    /// Nothing is decided for this user and nothing is learned from rewards or statements.
    Off,
    /// Whether what is said may be remembered; for hosts to obey.
    Remember(bool),
}

/// Kind of a code: its bits from the 19th on.
const NEVER: u32 = 1;
const ALWAYS: u32 = 2;
const SWITCH: u32 = 3;

const OFF: u32 = SWITCH << 18;

impl Wish {
    /// The number that is stored and sent: from the lowest bit the value, 8 bits; the component, 3; where, 7 (0 everywhere, 1 + task, 65 +
    /// signal); the kind, 2 (1 never, 2 always, 3 a switch, whose value is 0 off, 1 remember, 2 do not).
    #[must_use]
    pub fn code(self) -> u32 {
        let rule = |kind: u32, component: u8, value: u8, when: When| {
            let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX >> 1);
            let place = match when {
                When::Always => 0,
                When::Task(task) => number(task).saturating_add(1),
                When::Signal(signal) => number(signal).saturating_add(65),
            };
            u32::from(value) | u32::from(component & 7) << 8 | place.min(127) << 11 | kind << 18
        };
        match self {
            Self::Never { component, value, when } => rule(NEVER, component, value, when),
            Self::Always { component, value, when } => rule(ALWAYS, component, value, when),
            Self::Off => OFF,
            Self::Remember(yes) => OFF | if yes { 1 } else { 2 },
        }
    }

    /// The wish with a code; `None` when there is none.
    #[must_use]
    pub fn from_code(code: u32) -> Option<Self> {
        let Code { kind, component, value, place } = Code::of(code);
        let when = match usize::from(place) {
            0 => When::Always,
            task @ 1..=MAX_TASKS => When::Task(task - 1),
            signal if signal <= MAX_TASKS + MAX_SIGNALS => When::Signal(signal - MAX_TASKS - 1),
            _ => return None,
        };
        match kind {
            NEVER => Some(Self::Never { component, value, when }),
            ALWAYS => Some(Self::Always { component, value, when }),
            _ if code == OFF => Some(Self::Off),
            _ if code == OFF | 1 || code == OFF | 2 => Some(Self::Remember(code == OFF | 1)),
            _ => None,
        }
    }
}

/// A code taken apart.
#[derive(Clone, Copy)]
struct Code {
    kind: u32,
    component: u8,
    value: u8,
    place: u8,
}

impl Code {
    const fn of(code: u32) -> Self {
        let [value, ..] = code.to_le_bytes();
        Self { kind: code >> 18, component: (code >> 8 & 7) as u8, value, place: (code >> 11 & 127) as u8 }
    }

    /// Whether a rule is meant that holds in a context.
    fn holds(self, context: &Context) -> bool {
        let place = usize::from(self.place);
        self.kind < SWITCH
            && match place.checked_sub(MAX_TASKS + 1) {
                Some(signal) => context.signal(signal).is_some_and(|level| level > SIGNAL_HIGH),
                None => place == 0 || context.task() == Some(place - 1),
            }
    }

    /// Whether another code is the same but for the value.
    const fn is_beside(self, other: Self) -> bool {
        self.kind == other.kind && self.component == other.component && self.place == other.place
    }
}

/// Whether a code is a wish that a user of a catalog can have.
pub(crate) fn is_wish(catalog: &Catalog<'_>, code: u32) -> bool {
    let Code { kind, component, value, place } = Code::of(code);
    let (definition, place) = (catalog.definition(), usize::from(place));
    match kind {
        NEVER | ALWAYS => {
            let component = definition.components.get(usize::from(component));
            component.is_some_and(|component| usize::from(value) < component.values.len())
                && match place.checked_sub(MAX_TASKS + 1) {
                    Some(signal) => signal < definition.signals.len(),
                    None => place <= definition.tasks.len(),
                }
        }
        _ => (OFF..=OFF | 2).contains(&code),
    }
}

/// The numbers that wishes have, at the end of a learner's storage.
fn places<T>(storage: &[T]) -> &[T] {
    storage.split_last_chunk::<MAX_WISHES>().map_or(&[], |(_, places)| places)
}

fn codes<T: Scalar>(storage: &[T]) -> impl Iterator<Item = u32> {
    places(storage).iter().map_while(|number| if *number == T::ZERO { None } else { Some(code_of(*number)) })
}

/// The code that a number stands for; 0 for none.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number out of range becomes one that is no wish")]
pub(crate) fn code_of<T: Scalar>(number: T) -> u32 {
    let code = number.to_f64() as u32;
    if f64::from(code) == number.to_f64() { code } else { u32::MAX }
}

/// The rules among a user's wishes that hold in a context, as codes.
type Held = heapless::Vec<u32, MAX_WISHES>;

/// The first of them that removes an action with these values.
fn stops(held: &[u32], values: &[u8]) -> Option<u32> {
    let has = |code: Code| values.get(usize::from(code.component)) == Some(&code.value);
    held.iter().copied().find(|code| {
        let code = Code::of(*code);
        if code.kind == NEVER {
            has(code)
        } else {
            !held.iter().map(|other| Code::of(*other)).any(|other| code.is_beside(other) && has(other))
        }
    })
}

impl<T: Scalar, S: Storage<T>, const R: usize> Learner<T, S, R> {
    /// What the user wishes, in the order in which it was said.
    pub fn wishes(&self) -> impl Iterator<Item = Wish> {
        codes(self.storage().as_ref()).filter_map(Wish::from_code)
    }
}

impl<T: Scalar> User<'_, T> {
    /// What the user wishes, in the order in which it was said.
    pub fn wishes(&self) -> impl Iterator<Item = Wish> {
        codes(self.memory.storage).filter_map(Wish::from_code)
    }

    /// Whether the user has switched everything off.
    #[must_use]
    pub fn is_off(&self) -> bool {
        codes(self.memory.storage).any(|code| code == OFF)
    }

    /// The user's own rule that removes an action in a context; `None` when none does.
    #[must_use]
    pub fn unwished(&self, context: &Context, action: Action) -> Option<Wish> {
        let values = self.policy.catalog().values(action)?;
        stops(&self.held(context), &values).and_then(Wish::from_code)
    }

    fn held(&self, context: &Context) -> Held {
        codes(self.memory.storage).filter(|code| Code::of(*code).holds(context)).take(MAX_WISHES).collect()
    }

    /// Refuses what a user does not want who has switched everything off.
    pub(super) fn admit_on(&self) -> Result<(), UserError> {
        if cfg!(feature = "rules") && self.is_off() { Err(UserError::Off) } else { Ok(()) }
    }

    /// What the rules of the catalog and of the user leave of an admitted request; `None` when they take nothing. This is the one
    /// place where they are enforced: everything that chooses an action chooses among these.
    #[inline(never)]
    pub(super) fn narrow(&self, request: &Request<'_>) -> Result<Option<Feasible>, UserError> {
        self.admit_on()?;
        if !cfg!(feature = "rules") {
            return Ok(None);
        }
        let (catalog, context) = (self.policy.catalog(), request.context);
        let held = self.held(context);
        if held.is_empty() && catalog.rules().is_empty() {
            return Ok(None);
        }
        let mut set = *request.feasible.set();
        for action in request.feasible.set().iter() {
            let values = catalog.values(action).unwrap_or_default();
            if stops(&held, &values).is_some() || catalog.stops(context, &values) {
                set.remove(action);
            }
        }
        if set.is_empty() {
            return Err(UserError::Feasible(FeasibleError::Empty));
        }
        Feasible::from_set(catalog, set).map(Some).map_err(UserError::Feasible)
    }

    /// Refuses a wish that cannot be taken or given up.
    pub(super) fn admit_wish(&self, code: u32, stands: bool) -> Result<(), UserError> {
        let known = codes(self.memory.storage).any(|known| known == code);
        let room = !stands || codes(self.memory.storage).count() < MAX_WISHES;
        if !cfg!(feature = "rules") || known == stands || !is_wish(self.policy.catalog(), code) {
            Err(UserError::Wish)
        } else if room {
            Ok(())
        } else {
            Err(UserError::Wishes)
        }
    }

    /// The next change that makes the user's wishes these; `false` when they are.
    pub(super) fn propose_wish(&self, wishes: &[Wish], first: bool, event: &mut Event) -> Result<bool, UserError> {
        if first {
            let unknown = |wish: &&Wish| !is_wish(self.policy.catalog(), wish.code());
            if !cfg!(feature = "rules") || wishes.iter().any(|wish| unknown(&wish)) {
                return Err(UserError::Wish);
            }
            let again = |(place, wish): (usize, &Wish)| wishes.iter().take(place).any(|other| other == wish);
            if wishes.len() - wishes.iter().enumerate().filter(|pair| again(*pair)).count() > MAX_WISHES {
                return Err(UserError::Wishes);
            }
        }
        let wanted = |code: u32| wishes.iter().any(|wish| wish.code() == code);
        let gone = codes(self.memory.storage).find(|code| !wanted(*code)).map(|code| (code, false));
        let new = || wishes.iter().map(|wish| wish.code()).find(|code| codes(self.memory.storage).all(|known| known != *code));
        let Some((code, stands)) = gone.or_else(|| new().map(|code| (code, true))) else { return Ok(false) };
        *event = Event::Wish { code, stands };
        Ok(true)
    }
}

impl<T: Scalar> Memory<'_, T> {
    /// Takes a wish, or gives it up; the others keep their order. It is not counted: other places need not know.
    pub(super) fn wish(&mut self, code: u32, stands: bool) {
        let Some((_, places)) = self.storage.split_last_chunk_mut::<MAX_WISHES>() else { return };
        let number = T::from_f64(f64::from(code));
        if stands {
            if let Some(place) = places.iter_mut().find(|place| **place == T::ZERO) {
                *place = number;
            }
            return;
        }
        let mut last: Option<&mut T> = None;
        for place in places.iter_mut().skip_while(|place| **place != number) {
            if let Some(last) = last {
                *last = *place;
            }
            last = Some(place);
        }
        if let Some(last) = last {
            *last = T::ZERO;
        }
    }
}
