//! `tau2` and its next version, and a user who goes from one to the other.

use crate::user::Person;
use crate::{ADAPTING, Fnv, Outcome, RING, SEED, outcome, run};
use fable_core::catalog::{Block, Catalog, Component, Contrast, Definition, Rename, TAU2, Value};
use fable_core::migrate::Migration;
use fable_core::posterior::Storage;
use fable_core::{Feasible, Learner, Policy, Request, Scalar, Settings};

/// `tau2` with everything that can happen to a catalog: a value is gone, one is new, one has another name; components, values and blocks
/// stand in another order; one contrast is gone, one is new.
pub const NEXT: Catalog<'static> = Catalog::new(Definition {
    name: "tau2",
    components: &[
        Component::new(
            "style",
            &[
                Value::new("concise", "Answer briefly, the outcome first.", 0.0),
                Value::new("formal", "Answer formally.", 0.0),
                Value::new("direct", "Answer directly.", 0.0),
            ],
        ),
        Component::new(
            "memory",
            &[
                Value::new("dialogue", "Consider the whole conversation.", 0.02),
                Value::new("current_turn", "Consider only the customer's current message.", 0.0),
            ],
        ),
        Component::new(
            "tool",
            &[
                Value::new("verify", "Verify facts with a tool before you act on them.", 0.05),
                Value::new("standard", "Use the tools as you usually would.", 0.0),
                Value::new("ask_if_missing", "Ask the customer when a needed fact is missing.", 0.12),
            ],
        ),
    ],
    blocks: &[
        Block::pair(1, 2),
        Block::pair(0, 1),
        Block::main(2),
        Block::pair(0, 2),
        Block::main(1),
        Block::main(0),
    ],
    contrasts: &[
        Contrast::new("concise_over_direct", &[0, 1, 1], &[2, 1, 1]),
        Contrast::new("formal_over_direct", &[1, 1, 1], &[2, 1, 1]),
        Contrast::new("verify_over_standard", &[2, 1, 0], &[2, 1, 1]),
        Contrast::new("conversation_over_current_turn", &[2, 0, 1], &[2, 1, 1]),
    ],
    ..Definition::EMPTY
});

/// What has another name.
pub const RENAMES: &[Rename<'static>] = &[Rename::value("memory=conversation", "memory=dialogue")];

/// The policies before and after.
///
/// # Panics
/// Never: the settings are in range.
#[must_use]
pub fn policies<T: Scalar>(seed: u32) -> [Policy<'static, T>; 2] {
    let settings = Settings { seed: u64::from(seed), ..ADAPTING };
    [&TAU2, &NEXT].map(|catalog| Policy::new(catalog, settings).expect("settings in range"))
}

/// The life of [`tau2_adapting`](crate::tau2_adapting), a migration to [`NEXT`], and 40 rounds after it. The workspace has room for both.
///
/// # Panics
/// When `fable-core` refuses what the run asks for, which is a failure like another outcome.
pub fn tau2_migrated<T: Scalar, S: Storage<T>, Z: Storage<T>>(
    learner: &mut Learner<T, S, RING>,
    next: &mut Learner<T, Z, RING>,
    workspace: &mut impl AsMut<[T]>,
) -> Outcome {
    run(&crate::script::TAU2_SCRIPT, ADAPTING, SEED, learner, workspace);
    let [old, new] = &policies(SEED);
    let migration = Migration::new(old, new, RENAMES).expect("renames of parts that are there");
    next.clear();
    let migrated = migration.carry(learner, next, workspace).expect("learners of the two policies");
    let mut decisions = Fnv::new();
    let counts = [
        migrated.kept,
        migrated.added,
        migrated.removed,
        migrated.contrasts,
        migrated.promotions,
        migrated.waiting,
    ];
    for count in counts {
        decisions.add(u64::from(count));
    }
    let (mut person, all) = (Person::new(&NEXT, SEED), Feasible::all(&NEXT));
    let mut user = next.bind(new, workspace).expect("a migrated learner");
    for _ in 0..40 {
        let request = person.request();
        let decision = user.decide(&Request::new(&request.context, &all)).expect("a decision");
        decisions.add(u64::from(decision.action.0));
        user.feedback(decision.id, person.reward(&request, decision.action)).expect("a waiting decision");
    }
    outcome(next, &decisions)
}
