//! What a user can be asked and told. Nothing of the method is here: calls become `fable_core`'s commands.

use crate::Refusal;
use crate::answer::{Contrasted, Decided, Explained, Facts, Learned, Profile, Promoted};
#[cfg(feature = "full")]
use crate::answer::{Recommended, instruction};
#[cfg(feature = "full")]
use crate::ask::Observe;
use crate::ask::{self, Contrast, Decide, Explain, Feedback, StatementAsk};
use crate::life::Life;
use crate::module::read;
use alloc::string::String;
#[cfg(feature = "full")]
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;
use fable_core::journal::Command;
use fable_core::preference::Comparison;
use fable_core::{DecisionId, Exploration, Promotion, Request, Statement, UserError};

/// Most draws that propensities can be estimated from.
const MAX_DRAWS: u32 = 10_000;

impl Life {
    pub(crate) fn facts(&self) -> Facts {
        Facts {
            number: (**self).user(),
            rounds: self.rounds(),
            observations: self.observations(),
            incarnation: self.incarnation(),
        }
    }

    pub(crate) fn decide(&mut self, asked: &[u8]) -> Result<Decided, Refusal> {
        let ask: Decide = read(asked)?;
        if ask.propensities.is_some_and(|draws| draws > MAX_DRAWS) {
            return Err(Refusal::new(
                "out_of_range",
                format_args!("propensities must be from 0 to {MAX_DRAWS} draws"),
            ));
        }
        let catalog = self.policy().catalog();
        let (context, feasible) = (ask.context.context(catalog)?, ask.rules.feasible(catalog)?);
        let request = Request {
            context: &context,
            feasible: &feasible,
            defaults: ask.defaults.as_deref(),
            time: ask.at,
        };
        // Where coins are the only chance, how probable an action is needs no draws.
        let settings = self.policy().settings();
        let exact = settings.probe > 0.0 && matches!(settings.exploration, Exploration::Optimistic(_));
        let mut propensities = (exact || ask.propensities.is_some()).then(|| vec![0.0; catalog.actions()]);
        let mut command = Command::decide(request).scored();
        if let Some(propensities) = propensities.as_mut() {
            command = command.with_propensities(ask.propensities.unwrap_or(0), propensities);
        }
        self.enact(&mut command)?;
        let made = command.decision(&self.user()).zip(command.scores());
        drop(command);
        let (decision, scores) = made.ok_or(UserError::OutOfOrder)?; // it was just made
        let own =
            propensities.as_ref().filter(|_| exact).and_then(|all| all.get(decision.action.index()).copied());
        let user = self.user();
        let decided = Decided::new(catalog, &decision, &scores, user.probe_outcomes(decision.id));
        let propensities = propensities.filter(|_| ask.propensities.is_some());
        Ok(Decided { feasible: user.state().permissions().len(), propensity: own, propensities, ..decided })
    }

    #[cfg(feature = "full")]
    pub(crate) fn recommend(&mut self, asked: &[u8]) -> Result<Recommended, Refusal> {
        let ask: Decide = read(asked)?;
        let catalog = self.policy().catalog();
        let (context, feasible) = (ask.context.context(catalog)?, ask.rules.feasible(catalog)?);
        let request = Request {
            context: &context,
            feasible: &feasible,
            defaults: ask.defaults.as_deref(),
            time: ask.at,
        };
        let mut user = self.user();
        let left = user.narrow(&request)?.len();
        let (action, score) = user.recommend(&request)?;
        Ok(Recommended {
            action: action.0,
            instruction: instruction(catalog, action),
            score: score.into(),
            feasible: left,
        })
    }

    /// The actions that a request leaves, with the rules of the catalog and of the user.
    pub(crate) fn feasible(&mut self, asked: &[u8]) -> Result<Vec<u16>, Refusal> {
        let ask: Decide = read(asked)?;
        let catalog = self.policy().catalog();
        let (context, feasible) = (ask.context.context(catalog)?, ask.rules.feasible(catalog)?);
        let left = self.user().narrow(&Request::new(&context, &feasible))?;
        Ok(left.set().iter().map(|action| action.0).collect())
    }

