//! fable-std from its archive: a catalog by its name, a user who decides and learns, and a store on disk.

use fable_core::{Feasible, HostUser, Policy, Settings};
use fable_std::store::{FileStore, Identity, Store};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let catalog = fable_std::catalogs::open("agent")?;
    let policy = Policy::<f32>::new(catalog, Settings::default())?;
    let mut ana = HostUser::<f32>::new(&policy, "ana")?;
    let context = catalog.context("coding", [("risk", 0.1), ("ambiguity", 0.2), ("memory_need", 0.7), ("tool_need", 0.3)])?;
    let decision = ana.decide(&context, &Feasible::all(catalog))?;
    ana.feedback(decision.id, 0.5)?;
    let store = FileStore::open(std::path::Path::new("users.fable"), &Identity::new(&policy))?;
    assert_eq!(Store::users(&store)?, 0);
    println!("chose action {}, and opened a store", decision.action.0);
    Ok(())
}
