//! `fable proxy`: the layer around an assistant that is reached over HTTP.

use crate::amount;
use crate::failure::Failure;
use crate::http_arguments::{HttpLimits, TOKENS, checked};
use crate::service_arguments::{Front, ServiceArguments, at_a_signal, say_where};
use crate::store_key::KEYS;
use clap::{Args, ValueEnum};
use fable_core::{Catalog, Scalar, Settings};
use fable_std::proxy::{self, Mode, UpstreamAddress, UserShare, serve_proxy};
use fable_std::serve::http::{HttpOptions, HttpStop};
use fable_std::serve::{Options, ServeError, Service};
use fable_std::text::Rules;
use signal_hook::iterator::Signals;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

/// Stands between an application and its assistant and learns how each user wants to be answered.
///
/// The application changes its base address to this one and nothing else. It understands /v1/chat/completions, /v1/responses and /v1/messages, streamed or
/// not, and passes everything else on. Users are named by the header x-fable-user, or in the body by user, safety_identifier or metadata.user_id; requests
/// without a user go on as they came, and so does every request when something is wrong with Fable. The answer's headers tell: x-fable-decision has the
/// decision, x-fable-bypass why there is none.
///
/// What the user says next is the reward, and so is POST /feedback with the decision as inference_id. The ops of `fable serve` are at POST
/// /fable/v1/OP: profile, rules, switch, forget and the others.
///
/// The application's key is passed on, and neither kept nor logged.
#[derive(Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{KEYS}\n\n{TOKENS}\nApplications send theirs as x-fable-token: where requests are passed on, authorization is for the assistant."))]
pub(crate) struct ProxyArguments {
    #[arg(
        long,
        value_name = "URL",
        help = "Where the assistant is: the address before /v1, as https://api.openai.com or http://localhost:11434"
    )]
    upstream: UpstreamAddress,
    /// The address to listen at; port 0 is any that is free. One line on standard output says where.
    #[arg(long, value_name = "ADDRESS", required_unless_present = "socket")]
    listen: Option<SocketAddr>,
    /// Allows an address that others can reach. It needs tokens, and a proxy with TLS before it.
    #[arg(long, requires = "listen")]
    listen_public: bool,
    /// Listens at a UNIX socket, for this user alone (mode 0600); it is removed at the end. May be given beside --listen.
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// What is done with requests.
    #[arg(long, value_enum, default_value_t = ModeName::Apply)]
    mode: ModeName,
    /// The part of the users that it is done for, from 0 to 1. Who is in it stays when it grows; the others' requests go on as they came.
    #[arg(long, value_name = "PART", default_value = "1", value_parser = share)]
    share: UserShare,
    /// Takes tools out of the list, for assistants that know no `allowed_tools`. Their cache does not find such requests again.
    #[arg(long)]
    filter_tools: bool,
    /// Who tells the assistant what was decided, in chat completions and responses.
    #[arg(long, value_enum, default_value_t = RoleName::System)]
    role: RoleName,
    /// Milliseconds that a request may be held up; then it goes on as it came.
    #[arg(long, value_name = "MILLISECONDS", default_value_t = 250, value_parser = clap::value_parser!(u64).range(1..=60_000))]
    patience: u64,
    /// Seconds that the assistant has to begin with its answer.
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    upstream_timeout: u64,
    /// Longest request that is read; a longer one goes on as it comes.
    #[arg(long, value_name = "BYTES", default_value = "16MiB", value_parser = amount::bytes)]
    largest: usize,
    /// Conversations that are in memory, to know what the user's next message is about.
    #[arg(long, value_name = "COUNT", default_value = "10000")]
    conversations: NonZeroUsize,
    /// What the metrics of POST /feedback are worth; without it `reward`, a number from -1 to 1, and `comment`, a text.
    #[arg(long, value_name = "FILE.toml")]
    metrics: Option<String>,
    #[command(flatten)]
    service: ServiceArguments,
    #[command(flatten)]
    limits: HttpLimits,
}

