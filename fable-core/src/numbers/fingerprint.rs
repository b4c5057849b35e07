//! A 64-bit fingerprint of everything that gives a stored number its meaning: a catalog's shape in one half,
//! settings and prior in the other.
//!
//! FNV-1a over a canonical byte string: texts and lists with their lengths in front, numbers little-endian.
//! All of it is `const fn`, so a catalog's fingerprint is a constant of the build. It detects another catalog
//! or other settings. It is no defence against forgery.
//!
//! ```
//! use fable_core::catalog::{AGENT, TAU2};
//! const STORED: u64 = AGENT.fingerprint();
//! assert_ne!(STORED, TAU2.fingerprint());
//! ```

/// Revision of the arithmetic: the order of the operations, the sampler and the key derivation.
///
/// Two builds with the same revision and the same `libm` give the same bits. It is part of every fingerprint:
/// a state of another arithmetic is refused instead of continued with slightly different decisions.
pub const NUMERIC_REVISION: u32 = 1;

/// Streaming FNV-1a, 64 bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fingerprint(u64);

impl Fingerprint {
    pub(crate) const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    pub(crate) const fn finish(self) -> u64 {
        self.0
    }

    #[inline(never)] // inlined, a 64-bit product per byte would be unrolled at every use
    pub(crate) const fn bytes(mut self, mut bytes: &[u8]) -> Self {
        while let [first, rest @ ..] = bytes {
            self.0 = (self.0 ^ *first as u64).wrapping_mul(0x0000_0100_0000_01b3);
            bytes = rest;
        }
        self
    }

    pub(crate) const fn u64(self, value: u64) -> Self {
        self.bytes(&value.to_le_bytes())
    }

    pub(crate) const fn f64(self, value: f64) -> Self {
        self.u64((value + 0.0).to_bits()) // -0 is 0
    }

    /// One half of a fingerprint, so that differences can be told by halves.
    pub(crate) const fn half(value: u64) -> u64 {
        (value ^ value >> 32) & 0xffff_ffff
    }

    pub(crate) const fn text(self, text: &str) -> Self {
        self.u64(text.len() as u64).bytes(text.as_bytes())
    }
}

/// The 64-bit hash of a user's name, for keys and decision ids.
///
/// ```
/// assert_eq!(fable_core::user_hash("ana"), fable_core::user_hash("ana"));
/// assert_ne!(fable_core::user_hash("ana"), fable_core::user_hash("Ana"));
/// ```
#[must_use]
pub const fn user_hash(name: &str) -> u64 {
    Fingerprint::new().bytes(name.as_bytes()).finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_fnv_1a_vectors() {
        assert_eq!(user_hash(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(user_hash("a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(user_hash("foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn lengths_keep_neighbouring_texts_apart() {
        let ab_c = Fingerprint::new().text("ab").text("c").finish();
        let a_bc = Fingerprint::new().text("a").text("bc").finish();
        assert_ne!(ab_c, a_bc);
    }
}
