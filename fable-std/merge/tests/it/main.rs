//! One user at several places: merged is as if everything had happened in one, and nothing counts twice.

#[path = "../../../../fable-core/tests/it/common/mod.rs"]
#[allow(dead_code)]
mod common;

use common::{MIXED, Random, bits, features, isotropic, vector};
use fable_core::catalog::{ContrastSet, Direction};
use fable_core::catalog::{Part, TAU2};
use fable_core::journal::{Command, Event, MAX_SITES, Observation, RemoteChange, RemoteEvent};
use fable_core::preference::{Probes, Verdict};
use fable_core::record::{MAX_REMOTE_LEN, decode_event, encode_event};
use fable_core::settings::{Expiry, OnChange};
use fable_core::{
    Action, Feasible, HostUser, Policy, Request, Rule, Scalar, Settings, Statement, User, UserError,
};
use fable_merge::{Interleaved, JournalDigest, JournalReader, MergeError, merge_in_order, missing_events};
use proptest::prelude::*;

/// A place with its journal.
struct Place<'p, T> {
    ana: HostUser<'p, T>,
    journal: Vec<Event>,
    random: Random,
    clock: u32,
    takes_back: bool,
}

impl<'p, T: Scalar> Place<'p, T> {
    fn new(policy: &Policy<'p, T>, seed: u64) -> Self {
        let ana = HostUser::new(policy, "ana").unwrap();
        Self {
            ana,
            journal: vec![],
            random: Random(seed),
            clock: u32::try_from(seed % 7).unwrap(),
            takes_back: true,
        }
    }

    fn run(&mut self, mut command: Command<'_>) -> Result<(), UserError> {
        let mut user = self.ana.user();
        while let Some(step) = user.next(&mut command)? {
            self.journal.push(step.event().clone());
            step.apply();
        }
        Ok(())
    }

    /// Something happens: decisions, rewards of any of them that wait, statements, things taken back.
    fn step(&mut self) {
        let policy = *self.ana.policy();
        let catalog = policy.catalog();
        self.clock += u32::try_from(self.random.below(3)).unwrap();
        let context = self.random.context(catalog);
        let action = self.random.action(catalog);
        let reward = self.random.signed();
        match self.random.below(16) {
            0 => {
                let direction = Direction::new(catalog, [(catalog.dimension() - 1, 1.0)]).unwrap();
                let statement = [Statement { direction, response: reward, precision: 2.0 }];
                self.run(Command::onboard(&statement)).unwrap();
            }
            1 => self.run(Command::observe(&context, action, reward).at(self.clock)).unwrap(),
            2 => {
                let first = self.ana.user().id(1);
                let _ = self.run(Command::feedback(first, reward)); // it may have had its reward
            }
            3 if self.takes_back => {
                // What is not known any more by now cannot be taken back.
                let last = learned(&self.journal).0.pop().filter(|last| last.kept >= 1e-6);
                if let Some(Lesson { observation, imputed, kept, probed }) = last {
                    self.run(Command::unlearn(observation, imputed, kept, probed)).unwrap();
                }
            }
            4 => self.run(Command::promote(self.clock)).unwrap(),
            5..=9 => {
                let waiting: Vec<_> = self.ana.user().waiting(self.clock).collect();
                if !waiting.is_empty() {
                    let id = waiting[self.random.below(waiting.len())];
                    self.run(Command::feedback(id, reward).at(self.clock)).unwrap();
                }
            }
            kind => {
                let fewer =
                    Feasible::new(catalog, &[Rule::forbid("not the second", &[Part::new(0, &[1])])]).unwrap();
                let feasible = if kind == 10 { fewer } else { Feasible::all(catalog) };
                self.run(Command::decide(Request::new(&context, &feasible).at(self.clock))).unwrap();
            }
        }
    }

    fn telling(&self) -> JournalDigest {
        tell(self.ana.policy(), &self.journal)
    }
}

fn tell<T: Scalar>(policy: &Policy<'_, T>, journal: &[Event]) -> JournalDigest {
    let mut teller = JournalReader::new(&HostUser::<T>::new(policy, "ana").unwrap().user());
    for event in journal {
        teller.take(event);
    }
    teller.finish()
}

/// Somebody at a place where nothing has happened.
fn elsewhere<'p, T: Scalar>(policy: &Policy<'p, T>) -> HostUser<'p, T> {
    let policy =
        Policy::with_prior(policy.catalog(), Settings { site: 99, ..*policy.settings() }, *policy.prior())
            .unwrap();
    HostUser::new(&policy, "ana").unwrap()
}