const EXAMPLES: &str = "\
Examples:
  fable proxy --upstream https://api.openai.com --listen 127.0.0.1:8080 --store users.fable
  OPENAI_BASE_URL=http://127.0.0.1:8080/v1 python app.py
  fable proxy --upstream http://localhost:11434 --listen 127.0.0.1:8080 --store users.fable --mode observe
  fable proxy --upstream https://api.openai.com --listen 127.0.0.1:8080 --store users.fable --share 0.1
  curl http://127.0.0.1:8080/fable/v1/profile -H content-type:application/json -d '{\"user\":\"ana\"}'

Exit codes: as for `fable serve`.";

#[derive(Clone, Copy, ValueEnum)]
enum ModeName {
    /// Decide, tell the assistant, and learn.
    Apply,
    /// Decide and say what was decided, in the answer's headers and in the log (FABLE_LOG=info); requests go on as they came.
    Observe,
    /// Nothing: every request goes on as it came.
    Bypass,
}

#[derive(Clone, Copy, ValueEnum)]
enum RoleName {
    /// A message of the system.
    System,
    /// A message of the developer.
    Developer,
    /// A message of the user, for assistants that take no other at the end.
    User,
}

fn share(text: &str) -> Result<UserShare, String> {
    text.parse().ok().and_then(UserShare::new).ok_or_else(|| "a number from 0 to 1".into())
}

/// Runs the proxy to its end.
pub(crate) fn run(arguments: &ProxyArguments) -> Result<String, Failure> {
    let (catalog, settings) = arguments.service.policy.open()?;
    let settings = read_by_rules(settings)?;
    let http = HttpOptions {
        address: arguments.listen,
        public: arguments.listen_public,
        socket: arguments.socket.clone(),
        ..arguments.limits.options(arguments.metrics.as_deref())?
    };
    let http = checked(http, "--listen-public")?;
    let proxy = proxy::Options {
        mode: match arguments.mode {
            ModeName::Apply => Mode::Apply,
            ModeName::Observe => Mode::Observe,
            ModeName::Bypass => Mode::Bypass,
        },
        share: arguments.share,
        tools: arguments.service.policy.tools(catalog)?,
        filter_tools: arguments.filter_tools,
        role: match arguments.role {
            RoleName::System => "system",
            RoleName::Developer => "developer",
            RoleName::User => "user",
        },
        patience: Duration::from_millis(arguments.patience),
        upstream_patience: Duration::from_secs(arguments.upstream_timeout),
        memory: arguments.service.memory.is_on(),
        body: arguments.largest,
        conversations: arguments.conversations,
        deadline: settings.deadline,
        ..proxy::Options::new(arguments.upstream.clone())
    };
    arguments.service.run(catalog, settings, Between { http, proxy })
}

/// The settings with the names of the rules that read.
fn read_by_rules(settings: Settings<'static>) -> Result<Settings<'static>, Failure> {
    let own = |flag: &str, given: &'static str, name: &'static str| {
        if given.is_empty() || given == name {
            return Ok(name);
        }
        Err(Failure::Mistake(format!("--{flag}: here this is '{name}', not '{given}'; leave it out")))
    };
    Ok(Settings {
        context_adapter: own("context-adapter", settings.context_adapter, Rules::CONTEXT)?,
        feedback_adapter: own("feedback-adapter", settings.feedback_adapter, Rules::FEEDBACK)?,
        ..settings
    })
}

struct Between {
    http: HttpOptions,
    proxy: proxy::Options,
}

impl Front for Between {
    fn serve<T: Scalar>(
        self,
        catalog: &'static Catalog<'static>,
        settings: Settings<'static>,
        options: &Options,
        signals: Signals,
    ) -> Result<(), ServeError> {
        let stop = HttpStop::default();
        let stopping = stop.clone();
        at_a_signal(signals, move || stopping.stop());
        Service::run::<T>(catalog, settings, options, |service| {
            serve_proxy(service, self.http, self.proxy, &stop, say_where)
        })
    }
}
