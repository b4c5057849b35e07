//! Migration of everything beside mean and variances: evidence, coins, promotions, rules, waiting decisions
//! and the guarantee.

use fable_core::catalog::When;
use fable_core::catalog::{
    Block, Catalog, Component, Condition, Contrast, Definition, LonePart, Part, Rename, Term, Value,
};
use fable_core::host::HostLearner;
use fable_core::journal::Command;
use fable_core::migrate::{Migrated, Migration};
use fable_core::preference::{Comparison, UserRule, Verdict};
use fable_core::{Action, Context, Feasible, HostUser, Policy, Request, Settings, UserError, user_hash};

const fn value(name: &'static str) -> Value<'static> {
    Value::new(name, "", 0.1)
}

const TONE: Component<'static> = Component::new("tone", &[value("warm"), value("cold"), value("dry")]);
const LENGTH: Component<'static> = Component::new("length", &[value("short"), value("long")]);

const V1: Definition<'static> = Definition {
    name: "letter",
    components: &[TONE, LENGTH],
    tasks: &["work", "home"],
    signals: &["haste", "mood"],
    blocks: &[Block::main(0), Block::main(1), Block::main(0).per_task()],
    contrasts: &[
        Contrast::new("warm_over_cold", &[0, 0], &[1, 0]).when(None, &[0.0, 0.0]),
        Contrast::new("dry_over_cold", &[2, 0], &[1, 0]).when(None, &[0.0, 0.0]),
        Contrast::new("long_over_short", &[1, 1], &[1, 0]).when(Some(1), &[0.75, 0.0]),
    ],
    ..Definition::EMPTY
};

/// Another order everywhere, two names, one value and one task more.
const NEXT: Definition<'static> = Definition {
    components: &[
        Component::new("size", &[value("long"), value("short")]),
        Component::new("tone", &[value("dry"), value("new"), value("frosty"), value("warm")]),
    ],
    tasks: &["home", "travel", "work"],
    signals: &["mood", "haste"],
    blocks: &[Block::main(1).per_task(), Block::main(1), Block::main(0)],
    contrasts: &[
        Contrast::new("long_over_short", &[0, 2], &[1, 2]).when(Some(0), &[0.0, 0.75]),
        Contrast::new("tone", &[1, 3], &[1, 2]).when(None, &[0.0, 0.0]),
        Contrast::new("dry_over_cold", &[1, 0], &[1, 2]).when(None, &[0.0, 0.0]),
    ],
    ..V1
};

/// Without "dry", the task "home" and the signal "haste".
const LESS: Definition<'static> = Definition {
    components: &[Component::new("tone", &[value("warm"), value("cold")]), LENGTH],
    tasks: &["work"],
    signals: &["mood"],
    contrasts: &[
        Contrast::new("warm_over_cold", &[0, 0], &[1, 0]).when(None, &[0.0]),
        Contrast::new("dry_over_cold", &[0, 1], &[1, 1]).when(None, &[0.0]), // says something else
        Contrast::new("long_over_short", &[1, 1], &[1, 0]).when(None, &[0.0]),
    ],
    ..V1
};

/// A signal and a component more.
const MORE: Definition<'static> = Definition {
    signals: &["light", "haste", "mood"],
    blocks: &[Block::main(1), Block::main(2), Block::main(1).per_task(), Block::main(0)],
    contrasts: &[],
    ..V1
};

const EXTRA: Component<'static> = Component::new("colour", &[value("red"), value("none")]);