fn at(settings: Settings<'static>, origin: u32) -> Policy<'static, f64> {
    Policy::new(&TAU2, Settings { site: origin, ..settings }).unwrap()
}

fn play<T: Scalar>(ana: &mut HostUser<'_, T>, events: &[Event]) -> Result<(), UserError> {
    let mut user = ana.user();
    events.iter().try_for_each(|event| {
        user.check(event).map(|step| {
            step.apply();
        })
    })
}

fn append<T: Scalar>(place: &mut Place<'_, T>, told: &[JournalDigest]) -> Result<usize, MergeError> {
    let news = missing_events(&place.telling(), told)?;
    let count = news.len();
    if let Some(event) = place.ana.user().site_event() {
        place.run(Command::event(event))?;
    }
    for told in news {
        place.run(Command::event(Event::Remote(told)))?;
    }
    Ok(count)
}

const PROBING: Settings<'static> = Settings { min_evidence: 1, prior_radius: Some(0.1), ..Settings::PROBING };

struct Lesson {
    observation: Observation,
    imputed: bool,
    kept: f32,
    probed: ContrastSet,
}

/// What was learned in a journal of one place and not taken back, and what was stated.
fn learned(journal: &[Event]) -> (Vec<Lesson>, Vec<Statement>) {
    let mut decided = std::collections::BTreeMap::new();
    let mut learned = Vec::<Lesson>::new();
    let mut stated = vec![];
    for event in journal {
        match event {
            Event::Decision { round, action, baseline, context, probes: coins, .. } => {
                let context = *context;
                let action = *action;
                let baseline = *baseline;
                let mut probed = ContrastSet::EMPTY;
                coins.iter().for_each(|coin| probed.insert(coin.contrast.into()));
                decided.insert(
                    *round,
                    (Observation { context, action, baseline, reward: 0.0, weight: 1.0 }, probed),
                );
            }
            Event::Feedback { round, reward, weight } => {
                let (observation, probed) = decided[round];
                let observation = Observation { reward: *reward, weight: *weight, ..observation };
                learned.push(Lesson { observation, imputed: false, kept: 1.0, probed });
            }
            Event::Expiry { round, imputed: Some(reward) } => {
                let observation = Observation { reward: *reward, ..decided[round].0 };
                learned.push(Lesson { observation, imputed: true, kept: 1.0, probed: ContrastSet::EMPTY });
            }
            Event::Observation(observation) => {
                learned.push(Lesson {
                    observation: *observation,
                    imputed: false,
                    kept: 1.0,
                    probed: ContrastSet::EMPTY,
                });
            }
            Event::Unlearn { observation, .. } => {
                let place = learned.iter().rposition(|learned| learned.observation == *observation).unwrap();
                learned.remove(place);
            }
            Event::Fade { keep } => learned.iter_mut().for_each(|lesson| lesson.kept *= keep),
            Event::Onboarding(statement) => stated.push(statement.clone()),
            _ => {}
        }
    }
    (learned, stated)
}

/// A merge without fading, in any order and in parts, equals a dense oracle of all events of all sites.
#[test]
fn without_fading_merged_is_learned_in_one_place() {
    for seed in 0..12 {
        let settings = Settings { expiry: Expiry::Impute(-0.25), base_precision: Some(16.0), ..PROBING };
        let policies: Vec<_> = (0..3)
            .map(|origin| Policy::<f64>::new(&MIXED, Settings { site: origin, ..settings }).unwrap())
            .collect();
        let mut places: Vec<_> =
            policies.iter().zip(seed * 10..).map(|(policy, seed)| Place::new(policy, seed)).collect();
        for part in 0..4 {
            for place in &mut places {
                (0..60).for_each(|_| place.step());
            }
            let order = if (seed + part) % 2 == 0 { [1, 2] } else { [2, 1] };
            let told = order.map(|place| places[place].telling());
            assert!(append(&mut places[0], &told).unwrap() > 0);
            // Again, and in the other order: nothing is news.
            let [first, second] = told;
            let before = places[0].ana.clone();
            assert_eq!(append(&mut places[0], &[second, first]).unwrap(), 0);
            assert_eq!(places[0].ana, before);
        }
        let own = |event: &&Event| !matches!(event, Event::Remote(_));
        let mut dense = isotropic::<{ MIXED.dimension() }>(16.0);
        let mut count = 0;
        for place in &places {
            let journal: Vec<Event> = place.journal.iter().filter(own).cloned().collect();
            let (observations, statements) = learned(&journal);
            for Lesson { observation: seen, .. } in &observations {
                let phi = vector(&features(&MIXED, &seen.context, seen.action));
                dense.observe(&phi, seen.reward - seen.baseline, f64::from(seen.weight) / 0.25).unwrap();
            }
            for stated in &statements {
                let entries: Vec<_> = stated.direction.entries().collect();
                dense.observe(&vector(&entries), stated.response, stated.precision).unwrap();
            }
            count += observations.len();
        }
        assert_eq!(places[0].ana.state().observations() as usize, count);
        let mut random = Random(seed);
        for _ in 0..40 {
            let (context, action) = (random.context(&MIXED), random.action(&MIXED));
            let phi = vector::<{ MIXED.dimension() }>(&features(&MIXED, &context, action));
            let (mean, variance) = (phi.dot(&dense.mean()), dense.variance(&phi));
            let here = places[0].ana.user().predict(&context, action, None).unwrap();
            let baseline = policies[0].baseline(&context, action, None);
            assert!(
                (here.mean - baseline - mean).abs() < 1e-9 && (here.variance - variance).abs() < 1e-10,
                "seed {seed}"
            );
        }
        // The journal says it all.
        let mut again = HostUser::<f64>::new(&policies[0], "ana").unwrap();
        play(&mut again, &places[0].journal).unwrap();
        assert_eq!(again, places[0].ana);
    }
}

/// What is decided here does not depend on how far others are, but ids and draws differ everywhere.
#[test]
fn every_place_has_its_own_ids_and_draws() {
    let thompson = Settings { seed: 5, ..Settings::PAPER };
    let (context, all) = (TAU2.context(None, []).unwrap(), Feasible::all(&TAU2));
    let decide = |origin: u32| {
        let policy = at(thompson, origin);
        let mut ana = HostUser::<f64>::new(&policy, "ana").unwrap();
        let ids: Vec<_> =
            (0..40).map(|_| ana.decide(&context, &all).unwrap()).map(|made| (made.id, made.action)).collect();
        assert!(ids.iter().all(|(id, _)| id.site == origin && id.to_string().parse() == Ok(*id)));
        assert_eq!((ana.state().site(), ana.user().site()), (origin, origin));
        ids.iter().map(|(_, action)| action.0).collect::<Vec<_>>()
    };
    let zero = decide(0);
    let one = decide(1);
    let two = decide(2);
    assert!(zero != one && one != two && zero != two);

    // A place is recorded with the first decision, and not changed by other settings after that.
    let mut place = Place::new(&at(thompson, 3), 1);
    place.run(Command::decide(Request::new(&context, &all))).unwrap();
    assert_eq!(place.journal[1], Event::Site { site: 3 });
    let moved = at(thompson, 4);
    let mut again = HostUser::<f64>::new(&moved, "ana").unwrap();
    play(&mut again, &place.journal).unwrap();
    assert_eq!(again.decide(&context, &all).unwrap().id.site, 3);
    let refused = |origin| HostUser::clone(&again).user().check(&Event::Site { site: origin }).map(drop);
    assert_eq!([0, 3, 4].map(refused), [Err(UserError::SiteFixed); 3]);
    // Whose decision it was learns the reward.
    let id = place.ana.user().id(1);
    let mut other = HostUser::<f64>::new(&moved, "ana").unwrap();
    other.decide(&context, &all).unwrap();
    let before = other.clone();
    assert_eq!(other.feedback(id, 0.5), Err(UserError::DecidedElsewhere));
    assert_eq!(other, before);
    // After forgetting the place is recorded again.
    place.run(Command::forget()).unwrap();
    assert_eq!((place.ana.state().site(), place.ana.state().events()), (0, 0));
    place.run(Command::decide(Request::new(&context, &all))).unwrap();
    assert_eq!((place.ana.state().site(), place.ana.state().incarnation()), (3, 1));
}

/// The wealth of a contrast is the product over the coins of all sites, each with the m expected at its own
/// site.
#[test]
fn coins_of_all_places_are_one_test() {
    let settings = Settings { alpha: 1e-9, ..PROBING }; // no certificate, so that the order does not matter
    let policies = [0, 1].map(|origin| at(settings, origin));
    let mut places: Vec<_> =
        policies.iter().zip(3..).map(|(policy, seed)| Place::new(policy, seed)).collect();
    let mut sums = vec![[[0.0; 5]; 2]; TAU2.contrasts().len()];
    let stakes = [0.0625, 0.125, 0.25, 0.5, 0.875];
    for place in &mut places {
        place.takes_back = false;
        for _ in 0..1500 {
            place.step();
        }
        let mut decided = std::collections::BTreeMap::new();
        for event in &place.journal {
            match event {
                Event::Decision { round, action, probes: coins, .. } => {
                    drop(decided.insert(*round, (*action, coins.clone())));
                }
                Event::Feedback { round, reward, .. } => {
                    let (action, coins) = &decided[round];
                    for coin in coins {
                        let contrast = &TAU2.contrasts()[usize::from(coin.contrast)];
                        let component = contrast.component().unwrap();
                        let preferred =
                            TAU2.values(*action).unwrap()[component] == contrast.prefer[component];
                        let m = f64::from(coin.expected);
                        let z = if preferred { reward - m } else { m - reward } / (1.0 + m.abs());
                        for (side, sign) in [1.0, -1.0].into_iter().enumerate() {
                            for (log, stake) in sums[usize::from(coin.contrast)][side].iter_mut().zip(stakes)
                            {
                                *log += f64::ln_1p(sign * stake * z);
                            }
                        }
                    }
                }
                _ => {}
            }
        }
    }
    let told = [places[1].telling()];
    // A coin is open here while those from elsewhere are counted, and keeps its own m.
    let tossed = |user: &User<'_, f64>| {
        user.waiting(0).flat_map(|id| user.probe_outcomes(id).collect::<Vec<_>>()).collect::<Vec<_>>()
    };
    let open = tossed(&places[0].ana.user());
    assert!(!open.is_empty());
    append(&mut places[0], &told).unwrap();
    let user = places[0].ana.user();
    assert_eq!(tossed(&user), open);
    let mut coins = 0;
    for (contrast, [plus, minus]) in sums.iter().enumerate() {
        let wealth = |logs: &[f64; 5]| logs.iter().map(|log| log.exp()).sum::<f64>() / 5.0;
        let trial = user.trial(contrast).unwrap();
        let (expected, found) = (wealth(plus).max(wealth(minus)), trial.e_value);
        assert!((found / expected - 1.0).abs() < 1e-9, "{contrast}: {found} {expected}");
        coins += u32::from(trial.trials);
    }
    assert!(coins > 100);
}

