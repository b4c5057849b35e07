//! Direct verbs and commands whose events are stored lead to the same bits. A dropped step has no effect, a
//! refused command changes nothing, and a replay of the stored events gives the same bits.

use crate::common::{self, Random, start};
use fable_core::catalog::rubric::{self, Level};
use fable_core::catalog::{AGENT, Catalog, RUBRIC, TAU2};
use fable_core::catalog::{ActionSet, ContrastSet, Direction, OnboardingError, When};
use fable_core::journal::{Command, Event, Observation, Step};
use fable_core::posterior::PosteriorError;
use fable_core::preference::{Comparison, UserRule, is_promotion_check_due};
use fable_core::settings::{Deadline, Expiry};
use fable_core::{
    Action, Context, Decision, DecisionId, Feasible, HostUser, Policy, Request, Scalar, Settings, Statement,
    User, UserError,
};
use proptest::prelude::*;

/// Room for so few decisions that the ring runs over.
const ROOM: usize = 6;
type Host<'p, T> = HostUser<'p, T, ROOM>;

/// What a user is told, with all it takes.
#[derive(Debug)]
enum Deed {
    Decide { context: Context, feasible: Feasible, defaults: Option<Vec<f64>> },
    Feedback { id: DecisionId, reward: f64 },
    Observe { context: Context, action: Action, reward: f64 },
    Onboard(Vec<Statement>),
    Unlearn(Observation),
    Expire,
    Promote,
    Forget,
}

impl Deed {
    /// Anything, about one time in eight with something wrong.
    fn any(
        random: &mut Random,
        catalog: &Catalog<'_>,
        made: DecisionId,
        learned: &mut Vec<Observation>,
    ) -> Self {
        let wrong = random.below(8) == 0;
        let foreign = wrong && random.below(2) == 0;
        let context = random.context(if foreign { &AGENT } else { catalog });
        let reward = if wrong { [f64::NAN, 1.5, -0.5][random.below(3)] } else { random.signed() };
        match random.below(16) {
            0 => {
                let statement = |random: &mut Random| {
                    let direction =
                        Direction::new(catalog, [(random.below(catalog.dimension()), 1.0)]).unwrap();
                    let precision = [0.0, 0.5, 2.0][random.below(3)];
                    Statement { direction, response: random.signed(), precision }
                };
                Self::Onboard(vec![statement(random), statement(random)])
            }
            1..=3 => {
                // Something wrong, something, or a clear preference, so that it is promoted.
                let action = random.action(if wrong { &AGENT } else { catalog });
                if wrong || random.below(4) == 0 {
                    return Self::Observe { context, action, reward };
                }
                let Comparison { context, prefer, over, .. } = Comparison::declared(catalog, 0).unwrap();
                let (action, reward) = [(prefer, 1.0), (over, -1.0)][random.below(2)];
                Self::Observe { context, action, reward }
            }
            4 if !learned.is_empty() => {
                let observation = learned.swap_remove(random.below(learned.len()));
                Self::Unlearn(Observation { weight: if wrong { 100.0 } else { 1.0 }, ..observation })
            }
            5..=8 => {
                let back = u32::try_from(random.below(8)).unwrap();
                let round = made.round.wrapping_sub(if wrong { u32::MAX } else { back });
                Self::Feedback { id: DecisionId { round, ..made }, reward }
            }
            9 => Self::Expire,
            10 => Self::Promote,
            11 if random.below(8) == 0 => Self::Forget,
            _ => {
                let mut set = ActionSet::EMPTY;
                (0..4).for_each(|_| set.insert(random.action(catalog)));
                let changed = random.below(3) == 0;
                let feasible =
                    if changed { Feasible::from_set(catalog, set).unwrap() } else { Feasible::all(catalog) };
                let count = catalog.actions() - usize::from(wrong);
                let defaults = (random.below(3) == 0).then(|| (0..count).map(|_| random.signed()).collect());
                Self::Decide { context, feasible, defaults }
            }
        }
    }

