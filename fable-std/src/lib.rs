//! Host adapters for [`fable_core`]: what the `fable` command is made of. No rule of the method lives here.

pub mod catalogs;
pub mod device;
pub mod evaluate;
pub mod settings;
pub mod simulate;
pub mod toml_file;
pub mod words;
