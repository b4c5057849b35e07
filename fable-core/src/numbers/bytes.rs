//! Floats read byte by byte: postcard's own way keeps a panic when it is built for size. What is read and written is the same.

use serde::{Deserialize, Deserializer};

/// An `f64` in its little-endian bytes.
pub(crate) fn f64<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    <[u8; 8]>::deserialize(deserializer).map(f64::from_le_bytes)
}

/// An `f32` in its little-endian bytes.
pub(crate) fn f32<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f32, D::Error> {
    <[u8; 4]>::deserialize(deserializer).map(f32::from_le_bytes)
}

/// A number that may be missing.
pub(crate) fn option<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    Option::<[u8; 8]>::deserialize(deserializer).map(|bytes| bytes.map(f64::from_le_bytes))
}
