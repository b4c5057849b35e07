//! Standing rules, against an oracle that reads only names and signals. For every request, only actions that
//! the rules leave are recorded, drawn, tossed, recommended and given a probability.

use crate::common::{Random, bits, start};
use fable_core::catalog::{ActionSet, FeasibleError, StandingRule, When, stopped_by};
use fable_core::catalog::{Block, Component, Condition, Contrast, Definition, Part, Value};
use fable_core::journal::{Command, Event};
use fable_core::preference::{MAX_USER_RULES, UserRule};
use fable_core::{
    Action, Catalog, Context, Exploration, Feasible, HostUser, Policy, Request, Rule, Scalar, Settings,
    UserError,
};

const COMPONENTS: &[Component<'static>] = &[
    Component::new(
        "tool",
        &[Value::new("none", "", 0.0), Value::new("web", "", 0.1), Value::new("pay", "", 0.2)],
    ),
    Component::new(
        "style",
        &[Value::new("direct", "", 0.0), Value::new("brief", "", 0.0), Value::new("confirm", "", 0.1)],
    ),
    Component::new("memory", &[Value::new("off", "", 0.0), Value::new("on", "", 0.0)]),
];

/// Mandatory confirmation above a risk, an incompatible pair, a task in which two things alone may be done.
const RULES: &[StandingRule<'static>] = &[
    Rule::require("confirm_risks", &[Part::new(1, &[2])]).when(Condition::Above(0, 0.7)),
    Rule::forbid("no_paying_from_memory", &[Part::new(0, &[2]), Part::new(2, &[1])]).always(),
    Rule::only("plain", &[Part::new(0, &[0])]).when(Condition::Tasks(&[1])),
    Rule::only("looked_up", &[Part::new(0, &[1]), Part::new(1, &[0, 1])]).when(Condition::Tasks(&[1, 2])),
    Rule::forbid("calm", &[Part::new(1, &[1])]).when(Condition::AtMost(1, 0.25)),
    Rule::forbid("busy", &[Part::new(2, &[0])]).when(Condition::AtLeast(1, 0.75)),
    Rule::forbid("safe", &[Part::new(1, &[2])]).when(Condition::Below(0, 0.125)),
];

const CLERK: Catalog<'static> = Catalog::new(Definition {
    name: "clerk",
    components: COMPONENTS,
    tasks: &["pay", "read", "search"],
    signals: &["risk", "noise"],
    blocks: &[Block::main(0), Block::main(1), Block::main(2), Block::main(1).per_task(), Block::pair(0, 1)],
    contrasts: &[
        Contrast::new("web_over_none", &[1, 0, 0], &[0, 0, 0]).when(None, &[0.5, 0.5]),
        Contrast::new("confirm_over_direct", &[0, 2, 0], &[0, 0, 0]).when(None, &[0.5, 0.5]),
        Contrast::new("on_over_off", &[0, 0, 1], &[0, 0, 0]).when(None, &[0.5, 0.5]),
    ],
    rules: RULES,
    ..Definition::EMPTY
});

/// What the rules of [`RULES`] leave, said once more by hand.
fn declared(context: &Context, [tool, style, memory]: [u8; 3]) -> bool {
    let (risk, noise) = (context.signals()[0], context.signals()[1]);
    let (plain, looked_up) = (tool == 0, tool == 1 && style < 2);
    let listed = match context.task() {
        Some(1) => plain || looked_up,
        Some(2) => looked_up,
        _ => true,
    };
    (risk <= 0.7 || style == 2)
        && !(tool == 2 && memory == 1)
        && listed
        && (noise > 0.25 || style != 1)
        && (noise < 0.75 || memory != 0)
        && (risk >= 0.125 || style != 2)
}