    fn command(&self, now: u32) -> Command<'_> {
        match self {
            Self::Decide { context, feasible, defaults } => {
                Command::decide(Request { context, feasible, defaults: defaults.as_deref(), time: now })
            }
            Self::Feedback { id, reward } => Command::feedback(*id, *reward).at(now),
            Self::Observe { context, action, reward } => Command::observe(context, *action, *reward).at(now),
            Self::Onboard(statements) => Command::onboard(statements),
            Self::Unlearn(observation) => Command::unlearn(*observation, false, 1.0, ContrastSet::EMPTY),
            Self::Expire => Command::expire(now),
            Self::Promote => Command::promote(now),
            Self::Forget => Command::forget(),
        }
    }

    /// The same by verbs.
    fn by_verbs<T: Scalar>(&self, user: &mut User<'_, T>, now: u32) -> Result<Option<Decision>, UserError> {
        match self {
            Self::Decide { context, feasible, defaults } => {
                return user
                    .decide(&Request { context, feasible, defaults: defaults.as_deref(), time: now })
                    .map(Some);
            }
            Self::Feedback { id, reward } => {
                user.feedback_at(*id, *reward, now)?;
            }
            Self::Observe { context, action, reward } => {
                user.observe_at(context, *action, *reward, now)?;
            }
            Self::Onboard(statements) => {
                statements.iter().try_for_each(|statement| user.onboard(statement).map(drop))?;
            }
            Self::Unlearn(observation) => user.unlearn(*observation)?,
            Self::Expire => drop(user.expire(now)?),
            Self::Promote => drop(user.promote(now)?),
            Self::Forget => user.forget()?,
        }
        Ok(None)
    }
}

/// Executes a command event by event. Every third step is dropped first: it has no effect and is proposed
/// again unchanged.
fn by_steps<T: Scalar>(
    ana: &mut Host<'_, T>,
    random: &mut Random,
    mut command: Command<'_>,
    journal: &mut Vec<Event>,
) -> Result<Option<Decision>, UserError> {
    loop {
        if random.below(3) == 0 {
            let (before, applied) = (ana.to_bytes(), command.applied());
            let Some(dropped) = ana.user().next(&mut command)?.map(|step| step.event().clone()) else {
                break;
            };
            assert_eq!((ana.to_bytes() == before, command.applied()), (true, applied), "{dropped:?}");
            assert_eq!(command.decision(&ana.user()), None, "{dropped:?}");
            let again = ana.user().next(&mut command)?.map(|step| step.event().clone());
            assert_eq!(again, Some(dropped));
        }
        let mut user = ana.user();
        let Some(step) = user.next(&mut command)? else { break };
        journal.push(step.event().clone());
        step.apply();
    }
    assert!(ana.user().next(&mut command)?.is_none(), "done is done");
    Ok(command.decision(&ana.user()))
}

/// Runs the same history by verbs, by steps and from the journal. Returns the journal and the number of
/// refused changes.
fn live<T: Scalar>(
    catalog: &Catalog<'_>,
    settings: Settings<'_>,
    seed: u64,
    changes: u32,
) -> (Vec<Event>, u32) {
    let lax = Settings { alpha: 0.5, prior_radius: Some(0.0), min_evidence: 1, ..settings };
    let lax = Settings { base_precision: Some(1.0), noise_variance: 0.01, ..lax };
    let policy = Policy::<T>::new(catalog, lax).unwrap();
    let mut verbs: Host<'_, T> = start(&policy, seed);
    let (mut steps, mut replayed) = (verbs.clone(), verbs.clone());
    let mut journal = vec![];
    let mut learned = vec![];
    let mut refused = 0;
    let mut bytes = verbs.to_bytes();
    let mut random = Random(seed);
    let mut now = 0;
    for _ in 0..changes {
        now += u32::try_from(random.below(3)).unwrap();
        let rounds = verbs.state().rounds();
        let made = verbs.user().id(rounds);
        let change = Deed::any(&mut random, catalog, made, &mut learned);
        let stored = journal.len();
        let by_verbs = change.by_verbs(&mut verbs.user(), now);
        let by_steps = by_steps(&mut steps, &mut random, change.command(now), &mut journal);
        assert_eq!(by_verbs, by_steps, "{change:?}");
        if by_steps.is_err() {
            refused += 1;
            assert!(
                verbs.to_bytes() == bytes && steps.to_bytes() == bytes && journal.len() == stored,
                "{change:?}"
            );
        }
        bytes = verbs.to_bytes();
        assert!(steps.to_bytes() == bytes, "{change:?}");
        for event in &journal[stored..] {
            match event {
                Event::Observation(observation) => learned.push(*observation),
                Event::Forget { .. } => learned.clear(),
                _ => {}
            }
            replayed.user().check(event).unwrap().apply();
        }
    }
    assert!(replayed.to_bytes() == bytes && replayed == steps);
    (journal, refused)
}

