//! Who else could live with the simulated user: a flat learner, the rules alone, and somebody who knows.
//!
//! *Flat* is the same learner with one weight per complete action: its dictionary has a single block. It has the settings that
//! suit it best, not Fable's: an optimist who has to try each of 180 actions learns nothing else. *Rules* takes the best
//! default score less cost and never learns.

use crate::refused;
use crate::simulation::Mind;

use fable_core::catalog::{Block, Definition};
use fable_core::journal::Command;
use fable_core::{Action, Catalog, Context, Exploration, Feasible, Policy, Settings};
use fable_js::{AGENT, Life, Refusal};

/// The catalog whose dictionary has one block, a weight per complete action.
static FLAT: Catalog<'static> =
    Catalog::new(Definition { blocks: &[Block::complete()], ..*fable_core::catalog::AGENT.definition() });

/// The flat learner's settings: of precisions 2, 4, 8 and 16, each with a draw (nu 0.1, 0.3, 0.5) and with optimism (0 to 1.5),
/// those with the highest mean reward in 200 rounds of the first 100 users, the very ones that it is compared on: 0.43. With the
/// defaults it gets 0.30.
const FLAT_SETTINGS: Settings<'static> =
    Settings { base_precision: Some(8.0), exploration: Exploration::Constant(0.3), ..Settings::DEFAULT };

/// Rounds that are lived through at most to catch up with a life that was loaded.
const CATCH_UP: u32 = 2_000;

/// The others, after as many rounds as they have played.
#[derive(Clone, Debug)]
pub(crate) struct Rivals {
    flat: Life,
    rounds: u32,
}

/// Mean rewards of what the others choose in a round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Chosen {
    pub(crate) flat: f64,
    pub(crate) rules: f64,
    pub(crate) best: f64,
}

impl Rivals {
    pub(crate) fn new(seed: u64) -> Result<Self, Refusal> {
        let policy = Policy::new(&FLAT, Settings { seed, ..FLAT_SETTINGS })?;
        Ok(Self { flat: Life::begin(&policy, 0, false)?, rounds: 0 })
    }

    /// Plays up to a round and returns what is chosen in it. Rounds that were missed, because a life was loaded, are lived
    /// through first: requests and moods are a function of the round.
    pub(crate) fn round(&mut self, mind: &Mind, feasible: &Feasible, round: u32) -> Result<Chosen, Refusal> {
        self.rounds = self.rounds.max(round.saturating_sub(CATCH_UP + 1));
        while self.rounds + 1 < round {
            let context = mind.at(self.rounds + 1).request(self.rounds + 1).map_err(refused)?.context;
            self.learn(mind, &context, feasible)?;
        }
        let user = mind.at(round);
        let context = user.request(round).map_err(refused)?.context;
        let expected = |action| user.expected(&context, action);
        let flat = expected(self.learn(mind, &context, feasible)?);
        Ok(Chosen {
            flat,
            rules: expected(Self::rules(&context, feasible)),
            best: user.best(&context, feasible).1,
        })
    }

    fn learn(&mut self, mind: &Mind, context: &Context, feasible: &Feasible) -> Result<Action, Refusal> {
        self.rounds += 1;
        let decision = self.flat.choose(context, feasible)?;
        let reward = mind.at(self.rounds).reward(self.rounds, context, decision.action);
        self.flat.enact(&mut Command::feedback(decision.id, reward))?;
        Ok(decision.action)
    }

    fn rules(context: &Context, feasible: &Feasible) -> Action {
        let score = |action: &Action| AGENT.default_score(context, *action) - AGENT.cost(*action);
        let best = feasible
            .set()
            .iter()
            .reduce(|best, action| if score(&action) > score(&best) { action } else { best });
        best.unwrap_or_default() // a feasible set is not empty
    }
}
