//! Host adapters for [`fable_core`]: what the `fable` command is made of. No rule of the method lives here.
//!
//! Two parts need an allocator and nothing else, and are crates of their own, for browsers too: [`text`] reads requests,
//! preferences and reactions by fixed rules and says things in words, [`simulate`] is the simulated user.

/// An error of one kind inside another.
macro_rules! from {
    ($whole:ty: $($error:ty => $variant:ident),+) => {
        $(impl From<$error> for $whole {
            fn from(error: $error) -> Self {
                Self::$variant(error)
            }
        })+
    };
}
pub(crate) use from;

pub mod catalogs;
pub mod chat;
pub mod device;
pub mod evaluate;
pub mod identify;
pub mod inspect;
pub mod llm;
pub mod mcp;
pub mod memory;
pub mod merge;
pub mod prior;
pub mod prior_file;
pub mod proxy;
pub mod replay;
pub mod rewards;
pub mod rules;
pub mod serve;
pub mod settings;
pub mod spca;
pub mod store;
pub mod svg;
pub mod toml_file;

pub use fable_simulate as simulate;
pub use fable_text as text;
