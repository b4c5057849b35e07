//! `agent`: the memory x tool x style catalog of Appendix E with the reference of Appendix F.
//!
//! 5 x 6 x 6 = 180 actions, 10 tasks, 4 signals, d = 254. `Tool::AskUser` asks for missing information before
//! the answer. `Style::AskClarification` is an answer that ends in a question.
//!
//! ```
//! use fable_core::catalog::agent::{self, AGENT, Memory, Style, Tool};
//! assert_eq!((AGENT.actions(), AGENT.dimension()), (180, 254));
//! let action = agent::action(Memory::NoMemory, Tool::AskUser, Style::Direct);
//! assert_eq!(agent::parts(action), Some((Memory::NoMemory, Tool::AskUser, Style::Direct)));
//! ```

use super::{Action, Block, Catalog, Condition, Contrast, Definition, Part, Term};
use crate::values;

crate::component! {
    /// The memory that the assistant reads.
    pub enum Memory: "memory", null NoMemory {
        NoMemory = "no_memory", 0.0, "Do not use stored memory.";
        RecentMemory = "recent_memory", 0.02, "Use the recent conversation.";
        SemanticMemory = "semantic_memory", 0.04, "Look up related memories.";
        PreferenceMemory = "preference_memory", 0.04, "Look up the user's stored preferences.";
        ProfileSummary = "profile_summary", 0.05, "Use the summary of the user's profile.";
    }
}

crate::component! {
    /// The source of information before the answer.
    pub enum Tool: "tool", null NoTool {
        NoTool = "no_tool", 0.0, "Use no tool.";
        WebSearch = "web_search", 0.08, "Search the web before answering.";
        FileSearch = "file_search", 0.06, "Search the user's files before answering.";
        CodeExecution = "code_execution", 0.10, "Run code to work out the answer.";
        PreferenceChecker = "preference_checker", 0.04, "Check the answer against the user's preferences.";
        AskUser = "ask_user", 0.12, "Ask the user for missing information first.";
    }
}

crate::component! {
    /// The style of the answer.
    pub enum Style: "style" {
        Direct = "direct", 0.0, "Answer directly.";
        Concise = "concise", 0.0, "Answer briefly.";
        Detailed = "detailed", 0.05, "Answer in detail.";
        StepByStep = "step_by_step", 0.06, "Answer step by step.";
        AskClarification = "ask_clarification", 0.10, "Answer with a question that clarifies the request.";
        ConfirmFirst = "confirm_first", 0.08, "Say what you are about to do and wait for confirmation.";
    }
}

/// Position of the component in the catalog.
pub const MEMORY: u8 = 0;
/// Position of the component in the catalog.
pub const TOOL: u8 = 1;
/// Position of the component in the catalog.
pub const STYLE: u8 = 2;

/// Position of the signal in a context.
pub const RISK: u8 = 0;
/// Position of the signal in a context.
pub const AMBIGUITY: u8 = 1;
/// Position of the signal in a context.
pub const MEMORY_NEED: u8 = 2;
/// Position of the signal in a context.
pub const TOOL_NEED: u8 = 3;

const CODING: u8 = 0;
const ANALYSIS: u8 = 1;
const FACTUAL: u8 = 2;
const SIMPLE_PREFERENCE: u8 = 3;

/// Signals of an ordinary request: all low.
const PLAIN: &[f32] = &[0.1, 0.1, 0.1, 0.1];

const ANY_MEMORY: &[Part<'static>] = &[Part::new(
    MEMORY,
    values![Memory::RecentMemory, Memory::SemanticMemory, Memory::PreferenceMemory, Memory::ProfileSummary],
)];
const ANY_TOOL: &[Part<'static>] = &[Part::new(
    TOOL,
    values![Tool::WebSearch, Tool::FileSearch, Tool::CodeExecution, Tool::PreferenceChecker, Tool::AskUser],
)];

