//! A user's own rules, and switches.

use crate::borrow::{one, place, places};
use crate::layout::{Pair, UserRule as CRule, Where};
use crate::status::{Status, number};
use crate::user::{Handle, user};
use fable_core::catalog::When;
use fable_core::preference::UserRule;

/// A rule as core has it.
fn rule(rule: &CRule) -> Result<UserRule, Status> {
    let (Pair { component, value }, position) = (rule.pair, usize::from(rule.r#where.position));
    let when = match rule.r#where.kind {
        0 => When::Always,
        1 => When::Task(position),
        2 => When::Signal(position),
        _ => return Err(Status::BAD_KIND),
    };
    match rule.kind {
        // What has no room in a code is not in any catalog.
        1 | 2 if component >= 8 || position >= 64 => Err(Status::UNKNOWN_RULE),
        1 => Ok(UserRule::Never { component, value, when }),
        2 => Ok(UserRule::Always { component, value, when }),
        3 => Ok(UserRule::Off),
        4 => Ok(UserRule::Remember(true)),
        5 => Ok(UserRule::Remember(false)),
        _ => Err(Status::BAD_KIND),
    }
}

/// The same for C.
fn told(rule: UserRule) -> CRule {
    let rule_of = |kind: u8, component: u8, value: u8, when: When| {
        // A task is one of 64.
        let (place, position) = match when {
            When::Always => (0, 0),
            When::Task(task) => (1, task as u8),
            When::Signal(signal) => (2, signal as u8),
        };
        CRule { kind, pair: Pair { component, value }, r#where: Where { kind: place, position } }
    };
    match rule {
        UserRule::Never { component, value, when } => rule_of(1, component, value, when),
        UserRule::Always { component, value, when } => rule_of(2, component, value, when),
        UserRule::Off => rule_of(3, 0, 0, When::Always),
        UserRule::Remember(true) => rule_of(4, 0, 0, When::Always),
        UserRule::Remember(false) => rule_of(5, 0, 0, When::Always),
        _ => rule_of(0, 0, 0, When::Always),
    }
}

/// # Safety
/// As the header says.
unsafe fn change(user: *mut Handle, rule: *const CRule, stands: bool) -> i32 {
    number((|| {
        // SAFETY: the caller's promise.
        let (mut user, rule) = unsafe { (self::user(user)?, one(rule)?) };
        Ok(user.set_user_rule(self::rule(rule)?, stands)?)
    })())
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_user_rule_add(user: *mut Handle, rule: *const CRule) -> i32 {
    // SAFETY: the promise of the caller, as in the header.
    unsafe { change(user, rule, true) }
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_user_rule_remove(user: *mut Handle, rule: *const CRule) -> i32 {
    // SAFETY: the promise of the caller, as in the header.
    unsafe { change(user, rule, false) }
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_user_rules(
    user: *mut Handle,
    rules: *mut CRule,
    size: usize,
    count: *mut usize,
) -> i32 {
    number((|| {
        // SAFETY: the promise of the caller, as in the header.
        let (user, rules, count) = unsafe { (self::user(user)?, places(rules, size)?, place(count)?) };
        *count = user.user_rules().count();
        if size != 0 && size < *count {
            return Err(Status::TOO_SMALL);
        }
        for (slot, rule) in rules.iter_mut().zip(user.user_rules()) {
            *slot = told(rule);
        }
        Ok(())
    })())
}
