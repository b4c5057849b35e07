//! Invalid input, one line per fault. Each fault has its own error and leaves every bit of the state
//! unchanged.

use crate::common::{MIXED, Random, bits, start};
use fable_core::catalog::{
    AGENT, Block, Catalog, CatalogError, Component, Condition, Contrast, Definition, Part, TAU2, Term, Value,
};
use fable_core::catalog::{ActionSet, ContrastSet, Direction, FeasibleError, OnboardingError, StandingRule};
use fable_core::host::HostLearner;
use fable_core::journal::{Command, Event, Observation};
use fable_core::posterior::{Factor, PosteriorError, Prior, PriorError};
use fable_core::preference::{Certifier, Comparison, Probe, Verdict};
use fable_core::record::Verifier;
use fable_core::{
    Action, Context, DecisionId, Feasible, HostUser, Policy, Promotion, Request, Rule, Settings, Statement,
    UserError, Workspace,
};

#[test]
fn a_vacant_learner_does_nothing() {
    let policy = Policy::<f32>::new(&MIXED, Settings::PAPER).unwrap();
    let vacant = UserError::Posterior(PosteriorError::NotStarted);
    let mut learner = HostLearner::<f32, 2>::for_policy(&policy);
    assert_eq!(learner.bind(&policy, &mut vec![0.0; MIXED.workspace_len()]).map(|_| ()), Err(vacant));
    assert!(HostUser::from_learner(&policy, learner).is_err_and(|error| error == vacant));
    for length in [MIXED.state_len() - 1, MIXED.state_len() + 1] {
        let mut wrong = HostLearner::<f32, 2>::from_storage(vec![0.0; length]);
        let expected = PosteriorError::StorageLength { expected: MIXED.state_len() };
        assert_eq!(wrong.start(&policy, 1), Err(UserError::Posterior(expected)));
        assert_eq!(wrong, HostLearner::from_storage(vec![0.0; length]));
    }
}

/// A load that is given up leaves nobody: every verb and every command says so.
#[test]
fn a_user_who_was_given_up_does_nothing() {
    let policy = Policy::<f32>::new(&MIXED, Settings::PAPER).unwrap();
    let mut ana = start::<f32, 2>(&policy, 1);
    let (context, all) = (Context::new(&MIXED, Some(1), &[0.5, 0.5]).unwrap(), Feasible::all(&MIXED));
    let request = Request::new(&context, &all);
    let direction = Direction::new(&MIXED, [(0, 1.0)]).unwrap();
    let statement = Statement { direction, response: 0.5, precision: 1.0 };
    let observation = Observation { context, action: Action(0), baseline: 0.0, reward: 0.5, weight: 1.0 };
    let comparison = Comparison::declared(&MIXED, 0).unwrap();
    let id = ana.decide(&context, &all).unwrap().id;
    let mut verifier = Verifier::new(&policy);
    verifier.push(&ana.to_bytes()).unwrap();
    let mut user = ana.user();
    drop(user.load(verifier.finish().unwrap()).unwrap());

    let vacant = UserError::Posterior(PosteriorError::NotStarted);
    assert!(user.state().is_empty());
    assert_eq!(user.decide(&request), Err(vacant));
    assert_eq!(user.decide_or_default(&context, &[], None, 0), Err(vacant));
    assert_eq!(user.recommend(&request), Err(vacant));
    assert_eq!(user.predict(&context, Action(0), None), Err(vacant));
    assert_eq!(user.propensities(&request, 1, &mut [0.0; 24]), Err(vacant));
    assert_eq!(user.assess(&comparison), Err(vacant));
    assert_eq!(user.explain(id, None, None).map(|_| ()), Err(vacant));
    assert_eq!(user.observe(&context, Action(0), 0.5), Err(vacant));
    assert_eq!(user.onboard(&statement), Err(vacant));
    assert_eq!(user.unlearn(observation), Err(vacant));
    assert_eq!(user.expire(0), Err(vacant));
    assert_eq!(user.promote(0), Err(vacant));
    assert_eq!(user.forget(), Err(vacant));
    assert_eq!(user.snapshot().map(|_| ()), Err(vacant));
    let gone = Event::Forget { guarantee_fingerprint: 0 };
    assert_eq!(user.check(&gone).map(|_| ()), Err(vacant));
    for mut command in [
        Command::decide(request),
        Command::feedback(id, 0.5),
        Command::observe(&context, Action(0), 0.5),
        Command::onboard(&[statement]),
        Command::onboard(&[]),
        Command::expire(0),
        Command::promote(0),
        Command::unlearn(observation, true, 1.0, ContrastSet::EMPTY),
        Command::event(gone.clone()),
        Command::forget(),
    ] {
        assert_eq!(user.next(&mut command).map(|_| ()), Err(vacant), "{command:?}");
    }
}

