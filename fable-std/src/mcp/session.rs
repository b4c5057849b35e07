//! What each tool does: ops for one person, and their answers in words.

use super::backend::{Backend, Refused};
use super::tools::Tool;
use serde_json::{Map, Value, json};
use std::fmt;
use std::fmt::Write;

/// What a tool answers: words for a model, and the same as data.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    /// In words.
    pub text: String,
    /// As data.
    pub data: Value,
}

/// Why a tool was not done.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// There is no such tool.
    Tool,
    /// What it was given is not what it takes.
    Arguments(String),
    /// The service refuses.
    Refused(Refused),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tool => f.write_str("there is no such tool"),
            Self::Arguments(what) => f.write_str(what),
            Self::Refused(refused) => refused.fmt(f),
        }
    }
}

impl std::error::Error for Fault {}

impl From<Refused> for Fault {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

/// The tools of one person. See the [module](super).
#[derive(Debug)]
pub struct Session<B> {
    backend: B,
    user: String,
}

type Arguments = Map<String, Value>;

/// What an assistant is told that has said nothing about the person's yes.
const ASK_FIRST: &str =
    "Nothing has changed yet. Ask the person, and if they say yes, call this again with confirm: true.";

impl<B: Backend> Session<B> {
    /// Tools that are about this person and nobody else.
    pub fn new(backend: B, user: impl Into<String>) -> Self {
        Self { backend, user: user.into() }
    }

    /// Does a tool.
    ///
    /// # Errors
    /// A tool or arguments that there are not, or as the service refuses; nothing has changed then, except that of several preferences said
    /// at once some may have been taken.
    pub fn call(&self, name: &str, arguments: &Arguments) -> Result<Told, Fault> {
        let tool = Tool::named(name).ok_or(Fault::Tool)?;
        let keys = tool.keys();
        if let Some(key) = arguments.keys().find(|key| !keys.contains(key)) {
            return Err(Fault::Arguments(format!("'{key}' is no argument of '{name}'")));
        }
        match name {
            "profile" => self.profile(),
            "decide" => self.act("decide", arguments),
            "recommend" => self.act("recommend", arguments),
            "feedback" => self.feedback(arguments),
            "why" => self.why(arguments),
            "preferences" => self.preferences(arguments),
            "forget" => self.forget(arguments),
            _ => Err(Fault::Tool),
        }
    }

    fn ask(&self, op: &str, body: &Value) -> Result<Value, Refused> {
        self.backend.ask(op, body)
    }

    /// The person's own rules.
    fn rules(&self) -> Result<Value, Refused> {
        let mut answer = self.ask("rules", &json!({ "user": self.user }))?;
        Ok(answer.get_mut("rules").map_or(Value::Null, Value::take))
    }

    fn profile(&self) -> Result<Told, Fault> {
        let profile = self.ask("profile", &json!({ "user": self.user }))?;
        let posterior = self.ask("posterior", &json!({ "user": self.user }))?;
        let entries = list(&profile, "profile");
        let mut text = format!(
            "{} decisions, {} rewards.",
            count(&posterior, "rounds"),
            count(&posterior, "observations")
        );
        if entries.is_empty() {
            text += " Nothing is certain yet.";
        }
        for entry in entries {
            let doubt = if string(entry, "standing") == "holds" { "" } else { " (doubtful by now)" };
            let _ = write!(text, "\n- {}{doubt}", string(entry, "sentence")); // writing to a String cannot fail
        }
        let rules = self.rules()?;
        describe_rules(&mut text, &rules);
        let data = json!({
            "decisions": posterior.get("rounds"), "rewards": posterior.get("observations"), "profile": entries, "rules": rules,
        });
        Ok(Told { text, data })
    }

    /// How to act for a request.
    fn act(&self, op: &str, arguments: &Arguments) -> Result<Told, Fault> {
        let context = match (text(arguments, "request")?, arguments.get("context")) {
            (Some(request), None) => self.context(request, arguments)?,
            (None, Some(_)) if arguments.contains_key("history") || arguments.contains_key("background") => {
                return Err(Fault::Arguments("'history' and 'background' go with a 'request'".into()));
            }
            (None, Some(context)) => context.clone(),
            _ => return Err(Fault::Arguments("either 'request' or 'context' says what it is about".into())),
        };
        let body = json!({ "user": self.user, "context": context });
        let answer = self.ask(op, &body)?;
        let instruction = string(&answer, "instruction");
        let text = match answer.get("decision").and_then(Value::as_str) {
            Some(decision) => {
                format!("{instruction}\n\n(Decision {decision}; tell how it went with `feedback`.)")
            }
            None => instruction.to_owned(),
        };
        let mut data = answer;
        if let Some(data) = data.as_object_mut() {
            data.insert("context".into(), context);
        }
        Ok(Told { text, data })
    }

