//! Any bytes are a request or an error of the service; an id is echoed as it was sent.
#![no_main]

use fable_core::catalog::AGENT;
use fable_std::serve::{Code, Incoming};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Incoming { id, op } = Incoming::read(&AGENT, data);
    if let Some(id) = id {
        assert!(data.windows(id.get().len()).any(|part| part == id.get().as_bytes()));
    }
    if let Err(refusal) = op {
        assert!(refusal.code != Code::Internal && refusal.code != Code::Storage && !refusal.message.is_empty());
    }
});
