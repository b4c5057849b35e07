// The catalog of examples/firmware/src/bin/minimal.rs with the paper's settings, as `fable catalog rust` writes one, but for the
// fingerprint: `tests/c/run` adds it.

/// The catalog `minimal`: 27 actions, 35 coordinates.
pub const CATALOG: fable_core::Catalog<'static> = fable_core::catalog!({
    use fable_core::catalog::{Block, Component, Condition, Definition, Part, Term, Value};
    Definition {
        name: "minimal",
        components: &[
            Component::new(
                "time",
                &[Value::new("later", "", 0.0), Value::new("now", "", 0.05), Value::new("twice", "", 0.1)],
            )
            .with_null(0),
            Component::new(
                "channel",
                &[Value::new("light", "", 0.0), Value::new("sound", "", 0.05), Value::new("voice", "", 0.1)],
            ),
            Component::new(
                "style",
                &[Value::new("brief", "", 0.0), Value::new("plain", "", 0.0), Value::new("kind", "", 0.02)],
            ),
        ],
        tasks: &["morning", "day", "evening"],
        signals: &["urgency", "noise"],
        blocks: &[
            Block::main(0),
            Block::main(1),
            Block::main(2),
            Block::main(1).per_task(),
            Block::main(0).scaled_by(0).without_null(),
            Block::main(2).scaled_by(0),
            Block::main(1).scaled_by(1),
            Block::pair(0, 1),
        ],
        terms: &[
            Term::new(0.2, Condition::Above(0, 0.5), &[Part::new(0, &[1, 2])]),
            Term::new(-0.1, Condition::Above(1, 0.5), &[Part::new(1, &[2])]),
        ],
        ..Definition::EMPTY
    }
});

/// The settings of the learner.
pub const SETTINGS: fable_core::Settings<'static> = fable_core::Settings::PAPER;

/// The policy.
pub static POLICY: fable_core::Policy<'static, f32> = match fable_core::Policy::new(&CATALOG, SETTINGS) {
    Ok(policy) => policy,
    Err(_) => panic!("a setting is out of its range"),
};
