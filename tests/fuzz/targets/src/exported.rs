//! Any bytes are an exported user or an error.
//! A user who was imported is exported again with the same journal.

use fable_core::catalog::TAU2;
use fable_core::record::{HEADER_LEN, Header, Kind, checksum};
use fable_core::{Policy, Settings, user_hash};
use fable_std::store::transfer::{export, import, read};
use fable_std::store::{FileStore, Identity};

/// Bytes before the name: magic, version, incarnation, length of the name.
const NAME: usize = 4 + 1 + 4 + 2;

/// A sound header and checksum are put in, or no mutation would pass them.
/// A user with a prior keeps the header: its fingerprint is that of the policy with the prior.
pub fn exported(data: &[u8]) {
    let _ = read(data);
    let policy = Policy::<f64>::new(&TAU2, Settings::default()).unwrap();
    let mut bytes = data.to_vec();
    let Some([low, high]) = bytes.get(NAME - 2..NAME) else { return };
    let header = NAME + usize::from(u16::from_le_bytes([*low, *high]));
    let Some(name) = bytes.get(NAME..header).and_then(|name| std::str::from_utf8(name).ok()) else { return };
    let sound = Header::new(Kind::Journal, &policy, user_hash(name), 64).encode();
    if bytes.len() < header + HEADER_LEN + 4 {
        return;
    }
    if Header::decode(&bytes[header..]).is_err() {
        bytes[header..header + HEADER_LEN].copy_from_slice(&sound);
    }
    let end = bytes.len() - 4;
    let sum = checksum(&bytes[..end]).to_le_bytes();
    bytes[end..].copy_from_slice(&sum);
    let store = FileStore::in_memory(&Identity::new(&policy)).unwrap();
    let Ok(name) = import(&store, &policy, &bytes) else {
        assert!(store.users() == 0 && store.priors().is_empty());
        return;
    };
    assert!(Header::decode(&bytes[header..]).unwrap().user == user_hash(&name));
    let (one, other) = (read(&bytes).unwrap(), read(&export(&store, &name).unwrap()).unwrap());
    assert_eq!(one.row, other.row);
    assert_eq!(
        (one.journal, one.wishes, one.prior.is_some()),
        (other.journal, other.wishes, other.prior.is_some())
    );
}
