//! `fable chat`: you are the user.

mod terminal;

use crate::failure::Failure;
use crate::input::read_within;
use crate::memory_arguments::MemoryArguments;
use crate::policy_arguments::PolicyArguments;
use crate::prior_argument;
use crate::store_key;
use clap::{Args, ValueEnum};
use fable_core::settings::Deadline;
use fable_core::{Policy, Settings};
use fable_std::chat::{Chat, ChatError, Reader, SEEN, TYPED};
use fable_std::llm::{Endpoint, Key, Llm};
use fable_std::store::{self, Identity, Priors, StoreError};
use fable_std::text::{ContextAdapter, RequestText, Rules, Situation};
use std::fs::DirBuilder;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use terminal::{Terminal, Typed};

/// Learns what you like: ask for something, see what Fable chooses, and react.
#[derive(Args)]
#[command(long_about = ABOUT, after_help = EXAMPLES, after_long_help = explained())]
pub(crate) struct ChatArguments {
    /// Whose preferences are learned.
    #[arg(long, value_name = "NAME", default_value = "me")]
    user: String,
    /// The file that keeps them; default chat.fable in $XDG_DATA_HOME/fable or ~/.local/share/fable. Made if there is none.
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
    /// What somebody new begins with, from `fable prior fit`; without it the isotropic prior. Whoever is known goes on as before.
    #[arg(long, value_name = "FILE")]
    prior: Option<PathBuf>,
    /// An assistant that answers: the address of an OpenAI-compatible server, before /chat/completions.
    #[arg(long, value_name = "URL", requires = "model")]
    endpoint: Option<String>,
    /// The model to ask there.
    #[arg(long, value_name = "NAME", requires = "endpoint")]
    model: Option<String>,
    /// Who reads requests and reactions; with an endpoint that is the model, unless you say rules.
    #[arg(long, value_enum, value_name = "WHO")]
    read_by: Option<ReadBy>,
    /// How long one call to the endpoint may take.
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = clap::value_parser!(u16).range(1..=3600))]
    timeout: u16,
    /// A model at the endpoint that makes vectors of texts: with it earlier exchanges are compared with a request by meaning, otherwise by words.
    #[arg(long, value_name = "NAME", requires = "endpoint")]
    embeddings: Option<String>,
    /// A text that is so for everybody, like "You are a coding assistant", of up to 64 KiB: requests are read with it, and the assistant is told it.
    #[arg(long, value_name = "FILE")]
    background: Option<PathBuf>,
    #[command(flatten)]
    memory: MemoryArguments,
    #[command(flatten)]
    policy: PolicyArguments,
}

/// Most bytes of a background.
const MAX_BACKGROUND: u64 = 64 << 10;

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ReadBy {
    /// Fixed rules for English words; nothing leaves this machine for it.
    Rules,
    /// The model behind the endpoint, and the rules where it fails.
    Model,
}

const ABOUT: &str = "\
Learns what you like: ask for something, see what Fable chooses, and react.

You are the user. For each request Fable chooses how an assistant should act and compiles the instruction for it. With
--endpoint the assistant answers; without one the instruction is all there is, and you react to that. Your reaction is one
number, and what it teaches shows in what is chosen next. Requests and reactions are not stored, only the numbers made of them;
with --memory requests and answers are, and the chosen memory says what of them the assistant is told in later chats.

On a terminal the first thing that somebody new is asked for is what they like; over a pipe /prefer does the same. Over a pipe
nothing else differs: a line in, lines out, exit code 0 at the end of input.

The key of the endpoint comes from FABLE_API_KEY or else OPENAI_API_KEY, and is never shown or stored. With an endpoint your
words are sent there. A store remembers who read them (--read-by and the model), the catalog and the settings, and refuses others.
A --deadline time=N counts seconds.";

const EXAMPLES: &str = "\
Examples:
  fable chat
  fable chat --endpoint http://localhost:11434/v1 --model qwen3
  printf '%s\\n' '/prefer I like short answers' 'What is a monad?' 'too long' | fable chat --store try.fable
  fable forget me --store try.fable        # what /forget does

Exit codes: 0 ended, 1 the store or the input cannot be used, 2 a mistake in the command, or a store of other settings.";

fn explained() -> String {
    format!("What you type:\n{TYPED}\n\nWhat you see:\n{SEEN}\n\n{EXAMPLES}")
}

