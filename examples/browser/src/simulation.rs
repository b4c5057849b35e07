//! The simulated user behind the page, and those that Fable is compared with on this user.

use crate::answer::{Asked, Beliefs, Race, Responded};
use crate::beliefs::{Slider, beliefs};
use crate::refused;
use crate::rivals::Rivals;
use alloc::string::String;
use fable_core::{Action, ActionSet, Context, Feasible};
use fable_js::{AGENT, Life, Refusal};
use fable_simulate::SimulatedUser;
use fable_text::{ContextAdapter, RequestText, Rules, Situation};

/// Reads a request in words.
///
/// # Errors
/// None with the catalog of this page.
pub fn read(text: &str) -> Result<Asked, Refusal> {
    let context = Rules.context(&AGENT, Situation::new(RequestText::new(text))).map_err(refused)?.value;
    Ok(asked(text.into(), &context))
}

/// A simulated user, and those that Fable is compared with on this user.
#[derive(Clone, Debug)]
pub struct Simulation {
    user: SimulatedUser<'static>,
    rivals: Rivals,
}

impl Simulation {
    /// The simulated user of a seed.
    ///
    /// # Errors
    /// None that the default settings lead to.
    pub fn new(seed: u64) -> Result<Self, Refusal> {
        Ok(Self { user: SimulatedUser::new(&AGENT, seed), rivals: Rivals::new(seed)? })
    }

    /// What the user asks for in a round, from 1.
    ///
    /// # Errors
    /// None with the catalog of this page.
    pub fn ask(&self, round: u32) -> Result<Asked, Refusal> {
        let request = self.user.request(round).map_err(refused)?;
        Ok(asked(request.text, &request.context))
    }

    /// How the user takes an action, and what the others would have earned in the same round.
    ///
    /// # Errors
    /// An action that is not in the catalog, or nothing feasible.
    pub fn respond(&mut self, round: u32, action: u16, feasible: impl IntoIterator<Item = u16>) -> Result<Responded, Refusal> {
        let mut set = ActionSet::EMPTY;
        feasible.into_iter().for_each(|action| set.insert(Action(action)));
        let (feasible, action) = (Feasible::from_set(&AGENT, set)?, Action(action));
        if !AGENT.all_actions().contains(action) {
            return Err(Refusal::new("unknown_name", "the action is not in the catalog"));
        }
        let context = self.user.request(round).map_err(refused)?.context;
        let reward = self.user.reward(round, &context, action);
        let others = self.rivals.round(&self.user, &feasible, round)?;
        let fable = self.user.expected(&context, action);
        let said = self.user.reaction(&context, &feasible, action, reward);
        Ok(Responded { reward, said, race: Race { fable, flat: others.flat, rules: others.rules, best: others.best } })
    }

    /// What is believed about somebody, with what is true if it is the simulated user.
    ///
    /// # Errors
    /// None that a valid life leads to.
    pub fn beliefs(&self, life: &mut Life, context: &Context, sliders: &[Slider], simulated: bool) -> Result<Beliefs, Refusal> {
        Ok(beliefs(life, context, sliders, simulated.then_some(&self.user))?)
    }
}

fn asked(text: String, context: &Context) -> Asked {
    let task = context.task().and_then(|task| AGENT.definition().tasks.get(task).copied());
    Asked { text, task, signals: context.signals().to_vec() }
}
