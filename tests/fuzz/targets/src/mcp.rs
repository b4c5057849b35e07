//! Any arguments of any tool, and any answer of a service, are words and data or a fault.
//! Nobody but the person is asked about.

use fable_std::mcp::{Backend, Fault, Refused, Session, TOOLS};
use serde_json::Value;

/// Answers everything with the same.
struct Parrot(Value);

impl Backend for Parrot {
    fn ask(&self, op: &str, body: &Value) -> Result<Value, Refused> {
        let about = [body.get("user"), body.get("decision"), body.get("text")].into_iter().flatten().next();
        let about = about.and_then(Value::as_str).expect("an op is about somebody");
        let own = format!("{:016x}-", fable_core::user_hash("ana"));
        // A service says itself which of the person's decisions wait.
        let waiting =
            self.0.get("waiting").and_then(Value::as_array).into_iter().flatten().any(|id| id == about);
        assert!(op == "read" || about == "ana" || about.starts_with(&own) || waiting, "{op} {body}");
        if self.0.is_null() {
            Err(Refused::new("unknown_op", "there is no such op"))
        } else {
            Ok(self.0.clone())
        }
    }
}

/// The tool, as a number, the arguments, and after a zero the answer of the service.
pub fn mcp(data: &[u8]) {
    let Some((tool, rest)) = data.split_first() else { return };
    let mut parts = rest.splitn(2, |byte| *byte == 0);
    let mut part =
        || parts.next().and_then(|part| serde_json::from_slice::<Value>(part).ok()).unwrap_or_default();
    let (Value::Object(arguments), answer) = (part(), part()) else { return };
    let session = Session::new(Parrot(answer), "ana");
    let name = TOOLS[usize::from(*tool) % TOOLS.len()].name;
    for _ in 0..2 {
        match session.call(name, &arguments) {
            // An instruction is the service's own words, if it has any.
            Ok(told) => {
                assert!(!told.text.is_empty() || ["decide", "recommend"].contains(&name), "{name} {told:?}");
            }
            Err(fault) => assert!(!matches!(fault, Fault::Tool), "{name}"),
        }
    }
}