/// Gaps, other users, other policies, other incarnations and two journals of one site each have an error, and
/// nothing changes.
#[test]
fn what_does_not_belong_together_is_refused() {
    let policies: Vec<_> = (0..12).map(|origin| at(PROBING, origin)).collect();
    let (mut here, mut there) = (Place::new(&policies[0], 1), Place::new(&policies[1], 2));
    (0..80).for_each(|_| here.step());
    (0..40).for_each(|_| there.step());
    let told = there.telling();
    append(&mut here, std::slice::from_ref(&told)).unwrap();
    let before = here.ana.clone();

    // The device makes a snapshot before what it has seen is merged: ten steps are gone.
    (0..10).for_each(|_| there.step());
    let gap = JournalReader::new(&there.ana.user()).finish();
    let missing = gap.first - here.ana.state().known_of(1);
    assert!(missing > 0);
    assert_eq!(
        missing_events(&here.telling(), &[gap]),
        Err(MergeError::Missing { site: 1, events: missing })
    );

    let refused = |telling: &JournalDigest, error| {
        assert_eq!(missing_events(&here.telling(), std::slice::from_ref(telling)), Err(error));
    };
    let mut impostor = Place::new(&policies[1], 77);
    (0..60).for_each(|_| impostor.step());
    refused(&impostor.telling(), MergeError::Site(1));
    let mut same = Place::new(&policies[0], 77);
    (0..60).for_each(|_| same.step());
    refused(&same.telling(), MergeError::Site(0));
    refused(&tell(&at(Settings { noise_variance: 0.5, ..PROBING }, 1), &[]), MergeError::Policy);
    let mut forgotten = Place::new(&policies[2], 8);
    (0..10).for_each(|_| forgotten.step());
    forgotten.run(Command::forget()).unwrap();
    refused(&forgotten.telling(), MergeError::Incarnation);
    let ben = JournalReader::new(&HostUser::<f64>::new(&policies[1], "ben").unwrap().user()).finish();
    refused(&ben, MergeError::User);
    // An older copy of a journal says nothing new.
    assert_eq!(missing_events(&here.telling(), &[told.clone(), here.telling()]), Ok(vec![]));

    // The state itself keeps count.
    let mut user = here.ana.user();
    let known = user.state().known_of(1);
    let nothing = |origin, from, to| {
        Event::Remote(RemoteEvent { site: origin, from, to, time: 0, change: RemoteChange::Nothing })
    };
    let mut refuse = |event: &Event, error| assert_eq!(user.check(event).map(drop), Err(error), "{event:?}");
    refuse(&nothing(1, known - 1, known + 1), UserError::KnownElsewhere);
    refuse(&nothing(1, known + 1, known + 2), UserError::GapElsewhere);
    refuse(&nothing(1, known, known), UserError::OutOfOrder);
    refuse(&nothing(0, 0, 1), UserError::OwnSite);
    let context = TAU2.context(None, []).unwrap();
    let observation = Observation { context, action: Action(0), baseline: 0.0, reward: 0.5, weight: 1.0 };
    let change =
        |observation, coins| RemoteChange::Reward { round: 1, observation, imputed: false, probes: coins };
    let bad = |change| Event::Remote(RemoteEvent { site: 1, from: known, to: known + 1, time: 0, change });
    refuse(&bad(change(Observation { reward: 1.5, ..observation }, Probes::new())), UserError::Reward);
    refuse(
        &bad(change(Observation { action: Action(99), ..observation }, Probes::new())),
        UserError::UnknownAction,
    );
    let coin = fable_core::preference::Probe { contrast: 63, expected: 0.0 };
    refuse(&bad(change(observation, Probes::from_slice(&[coin]).unwrap())), UserError::Probe);
    assert_eq!(here.ana, before);

    // Places are remembered up to a bound.
    for origin in 2..=u32::try_from(MAX_SITES).unwrap() {
        play(&mut here.ana, &[nothing(origin, 0, 1)]).unwrap();
    }
    let before = here.ana.clone();
    assert_eq!(play(&mut here.ana, &[nothing(50, 0, 1)]), Err(UserError::SitesFull));
    assert_eq!(here.ana, before);
    // And in snapshots.
    let again = HostUser::<f64>::restore(here.ana.policy(), &here.ana.to_bytes()).unwrap();
    assert_eq!(again, here.ana);
}

