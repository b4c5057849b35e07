//! One user at several places, each with a learner and a journal of its own, who meet now and then.

use crate::setup::StudyError;
use fable_core::host::HostLearner;
use fable_core::journal::{Command, Event, RemoteEvent};
use fable_core::{Action, Context, Feasible, HostUser, Policy, Request, Settings};
use fable_merge::{JournalDigest, JournalReader, merge_in_order, missing_events};
use fable_simulate::{Random, SimulatedUser};

/// How long a life is.
pub const ROUNDS: u32 = 200;

/// How often requests come at each of the places, of ten.
const SHARES: [usize; 3] = [5, 3, 2];
/// How many places there are.
pub const PLACES: usize = SHARES.len();

/// What the die is for.
const WHERE: u64 = 0xde51;
const WHO: u64 = 0xde52;

/// When places tell each other what they know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meeting {
    /// There is one place only.
    OnePlace,
    /// All of them, after so many requests.
    All(u32),
    /// Two of them, by a die, after so many requests.
    Two(u32),
    /// Never.
    Never,
}

/// A place.
pub struct Place<'p> {
    user: HostUser<'p, f64>,
    teller: JournalReader,
    /// What happened here.
    journal: Vec<Event>,
    /// What is known from elsewhere.
    known: Vec<RemoteEvent>,
}

impl<'p> Place<'p> {
    fn new(policy: &Policy<'p, f64>, number: u64) -> Result<Self, StudyError> {
        let mut user = begin(policy, number)?;
        let teller = JournalReader::new(&user.user());
        Ok(Self { user, teller, journal: Vec::new(), known: Vec::new() })
    }

    /// Lets a command happen, and writes it down.
    fn run(&mut self, command: &mut Command<'_>) -> Result<(), StudyError> {
        let mut user = self.user.user();
        while let Some(step) = user.next(command)? {
            self.teller.take(step.event());
            self.journal.push(step.event().clone());
            step.apply();
        }
        Ok(())
    }

    /// A request and its reward; the action that was chosen.
    fn serve(
        &mut self,
        person: &SimulatedUser<'_>,
        round: u32,
        context: &Context,
        all: &Feasible,
    ) -> Result<Action, StudyError> {
        let mut command = Command::decide(Request::new(context, all).at(round));
        self.run(&mut command)?;
        let decision = command
            .decision(&self.user.user())
            .ok_or_else(|| StudyError::Failed("nothing was decided".into()))?;
        self.run(
            &mut Command::feedback(decision.id, person.reward(round, context, decision.action)).at(round),
        )?;
        Ok(decision.action)
    }

    /// What others can learn here.
    fn telling(&self) -> JournalDigest {
        self.teller.clone().finish()
    }

    /// Learns what was told elsewhere and is not known here; how many pieces that was.
    fn hear(&mut self, told: &[JournalDigest]) -> Result<usize, StudyError> {
        let news = missing_events(&self.telling(), told)?;
        let count = news.len();
        let policy = *self.user.policy();
        if policy.settings().fades() {
            // The order counts: everything again from the beginning.
            let mut woven = begin(&policy, self.user.state().user())?;
            let all: Vec<RemoteEvent> = self.known.iter().chain(&news).cloned().collect();
            merge_in_order(&mut woven.user(), &self.journal, &all, |_| ())?;
            self.user = woven;
        } else {
            let placing = self.user.user().site_event();
            if let Some(event) = placing {
                self.run(&mut Command::event(event))?;
            }
            for told in &news {
                self.user.user().run(&mut Command::event(Event::Remote(told.clone())))?;
            }
        }
        for told in &news {
            self.teller.take(&Event::Remote(told.clone()));
        }
        self.known.extend(news);
        Ok(count)
    }
}

fn begin<'p>(policy: &Policy<'p, f64>, number: u64) -> Result<HostUser<'p, f64>, StudyError> {
    let mut learner = HostLearner::for_policy(policy);
    learner.start(policy, number)?;
    Ok(HostUser::from_learner(policy, learner)?)
}

/// A life at several places.
pub struct Life<'p> {
    /// By round.
    pub regret: Vec<f64>,
    places: Vec<Place<'p>>,
    /// What was asked, done and rewarded, in the order of time.
    rewards: Vec<(Context, Action, f64)>,
}

/// The policies of the places.
///
/// # Errors
/// What the settings say.
pub fn policies(
    catalog: &'static fable_core::Catalog<'static>,
    settings: Settings<'static>,
) -> Result<[Policy<'static, f64>; PLACES], StudyError> {
    let at = |site: u32| Policy::new(catalog, Settings { site, ..settings });
    Ok([at(0)?, at(1)?, at(2)?])
}

