//! Any text is a name, a decision id or neither; what is one prints as it was read.
#![no_main]

use fable_core::DecisionId;
use fable_core::catalog::AGENT;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(id) = text.parse::<DecisionId>() {
        assert_eq!(id.to_string(), text);
    }
    if let Some(coordinate) = AGENT.coordinate(text) {
        assert_eq!(AGENT.coordinate_name(coordinate).unwrap().to_string(), text);
    }
    if let Some(action) = AGENT.action_named(text) {
        assert_eq!(AGENT.action_name(action).unwrap().to_string(), text);
    }
});
