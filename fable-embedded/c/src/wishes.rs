//! A user's own rules, and switches.

use crate::borrow::{one, place, places};
use crate::layout::{Pair, Where, Wish as CWish};
use crate::status::{Status, number};
use crate::user::{Handle, user};
use fable_core::{When, Wish};

/// A wish as core has it.
fn wish(wish: &CWish) -> Result<Wish, Status> {
    let (Pair { component, value }, position) = (wish.pair, usize::from(wish.r#where.position));
    let when = match wish.r#where.kind {
        0 => When::Always,
        1 => When::Task(position),
        2 => When::Signal(position),
        _ => return Err(Status::BAD_KIND),
    };
    match wish.kind {
        // What has no room in a code is not in any catalog.
        1 | 2 if component >= 8 || position >= 64 => Err(Status::WISH),
        1 => Ok(Wish::Never { component, value, when }),
        2 => Ok(Wish::Always { component, value, when }),
        3 => Ok(Wish::Off),
        4 => Ok(Wish::Remember(true)),
        5 => Ok(Wish::Remember(false)),
        _ => Err(Status::BAD_KIND),
    }
}

/// The same for C.
fn told(wish: Wish) -> CWish {
    let rule = |kind: u8, component: u8, value: u8, when: When| {
        // A task is one of 64.
        let (place, position) = match when {
            When::Always => (0, 0),
            When::Task(task) => (1, task as u8),
            When::Signal(signal) => (2, signal as u8),
        };
        CWish { kind, pair: Pair { component, value }, r#where: Where { kind: place, position } }
    };
    match wish {
        Wish::Never { component, value, when } => rule(1, component, value, when),
        Wish::Always { component, value, when } => rule(2, component, value, when),
        Wish::Off => rule(3, 0, 0, When::Always),
        Wish::Remember(true) => rule(4, 0, 0, When::Always),
        Wish::Remember(false) => rule(5, 0, 0, When::Always),
        _ => rule(0, 0, 0, When::Always),
    }
}

/// # Safety
/// As the header says.
unsafe fn change(user: *mut Handle, wish: *const CWish, stands: bool) -> i32 {
    number((|| {
        // SAFETY: the caller's promise.
        let (mut user, wish) = unsafe { (self::user(user)?, one(wish)?) };
        Ok(user.wish(self::wish(wish)?, stands)?)
    })())
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_wish_take(user: *mut Handle, wish: *const CWish) -> i32 {
    // SAFETY: the promise of the caller, as in the header.
    unsafe { change(user, wish, true) }
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_wish_drop(user: *mut Handle, wish: *const CWish) -> i32 {
    // SAFETY: the promise of the caller, as in the header.
    unsafe { change(user, wish, false) }
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_wishes(user: *mut Handle, wishes: *mut CWish, size: usize, count: *mut usize) -> i32 {
    number((|| {
        // SAFETY: the promise of the caller, as in the header.
        let (user, wishes, count) = unsafe { (self::user(user)?, places(wishes, size)?, place(count)?) };
        *count = user.wishes().count();
        if size != 0 && size < *count {
            return Err(Status::TOO_SMALL);
        }
        for (slot, wish) in wishes.iter_mut().zip(user.wishes()) {
            *slot = told(wish);
        }
        Ok(())
    })())
}
