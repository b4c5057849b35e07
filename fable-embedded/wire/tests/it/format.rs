//! A device can log every message: with the feature `defmt` every public type has a `defmt::Format`.

#[path = "../../../../fable-core/tests/it/common/declared.rs"]
mod declared;

use std::path::Path;

/// Compiles if every type has a format.
#[cfg(feature = "defmt")]
mod listed {
    use defmt::Format;
    use fable_wire::{
        Draft, Fault, Frame, Hello, Key, Reply, Request, Session, Statistics, StorageFault, StoreUsage,
        WireContext, WireShare,
    };

    const fn has<T: Format>() {}

    const _: () = {
        has::<WireContext>();
        has::<Request>();
        has::<Reply>();
        has::<Hello>();
        has::<Statistics>();
        has::<StoreUsage>();
        has::<WireShare>();
        has::<Frame<'_>>();
        has::<Draft<'_>>();
        has::<Fault>();
        has::<StorageFault>();
        has::<Key>();
        has::<Session>();
    };
}

/// A new type has to be added above.
#[test]
fn every_public_type_is_listed() {
    let unlisted =
        declared::unlisted(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), include_str!("format.rs"));
    assert!(unlisted.is_empty(), "{unlisted:?}");
}
