//! Rewards in words.

use crate::SimulatedUser;
use alloc::format;
use alloc::string::String;
use fable_core::catalog::Values;
use fable_core::{Action, Context, Feasible};

/// From here on the user is delighted, content, and not worth a complaint.
const PRAISE: [(f64, &str); 3] = [(0.7, "Exactly what I wanted!"), (0.45, "Thanks, good."), (0.2, "Fine.")];

/// Less than this much better, and there is nothing to complain about.
const WORTH_SAYING: f64 = 0.1;

pub(crate) fn comment(
    user: &SimulatedUser<'_>,
    context: &Context,
    feasible: &Feasible,
    action: Action,
    reward: f64,
) -> String {
    if let Some((_, praise)) = PRAISE.iter().find(|(from, _)| reward >= *from) {
        return (*praise).into();
    }
    complaint(user, context, feasible, action)
        .unwrap_or_else(|| if reward >= 0.0 { "Hm, well." } else { "No." }.into())
}

/// What hurt most: the one component that the user would have had otherwise.
fn complaint(
    user: &SimulatedUser<'_>,
    context: &Context,
    feasible: &Feasible,
    action: Action,
) -> Option<String> {
    let catalog = user.catalog();
    let chosen = catalog.values(action)?;
    let neighbours = feasible.set().iter().filter_map(|other| {
        let values = catalog.values(other)?;
        let mut differing =
            (0..chosen.len()).filter(|&component| values.get(component) != chosen.get(component));
        Some((other, differing.next()?)).filter(|_| differing.next().is_none())
    });
    let gain = |other: Action| user.expected(context, other) - user.expected(context, action);
    // The largest gain; of equals the earliest, as everywhere.
    let (better, position) = neighbours.min_by(|(one, _), (other, _)| gain(*other).total_cmp(&gain(*one)))?;
    if gain(better) < WORTH_SAYING {
        return None;
    }
    let wanted = catalog.values(better)?;
    let component = catalog.definition().components.get(position)?;
    let name = |values: &Values| Some(component.values.get(usize::from(*values.get(position)?))?.name);
    let (chosen, wanted) = (name(&chosen)?, name(&wanted)?);
    let known = WISHES.iter().find(|(value, _)| *value == wanted);
    Some(
        known.map_or_else(
            || format!("Not {} {chosen}: {wanted}.", component.name),
            |(_, wish)| (*wish).into(),
        ),
    )
}

/// What people say when they would have had this value.
const WISHES: &[(&str, &str)] = &[
    // agent
    ("no_memory", "Leave the past out of it."),
    ("recent_memory", "I told you a minute ago."),
    ("semantic_memory", "We talked about this before."),
    ("preference_memory", "You should know what I like."),
    ("profile_summary", "You should know who I am."),
    ("no_tool", "No need to look anything up."),
    ("web_search", "Please look it up on the web."),
    ("file_search", "It is in my files."),
    ("code_execution", "Just run it."),
    ("preference_checker", "Does that fit what I like?"),
    ("ask_user", "Ask me for what you are missing."),
    ("direct", "Just answer."),
    ("concise", "Too long."),
    ("detailed", "Tell me more."),
    ("step_by_step", "Step by step, please."),
    ("ask_clarification", "That is not what I meant. Ask!"),
    ("confirm_first", "Ask before you do that."),
    // tau2
    ("current_turn", "Stick to what I just said."),
    ("conversation", "I said that already."),
    ("standard", "No need to check everything."),
    ("verify", "Please check that first."),
    ("ask_if_missing", "Ask me for what you are missing."),
    ("guided", "Explain what you are doing."),
];
