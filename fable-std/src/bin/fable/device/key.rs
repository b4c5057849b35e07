//! The file with the key that a device has too.

use crate::failure::Failure;
use crate::input::read_within;
use fable_std::device::Key;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// More than a key is not one.
const LONGEST: u64 = 100;

/// Reads a key: 32 hexadecimal digits. What is wrong with the file is said without anything of what is in it.
pub(super) fn read(path: &Path) -> Result<Key, Failure> {
    let mistake = |what: &str| Failure::Mistake(format!("{}: {what}", path.display()));
    let mode = path.metadata().map_err(|error| Failure::file(path, &error))?.permissions().mode();
    if mode & 0o077 != 0 {
        return Err(mistake("others may read or change the key: chmod 600"));
    }
    let bytes = read_within(path, LONGEST)?;
    let digits = bytes.trim_ascii();
    let digit = |digit: u8| char::from(digit).to_digit(16);
    let mut key = [0; 16];
    let (pairs, rest) = digits.as_chunks::<2>();
    if pairs.len() != key.len() || !rest.is_empty() {
        return Err(mistake("a key is 32 hexadecimal digits"));
    }
    for (slot, [high, low]) in key.iter_mut().zip(pairs) {
        let (Some(high), Some(low)) = (digit(*high), digit(*low)) else {
            return Err(mistake("a key is 32 hexadecimal digits"));
        };
        *slot = (high * 16 + low) as u8;
    }
    Ok(Key::new(key))
}