fn decided(round: u32, action: Action, baseline: f64, context: Context, coins: &[Probe]) -> Event {
    Event::Decision { round, action, baseline, context, time: 0, probes: coins.iter().copied().collect() }
}

fn taken_back(observation: Observation) -> Event {
    Event::Unlearn { observation, imputed: false, kept: 1.0, probed: ContrastSet::EMPTY }
}

const UNFOUNDED: Promotion = Promotion {
    contrast: 0,
    verdict: Verdict::For,
    valid: true,
    by: Certifier::Ellipsoid,
    round: 3,
    time: 0,
    evidence: 99,
    lower: 0.1,
    upper: 0.2,
};

#[test]
fn coins_that_cannot_have_been_tossed_are_refused() {
    let policy = Policy::<f32>::new(&TAU2, Settings::PAPER).unwrap();
    let mut ana = start::<f32, 2>(&policy, 1);
    ana.user().check(&Event::Permissions(TAU2.all_actions())).unwrap().apply();
    let (context, before) = (TAU2.context(None, []).unwrap(), ana.clone());
    let coin = |contrast: u8, expected: f32| Probe { contrast, expected };
    let concise = Action(1); // current_turn, standard, concise
    let mut refuse = |coins: &[Probe], error: UserError| {
        assert_eq!(
            ana.user().check(&decided(1, concise, 0.0, context, coins)).map(|_| ()),
            Err(error),
            "{coins:?}"
        );
        assert_eq!(ana, before);
    };
    for bad in [f32::NAN, 1.01, -1.01, f32::INFINITY] {
        refuse(&[coin(3, bad)], UserError::Probe);
    }
    refuse(&[coin(6, 0.0)], UserError::Probe); // there is no such contrast
    refuse(&[coin(4, 0.0)], UserError::Probe); // guided over direct
    refuse(&[coin(3, 0.0), coin(5, 0.0)], UserError::Probe); // two for one component
    refuse(&[coin(3, 0.0), coin(0, 0.0)], UserError::Probe); // style before memory
    let mut unguided = TAU2.all_actions();
    unguided.remove(Action(9)); // conversation, standard, direct: what both coins together may play
    ana.user().check(&Event::Permissions(unguided)).unwrap().apply();
    let both = [coin(0, 0.0), coin(3, 0.0)];
    assert_eq!(
        ana.user().check(&decided(1, concise, 0.0, context, &both)).map(|_| ()),
        Err(UserError::Forbidden)
    );
    ana.user().check(&decided(1, concise, 0.0, context, &both[1..])).unwrap().apply();
    let user = ana.user();
    assert_eq!(user.probe_outcomes(user.id(1)).count(), 1);
}