/// Talks until the input ends.
pub(crate) fn run(arguments: &ChatArguments) -> Result<String, Failure> {
    let (catalog, settings) = arguments.policy.open()?;
    let llm = assistant(arguments)?;
    let background = arguments.background.as_deref().map(background).transpose()?;
    let by_model = arguments.read_by != Some(ReadBy::Rules);
    let reader: &dyn Reader = match &llm {
        Some(llm) if by_model => llm,
        None if arguments.read_by == Some(ReadBy::Model) => {
            return Err(Failure::Mistake("--read-by model needs --endpoint and --model".into()));
        }
        _ => {
            Rules.context(catalog, Situation::new(RequestText::new(""))).map_err(Failure::mistake)?; // now, not at the first request
            &Rules
        }
    };
    let settings = read_by(settings, reader)?;
    let base = Policy::new(catalog, settings).map_err(Failure::mistake)?;
    let prior = prior_argument::numbers(arguments.prior.as_deref(), &base)?;
    let path = arguments.store.clone().map_or_else(default_store, Ok)?;
    let trouble = |error: StoreError| refused(&path, &error.into());
    let keeping = store::Options { memory: arguments.memory.bounds(), ..store_key::options()? };
    let store = store::open(&path, &Identity::new(&base), &keeping).map_err(trouble)?;
    let priors = Priors::open(&*store, &base, prior.as_deref()).map_err(trouble)?;
    let policies = priors.policies(&base).map_err(trouble)?;
    let chat = Chat::open(&policies, store, &arguments.user, reader, llm.as_ref());
    let mut chat = chat.map_err(|error| refused(&path, &error))?.remembering(arguments.memory.is_on());
    if let Some(background) = background {
        chat = chat.with_background(background);
    }
    match talk(&mut chat, &path, settings.deadline, llm.is_some()) {
        Ok(()) => Ok(String::new()),
        // Nobody reads any more; what was said is kept.
        Err(Ended::Stream(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(String::new()),
        Err(Ended::Stream(error)) => Err(Failure::Trouble(error.to_string())),
        Err(Ended::Chat(error)) => Err(refused(&path, &error)),
    }
}

enum Ended {
    Stream(io::Error),
    Chat(ChatError),
}

impl From<io::Error> for Ended {
    fn from(error: io::Error) -> Self {
        Self::Stream(error)
    }
}

fn talk(chat: &mut Chat<'_>, path: &Path, deadline: Deadline, slow: bool) -> Result<(), Ended> {
    let mut terminal = Terminal::open(slow)?;
    if terminal.is_interactive() {
        terminal.show(&chat.greet(&store::shown(path)))?;
    }
    while let Some(typed) = terminal.read()? {
        let reply = match typed {
            Typed::Line(line) => chat.line(&line, now(deadline)).map_err(Ended::Chat)?,
            Typed::Refused(why) => {
                terminal.refuse(why)?;
                continue;
            }
        };
        terminal.show(&reply)?;
        if reply.ends {
            break;
        }
    }
    Ok(())
}

/// Seconds, where a deadline counts them; otherwise the time of a request is not kept.
fn now(deadline: Deadline) -> u32 {
    let Deadline::Time(_) = deadline else { return 0 };
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u32::try_from(elapsed.as_secs()).unwrap_or(u32::MAX)
}

fn assistant(arguments: &ChatArguments) -> Result<Option<Llm>, Failure> {
    let (Some(url), Some(model)) = (&arguments.endpoint, &arguments.model) else { return Ok(None) };
    let (timeout, embeddings) = (Duration::from_secs(arguments.timeout.into()), arguments.embeddings.clone());
    let endpoint = Endpoint { timeout, embeddings, ..Endpoint::new(url, model) };
    let key = Key::from_env().map_err(Failure::mistake)?;
    Llm::new(endpoint, key).map(Some).map_err(Failure::mistake)
}

/// What is so for everybody.
fn background(path: &Path) -> Result<String, Failure> {
    let bytes = read_within(path, MAX_BACKGROUND + 1)?;
    let wrong = |what: &str| Failure::Mistake(format!("{}: {what}", path.display()));
    if bytes.len() as u64 > MAX_BACKGROUND {
        return Err(wrong("a background has at most 64 KiB"));
    }
    let text = String::from_utf8(bytes).map_err(|_| wrong("a background is a text in UTF-8"))?;
    Ok(text.trim().to_owned())
}

/// The settings with the names of who reads.
fn read_by(settings: Settings<'static>, reader: &dyn Reader) -> Result<Settings<'static>, Failure> {
    let own = |flag: &str, given: &'static str, name: &str| {
        if given.is_empty() || given == name {
            Ok::<_, Failure>(&*name.to_owned().leak()) // it lives as long as the process, like the catalog
        } else {
            Err(Failure::Mistake(format!(
                "--{flag}: in a chat this is '{name}', not '{given}'; leave it out"
            )))
        }
    };
    let context_adapter = own("context-adapter", settings.context_adapter, reader.context_adapter())?;
    let feedback_adapter = own("feedback-adapter", settings.feedback_adapter, reader.feedback_adapter())?;
    Ok(Settings { context_adapter, feedback_adapter, ..settings })
}

/// Where a person's data belong on this system.
fn default_store() -> Result<PathBuf, Failure> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let data = folder("XDG_DATA_HOME").or_else(|| Some(folder("HOME")?.join(".local/share")));
    let data = data
        .ok_or_else(|| Failure::Mistake("there is no home directory; say where with --store FILE".into()))?;
    let own = data.join("fable");
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(&own).map_err(|error| Failure::file(&own, &error))?;
    Ok(own.join("chat.fable"))
}

/// What to do about a store that cannot be used.
fn refused(path: &Path, error: &ChatError) -> Failure {
    let (place, message) = (store::shown(path), error.to_string());
    match error {
        ChatError::Store(StoreError::Mismatch { what, .. }) if what.ends_with("_adapter") => {
            Failure::Mistake(format!(
                "{place}: {message}: what was read by one is not understood by another; use --read-by rules, the same --model, or another --store"
            ))
        }
        ChatError::Store(StoreError::Mismatch { .. }) => {
            Failure::Mistake(format!("{place}: {message}; use another --store"))
        }
        ChatError::Name => Failure::Mistake(format!("--user: {message}")),
        _ => Failure::Trouble(format!("{place}: {message}")),
    }
}
