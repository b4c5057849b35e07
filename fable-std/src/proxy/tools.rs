//! Which of an application's tools the chosen action leaves, and which actions its tools allow.
//!
//! A table says which tools a value of the component `tool` stands for:
//!
//! ```toml
//! [tools]
//! web_search = ["web_search", "browse"]
//! ```
//!
//! A value in the table needs one of its tools: where a request offers none of them it cannot be chosen. Once a value is chosen, tools of
//! other values are not offered. Tools that the table does not name are the application's own affair, and so are values without a row.
//!
//! A request can force a tool, or leave only tools of some values and demand that one is used: then only their values can be chosen, as
//! nothing else will be done. Where the rules forbid all of them nothing is decided, and the request goes on as it came: a request
//! without the tool that it forces would be a broken one.

use super::dialect::{Asked, Choice, Dialect, Tool};
use crate::catalogs::ToolTable;
use crate::memory;
use fable_core::catalog::FeasibleError;
use fable_core::catalog::Part;
use fable_core::{Catalog, Feasible, Rule};
use serde_json::{Value, json};

/// What becomes of a request's tools; nothing by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Offer {
    /// Another `tool_choice`.
    pub(super) choice: Option<Value>,
    /// The tools that are left in the list itself.
    pub(super) filtered: Option<Vec<usize>>,
}

/// What the table makes of the tools that requests offer.
impl ToolTable {
    /// Whether a tool belongs to any value. Providers put dates behind the names of their own tools.
    fn governs(&self, tool: &Tool) -> bool {
        self.rows().any(|(_, tools)| tools.iter().any(|name| is_called(tool, name)))
    }

    /// Whether a request forces tools of the table, so that some values cannot be chosen.
    pub(super) fn forces(&self, asked: &Asked) -> bool {
        let mut allowed = asked.tools.iter().filter(|tool| tool.allowed).peekable();
        match &asked.choice {
            Choice::Forced(name) => allowed.any(|tool| tool.name == *name && self.governs(tool)),
            Choice::Required => allowed.peek().is_some() && allowed.all(|tool| self.governs(tool)),
            Choice::Auto | Choice::None | Choice::Own => false,
        }
    }

    /// Values that a request's tools do not allow.
    fn missing(&self, catalog: &Catalog<'_>, asked: &Asked) -> Option<(u8, Vec<u8>)> {
        let component = catalog.component(Self::COMPONENT)?;
        let usable = |tool: &Tool| match &asked.choice {
            Choice::None => false,
            Choice::Forced(name) => tool.name == *name,
            Choice::Auto | Choice::Required | Choice::Own => tool.allowed,
        };
        let offered = |tools: &[String]| {
            asked.tools.iter().any(|tool| usable(tool) && tools.iter().any(|name| is_called(tool, name)))
        };
        let forced = self.forces(asked);
        let values = catalog.definition().components.get(component)?.values;
        // A value without a row needs no tool; it is not what is done where one of a row is forced.
        let cannot = |value: &str| self.tools(value).map_or(forced, |tools| !offered(tools));
        let values: Vec<u8> =
            (0..).zip(values).filter(|(_, value)| cannot(value.name)).map(|(index, _)| index).collect();
        (!values.is_empty()).then_some((u8::try_from(component).ok()?, values))
    }

