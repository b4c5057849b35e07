//! The transcripts: every answer of a model in a file whose name is the hash of what was asked.
//!
//! A file has the request and the answer, so it can be read by anybody and checked against its name. It is written under
//! another name first: a run that is killed leaves whole transcripts and goes on after them. The address of the endpoint is not
//! part of the name, and the key is not part of anything.

use crate::setup::StudyError;
use fable_std::llm::{Completion, ToolCall};
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{fs, io, process};

/// The folder of the transcripts.
#[derive(Clone, Debug)]
pub struct Transcripts {
    folder: PathBuf,
}

/// What is asked: the request, and which call of the experiment it is.
///
/// The place is part of the name because an experiment asks the same more than once: another policy or seed that comes to the
/// same request is answered anew, as the paper's were. Where equal requests share their answer the place is empty.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// Like `rubric/Fable (full)/0/17/judge`.
    pub place: String,
    /// The whole body.
    pub request: Value,
}

/// What was answered, as it is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Answer {
    content: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    calls: Vec<(String, String, String)>,
    finish: String,
    model: String,
    tokens: Option<(u64, u64)>,
}

#[derive(Serialize, Deserialize)]
struct Transcript {
    question: Question,
    answer: Answer,
}

/// The SHA-256 of a text, in hexadecimal.
#[must_use]
pub fn hash(text: &str) -> String {
    let mut out = String::new();
    for byte in digest(&SHA256, text.as_bytes()).as_ref() {
        let _ = write!(out, "{byte:02x}");
    }
    out
}

impl Question {
    /// The name of its transcript.
    #[must_use]
    pub fn name(&self) -> String {
        // Objects keep the order in which they were written, so the same request is the same text.
        hash(
            &Value::from(
                [("place", self.place.clone().into()), ("request", self.request.clone())].map(pair).to_vec(),
            )
            .to_string(),
        )
    }
}

fn pair((name, value): (&str, Value)) -> Value {
    Value::Array(vec![name.into(), value])
}

impl From<Completion> for Answer {
    fn from(Completion { content, calls, finish, model, tokens }: Completion) -> Self {
        let calls = calls.into_iter().map(|call| (call.id, call.name, call.arguments)).collect();
        Self { content, calls, finish, model, tokens }
    }
}

impl From<Answer> for Completion {
    fn from(Answer { content, calls, finish, model, tokens }: Answer) -> Self {
        let calls = calls.into_iter().map(|(id, name, arguments)| ToolCall { id, name, arguments }).collect();
        Self { content, calls, finish, model, tokens }
    }
}

/// The hash of an answer: of what the model said and called, not of the server's counting.
#[must_use]
pub fn answer_hash(answer: &Completion) -> String {
    let calls: Vec<_> = answer.calls.iter().map(|call| (&call.name, &call.arguments)).collect();
    hash(&serde_json::json!([answer.content, calls, answer.finish]).to_string())
}

impl Transcripts {
    /// The transcripts in a folder, which need not be there yet.
    #[must_use]
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    /// The file of a transcript. Few folders have tens of thousands of files well, so there is one for each first byte.
    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name.get(..2).unwrap_or("00")).join(format!("{name}.json"))
    }

    /// The answer to a question, if it was asked before.
    ///
    /// # Errors
    /// A file that cannot be read, or is not the transcript that its name says.
    pub fn find(&self, question: &Question, name: &str) -> Result<Option<Completion>, StudyError> {
        let path = self.path(name);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(StudyError::BadData { path, reason: error.to_string() }),
        };
        match serde_json::from_str::<Transcript>(&text) {
            Ok(transcript) if transcript.question == *question => Ok(Some(transcript.answer.into())),
            Ok(_) => Err(StudyError::BadData {
                path,
                reason: "this is the transcript of another question; delete it".into(),
            }),
            Err(error) => {
                Err(StudyError::BadData { path, reason: format!("not a transcript ({error}); delete it") })
            }
        }
    }

    /// Keeps an answer.
    ///
    /// # Errors
    /// What the file system says.
    pub fn keep(&self, question: Question, name: &str, answer: Completion) -> io::Result<()> {
        let path = self.path(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let text = serde_json::to_string_pretty(&Transcript { question, answer: answer.into() })? + "\n";
        let unfinished = path.with_extension(format!("{}.unfinished", process::id()));
        fs::write(&unfinished, text)?;
        fs::rename(unfinished, path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_answer_is_found_again_and_nothing_else_is() {
        let folder = tempfile::tempdir().unwrap();
        let transcripts = Transcripts::new(folder.path());
        let question = Question { place: "a/1".into(), request: json!({ "model": "m", "messages": [] }) };
        let name = question.name();
        // Whoever has paid for transcripts finds them again: sha256 of [["place","a/1"],["request",{"model":"m","messages":[]}]]
        assert_eq!(name, "8c48301b951ca0e22d90432a04930b678271c87aedc4d917ac0aee72cf1c72d9");
        assert_eq!(transcripts.find(&question, &name).unwrap(), None);
        let call = ToolCall { id: "1".into(), name: "web_search".into(), arguments: "{}".into() };
        let answer = Completion {
            content: "yes".into(),
            calls: vec![call],
            tokens: Some((3, 1)),
            ..Completion::default()
        };
        transcripts.keep(question.clone(), &name, answer.clone()).unwrap();
        assert_eq!(transcripts.find(&question, &name).unwrap(), Some(answer));
        for other in [
            Question { place: "a/2".into(), ..question.clone() },
            Question { request: json!({ "model": "n", "messages": [] }), ..question.clone() },
        ] {
            assert_ne!(other.name(), name);
            assert_eq!(transcripts.find(&other, &other.name()).unwrap(), None);
            let wrong = transcripts.find(&other, &name).unwrap_err().to_string();
            assert!(wrong.contains("another question"), "{wrong}");
        }
        fs::write(transcripts.path(&name), "{\"question\":").unwrap();
        let broken = transcripts.find(&question, &name).unwrap_err().to_string();
        assert!(broken.contains("not a transcript") && broken.contains(&name), "{broken}");
    }
}
