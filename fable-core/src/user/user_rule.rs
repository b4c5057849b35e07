//! A user's own rules and switches. They hold whatever is learned.
//!
//! A [`UserRule`] is a small number. A learner stores up to [`MAX_USER_RULES`] of them after its other
//! numbers, as bits of numbers. So snapshots, exported files and the flash of a device have them.
//!
//! They change by an [event](crate::journal::Event::UserRule), so a replay of the journal obeys them, and
//! forgetting a user removes them. A rule is enforced like a rule of the
//! [catalog](crate::catalog::StandingRule): before anything is drawn. A host keeps names and wording.
//!
//! ```
//! use fable_core::catalog::{AGENT, When};
//! use fable_core::journal::Command;
//! use fable_core::preference::UserRule;
//! use fable_core::{Feasible, HostUser, Policy, Settings};
//!
//! let policy = Policy::<f32>::new(&AGENT, Settings::default())?;
//! let mut ana = HostUser::<f32>::new(&policy, "ana")?;
//! let never = UserRule::Never { component: 1, value: 1, when: When::Always }; // tool=web_search
//! ana.user().run(&mut Command::user_rules(&[never]))?;
//! let signals = [("risk", 0.1), ("ambiguity", 0.2), ("memory_need", 0.7), ("tool_need", 0.9)];
//! let context = AGENT.context(None, signals)?;
//! for _ in 0..20 {
//!     let decision = ana.decide(&context, &Feasible::all(&AGENT))?;
//!     assert_ne!(AGENT.values(decision.action).unwrap()[1], 1);
//! }
//! assert!(ana.learner().user_rules().eq([never]));
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

#[cfg(feature = "alloc")]
use super::Event;
use super::{Learner, Memory, Request, User, UserError, supported};
use crate::catalog::score::Scalar;
use crate::catalog::{
    Action, ActionSet, Catalog, Context, Feasible, FeasibleError, MAX_SIGNALS, MAX_TASKS, SIGNAL_HIGH,
    USER_RULE_LEN, When,
};
use crate::numbers::Storage;

/// Most rules and switches of one user.
pub const MAX_USER_RULES: usize = USER_RULE_LEN;

/// A rule or switch of a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum UserRule {
    /// The value is not chosen in these contexts.
    Never {
        /// Position of the component.
        component: u8,
        /// Position of the value.
        value: u8,
        /// The contexts. A signal counts while it is above [`SIGNAL_HIGH`].
        when: When,
    },
    /// The value is chosen in these contexts, or another value with such a rule of the same component in the
    /// same contexts.
    Always {
        /// Position of the component.
        component: u8,
        /// Position of the value.
        value: u8,
        /// The contexts. A signal counts while it is above [`SIGNAL_HIGH`].
        when: When,
    },
    /// Nothing is decided for this user, and nothing is learned from rewards or statements.
    Off,
    /// The host may remember what the user says, or may not. Hosts obey it.
    Remember(bool),
}

/// The kinds of codes: bits from the 19th on.
const NEVER: u32 = 1;
const ALWAYS: u32 = 2;
const SWITCH: u32 = 3;

const OFF: u32 = SWITCH << 18;

