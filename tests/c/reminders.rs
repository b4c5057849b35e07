// The catalog of examples/firmware/src/bin/minimal.rs with the paper's settings, as `fable catalog rust` writes one, but for the
// fingerprints: `tests/c/run` adds them.

fable_core::catalog! {
    name = "minimal";
    enum Time: "time", null Later { Later = "later", 0.0, ""; Now = "now", 0.05, ""; Twice = "twice", 0.1, ""; }
    enum Channel: "channel" { Light = "light", 0.0, ""; Sound = "sound", 0.05, ""; Voice = "voice", 0.1, ""; }
    enum Style: "style" { Brief = "brief", 0.0, ""; Plain = "plain", 0.0, ""; Kind = "kind", 0.02, ""; }
    tasks { Morning = "morning"; Day = "day"; Evening = "evening"; }
    signals { URGENCY = "urgency"; NOISE = "noise"; }
    blocks = [
        Block::main(Time),
        Block::main(Channel),
        Block::main(Style),
        Block::main(Channel).per_task(),
        Block::main(Time).scaled_by(URGENCY).without_null(),
        Block::main(Style).scaled_by(URGENCY),
        Block::main(Channel).scaled_by(NOISE),
        Block::pair(Time, Channel),
    ];
    terms = [
        Term::new(0.2, Condition::Above(URGENCY, 0.5), &[Part::new(Time, values![Time::Now, Time::Twice])]),
        Term::new(-0.1, Condition::Above(NOISE, 0.5), &[Part::new(Channel, values![Channel::Voice])]),
    ];
    settings = Settings::PAPER;
}