const CATALOGS: [&Catalog<'static>; 3] = [&TAU2, &RUBRIC, &AGENT];
const DEADLINES: [Deadline; 3] = [Deadline::None, Deadline::Rounds(3), Deadline::Time(4)];
const EXPIRIES: [Expiry; 2] = [Expiry::Nothing, Expiry::Impute(-0.25)];

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn verbs_steps_and_the_journal_lead_to_the_same_bits(
        seed: u64,
        deadline in prop::sample::select(&DEADLINES),
        expiry in prop::sample::select(&EXPIRIES),
    ) {
        let settings = Settings { seed, deadline, expiry, ..Settings::PAPER };
        live::<f32>(&TAU2, settings, seed, 60);
        live::<f64>(&TAU2, settings, seed, 60);
        live::<f32>(&RUBRIC, settings, seed, 60);
        live::<f64>(&RUBRIC, settings, seed, 60);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, failure_persistence: None, ..ProptestConfig::default() })]

    /// The large catalog, whose tasks and signals the others lack.
    #[test]
    fn verbs_steps_and_the_journal_lead_to_the_same_bits_on_agent(
        seed: u64,
        deadline in prop::sample::select(&DEADLINES),
        expiry in prop::sample::select(&EXPIRIES),
    ) {
        let settings = Settings { seed, deadline, expiry, ..Settings::PAPER };
        live::<f32>(&AGENT, settings, seed, 40);
        live::<f64>(&AGENT, settings, seed, 40);
    }
}

/// The lives above meet every kind of event and of refusal.
#[test]
fn the_lives_are_eventful() {
    for (catalog, lives) in CATALOGS.into_iter().zip([12, 12, 4]) {
        let (mut seen, mut refused) = ([0; 9], 0);
        for seed in 0..lives {
            let (deadline, expiry) = (DEADLINES[1 + seed as usize % 2], EXPIRIES[seed as usize / 2 % 2]);
            let (journal, no) =
                live::<f32>(catalog, Settings { deadline, expiry, ..Settings::PAPER }, seed, 120);
            refused += no;
            for event in &journal {
                let kind = match event {
                    Event::Permissions(_) => 0,
                    Event::Onboarding(_) => 1,
                    Event::Decision { .. } => 2,
                    Event::Feedback { .. } => 3,
                    Event::Observation(_) => 4,
                    Event::Unlearn { .. } => 5,
                    Event::Expiry { .. } => 6,
                    Event::Promotion(_) => 7,
                    Event::Forget { .. } => 8,
                    Event::Fade { .. } => 9,
                    _ => unreachable!("{event:?}"),
                };
                seen[kind] += 1;
            }
        }
        assert!(
            refused > 20 && seen.iter().all(|count| *count > 0),
            "{}: {refused} {seen:?}",
            catalog.definition().name
        );
    }
}

/// An adapter that could not store the decision tries again. Stored permissions are not proposed twice, and
/// the decision does not count as made.
#[test]
fn a_decision_that_was_not_stored_comes_again() {
    let policy = Policy::<f32>::new(&TAU2, Settings::PAPER).unwrap();
    let mut ana: Host<'_, f32> = start(&policy, 1);
    let (context, all) = (TAU2.context(None, []).unwrap(), Feasible::all(&TAU2));
    let (mut user, mut command) = (ana.user(), Command::decide(Request::new(&context, &all)));
    let step = user.next(&mut command).unwrap().unwrap();
    assert!(matches!(step.event(), Event::Permissions(_)));
    step.apply();
    for _ in 0..3 {
        assert!(matches!(
            user.next(&mut command).unwrap().unwrap().event(),
            Event::Decision { round: 1, .. }
        ));
        assert_eq!((command.decision(&user), command.applied(), user.state().rounds()), (None, 1, 0));
    }
    user.run(&mut command).unwrap();
    assert_eq!(command.decision(&user).map(|decision| decision.id), Some(user.id(1)));
    assert_eq!((command.applied(), user.state().rounds()), (2, 1));
    user.run(&mut command).unwrap();
    assert_eq!((command.applied(), user.state().rounds()), (2, 1));
}