/// The catalog of Appendices E and F.
pub const AGENT: Catalog<'static> = Catalog::new(Definition {
    name: "agent",
    components: &[Memory::COMPONENT, Tool::COMPONENT, Style::COMPONENT],
    tasks: &[
        "coding",
        "analysis",
        "factual",
        "simple_preference",
        "writing",
        "planning",
        "summarization",
        "translation",
        "recommendation",
        "troubleshooting",
    ],
    signals: &["risk", "ambiguity", "memory_need", "tool_need"],
    blocks: &[
        Block::main(MEMORY),
        Block::main(TOOL),
        Block::main(STYLE),
        Block::main(STYLE).per_task(),
        Block::main(TOOL).per_task(),
        Block::main(MEMORY).scaled_by(MEMORY_NEED).without_null(),
        Block::main(TOOL).scaled_by(TOOL_NEED).without_null(),
        Block::main(STYLE).scaled_by(RISK),
        Block::main(STYLE).scaled_by(AMBIGUITY),
        Block::pair(MEMORY, TOOL),
        Block::pair(MEMORY, STYLE),
        Block::pair(TOOL, STYLE),
    ],
    terms: &[
        // b_mem
        Term::new(0.18, Condition::Above(MEMORY_NEED, 0.5), ANY_MEMORY),
        Term::new(-0.04, Condition::AtMost(MEMORY_NEED, 0.2), ANY_MEMORY),
        // b_tool
        Term::new(0.18, Condition::Above(TOOL_NEED, 0.5), ANY_TOOL),
        Term::new(-0.12, Condition::Below(TOOL_NEED, 0.2), ANY_TOOL),
        // b_amb
        Term::new(
            0.16,
            Condition::Above(AMBIGUITY, 0.6),
            &[Part::new(TOOL, values![Tool::AskUser]), Part::new(STYLE, values![Style::AskClarification])],
        ),
        Term::new(-0.08, Condition::Above(AMBIGUITY, 0.6), &[Part::new(STYLE, values![Style::Direct])]),
        // b_risk
        Term::new(0.20, Condition::Above(RISK, 0.65), &[Part::new(STYLE, values![Style::ConfirmFirst])]),
        Term::new(
            -0.12,
            Condition::Above(RISK, 0.65),
            &[Part::new(STYLE, values![Style::Direct, Style::Concise])],
        ),
        // b_task
        Term::new(
            0.08,
            Condition::Tasks(&[CODING, ANALYSIS]),
            &[Part::new(STYLE, values![Style::StepByStep])],
        ),
        Term::new(
            0.06,
            Condition::Tasks(&[FACTUAL, SIMPLE_PREFERENCE]),
            &[Part::new(STYLE, values![Style::Concise])],
        ),
    ],
    contrasts: &[
        Contrast::new(
            "concise_over_detailed",
            values![Memory::NoMemory, Tool::NoTool, Style::Concise],
            values![Memory::NoMemory, Tool::NoTool, Style::Detailed],
        )
        .when(None, PLAIN)
        .says(
            "The user prefers brief answers to detailed ones.",
            "The user prefers detailed answers to brief ones.",
        ),
        Contrast::new(
            "steps_over_direct_in_coding",
            values![Memory::NoMemory, Tool::NoTool, Style::StepByStep],
            values![Memory::NoMemory, Tool::NoTool, Style::Direct],
        )
        .when(Some(CODING), PLAIN)
        .says(
            "For code the user prefers step-by-step answers to direct ones.",
            "For code the user prefers direct answers to step-by-step ones.",
        ),
        Contrast::new(
            "clarify_over_direct_when_unclear",
            values![Memory::NoMemory, Tool::NoTool, Style::AskClarification],
            values![Memory::NoMemory, Tool::NoTool, Style::Direct],
        )
        .when(None, &[0.1, 0.8, 0.1, 0.1])
        .says(
            "When a request is unclear the user wants to be asked what is meant.",
            "When a request is unclear the user prefers a direct answer to a question.",
        ),
        Contrast::new(
            "confirm_over_direct_at_risk",
            values![Memory::NoMemory, Tool::NoTool, Style::ConfirmFirst],
            values![Memory::NoMemory, Tool::NoTool, Style::Direct],
        )
        .when(None, &[0.8, 0.1, 0.1, 0.1])
        .says(
            "When much is at stake the user wants to confirm first.",
            "Even when much is at stake the user does not want to confirm first.",
        ),
        Contrast::new(
            "search_over_no_tool",
            values![Memory::NoMemory, Tool::WebSearch, Style::Direct],
            values![Memory::NoMemory, Tool::NoTool, Style::Direct],
        )
        .when(None, &[0.1, 0.1, 0.1, 0.8])
        .says(
            "When information is needed the user wants the web to be searched.",
            "Even when information is needed the user does not want the web to be searched.",
        ),
        Contrast::new(
            "ask_over_no_tool",
            values![Memory::NoMemory, Tool::AskUser, Style::Direct],
            values![Memory::NoMemory, Tool::NoTool, Style::Direct],
        )
        .when(None, &[0.1, 0.1, 0.1, 0.8])
        .says(
            "When information is missing the user wants to be asked for it.",
            "When information is missing the user does not want to be asked for it.",
        ),
        Contrast::new(
            "recent_memory_over_none",
            values![Memory::RecentMemory, Tool::NoTool, Style::Direct],
            values![Memory::NoMemory, Tool::NoTool, Style::Direct],
        )
        .when(None, &[0.1, 0.1, 0.8, 0.1])
        .says(
            "The user wants the recent conversation to be used.",
            "The user does not want the recent conversation to be used.",
        ),
        Contrast::new(
            "profile_over_none",
            values![Memory::ProfileSummary, Tool::NoTool, Style::Direct],
            values![Memory::NoMemory, Tool::NoTool, Style::Direct],
        )
        .when(None, &[0.1, 0.1, 0.8, 0.1])
        .says(
            "The user wants the profile summary to be used.",
            "The user does not want the profile summary to be used.",
        ),
    ],
    rules: &[],
});

/// The action with these values.
#[must_use]
pub const fn action(memory: Memory, tool: Tool, style: Style) -> Action {
    Action((memory.index() as u16 * 6 + tool.index() as u16) * 6 + style.index() as u16)
}

