//! The tools as an assistant sees them: names, descriptions, what they take.

use serde_json::{Map, Value, json};

/// What a tool does to what is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolKind {
    /// Nothing.
    Reads,
    /// It adds.
    Adds,
    /// It takes away for good.
    Erases,
}

/// A tool.
#[derive(Clone, Copy, Debug)]
pub struct Tool {
    /// What it is called by.
    pub name: &'static str,
    /// What people see.
    pub title: &'static str,
    /// What a model is told.
    pub description: &'static str,
    /// What it does to what is known.
    pub kind: ToolKind,
    /// The schemas of what it takes.
    takes: fn() -> Value,
    /// What it cannot do without.
    needs: &'static [&'static str],
}

impl Tool {
    /// The tool with a name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        TOOLS.iter().find(|tool| tool.name == name)
    }

    /// The schema of what it takes.
    #[must_use]
    pub fn schema(&self) -> Map<String, Value> {
        let mut schema = Map::new();
        schema.insert("type".into(), "object".into());
        schema.insert("properties".into(), (self.takes)());
        schema.insert("required".into(), self.needs.into());
        schema.insert("additionalProperties".into(), false.into());
        schema
    }

    /// What it takes, by name.
    pub(super) fn keys(&self) -> Vec<String> {
        (self.takes)().as_object().map_or_else(Vec::new, |takes| takes.keys().cloned().collect())
    }
}

fn nothing() -> Value {
    json!({})
}

fn request() -> Value {
    json!({
        "request": {"type": "string", "description": "What the person asks for, in their words."},
        "history": {
            "type": "array",
            "description": "The last exchanges before the request, the oldest first: what it means may depend on them.",
            "items": {
                "type": "object",
                "properties": {
                    "request": {"type": "string", "description": "What the person asked for."},
                    "answer": {"type": "string", "description": "What was answered."},
                    "action": {"type": "object", "additionalProperties": {"type": "string"}, "description": "The `action` of its decision."},
                    "reward": {"type": "number", "minimum": -1, "maximum": 1, "description": "The `reward` it had."},
                },
                "required": ["request"],
                "additionalProperties": false,
            },
        },
        "background": {"type": "string", "description": "What is so for everybody, like: You are a coding assistant. No preferences."},
        "context": {"type": "object", "description": "Instead of the request: its task and signals, as the catalog names them."},
    })
}

const DECISION: &str = "Its id; the last decision that waits for feedback if it is left out.";

/// All of them.
pub const TOOLS: &[Tool] = &[
    Tool {
        name: "profile",
        title: "What is known about the person",
        description: "What is known for certain about how this person wants to be helped, in sentences, and how much it rests on.",
        kind: ToolKind::Reads,
        takes: nothing,
        needs: &[],
    },
    Tool {
        name: "decide",
        title: "How to act for a request",
        description: "How to act for a request of this person: an instruction to follow in the answer. Call it once before answering, and \
                      `feedback` when the person has reacted. Now and then it tries something, to learn.",
        kind: ToolKind::Adds,
        takes: request,
        needs: &[],
    },
    Tool {
        name: "recommend",
        title: "What suits the person best",
        description: "What suits this person best for a request by what is known: an instruction, with nothing tried and nothing kept.",
        kind: ToolKind::Reads,
        takes: request,
        needs: &[],
    },
    Tool {
        name: "feedback",
        title: "How it went",
        description: "How an answer went, so that the next one suits better: `words`, what the person said about it, or `reward`, a number \
                      from -1 to 1. Only what the person shows or says counts.",
        kind: ToolKind::Adds,
        takes: || {
            json!({
                "words": {"type": "string", "description": "The reaction in the person's own words."},
                "reward": {"type": "number", "minimum": -1, "maximum": 1, "description": "From -1 (bad) to 1 (good), instead of words."},
                "decision": {"type": "string", "description": DECISION},
            })
        },
        needs: &[],
    },
    Tool {
        name: "why",
        title: "Why it was decided so",
        description: "Why the last decision was made as it was and not otherwise: what the score of the action is made of.",
        kind: ToolKind::Reads,
        takes: || {
            json!({
                "decision": {"type": "string", "description": DECISION},
                "against": {
                    "type": "object",
                    "additionalProperties": {"type": "string"},
                    "description": "Another complete action, a value for each component; the runner-up if it is left out.",
                },
            })
        },
        needs: &[],
    },
    Tool {
        name: "preferences",
        title: "What the person says to prefer",
        description: "Takes what the person says about their preferences. Wishes (`I like short answers`) are weighed and can be revised by \
                      what they do; prohibitions (`never search the web`) become rules. Without arguments it lists the rules; \
                      `take_back` lifts rules about values. Nothing becomes a rule and none is lifted without the person's yes: \
                      the first call says what would happen. Ask them, then call it again with confirm: true.",
        kind: ToolKind::Adds,
        takes: || {
            json!({
                "say": {"type": "string", "description": "The preferences in the person's own words."},
                "take_back": {
                    "type": "array",
                    "minItems": 1,
                    "items": {"type": "string"},
                    "description": "Values that are allowed again, like tool=web_search.",
                },
                "confirm": {"type": "boolean", "description": "Yes, the person wants these rules, or wants them lifted."},
            })
        },
        needs: &[],
    },
    Tool {
        name: "forget",
        title: "Forget the person",
        description: "Erases everything that is known about this person. It cannot be undone: ask them first, then say confirm: true.",
        kind: ToolKind::Erases,
        takes: || json!({"confirm": {"type": "boolean", "const": true, "description": "Yes, the person wants that."}}),
        needs: &["confirm"],
    },
];
