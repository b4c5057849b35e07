//! Connections to a database: made when they are needed, kept for the next one, and made anew when they are lost.
//!
//! A connection belongs to one caller at a time. What is to happen at once is sent without waiting for answers in between
//! ([`Session::pipeline`]), so that it takes one round trip.

use super::place::Place;
use super::tls;
use crate::store::StoreError;
use futures_util::future::join_all;
use std::collections::HashMap;
use std::error::Error as _;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep, timeout};
use tokio_postgres::error::{Severity, SqlState};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, Row, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

/// Connections at most.
const CONNECTIONS: usize = 16;
/// How long a connection may take until it can be used.
const CONNECTING: Duration = Duration::from_secs(8);
/// How long everything that is asked at once may take. The database gives up before that, unless it is not there.
const ANSWERING: Duration = Duration::from_secs(40);
/// How long a database is waited for that is not there, when nothing has been sent to it.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// What every connection is told. Everything that is asked has an index, and the planner is not to guess from tables that were small
/// when it first looked.
const MANNERS: &str = "SET statement_timeout = '30s'; SET lock_timeout = '10s'; SET idle_in_transaction_session_timeout = '20s'; \
    SET client_min_messages = warning; SET default_transaction_isolation = 'read committed'; SET jit = off; \
    SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; \
    SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'";

/// A parameter of a statement.
pub(super) type Value<'v> = &'v (dyn ToSql + Sync);

/// What is to be done after a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Course {
    /// The same again: others were in the way.
    Again,
    /// The connection is lost: the same again on another one.
    Lost,
    /// It will not get better.
    Final,
}

/// Why a database has not done what it was asked for.
#[derive(Debug)]
pub(super) struct Fault {
    text: String,
    pub(super) course: Course,
    pub(super) code: Option<SqlState>,
}

impl Fault {
    /// Something that was read is not what a table of ours has.
    pub(super) fn foreign(what: &str) -> Self {
        Self {
            text: format!("the tables in the database are not those of Fable: {what}"),
            course: Course::Final,
            code: None,
        }
    }

    fn late() -> Self {
        Self { text: "the database does not answer in time".to_owned(), course: Course::Lost, code: None }
    }

    /// The same for another one whom it concerns.
    pub(super) fn again(&self) -> Self {
        Self { text: self.text.clone(), course: self.course, code: self.code.clone() }
    }

    fn connecting(error: &Error) -> Self {
        let mut fault = Self::from(error);
        // Wrong passwords, names and certificates stay wrong; anything else may be a database that is just starting.
        let wrong = [
            SqlState::INVALID_PASSWORD,
            SqlState::INVALID_AUTHORIZATION_SPECIFICATION,
            SqlState::INVALID_CATALOG_NAME,
        ];
        let stranger = error
            .source()
            .and_then(|cause| cause.downcast_ref::<io::Error>()?.get_ref()?.downcast_ref::<rustls::Error>());
        let wrong = stranger.is_some() || fault.code.as_ref().is_some_and(|code| wrong.contains(code));
        fault.course = if wrong { Course::Final } else { Course::Lost };
        fault
    }
}

impl From<&Error> for Fault {
    fn from(error: &Error) -> Self {
        let Some(said) = error.as_db_error() else {
            let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
            // Values that cannot be read are the tables' fault, everything else the connection's.
            let course = if error.to_string().contains("serializing") { Course::Final } else { Course::Lost };
            return Self {
                text: format!("the database does not answer: {error}{cause}"),
                course,
                code: None,
            };
        };
        let again = [
            SqlState::T_R_SERIALIZATION_FAILURE,
            SqlState::T_R_DEADLOCK_DETECTED,
            SqlState::LOCK_NOT_AVAILABLE,
            SqlState::QUERY_CANCELED,
        ];
        let code = said.code();
        // Shutting down, starting, out of connections, a statement that another server had prepared.
        let lost =
            ["57P", "08", "53300", "26000", "25006"].iter().any(|class| code.code().starts_with(class));
        let course = match () {
            () if again.contains(code) => Course::Again,
            () if lost || said.parsed_severity() != Some(Severity::Error) => Course::Lost,
            () => Course::Final,
        };
        // The detail would name users.
        Self {
            text: format!("the database says: {} ({})", said.message(), code.code()),
            course,
            code: Some(code.clone()),
        }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::from(&error)
    }
}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> Self {
        Self::Database(fault.text)
    }
}

/// One connection and the statements that were prepared on it.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) client: Client,
    /// Where the tables are.
    pub(super) schema: String,
    prepared: Mutex<HashMap<&'static str, Statement>>,
}

impl Session {
    async fn statement(&self, text: &'static str) -> Result<Statement, Fault> {
        let known = lock(&self.prepared).get(text).cloned();
        if let Some(statement) = known {
            return Ok(statement);
        }
        let statement = timeout(ANSWERING, self.client.prepare(text)).await.map_err(|_| Fault::late())??;
        lock(&self.prepared).insert(text, statement.clone());
        Ok(statement)
    }