const VALUES: &[Value<'static>] = &[value("warm"), value("cold"), value("dry"), value("new")];

const ONE: &[Block] = &[Block::main(0), Block::main(0).per_task()];

const SHORT: &[Value<'static>] = &[value("short"), value("other")];

fn catalog(definition: Definition<'static>) -> &'static Catalog<'static> {
    Box::leak(Box::new(Catalog::try_new(definition).unwrap()))
}

fn policy(definition: Definition<'static>) -> Policy<'static, f64> {
    policy_with(definition, Settings::default())
}

fn policy_with(definition: Definition<'static>, settings: Settings<'static>) -> Policy<'static, f64> {
    let settings = Settings { base_precision: settings.base_precision.or(Some(4.0)), probe: 0.5, ..settings };
    Policy::new(catalog(definition), settings).unwrap()
}

/// A user with a certain preference, rules, coins and three decisions that wait.
fn ana(policy: &Policy<'static, f64>) -> HostUser<'static, f64> {
    let mut ana = HostUser::<f64>::new(policy, "ana").unwrap();
    let catalog = policy.catalog();
    let never = UserRule::Never { component: 0, value: 2, when: When::Task(1) };
    let always = UserRule::Always { component: 1, value: 1, when: When::Signal(0) };
    ana.user().run(&mut Command::user_rules(&[never, always, UserRule::Remember(true)])).unwrap();
    let all = Feasible::all(catalog);
    for round in 0..400 {
        let context = Context::new(catalog, Some(1), &[0.25, 0.5]).unwrap();
        let decision = ana.user().decide(&Request::new(&context, &all).at(round)).unwrap();
        let warm = catalog.values(decision.action).unwrap()[0] == 0;
        ana.feedback(decision.id, if warm { 0.9 } else { -0.9 }).unwrap();
    }
    for task in [None, Some(0), Some(1)] {
        let context = Context::new(catalog, task, &[0.25, 1.0]).unwrap();
        ana.user().decide(&Request::new(&context, &all).at(500)).unwrap();
    }
    ana
}

fn migrate(
    ana: &HostUser<'static, f64>,
    new: &Policy<'static, f64>,
    renames: &[Rename<'_>],
) -> (HostUser<'static, f64>, Migrated) {
    let migration = Migration::new(ana.policy(), new, renames).unwrap();
    let (mut from, mut to) = (ana.learner().clone(), HostLearner::for_policy(new));
    let migrated = migration.carry(&mut from, &mut to, &mut vec![0.0; migration.workspace_len()]).unwrap();
    // What is migrated can be stored and read again.
    let bytes = to.to_bytes().unwrap();
    let mut again = HostLearner::<f64>::for_policy(new);
    again.restore(new, &bytes).unwrap();
    assert_eq!(again, to);
    (HostUser::from_learner(new, to).unwrap(), migrated)
}

#[test]
fn what_is_known_beside_the_numbers_goes_along() {
    let mut before = ana(&policy(V1));
    let promoted = before.learner().profile().to_vec();
    assert!(promoted.iter().any(|promotion| promotion.contrast == 0 && promotion.verdict == Verdict::For));
    let waiting: Vec<_> = before.user().waiting(500).collect();
    assert_eq!(waiting.len(), 3);

    let new = policy(NEXT);
    let renames = [
        Rename::component("length", "size"),
        Rename::value("tone=cold", "tone=frosty"),
        Rename::contrast("warm_over_cold", "tone"),
    ];
    let (mut after, migrated) = migrate(&before, &new, &renames);
    assert_eq!([migrated.contrasts, migrated.promotions, migrated.rules, migrated.waiting], [0; 4]);
    assert!(!migrated.voided && !after.learner().state().is_voided());
    let (old, now) = (before.learner(), after.learner());
    assert_eq!(
        (old.state().rounds(), old.state().observations(), old.state().user()),
        (now.state().rounds(), now.state().observations(), user_hash("ana"))
    );
    assert_eq!(
        (old.state().events(), old.state().site(), old.state().incarnation()),
        (now.state().events(), now.state().site(), now.state().incarnation())
    );
    assert_eq!(now.state().guarantee_fingerprint(), new.guarantee_fingerprint());
    let moved = |contrast: u8| [1, 2, 0][usize::from(contrast)];
    let expected = promoted
        .iter()
        .map(|promotion| fable_core::Promotion { contrast: moved(promotion.contrast), ..*promotion });
    assert!(now.profile().iter().copied().eq(expected));
    let rules: Vec<_> = now.user_rules().collect();
    let never = UserRule::Never { component: 1, value: 0, when: When::Task(0) };
    assert_eq!(
        rules,
        [never, UserRule::Always { component: 0, value: 0, when: When::Signal(1) }, UserRule::Remember(true)]
    );
    assert_eq!((old.state().permissions().len(), now.state().permissions().len()), (4, 4)); // all but "dry", and what may take its place
    for contrast in 0..3_u8 {
        let (own, other) = (
            before.user().trial(contrast.into()).unwrap(),
            after.user().trial(moved(contrast).into()).unwrap(),
        );
        assert_eq!(own, other);
        let (own, other) = (before.policy().catalog(), after.policy().catalog());
        let [own, other] = [(own, contrast), (other, moved(contrast))]
            .map(|(catalog, at)| Comparison::declared(catalog, at.into()).unwrap());
        let (own, other) = (before.user().assess(&own).unwrap(), after.user().assess(&other).unwrap());
        assert!(
            (own.mean - other.mean).abs() < 1e-9 && (own.sd - other.sd).abs() < 1e-9,
            "{own:?} {other:?}"
        );
        assert_eq!((own.evidence, own.beta, own.valid), (other.evidence, other.beta, other.valid));
    }
    // Rewards of before are learned, with the coins that were tossed.
    assert_eq!(after.user().waiting(500).collect::<Vec<_>>(), waiting);
    for id in waiting {
        let coins = |user: &mut HostUser<'_, f64>| {
            user.user().probe_outcomes(id).map(|coin| (coin.preferred, coin.expected)).collect::<Vec<_>>()
        };
        let [own, other] = [coins(&mut before), coins(&mut after)].map(|mut coins| {
            coins.sort_by(|a, b| a.partial_cmp(b).unwrap());
            coins
        });
        assert_eq!(own, other);
        before.feedback(id, 0.5).unwrap();
        after.feedback(id, 0.5).unwrap();
    }
    let last = |user: &HostUser<'_, f64>| user.learner().posterior().log_det_ratio();
    assert!((last(&before) - last(&after)).abs() < 1e-9);
}

#[test]
fn what_is_about_something_that_is_gone_is_dropped_and_counted() {
    let mut before = ana(&policy(V1));
    let ids: Vec<_> = before.user().waiting(500).collect();
    let promoted = before.learner().profile().iter().filter(|promotion| promotion.contrast > 0).count();
    let (mut after, migrated) = migrate(&before, &policy(LESS), &[]);
    assert_eq!((migrated.contrasts, usize::from(migrated.promotions), migrated.rules), (2, promoted, 2));
    assert!(after.learner().user_rules().eq([UserRule::Remember(true)]));
    assert!(after.learner().profile().iter().all(|promotion| promotion.contrast == 0));
    assert_eq!(before.user().trial(0).unwrap().trials, after.user().trial(0).unwrap().trials);
    assert_eq!((after.user().trial(1).unwrap().trials, after.user().trial(2).unwrap().trials), (0, 0));
    // Contexts with "haste" cannot be said any more.
    assert_eq!(migrated.waiting, 3);
    for id in ids {
        assert_eq!(after.feedback(id, 0.5), Err(UserError::ExpiredDecision));
    }
    // And the user goes on.
    let context = Context::new(after.policy().catalog(), Some(0), &[0.5]).unwrap();
    let all = Feasible::all(after.policy().catalog());
    let decision = after.decide(&context, &all).unwrap();
    assert_eq!(decision.id.round, before.learner().state().rounds() + 1);
    after.feedback(decision.id, 0.5).unwrap();
}

#[test]
fn a_new_component_has_its_null_value_in_what_was_decided_before_and_a_new_signal_is_zero() {
    let mut before = ana(&policy(V1));
    let more = |extra: Component<'static>| Definition {
        components: Box::leak(Box::new([extra, TONE, LENGTH])),
        ..MORE
    };
    let (mut after, migrated) = migrate(&before, &policy(more(EXTRA.with_null(1))), &[]);
    assert_eq!((migrated.waiting, migrated.contrasts), (0, 3));
    let ids: Vec<_> = before.user().waiting(500).collect();
    assert_eq!(after.user().waiting(500).collect::<Vec<_>>(), ids);
    for id in ids {
        after.feedback(id, 0.5).unwrap();
    }
    let (_, migrated) = migrate(&before, &policy(more(EXTRA)), &[]);
    assert_eq!(migrated.waiting, 3);
}

#[test]
fn the_guarantee_ends_where_the_model_was_or_becomes_wrong() {
    let old = policy(V1);
    let before = ana(&old);
    assert!(!before.learner().state().is_voided());
    let voided = |definition| migrate(&before, &policy(definition), &[]).1.voided;
    let plain = Definition { contrasts: &[], ..V1 };
    let components: &[Component<'_>] = Box::leak(Box::new([Component::new("tone", VALUES), LENGTH]));
    assert!(!voided(V1));
    assert!(!voided(Definition { components, ..plain }), "a value more");
    assert!(!voided(Definition { tasks: &["home", "travel", "work"], ..plain }), "a task more");
    assert!(!voided(Definition { tasks: &["home"], ..plain }), "a task less");
    // What was not modelled before, or is not any more.
    let blocks: &[Block] = Box::leak(Box::new([V1.blocks, &[Block::pair(0, 1)]].concat()));
    assert!(voided(Definition { blocks, ..plain }), "a block more");
    assert!(voided(Definition { blocks: &V1.blocks[..2], ..plain }), "a block less");
    assert!(voided(Definition { components: &[TONE], blocks: ONE, ..plain }), "a component less");
    let less: &[Component<'_>] = Box::leak(Box::new([Component::new("tone", &VALUES[..2]), LENGTH]));
    // Both tasks have learned about everything. "dry" belongs to each task. "long" is shared and correlates
    // the tasks.
    let mut both = before.clone();
    for task in [0, 1] {
        let context = Context::new(old.catalog(), Some(task), &[0.5, 0.5]).unwrap();
        for action in 0..6 {
            both.user().observe(&context, Action(action), 0.1).unwrap();
        }
    }
    let shorter: &[Component<'_>] = Box::leak(Box::new([TONE, Component::new("length", SHORT)]));
    for (components, tied) in [(less, false), (shorter, true)] {
        let (after, migrated) = migrate(&both, &policy(Definition { components, ..plain }), &[]);
        assert_eq!((migrated.voided, after.learner().state().is_voided()), (tied, tied));
    }
    let other = |settings| migrate(&before, &policy_with(plain, settings), &[]);
    assert!(other(Settings { noise_variance: 0.5, ..Settings::default() }).1.voided);
    // Nothing was learned: nothing can be wrong.
    let fresh = HostUser::<f64>::new(&old, "ben").unwrap();
    assert!(!migrate(&fresh, &policy(Definition { blocks, ..plain }), &[]).1.voided);

    // The promise: the same alpha and a radius that is not smaller.
    for (settings, kept) in [
        (Settings::default(), true),
        (Settings { base_precision: Some(9.0), ..Settings::default() }, true),
        (Settings { base_precision: Some(1.0), ..Settings::default() }, false),
        (Settings { alpha: 0.01, ..Settings::default() }, false),
        (Settings { min_evidence: 20, ..Settings::default() }, false),
    ] {
        let (mut after, _) = migrate(&before, &policy_with(V1, settings), &[]);
        let comparison = Comparison::declared(after.policy().catalog(), 0).unwrap();
        assert_eq!(after.user().assess(&comparison).unwrap().valid, kept, "{settings:?}");
    }
}

#[test]
fn what_only_one_catalog_has_is_named() {
    let [old, next, less] = [V1, NEXT, LESS].map(policy);
    let names = |parts: &mut dyn Iterator<Item = LonePart<'_>>| {
        parts.map(|part| part.to_string()).collect::<Vec<_>>()
    };
    let both =
        |migration: &Migration<'_, f64>| [names(&mut migration.removed()), names(&mut migration.added())];
    let none: [&str; 0] = [];
    let [removed, added] = both(&Migration::new(&old, &less, &[]).unwrap());
    let contrasts = ["contrast dry_over_cold", "contrast long_over_short"];
    assert_eq!(removed, [&["tone=dry", "task=home", "signal haste"], &contrasts[..]].concat());
    assert_eq!(added, contrasts); // they say something else
    let renames = [
        Rename::component("length", "size"),
        Rename::value("tone=cold", "tone=frosty"),
        Rename::contrast("warm_over_cold", "tone"),
    ];
    assert_eq!(
        both(&Migration::new(&old, &next, &renames).unwrap()),
        [&none[..], &["tone=new", "task=travel"]]
    );
    // Without the renames what they are about is on both sides.
    let [removed, added] = both(&Migration::new(&old, &next, &[]).unwrap());
    assert_eq!(removed[..2], ["component length", "tone=cold"]);
    assert_eq!(added[..3], ["component size", "tone=new", "tone=frosty"]);
    assert!(
        removed.contains(&"contrast warm_over_cold".to_owned())
            && added.contains(&"contrast tone".to_owned())
    );
}

/// `V1` with other costs, texts and default scores.
const DEAR: Definition<'static> = Definition {
    components: &[
        Component::new(
            "tone",
            &[Value::new("warm", "Be warm.", 0.9), value("cold"), Value::new("dry", "Be dry.", 0.0)],
        ),
        LENGTH,
    ],
    terms: &[Term::new(0.5, Condition::Always, &[Part::new(1, &[1])])],
    ..V1
};

/// A decision records the chosen action and its score. So a journal written at other costs leads to the same
/// bits, and the user continues.
#[test]
fn costs_texts_and_default_scores_change_without_a_migration() {
    let old = policy(V1);
    let new = policy_with(DEAR, Settings { cost_weight: 2.0, ..Settings::default() });
    assert_eq!((old.fingerprint(), old.catalog().shape()), (new.fingerprint(), new.catalog().shape()));
    assert_ne!(old.catalog().fingerprint(), new.catalog().fingerprint());
    let (mut ana, mut events) = (HostUser::<f64>::new(&old, "ana").unwrap(), vec![]);
    let (mut user, all) = (ana.user(), Feasible::all(old.catalog()));
    for round in 0..50 {
        let context = Context::new(old.catalog(), Some(1), &[0.25, 0.5]).unwrap();
        let mut command = Command::decide(Request::new(&context, &all).at(round));
        while let Some(step) = user.next(&mut command).unwrap() {
            events.push(step.event().clone());
            step.apply();
        }
        let id = user.id(user.state().rounds());
        let mut command = Command::feedback(id, if round % 3 == 0 { 0.5 } else { -0.5 });
        while let Some(step) = user.next(&mut command).unwrap() {
            events.push(step.event().clone());
            step.apply();
        }
    }
    let mut replayed = HostUser::<f64>::new(&new, "ana").unwrap();
    for event in &events {
        replayed.user().check(event).unwrap().apply();
    }
    assert_eq!(replayed.learner(), ana.learner());
    let mut restored = HostUser::<f64>::restore(&new, &ana.to_bytes()).unwrap();
    assert_eq!(restored.learner(), ana.learner());
    let context = Context::new(new.catalog(), Some(1), &[0.25, 0.5]).unwrap();
    let decision = restored.decide(&context, &Feasible::all(new.catalog())).unwrap();
    assert_eq!(decision.baseline, new.baseline(&context, decision.action, None)); // at what things cost now
}