/// The first event is proposed only if the whole command is possible. A refused decision expires nothing.
#[test]
fn a_command_that_cannot_be_done_does_not_begin() {
    let settings = Settings { deadline: Deadline::Time(1), expiry: Expiry::Impute(0.5), ..Settings::PAPER };
    let policy = Policy::<f64>::new(&TAU2, settings).unwrap();
    let mut ana: Host<'_, f64> = start(&policy, 1);
    let (context, all) = (TAU2.context(None, []).unwrap(), Feasible::all(&TAU2));
    let foreign =
        AGENT.context("coding", AGENT.definition().signals.iter().map(|name| (*name, 0.5))).unwrap();
    ana.decide(&context, &all).unwrap();
    let before = ana.to_bytes();
    let mut short = [0.0; 17];
    let mut enough = [0.0; 18];
    let wide = Feasible::all(&AGENT);
    let late = Request::new(&context, &all).at(99);
    let expected = 18;
    for (mut command, error) in [
        (Command::decide(Request { context: &foreign, ..late }), UserError::ForeignContext),
        (Command::decide(Request { feasible: &wide, ..late }), UserError::UnknownAction),
        (Command::decide(late.with_defaults(&[0.0; 17])), UserError::DefaultCount { expected }),
        (
            Command::decide(late).with_propensities(10, &mut short),
            UserError::Posterior(PosteriorError::OutputLength { expected }),
        ),
    ] {
        assert_eq!(ana.user().next(&mut command).map(|_| ()), Err(error));
        assert_eq!((ana.to_bytes() == before, command.applied()), (true, 0), "{error}");
    }
    // The same request with nothing wrong: the wait ends first.
    let mut command = Command::decide(late).with_propensities(10, &mut enough).scored();
    assert!(matches!(
        ana.user().next(&mut command).unwrap().unwrap().event(),
        Event::Expiry { round: 1, imputed: Some(_) }
    ));
    ana.user().run(&mut command).unwrap();
    assert_eq!((command.applied(), command.scores().is_some(), ana.state().observations()), (2, true, 1));
    drop(command);
    assert!((enough.iter().sum::<f64>() - 1.0).abs() < 1e-12);
}

/// A command reports the propensities that the user reports before the decision. Asking changes no decision.
#[test]
fn propensities_of_a_command_are_those_of_the_user() {
    let policy = Policy::<f32>::new(&TAU2, Settings::PAPER).unwrap();
    let mut ana: Host<'_, f32> = start(&policy, 1);
    let (context, all) = (TAU2.context(None, []).unwrap(), Feasible::all(&TAU2));
    let request = Request::new(&context, &all);
    for round in 0..20 {
        let mut asked = [0.0; 18];
        let mut told = [0.0; 18];
        let mut plain = ana.clone();
        ana.user().propensities(&request, 50, &mut asked).unwrap();
        let mut user = ana.user();
        let mut command = Command::decide(request).with_propensities(50, &mut told);
        user.run(&mut command).unwrap();
        let decision = command.decision(&user).unwrap();
        assert_eq!(decision, plain.user().decide(&request).unwrap());
        assert_eq!(asked, told);
        ana.user().feedback(decision.id, if round % 2 == 0 { 0.75 } else { -0.25 }).unwrap();
    }
}

