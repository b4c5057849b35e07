//! `fable mcp`: the tools of one person, for assistants that speak the Model Context Protocol.

use crate::failure::Failure;
use crate::input::read;
use crate::policy_arguments::{PolicyArguments, ScalarName};
use crate::store_key::{self, KEYS};
use clap::Args;
use fable_core::{Catalog, Scalar, Settings};
use fable_std::mcp::{Local, McpError, Remote, Session, serve};
use fable_std::serve::{MAX_NAME, Options, ServeError, Service};
use std::path::PathBuf;

/// Serves tools over the Model Context Protocol, on standard input and output: profile, decide, recommend, feedback, why,
/// preferences, forget.
///
/// All of them are about one person, whom nothing that is said can change. An assistant asks `decide` how to act for a request, follows the
/// instruction, and tells how it went with `feedback`, in words or as a number. Wishes that the person states are weighed and can be
/// revised; prohibitions are rules. A rule, lifting one, and `forget` need `confirm: true`, which says that the person was asked.
///
/// With --store what is known is in this process, and the store is its own until it ends. With --service it is a `fable serve --http`
/// that runs elsewhere; FABLE_TOKEN is the token if it needs one, of FABLE_TOKENS_ALL there, and is never shown.
///
/// Requests and reactions are read by fixed rules for English, made for the catalog `agent`; with another catalog give `context` and
/// `reward`. It ends with its input. Exit codes: 0 ended so, 1 the store or the client cannot be used, 2 a mistake in the command, or a
/// store of another catalog or other settings.
#[derive(Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{KEYS}"))]
pub(crate) struct McpArguments {
    /// Whose tools they are.
    #[arg(long, value_name = "NAME")]
    user: String,
    #[command(flatten)]
    place: Place,
    /// What somebody new begins with, from `fable prior fit`; without it the isotropic prior.
    #[arg(long, value_name = "FILE", conflicts_with = "service")]
    prior: Option<PathBuf>,
    #[command(flatten)]
    policy: PolicyArguments,
}

#[derive(Args)]
#[group(required = true, multiple = false)]
struct Place {
    /// What keeps what is known: a file or the URL of a database. It is made if there is none.
    #[arg(long, value_name = "FILE|URL")]
    store: Option<PathBuf>,
    /// A service that keeps it: the address before /v1, like http://127.0.0.1:8080.
    #[arg(long, value_name = "URL")]
    service: Option<String>,
}

const EXAMPLES: &str = r#"Examples:
  fable mcp --store users.fable --user ana
  fable mcp --service http://127.0.0.1:8080 --user ana

For an assistant that starts servers of a JSON file:
  {"mcpServers":{"fable":{"command":"fable","args":["mcp","--store","/home/ana/users.fable","--user","ana"]}}}"#;

/// Serves to the end of the input.
pub(crate) fn run(arguments: &McpArguments) -> Result<String, Failure> {
    let McpArguments { user, place, prior, policy } = arguments;
    if user.is_empty() || user.len() > MAX_NAME {
        return Err(Failure::Mistake(format!("the name of a user must have 1 to {MAX_NAME} bytes")));
    }
    if let Some(address) = &place.service {
        let token = std::env::var("FABLE_TOKEN").ok().filter(|token| !token.is_empty());
        let remote = Remote::new(address, token.as_deref()).map_err(Failure::mistake)?;
        return serve(Session::new(remote, user)).map(|()| String::new()).map_err(|error| trouble(&error));
    }
    let (catalog, settings) = policy.open()?;
    let prior = prior.as_deref().map(read).transpose()?;
    let keeping = store_key::options()?;
    let options = Options {
        store: place.store.clone(),
        keeping,
        prior,
        durable: true,
        threads: Some(1),
        ..Options::default()
    };
    let served =
        match ScalarName::of(None, options.store.as_deref(), &options.keeping, options.prior.as_deref()) {
            ScalarName::F32 => local::<f32>(catalog, settings, &options, user),
            ScalarName::F64 => local::<f64>(catalog, settings, &options, user),
        };
    match served {
        Ok(done) => done.map(|()| String::new()).map_err(|error| trouble(&error)),
        Err(ServeError::Store(error)) => Err(error.into()),
        Err(error @ (ServeError::Settings(_) | ServeError::Prior(_))) => Err(Failure::mistake(error)),
        Err(error) => Err(Failure::Trouble(error.to_string())),
    }
}

/// With the service in this process.
fn local<T: Scalar>(
    catalog: &'static Catalog<'static>,
    settings: Settings<'static>,
    options: &Options,
    user: &str,
) -> Result<Result<(), McpError>, ServeError> {
    let mut done = Ok(());
    Service::run::<T>(catalog, settings, options, |service| {
        done = serve(Session::new(Local(service), user));
        Ok(())
    })?;
    Ok(done)
}

fn trouble(error: &McpError) -> Failure {
    Failure::Trouble(error.to_string())
}
