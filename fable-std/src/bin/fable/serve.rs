//! `fable serve`: the service for programs in other languages.

use crate::failure::Failure;
use crate::http_arguments::{HttpArguments, TOKENS};
use crate::service_arguments::{Front, ServiceArguments, at_a_signal, say_where};
use crate::store_key::KEYS;
use clap::Args;
use fable_core::{Catalog, Scalar, Settings};
use fable_std::serve::http::{HttpOptions, HttpStop, serve_http};
use fable_std::serve::{Options, PROTOCOL, ServeError, Service, Stop, serve};
use signal_hook::iterator::Signals;
use std::io;

/// Answers requests, one JSON object per line, on standard input and output, or over HTTP: for programs in other languages.
///
/// It ends with its input, which HTTP does not read, or with SIGTERM, SIGINT or SIGHUP, after everything it has read is answered; a second signal ends it at
/// once. A signal that is ignored when it starts, as with nohup, stays ignored.
///
/// Exit codes: 0 ended so, 1 the store, the prior or the input cannot be used, 2 a mistake in the command, or a store or a prior
/// that was made with another catalog or other settings, 70 a fault inside fable (a panic in any of its threads: one line on standard
/// error says where, and what was answered is kept as after `kill -9`), 129, 130 or 143 a second signal.
///
/// FABLE_LOG=info|debug|... logs to standard error, never what a request says. Nobody has to read it: lines that find no room are left
/// out and counted.
#[derive(Args)]
#[command(after_long_help = format!("{KEYS}\n\n{TOKENS}\n\n{PROTOCOL}"))]
pub(crate) struct ServeArguments {
    #[command(flatten)]
    service: ServiceArguments,
    #[command(flatten)]
    http: HttpArguments,
}

/// Runs the service to its end.
pub(crate) fn run(arguments: &ServeArguments) -> Result<String, Failure> {
    let (catalog, settings) = arguments.service.policy.open()?;
    arguments.service.run(catalog, settings, Door { http: arguments.http.options()? })
}

/// Where requests come from.
struct Door {
    http: Option<HttpOptions>,
}

impl Front for Door {
    fn serve<T: Scalar>(
        self,
        catalog: &'static Catalog<'static>,
        settings: Settings<'static>,
        options: &Options,
        signals: Signals,
    ) -> Result<(), ServeError> {
        let Some(http) = self.http else {
            let ready = |stop: Stop| at_a_signal(signals, move || stop.stop());
            return serve::<T>(catalog, settings, options, io::stdin(), io::stdout().lock(), ready);
        };
        let stop = HttpStop::default();
        let stopping = stop.clone();
        at_a_signal(signals, move || stopping.stop());
        Service::run::<T>(catalog, settings, options, |service| serve_http(service, http, &stop, say_where))
    }
}
