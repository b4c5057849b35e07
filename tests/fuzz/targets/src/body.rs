//! Any bytes are the body of a request over HTTP or an error.
//! A line that names the op itself asks the same.

use fable_core::catalog::AGENT;
use fable_std::serve::{Code, Incoming, OPS};

/// The op, as a number, and the body.
pub fn body(data: &[u8]) {
    let Some((op, body)) = data.split_first() else { return };
    let name = OPS[usize::from(*op) % OPS.len()];
    let Incoming { id, op } = Incoming::of_op(&AGENT, name, body);
    if let Some(id) = &id {
        assert!(body.windows(id.get().len()).any(|part| part == id.get().as_bytes()));
    }
    let op = match op {
        Ok(op) => op,
        Err(refusal) => {
            assert!(
                refusal.code != Code::Internal
                    && refusal.code != Code::Storage
                    && !refusal.message.is_empty()
            );
            return;
        }
    };
    let start = 1 + body.iter().position(|byte| *byte == b'{').unwrap();
    let comma = if body[start..].trim_ascii_start().starts_with(b"}") { "" } else { "," };
    let line = [&body[..start], format!("\"op\":\"{name}\"{comma}").as_bytes(), &body[start..]].concat();
    let read = Incoming::read(&AGENT, &line);
    assert_eq!((read.op, read.id.map(|id| id.get().to_owned())), (Ok(op), id.map(|id| id.get().to_owned())));
}
