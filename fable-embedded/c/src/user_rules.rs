//! A user's own rules and switches.

use crate::borrow::{reference, reference_mut, slice_mut};
use crate::layout::{Pair, UserRule as CRule, Where};
use crate::status::{Status, number};
use crate::user::{Handle, user};
use fable_core::catalog::When;
use fable_core::preference::UserRule;

/// A rule as in fable-core.
fn rule(rule: &CRule) -> Result<UserRule, Status> {
    let (Pair { component, value }, position) = (rule.pair, usize::from(rule.r#where.position));
    let when = match rule.r#where.kind {
        0 => When::Always,
        1 => When::Task(position),
        2 => When::Signal(position),
        _ => return Err(Status::BAD_KIND),
    };
    match rule.kind {
        // No catalog has such a component or position, and a code cannot encode them.
        1 | 2 if component >= 8 || position >= 64 => Err(Status::UNKNOWN_RULE),
        1 => Ok(UserRule::Never { component, value, when }),
        2 => Ok(UserRule::Always { component, value, when }),
        3 => Ok(UserRule::Off),
        4 => Ok(UserRule::Remember(true)),
        5 => Ok(UserRule::Remember(false)),
        _ => Err(Status::BAD_KIND),
    }
}

/// A rule as in the header.
fn to_c(rule: UserRule) -> CRule {
    let value_rule = |kind: u8, component: u8, value: u8, when: When| {
        // A task or signal is less than 64.
        let (where_kind, position) = match when {
            When::Always => (0, 0),
            When::Task(task) => (1, task as u8),
            When::Signal(signal) => (2, signal as u8),
        };
        CRule { kind, pair: Pair { component, value }, r#where: Where { kind: where_kind, position } }
    };
    let switch = |kind: u8| value_rule(kind, 0, 0, When::Always);
    match rule {
        UserRule::Never { component, value, when } => value_rule(1, component, value, when),
        UserRule::Always { component, value, when } => value_rule(2, component, value, when),
        UserRule::Off => switch(3),
        UserRule::Remember(true) => switch(4),
        UserRule::Remember(false) => switch(5),
        _ => switch(0),
    }
}

/// # Safety
/// See the header.
unsafe fn change(user: *mut Handle, rule: *const CRule, is_set: bool) -> i32 {
    number((|| {
        // SAFETY: guaranteed by the caller.
        let (mut user, rule) = unsafe { (self::user(user)?, reference(rule)?) };
        Ok(user.set_user_rule(self::rule(rule)?, is_set)?)
    })())
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_user_rule_add(user: *mut Handle, rule: *const CRule) -> i32 {
    // SAFETY: guaranteed by the caller, see the header.
    unsafe { change(user, rule, true) }
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_user_rule_remove(user: *mut Handle, rule: *const CRule) -> i32 {
    // SAFETY: guaranteed by the caller, see the header.
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
        // SAFETY: guaranteed by the caller, see the header.
        let (user, rules, count) =
            unsafe { (self::user(user)?, slice_mut(rules, size)?, reference_mut(count)?) };
        *count = user.user_rules().count();
        if size != 0 && size < *count {
            return Err(Status::TOO_SMALL);
        }
        for (slot, rule) in rules.iter_mut().zip(user.user_rules()) {
            *slot = to_c(rule);
        }
        Ok(())
    })())
}
