//! Any text is a catalog or a mistake that can be shown.
//! A catalog survives being written and read.

use fable_std::catalogs::{Arena, read, write};

pub fn catalog(data: &[u8]) {
    let text = crate::prefix(data);
    let arena = Arena::new();
    match read(&arena, "fuzz.toml", text) {
        Ok(catalog) => {
            let again = read(&arena, "again.toml", &write(&catalog)).unwrap();
            assert_eq!(again.definition(), catalog.definition());
            assert_eq!(again.fingerprint(), catalog.fingerprint());
        }
        Err(mistake) => {
            let line = text.split('\n').nth(mistake.line - 1).unwrap();
            assert!(line.starts_with(&mistake.excerpt) && mistake.column <= line.chars().count() + 1);
            assert!(mistake.to_string().ends_with('^'));
        }
    }
}
