//! `tau2`: the customer-service catalog of the tau2-bench study, 2 x 3 x 3 = 18 actions, main effects and
//! pairs, d = 29.
//!
//! Without tasks and signals it runs on a Cortex-M0 with 16 KB of RAM. The paper does not print the costs of
//! this study. The costs here are on the scale of Appendix F.
//!
//! ```
//! use fable_core::catalog::tau2::{self, Memory, Style, TAU2, Tool};
//! assert_eq!((TAU2.actions(), TAU2.dimension()), (18, 29));
//! let action = tau2::action(Memory::Conversation, Tool::Verify, Style::Guided);
//! assert_eq!(TAU2.action_name(action).unwrap().to_string(), "memory=conversation*tool=verify*style=guided");
//! ```

use super::{Action, Block, Catalog, Contrast, Definition};
use crate::values;

crate::component! {
    /// The part of the dialogue that the assistant considers.
    pub enum Memory: "memory" {
        CurrentTurn = "current_turn", 0.0, "Consider only the customer's current message.";
        Conversation = "conversation", 0.02, "Consider the whole conversation.";
    }
}

crate::component! {
    /// The way in which the assistant verifies facts.
    pub enum Tool: "tool" {
        Standard = "standard", 0.0, "Use the tools as you usually would.";
        Verify = "verify", 0.08, "Verify facts with a tool before you act on them.";
        AskIfMissing = "ask_if_missing", 0.12, "Ask the customer when a needed fact is missing.";
    }
}

crate::component! {
    /// The style of the answer.
    pub enum Style: "style" {
        Direct = "direct", 0.0, "Answer directly.";
        Concise = "concise", 0.0, "Answer briefly, the outcome first.";
        Guided = "guided", 0.06, "Explain what you do, without excessive detail.";
    }
}

/// The catalog of the tau2-bench study.
pub const TAU2: Catalog<'static> = Catalog::new(Definition {
    name: "tau2",
    components: &[Memory::COMPONENT, Tool::COMPONENT, Style::COMPONENT],
    blocks: &[
        Block::main(0),
        Block::main(1),
        Block::main(2),
        Block::pair(0, 1),
        Block::pair(0, 2),
        Block::pair(1, 2),
    ],
    contrasts: &[
        Contrast::new(
            "conversation_over_current_turn",
            values![Memory::Conversation, Tool::Standard, Style::Direct],
            values![Memory::CurrentTurn, Tool::Standard, Style::Direct],
        )
        .says(
            "The customer wants the whole conversation to be considered.",
            "The customer wants only the current message to be considered.",
        ),
        Contrast::new(
            "verify_over_standard",
            values![Memory::CurrentTurn, Tool::Verify, Style::Direct],
            values![Memory::CurrentTurn, Tool::Standard, Style::Direct],
        )
        .says(
            "The customer wants facts to be verified before anything is done.",
            "The customer does not want facts to be verified again.",
        ),
        Contrast::new(
            "ask_over_standard",
            values![Memory::CurrentTurn, Tool::AskIfMissing, Style::Direct],
            values![Memory::CurrentTurn, Tool::Standard, Style::Direct],
        )
        .says(
            "The customer prefers to be asked when a fact is missing.",
            "The customer does not want to be asked for missing facts.",
        ),
        Contrast::new(
            "concise_over_direct",
            values![Memory::CurrentTurn, Tool::Standard, Style::Concise],
            values![Memory::CurrentTurn, Tool::Standard, Style::Direct],
        )
        .says(
            "The customer prefers brief answers.",
            "The customer prefers plain answers to the briefest ones.",
        ),
        Contrast::new(
            "guided_over_direct",
            values![Memory::CurrentTurn, Tool::Standard, Style::Guided],
            values![Memory::CurrentTurn, Tool::Standard, Style::Direct],
        )
        .says(
            "The customer prefers to be guided through each step.",
            "The customer prefers plain answers to being guided.",
        ),
        Contrast::new(
            "concise_over_guided",
            values![Memory::CurrentTurn, Tool::Standard, Style::Concise],
            values![Memory::CurrentTurn, Tool::Standard, Style::Guided],
        )
        .says(
            "The customer prefers brief answers to being guided.",
            "The customer prefers to be guided rather than brief answers.",
        ),
    ],
    ..Definition::EMPTY
});

/// The action with these values.
#[must_use]
pub const fn action(memory: Memory, tool: Tool, style: Style) -> Action {
    Action((memory.index() as u16 * 3 + tool.index() as u16) * 3 + style.index() as u16)
}

/// The values of an action of this catalog.
#[must_use]
pub fn parts(action: Action) -> Option<(Memory, Tool, Style)> {
    let values = TAU2.values(action)?;
    let [memory, tool, style] = values.as_slice() else { return None };
    Some((Memory::from_index(*memory)?, Tool::from_index(*tool)?, Style::from_index(*style)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_actions_round_trip() {
        for index in 0..18 {
            let typed = parts(Action(index)).unwrap();
            assert_eq!(action(typed.0, typed.1, typed.2), Action(index));
        }
        assert_eq!(parts(Action(18)), None);
    }
}