/// The values of an action of this catalog.
#[must_use]
pub fn parts(action: Action) -> Option<(Memory, Tool, Style)> {
    let values = AGENT.values(action)?;
    let [memory, tool, style] = values.as_slice() else { return None };
    Some((Memory::from_index(*memory)?, Tool::from_index(*tool)?, Style::from_index(*style)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Context;

    /// Appendix F as printed in the paper, independent of the terms above.
    fn printed(task: Option<&str>, [r, g, p, q]: [f32; 4], m: &str, t: &str, s: &str) -> (f64, f64) {
        let when = |condition: bool, weight: f64| if condition { weight } else { 0.0 };
        let mut b = when(p > 0.5 && m != "no_memory", 0.18) - when(p <= 0.2 && m != "no_memory", 0.04);
        b += when(q > 0.5 && t != "no_tool", 0.18) - when(q < 0.2 && t != "no_tool", 0.12);
        b += when(g > 0.6 && (t == "ask_user" || s == "ask_clarification"), 0.16);
        b -= when(g > 0.6 && s == "direct", 0.08);
        b += when(r > 0.65 && s == "confirm_first", 0.20)
            - when(r > 0.65 && (s == "direct" || s == "concise"), 0.12);
        b += when(matches!(task, Some("coding" | "analysis")) && s == "step_by_step", 0.08);
        b += when(matches!(task, Some("factual" | "simple_preference")) && s == "concise", 0.06);
        let memory = match m {
            "no_memory" => 0.0,
            "recent_memory" => 0.02,
            "semantic_memory" | "preference_memory" => 0.04,
            _ => 0.05,
        };
        let tool = match t {
            "no_tool" => 0.0,
            "web_search" => 0.08,
            "file_search" => 0.06,
            "code_execution" => 0.10,
            "preference_checker" => 0.04,
            _ => 0.12,
        };
        let style = match s {
            "direct" | "concise" => 0.0,
            "detailed" => 0.05,
            "step_by_step" => 0.06,
            "ask_clarification" => 0.10,
            _ => 0.08,
        };
        (b, memory + tool + style)
    }

    #[test]
    fn reference_is_appendix_f_at_and_around_every_threshold() {
        let tasks = [
            None,
            Some("coding"),
            Some("analysis"),
            Some("factual"),
            Some("simple_preference"),
            Some("planning"),
        ];
        let levels = [
            0.0,
            0.2_f32.next_down(),
            0.2,
            0.2_f32.next_up(),
            0.5,
            0.5_f32.next_up(),
            0.6,
            0.6_f32.next_up(),
            0.65,
            0.65_f32.next_up(),
            1.0,
        ];
        for (i, task) in tasks.into_iter().enumerate() {
            for (j, &level) in levels.iter().enumerate() {
                for (k, &other) in levels.iter().enumerate() {
                    let mut signals = [level; 4];
                    signals[(i + j + k) % 4] = other;
                    let context =
                        Context::new(&AGENT, task.map(|name| AGENT.task(name).unwrap()), &signals).unwrap();
                    for index in 0..180 {
                        let values = AGENT.values(Action(index)).unwrap();
                        let name =
                            |c: usize| AGENT.definition().components[c].values[usize::from(values[c])].name;
                        let (b, cost) = printed(task, signals, name(0), name(1), name(2));
                        for lambda in [0.0, 0.2, 1.0] {
                            let exact: f64 = AGENT.baseline(&context, Action(index), lambda, None);
                            assert!(
                                (exact - (b - lambda * cost)).abs() < 1e-15,
                                "{task:?} {signals:?} {index}"
                            );
                            let single: f32 = AGENT.baseline(&context, Action(index), lambda, None);
                            assert!((f64::from(single) - exact).abs() < 1e-6);
                        }
                        let given: f64 = AGENT.baseline(&context, Action(index), 0.5, Some(0.3));
                        assert!((given - (0.3 - 0.5 * cost)).abs() < 1e-15);
                    }
                }
            }
        }
    }

    #[test]
    fn names_of_the_paper_and_the_dimension_formula() {
        let m = 5;
        let t = 6;
        let s = 6;
        let k = 10;
        assert_eq!(
            AGENT.dimension(),
            m + t + s + k * s + k * t + (m - 1) + (t - 1) + 2 * s + m * t + m * s + t * s
        );
        for name in ["coding", "analysis", "factual", "simple_preference"] {
            assert!(AGENT.task(name).is_ok());
        }
        for name in [
            "style=concise",
            "task=coding*style=concise",
            "memory=recent_memory*tool=web_search",
            "risk*style=direct",
        ] {
            assert!(AGENT.coordinate(name).is_some(), "{name}");
        }
    }

    #[test]
    fn typed_actions_round_trip() {
        for index in 0..180 {
            let typed = parts(Action(index)).unwrap();
            assert_eq!(action(typed.0, typed.1, typed.2), Action(index));
        }
        assert_eq!(parts(Action(180)), None);
    }
}