fn wished(context: &Context, rules: &[UserRule], values: [u8; 3]) -> bool {
    let holds = |when: When| match when {
        When::Always => true,
        When::Task(task) => context.task() == Some(task),
        When::Signal(signal) => context.signals()[signal] > 0.5,
    };
    rules.iter().all(|rule| match *rule {
        UserRule::Never { component, value, when } => !holds(when) || values[usize::from(component)] != value,
        UserRule::Always { component, when, .. } => {
            // Several values in one place are alternatives.
            let has = |other: &UserRule| matches!(*other, UserRule::Always { component: c, value, when: w } if (c, w) == (component, when) && values[usize::from(c)] == value);
            !holds(when) || rules.iter().any(has)
        }
        _ => true,
    })
}

fn left(context: &Context, rules: &[UserRule], asked: &Feasible) -> ActionSet {
    let mut set = ActionSet::EMPTY;
    for action in asked.set().iter() {
        let values: [u8; 3] = CLERK.values(action).unwrap().as_slice().try_into().unwrap();
        if declared(context, values) && wished(context, rules, values) {
            set.insert(action);
        }
    }
    set
}

fn any_wish(random: &mut Random) -> UserRule {
    let component = random.below(3);
    let value = u8::try_from(random.below(COMPONENTS[component].values.len())).unwrap();
    let component = u8::try_from(component).unwrap();
    let when = match random.below(3) {
        0 => When::Always,
        1 => When::Task(random.below(3)),
        _ => When::Signal(random.below(2)),
    };
    if random.below(3) == 0 {
        UserRule::Always { component, value, when }
    } else {
        UserRule::Never { component, value, when }
    }
}

fn any_feasible(random: &mut Random) -> Feasible {
    loop {
        let mut set = ActionSet::EMPTY;
        for action in CLERK.all_actions().iter() {
            if random.below(4) > 0 {
                set.insert(action);
            }
        }
        if let Ok(feasible) = Feasible::from_set(&CLERK, set) {
            return feasible;
        }
    }
}

fn a_life<T: Scalar>(settings: Settings<'static>, seed: u64) {
    let (policy, mut random) = (Policy::<T>::new(&CLERK, settings).unwrap(), Random(seed));
    let mut ana: HostUser<'_, T, 4> = start(&policy, seed);
    let mut rules = Vec::<UserRule>::new();
    let mut narrowed = 0;
    let mut refused = 0;
    let mut tossed = 0;
    for _ in 0..400 {
        if random.below(8) == 0 {
            let next: Vec<UserRule> = (0..random.below(6)).map(|_| any_wish(&mut random)).collect();
            ana.user().run(&mut Command::user_rules(&next)).unwrap();
            // None stands twice.
            rules = ana.learner().user_rules().collect();
            assert!(
                rules.iter().all(|rule| next.contains(rule)) && next.iter().all(|rule| rules.contains(rule))
            );
            assert!((0..rules.len()).all(|place| !rules[..place].contains(&rules[place])));
        }
        let (context, asked) = (random.context(&CLERK), any_feasible(&mut random));
        let (expected, request) = (left(&context, &rules, &asked), Request::new(&context, &asked));
        let mut chances = [0.0; 18];
        if expected.is_empty() {
            let empty = UserError::Feasible(FeasibleError::Empty);
            let before = bits(&ana);
            assert_eq!(ana.user().run(&mut Command::decide(request)), Err(empty));
            assert_eq!(ana.user().decide(&request), Err(empty));
            assert_eq!(ana.user().recommend(&request), Err(empty));
            assert_eq!(ana.user().propensities(&request, 10, &mut chances), Err(empty));
            assert_eq!(bits(&ana), before);
            refused += 1;
            continue;
        }
        narrowed += usize::from(expected != *asked.set());

        // The best of what is left, by the score of each alone.
        let (best, score) = ana.user().recommend(&request).unwrap();
        for action in expected.iter() {
            let predicted = ana.user().predict(&context, action, None).unwrap().mean;
            assert!(predicted.to_f64() <= score.to_f64() + 1e-4, "{action:?} {best:?}");
        }
        assert!(expected.contains(best));
        ana.user().propensities(&request, 20, &mut chances).unwrap();
        for (index, chance) in chances.iter().enumerate() {
            assert!(
                *chance == 0.0 || expected.contains(Action(u16::try_from(index).unwrap())),
                "{index} {chance}"
            );
        }
        assert!((chances.iter().sum::<f64>() - 1.0).abs() < 1e-9);

        // The two ways to decide are one.
        let mut direct = ana.clone();
        let decision = direct.user().decide(&request).unwrap();
        let (mut command, mut user) = (Command::decide(request), ana.user());
        while let Some(step) = user.next(&mut command).unwrap() {
            if let Event::Permissions(set) = step.event() {
                assert_eq!(*set, expected);
            }
            step.apply();
        }
        assert_eq!(command.decision(&user), Some(decision));
        assert!(*user.state().permissions() == expected && expected.contains(decision.action));
        tossed += command.probes().len();
        assert!(direct == ana);

        // Why not another one: its rule has a name.
        let other = random.action(&CLERK);
        let mut user = ana.user();
        let why = user.explain(decision.id, None, Some(other)).unwrap();
        assert_eq!(why.feasible, expected.contains(other));
        let values: [u8; 3] = CLERK.values(other).unwrap().as_slice().try_into().unwrap();
        assert_eq!(why.stopped_by_catalog().is_none(), declared(&context, values));
        if let Some(rule) = why.stopped_by_catalog() {
            assert!(why.to_string().contains(&format!(", not feasible: {}\n", rule.name)));
            assert_eq!(stopped_by(&CLERK, RULES, &context, other), Some(rule));
        }
        assert_eq!(*why.context(), context);
        assert_eq!(user.forbidding_rule(&context, other).is_none(), wished(&context, &rules, values));
        ana.feedback(decision.id, random.signed()).unwrap();

        // It is kept: bytes and back.
        let again = HostUser::<T, 4>::restore(&policy, &ana.to_bytes()).unwrap();
        assert!(again == ana);
    }
    assert!(narrowed > 100 && refused > 10, "{narrowed} {refused}");
    assert!(settings.probe == 0.0 || tossed > 20, "{tossed}");
    ana.user().forget().unwrap();
    assert_eq!(ana.learner().user_rules().count(), 0);
}