/// A device's journal after a snapshot: decisions that wait in it are told with their coins.
#[test]
fn rewards_of_decisions_before_a_snapshot_are_told_whole() {
    let policies = [at(PROBING, 0), at(PROBING, 1)];
    let mut there = Place::new(&policies[1], 9);
    there.takes_back = false;
    (0..100).for_each(|_| there.step());
    let mut here = Place::new(&policies[0], 1);
    append(&mut here, &[there.telling()]).unwrap();
    let mut compacted = HostUser::<f64>::restore(&policies[1], &there.ana.to_bytes()).unwrap();
    let start = there.journal.len();
    (0..60).for_each(|_| there.step());
    let mut teller = JournalReader::new(&compacted.user());
    there.journal[start..].iter().for_each(|event| teller.take(event));
    let (short, whole) = (teller.finish(), there.telling());
    assert_eq!(
        missing_events(&here.telling(), &[short]).unwrap(),
        missing_events(&here.telling(), &[whole]).unwrap()
    );
}

fn fading() -> impl Iterator<Item = Settings<'static>> {
    let (short, long) =
        (Settings { half_life: Some(9), ..PROBING }, Settings { half_life: Some(40), ..PROBING });
    [
        short,
        long,
        Settings { on_change: OnChange::Halve, ..PROBING },
        Settings { on_change: OnChange::Reset, ..long },
    ]
    .into_iter()
}

