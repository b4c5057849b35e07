//! Any bytes are the words of a user's rules or an error.
//! No rule is dropped, and all are written and read again as they were.
//! As a wish each rule removes the actions it names and nothing else.

use fable_core::catalog::AGENT;
use fable_core::catalog::Effect;
use fable_core::preference::UserRule;
use fable_core::{Feasible, Rule};
use fable_std::store::wishes::{Wishes, decode};
use serde_json::Value;

pub fn wishes(data: &[u8]) {
    if let Some(code) = data.first_chunk().map(|bytes| u32::from_le_bytes(*bytes)) {
        assert!(UserRule::from_code(code).is_none_or(|wish| wish.code() == code));
    }
    let Ok(constraints) = decode(&AGENT, data) else { return };
    let listed = if data.is_empty() {
        0
    } else {
        serde_json::from_slice::<Value>(data).unwrap()["rules"].as_array().unwrap().len()
    };
    assert_eq!(constraints.len(), listed);
    let wishes = Wishes { rules: constraints.clone(), ..Wishes::default() };
    assert_eq!(decode(&AGENT, &wishes.encode(&AGENT).unwrap()).unwrap(), constraints);
    for constraint in &constraints {
        assert!(constraint.wishes().all(|wish| UserRule::from_code(wish.code()) == Some(wish)));
        // Each is a rule that holds: no action that it is against is left, and all others are.
        let pattern = [constraint.part()];
        let rule = Rule { name: "", effect: constraint.effect, pattern: &pattern };
        let left = Feasible::new(&AGENT, &[rule]).map_or(vec![], |feasible| feasible.set().iter().collect());
        let has = |values: &[u8]| constraint.values.contains(&values[usize::from(constraint.component)]);
        let against = |values: &[u8]| has(values) == (constraint.effect == Effect::Forbid);
        let expected = AGENT.all_actions().iter().filter(|action| !against(&AGENT.values(*action).unwrap()));
        assert_eq!(left, expected.collect::<Vec<_>>());
    }
}
