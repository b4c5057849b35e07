//! Numbers and arithmetic: the lowest layer, which knows no meaning of numbers.

mod arrow;
mod bits;
mod fingerprint;
pub(crate) mod inverse;
mod kernel;
pub(crate) mod lanes;
mod loops;
mod normal;
mod number;
mod range;
#[cfg(any(test, all(fable_softfloat, target_arch = "arm")))]
mod soft;

pub(crate) use arrow::Segment;
pub use arrow::{Layout, MAX_DIMENSION, MAX_TASKS};
pub use bits::Bits;
pub(crate) use fingerprint::Fingerprint;
pub use fingerprint::{NUMERIC_REVISION, user_hash};
pub use normal::{Key, Purpose, Stream};
pub use number::{Number, Storage};
pub(crate) use range::within;
pub use range::{
    BASE_PRECISION, MAX_BASELINE, MAX_COEFFICIENT, MAX_RESPONSE, ONBOARDING_PRECISION, REWARD, Range,
    VARIANCE, WEIGHT,
};
