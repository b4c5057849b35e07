//! What is certain: assessments, promotions, the profile.

use crate::borrow::{one, place, places, tell, wanted};
use crate::layout::{Assessment as CAssessment, Context as CContext, Promotion as CPromotion};
use crate::status::{Status, number};
use crate::text;
use crate::user::{Handle, context, user};
use core::ffi::c_char;
use fable_core::preference::{Assessment, Certifier, Comparison, Standing};
use fable_core::{Action, Promotion};

/// The same for C.
fn told(known: &Assessment) -> CAssessment {
    let Assessment {
        mean,
        sd,
        probability,
        beta,
        radius,
        lower,
        upper,
        threshold,
        evidence,
        verdict,
        gap,
        valid,
    } = *known;
    let (distance, rounds) = (gap.distance, gap.rounds.unwrap_or(u32::MAX));
    let (verdict, valid) = (verdict.sign(), u8::from(valid));
    CAssessment {
        mean,
        sd,
        probability,
        beta,
        radius,
        lower,
        upper,
        threshold,
        distance,
        evidence,
        rounds,
        verdict,
        valid,
    }
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_assess(user: *mut Handle, contrast: u16, assessment: *mut CAssessment) -> i32 {
    number((|| {
        // SAFETY: the promise of the caller, as in the header.
        let (mut user, out) = unsafe { (self::user(user)?, place(assessment)?) };
        let comparison = Comparison::declared(user.policy().catalog(), usize::from(contrast));
        *out = told(&user.assess(&comparison.ok_or(Status::UNKNOWN_CONTRAST)?)?);
        Ok(())
    })())
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_compare(
    user: *mut Handle,
    context: *const CContext,
    prefer: u16,
    over: u16,
    total: u8,
    assessment: *mut CAssessment,
) -> i32 {
    number((|| {
        // SAFETY: the promise of the caller, as in the header.
        let (mut user, context, out) = unsafe {
            let user = self::user(user)?;
            let context = self::context(user.policy().catalog(), one(context)?)?;
            (user, context, place(assessment)?)
        };
        let (prefer, over) = (Action(prefer), Action(over));
        *out = told(&user.assess(&Comparison { context, prefer, over, total: total != 0 })?);
        Ok(())
    })())
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_promote(user: *mut Handle, now: u32, promoted: *mut u32) -> i32 {
    number((|| {
        // SAFETY: the promise of the caller, as in the header.
        unsafe {
            let (mut user, promoted) = (self::user(user)?, wanted(promoted)?);
            tell(promoted, user.promote(now)?);
        }
        Ok(())
    })())
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_profile(
    user: *mut Handle,
    promotions: *mut CPromotion,
    size: usize,
    count: *mut usize,
) -> i32 {
    number((|| {
        // SAFETY: the promise of the caller, as in the header.
        let (mut user, out, count) = unsafe { (self::user(user)?, places(promotions, size)?, place(count)?) };
        *count = user.profile().len();
        if size != 0 && size < *count {
            return Err(Status::TOO_SMALL);
        }
        for (index, slot) in out.iter_mut().enumerate() {
            let Some(promotion) = user.profile().get(index).copied() else { break };
            let standing = match user.standing(&promotion)? {
                Standing::Holds => 0,
                Standing::Doubtful => 1,
                Standing::Revoked => 2,
            };
            let Promotion { contrast, verdict, valid, by, round, time, evidence, lower, upper } = promotion;
            let (verdict, valid, by) = (verdict.sign(), u8::from(valid), u8::from(by == Certifier::Probes));
            *slot = CPromotion {
                round,
                now: time,
                evidence,
                lower,
                upper,
                contrast,
                verdict,
                valid,
                by,
                standing,
            };
        }
        Ok(())
    })())
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_profile_text(
    user: *mut Handle,
    buffer: *mut c_char,
    size: usize,
    length: *mut usize,
) -> i32 {
    number((|| {
        // SAFETY: the promise of the caller, as in the header.
        unsafe {
            let mut user = self::user(user)?;
            text::write(buffer, size, length, |out| Ok(user.write_profile(out)?))
        }
    })())
}
