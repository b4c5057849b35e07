//! The files of a store: opened by one process at a time, made and replaced in one step.

use super::StoreError;
use super::frame::MAGIC;
use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The file of a store's keys.
pub(super) fn keys(path: &Path) -> PathBuf {
    beside(path, "", ".key")
}

/// The file of a store's index.
pub(super) fn index(path: &Path) -> PathBuf {
    beside(path, "", ".index")
}

/// Where a new file grows.
fn draft(path: &Path) -> PathBuf {
    beside(path, ".", ".fable-draft")
}

fn beside(path: &Path, before: &str, after: &str) -> PathBuf {
    let mut name = OsString::from(before);
    name.push(path.file_name().unwrap_or_default());
    name.push(after);
    path.with_file_name(name)
}

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

/// Opens an existing file: to write it, as the one process that has it, or only to look at it.
pub(super) fn open(path: &Path, write: bool) -> Result<File, StoreError> {
    let found = fs::metadata(path).map_err(|error| missing(path, error))?;
    if !found.is_file() {
        return Err(StoreError::Foreign);
    }
    if found.len() == 0 {
        return Err(StoreError::Missing(path.to_owned()));
    }
    let file = OpenOptions::new().read(true).write(write).open(path).map_err(|error| missing(path, error))?;
    if write {
        lock(&file)?;
        // Its owner may have put another file here since: then this one is not the store any more.
        if !same(&file.metadata()?, &fs::metadata(path)?) {
            return Err(StoreError::InUse);
        }
    }
    Ok(file)
}

/// Opens the file of the keys. A new store makes one, or takes the one that is there.
pub(super) fn open_keys(path: &Path, write: bool, create: bool) -> Result<(File, bool), StoreError> {
    let path = keys(path);
    match OpenOptions::new().read(true).write(write).open(&path) {
        Ok(file) if file.metadata()?.len() > 0 || !create => Ok((file, false)),
        Ok(file) => Ok((file, true)),
        Err(error) if error.kind() == io::ErrorKind::NotFound && create => {
            Ok((private().read(true).create_new(true).open(&path)?, true))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(StoreError::Key(
            "its key file is missing: it is the file beside it whose name ends in .key, and without it nothing can be read",
        )),
        Err(error) => Err(error.into()),
    }
}

/// Opens the file of the index, or makes one.
pub(super) fn open_index(path: &Path, write: bool) -> io::Result<File> {
    if write {
        private().read(true).create(true).truncate(false).open(index(path))
    } else {
        File::open(index(path))
    }
}

/// Claims a path at which there is nothing, or an empty file; `None` if there is more. The file is locked, and whether it was made
/// here is told.
pub(super) fn claim(path: &Path) -> Result<Option<(File, bool)>, StoreError> {
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
    Ok(Some((claim, ours)))
}

/// A new file that will take the place of another one. It is locked all the time.
#[derive(Debug)]
pub(super) struct Draft {
    path: PathBuf,
    new: PathBuf,
    folder: Folder,
    placed: bool,
}

impl Draft {
    /// Begins one, with the permissions of the old file.
    pub(super) fn begin(path: &Path) -> Result<(Self, File), StoreError> {
        let old = fs::metadata(path)?;
        let folder = Folder::open(path)?; // what can fail has to fail before the new file is there
        let draft = draft(path);
        if !is_ours(&draft)? {
            return Err(io::Error::new(
                io::ErrorKind::AlreadyExists,
                format!("{} is in the way", draft.display()),
            )
            .into());
        }
        let file = private().read(true).create(true).truncate(false).open(&draft)?;
        lock(&file)?;
        file.set_len(0)?;
        file.set_permissions(old.permissions())?;
        Ok((Self { path: path.to_owned(), new: draft, folder, placed: false }, file))
    }

    /// Puts it into the place of the old one: whoever opens the path sees the old file or the new one and nothing in between,
    /// whenever the process or the machine stops. An error means that the old one is still there; the result says whether the new one
    /// is known to be there on disk.
    pub(super) fn place(mut self) -> Result<io::Result<()>, StoreError> {
        fs::rename(&self.new, &self.path)?;
        self.placed = true;
        Ok(self.folder.sync().or_else(|_| self.folder.sync()))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.placed {
            clean(&self.path);
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

/// Makes the names of new files in a folder durable.
pub(super) fn sync_folder(path: &Path) -> io::Result<()> {
    Folder::open(path)?.sync()
}

/// For files about users: nobody else reads them, unless the owner wants it so.
pub(super) fn private() -> OpenOptions {
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

/// Whether there is nothing at the place of a draft, or what an attempt to make a store can have left.
fn is_ours(draft: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(draft) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error),
        Ok(found) if !found.is_file() => Ok(false),
        Ok(_) => {
            let mut start = Vec::new();
            File::open(draft)?.take(MAGIC.len() as u64).read_to_end(&mut start)?;
            Ok(start == MAGIC || start.iter().all(|byte| *byte == 0))
        }
    }
}

/// The folder of a file, to make a rename durable.
#[derive(Debug)]
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
