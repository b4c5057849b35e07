//! The file of a store: opened by one process at a time, and replaced in one step.

use super::StoreError;
use redb::{Builder, Database};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
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

/// What redb's files begin with.
const MAGIC: &[u8; 9] = b"redb\x1A\x0A\xA9\x0D\x0A";

/// Where a file is, or will be, behind all links: a new file has to take the place of the old one itself, not of a link to it.
pub(super) fn resolve(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..40 {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        match fs::read_link(&path) {
            Ok(link) => path = folder.join(link), // to nothing yet, perhaps
            Err(_) if path.exists() => return path.canonicalize(),
            Err(_) => {
                let name = path.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
                return Ok(folder.canonicalize()?.join(name));
            }
        }
    }
    path.canonicalize() // says what is wrong with so many links
}

/// Why a file cannot be opened.
pub(super) fn missing(path: &Path, error: io::Error) -> StoreError {
    if error.kind() == io::ErrorKind::NotFound { StoreError::Missing(path.to_owned()) } else { error.into() }
}

/// Opens an existing file.
pub(super) fn open(path: &Path) -> Result<Database, StoreError> {
    let found = fs::metadata(path).map_err(|error| missing(path, error))?;
    if !found.is_file() {
        return Err(StoreError::Foreign);
    }
    if found.len() == 0 {
        return Err(StoreError::Missing(path.to_owned()));
    }
    check_links(&found)?;
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
    if !same(&opened.metadata()?, &fs::metadata(path)?) {
        return Err(StoreError::InUse);
    }
    Ok(database)
}

/// Makes a file where there is none, or an empty one; `None` if there is more.
pub(super) fn create(
    path: &Path,
    fill: impl FnOnce(&Database) -> Result<(), StoreError>,
) -> Result<Option<Database>, StoreError> {
    // First of all an empty file: of several processes that want to make the store, one gets the lock on it.
    let (claim, ours) = match private().create_new(true).open(path) {
        Ok(file) => (file, true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let found = fs::metadata(path)?;
            if !found.is_file() || found.len() > 0 {
                return Ok(None);
            }
            (OpenOptions::new().write(true).open(path)?, false)
        }
        Err(error) => return Err(error.into()),
    };
    lock(&claim)?;
    let claimed = claim.metadata()?;
    if claimed.len() > 0 || !same(&claimed, &fs::metadata(path)?) {
        return Err(StoreError::InUse);
    }
    match replace(path, fill) {
        Ok((database, synced)) => {
            synced?;
            Ok(Some(database))
        }
        Err(error) => {
            if ours {
                let _ = fs::remove_file(path); // as it was before
            }
            Err(error)
        }
    }
}

/// Makes a file, lets it be filled, and puts it into the place of the old one: whoever opens the path sees the old file or the
/// new one and nothing in between, whenever the process or the machine stops. The new file is locked all the time. An error
/// means that the old one is still there; the second result says whether the new one is known to be there on disk.
pub(super) fn replace(
    path: &Path,
    fill: impl FnOnce(&Database) -> Result<(), StoreError>,
) -> Result<(Database, io::Result<()>), StoreError> {
    let old = fs::metadata(path)?;
    check_links(&old)?;
    let folder = Folder::open(path)?; // what can fail has to fail before the new file is there
    let draft = draft(path);
    if !is_ours(&draft)? {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, format!("{} is in the way", draft.display())).into());
    }
    let file = private().read(true).create(true).truncate(false).open(&draft)?;
    lock(&file)?;
    let made = file.set_len(0).and_then(|()| file.set_permissions(old.permissions())).map_err(StoreError::from);
    let made = made.and_then(|()| Ok(builder().create_file(file)?)).and_then(|database| {
        fill(&database)?;
        fs::rename(&draft, path)?;
        Ok(database)
    });
    match made {
        Ok(database) => Ok((database, folder.sync().or_else(|_| folder.sync()))),
        Err(error) => {
            clean(path);
            Err(error)
        }
    }
}

/// Removes what an interrupted attempt to make a file has left; only the owner of the path may do that.
pub(super) fn clean(path: &Path) {
    let draft = draft(path);
    if is_ours(&draft).unwrap_or(false) {
        let _ = fs::remove_file(draft); // most often there is none
    }
}

/// For files about users: nobody else reads them, unless the owner wants it so.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.write(true);
    options
}

fn lock(file: &File) -> Result<(), StoreError> {
    match file.try_lock() {
        Err(fs::TryLockError::WouldBlock) => Err(StoreError::InUse),
        _ => Ok(()), // some file systems have no locks
    }
}

/// Where the new file grows.
fn draft(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".fable-draft");
    path.with_file_name(name)
}

/// Whether there is nothing at the place of a draft, or what an attempt to make a store can have left.
fn is_ours(draft: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(draft) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error),
        Ok(found) if !found.is_file() => Ok(false),
        Ok(_) => {
            let mut start = Vec::new();
            File::open(draft)?.take(MAGIC.len() as u64).read_to_end(&mut start)?;
            // redb writes the magic number last.
            Ok(start == MAGIC || start.iter().all(|byte| *byte == 0))
        }
    }
}

/// The folder of a file, to make a rename durable.
struct Folder(#[cfg(unix)] File);

#[cfg(unix)]
impl Folder {
    fn open(path: &Path) -> io::Result<Self> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Ok(Self(File::open(folder)?))
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync_all()
    }
}

#[cfg(not(unix))]
impl Folder {
    fn open(_: &Path) -> io::Result<Self> {
        Ok(Self())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

/// Whether two files are one.
#[cfg(unix)]
pub(super) fn same(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
pub(super) fn same(_: &Metadata, _: &Metadata) -> bool {
    true
}

/// A file with a second name cannot be erased by putting another into its place.
#[cfg(unix)]
fn check_links(file: &Metadata) -> Result<(), StoreError> {
    use std::os::unix::fs::MetadataExt;
    if file.nlink() > 1 { Err(StoreError::Linked) } else { Ok(()) }
}

#[cfg(not(unix))]
fn check_links(_: &Metadata) -> Result<(), StoreError> {
    Ok(())
}