    pub(crate) fn feedback(&mut self, asked: &[u8]) -> Result<Learned, Refusal> {
        let ask: Feedback<'_> = read(asked)?;
        let decision: DecisionId = ask.decision.parse()?;
        self.learn(Command::feedback(decision, ask.reward).weighted(ask.weight as f32).at(ask.at))
    }

    #[cfg(feature = "full")]
    pub(crate) fn observe(&mut self, asked: &[u8]) -> Result<Learned, Refusal> {
        let ask: Observe = read(asked)?;
        let catalog = self.policy().catalog();
        let (context, action) = (ask.context.context(catalog)?, ask::action(catalog, ask.action)?);
        let command = Command::observe(&context, action, ask.reward).with_defaults(ask.defaults.as_deref());
        self.learn(command.weighted(ask.weight as f32).at(ask.at))
    }

    fn learn(&mut self, mut command: Command<'_>) -> Result<Learned, Refusal> {
        let before = self.user().profile().len();
        self.enact(&mut command)?;
        let promoted = self.user().profile().len().saturating_sub(before) as u32;
        Ok(Learned {
            observations: self.observations(),
            changed: self.rewards_since_change() == Some(0),
            promoted,
        })
    }

    pub(crate) fn onboard(&mut self, asked: &[u8]) -> Result<usize, Refusal> {
        let asks: Vec<StatementAsk<'_>> = read(asked)?;
        let catalog = self.policy().catalog();
        let statements: Vec<Statement> =
            asks.iter().map(|ask| ask.statement(catalog)).collect::<Result<_, _>>()?;
        self.enact(&mut Command::onboard(&statements))?;
        Ok(statements.len())
    }

    #[cfg(feature = "full")]
    pub(crate) fn promote(&mut self, at: u32) -> Result<u32, Refusal> {
        let mut command = Command::promote(at);
        self.enact(&mut command)?;
        Ok(command.applied())
    }

    pub(crate) fn explain(&mut self, asked: &[u8]) -> Result<Explained, Refusal> {
        let ask: Explain<'_> = read(asked)?;
        let (decision, catalog): (DecisionId, _) = (ask.decision.parse()?, self.policy().catalog());
        let against = ask.against.map(|index| ask::action(catalog, index)).transpose()?;
        let mut user = self.user();
        Ok(Explained::new(catalog, &user.explain(decision, ask.defaults.as_deref(), against)?))
    }

    pub(crate) fn contrast(&mut self, asked: &[u8]) -> Result<Contrasted, Refusal> {
        let catalog = self.policy().catalog();
        let (comparison, declared) = match read(asked)? {
            Contrast::Declared(index) => {
                let index = usize::from(index);
                (Comparison::declared(catalog, index).ok_or(UserError::Comparison)?, Some(index))
            }
            Contrast::Actions { context, prefer, over, total } => {
                let (prefer, over) = (ask::action(catalog, prefer)?, ask::action(catalog, over)?);
                (Comparison { context: context.context(catalog)?, prefer, over, total }, None)
            }
        };
        let mut user = self.user();
        let trial = declared.map(|contrast| user.trial(contrast)).transpose()?;
        Ok(Contrasted::new(user.assess(&comparison)?, trial))
    }

    pub(crate) fn profile(&mut self) -> Result<Profile, Refusal> {
        let catalog = self.policy().catalog();
        let mut user = self.user();
        let promotions: Vec<Promotion> = user.profile().to_vec();
        let mut profile = Vec::with_capacity(promotions.len());
        for promotion in &promotions {
            let trial = user.trial(promotion.contrast.into())?;
            profile.push(Promoted::new(catalog, promotion, user.standing(promotion)?, trial));
        }
        let mut text = String::new();
        user.write_profile(&mut text)?;
        Ok(Profile { profile, text })
    }

    #[cfg(feature = "full")]
    pub(crate) fn waiting(&mut self, at: u32) -> Vec<String> {
        self.user().waiting(at).map(|id| id.to_string()).collect()
    }
}