    /// The actions that can be done with what a request offers, without what was exchanged before, if nobody `remembers` it, and by
    /// other rules.
    pub(super) fn feasible(
        &self,
        catalog: &Catalog<'_>,
        asked: &Asked,
        remembers: bool,
        others: &[Rule<'_>],
    ) -> Result<Feasible, FeasibleError> {
        let mut forbidden: Vec<(u8, Vec<u8>)> = self.missing(catalog, asked).into_iter().collect();
        if !remembers {
            forbidden.extend(exchanged(catalog));
        }
        let parts: Vec<[Part<'_>; 1]> =
            forbidden.iter().map(|(component, values)| [Part::new(*component, values)]).collect();
        let offered = parts.iter().map(|part| Rule::forbid("offered", part));
        let rules: Vec<Rule<'_>> = offered.chain(others.iter().copied()).collect();
        Feasible::new(catalog, &rules)
    }

    /// What becomes of a request's tools once a value is chosen. `filter` is for providers that know no `allowed_tools`.
    pub(super) fn offer(&self, asked: &Asked, value: Option<&str>, filter: bool) -> Offer {
        let own = value.and_then(|value| self.tools(value)).unwrap_or_default();
        let stays = |tool: &Tool| !self.governs(tool) || own.iter().any(|name| is_called(tool, name));
        let allowed = || (0..).zip(&asked.tools).filter(|(_, tool)| tool.allowed);
        let left: Vec<usize> = allowed().filter(|(_, tool)| stays(tool)).map(|(index, _)| index).collect();
        let chosen_by_model = matches!(asked.choice, Choice::Auto | Choice::Required);
        if !chosen_by_model || value.is_none() || left.len() == allowed().count() {
            return Offer::default();
        }
        if left.is_empty() {
            let none =
                if asked.dialect == Dialect::Messages { json!({ "type": "none" }) } else { json!("none") };
            // Where something has to be used, something is left.
            return Offer { choice: (asked.choice == Choice::Auto).then_some(none), filtered: None };
        }
        // Who says `allowed_tools` is understood when it is said again.
        let says_allowed = allowed().count() < asked.tools.len();
        if (filter && !says_allowed) || asked.dialect == Dialect::Messages {
            return Offer { choice: None, filtered: Some(left) };
        }
        let tools: Vec<Value> = left
            .iter()
            .filter_map(|index| asked.tools.get(*index))
            .map(|tool| named(asked.dialect, tool))
            .collect();
        let mode = if asked.choice == Choice::Required { "required" } else { "auto" };
        let choice = match asked.dialect {
            Dialect::Chat => {
                json!({ "type": "allowed_tools", "allowed_tools": { "mode": mode, "tools": tools } })
            }
            Dialect::Responses | Dialect::Messages => {
                json!({ "type": "allowed_tools", "mode": mode, "tools": tools })
            }
        };
        Offer { choice: Some(choice), filtered: None }
    }
}

/// The values of the component `memory` that need what was exchanged before.
fn exchanged(catalog: &Catalog<'_>) -> Option<(u8, Vec<u8>)> {
    let component = catalog.component(memory::COMPONENT)?;
    let values = catalog.definition().components.get(component)?.values;
    let needs = |name| memory::Mode::of(name).is_some_and(memory::Mode::is_exchanges);
    let forbidden: Vec<u8> =
        (0..).zip(values).filter(|(_, value)| needs(value.name)).map(|(index, _)| index).collect();
    (!forbidden.is_empty()).then_some((u8::try_from(component).ok()?, forbidden))
}

/// `web_search` and `web_search_20250305` are one tool, and so is `web_search_preview_2025_03_11`.
fn is_called(tool: &Tool, name: &str) -> bool {
    let is = |own: &str| own.strip_prefix(name).is_some_and(|rest| rest.is_empty() || is_date(rest));
    is(&tool.name) || (tool.kind != "function" && is(&tool.kind))
}

fn is_date(rest: &str) -> bool {
    rest.starts_with('_')
        && rest.bytes().filter(u8::is_ascii_digit).count() == 8
        && rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_')
}

/// A tool as `allowed_tools` names it.
fn named(dialect: Dialect, tool: &Tool) -> Value {
    let (kind, name) = (&tool.kind, &tool.name);
    match dialect {
        Dialect::Chat if kind == "custom" => json!({ "type": kind, "custom": { "name": name } }),
        Dialect::Chat => json!({ "type": kind, "function": { "name": name } }),
        Dialect::Responses | Dialect::Messages if kind == name => json!({ "type": kind }),
        Dialect::Responses | Dialect::Messages => json!({ "type": kind, "name": name }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fable_core::catalog::AGENT;

    fn asked(dialect: Dialect, tools: &str, rest: &str) -> Asked {
        let key = if dialect == Dialect::Responses { "input" } else { "messages" };
        let body = format!(r#"{{"{key}":[{{"role":"user","content":"a"}}],"tools":{tools}{rest}}}"#);
        Asked::read(dialect, body.as_bytes()).unwrap()
    }

    #[test]
    fn values_need_their_tools() {
        let table = ToolTable::usual();
        let left = |asked: &Asked, remembers| table.feasible(&AGENT, asked, remembers, &[]).unwrap().len();
        assert_eq!(left(&asked(Dialect::Chat, "[]", ""), true), 5 * 3 * 6);
        let search = r#"[{"type":"function","function":{"name":"browse"}}]"#;
        assert_eq!(left(&asked(Dialect::Chat, search, ""), true), 5 * 4 * 6);
        assert_eq!(left(&asked(Dialect::Chat, search, r#","tool_choice":"none""#), true), 5 * 3 * 6);
        assert_eq!(left(&asked(Dialect::Chat, search, ""), false), 3 * 4 * 6);
        assert_eq!(
            ToolTable::default().feasible(&AGENT, &asked(Dialect::Chat, "[]", ""), true, &[]).unwrap().len(),
            180
        );
    }

    #[test]
    fn what_is_forced_is_what_can_be_chosen() {
        let table = ToolTable::usual();
        let both = r#"[{"type":"function","function":{"name":"browse"}},{"type":"function","function":{"name":"python"}}]"#;
        let own = r#"[{"type":"function","function":{"name":"browse"}},{"type":"function","function":{"name":"order"}}]"#;
        let named =
            |name: &str| format!(r#","tool_choice":{{"type":"function","function":{{"name":"{name}"}}}}"#);
        let left = |tools: &str, rest: &str| {
            let asked = asked(Dialect::Chat, tools, rest);
            let (feasible, tool) =
                (table.feasible(&AGENT, &asked, true, &[]).unwrap(), AGENT.component("tool").unwrap());
            let values = AGENT.definition().components[tool].values;
            let has =
                |value: u8| feasible.set().iter().any(|action| AGENT.values(action).unwrap()[tool] == value);
            let names = (0..)
                .zip(values)
                .filter(|(value, _)| has(*value))
                .map(|(_, value)| value.name)
                .collect::<Vec<_>>();
            (names.join(" "), table.forces(&asked))
        };
        let required = r#","tool_choice":"required""#;
        assert_eq!(left(both, required), ("web_search code_execution".into(), true));
        assert_eq!(left(both, &named("browse")), ("web_search".into(), true));
        // A tool of the application's own can be used whatever is chosen, and if it is forced nothing else is.
        let (free, forced) = left(own, required);
        assert!(free.contains("no_tool") && free.contains("web_search") && !forced, "{free}");
        let (free, forced) = left(own, &named("order"));
        assert!(free.contains("no_tool") && !free.contains("web_search") && !forced, "{free}");

        // The application's own list is narrowed, not overruled.
        let some = r#","tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[{"type":"function","function":{"name":"browse"}},{"type":"function","function":{"name":"python"}}]}}"#;
        let three = r#"[{"type":"function","function":{"name":"browse"}},{"type":"function","function":{"name":"python"}},{"type":"function","function":{"name":"order"}}]"#;
        assert_eq!(left(three, some), ("web_search code_execution".into(), true));
        let python = json!({ "type": "function", "function": { "name": "python" } });
        for filter in [false, true] {
            let offer = table.offer(&asked(Dialect::Chat, three, some), Some("code_execution"), filter);
            let expected = json!({ "type": "allowed_tools", "allowed_tools": { "mode": "required", "tools": [python] } });
            assert_eq!(offer, Offer { choice: Some(expected), filtered: None });
        }
        let search = asked(
            Dialect::Responses,
            r#"[{"type":"web_search_preview"}]"#,
            r#","tool_choice":{"type":"web_search_preview"}"#,
        );
        assert!(table.forces(&search));
        let search = asked(
            Dialect::Messages,
            r#"[{"type":"web_search_20250305","name":"web_search"}]"#,
            r#","tool_choice":{"type":"tool","name":"web_search"}"#,
        );
        assert!(table.forces(&search));
    }

    #[test]
    fn tools_of_other_values_are_not_offered() {
        let table = ToolTable::usual();
        let chat = r#"[{"type":"function","function":{"name":"browse"}},{"type":"function","function":{"name":"python"}},{"type":"function","function":{"name":"order"}}]"#;
        let both = asked(Dialect::Chat, chat, "");
        let choice = table.offer(&both, Some("web_search"), false).choice.unwrap();
        let function = |name: &str| json!({ "type": "function", "function": { "name": name } });
        assert_eq!(
            choice,
            json!({ "type": "allowed_tools", "allowed_tools": { "mode": "auto", "tools": [function("browse"), function("order")] } })
        );
        assert_eq!(
            table.offer(&both, Some("web_search"), true),
            Offer { choice: None, filtered: Some(vec![0, 2]) }
        );
        assert_eq!(
            table.offer(&both, Some("no_tool"), true),
            Offer { choice: None, filtered: Some(vec![2]) }
        );
        assert_eq!(table.offer(&both, None, false), Offer::default());
        for own in
            [r#","tool_choice":"none""#, r#","tool_choice":{"type":"function","function":{"name":"python"}}"#]
        {
            assert_eq!(
                table.offer(&asked(Dialect::Chat, chat, own), Some("no_tool"), false),
                Offer::default(),
                "{own}"
            );
        }

        let built_in = r#"[{"type":"web_search_preview_2025_03_11"},{"type":"function","name":"python"}]"#;
        let responses = asked(Dialect::Responses, built_in, r#","tool_choice":"required""#);
        let choice = table.offer(&responses, Some("web_search"), false).choice.unwrap();
        assert_eq!(
            choice,
            json!({ "type": "allowed_tools", "mode": "required", "tools": [{ "type": "web_search_preview_2025_03_11" }] })
        );
        assert_eq!(table.offer(&responses, Some("no_tool"), false), Offer::default());

        let messages =
            asked(Dialect::Messages, r#"[{"type":"web_search_20250305","name":"web_search"}]"#, "");
        assert_eq!(table.offer(&messages, Some("no_tool"), false).choice, Some(json!({ "type": "none" })));
        assert_eq!(table.offer(&messages, Some("web_search"), false), Offer::default());
    }
}