/// One line per fault: the error it gives, and the state untouched.
#[test]
fn every_fault_has_its_own_error() {
    let policy = Policy::<f32>::new(&MIXED, Settings::PAPER).unwrap();
    let mut ana = start::<f32, 2>(&policy, 1);
    let context = Context::new(&MIXED, Some(1), &[0.5, 0.5]).unwrap();
    let all = Feasible::all(&MIXED);
    let decisions: Vec<_> =
        (0..3).map(|_| ana.user().decide(&Request::new(&context, &all)).unwrap()).collect();
    ana.user().feedback(decisions[1].id, 0.5).unwrap();
    let before = ana.clone();
    let next = DecisionId { user: 1, incarnation: 0, site: 0, round: 4 };
    for id in [DecisionId { user: 2, ..next }, DecisionId { incarnation: 1, round: 2, ..next }] {
        assert_eq!(ana.user().feedback(id, 0.0), Err(UserError::UnknownDecision));
        assert_eq!(ana, before);
    }
    let mut refuse = |event: Event, error: UserError| {
        assert_eq!(ana.user().check(&event).map(|_| ()), Err(error), "{event:?}");
        assert_eq!(bits(&ana), bits(&before));
        assert_eq!(ana, before);
    };
    let decision =
        |round: u32, action: u16, baseline: f64| decided(round, Action(action), baseline, context, &[]);
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1.0 + f64::EPSILON, -1.5] {
        refuse(Event::Feedback { round: 3, reward: bad, weight: 1.0 }, UserError::Reward);
        let observation = Observation { context, action: Action(0), baseline: 0.0, reward: bad, weight: 1.0 };
        refuse(Event::Observation(observation), UserError::Reward);
    }
    for bad in [f32::NAN, f32::INFINITY, 0.0, -1.0, 100.1, 1e-4] {
        refuse(Event::Feedback { round: 3, reward: 0.0, weight: bad }, UserError::Weight);
    }
    for bad in [f64::NAN, f64::INFINITY, 2e4] {
        let observation = Observation { context, action: Action(0), baseline: bad, reward: 0.0, weight: 1.0 };
        refuse(Event::Observation(observation), UserError::Baseline);
        refuse(taken_back(observation), UserError::Baseline);
        refuse(decision(4, 0, bad), UserError::Baseline);
    }
    refuse(Event::Feedback { round: 1, reward: 0.0, weight: 1.0 }, UserError::ExpiredDecision);
    refuse(Event::Feedback { round: 2, reward: 0.0, weight: 1.0 }, UserError::DuplicateFeedback);
    for round in [0, 4, u32::MAX] {
        refuse(Event::Feedback { round, reward: 0.0, weight: 1.0 }, UserError::UnknownDecision);
        refuse(Event::Expiry { round, imputed: None }, UserError::UnknownDecision);
    }
    for round in [0, 3, 5] {
        refuse(decision(round, 0, 0.0), UserError::OutOfOrder);
    }
    refuse(Event::Expiry { round: 1, imputed: None }, UserError::ExpiredDecision);
    refuse(Event::Expiry { round: 2, imputed: None }, UserError::DuplicateFeedback);
    refuse(Event::Expiry { round: 3, imputed: Some(1.5) }, UserError::Reward);
    let never = Observation { context, action: Action(0), baseline: 0.0, reward: 0.5, weight: 1.0 };
    let never = Observation { action: Action(u16::from(decisions[1].action == Action(0))), ..never };
    refuse(taken_back(Observation { weight: 100.0, ..never }), UserError::NotLearned);
    for (contrast, by) in [0, 1, 255]
        .into_iter()
        .flat_map(|contrast| [Certifier::Ellipsoid, Certifier::Probes].map(|by| (contrast, by)))
    {
        let error = if contrast == 255 { UserError::UnknownContrast } else { UserError::NotPromoted };
        refuse(Event::Promotion(Promotion { contrast, by, ..UNFOUNDED }), error);
    }
    let foreign = Context::new(&AGENT, Some(7), &[0.5; 4]).unwrap();
    refuse(decided(4, Action(0), 0.0, foreign, &[]), UserError::ForeignContext);
    refuse(decision(4, 24, 0.0), UserError::UnknownAction);
    refuse(Event::Permissions(ActionSet::EMPTY), UserError::Feasible(FeasibleError::Empty));
    refuse(Event::Permissions(ActionSet::first(25)), UserError::Feasible(FeasibleError::UnknownAction));
    let direction = Direction::new(&MIXED, [(0, 1.0)]).unwrap();
    let statement = Statement { direction: direction.clone(), response: 0.5, precision: 1.0 };
    for bad in [f64::NAN, 1.01, f64::NEG_INFINITY] {
        let event = Event::Onboarding(Statement { response: bad, ..statement.clone() });
        refuse(event, UserError::Onboarding(OnboardingError::Response));
    }
    for bad in [f64::NAN, -1.0, f64::INFINITY, 1e-7, 1e7] {
        let event = Event::Onboarding(Statement { precision: bad, ..statement.clone() });
        refuse(event, UserError::Onboarding(OnboardingError::Precision));
    }
    let far = Direction::new(&AGENT, [(253, 1.0)]).unwrap();
    let event = Event::Onboarding(Statement { direction: far, ..statement.clone() });
    refuse(event, UserError::Onboarding(OnboardingError::UnknownCoordinate));
    let two_tasks = Direction::new(&TAU2, [(0, 1.0), (20, 1.0)]).unwrap(); // the root of `tau2`, two leaves of this catalog
    refuse(
        Event::Onboarding(Statement { direction: two_tasks, ..statement.clone() }),
        UserError::Onboarding(OnboardingError::TwoTasks),
    );

    // Precision 0 is not a fault: the statement is skipped, and counted.
    let skipped = Event::Onboarding(Statement { precision: 0.0, ..statement });
    assert_eq!(ana.user().check(&skipped).unwrap().apply(), None);
    assert_eq!((bits(&ana), ana.state().events()), (bits(&before), before.state().events() + 1));

    let mut one = ActionSet::EMPTY;
    one.insert(Action(5));
    ana.user().check(&Event::Permissions(one)).unwrap().apply();
    assert_eq!(ana.user().check(&decision(4, 0, 0.0)).map(|_| ()), Err(UserError::Forbidden));
    let mut learner = ana.learner().clone();
    let error = learner.bind(&policy, &mut [0.0; 3]).map(|_| ());
    assert_eq!(error, Err(UserError::Posterior(PosteriorError::WorkspaceLength)));
    let other = Policy::<f32>::new(&MIXED, Settings { noise_variance: 0.3, ..Settings::PAPER }).unwrap();
    let error = learner.bind(&other, &mut vec![0.0; MIXED.workspace_len()]).map(|_| ());
    assert_eq!(error, Err(UserError::ForeignPolicy));
    for (defaults, error) in [
        (vec![0.0; 23], UserError::DefaultCount { expected: 24 }),
        (vec![f64::NAN; 24], UserError::DefaultRange { action: 0 }),
    ] {
        assert_eq!(ana.user().decide(&Request::new(&context, &all).with_defaults(&defaults)), Err(error));
    }
}