/// Lets a user live: the same requests, the same noise and the same places of requests, whenever places meet.
///
/// # Errors
/// What the learner says.
pub fn live<'p>(
    policies: &[Policy<'p, f64>; PLACES],
    meeting: Meeting,
    number: u64,
) -> Result<Life<'p>, StudyError> {
    let [first, ..] = policies;
    let person = SimulatedUser::new(first.catalog(), number);
    let everything = Feasible::all(first.catalog());
    let places = policies.iter().map(|policy| Place::new(policy, number)).collect::<Result<Vec<_>, _>>()?;
    let mut life = Life { regret: Vec::new(), places, rewards: Vec::new() };
    for round in 1..=ROUNDS {
        let context = person.request(round)?.context;
        let place = if meeting == Meeting::OnePlace { 0 } else { place_of(number, round) };
        let Some(here) = life.places.get_mut(place) else { continue };
        let action = here.serve(&person, round, &context, &everything)?;
        life.regret.push(person.best(&context, &everything).1 - person.expected(&context, action));
        life.rewards.push((context, action, person.reward(round, &context, action)));
        match meeting {
            Meeting::All(every) if round.is_multiple_of(every) => drop(life.meet(&[0, 1, 2])?),
            Meeting::Two(every) if round.is_multiple_of(every) => {
                let away = Random::new([number, u64::from(round), 0, WHO]).below(PLACES);
                let meet: Vec<usize> = (0..PLACES).filter(|place| *place != away).collect();
                life.meet(&meet)?;
            }
            _ => {}
        }
    }
    Ok(life)
}

/// Where a request comes.
fn place_of(number: u64, round: u32) -> usize {
    let die = Random::new([number, u64::from(round), 0, WHERE]).below(SHARES.iter().sum());
    usize::from(die >= SHARES[0]) + usize::from(die >= SHARES[0] + SHARES[1])
}

impl Life<'_> {
    /// Some places tell each other everything they know; how many pieces were news to somebody.
    ///
    /// # Errors
    /// What merging says.
    pub fn meet(&mut self, who: &[usize]) -> Result<usize, StudyError> {
        let told: Vec<JournalDigest> =
            who.iter().filter_map(|place| self.places.get(*place)).map(Place::telling).collect();
        let mut count = 0;
        for place in who {
            if let Some(here) = self.places.get_mut(*place) {
                count += here.hear(&told)?;
            }
        }
        Ok(count)
    }

    /// The largest difference between what a place predicts and what a learner predicts that was given all rewards in the order of
    /// time and nothing else, over all actions in the contexts of the last requests.
    ///
    /// # Errors
    /// What the learner says.
    pub fn difference(&mut self, policies: &[Policy<'_, f64>; PLACES]) -> Result<f64, StudyError> {
        let [policy, ..] = policies;
        let mut alone = begin(policy, 0)?;
        for (context, action, reward) in &self.rewards {
            alone.user().run(&mut Command::observe(context, *action, *reward))?;
        }
        let mut largest: f64 = 0.0;
        for (context, ..) in self.rewards.iter().rev().take(10) {
            for action in policy.catalog().all_actions().iter() {
                let own = alone.user().predict(context, action, None)?;
                for place in &mut self.places {
                    let here = place.user.user().predict(context, action, None)?;
                    largest =
                        largest.max((here.mean - own.mean).abs()).max((here.variance - own.variance).abs());
                }
            }
        }
        Ok(largest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fable_core::catalog::TAU2;

    #[test]
    fn requests_come_where_they_should() {
        let mut counts = [0_usize; PLACES];
        for number in 0..50 {
            (1..=ROUNDS).for_each(|round| counts[place_of(number, round)] += 1);
        }
        for (count, share) in counts.iter().zip(SHARES) {
            assert!((*count as f64 / 10_000.0 - share as f64 / 10.0).abs() < 0.03, "{counts:?}");
        }
    }

    #[test]
    fn who_met_knows_everything_once_and_who_did_not_does_not() {
        for half_life in [None, Some(50)] {
            let policies = policies(&TAU2, Settings { half_life, ..Settings::DEFAULT }).unwrap();
            let mut apart = live(&policies, Meeting::Never, 3).unwrap();
            assert!(apart.difference(&policies).unwrap() > 0.01);
            assert!(apart.meet(&[0, 1, 2]).unwrap() > 0);
            assert_eq!(apart.meet(&[2, 0, 1]).unwrap(), 0);
            let largest = apart.difference(&policies).unwrap();
            assert!(largest < 1e-9, "{half_life:?}: {largest}");
        }
    }
}
