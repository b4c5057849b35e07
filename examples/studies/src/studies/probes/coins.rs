//! Coins without the rule: a coin in every round for every component, through the learner's own events.
//!
//! The rule tosses where a difference looks large, which is hardly ever so where there is none. Here nothing looks, so that
//! the test is under the greatest stress and coins can be counted one by one.

use super::person::Person;
use crate::setup::StudyError;
use fable_core::host::HostLearner;
use fable_core::journal::{Command, Event};
use fable_core::preference::{Certifier, Probe, Probes, Verdict};
use fable_core::{Action, HostUser, Policy};
use fable_simulate::Random;

/// A coin with its reward.
#[derive(Clone, Copy, Debug)]
pub struct Settled {
    pub contrast: usize,
    pub preferred: bool,
    pub reward: f64,
    /// How much more the value that the contrast prefers would have been reported to be worth, on average.
    pub truth: f64,
}

struct Open {
    due: Option<u32>,
    round: u32,
    reward: f64,
    coins: Vec<Settled>,
}

/// One person, tossed for again and again.
pub struct Table<'p> {
    user: HostUser<'p, f32>,
    open: Vec<Open>,
    level: f64,
    /// The components that are tossed for.
    pub components: Vec<usize>,
    /// Whether true differences are wanted.
    pub truths: bool,
}

/// The value that a contrast prefers and the other one, if it is about this component.
fn sides(policy: &Policy<'_, f32>, contrast: usize, component: usize) -> Option<(u8, u8)> {
    let contrast = policy.catalog().contrasts().get(contrast)?;
    (contrast.component() == Some(component)).then_some(())?;
    Some((*contrast.prefer.get(component)?, *contrast.over.get(component)?))
}

impl<'p> Table<'p> {
    pub fn new(policy: &Policy<'p, f32>, number: u64) -> Result<Self, StudyError> {
        let mut learner = HostLearner::for_policy(policy);
        learner.start(policy, number)?;
        let components = (0..policy.catalog().definition().components.len()).collect();
        let mut user = HostUser::from_learner(policy, learner)?;
        user.user().check(&Event::Permissions(policy.catalog().all_actions()))?.apply();
        Ok(Self { user, open: Vec::new(), level: 0.0, components, truths: false })
    }

    pub fn user(&mut self) -> &mut HostUser<'p, f32> {
        &mut self.user
    }

    /// One round: a contrast for each component that has none open, a fair coin each, and the rewards that come by then.
    pub fn round(&mut self, person: &Person, round: u32) -> Result<Vec<Settled>, StudyError> {
        let (policy, context) = (*self.user.policy(), person.context(round)?);
        let (catalog, mut random) =
            (policy.catalog(), Random::new([person.number, u64::from(round), 0, 0xc011]));
        let mut values = catalog.values(Action(random.below(catalog.actions()) as u16)).unwrap_or_default();
        let (mut coins, mut tossed) = (Probes::new(), Vec::new());
        let waits: Vec<usize> =
            self.open.iter().flat_map(|open| open.coins.iter().map(|coin| coin.contrast)).collect();
        for component in self.components.iter().copied() {
            let applies = |contrast: &usize| {
                catalog.contrasts().get(*contrast).is_some_and(|known| known.applies(&context))
            };
            let free = |contrast: &usize| {
                !waits.contains(contrast) && sides(&policy, *contrast, component).is_some()
            };
            let able: Vec<usize> = (0..catalog.contrasts().len()).filter(free).filter(applies).collect();
            let (any, preferred) = (random.below(able.len().max(1)), random.unit() < 0.5);
            let Some((contrast, sides)) =
                able.get(any).and_then(|any| Some((*any, sides(&policy, *any, component)?)))
            else {
                continue;
            };
            if let Some(value) = values.get_mut(component) {
                *value = if preferred { sides.0 } else { sides.1 };
            }
            let _ = coins.push(Probe { contrast: contrast as u8, expected: self.level as f32 });
            tossed.push((contrast, component, preferred, sides));
        }
        let action =
            catalog.action(&values).ok_or_else(|| StudyError::Failed("values of the catalog".into()))?;
        let baseline = f64::from(policy.baseline(&context, action, None));
        let event = Event::Decision { round, action, baseline, context, time: 0, probes: coins };
        self.user.user().check(&event)?.apply();
        let reward = person.reward(action, round);
        let truths = self.truths;
        let truth = |component: usize, (prefer, over): (u8, u8)| {
            if !truths {
                return 0.0;
            }
            let [prefer, over] = [prefer, over].map(|value| {
                let mut values = values.clone();
                values.get_mut(component).into_iter().for_each(|slot| *slot = value);
                catalog.action(&values).map_or(0.0, |action| person.expected(action, round))
            });
            prefer - over
        };
        let settled = |&(contrast, component, preferred, sides): &(usize, usize, bool, (u8, u8))| Settled {
            contrast,
            preferred,
            reward,
            truth: truth(component, sides),
        };
        let coins = tossed.iter().map(settled).collect();
        let due = person.delay(reward).map(|delay| round + delay);
        self.open.push(Open { due, round, reward, coins });
        self.answers(round)
    }

    /// The rewards that come by a round. Who never answers is not waited for: nothing is learned.
    fn answers(&mut self, round: u32) -> Result<Vec<Settled>, StudyError> {
        let mut answered = Vec::new();
        let mut still = Vec::new();
        for open in std::mem::take(&mut self.open) {
            match open.due {
                Some(due) if due <= round => {
                    let mut user = self.user.user();
                    let id = user.id(open.round);
                    user.run(&mut Command::feedback(id, open.reward))?;
                    self.level += 0.1 * (open.reward - self.level);
                    answered.extend(open.coins);
                }
                None => {
                    self.user.user().check(&Event::Expiry { round: open.round, imputed: None })?.apply();
                }
                Some(_) => still.push(open),
            }
        }
        self.open = still;
        Ok(answered)
    }

    /// What coins have certified a contrast as, and not withdrawn.
    pub fn certified(&mut self, contrast: usize) -> Result<Verdict, StudyError> {
        Ok(self.user.user().trial(contrast)?.certified)
    }

    /// Whether coins have ever certified anything.
    pub fn ever(&mut self) -> bool {
        self.user.user().profile().iter().any(|entry| entry.by == Certifier::Probes)
    }
}