#[test]
fn every_bad_prior_has_its_own_error() {
    fn policy(prior: Prior<'_, f64>) -> String {
        Policy::with_prior(&TAU2, Settings::PAPER, prior).map(|_| ()).unwrap_err().to_string()
    }
    let (mean, precision) = ([0.0; 29], [1.0; 29]);
    let mut bad = mean;
    bad[3] = f64::NAN;
    assert_eq!(
        policy(Prior::Diagonal { mean: &bad, precision: &precision }),
        PriorError::Mean { coordinate: 3 }.to_string()
    );
    bad[3] = -1.0;
    assert_eq!(
        policy(Prior::Diagonal { mean: &mean, precision: &bad }),
        PriorError::Precision { coordinate: 0 }.to_string()
    );
    let mut workspace = Workspace::from_storage(vec![0.0; TAU2.workspace_len()]);
    let mut reject = |factor: &[f64]| Factor::new(TAU2.layout(), factor, &mut workspace).unwrap_err();
    assert_eq!(reject(&[1.0; 463]), PriorError::Length { expected: 464 });
    let mut factor = [0.0; 464];
    factor[..29].fill(1.0);
    factor[400] = f64::INFINITY;
    assert_eq!(reject(&factor), PriorError::Entry { index: 400 });
    factor[400] = 0.0;
    factor[28] = -1.0;
    assert_eq!(reject(&factor), PriorError::Precision { coordinate: 28 });
    factor[28] = 1.0;
    factor[463] = 2e4; // the information row of the last coordinate
    assert!(matches!(reject(&factor), PriorError::Mean { .. }));
    assert_eq!(
        Factor::new(TAU2.layout(), &[1.0; 464], &mut Workspace::from_storage([0.0; 3])),
        Err(PriorError::WorkspaceLength)
    );
    factor[463] = 0.0;
    let fitting = Factor::new(TAU2.layout(), &factor, &mut workspace).unwrap();
    let error = Policy::with_prior(&AGENT, Settings::PAPER, Prior::Factor(fitting)).map(|_| ()).unwrap_err();
    assert_eq!(error.to_string(), PriorError::Length { expected: AGENT.layout().packed_len() }.to_string());
}

