//! The file of a store: opened by one process at a time, and replaced in one step.

use super::StoreError;
use redb::{Builder, Database};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// Memory for pages of the file.
const PAGE_CACHE: usize = 32 << 20;

fn builder() -> Builder {
    let mut builder = Database::builder();
    builder.set_cache_size(PAGE_CACHE);
    builder
}

/// No file at all.
pub(super) fn in_memory() -> Result<Database, StoreError> {
    Ok(builder().create_with_backend(redb::backends::InMemoryBackend::new())?)
}

/// Why a file cannot be opened.
pub(super) fn missing(path: &Path, error: io::Error) -> StoreError {
    if error.kind() == io::ErrorKind::NotFound { StoreError::Missing(path.to_owned()) } else { error.into() }
}

/// Opens an existing file.
pub(super) fn open(path: &Path) -> Result<Database, StoreError> {
    let file = OpenOptions::new().read(true).write(true).open(path).map_err(|error| missing(path, error))?;
    let opened = file.try_clone()?;
    let database = builder().create_file(file).map_err(|error| match error {
        redb::DatabaseError::Storage(redb::StorageError::Corrupted(_)) => StoreError::Foreign,
        // What redb says about a file that does not begin like one of its own.
        redb::DatabaseError::Storage(redb::StorageError::Io(error))
            if matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof) =>
        {
            StoreError::Foreign
        }
        error => error.into(),
    })?;
    // Its owner may have put another file here since: then this one is not the store any more.
    if !same(&opened, path)? {
        return Err(StoreError::InUse);
    }
    Ok(database)
}

/// Makes a file, lets it be filled, and puts it where it belongs: whoever opens the path sees the old file or the new one
/// and nothing in between, whenever the process or the machine stops. The new file is locked all the time. The second
/// result says whether its being there is known to be on disk.
pub(super) fn create(
    path: &Path,
    fill: impl FnOnce(&Database) -> Result<(), StoreError>,
) -> Result<(Database, io::Result<()>), StoreError> {
    let draft = draft(path);
    let file = private().read(true).create(true).truncate(false).open(&draft)?;
    if let Err(fs::TryLockError::WouldBlock) = file.try_lock() {
        return Err(StoreError::InUse);
    }
    file.set_len(0)?; // what an interrupted attempt has left
    if let Ok(old) = fs::metadata(path) {
        file.set_permissions(old.permissions())?;
    }
    let made = builder().create_file(file).map_err(StoreError::from).and_then(|database| {
        fill(&database)?;
        fs::rename(&draft, path)?;
        Ok((database, sync_folder(path)))
    });
    if made.is_err() {
        clean(path);
    }
    made
}

/// Removes what an interrupted attempt to make a file has left; only the owner of the path may do that.
pub(super) fn clean(path: &Path) {
    let _ = fs::remove_file(draft(path)); // most often there is none
}

/// For files about users: nobody else reads them, unless the owner wants it so.
#[must_use]
pub fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.write(true);
    options
}

/// Where the new file grows.
fn draft(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    name.into()
}

/// Makes a rename durable.
#[cfg(unix)]
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Whether an open file is what the path names now.
#[cfg(unix)]
fn same(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let (file, path) = (file.metadata()?, fs::metadata(path)?);
    Ok((file.dev(), file.ino()) == (path.dev(), path.ino()))
}

#[cfg(not(unix))]
fn same(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}
