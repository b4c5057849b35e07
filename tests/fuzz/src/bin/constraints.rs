//! Any bytes are a user's constraints or an error; none of those read is dropped, and they are written and read again as they were.
#![no_main]

use fable_core::catalog::AGENT;
use fable_core::{Effect, Feasible, Rule};
use fable_std::store::constraints::{decode, encode};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|data: &[u8]| {
    let Ok(constraints) = decode(&AGENT, data) else { return };
    let listed = if data.is_empty() { vec![] } else { serde_json::from_slice::<Vec<Value>>(data).unwrap() };
    assert_eq!(constraints.len(), listed.len());
    assert_eq!(decode(&AGENT, &encode(&AGENT, &constraints).unwrap()).unwrap(), constraints);
    for constraint in &constraints {
        // Each is a rule that holds: no action that it is against is left, and all others are.
        let pattern = [constraint.part()];
        let rule = Rule { name: "", effect: constraint.effect, pattern: &pattern };
        let left = Feasible::new(&AGENT, &[rule]).map_or(vec![], |feasible| feasible.set().iter().collect());
        let has = |values: &[u8]| constraint.values.contains(&values[usize::from(constraint.component)]);
        let against = |values: &[u8]| has(values) == (constraint.effect == Effect::Forbid);
        let expected = AGENT.all_actions().iter().filter(|action| !against(&AGENT.values(*action).unwrap()));
        assert_eq!(left, expected.collect::<Vec<_>>());
    }
});
