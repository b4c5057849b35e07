//! A device can log whatever it holds: with the feature `defmt` every public type has a `defmt::Format`.

#[path = "../../../fable-core/tests/it/common/declared.rs"]
mod declared;

use std::path::Path;

/// Compiles if every type has a format.
#[cfg(feature = "defmt")]
mod listed {
    use defmt::Format;
    use fable_embedded::entropy::EntropyError;
    use fable_embedded::flash::{
        Blocking, FlashError, FlashStore, Layout, LayoutError, Restored, Seed, StartError, Statistics,
    };
    use fable_embedded::mock::{Mock, MockError};
    use fable_embedded::store::RamError;
    use fable_embedded::{Device, RamStore, ReplyCache, Server};

    const fn has<T: Format>() {}

    const _: () = {
        has::<FlashStore<Mock<4, 1024>>>();
        has::<FlashStore<Blocking<Mock<4, 1024>>>>();
        // has::<Ready<Mock<4, 1024>>>(), which is private: nobody holds one
        has::<EntropyError<FlashError>>();
        has::<FlashError>();
        has::<Restored>();
        has::<Seed>();
        #[cfg(feature = "migrate")]
        has::<fable_embedded::flash::PreviousFirmware<'_, f32, [f32; 4], 8>>();
        has::<StartError>();
        has::<Statistics>();
        has::<Layout>();
        has::<LayoutError>();
        has::<Blocking<Mock<4, 1024>>>();
        has::<Mock<4, 1024>>();
        has::<MockError>();
        has::<ReplyCache>();
        has::<RamError>();
        has::<RamStore<64>>();
        has::<Device<'_, f32, RamStore>>();
        has::<Server<'_, f32, RamStore>>();
    };
}

/// A type that is added has to be added above.
#[test]
fn every_public_type_is_listed() {
    let unlisted =
        declared::unlisted(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), include_str!("format.rs"));
    assert!(unlisted.is_empty(), "{unlisted:?}");
}
