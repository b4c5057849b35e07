//! Everything behind the page: who is asking, what they allow, what was chosen, how they took it.

use crate::answer::{Allowed, Asked, Beliefs, Decided, Race, Reacted, Share, Tossed, Why};
use crate::beliefs::{SLIDERS, beliefs};
use crate::permissions::Permissions;
use crate::rivals::Rivals;
use crate::{AGENT, Life, PageError};
use alloc::string::String;
use alloc::vec::Vec;
use fable_core::{Action, Context, Decision, Source};
use fable_simulate::SimulatedUser;
use fable_text::wording;
use fable_text::{ContextAdapter, RequestText, Rules, Situation};

/// Signals of an ordinary request, where values are compared in general.
const ORDINARY: [f32; 4] = [0.3; 4];

/// Whose life it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// The person in front of the page.
    Visitor,
    /// A simulated user with hidden preferences.
    Simulated,
}

/// A life and what is going on in it.
#[derive(Clone, Debug)]
struct Person {
    life: Life,
    permissions: Permissions,
    request: Option<Context>,
    /// The decision that waits for a reaction, and its context.
    waiting: Option<(Decision, Context)>,
}

impl Person {
    fn new(name: &str, seed: u64) -> Result<Self, PageError> {
        Ok(Self { life: Life::new(name, seed)?, permissions: Permissions::none(), request: None, waiting: None })
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Page {
    visitor: Person,
    simulated: Person,
    user: SimulatedUser<'static>,
    rivals: Rivals,
    seed: u64,
}

impl Page {
    /// A page whose simulated user has this seed; the visitor's is always 0, the default of every command.
    ///
    /// # Errors
    /// None that the default settings lead to.
    pub fn new(seed: u64) -> Result<Self, PageError> {
        Ok(Self {
            visitor: Person::new("visitor", 0)?,
            simulated: Person::new("simulated", seed)?,
            user: SimulatedUser::new(&AGENT, seed),
            rivals: Rivals::new(seed)?,
            seed,
        })
    }

    /// Replaces the simulated user; nothing is known about the new one.
    ///
    /// # Errors
    /// None that the default settings lead to.
    pub fn meet(&mut self, seed: u64) -> Result<(), PageError> {
        let Self { simulated, user, rivals, .. } = Self::new(seed)?;
        let permissions = self.simulated.permissions.clone();
        (self.simulated, self.user, self.rivals, self.seed) = (Person { permissions, ..simulated }, user, rivals, seed);
        Ok(())
    }

    fn person(&mut self, who: Who) -> &mut Person {
        match who {
            Who::Visitor => &mut self.visitor,
            Who::Simulated => &mut self.simulated,
        }
    }

    /// Takes a request in words.
    ///
    /// # Errors
    /// None with the catalog of this page.
    pub fn read(&mut self, who: Who, text: &str) -> Result<Asked, PageError> {
        let context = Rules.context(&AGENT, Situation::new(RequestText::new(text)))?.value;
        self.person(who).request = Some(context);
        Ok(asked(text.into(), &context))
    }

    /// Takes the simulated user's next request.
    ///
    /// # Errors
    /// None with the catalog of this page.
    pub fn ask(&mut self) -> Result<Asked, PageError> {
        let next = self.simulated.life.rounds().saturating_add(1);
        let request = self.user.request(next)?;
        self.simulated.request = Some(request.context);
        Ok(asked(request.text, &request.context))
    }

    /// Sets the switches, one bit each in the order of [`PERMISSIONS`](crate::PERMISSIONS).
    ///
    /// # Errors
    /// Switches that leave nothing.
    pub fn permit(&mut self, who: Who, switches: u32) -> Result<Allowed, PageError> {
        let permissions = Permissions::new(switches)?;
        let removed_by = AGENT.all_actions().iter().map(|action| permissions.removed_by(action)).collect();
        let count = permissions.feasible().len();
        self.person(who).permissions = permissions;
        Ok(Allowed { count, removed_by })
    }

    /// Decides on the request.
    ///
    /// # Errors
    /// No request, or what the learner refuses.
    pub fn decide(&mut self, who: Who) -> Result<Decided, PageError> {
        let Person { life, permissions, request, waiting } = self.person(who);
        let context = request.ok_or(PageError::NoRequest)?;
        let (decision, scores) = life.decide(&context, permissions.feasible())?;
        let action = decision.action;
        *waiting = Some((decision, context));
        let mut instruction = String::new();
        let _ = AGENT.instruct(action, &mut instruction); // a string takes everything
        Ok(Decided {
            round: decision.id.round,
            action: action.0,
            values: values(action),
            instruction,
            score: scores.score,
            sampled_score: scores.sampled_score,
            explored: scores.explored,
            feasible: permissions.feasible().len(),
            probes: life
                .user()
                .coins(decision.id)
                .map(|probe| Tossed { contrast: probe.contrast, preferred: probe.preferred })
                .collect(),
        })
    }

    /// Explains the decision that waits, against another action or the runner-up.
    ///
    /// # Errors
    /// No decision, or an action that is not in the catalog.
    pub fn explain(&mut self, who: Who, other: Option<Action>) -> Result<Why, PageError> {
        let Person { life, permissions, waiting, .. } = self.person(who);
        let (decision, _) = waiting.ok_or(PageError::NoDecision)?;
        let mut user = life.user();
        let why = user.explain(decision.id, None, other)?;
        let shares = why.shares().map(|share| {
            let name = |known: &str, coordinate: Option<usize>| match (known, coordinate) {
                ("", Some(coordinate)) => wording::coordinate(&AGENT, coordinate),
                ("", None) => String::new(),
                _ => known.into(),
            };
            let known = match share.source {
                Source::Default => "default score",
                Source::Cost => "cost",
                Source::Draw => "the draw",
                Source::Bonus => "the bonus for what is uncertain",
                Source::Block(_) => "",
            };
            Share {
                chosen_words: name(known, share.chosen_coordinate),
                other_words: name(known, share.other_coordinate),
                chosen: share.chosen,
                other: share.other,
            }
        });
        Ok(Why {
            turned: why.intended != why.chosen,
            other: why.other.0,
            other_values: values(why.other),
            removed_by: permissions.removed_by(why.other),
            scores: [why.chosen_score, why.other_score],
            explored: why.explored,
            shares: shares.collect(),
        })
    }

    /// Learns a reaction to the decision that waits.
    ///
    /// # Errors
    /// No decision, or a reward that is not a number from -1 to 1.
    pub fn react(&mut self, who: Who, reward: f64) -> Result<Reacted, PageError> {
        let Person { life, waiting, .. } = self.person(who);
        let (decision, _) = waiting.ok_or(PageError::NoDecision)?;
        let promoted = life.learn(decision.id, reward)?;
        *waiting = None;
        let changed = life.rewards_since_change() == Some(0);
        Ok(Reacted { reward, said: None, promoted, changed, race: None })
    }

    /// Has the simulated user react to the decision that waits, and the others play the same round.
    ///
    /// # Errors
    /// No decision.
    pub fn respond(&mut self) -> Result<Reacted, PageError> {
        let (Decision { id, action, .. }, context) = self.simulated.waiting.ok_or(PageError::NoDecision)?;
        let feasible = *self.simulated.permissions.feasible();
        let reward = self.user.reward(id.round, &context, action);
        let reacted = self.react(Who::Simulated, reward)?;
        let others = self.rivals.round(&self.user, &feasible, id.round)?;
        let fable = self.user.expected(&context, action);
        let said = Some(self.user.reaction(&context, &feasible, action, reward));
        let race = Some(Race { fable, flat: others.flat, rules: others.rules, best: others.best });
        Ok(Reacted { said, race, ..reacted })
    }

    /// Plays rounds of the simulated user at once.
    ///
    /// # Errors
    /// None that a valid page leads to.
    pub fn play(&mut self, rounds: u32) -> Result<Vec<Race>, PageError> {
        let mut race = Vec::new();
        for _ in 0..rounds {
            self.ask()?;
            self.decide(Who::Simulated)?;
            race.extend(self.respond()?.race);
        }
        Ok(race)
    }

    /// Takes what a slider says, from -1, all for its left end, to 1.
    ///
    /// # Errors
    /// No such slider, or a number out of range.
    pub fn state(&mut self, who: Who, slider: usize, response: f64) -> Result<(), PageError> {
        let statement = SLIDERS.get(slider).ok_or(PageError::Unknown)?.statement(response)?;
        self.person(who).life.state(statement)
    }

    /// What is believed, in general or for the request at hand.
    ///
    /// # Errors
    /// None that a valid page leads to.
    pub fn beliefs(&mut self, who: Who, here: bool) -> Result<Beliefs, PageError> {
        let general = Context::new(&AGENT, None, &ORDINARY)?;
        let context = self.person(who).request.filter(|_| here).unwrap_or(general);
        match who {
            Who::Visitor => Ok(beliefs(&mut self.visitor.life, &context, None)?),
            Who::Simulated => Ok(beliefs(&mut self.simulated.life, &context, Some(&self.user))?),
        }
    }

    /// Explores with this optimism from now on.
    ///
    /// # Errors
    /// An optimism out of its range.
    pub fn explore(&mut self, who: Who, optimism: f64) -> Result<(), PageError> {
        self.person(who).life.explore(optimism)
    }

    /// Forgets a person.
    ///
    /// # Errors
    /// As for [`Life::forget`].
    pub fn forget(&mut self, who: Who) -> Result<(), PageError> {
        self.person(who).life.forget()?;
        self.settle(who)
    }

    /// A person's state as a snapshot record.
    pub fn save(&mut self, who: Who) -> Vec<u8> {
        self.person(who).life.save()
    }

    /// Goes on from a snapshot record.
    ///
    /// # Errors
    /// As for [`Life::load`].
    pub fn load(&mut self, who: Who, bytes: &[u8]) -> Result<(), PageError> {
        self.person(who).life.load(bytes)?;
        self.settle(who)
    }

    /// Where a person's tape begins, and what happened since.
    pub fn tape(&mut self, who: Who) -> (&[u8], &[u8]) {
        let life = &self.person(who).life;
        (life.tape_start(), life.journal())
    }

    /// After a life was replaced: nothing waits, and the others start again.
    fn settle(&mut self, who: Who) -> Result<(), PageError> {
        self.person(who).waiting = None;
        if who == Who::Simulated {
            self.rivals = Rivals::new(self.seed)?;
        }
        Ok(())
    }
}

fn asked(text: String, context: &Context) -> Asked {
    let task = context.task().and_then(|task| AGENT.definition().tasks.get(task).copied());
    Asked { text, task, signals: context.signals().to_vec() }
}

fn values(action: Action) -> Vec<u8> {
    AGENT.values(action).unwrap_or_default().to_vec()
}