#[test]
fn everything_that_chooses_obeys() {
    let drawn = Settings { exploration: Exploration::Constant(0.5), probe: 0.0, ..Settings::DEFAULT };
    for (seed, settings) in [
        Settings::DEFAULT,
        drawn,
        Settings { probe: 1.0, ..Settings::DEFAULT },
        Settings { probe: 1.0, ..drawn },
        Settings::PAPER,
    ]
    .into_iter()
    .enumerate()
    {
        a_life::<f64>(settings, seed as u64);
        a_life::<f32>(settings, seed as u64 + 100);
    }
}

/// The rules that a catalog does not have cost nothing: the same bits as without the field.
#[test]
fn a_fingerprint_covers_rules_and_is_the_old_one_without() {
    let without = Catalog::try_new(Definition { rules: &[], ..*CLERK.definition() }).unwrap();
    assert_ne!(without.fingerprint(), CLERK.fingerprint());
    let mut prints = vec![without.fingerprint(), CLERK.fingerprint()];
    let pattern: &[Part<'_>] = &[Part::new(0, &[1])];
    for rule in [
        Rule::forbid("a", pattern).always(),
        Rule::forbid("b", pattern).always(),
        Rule::require("a", pattern).always(),
        Rule::only("a", pattern).always(),
        Rule::forbid("a", &[Part::new(0, &[2])]).always(),
        Rule::forbid("a", &[Part::new(0, &[1]), Part::new(1, &[0])]).always(),
        Rule::forbid("a", pattern).when(Condition::Above(0, 0.5)),
        Rule::forbid("a", pattern).when(Condition::AtLeast(0, 0.5)),
        Rule::forbid("a", pattern).when(Condition::Above(0, 0.25)),
    ] {
        prints.push(
            Catalog::try_new(Definition { rules: &[rule], ..*CLERK.definition() }).unwrap().fingerprint(),
        );
    }
    let count = prints.len();
    prints.sort_unstable();
    prints.dedup();
    assert_eq!(prints.len(), count);
}

/// A journal cannot make a decision that the catalog forbids. If rules of catalog and host leave no action,
/// `decide_or_default` returns `None`.
#[test]
fn no_event_gets_past_a_rule() {
    const DIRECT: &[Rule<'static>] = &[Rule::require("direct", &[Part::new(1, &[0])])];
    let policy = Policy::<f64>::new(&CLERK, Settings::DEFAULT).unwrap();
    let mut ana: HostUser<'_, f64, 4> = start(&policy, 1);
    let context = Context::new(&CLERK, None, &[0.9, 0.5]).unwrap();
    let mut user = ana.user();
    user.check(&Event::Permissions(CLERK.all_actions())).unwrap().apply();
    let decision = |action| Event::Decision {
        round: 1,
        action: Action(action),
        baseline: 0.0,
        context,
        time: 0,
        probes: fable_core::preference::Probes::new(),
    };
    assert_eq!(user.check(&decision(0)).map(|_| ()), Err(UserError::Forbidden));
    assert!(user.check(&decision(4)).is_ok()); // none, confirm
    assert_eq!(user.decide_or_default(&context, DIRECT, None, 0), Ok(None));
}

#[test]
fn user_rules_are_checked() {
    let policy = Policy::<f64>::new(&CLERK, Settings::DEFAULT).unwrap();
    let mut ana: HostUser<'_, f64, 4> = start(&policy, 1);
    let never = |component, value, when| UserRule::Never { component, value, when };
    let before = bits(&ana);
    for wrong in [
        never(3, 0, When::Always),
        never(0, 3, When::Always),
        never(0, 0, When::Task(3)),
        never(0, 0, When::Task(usize::MAX)),
        never(0, 0, When::Signal(2)),
    ] {
        let mut command = [never(0, 0, When::Always), wrong];
        assert_eq!(
            ana.user().run(&mut Command::user_rules(&command)),
            Err(UserError::UnknownRule),
            "{wrong:?}"
        );
        command.reverse();
        assert_eq!(
            ana.user().run(&mut Command::user_rules(&command)),
            Err(UserError::UnknownRule),
            "{wrong:?}"
        );
    }
    assert!(ana.learner().user_rules().count() == 0 && bits(&ana) == before);
    let one = never(0, 1, When::Always).code();
    let rule = |code, stands| Event::UserRule { code, stands };
    let mut user = ana.user();
    assert_eq!(user.check(&rule(one, false)).map(|_| ()), Err(UserError::RuleMissing));
    user.check(&rule(one, true)).unwrap().apply();
    assert_eq!(user.check(&rule(one, true)).map(|_| ()), Err(UserError::RuleExists));
    for code in [0, 1, u32::MAX, one | 1 << 20] {
        assert_eq!(user.check(&rule(code, true)).map(|_| ()), Err(UserError::UnknownRule), "{code}");
    }
    // No more than there is room for, whether all at once or one by one.
    let many: Vec<UserRule> = (0..7)
        .flat_map(|place| (0..5).map(move |value| (place, value)))
        .map(|(place, value)| {
            let when = match place {
                0..3 => When::Task(place),
                3..5 => When::Signal(place - 3),
                _ => When::Always,
            };
            let (component, value) = if value < 3 { (u8::from(place == 6), value) } else { (2, value - 3) };
            if place == 6 {
                UserRule::Always { component, value, when }
            } else {
                never(component, value, when)
            }
        })
        .collect();
    let many = &many[..MAX_USER_RULES + 3];
    assert_eq!(user.run(&mut Command::user_rules(many)), Err(UserError::RulesFull));
    assert_eq!(user.user_rules().count(), 1);
    user.run(&mut Command::user_rules(&many[..MAX_USER_RULES])).unwrap();
    assert_eq!(user.user_rules().count(), MAX_USER_RULES);
    assert_eq!(user.check(&rule(UserRule::Off.code(), true)).map(|_| ()), Err(UserError::RulesFull));
    user.run(&mut Command::user_rules(&[])).unwrap();
    assert_eq!(user.user_rules().count(), 0);
}

#[test]
fn codes_are_a_promise() {
    for (rule, code) in [
        (UserRule::Never { component: 0, value: 0, when: When::Always }, 1 << 18),
        (
            UserRule::Never { component: 7, value: 255, when: When::Task(63) },
            1 << 18 | 64 << 11 | 7 << 8 | 255,
        ),
        (
            UserRule::Always { component: 1, value: 2, when: When::Signal(15) },
            2 << 18 | 80 << 11 | 1 << 8 | 2,
        ),
        (UserRule::Off, 3 << 18),
        (UserRule::Remember(true), 3 << 18 | 1),
        (UserRule::Remember(false), 3 << 18 | 2),
    ] {
        assert_eq!((rule.code(), UserRule::from_code(code)), (code, Some(rule)));
    }
    for code in 0..1 << 20 {
        assert!(UserRule::from_code(code).is_none_or(|rule| rule.code() == code), "{code}");
    }
}

#[test]
fn who_is_off_is_left_alone() {
    let policy = Policy::<f64>::new(&CLERK, Settings::DEFAULT).unwrap();
    let mut ana: HostUser<'_, f64, 4> = start(&policy, 1);
    let (context, all) = (Context::new(&CLERK, None, &[0.5, 0.5]).unwrap(), Feasible::all(&CLERK));
    let decision = ana.decide(&context, &all).unwrap();
    ana.user().run(&mut Command::user_rules(&[UserRule::Off])).unwrap();
    let (before, off) = (bits(&ana), Err(UserError::Off));
    let request = Request::new(&context, &all);
    assert_eq!(ana.user().decide(&request).map(drop), off);
    assert_eq!(ana.user().run(&mut Command::decide(request)), off);
    assert_eq!(ana.user().recommend(&request).map(drop), off);
    assert_eq!(ana.user().feedback(decision.id, 1.0).map(drop), off);
    assert_eq!(ana.user().run(&mut Command::feedback(decision.id, 1.0)), off);
    assert_eq!(ana.user().observe(&context, decision.action, 1.0).map(drop), off);
    assert_eq!(ana.user().run(&mut Command::observe(&context, decision.action, 1.0)), off);
    assert_eq!(bits(&ana), before);
    ana.user().run(&mut Command::user_rules(&[])).unwrap();
    ana.feedback(decision.id, 1.0).unwrap();
}

/// A list with what is no wish is no snapshot.
#[test]
fn a_forged_snapshot_is_refused() {
    let policy = Policy::<f32>::new(&CLERK, Settings::DEFAULT).unwrap();
    let mut ana: HostUser<'_, f32, 4> = start(&policy, 1);
    ana.user().run(&mut Command::user_rules(&[UserRule::Off])).unwrap();
    let bytes = ana.to_bytes();
    let first = bytes.len() - 4 - 4 * MAX_USER_RULES;
    let forged = |place: usize, number: u32| {
        let mut bytes = bytes.clone();
        bytes[first + 4 * place..][..4].copy_from_slice(&number.to_le_bytes());
        let end = bytes.len() - 4;
        let sum = fable_core::record::checksum(&bytes[..end]).to_le_bytes();
        bytes[end..].copy_from_slice(&sum);
        HostUser::<f32, 4>::restore(&policy, &bytes)
    };
    let off = UserRule::Off.code();
    assert!(forged(0, off).is_ok_and(|user| user == ana));
    assert!(forged(1, off + 1).is_ok());
    for (place, number) in
        [(2, off + 4), (0, off | 1 << 31), (0, 1), (1, off + 3), (1, f32::NAN.to_bits()), (0, u32::MAX)]
    {
        assert!(forged(place, number).is_err(), "{place} {number}");
    }
}
