//! Optional functions: `fable_recommend`, `fable_observe`, `fable_expire`.

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
        // SAFETY: guaranteed by the caller, see the header.
        unsafe {
            let (out, score) = (borrow::reference_mut(action)?, borrow::optional_mut(score)?);
            let (Action(action), best) =
                crate::user::with_request(user, request, |user, request| Ok(user.recommend(request)?))?;
            borrow::write_optional(score, best);
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
        // SAFETY: guaranteed by the caller, see the header.
        let (mut user, context) = unsafe {
            let user = crate::user::user(user)?;
            let context = crate::user::context(user.policy().catalog(), borrow::reference(context)?)?;
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
        // SAFETY: guaranteed by the caller, see the header.
        unsafe {
            let (mut user, expired) = (crate::user::user(user)?, borrow::optional_mut(expired)?);
            borrow::write_optional(expired, user.expire(now)?);
        }
        Ok(())
    })())
}