    /// The context of a request: read with what was before it, what is so for everybody, and what the person's rules leave.
    fn context(&self, request: &str, arguments: &Arguments) -> Result<Value, Fault> {
        let mut body = Map::new();
        body.insert("text".into(), request.into());
        body.insert("as".into(), "context".into());
        for key in ["history", "background"] {
            if let Some(given) = arguments.get(key).filter(|given| !given.is_null()) {
                body.insert(key.into(), given.clone());
            }
        }
        // Who may decide and nothing else is not told the rules; what is decided obeys them all the same.
        for (key, patterns) in hard_state(&self.rules().unwrap_or_default()) {
            body.insert(key.into(), patterns.into());
        }
        let mut read = self.ask("read", &Value::Object(body))?;
        Ok(read.get_mut("context").map_or(Value::Null, Value::take))
    }

    fn feedback(&self, arguments: &Arguments) -> Result<Told, Fault> {
        let reward = match (text(arguments, "words")?, arguments.get("reward")) {
            (Some(words), None) => {
                let read = self.read(words, "reward")?;
                let Some(reward) = read.get("reward").and_then(Value::as_f64) else {
                    let text = "The words say nothing about the answer: nothing was learned.".into();
                    return Ok(Told { text, data: json!({ "reward": null, "learned": false }) });
                };
                reward
            }
            (None, Some(reward)) => {
                let number = reward.as_f64().filter(|reward| (-1.0..=1.0).contains(reward));
                number.ok_or_else(|| Fault::Arguments("'reward' is not a number from -1 to 1".into()))?
            }
            _ => return Err(Fault::Arguments("either 'words' or 'reward' says how it went".into())),
        };
        let decision = self.decision(arguments)?;
        let learned = self.ask("feedback", &json!({ "decision": decision, "reward": reward }))?;
        let text = format!(
            "Learned {reward:+.2} for decision {decision}; {} rewards by now.",
            count(&learned, "observations")
        );
        let data = json!({
            "reward": reward, "learned": true, "decision": decision, "observations": learned.get("observations"),
            "changed": learned.get("changed").is_some(),
        });
        Ok(Told { text, data })
    }

    fn why(&self, arguments: &Arguments) -> Result<Told, Fault> {
        let decision = self.decision(arguments)?;
        let mut body = json!({ "decision": decision });
        if let (Some(body), Some(against)) = (body.as_object_mut(), arguments.get("against")) {
            body.insert("against".into(), against.clone());
        }
        let why = self.ask("explain", &body)?;
        let mut data = why.clone();
        if let Some(data) = data.as_object_mut() {
            data.insert("decision".into(), decision.into());
        }
        Ok(Told { text: reasons(&why), data })
    }

    fn preferences(&self, arguments: &Arguments) -> Result<Told, Fault> {
        let confirmed = match arguments.get("confirm") {
            None | Some(Value::Null) => false,
            Some(Value::Bool(confirmed)) => *confirmed,
            Some(_) => return Err(Fault::Arguments("'confirm' is true or false".into())),
        };
        match (text(arguments, "say")?, arguments.get("take_back")) {
            (Some(said), None) => self.state(said, confirmed),
            (None, Some(values)) => self.take_back(values, confirmed),
            (None, None) => {
                let rules = self.rules()?;
                let mut text = String::new();
                describe_rules(&mut text, &rules);
                let text = if text.is_empty() {
                    "There are no rules.".to_owned()
                } else {
                    text.trim_start().to_owned()
                };
                Ok(Told { text, data: json!({ "rules": rules }) })
            }
            _ => Err(Fault::Arguments("either 'say' or 'take_back'".into())),
        }
    }

