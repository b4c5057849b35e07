//! The simulated user of the page, and those that Fable is compared with on this user.
//!
//! The user may change their mind: from some rounds on the hidden preferences are turned over, what was liked is disliked, and turned over
//! again at the next such round. Requests and moods stay those of the round.

use crate::answer::{Asked, Beliefs, Race, Responded};
use crate::beliefs::{Slider, beliefs};
use crate::refused;
use crate::rivals::Rivals;
use crate::team;
use alloc::vec::Vec;
use fable_core::catalog::ActionSet;
use fable_core::{Action, Context, Feasible};
use fable_js::{AGENT, Life, Refusal};
use fable_simulate::SimulatedUser;

/// A simulated user, and those that Fable is compared with on this user.
#[derive(Clone, Debug)]
pub struct Simulation {
    user: Mind,
    rivals: Rivals,
}

/// A user who changes their mind.
#[derive(Clone, Debug)]
pub(crate) struct Mind {
    before: SimulatedUser<'static>,
    after: SimulatedUser<'static>,
    /// Rounds from which on the preferences are the other ones.
    turns: Vec<u32>,
}

impl Mind {
    fn new(before: SimulatedUser<'static>, seed: u64) -> Result<Self, Refusal> {
        let turned = before.theta().iter().map(|weight| -weight).collect();
        let after = SimulatedUser::with_theta(&AGENT, turned, seed).map_err(refused)?;
        Ok(Self { before, after, turns: Vec::new() })
    }

    /// The user of a round.
    pub(crate) fn at(&self, round: u32) -> &SimulatedUser<'static> {
        let turns = self.turns.iter().filter(|turn| **turn <= round).count();
        if turns % 2 == 0 { &self.before } else { &self.after }
    }
}

impl Simulation {
    /// The simulated user of a seed.
    ///
    /// # Errors
    /// None that the default settings lead to.
    pub fn new(seed: u64) -> Result<Self, Refusal> {
        Ok(Self { user: Mind::new(SimulatedUser::new(&AGENT, seed), seed)?, rivals: Rivals::new(seed)? })
    }

    /// The member of the [team] with a seed.
    ///
    /// # Errors
    /// None that the default settings lead to.
    pub fn of_team(seed: u64) -> Result<Self, Refusal> {
        Ok(Self { user: Mind::new(team::member(seed)?, seed)?, rivals: Rivals::new(seed)? })
    }

    /// Has the user change their mind at these rounds, and at no others. Rounds that were played stay as they were.
    pub fn turn(&mut self, rounds: Vec<u32>) {
        self.user.turns = rounds;
    }

    /// The reward of an action in a round and its mean, for learners that the page runs beside Fable.
    ///
    /// # Errors
    /// An action that is not in the catalog.
    pub fn rate(&self, round: u32, action: u16) -> Result<(f64, f64), Refusal> {
        let (user, action) = (self.user.at(round), known(action)?);
        let context = user.request(round).map_err(refused)?.context;
        Ok((user.reward(round, &context, action), user.expected(&context, action)))
    }

    /// What the user asks for in a round, from 1.
    ///
    /// # Errors
    /// None with the catalog of this page.
    pub fn ask(&self, round: u32) -> Result<Asked, Refusal> {
        let request = self.user.before.request(round).map_err(refused)?;
        Ok(Asked::new(request.text, &request.context))
    }

    /// How the user takes an action, and what the others would have earned in the same round.
    ///
    /// # Errors
    /// An action that is not in the catalog, or nothing feasible.
    pub fn respond(
        &mut self,
        round: u32,
        action: u16,
        feasible: impl IntoIterator<Item = u16>,
    ) -> Result<Responded, Refusal> {
        let mut set = ActionSet::EMPTY;
        feasible.into_iter().for_each(|action| set.insert(Action(action)));
        let (feasible, action) = (Feasible::from_set(&AGENT, set)?, known(action)?);
        let user = self.user.at(round);
        let context = user.request(round).map_err(refused)?.context;
        let reward = user.reward(round, &context, action);
        let others = self.rivals.round(&self.user, &feasible, round)?;
        let fable = user.expected(&context, action);
        let said = user.reaction(&context, &feasible, action, reward);
        Ok(Responded {
            reward,
            said,
            race: Race { fable, flat: others.flat, rules: others.rules, best: others.best },
        })
    }

    /// What is believed about somebody, with what is true if it is the simulated user.
    ///
    /// # Errors
    /// None that a valid life leads to.
    pub fn beliefs(
        &self,
        life: &mut Life,
        context: &Context,
        sliders: &[Slider],
        simulated: bool,
    ) -> Result<Beliefs, Refusal> {
        let round = life.rounds();
        Ok(beliefs(life, context, sliders, simulated.then(|| self.user.at(round)))?)
    }
}

fn known(action: u16) -> Result<Action, Refusal> {
    let action = Action(action);
    let known = AGENT.all_actions().contains(action).then_some(action);
    known.ok_or_else(|| Refusal::new("unknown_name", "the action is not in the catalog"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mind_turns_over_at_its_rounds_and_back() {
        let mut simulation = Simulation::new(7).unwrap();
        let best =
            |simulation: &mut Simulation, round| simulation.respond(round, 0, 0..180).unwrap().race.best;
        let always: Vec<f64> = (0..180).map(|action| simulation.rate(5, action).unwrap().1).collect();
        simulation.turn(alloc::vec![5, 8]);
        let turned: Vec<f64> = (0..180).map(|action| simulation.rate(5, action).unwrap().1).collect();
        let mut alike = (Simulation::new(7).unwrap(), simulation.clone());
        for round in [1, 4, 8, 9] {
            assert_eq!(alike.0.rate(round, 17).unwrap(), alike.1.rate(round, 17).unwrap());
            assert_eq!(best(&mut alike.0, round), best(&mut alike.1, round));
        }
        // What was liked best is not liked any more; what it costs and what fits by default stay, and so do requests.
        let favourite = (0..180).max_by(|one, other| always[*one].total_cmp(&always[*other])).unwrap();
        assert!(turned[favourite] < always[favourite] - 0.5, "{} {}", turned[favourite], always[favourite]);
        assert_eq!(simulation.ask(5).unwrap(), Simulation::new(7).unwrap().ask(5).unwrap());
        assert!(simulation.rate(5, 180).is_err());
    }
}
