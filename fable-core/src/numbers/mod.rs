//! Numbers and arithmetic: the lowest layer, which knows no meaning of numbers.

mod bits;
mod fingerprint;
pub(crate) mod inverse;
mod kernel;
pub(crate) mod lanes;
mod layout;
mod loops;
mod normal;
mod number;
mod range;
#[cfg(any(test, all(fable_softfloat, target_arch = "arm")))]
mod soft;

pub use bits::Bits;
pub(crate) use fingerprint::Fingerprint;
pub use fingerprint::{NUMERIC_REVISION, user_hash};
pub(crate) use layout::Segment;
pub use layout::{Layout, MAX_DIMENSION, MAX_TASKS};
pub use normal::{Key, Purpose, Stream};
pub use number::{Number, Storage};
pub(crate) use range::within;
pub use range::{
    BASE_PRECISION, MAX_BASELINE, MAX_COEFFICIENT, MAX_RESPONSE, ONBOARDING_PRECISION, REWARD, Range,
    VARIANCE, WEIGHT,
};