/// One definition per mistake.
#[test]
#[expect(clippy::too_many_lines, reason = "every mistake, in one place")]
fn every_bad_catalog_has_its_own_error() {
    const VALUES: &[Value<'static>] = &[Value::new("v", "", 0.0), Value::new("w", "", 0.0)];
    const COMPONENTS: &[Component<'static>] =
        &[Component::new("a", VALUES), Component::new("b", VALUES).with_null(0)];
    let good = Definition {
        name: "good",
        components: COMPONENTS,
        tasks: &["x"],
        signals: &["s"],
        blocks: &[Block::main(0)],
        terms: &[],
        contrasts: &[],
        rules: &[],
    };
    let reject = |definition: Definition<'_>| Catalog::try_new(definition).map(|_| ()).unwrap_err();
    let blocks = |blocks: &[Block]| reject(Definition { blocks, ..good });
    let terms = |when: Condition<'_>, weight: f64, parts: &[Part<'_>]| {
        reject(Definition { terms: &[Term::new(weight, when, parts)], ..good })
    };
    let names: Vec<String> = (0..300).map(|index| format!("n{index}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let many: Vec<Value<'_>> = names.iter().map(|name| Value::new(name, "", 0.0)).collect();
    let part: &[Part<'_>] = &[Part::new(0, &[0])];

    assert!(Catalog::try_new(good).is_ok());
    assert_eq!(reject(Definition { components: &[], ..good }), CatalogError::ComponentCount);
    assert_eq!(
        reject(Definition { components: &[Component::new("a", &[])], ..good }),
        CatalogError::ValueCount
    );
    assert_eq!(
        reject(Definition { components: &[Component::new("a", &many[..257])], ..good }),
        CatalogError::ValueCount
    );
    let wide = [Component::new("a", &many[..33]), Component::new("b", &many[..32])];
    assert_eq!(reject(Definition { components: &wide, ..good }), CatalogError::ActionCount);
    assert_eq!(reject(Definition { tasks: &names[..65], ..good }), CatalogError::TaskCount);
    assert_eq!(reject(Definition { signals: &names[..17], ..good }), CatalogError::SignalCount);
    assert_eq!(blocks(&[]), CatalogError::BlockCount);
    assert_eq!(blocks(&[Block::main(0); 129]), CatalogError::BlockCount);
    for name in ["", "a b", "a=b", "a*b", "ä"] {
        assert_eq!(reject(Definition { name, ..good }), CatalogError::BadName);
        assert_eq!(reject(Definition { tasks: &[name], ..good }), CatalogError::BadName);
        assert_eq!(
            reject(Definition { components: &[Component::new(name, VALUES)], ..good }),
            CatalogError::BadName
        );
    }
    assert_eq!(reject(Definition { tasks: &["x", "x"], ..good }), CatalogError::DuplicateName);
    assert_eq!(reject(Definition { signals: &["task"], ..good }), CatalogError::ReservedName);
    assert_eq!(
        reject(Definition { components: &[Component::new("task", VALUES)], ..good }),
        CatalogError::ReservedName
    );
    assert_eq!(
        reject(Definition { components: &[Component::new("a", VALUES).with_null(2)], ..good }),
        CatalogError::UnknownNull
    );
    for block in [Block::main(2), Block::main(200), Block::pair(0, 0), Block::product(&[])] {
        assert_eq!(blocks(&[block]), CatalogError::BlockComponents);
    }
    assert_eq!(blocks(&[Block::main(0).scaled_by(1)]), CatalogError::BlockSignal);
    assert_eq!(
        reject(Definition { tasks: &[], blocks: &[Block::main(0).per_task()], ..good }),
        CatalogError::BlockTask
    );
    assert_eq!(blocks(&[Block::main(0).without_null()]), CatalogError::BlockNull);
    assert_eq!(blocks(&[Block::pair(0, 1), Block::complete()]), CatalogError::DuplicateBlock);
    assert_eq!(blocks(&[Block::main(1), Block::main(1).without_null()]), CatalogError::DuplicateBlock);
    for cost in [-0.1, 100.1, f64::NAN, f64::INFINITY] {
        assert_eq!(
            reject(Definition { components: &[Component::new("a", &[Value::new("v", "", cost)])], ..good }),
            CatalogError::BadCost
        );
    }
    for weight in [-100.1, f64::NAN, f64::INFINITY] {
        assert_eq!(terms(Condition::Always, weight, part), CatalogError::BadWeight);
    }
    for threshold in [-0.1, 1.1, f32::NAN] {
        assert_eq!(terms(Condition::Below(0, threshold), 0.1, part), CatalogError::BadThreshold);
    }
    for when in [Condition::AtMost(1, 0.5), Condition::Tasks(&[1]), Condition::Tasks(&[])] {
        assert_eq!(terms(when, 0.1, part), CatalogError::TermCondition);
    }
    for parts in [
        &[][..],
        &[Part::new(2, &[0])],
        &[Part::new(0, &[2])],
        &[Part::new(0, &[])],
        &[Part::new(0, &[1, 1])],
    ] {
        assert_eq!(terms(Condition::Always, 0.1, parts), CatalogError::TermValues);
    }
    let pair: &[Part<'_>] = &[Part::new(0, &[0]), Part::new(1, &[1])];
    let fine = Rule::forbid("r", pair).always();
    assert!(Catalog::try_new(Definition { rules: &[fine], ..good }).is_ok());
    let rule = |rule: StandingRule<'_>| reject(Definition { rules: &[rule], ..good });
    assert_eq!(reject(Definition { rules: &[fine; 33], ..good }), CatalogError::RuleCount);
    assert_eq!(reject(Definition { rules: &[fine, fine], ..good }), CatalogError::DuplicateName);
    assert_eq!(rule(Rule::forbid("r s", pair).always()), CatalogError::BadName);
    for threshold in [-0.1, 1.1, f32::NAN] {
        assert_eq!(
            rule(Rule::forbid("r", pair).when(Condition::Below(0, threshold))),
            CatalogError::BadThreshold
        );
    }
    for when in [Condition::AtMost(1, 0.5), Condition::Tasks(&[1]), Condition::Tasks(&[])] {
        assert_eq!(rule(Rule::forbid("r", pair).when(when)), CatalogError::RuleCondition);
    }
    for parts in [
        &[][..],
        &[Part::new(2, &[0])],
        &[Part::new(0, &[2])],
        &[Part::new(0, &[])],
        &[Part::new(0, &[1, 1])],
    ] {
        assert_eq!(rule(Rule::require("r", parts).always()), CatalogError::RuleValues);
    }
    assert_eq!(
        rule(Rule::forbid("r", &[Part::new(0, &[0]), Part::new(0, &[1])]).always()),
        CatalogError::RuleValues
    );
    // What holds somewhere must leave something with what holds everywhere.
    assert_eq!(
        rule(Rule::forbid("r", &[Part::new(0, &[0, 1])]).when(Condition::Above(0, 0.5))),
        CatalogError::RuleLeavesNothing
    );
    let (zero, one) = (&[Part::new(0, &[0])][..], &[Part::new(0, &[1])][..]);
    let both = |when| [Rule::require("a", one).when(when), Rule::require("b", zero).always()];
    assert_eq!(
        reject(Definition { rules: &both(Condition::Always), ..good }),
        CatalogError::RuleLeavesNothing
    );
    assert_eq!(
        reject(Definition { rules: &both(Condition::Above(0, 0.5)), ..good }),
        CatalogError::RuleLeavesNothing
    );
    let apart = [
        Rule::require("a", one).when(Condition::Above(0, 0.5)),
        Rule::require("b", zero).when(Condition::AtMost(0, 0.5)),
    ];
    assert!(Catalog::try_new(Definition { rules: &apart, ..good }).is_ok());
    let either = [Rule::only("a", one).always(), Rule::only("b", zero).always()];
    assert!(Catalog::try_new(Definition { rules: &either, ..good }).is_ok());

    let contrast = |prefer: &'static [u8], over: &'static [u8], task: Option<u8>, signals: &[f32]| {
        reject(Definition { contrasts: &[Contrast::new("c", prefer, over).when(task, signals)], ..good })
    };
    let fine = Contrast::new("c", &[0, 1], &[0, 0]).when(Some(0), &[0.5]);
    assert!(Catalog::try_new(Definition { contrasts: &[fine], ..good }).is_ok());
    assert_eq!(reject(Definition { contrasts: &[fine; 65], ..good }), CatalogError::ContrastCount);
    assert_eq!(reject(Definition { contrasts: &[fine, fine], ..good }), CatalogError::DuplicateName);
    assert_eq!(
        reject(Definition { contrasts: &[Contrast { name: "c d", ..fine }], ..good }),
        CatalogError::BadName
    );
    for (prefer, over) in [
        (&[0, 1][..], &[0, 1][..]),
        (&[0, 1], &[1, 0]),
        (&[0, 2], &[0, 1]),
        (&[0], &[1]),
        (&[0, 1, 0], &[0, 0, 0]),
    ] {
        assert_eq!(contrast(prefer, over, None, &[0.5]), CatalogError::ContrastActions);
    }
    for (task, signals) in
        [(Some(1), &[0.5][..]), (None, &[]), (None, &[0.5, 0.5]), (None, &[f32::NAN]), (None, &[1.1])]
    {
        assert_eq!(contrast(&[0, 1], &[0, 0], task, signals), CatalogError::ContrastContext);
    }
    let tasks = &names[..64];
    let large = [Component::new("a", &many[..1]), Component::new("b", &many[..256])];
    let dimension = Definition { components: &large, tasks, blocks: &[Block::main(1).per_task()], ..good };
    assert_eq!(reject(dimension), CatalogError::DimensionTooLarge);
}

/// The largest reference score that settings and a catalog allow is a valid baseline for decisions and
/// learning.
#[test]
fn the_heaviest_reference_works() {
    let values = [Value::new("v", "", 100.0), Value::new("w", "", 100.0)];
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let components = names.map(|name| Component::new(name, &values));
    let part = [Part::new(0, &[0, 1])];
    let terms = [Term::new(-100.0, Condition::Always, &part); 64];
    let definition = Definition {
        name: "heavy",
        components: &components,
        blocks: &[Block::main(0)],
        terms: &terms,
        ..Definition::EMPTY
    };
    let catalog = Catalog::try_new(definition).unwrap();
    let policy = Policy::<f32>::new(&catalog, Settings { cost_weight: 10.0, ..Settings::PAPER }).unwrap();
    let mut ana = start::<f32, 2>(&policy, 1);
    let context = Context::new(&catalog, None, &[]).unwrap();
    let decision = ana.user().decide(&Request::new(&context, &Feasible::all(&catalog))).unwrap();
    assert_eq!(decision.baseline, -14_400.0);
    assert!(ana.user().feedback(decision.id, 1.0).is_ok());
}

/// The promised sizes: 8 components, 1,024 actions, 64 tasks and 16 signals in one catalog that works.
#[test]
fn the_largest_catalog_works() {
    let names: Vec<String> = (0..64).map(|index| format!("n{index}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let pair = [Value::new("off", "", 0.0), Value::new("on", "", 0.1)];
    let eight: Vec<Value<'_>> = names[..8].iter().map(|name| Value::new(name, "", 0.01)).collect();
    let components: Vec<Component<'_>> =
        (0..8).map(|index| Component::new(names[index], if index == 3 { &eight } else { &pair })).collect();
    let mut blocks: Vec<Block> = (0..8)
        .flat_map(|index| {
            [Block::main(index), Block::main(index).per_task(), Block::main(index).scaled_by(15 - index)]
        })
        .collect();
    blocks.extend([Block::pair(0, 7), Block::product(&[1, 3, 5])]);
    let definition = Definition {
        name: "largest",
        components: &components,
        tasks: &names,
        signals: &names[..16],
        blocks: &blocks,
        ..Definition::EMPTY
    };
    let catalog = Catalog::try_new(definition).unwrap();
    assert_eq!(catalog.actions(), 1024);
    let policy = Policy::<f32>::new(&catalog, Settings::PAPER).unwrap();
    let mut ana = start::<f32, 2>(&policy, 1);
    let mut random = Random(8);
    for _ in 0..20 {
        let context = random.context(&catalog);
        let decision = ana.user().decide(&Request::new(&context, &Feasible::all(&catalog))).unwrap();
        ana.user().feedback(decision.id, random.signed()).unwrap();
    }
    assert_eq!(ana.state().observations(), 20);
}

/// The last of 256 values has the largest position that there is; nothing counts past it.
#[test]
fn a_component_has_as_many_values_as_it_can() {
    let names: Vec<String> = (0..256).map(|value| value.to_string()).collect();
    let values: Vec<Value<'_>> = names.iter().map(|name| Value::new(name, "", 0.0)).collect();
    let components = [Component::new("byte", &values)];
    let definition =
        Definition { name: "bytes", components: &components, blocks: &[Block::main(0)], ..Definition::EMPTY };
    let bytes = Catalog::try_new(definition).unwrap();
    let mut ana = HostUser::<f32>::new(&Policy::new(&bytes, Settings::default()).unwrap(), "ana").unwrap();
    let context = bytes.context(None, []).unwrap();
    let last = Feasible::new(&bytes, &[Rule::require("last", &[Part::new(0, &[255])])]).unwrap();
    for _ in 0..3 {
        let decision = ana.decide(&context, &last).unwrap();
        assert_eq!(decision.action, Action(255));
        ana.feedback(decision.id, 1.0).unwrap();
    }
    assert_eq!(ana.state().observations(), 3);
}