    /// Wishes become statements; prohibitions rules, if the person has said yes. Before that nothing of it is kept, so that it can be said again.
    fn state(&self, said: &str, confirmed: bool) -> Result<Told, Fault> {
        let mut read = self.read(said, "preferences")?;
        let kept = confirmed || list(&read, "rules").is_empty();
        let statements = list(&read, "statements");
        if kept && !statements.is_empty() {
            self.ask("onboard", &json!({ "user": self.user, "statements": statements }))?;
        }
        let mut text = String::new();
        let taken = if kept { "Taken" } else { "Would be taken" };
        for said in list(&read, "said") {
            let _ =
                writeln!(text, "{taken} as a wish: {} ({}).", string(said, "means"), string(said, "words"));
        }
        for rule in list(&read, "rules") {
            if kept {
                self.keep(rule)?;
            }
            let _ = writeln!(text, "{taken} as a rule: {}.", rule_words(rule));
        }
        for unused in list(&read, "unused").iter().filter_map(Value::as_str) {
            let _ = writeln!(text, "Not understood: {unused}.");
        }
        if text.is_empty() {
            text += "Nothing in it is a preference.";
        }
        if !kept {
            text += ASK_FIRST;
        }
        if let Some(read) = read.as_object_mut() {
            read.insert("kept".into(), kept.into());
        }
        Ok(Told { text: text.trim_end().to_owned(), data: read })
    }

    /// Makes a rule one of the person's own.
    fn keep(&self, rule: &Value) -> Result<(), Fault> {
        let mut body = json!({ "user": self.user, "values": rule.get("values"), "words": rule.get("words") });
        if let (Some(body), Some(when)) =
            (body.as_object_mut(), rule.get("when").filter(|when| !when.is_null()))
        {
            body.insert("when".into(), when.clone());
        }
        self.ask(string(rule, "effect"), &body)?;
        Ok(())
    }

    /// Lifts rules about values, if the person has said yes.
    fn take_back(&self, values: &Value, confirmed: bool) -> Result<Told, Fault> {
        let names: Option<Vec<&str>> =
            values.as_array().and_then(|values| values.iter().map(Value::as_str).collect());
        let names = names.filter(|names| !names.is_empty());
        let names = names
            .ok_or_else(|| Fault::Arguments("'take_back' is a list of values like tool=web_search".into()))?;
        if !confirmed {
            let rules = self.rules()?;
            let mut text = format!("Would be allowed again: {}. The rules now:", names.join(", "));
            describe_rules(&mut text, &rules);
            let text = format!("{text}\n{ASK_FIRST}");
            return Ok(Told { text, data: json!({ "rules": rules, "lifted": false }) });
        }
        self.ask("allow", &json!({ "user": self.user, "values": names }))?;
        let data = json!({ "rules": self.rules()?, "lifted": true });
        Ok(Told { text: format!("Allowed again: {}.", names.join(", ")), data })
    }

    fn forget(&self, arguments: &Arguments) -> Result<Told, Fault> {
        if arguments.get("confirm") != Some(&Value::Bool(true)) {
            return Err(Fault::Arguments(
                "'confirm' must be true: what is forgotten cannot be brought back".into(),
            ));
        }
        let answer = self.ask("forget", &json!({ "user": self.user }))?;
        let forgotten = answer.get("forgotten") == Some(&Value::Bool(true));
        let text = if forgotten {
            "Everything about the person is forgotten."
        } else {
            "Nothing was known about the person."
        };
        Ok(Told { text: text.into(), data: answer })
    }

    fn read(&self, text: &str, reading: &str) -> Result<Value, Refused> {
        self.ask("read", &json!({ "text": text, "as": reading }))
    }

    /// The decision that is meant: the one that is named, or the last one that waits.
    fn decision(&self, arguments: &Arguments) -> Result<String, Fault> {
        if let Some(decision) = text(arguments, "decision")? {
            // Another person's decisions are none of this session's business.
            let own = format!("{:016x}-", fable_core::user_hash(&self.user));
            return if decision.starts_with(&own) {
                Ok(decision.to_owned())
            } else {
                Err(Fault::Arguments("there is no such decision of this person".into()))
            };
        }
        let waiting = self.ask("waiting", &json!({ "user": self.user }))?;
        let last = list(&waiting, "waiting").last().and_then(Value::as_str).map(ToOwned::to_owned);
        last.ok_or_else(|| Fault::Refused(Refused::new("unknown_decision", "no decision waits for feedback")))
    }
}

fn string<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or("")
}

