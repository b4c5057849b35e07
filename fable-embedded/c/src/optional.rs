//! What many programs do without: the best action without exploring, rewards of actions chosen elsewhere, deadlines.

use crate::borrow;
use crate::layout;
use crate::status::number;
use crate::user::Handle;
use fable_core::Action;

/// See the header.
#[cfg(feature = "recommend")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_recommend(
    user: *mut Handle,
    request: *const layout::Request,
    action: *mut u16,
    score: *mut f32,
) -> i32 {
    number((|| {
        // SAFETY: the promise of the caller, as in the header.
        unsafe {
            let (out, score) = (borrow::place(action)?, borrow::wanted(score)?);
            let (Action(action), best) =
                crate::user::requested(user, request, |user, request| Ok(user.recommend(request)?))?;
            borrow::tell(score, best);
            *out = action;
        }
        Ok(())
    })())
}

/// See the header.
#[cfg(feature = "observe")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_observe(
    user: *mut Handle,
    context: *const layout::Context,
    action: u16,
    reward: f64,
) -> i32 {
    number((|| {
        // SAFETY: the promise of the caller, as in the header.
        let (mut user, context) = unsafe {
            let user = crate::user::user(user)?;
            let context = crate::user::context(user.policy().catalog(), borrow::one(context)?)?;
            (user, context)
        };
        user.observe(&context, Action(action), reward)?;
        Ok(())
    })())
}

/// See the header.
#[cfg(feature = "expire")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_expire(user: *mut Handle, now: u32, expired: *mut u32) -> i32 {
    number((|| {
        // SAFETY: the promise of the caller, as in the header.
        unsafe {
            let (mut user, expired) = (crate::user::user(user)?, borrow::wanted(expired)?);
            borrow::tell(expired, user.expire(now)?);
        }
        Ok(())
    })())
}
