//! What happens in each run: how long it is, what the user states first, which rules can hold in a round.

use fable_core::catalog::{AGENT, Part, TAU2, agent, tau2};
use fable_core::catalog::{Direction, When};
use fable_core::{Catalog, Rule, Statement};

pub(crate) struct Script {
    pub(crate) catalog: &'static Catalog<'static>,
    pub(crate) rounds: u32,
    /// Rounds before the user is forgotten.
    pub(crate) forget_after: Option<u32>,
    pub(crate) stated: &'static [Stated],
    /// Each round has one of these.
    pub(crate) rules: &'static [&'static [Rule<'static>]],
}

/// "I prefer this over that".
pub(crate) struct Stated {
    prefer: &'static [(u8, u8)],
    over: &'static [(u8, u8)],
    when: When,
    response: f64,
    precision: f64,
}

impl Stated {
    pub(crate) fn statement(&self, catalog: &Catalog<'_>) -> Statement {
        let direction =
            Direction::prefer(catalog, self.prefer, self.over, self.when).expect("values of the catalog");
        Statement { direction, response: self.response, precision: self.precision }
    }
}

pub(crate) const TAU2_SCRIPT: Script = Script {
    catalog: &TAU2,
    rounds: 200,
    forget_after: Some(100),
    stated: &[
        Stated {
            prefer: &[(2, tau2::Style::Concise.index())],
            over: &[(2, tau2::Style::Guided.index())],
            when: When::Always,
            response: 0.75,
            precision: 4.0,
        },
        Stated {
            prefer: &[(0, tau2::Memory::Conversation.index()), (1, tau2::Tool::Verify.index())],
            over: &[],
            when: When::Always,
            response: -0.5,
            precision: 3.0,
        },
    ],
    rules: &[
        &[],
        &[],
        &[Rule::forbid("offline", &[Part::new(1, &[tau2::Tool::Verify.index()])])],
        &[Rule::require(
            "new customer",
            &[Part::new(2, &[tau2::Style::Direct.index(), tau2::Style::Guided.index()])],
        )],
        &[
            Rule::only("quick", &[Part::new(0, &[tau2::Memory::CurrentTurn.index()])]),
            Rule::only("careful", &[Part::new(1, &[tau2::Tool::AskIfMissing.index()])]),
        ],
    ],
};

pub(crate) const AGENT_SCRIPT: Script = Script {
    catalog: &AGENT,
    rounds: 50,
    forget_after: None,
    stated: &[
        Stated {
            prefer: &[(agent::STYLE, agent::Style::Concise.index())],
            over: &[(agent::STYLE, agent::Style::Detailed.index())],
            when: When::Task(0),
            response: 1.0,
            precision: 4.0,
        },
        Stated {
            prefer: &[(agent::STYLE, agent::Style::ConfirmFirst.index())],
            over: &[(agent::STYLE, agent::Style::Direct.index())],
            when: When::Signal(agent::RISK as usize),
            response: 0.5,
            precision: 7.0,
        },
        Stated {
            prefer: &[
                (agent::MEMORY, agent::Memory::PreferenceMemory.index()),
                (agent::TOOL, agent::Tool::PreferenceChecker.index()),
            ],
            over: &[],
            when: When::Always,
            response: -0.25,
            precision: 2.0,
        },
    ],
    rules: &[
        &[],
        &[],
        &[Rule::forbid("offline", &[Part::new(agent::TOOL, &[agent::Tool::WebSearch.index()])])],
        &[
            Rule::forbid("private", &[Part::new(agent::MEMORY, &[1, 2, 3, 4]), Part::new(agent::TOOL, &[1])]),
            Rule::require("payment", &[Part::new(agent::STYLE, &[agent::Style::ConfirmFirst.index()])]),
        ],
        &[
            Rule::only(
                "short",
                &[Part::new(agent::STYLE, &[agent::Style::Direct.index(), agent::Style::Concise.index()])],
            ),
            Rule::only("asking", &[Part::new(agent::TOOL, &[agent::Tool::AskUser.index()])]),
        ],
    ],
};
