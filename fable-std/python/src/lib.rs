//! The extension module `fable._fable`: Fable for Python. What every class and method does is said in `python/fable/_fable.pyi`.
//!
//! Nothing of the method is here. `words` and `names` put what a caller gives into the catalog's terms, `life` hands it to
//! `fable_core` while other threads of Python go on, and every error becomes an exception with a code (`fault`).

#![expect(clippy::doc_link_with_quotes, reason = "doc strings are read in Python")]
#![expect(clippy::needless_pass_by_value, reason = "what is made of an argument is owned")]
#![deny(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::todo,
    clippy::unimplemented,
    clippy::unreachable,
    clippy::unwrap_used
)]

mod arrays;
mod asked;
mod catalog;
mod crowd;
mod decision;
mod fault;
mod fit;
mod json;
mod life;
mod look;
mod names;
mod opened;
mod policy;
mod prior;
mod running;
mod store;
mod store_user;
mod tables;
mod text;
mod timing;
mod user;
mod users;
mod words;

use pyo3::prelude::*;

#[pymodule]
fn _fable(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(text::read_context, module)?)?;
    module.add_function(wrap_pyfunction!(text::read_reaction, module)?)?;
    module.add_class::<catalog::Catalog>()?;
    module.add_class::<policy::Policy>()?;
    module.add_class::<prior::Prior>()?;
    module.add_class::<user::User>()?;
    module.add_class::<decision::Decision>()?;
    module.add_class::<decision::Recommendation>()?;
    module.add_class::<users::Users>()?;
    module.add_class::<users::Batch>()?;
    module.add_class::<store::Store>()?;
    module.add_class::<store_user::StoreUser>()?;
    module.add_class::<timing::RustUsers>()?;
    module.add_function(wrap_pyfunction!(policy::remake, module)?)?;
    module.add_function(wrap_pyfunction!(fit::fit_prior, module)?)
}
