//! The files that commands read whole, each up to a limit: what a file or a device says about its size is not believed.

use crate::failure::Failure;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Largest exported user, prior or snapshot. The largest catalog has a snapshot of 257 MiB, and a journal of the same size
/// more than a million decisions.
const LARGEST: u64 = 512 << 20;
/// Largest file that begins like none of them: it is read only to say what is wrong with it.
const FOREIGN: u64 = 1 << 20;
/// Largest journal of a device, which has no more flash than that.
const JOURNAL: u64 = 16 << 20;

/// The bytes of an exported user, a prior or a snapshot.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut file = File::open(path).map_err(|error| Failure::file(path, &error))?;
    let told = |error| Failure::file(path, &error);
    let mut bytes = Vec::new();
    file.by_ref().take(4).read_to_end(&mut bytes).map_err(told)?;
    let limit = if matches!(bytes.as_slice(), b"FABX" | b"FABS") { LARGEST } else { FOREIGN };
    upto(&mut file, limit, &mut bytes).map_err(told)?;
    Ok(bytes)
}

/// The bytes of a device's journal.
pub(crate) fn read_journal(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|mut file| upto(&mut file, JOURNAL, &mut bytes));
    read.map_err(|error| Failure::file(path, &error)).map(|()| bytes)
}

/// The bytes of a small file.
pub(crate) fn read_within(path: &Path, limit: u64) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes));
    read.map_err(|error| Failure::file(path, &error)).map(|_| bytes)
}

/// The rest of a file that has no more than `limit` bytes in all.
fn upto(file: &mut impl Read, limit: u64, bytes: &mut Vec<u8>) -> io::Result<()> {
    let room = limit + 1 - bytes.len() as u64;
    file.take(room).read_to_end(bytes)?;
    if bytes.len() as u64 <= limit {
        return Ok(());
    }
    let whatever =
        if limit == FOREIGN { ", and neither an exported user nor a prior nor a snapshot" } else { "" };
    Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("larger than {} MiB{whatever}", limit >> 20)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_reached_and_not_passed() {
        let mut bytes = b"FABX".to_vec();
        upto(&mut &[0; 6][..], 10, &mut bytes).unwrap();
        assert_eq!(bytes.len(), 10);
        let mut endless = io::repeat(7);
        for limit in [10, FOREIGN] {
            let mut bytes = b"FABX".to_vec();
            let error = upto(&mut endless, limit, &mut bytes).unwrap_err();
            assert_eq!((error.kind(), bytes.len() as u64), (io::ErrorKind::FileTooLarge, limit + 1));
        }
    }
}
