//! The rule host: how an action of `agent` is carried out on a request with a few candidates, and what comes of it.
//!
//! | part | what the host does |
//! |---|---|
//! | memory | puts the candidates in order by what this mode retrieves; the world says what that is |
//! | `no_tool` | takes the order as it is |
//! | `preference_checker` | checks the first candidate against what was stated; one that is refused goes to the end. Once |
//! | `ask_user` | asks, and does what it is told |
//! | `web_search`, `file_search`, `code_execution` | nothing that helps here |
//! | `direct`, `concise`, `detailed`, `step_by_step` | delivers the first candidate |
//! | `confirm_first` | names the first candidate; after a no it delivers the second |
//! | `ask_clarification` | asks "this one or that one?"; after "neither" it delivers the third |
//!
//! The reward is clip(2 quality - 1 - cost - 0.08 if a question was asked - 0.15 if what was delivered is corrected + 0.1 if
//! a plain style is the persona's own manner + noise of standard deviation 0.05). A confirmation is not a question.

use fable_core::Action;
use fable_core::catalog::agent::{AGENT, Memory, Style, Tool, parts};

/// What was delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivered {
    /// A candidate.
    Candidate(usize),
    /// What the user said to deliver.
    Told,
    /// Nothing: there was no candidate.
    Nothing,
}

/// What the candidates of a request are worth.
#[derive(Clone, Debug, Default)]
pub struct Worth {
    /// From 0 to 1.
    pub qualities: Vec<f64>,
    /// Whether there would be nothing to correct.
    pub right: Vec<bool>,
    /// The quality of what the user would say.
    pub told: f64,
}

/// What came of a round.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    pub delivered: Delivered,
    pub quality: f64,
    pub right: bool,
    /// Whether the user was asked.
    pub asked: bool,
    /// Before costs and noise, not clipped.
    free: f64,
    cost: f64,
}

impl Round {
    /// The reward with costs, for this noise.
    pub fn reward(&self, noise: f64) -> f64 {
        (self.free - self.cost + noise).clamp(-1.0, 1.0)
    }

    /// The reward without costs.
    pub fn free(&self, noise: f64) -> f64 {
        (self.free + noise).clamp(-1.0, 1.0)
    }
}

/// Whether a style is an answer and nothing else.
pub const fn plain(style: Style) -> bool {
    !matches!(style, Style::AskClarification | Style::ConfirmFirst)
}

/// Whether an action needs somebody who answers.
pub fn asks(action: Action) -> bool {
    parts(action).is_some_and(|(_, tool, style)| tool == Tool::AskUser || !plain(style))
}

/// Delivers: `order` has the candidates by what is remembered, `refused` what the checker finds out.
fn deliver(
    mut order: Vec<usize>,
    tool: Tool,
    style: Style,
    refused: impl Fn(usize) -> bool,
    right: &[bool],
) -> Delivered {
    if tool == Tool::AskUser {
        return Delivered::Told;
    }
    if tool == Tool::PreferenceChecker && order.first().is_some_and(|first| refused(*first)) {
        order.rotate_left(1);
    }
    let tries = match style {
        Style::ConfirmFirst => 2,
        Style::AskClarification => 3,
        _ => 1,
    };
    let named = order.iter().take(tries).copied();
    let found = named.clone().find(|candidate| right.get(*candidate) == Some(&true));
    found.or_else(|| named.last()).map_or(Delivered::Nothing, Delivered::Candidate)
}

/// Carries an action out. `order` gives the candidates by what a memory mode retrieves.
pub fn execute(
    action: Action,
    worth: &Worth,
    manner: Option<Style>,
    order: impl FnOnce(Memory) -> Vec<usize>,
    refused: impl Fn(usize) -> bool,
) -> Round {
    let (memory, tool, style) = parts(action).unwrap_or((Memory::NoMemory, Tool::NoTool, Style::Direct));
    let delivered = deliver(order(memory), tool, style, refused, &worth.right);
    let (quality, right) = match delivered {
        Delivered::Told => (worth.told, true),
        Delivered::Nothing => (0.0, false),
        Delivered::Candidate(candidate) => {
            let quality = worth.qualities.get(candidate).copied().unwrap_or_default();
            (quality, worth.right.get(candidate) == Some(&true))
        }
    };
    let asked = tool == Tool::AskUser || style == Style::AskClarification;
    let when = |holds: bool, amount: f64| if holds { amount } else { 0.0 };
    let taste = when(plain(style) && manner == Some(style), 0.1);
    let free = 2.0 * quality - 1.0 - when(asked, 0.08) - when(!right, 0.15) + taste;
    Round { delivered, quality, right, asked, free, cost: AGENT.cost(action) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fable_core::catalog::agent::action;

    /// Three candidates of which the last is right; memory puts them in this order.
    fn round(tool: Tool, style: Style, manner: Option<Style>) -> Round {
        let worth = Worth { qualities: vec![0.0, 0.6, 1.0], right: vec![false, false, true], told: 1.0 };
        execute(
            action(Memory::NoMemory, tool, style),
            &worth,
            manner,
            |_| vec![0, 1, 2],
            |candidate| candidate == 0,
        )
    }

    #[test]
    fn tools_and_styles_do_what_the_table_says() {
        use Delivered::{Candidate, Told};
        for (tool, style, delivered) in [
            (Tool::NoTool, Style::Direct, Candidate(0)),
            (Tool::WebSearch, Style::StepByStep, Candidate(0)),
            (Tool::PreferenceChecker, Style::Concise, Candidate(1)),
            (Tool::NoTool, Style::ConfirmFirst, Candidate(1)),
            (Tool::PreferenceChecker, Style::ConfirmFirst, Candidate(2)),
            (Tool::NoTool, Style::AskClarification, Candidate(2)),
            (Tool::AskUser, Style::Direct, Told),
        ] {
            let round = round(tool, style, None);
            assert_eq!(round.delivered, delivered, "{tool:?} {style:?}");
            assert_eq!(asks(action(Memory::NoMemory, tool, style)), tool == Tool::AskUser || !plain(style));
        }
        let empty = execute(Action(0), &Worth::default(), None, |_| Vec::new(), |_| true);
        assert_eq!((empty.delivered, empty.right, empty.quality), (Delivered::Nothing, false, 0.0));
    }

    #[test]
    fn rewards_are_quality_less_prices() {
        let close =
            |value: f64, expected: f64| assert!((value - expected).abs() < 1e-12, "{value} {expected}");
        close(round(Tool::AskUser, Style::Direct, None).reward(0.0), 1.0 - 0.08 - 0.12);
        close(round(Tool::NoTool, Style::ConfirmFirst, None).reward(0.0), 0.2 - 0.15 - 0.08);
        close(round(Tool::NoTool, Style::AskClarification, None).free(0.0), 0.92);
        close(round(Tool::NoTool, Style::Direct, Some(Style::Direct)).free(0.0), -1.0);
        close(
            round(Tool::PreferenceChecker, Style::Direct, Some(Style::Direct)).reward(0.01),
            0.2 - 0.15 + 0.1 - 0.04 + 0.01,
        );
    }
}
