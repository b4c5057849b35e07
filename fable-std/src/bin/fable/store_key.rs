//! Where the key of a store comes from.

use crate::failure::Failure;
use fable_std::store::{self, Identity, Options, Secret, Store};
use std::path::Path;

/// What `--help` says about it.
pub(crate) const KEYS: &str = "\
The store's key is in the file beside it whose name ends in .key, unless it is given: FABLE_STORE_KEY has 64 hexadecimal digits,
FABLE_STORE_KEY_FILE names a file with them (`openssl rand -hex 32` makes some). A new store keeps to what it is made with.";

/// How stores are opened: with the key of the environment, if there is one.
pub(crate) fn options() -> Result<Options, Failure> {
    let given = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let (text, place) = match (given("FABLE_STORE_KEY"), given("FABLE_STORE_KEY_FILE")) {
        (None, None) => return Ok(Options::default()),
        (Some(_), Some(_)) => {
            return Err(Failure::Mistake("give FABLE_STORE_KEY or FABLE_STORE_KEY_FILE, not both".into()));
        }
        (Some(key), None) => (key.to_string_lossy().into_owned(), "FABLE_STORE_KEY".to_owned()),
        (None, Some(file)) => {
            let path = Path::new(&file);
            let bytes = crate::input::read_within(path, 4096)?;
            (String::from_utf8_lossy(&bytes).into_owned(), path.display().to_string())
        }
    };
    let key = Secret::from_hex(&text)
        .ok_or_else(|| Failure::Mistake(format!("{place}: a key has 64 hexadecimal digits")))?;
    Ok(Options { key: Some(key), ..Options::default() })
}

/// Opens a store of an identity, or makes one.
pub(crate) fn open(place: &Path, identity: &Identity) -> Result<Box<dyn Store>, Failure> {
    Ok(store::open(place, identity, &options()?)?)
}

/// Opens an existing store.
pub(crate) fn open_any(place: &Path) -> Result<Box<dyn Store>, Failure> {
    Ok(store::open_any(place, &options()?)?)
}
