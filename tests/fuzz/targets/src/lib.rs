//! A target for every parser: a function of any bytes that panics when it finds a fault.
//!
//! `tests/replay.rs` replays the inputs of `tests/fuzz/corpus` and changes of them as ordinary tests.
//! libFuzzer searches for new inputs: `tests/fuzz/run`.

mod body;
mod catalog;
mod device;
mod event;
mod exported;
mod feedback;
mod flash;
mod frame;
mod line;
mod llm;
mod log;
mod mcp;
mod memory;
mod merge;
mod metrics;
mod names;
mod place;
mod prior;
mod proxy;
mod rows;
mod seeds;
mod settings;
mod snapshot;
mod store;
mod text;
mod wishes;

pub use seeds::{Seed, corpus, seeds};

/// It panics when the bytes lead to a fault.
pub type Target = fn(&[u8]);

/// All targets by name.
pub const TARGETS: &[(&str, Target)] = &[
    ("body", body::body),
    ("catalog", catalog::catalog),
    ("device", device::device),
    ("event", event::event),
    ("exported", exported::exported),
    ("feedback", feedback::feedback),
    ("flash", flash::flash),
    ("frame", frame::frame),
    ("line", line::line),
    ("llm", llm::llm),
    ("log", log::log),
    ("mcp", mcp::mcp),
    ("memory", memory::memory),
    ("merge", merge::merge),
    ("metrics", metrics::metrics),
    ("names", names::names),
    ("place", place::place),
    ("prior", prior::prior),
    ("proxy", proxy::proxy),
    ("rows", rows::rows),
    ("settings", settings::settings),
    ("snapshot", snapshot::snapshot),
    ("store", store::store),
    ("text", text::text),
    ("wishes", wishes::wishes),
];

/// The longest beginning of the bytes that is UTF-8.
fn prefix(bytes: &[u8]) -> &str {
    bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid())
}

/// CRC-16/IBM-3740.
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0xffff, |sum, byte| {
        (0..8).fold(
            sum ^ u16::from(*byte) << 8,
            |sum, _| if sum & 0x8000 == 0 { sum << 1 } else { sum << 1 ^ 0x1021 },
        )
    })
}
