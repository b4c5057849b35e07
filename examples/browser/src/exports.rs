//! What the page calls beside the exports of the package, over the same border; `www/people.js` is the other side.
#![allow(unsafe_code, reason = "a name that the linker keeps counts as unsafe; nothing else in here does")]
#![allow(clippy::must_use_candidate, reason = "JavaScript does not see it")]

#[cfg(feature = "people")]
mod people;

#[cfg(feature = "people")]
pub use people::*;

/// Reads the request in the buffer.
#[cfg(feature = "words")]
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn page_read() -> i32 {
    use fable_js::{Refusal, tell};
    tell(|_, text| {
        crate::read(
            core::str::from_utf8(text).map_err(|_| Refusal::new("bad_request", "the text is not UTF-8"))?,
        )
    })
}