/// A bad statement among good ones: none is taken.
#[test]
fn statements_are_taken_all_or_none() {
    let policy = Policy::<f32>::new(&TAU2, Settings::PAPER).unwrap();
    let mut ana: Host<'_, f32> = start(&policy, 1);
    let direction = |catalog, coordinate| Direction::new(catalog, [(coordinate, 1.0)]).unwrap();
    let good = Statement { direction: direction(&TAU2, 3), response: 0.5, precision: 2.0 };
    let before = ana.to_bytes();
    for (bad, error) in [
        (Statement { response: 1.5, ..good.clone() }, OnboardingError::Response),
        (Statement { response: f64::NAN, ..good.clone() }, OnboardingError::Response),
        (Statement { precision: -1.0, ..good.clone() }, OnboardingError::Precision),
        (Statement { direction: direction(&AGENT, 253), ..good.clone() }, OnboardingError::UnknownCoordinate),
    ] {
        for place in 0..3 {
            let mut statements = [good.clone(), good.clone(), good.clone()];
            statements[place] = bad.clone();
            let mut command = Command::onboard(&statements);
            assert_eq!(ana.user().run(&mut command), Err(UserError::Onboarding(error)));
            assert_eq!((ana.to_bytes() == before, command.applied()), (true, 0), "{error} at {place}");
        }
    }
    let statements = [good.clone(), good];
    let mut command = Command::onboard(&statements);
    ana.user().run(&mut command).unwrap();
    assert_eq!((command.applied(), ana.to_bytes() == before), (2, false));
    ana.user().run(&mut Command::onboard(&[])).unwrap();
}

/// Promotions follow rewards, at looks and nowhere else, and they are all that is decided by then.
#[test]
fn promotions_follow_the_rewards_at_looks() {
    let policy =
        Policy::<f64>::new(&RUBRIC, Settings { base_precision: Some(1.0), ..Settings::PROMOTING }).unwrap();
    let mut ana: HostUser<'_, f64, 16> = start(&policy, 1);
    let context = RUBRIC.context(None, []).unwrap();
    let levels = [Level::Five, Level::One];
    let only = levels.map(|level| {
        let mut set = ActionSet::EMPTY;
        set.insert(rubric::action([level, Level::Three, Level::Three]));
        Feasible::from_set(&RUBRIC, set).unwrap()
    });
    let (mut promoted, mut delayed) = (vec![], 0);
    for now in 1..=300 {
        let side = now as usize % 2;
        let (level, reward) = (levels[side], [0.95, -0.95][side]);
        // Rewards of decisions and of what was chosen elsewhere in turn.
        let decision = ana.decide(&context, &only[side]).unwrap();
        let mut command = if now % 4 < 2 {
            Command::feedback(decision.id, reward).at(now)
        } else {
            Command::observe(&context, rubric::action([level, Level::Three, Level::Three]), reward).at(now)
        };
        let mut user = ana.user();
        user.next(&mut command).map(|step| step.map(Step::apply)).unwrap();
        assert_eq!(user.state().observations(), now);
        let mut at_once = ana.clone();
        let due = at_once.user().promote(now).unwrap();
        ana.user().run(&mut command).unwrap();
        assert_eq!(command.applied(), 1 + if is_promotion_check_due(now) { due } else { 0 }, "{now}");
        delayed += u32::from(due > 0 && !is_promotion_check_due(now));
        if is_promotion_check_due(now) {
            assert_eq!(ana, at_once, "{now}");
            promoted.extend((due > 0).then_some(now));
        }
        let times: Vec<_> = ana.learner().profile().iter().map(|promotion| promotion.time).collect();
        assert!(times.is_sorted() && times.iter().all(|at| promoted.contains(at)), "{times:?}");
    }
    assert!(!promoted.is_empty() && delayed > 0, "{promoted:?} {delayed}");
}