/// The order by (time, site, event), written without the crate: rewards and statements, each with its time.
fn by_time(places: &[Place<'_, f64>]) -> Vec<RemoteEvent> {
    let mut all = vec![];
    for (place, origin) in places.iter().zip(0..) {
        let told = missing_events(
            &JournalReader::new(&elsewhere(place.ana.policy()).user()).finish(),
            &[place.telling()],
        )
        .unwrap();
        assert!(told.iter().all(|told| told.site == origin));
        all.extend(told);
    }
    all.sort_by_key(|told| (told.time, told.site, told.to));
    all
}

/// With fading, the merged journal is the replay in the order of time, bit for bit. Merging in parts gives
/// the same bits.
#[test]
fn with_fading_merged_is_the_replay_by_time() {
    for (settings, seed) in fading().zip(100..) {
        let policies = [0, 1, 2].map(|origin| at(settings, origin));
        let mut places: Vec<_> =
            policies.iter().zip(seed..).map(|(policy, seed)| Place::new(policy, seed)).collect();
        let mut merged: Option<(HostUser<'_, f64>, Vec<Interleaved>)> = None;
        for _ in 0..2 {
            for place in &mut places {
                (0..120).for_each(|_| place.step());
            }
            // Earlier knowledge of other sites is in the merged journal. Later events of this site come after
            // it.
            let own = places[0].journal.clone();
            let told = [places[1].telling(), places[2].telling()];
            let news = match &merged {
                None => missing_events(&places[0].telling(), &told).unwrap(),
                Some((_, woven)) => {
                    let journal: Vec<Event> = woven.iter().map(|woven| woven.event.clone()).collect();
                    let known = tell(&policies[0], &journal);
                    let fresh = news_of(&known, &told);
                    let recorded = journal.iter().filter_map(|event| match event {
                        Event::Remote(told) if told.site != 0 => Some(told.clone()),
                        _ => None,
                    });
                    recorded.chain(fresh).collect()
                }
            };
            let mut ana = HostUser::<f64>::new(&policies[0], "ana").unwrap();
            let mut woven = vec![];
            merge_in_order(&mut ana.user(), &own, &news, |step| woven.push(step.clone())).unwrap();
            merged = Some((ana, woven));
        }
        let (ana, woven) = merged.unwrap();
        // The journal alone says it all.
        let journal: Vec<Event> = woven.iter().map(|woven| woven.event.clone()).collect();
        let mut again = HostUser::<f64>::new(&policies[0], "ana").unwrap();
        play(&mut again, &journal).unwrap();
        assert_eq!(again, ana);

        // Everything at a fourth place, in the order of time, with fading by the rule.
        let mut alone = elsewhere(&policies[0]);
        let mut kept: Vec<(Observation, bool, f32)> = vec![];
        for told in by_time(&places) {
            let mut user = alone.user();
            let fade = match &told.change {
                RemoteChange::Reward { observation, imputed, .. } => {
                    kept.push((*observation, *imputed, 1.0));
                    user.check(&Event::Observation(*observation)).unwrap().apply();
                    true
                }
                RemoteChange::Stated(statement) => {
                    user.check(&Event::Onboarding(statement.clone())).unwrap().apply();
                    false
                }
                RemoteChange::Unlearned { observation, imputed, .. } => {
                    let same =
                        |(learned, by, _): &(Observation, bool, f32)| learned == observation && by == imputed;
                    let (.., kept) = kept.remove(kept.iter().rposition(same).unwrap());
                    if kept >= 1e-6 {
                        let probed = ContrastSet::EMPTY;
                        let event =
                            Event::Unlearn { observation: *observation, imputed: *imputed, kept, probed };
                        user.check(&event).unwrap().apply();
                    }
                    false
                }
                _ => false,
            };
            let due = settings
                .half_life
                .is_some_and(|rewards| u32::from(alone.state().rewards_since_fading()) >= rewards);
            let changed =
                alone.state().rewards_since_change() == Some(0) && alone.state().rewards_since_fading() > 0;
            let keep = match settings.on_change {
                OnChange::Halve if changed => Some(0.5),
                OnChange::Reset if changed => Some(0.0),
                _ => due.then_some(0.5),
            };
            if let Some(keep) = keep.filter(|_| fade) {
                alone.user().fade(keep).unwrap();
                for (.., left) in &mut kept {
                    *left *= keep;
                }
            }
        }
        let numbers = |ana: &HostUser<'_, f64>| bits(ana).split_off(4);
        assert_eq!(numbers(&ana), numbers(&alone), "{settings:?}");
        assert_eq!(
            (ana.state().observations(), ana.state().rewards_since_fading()),
            (alone.state().observations(), alone.state().rewards_since_fading())
        );
        assert!(
            journal.iter().any(|event| matches!(event, Event::Fade { .. })) || settings.half_life.is_none()
        );
    }
}

fn news_of(known: &JournalDigest, told: &[JournalDigest]) -> Vec<RemoteEvent> {
    missing_events(known, told).unwrap()
}

/// What was promoted anywhere is in the profile, as it was made; the first in order stays.
#[test]
fn promotions_keep_what_they_were_made_of() {
    let policies = [at(PROBING, 0), at(PROBING, 1)];
    let mut places: Vec<_> =
        policies.iter().zip(21..).map(|(policy, seed)| Place::new(policy, seed)).collect();
    let (context, all) = (TAU2.context(None, []).unwrap(), Feasible::all(&TAU2));
    // One place finds out about the first component, the other about all.
    for (place, component) in places.iter_mut().zip([0, 2]) {
        for _ in 0..1200 {
            place.run(Command::decide(Request::new(&context, &all))).unwrap();
            let rounds = place.ana.state().rounds();
            let id = place.ana.user().id(rounds);
            let Some(Event::Decision { action, .. }) = place.journal.last() else { panic!() };
            let values = TAU2.values(*action).unwrap();
            let liked = (0..=component).filter(|component| values[*component] == 0).count() as f64;
            place.run(Command::feedback(id, 0.6 * liked / (component + 1) as f64 - 0.3)).unwrap();
        }
    }
    let (here, there) =
        (places[0].ana.learner().profile().to_vec(), places[1].ana.learner().profile().to_vec());
    let only = there.iter().filter(|told| here.iter().all(|own| own.contrast != told.contrast)).count();
    assert!(only > 0 && !here.is_empty(), "{here:?} {there:?}");
    let told = [places[1].telling()];
    append(&mut places[0], &told).unwrap();
    let profile = places[0].ana.learner().profile();
    assert_eq!(profile.len(), here.len() + only);
    assert!(here.iter().all(|own| profile.contains(own)));
    assert!(profile.iter().filter(|now| !here.contains(now)).all(|now| there.contains(now)));
    let again = HostUser::<f64>::restore(&policies[0], &places[0].ana.to_bytes()).unwrap();
    assert_eq!(again, places[0].ana);
    let mut user = places[0].ana.user();
    let certified =
        |user: &fable_core::User<'_, f64>, contrast| user.trial(contrast).unwrap().certified != Verdict::Open;
    let by_coins: Vec<_> = user
        .profile()
        .iter()
        .filter(|now| now.by == fable_core::preference::Certifier::Probes)
        .copied()
        .collect();
    assert!(by_coins.iter().all(|now| certified(&user, now.contrast.into())));
    // Life goes on: deciding, learning, promoting.
    let made = user.decide(&Request::new(&context, &all)).unwrap();
    user.feedback(made.id, 0.1).unwrap();
    user.promote(0).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Every missing event survives encoding and decoding. The counts do not depend on the order in which
    /// digests arrive.
    #[test]
    fn told_events_are_records(seed in 0_u64..1_000_000) {
        let policies = [0, 1, 2].map(|origin| at(Settings { expiry: Expiry::Impute(0.1), ..PROBING }, origin));
        let mut places: Vec<_> = policies.iter().zip(seed..).map(|(policy, seed)| Place::new(policy, seed)).collect();
        for place in &mut places {
            (0..50).for_each(|_| place.step());
        }
        let told = [places[1].telling(), places[2].telling()];
        let news = missing_events(&places[0].telling(), &told).unwrap();
        for told in &news {
            let mut buffer = [0; MAX_REMOTE_LEN];
            let event = Event::Remote(told.clone());
            let bytes = encode_event(&event, &mut buffer).unwrap();
            prop_assert_eq!(decode_event(&TAU2, bytes), Ok(event));
        }
        let [first, second] = told;
        append(&mut places[0], std::slice::from_ref(&first)).unwrap();
        append(&mut places[0], &[second]).unwrap();
        prop_assert_eq!(places[0].ana.state().known_of(1), places[1].ana.state().events());
        prop_assert_eq!(places[0].ana.state().known_of(2), places[2].ana.state().events());
        // And further: what one place was told, it tells.
        let mut third = Place::new(&at(Settings { expiry: Expiry::Impute(0.1), ..PROBING }, 3), seed);
        let all = places[0].telling();
        append(&mut third, &[all]).unwrap();
        prop_assert_eq!(third.ana.state().observations(), places[0].ana.state().observations());
        prop_assert_eq!(append(&mut third, &[first]).unwrap(), 0);
    }
}