    /// One statement.
    pub(super) async fn query(&self, text: &'static str, values: &[Value<'_>]) -> Result<Vec<Row>, Fault> {
        let statement = self.statement(text).await?;
        Ok(timeout(ANSWERING, self.client.query(&statement, values)).await.map_err(|_| Fault::late())??)
    }

    /// Prepares what a pipeline needs.
    pub(super) async fn prepare(&self, steps: &[Step<'_>]) -> Result<Vec<Statement>, Fault> {
        let mut statements = Vec::with_capacity(steps.len());
        for step in steps {
            statements.push(self.statement(step.text).await?);
        }
        Ok(statements)
    }

    /// Several statements in order, sent at once: what each has come to, or `None` when it is not known in time.
    pub(super) async fn pipeline(
        &self,
        statements: &[Statement],
        steps: &[Step<'_>],
    ) -> Result<Vec<Result<Vec<Row>, Error>>, Fault> {
        // Up to thirty futures are polled in order, and a statement is sent when its future is first polled.
        debug_assert!(steps.len() <= 30, "{}", steps.len());
        let sent =
            statements.iter().zip(steps).map(|(statement, step)| self.client.query(statement, &step.values));
        timeout(ANSWERING, join_all(sent)).await.map_err(|_| Fault::late())
    }
}

/// A statement of a pipeline with its values.
#[derive(Debug)]
pub(super) struct Step<'v> {
    pub(super) text: &'static str,
    pub(super) values: Vec<Value<'v>>,
}

/// The connections of a store.
pub(super) struct Pool {
    place: Place,
    tls: MakeRustlsConnect,
    idle: Mutex<Vec<Session>>,
    permits: Semaphore,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pool {
    pub(super) fn new(place: Place) -> Result<Self, StoreError> {
        let tls = tls::connector(&place)?;
        Ok(Self { place, tls, idle: Mutex::default(), permits: Semaphore::new(CONNECTIONS) })
    }

    pub(super) const fn place(&self) -> &Place {
        &self.place
    }

    async fn connect(&self) -> Result<Session, Fault> {
        let connecting = async {
            let connected = self.place.config.connect(self.tls.clone()).await;
            let (client, connection) = connected.map_err(|error| Fault::connecting(&error))?;
            drop(tokio::spawn(async move {
                if let Err(error) = connection.await {
                    tracing::debug!(error = %Fault::from(error).text, "a connection to the database has ended");
                }
            }));
            let schema = self.place.schema.replace('"', "\"\"");
            client
                .batch_execute(&format!("SET search_path TO \"{schema}\"; {MANNERS}"))
                .await
                .map_err(|error| Fault::connecting(&error))?;
            Ok(Session { client, schema: self.place.schema.clone(), prepared: Mutex::default() })
        };
        timeout(CONNECTING, connecting).await.map_err(|_| Fault::late())?
    }

    /// Works with a connection. It is kept for the next one unless it is lost.
    pub(super) async fn with<R>(
        &self,
        work: impl AsyncFnOnce(&Session) -> Result<R, Fault>,
    ) -> Result<R, Fault> {
        let _permit = self.permits.acquire().await;
        let kept = {
            let mut idle = lock(&self.idle);
            idle.retain(|session| !session.client.is_closed());
            idle.pop()
        };
        let session = match kept {
            Some(session) => session,
            None => self.connect().await?,
        };
        let done = work(&session).await;
        if !matches!(&done, Err(fault) if fault.course == Course::Lost) {
            lock(&self.idle).push(session);
        }
        done
    }

    /// Asks what changes nothing; again for a while when the connection is lost.
    pub(super) async fn read<R>(&self, work: impl AsyncFn(&Session) -> Result<R, Fault>) -> Result<R, Fault> {
        let mut pauses = Pauses::new();
        loop {
            let fault = match self.with(&work).await {
                Ok(found) => return Ok(found),
                Err(fault) => fault,
            };
            if fault.course == Course::Final || !pauses.pause(PATIENCE).await {
                return Err(fault);
            }
        }
    }
}

/// Longer and longer pauses.
#[derive(Debug)]
pub(super) struct Pauses {
    since: Instant,
    next: Duration,
}

impl Pauses {
    pub(super) fn new() -> Self {
        Self { since: Instant::now(), next: Duration::from_millis(5) }
    }

    /// Waits, unless it has been longer than that already.
    pub(super) async fn pause(&mut self, patience: Duration) -> bool {
        if self.since.elapsed() >= patience {
            return false;
        }
        sleep(self.next).await;
        self.next = (self.next * 2).min(Duration::from_secs(1));
        true
    }
}
