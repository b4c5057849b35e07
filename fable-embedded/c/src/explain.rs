//! Explanations of decisions.

use crate::borrow::{reference, reference_mut, slice_mut};
use crate::layout::{DecisionId as CDecisionId, Explanation as CExplanation, Share as CShare};
use crate::status::{Status, number};
use crate::user::{Handle, defaults, id, user};
use fable_core::Action;
use fable_core::explain::Source;

/// FABLE_AT(coordinate), or 0 for none.
fn at(coordinate: Option<usize>) -> u16 {
    coordinate.map_or(0, |coordinate| coordinate as u16 + 1) // below 8,192
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_explain(
    user: *mut Handle,
    id: *const CDecisionId,
    other: u16,
    defaults: *const f64,
    default_count: usize,
    explanation: *mut CExplanation,
    shares: *mut CShare,
    size: usize,
    count: *mut usize,
) -> i32 {
    number((|| {
        // SAFETY: guaranteed by the caller, see the header.
        let (mut user, id, defaults) =
            unsafe { (self::user(user)?, reference(id)?, self::defaults(defaults, default_count)?) };
        // SAFETY: guaranteed by the caller, see the header.
        let (out, shares, count) =
            unsafe { (reference_mut(explanation)?, slice_mut(shares, size)?, reference_mut(count)?) };
        let why = user.explain(self::id(id), defaults, other.checked_sub(1).map(Action))?;
        *count = why.shares().count();
        if size != 0 && size < *count {
            return Err(Status::TOO_SMALL);
        }
        for (slot, share) in shares.iter_mut().zip(why.shares()) {
            let (source, block) = match share.source {
                Source::Default => (0, 0),
                Source::Cost => (1, 0),
                Source::Block(block) => (2, block),
                Source::Draw => (3, 0),
                Source::Bonus => (4, 0),
            };
            let (chosen_coordinate, other_coordinate) =
                (at(share.chosen_coordinate), at(share.other_coordinate));
            *slot = CShare {
                chosen: share.chosen,
                other: share.other,
                chosen_coordinate,
                other_coordinate,
                source,
                block,
            };
        }
        *out = CExplanation {
            chosen_score: why.chosen_score,
            other_score: why.other_score,
            probed: *why.probed.words(),
            chosen: why.chosen.0,
            intended: why.intended.0,
            other: why.other.0,
            feasible: u8::from(why.feasible),
            explored: u8::from(why.explored),
        };
        Ok(())
    })())
}
