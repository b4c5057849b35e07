//! Any bytes are a request or an error of the service. An id is echoed as it was sent.

use fable_core::catalog::AGENT;
use fable_std::serve::{Code, Incoming};

pub fn line(data: &[u8]) {
    let Incoming { id, op } = Incoming::read(&AGENT, data);
    if let Some(id) = id {
        assert!(data.windows(id.get().len()).any(|part| part == id.get().as_bytes()));
    }
    if let Err(refusal) = op {
        assert!(
            refusal.code != Code::Internal && refusal.code != Code::Storage && !refusal.message.is_empty()
        );
    }
}