/// A user about whom a good deal is decided, and nothing promoted.
fn decided(policy: &Policy<'static, f64>) -> HostUser<'static, f64, 16> {
    let mut ana = start(policy, 1);
    let context = RUBRIC.context(None, []).unwrap();
    for round in 0..101 {
        let (level, reward) = [(Level::Five, 0.95), (Level::One, -0.95)][round % 2];
        common::observe_alone(
            &mut ana.user(),
            &context,
            rubric::action([level, Level::Three, Level::Three]),
            reward,
        );
    }
    assert!(ana.learner().profile().is_empty() && !is_promotion_check_due(ana.state().observations()));
    ana
}

#[test]
fn a_command_promotes_at_once() {
    let policy = Policy::new(&RUBRIC, Settings { base_precision: Some(1.0), ..Settings::PROMOTING }).unwrap();
    let (mut verbs, mut steps) = (decided(&policy), decided(&policy));
    let mut command = Command::promote(7);
    steps.user().run(&mut command).unwrap();
    assert!(command.applied() > 0 && steps.learner().profile().iter().all(|promotion| promotion.time == 7));
    assert_eq!(verbs.user().promote(7), Ok(command.applied()));
    assert!(verbs.to_bytes() == steps.to_bytes());
    // A host's feedback, the verb of a user and the command promote at the same reward.
    let (context, all) = (RUBRIC.context(None, []).unwrap(), Feasible::all(&RUBRIC));
    let [mut host, mut verb, mut commanded] = [(); 3].map(|()| decided(&policy));
    while host.state().observations() < 128 {
        let id = host.decide(&context, &all).unwrap().id;
        host.feedback(id, 0.0).unwrap();
        let id = verb.decide(&context, &all).unwrap().id;
        verb.user().feedback(id, 0.0).unwrap();
        let id = commanded.decide(&context, &all).unwrap().id;
        commanded.user().run(&mut Command::feedback(id, 0.0)).unwrap();
        assert_eq!(host.learner().profile().is_empty(), host.state().observations() < 128);
        assert!(host.to_bytes() == verb.to_bytes() && host.to_bytes() == commanded.to_bytes());
    }
}

/// Whatever is asked about a user changes no byte of her.
#[test]
fn reading_writes_nothing() {
    let policy = Policy::new(&RUBRIC, Settings { base_precision: Some(1.0), ..Settings::PROMOTING }).unwrap();
    let (context, all) = (RUBRIC.context(None, []).unwrap(), Feasible::all(&RUBRIC));
    for promoted in [false, true] {
        let mut ana = decided(&policy);
        let decision = ana.decide(&context, &all).unwrap();
        if promoted {
            ana.user().promote(7).unwrap();
        }
        let before = ana.to_bytes();
        let mut user = ana.user();
        let request = Request::new(&context, &all);
        for _ in 0..2 {
            let mut text = String::new();
            user.write_profile(&mut text).unwrap();
            assert_eq!(text.is_empty(), !promoted);
            for promotion in user.profile().to_vec() {
                user.standing(&promotion).unwrap();
            }
            for index in 0..RUBRIC.contrasts().len() {
                user.assess(&Comparison::declared(&RUBRIC, index).unwrap()).unwrap();
            }
            user.explain(decision.id, None, None).unwrap();
            user.recommend(&request).unwrap();
            user.predict(&context, Action(3), None).unwrap();
            user.propensities(&request, 5, &mut [0.0; 27]).unwrap();
            assert_eq!((user.waiting(0).count(), user.evidence(0, Level::Three.index())), (1, 0));
        }
        assert!(ana.to_bytes() == before);
    }
}

/// A name that the catalog does not have is an error, never a context without it.
#[test]
fn a_context_by_names_knows_its_names() {
    use fable_core::catalog::ContextError::{SignalCount, UnknownSignal, UnknownTask};
    let signals = [("risk", 0.1), ("ambiguity", 0.2), ("memory_need", 0.7), ("tool_need", 0.3)];
    let context = AGENT.context("coding", signals).unwrap();
    assert_eq!((context.task(), context.signals()), (AGENT.task("coding").ok(), &[0.1, 0.2, 0.7, 0.3][..]));
    assert_eq!(AGENT.context(None, signals).unwrap().task(), None);
    for name in ["codign", "Coding", "", "risk"] {
        assert_eq!(AGENT.task(name), Err(UnknownTask));
        assert_eq!(AGENT.context(name, signals), Err(UnknownTask));
    }
    for name in ["rsik", "Risk", "", "coding"] {
        assert_eq!(AGENT.signal(name), Err(UnknownSignal));
        for place in 0..4 {
            let mut signals = signals;
            signals[place].0 = name;
            assert_eq!(AGENT.context("coding", signals), Err(UnknownSignal));
        }
    }
    for count in 0..4 {
        assert_eq!(
            AGENT.context("coding", signals[..count].iter().copied()),
            Err(SignalCount { expected: 4 })
        );
    }
    assert_eq!(TAU2.context("coding", []), Err(UnknownTask));
    assert_eq!(TAU2.context(None, [("risk", 0.5)]), Err(UnknownSignal));
}

/// An observation with the caller's own defaults is compared with the default of its action, costs apart.
/// Defaults that do not fit are refused.
#[test]
fn an_observation_can_have_its_own_default() {
    let policy = Policy::<f64>::new(&TAU2, Settings::default()).unwrap();
    let context = TAU2.context(None, []).unwrap();
    let defaults: Vec<f64> = (0..TAU2.actions()).map(|action| action as f64 / 100.0).collect();
    let mut ana = HostUser::<f64>::new(&policy, "ana").unwrap();
    let mut user = ana.user();
    let mut command = Command::observe(&context, Action(7), 0.5).with_defaults(Some(&defaults));
    let step = user.next(&mut command).unwrap().unwrap();
    let Event::Observation(observation) = step.event() else { panic!("{:?}", step.event()) };
    assert_eq!(observation.baseline, 0.07 - policy.settings().cost_weight * TAU2.cost(Action(7)));
    step.apply();
    assert_eq!(user.state().observations(), 1);

    let before = ana.to_bytes();
    let mut refused = |defaults: &[f64]| {
        let mut command = Command::observe(&context, Action(7), 0.5).with_defaults(Some(defaults));
        ana.user().run(&mut command).unwrap_err()
    };
    assert_eq!(refused(&defaults[1..]), UserError::DefaultCount { expected: TAU2.actions() });
    let mut wrong = defaults.clone();
    wrong[3] = f64::NAN;
    assert_eq!(refused(&wrong), UserError::DefaultRange { action: 3 });
    assert!(ana.to_bytes() == before);
}

#[test]
fn the_direct_way_comes_to_the_same_as_commands() {
    let policy =
        Policy::<f32>::new(&RUBRIC, Settings { base_precision: Some(1.0), ..Settings::PAPER }).unwrap();
    let (mut direct, mut commanded) =
        (HostUser::<f32>::new(&policy, "ana").unwrap(), HostUser::<f32>::new(&policy, "ana").unwrap());
    let context = RUBRIC.context(None, []).unwrap();
    let never = UserRule::Never { component: 1, value: 0, when: When::Always };

    direct.user().set_user_rule(never, true).unwrap();
    assert_eq!(direct.user().set_user_rule(never, true), Err(UserError::RuleExists));
    commanded.user().run(&mut Command::user_rules(&[never])).unwrap();
    for round in 0..200_u16 {
        let value = f64::from(round % 2) * 1.8 - 0.9;
        let action = Action(if round % 2 == 0 { 4 } else { 22 });
        for user in [&mut direct, &mut commanded] {
            common::observe_alone(&mut user.user(), &context, action, value);
        }
    }
    let all = Feasible::from_set(&RUBRIC, ActionSet::from_words(*RUBRIC.all_actions().words())).unwrap();
    assert_eq!(all, Feasible::all(&RUBRIC));
    let decision = direct.decide(&context, &all).unwrap();
    let mut decide = Command::decide(Request::new(&context, &all));
    commanded.user().run(&mut decide).unwrap();
    assert_eq!(decide.decision(&commanded.user()), Some(decision));
    assert_eq!(direct.user().feedback_weighted(decision.id, 0.5, 1000.0, 3), Err(UserError::Weight));
    direct.user().feedback_weighted(decision.id, 0.5, 0.5, 3).unwrap();
    commanded
        .user()
        .run(&mut Command::event(Event::Feedback { round: 1, reward: 0.5, weight: 0.5 }))
        .unwrap();
    assert_eq!(direct.learner(), commanded.learner());

    let mut promote = Command::promote(9);
    commanded.user().run(&mut promote).unwrap();
    assert_eq!(direct.user().promote(9).unwrap(), promote.applied());
    assert!(promote.applied() > 0);
    assert_eq!(direct.learner(), commanded.learner());
    direct.user().forget().unwrap();
    commanded.user().run(&mut Command::forget()).unwrap();
    assert_eq!((direct.learner(), direct.state().incarnation()), (commanded.learner(), 1));
}
