//! The files that commands write: nobody else can read them, and there is the old one or the new one, whatever happens. Source code
//! is a file like any other.

use crate::failure::Failure;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use tempfile::NamedTempFile;

/// Writes bytes and returns what is told about it: nothing if they went to a stream, which may be this command's own output.
/// `-` is standard output.
pub(crate) fn write(path: &Path, bytes: &[u8], told: String) -> Result<String, Failure> {
    let output = path == Path::new("-");
    if output {
        io::stdout().lock().write_all(bytes).map_err(|error| Failure::file(path, &error))?;
    } else {
        keep(path, bytes)?;
    }
    Ok(if output || is_stream(path) { String::new() } else { told })
}

/// The same for source code, which is nobody's secret and can be had again: a file like those of an editor.
pub(crate) fn write_code(path: &Path, code: &str, told: String) -> Result<String, Failure> {
    if path == Path::new("-") || is_stream(path) {
        return write(path, code.as_bytes(), told);
    }
    fs::write(path, code).map_err(|error| Failure::file(path, &error))?;
    Ok(told)
}

/// Writes a file.
pub(crate) fn keep(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    put(path, bytes).map_err(|error| Failure::file(path, &error))
}

/// The same, for those who tell of an error in their own way.
pub(crate) fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if is_stream(path) { pour(path, bytes) } else { replace(path, bytes) }
}

/// Writes a file that is not there yet.
pub(crate) fn create(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = folder(path);
    draft(folder, bytes)?.persist_noclobber(path)?;
    sync(folder);
    Ok(())
}

/// Whether two paths lead to one file, whatever they are called.
pub(crate) fn is_same_file(one: &Path, other: &Path) -> bool {
    match (fs::metadata(one), fs::metadata(other)) {
        (Ok(one), Ok(other)) => one.is_file() && (one.dev(), one.ino()) == (other.dev(), other.ino()),
        _ => false,
    }
}

/// Whether something is there that is not a file: a device, a pipe.
fn is_stream(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| !found.is_file())
}

/// A device or a pipe just gets the bytes.
fn pour(path: &Path, bytes: &[u8]) -> io::Result<()> {
    fs::OpenOptions::new().write(true).open(path)?.write_all(bytes)
}

/// Writes a file in one step.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned()); // the file, not a link to it
    let folder = folder(&path);
    draft(folder, bytes)?.persist(&path)?;
    sync(folder);
    Ok(())
}

/// A file that nobody else can read, complete and on disk; it is gone again if it gets no name.
fn draft(folder: &Path, bytes: &[u8]) -> io::Result<NamedTempFile> {
    let mut draft = NamedTempFile::new_in(folder)?;
    draft.as_file_mut().write_all(bytes)?; // its own errors would tell the draft's name
    draft.as_file().sync_all()?;
    Ok(draft)
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The name, too, goes to disk; where a folder cannot be synced that is left to the system.
fn sync(folder: &Path) {
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    /// What ends between the draft and its name, by a fault or a full disk, leaves the old file alone.
    #[test]
    fn an_unfinished_file_does_not_touch_the_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ana.user");
        replace(&path, b"old").unwrap();
        let unfinished = draft(folder.path(), b"new").unwrap();
        assert_eq!(names(folder.path()).len(), 2);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        drop(unfinished);
        assert_eq!(names(folder.path()), ["ana.user"]);
        replace(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names(folder.path()), ["ana.user"]);
    }

    #[test]
    fn what_is_there_is_not_created() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.jsonl");
        create(&path, b"first").unwrap();
        assert_eq!(create(&path, b"second").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(
            (fs::read(&path).unwrap(), names(folder.path())),
            (b"first".to_vec(), vec!["log.jsonl".to_owned()])
        );
    }
}
