//! Any bytes are a file of settings or a mistake with its place.
//! Settings survive being written and read.

use fable_core::Settings;
use fable_core::catalog::AGENT;
use fable_std::catalogs::SettingsFileError;
use fable_std::settings::{SettingsArguments, write};
use fable_std::toml_file::FileError;
use std::io::Write;

fn read(bytes: &[u8]) -> Result<Settings<'static>, SettingsFileError> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    let path = file.path().to_str().unwrap().to_owned();
    SettingsArguments { settings: Some(path), ..SettingsArguments::default() }.resolve("agent", &AGENT)
}

pub fn settings(data: &[u8]) {
    match read(data) {
        Ok(settings) => assert_eq!(read(write(&settings, &AGENT).as_bytes()).unwrap(), settings),
        Err(SettingsFileError::File(FileError::Mistake(mistake))) => {
            let text = String::from_utf8_lossy(data);
            let line = text.split('\n').nth(mistake.line - 1).unwrap();
            assert!(
                line.starts_with(&mistake.excerpt) && mistake.column <= 1 + line.chars().count(),
                "{mistake:?}"
            );
            assert!(mistake.to_string().ends_with('^') && !mistake.flaw.to_string().is_empty());
        }
        Err(SettingsFileError::NoTable(_)) => {}
        Err(error) => panic!("{error}"),
    }
}
