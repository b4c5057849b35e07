//! Sealing: bytes that only the owner of a key can read, and nobody can change unnoticed. ChaCha20-Poly1305 of RFC 8439.

use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::rand::{SecureRandom, SystemRandom};
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that sealing adds: the nonce in front, the tag behind.
pub(super) const OVERHEAD: usize = NONCE_LEN + TAG;
/// Bytes of a nonce.
pub(super) const NONCE: usize = NONCE_LEN;
/// Bytes of a tag.
pub(super) const TAG: usize = 16;

/// A key of 32 bytes. It is never printed.
///
/// ```
/// use fable_std::store::Secret;
/// let key = Secret::from_hex(&"0f".repeat(32)).unwrap();
/// assert_eq!(format!("{key:?}"), "Secret");
/// assert!(Secret::from_hex("0f").is_none() && Secret::from_hex(&"xy".repeat(32)).is_none());
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Secret([u8; 32]);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

impl Secret {
    /// A key that nobody has had before.
    ///
    /// # Errors
    /// A system that gives no random numbers.
    pub fn random() -> io::Result<Self> {
        let mut bytes = [0; 32];
        fill(&mut bytes)?;
        Ok(Self(bytes))
    }

    /// A key from 64 hexadecimal digits, with or without white space around them.
    #[must_use]
    pub fn from_hex(text: &str) -> Option<Self> {
        let digits = text.trim().as_bytes();
        let mut bytes = [0; 32];
        if digits.len() != 2 * bytes.len() {
            return None;
        }
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let digit = |digit: &u8| char::from(*digit).to_digit(16);
            *byte = match pair {
                [high, low] => (digit(high)? * 16 + digit(low)?) as u8,
                _ => return None,
            };
        }
        Some(Self(bytes))
    }

    pub(super) const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    pub(super) const fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    fn cipher(&self) -> io::Result<LessSafeKey> {
        UnboundKey::new(&CHACHA20_POLY1305, &self.0)
            .map(LessSafeKey::new)
            .map_err(|_| io::Error::other("a key cannot be used"))
    }

    /// Seals the bytes of `out` from `start` on, where the nonce is left room for, and appends the tag.
    pub(super) fn seal(
        &self,
        nonces: &Nonces,
        about: &[u8],
        out: &mut Vec<u8>,
        start: usize,
    ) -> io::Result<()> {
        let nonce = nonces.next();
        let plain = start + NONCE;
        let unsealed = || io::Error::other("nothing to seal");
        out.get_mut(start..plain).ok_or_else(unsealed)?.copy_from_slice(&nonce);
        let body = out.get_mut(plain..).ok_or_else(unsealed)?;
        let tag = self.cipher()?.seal_in_place_separate_tag(
            Nonce::assume_unique_for_key(nonce),
            Aad::from(about),
            body,
        );
        out.extend_from_slice(tag.map_err(|_| io::Error::other("too much to seal"))?.as_ref());
        Ok(())
    }

    /// Opens what [`seal`](Self::seal) has made, in place; `None` if it was changed, or is about something else.
    pub(super) fn open<'b>(&self, about: &[u8], sealed: &'b mut [u8]) -> Option<&'b mut [u8]> {
        let (nonce, body) = sealed.split_first_chunk_mut::<NONCE>()?;
        let nonce = Nonce::assume_unique_for_key(*nonce);
        self.cipher().ok()?.open_in_place(nonce, Aad::from(about), body).ok()
    }
}

/// Random bytes of the system's.
pub(super) fn fill(bytes: &mut [u8]) -> io::Result<()> {
    SystemRandom::new().fill(bytes).map_err(|_| io::Error::other("the system has no random numbers"))
}

/// Nonces of which none comes twice: a count from a place of 96 bits that chance has chosen.
#[derive(Debug)]
pub(super) struct Nonces {
    high: [u8; 4],
    next: AtomicU64,
}

impl Nonces {
    pub(super) fn new() -> io::Result<Self> {
        let (mut high, mut low) = ([0; 4], [0; 8]);
        fill(&mut high)?;
        fill(&mut low)?;
        Ok(Self { high, next: AtomicU64::new(u64::from_le_bytes(low)) })
    }

    fn next(&self) -> [u8; NONCE] {
        let low = self.next.fetch_add(1, Ordering::Relaxed).to_le_bytes();
        let mut nonce = [0; NONCE];
        for (to, from) in nonce.iter_mut().zip(self.high.iter().chain(&low)) {
            *to = *from;
        }
        nonce
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sealed_comes_back_and_nothing_else_does() {
        let (key, nonces) = (Secret::random().unwrap(), Nonces::new().unwrap());
        for length in [0, 1, 63, 64, 65, 1_000] {
            let plain: Vec<u8> = (0..length).map(|byte| byte as u8).collect();
            let mut sealed = [&[9; 3][..], &[0; NONCE], &plain].concat();
            key.seal(&nonces, b"about", &mut sealed, 3).unwrap();
            assert_eq!((sealed.len(), &sealed[..3]), (3 + length + OVERHEAD, &[9; 3][..]));
            assert_eq!(key.open(b"about", &mut sealed.clone()[3..]).unwrap(), plain);
            assert!(key.open(b"abouT", &mut sealed.clone()[3..]).is_none());
            assert!(Secret::random().unwrap().open(b"about", &mut sealed.clone()[3..]).is_none());
            for place in 3..sealed.len() {
                let mut damaged = sealed.clone();
                damaged[place] ^= 4;
                assert!(key.open(b"about", &mut damaged[3..]).is_none(), "{place}");
                assert!(key.open(b"about", &mut sealed.clone()[3..place]).is_none(), "{place}");
            }
        }
    }

    /// RFC 8439, section 2.8.2.
    #[test]
    fn the_cipher_is_the_one_of_the_standard() {
        let key = Secret(std::array::from_fn(|byte| 0x80 + byte as u8));
        let about: Vec<u8> = [0x50, 0x51, 0x52, 0x53].into_iter().chain(0xc0..=0xc7).collect();
        let text =
            b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it.";
        let nonces = Nonces {
            high: [7, 0, 0, 0],
            next: AtomicU64::new(u64::from_le_bytes([0x40, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47])),
        };
        let mut sealed = [&[0; NONCE][..], text].concat();
        key.seal(&nonces, &about, &mut sealed, 0).unwrap();
        assert_eq!(sealed[NONCE..NONCE + 4], [0xd3, 0x1a, 0x8d, 0x34]);
        assert_eq!(sealed[sealed.len() - 16..][..4], [0x1a, 0xe1, 0x0b, 0x59]);
    }
}