impl UserRule {
    /// The number that is stored and sent. From the lowest bit:
    ///
    /// - 8 bits: the value;
    /// - 3 bits: the component;
    /// - 7 bits: the contexts, 0 for all, 1 + task, 65 + signal;
    /// - 2 bits: the kind, 1 never, 2 always, 3 a switch. The value of a switch is 0 off, 1 remember, 2 do
    ///   not remember.
    #[must_use]
    pub fn code(self) -> u32 {
        let rule = |kind: u32, component: u8, value: u8, when: When| {
            let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX >> 1);
            let condition = match when {
                When::Always => 0,
                When::Task(task) => number(task).saturating_add(1),
                When::Signal(signal) => number(signal).saturating_add(65),
            };
            u32::from(value) | u32::from(component & 7) << 8 | condition.min(127) << 11 | kind << 18
        };
        match self {
            Self::Never { component, value, when } => rule(NEVER, component, value, when),
            Self::Always { component, value, when } => rule(ALWAYS, component, value, when),
            Self::Off => OFF,
            Self::Remember(yes) => OFF | if yes { 1 } else { 2 },
        }
    }

    /// The rule or switch with a code; `None` if there is none.
    #[must_use]
    pub fn from_code(code: u32) -> Option<Self> {
        let Code { kind, component, value, condition } = Code::of(code);
        let when = match usize::from(condition) {
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

/// The parts of a code.
#[derive(Clone, Copy)]
struct Code {
    kind: u32,
    component: u8,
    value: u8,
    condition: u8,
}

impl Code {
    const fn of(code: u32) -> Self {
        let [value, ..] = code.to_le_bytes();
        Self {
            kind: code >> 18,
            component: (code >> 8 & 7) as u8,
            value,
            condition: (code >> 11 & 127) as u8,
        }
    }

    /// True for a rule that holds in a context.
    fn holds(self, context: &Context) -> bool {
        let condition = usize::from(self.condition);
        self.kind < SWITCH
            && match condition.checked_sub(MAX_TASKS + 1) {
                Some(signal) => context.signal(signal).is_some_and(|level| level > SIGNAL_HIGH),
                None => condition == 0 || context.task() == Some(condition - 1),
            }
    }

    /// True if another code differs at most in the value.
    const fn differs_in_value(self, other: Self) -> bool {
        self.kind == other.kind && self.component == other.component && self.condition == other.condition
    }
}

/// True if a user of a catalog can have the code.
#[inline(never)]
pub(crate) fn is_user_rule(catalog: &Catalog<'_>, code: u32) -> bool {
    let Code { kind, component, value, condition } = Code::of(code);
    let (definition, condition) = (catalog.definition(), usize::from(condition));
    match kind {
        NEVER | ALWAYS => {
            let component = definition.components.get(usize::from(component));
            component.is_some_and(|component| usize::from(value) < component.values.len())
                && match condition.checked_sub(MAX_TASKS + 1) {
                    Some(signal) => signal < definition.signals.len(),
                    None => condition <= definition.tasks.len(),
                }
        }
        _ => (OFF..=OFF | 2).contains(&code),
    }
}

/// The numbers of rules and switches, at the end of a learner's storage.
fn numbers<T>(storage: &[T]) -> &[T] {
    storage.split_last_chunk::<MAX_USER_RULES>().map_or(&[], |(_, numbers)| numbers)
}

fn codes<T: Scalar>(storage: &[T]) -> impl Iterator<Item = u32> {
    numbers(storage).iter().map(|number| code_of(*number)).filter(|code| *code != 0)
}

/// The code in the bits of a number; 0 for none. Nothing is computed with such a number.
pub(crate) fn code_of<T: Scalar>(number: T) -> u32 {
    u32::try_from(number.bits()).unwrap_or(u32::MAX) // which is no rule
}

impl<T: Scalar, S: Storage<T>, const R: usize> Learner<T, S, R> {
    /// The user's rules and switches.
    pub fn user_rules(&self) -> impl Iterator<Item = UserRule> {
        codes(self.storage().as_ref()).filter_map(UserRule::from_code)
    }
}

impl<T: Scalar> User<'_, T> {
    /// The user's rules and switches.
    pub fn user_rules(&self) -> impl Iterator<Item = UserRule> {
        codes(self.memory.storage).filter_map(UserRule::from_code)
    }

    /// True if the user has switched everything off.
    #[must_use]
    pub fn is_off(&self) -> bool {
        codes(self.memory.storage).any(|code| code == OFF)
    }

    /// The user's rule that removes an action in a context; `None` if none does.
    #[must_use]
    pub fn forbidding_rule(&self, context: &Context, action: Action) -> Option<UserRule> {
        UserRule::from_code(self.forbidding_code(context, action))
    }

    /// The code of the first rule of the user that removes an action in a context; 0 if none does.
    #[inline(never)]
    fn forbidding_code(&self, context: &Context, action: Action) -> u32 {
        let values = self.policy.catalog().values(action).unwrap_or_default();
        let has = |code: Code| values.get(usize::from(code.component)) == Some(&code.value);
        for number in codes(self.memory.storage) {
            let code = Code::of(number);
            if code.holds(context) {
                let other_value = |other: u32| code.differs_in_value(Code::of(other)) && has(Code::of(other));
                let stops =
                    if code.kind == NEVER { has(code) } else { !codes(self.memory.storage).any(other_value) };
                if stops {
                    return number;
                }
            }
        }
        0
    }

    /// Refuses users who have switched everything off. True if the user has rules or switches.
    #[cfg_attr(feature = "rules", inline(never))]
    pub(super) fn admit_on(&self) -> Result<bool, UserError> {
        let mut rules = false;
        if !cfg!(feature = "rules") {
            return Ok(rules);
        }
        for code in codes(self.memory.storage) {
            if code == OFF {
                return Err(UserError::Off);
            }
            rules = true;
        }
        Ok(rules)
    }

    /// The actions that the rules of the catalog and of the user leave of an admitted request.
    ///
    /// Rules are enforced here and nowhere else: every choice is a choice among these actions.
    ///
    /// # Errors
    /// [`FeasibleError::Empty`] when they leave nothing, [`UserError::Off`] when the user has switched
    /// everything off.
    #[inline(never)]
    pub fn narrow(&self, request: &Request<'_>) -> Result<Feasible, UserError> {
        let (catalog, asked) = (self.policy.catalog(), request.feasible);
        if !self.admit_on()? && (!cfg!(feature = "rules") || catalog.rules().is_empty()) {
            return Ok(*asked);
        }
        let mut set = ActionSet::EMPTY;
        for action in (0..).map(Action).take(catalog.actions()) {
            let stopped = || {
                catalog.forbids(request.context, action) || self.forbidding_code(request.context, action) != 0
            };
            if asked.set().contains(action) && !stopped() {
                set.insert(action);
            }
        }
        Feasible::some(set).ok_or(UserError::Feasible(FeasibleError::Empty))
    }

    /// Takes a rule, or gives it up, without an event.
    ///
    /// # Errors
    /// A rule of another catalog, a rule that stands already or does not stand, no capacity; nothing has
    /// changed then.
    pub fn set_user_rule(&mut self, rule: UserRule, stands: bool) -> Result<(), UserError> {
        self.admit()?;
        self.admit_user_rule(rule.code(), stands)?;
        self.memory.set_user_rule(rule.code(), stands);
        Ok(())
    }

    /// Checks that a rule can be taken or given up.
    #[inline(never)]
    pub(super) fn admit_user_rule(&self, code: u32, stands: bool) -> Result<(), UserError> {
        supported(cfg!(feature = "rules"))?;
        let (mut known, mut count) = (false, 0);
        for other in codes(self.memory.storage) {
            (known, count) = (known || other == code, count + 1);
        }
        if !is_user_rule(self.policy.catalog(), code) {
            Err(UserError::UnknownRule)
        } else if known && stands {
            Err(UserError::RuleExists)
        } else if !known && !stands {
            Err(UserError::RuleMissing)
        } else if stands && count == MAX_USER_RULES {
            Err(UserError::RulesFull)
        } else {
            Ok(())
        }
    }

    #[cfg(feature = "alloc")]
    /// Proposes the next change that makes `rules` the user's rules; `false` if there is none.
    pub(super) fn propose_user_rule(
        &self,
        rules: &[UserRule],
        first: bool,
        event: &mut Event,
    ) -> Result<bool, UserError> {
        if first {
            let unknown = |rule: &&UserRule| !is_user_rule(self.policy.catalog(), rule.code());
            supported(cfg!(feature = "rules"))?;
            if rules.iter().any(|rule| unknown(&rule)) {
                return Err(UserError::UnknownRule);
            }
            let again =
                |(index, rule): (usize, &UserRule)| rules.iter().take(index).any(|other| other == rule);
            if rules.len() - rules.iter().enumerate().filter(|pair| again(*pair)).count() > MAX_USER_RULES {
                return Err(UserError::RulesFull);
            }
        }
        let wanted = |code: u32| rules.iter().any(|rule| rule.code() == code);
        let gone = codes(self.memory.storage).find(|code| !wanted(*code)).map(|code| (code, false));
        let new = || {
            rules
                .iter()
                .map(|rule| rule.code())
                .find(|code| codes(self.memory.storage).all(|known| known != *code))
        };
        let Some((code, stands)) = gone.or_else(|| new().map(|code| (code, true))) else { return Ok(false) };
        *event = Event::UserRule { code, stands };
        Ok(true)
    }
}

impl<T: Scalar> Memory<'_, T> {
    /// Takes a rule, or gives it up: one number changes. The event is not counted, since other sites do not
    /// learn from it.
    pub(super) fn set_user_rule(&mut self, code: u32, stands: bool) {
        let (from, to) = if stands { (0, code) } else { (code, 0) };
        let start = self.storage.len().saturating_sub(MAX_USER_RULES);
        let slot = self.storage.iter_mut().skip(start).find(|slot| slot.bits() == u64::from(from));
        if let Some(slot) = slot {
            *slot = T::from_bits(to.into());
        }
    }
}