fn count(value: &Value, key: &str) -> u64 {
    value.get(key).and_then(Value::as_u64).unwrap_or(0)
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// An argument that is a text, if it is there.
fn text<'a>(arguments: &'a Arguments, key: &str) -> Result<Option<&'a str>, Fault> {
    match arguments.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(Fault::Arguments(format!("'{key}' is not a text"))),
    }
}

fn rule_words(rule: &Value) -> String {
    let verb = if string(rule, "effect") == "forbid" { "never" } else { "always" };
    let when = match rule.get("when").and_then(Value::as_str) {
        None => String::new(),
        Some(place) => match place.strip_prefix("task=") {
            Some(task) => format!(" in {task}"),
            None => format!(" when {place} is high"),
        },
    };
    let values: Vec<&str> = list(rule, "values").iter().filter_map(Value::as_str).collect();
    let words = string(rule, "words");
    let words = if words.is_empty() { String::new() } else { format!(" ({words})") };
    format!("{verb} {}{when}{words}", values.join(" or "))
}

/// Rules that always hold, as `read` takes them.
fn hard_state(rules: &Value) -> Vec<(&'static str, Vec<Value>)> {
    let (mut forbid, mut require) = (Vec::new(), Vec::new());
    let always = |rule: &&Value| rule.get("when").is_none_or(Value::is_null);
    for rule in rules.as_array().into_iter().flatten().filter(always) {
        let values = list(rule, "values").iter().filter_map(Value::as_str);
        let parts: Vec<(&str, &str)> = values.filter_map(|value| value.split_once('=')).collect();
        if string(rule, "effect") == "forbid" {
            forbid.extend(parts.iter().map(|(component, value)| json!({ *component: value })));
        } else if let Some((component, _)) = parts.first() {
            let values: Vec<&str> = parts.iter().map(|(_, value)| *value).collect();
            require.push(json!({ *component: values })); // one rule is about one component
        }
    }
    [("forbid", forbid), ("require", require)]
        .into_iter()
        .filter(|(_, patterns)| !patterns.is_empty())
        .collect()
}

/// The rules in words.
fn describe_rules(text: &mut String, rules: &Value) {
    for rule in rules.as_array().into_iter().flatten() {
        let _ = write!(text, "\n- Rule: {}", rule_words(rule)); // writing to a String cannot fail
    }
}

/// What sets the chosen action apart, the largest parts first.
fn reasons(why: &Value) -> String {
    let action = |key: &str| {
        let values = why.get(key).and_then(Value::as_object).into_iter().flatten();
        values
            .map(|(component, value)| format!("{component}={}", value.as_str().unwrap_or("?")))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let number = |value: &Value, key: &str| value.get(key).and_then(Value::as_f64).unwrap_or(0.0);
    let mut text = format!(
        "Chosen: {} (score {:+.3}), rather than {} ({:+.3}).",
        action("chosen"),
        number(why, "chosen_score"),
        action("other"),
        number(why, "other_score"),
    );
    let mut shares: Vec<(f64, &Value)> = list(why, "shares")
        .iter()
        .map(|share| (number(share, "chosen") - number(share, "other"), share))
        .collect();
    shares.sort_by(|(one, _), (other, _)| other.abs().total_cmp(&one.abs()));
    for (difference, share) in shares.into_iter().filter(|(difference, _)| *difference != 0.0).take(5) {
        let what = match string(share, "part") {
            "default" => "what usually suits such a request".to_owned(),
            "cost" => "what it costs".to_owned(),
            "draw" | "bonus" => "curiosity about what is not known yet".to_owned(),
            _ => match [string(share, "chosen_coordinate"), string(share, "other_coordinate")] {
                [chosen, ""] => format!("what was learned about {chosen}"),
                ["", other] => format!("what was learned about {other}"),
                [chosen, other] => format!("what was learned about {chosen} and {other}"),
            },
        };
        let _ = write!(text, "\n- {difference:+.3}: {what}"); // writing to a String cannot fail
    }
    if why.get("intended").is_some() {
        text += "\nA coin was tossed to learn more: otherwise another action would have been chosen.";
    } else if why.get("explored") == Some(&Value::Bool(true)) {
        text += "\nAnother action has a higher expected score: this one was tried to learn more.";
    }
    text
}
