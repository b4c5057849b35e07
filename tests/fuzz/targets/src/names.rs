//! Any text is a name, a decision id or neither. A name or an id prints as it was read.

use fable_core::DecisionId;
use fable_core::catalog::AGENT;

pub fn names(data: &[u8]) {
    let text = crate::prefix(data);
    if let Ok(id) = text.parse::<DecisionId>() {
        assert_eq!(id.to_string(), text);
    }
    if let Some(bytes) = text.as_bytes().first_chunk::<20>() {
        let number = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let user = u64::from(number(0)) << 32 | u64::from(number(4));
        let id = DecisionId { user, incarnation: number(8), site: number(12), round: number(16) };
        assert!(id.to_string().parse::<DecisionId>().map_or(id.round == 0, |read| read == id), "{id}");
    }
    if let Some(coordinate) = AGENT.coordinate(text) {
        assert_eq!(AGENT.coordinate_name(coordinate).unwrap().to_string(), text);
    }
    if let Some(action) = AGENT.action_named(text) {
        assert_eq!(AGENT.action_name(action).unwrap().to_string(), text);
    }
}
