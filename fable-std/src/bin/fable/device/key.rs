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
    Key::from_hex(&bytes).ok_or_else(|| mistake("a key is 32 hexadecimal digits"))
}
