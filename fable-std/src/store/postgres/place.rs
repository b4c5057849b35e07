//! Where a database is, and how it may be shown.
//!
//! ```text
//! postgres://ana:secret@db.example:5432/fable?schema=assistant&sslmode=verify-full&sslrootcert=/etc/ssl/db.pem
//! postgres://ana@/fable?host=/run/postgresql
//! ```
//!
//! | option | |
//! |---|---|
//! | `schema` | where the tables are; `public` if nothing is said |
//! | `sslmode` | `disable`, `prefer`, `require` or `verify-full`, see below |
//! | `sslrootcert` | a file in PEM with the authorities that are believed, in place of the public ones |
//! | others | as for libpq: `host`, `application_name`, `connect_timeout`, `target_session_attrs`, ... |
//!
//! `verify-full` is the only one that knows whom it talks to: the certificate has to be for the host and signed by an authority that is
//! believed. `require` seals what is said, but anybody in between can pretend to be the database; `prefer` also takes a connection
//! that is not sealed. When nothing is said it is `prefer` on this machine and `verify-full` elsewhere.
//!
//! A password that is not in the URL is taken from `FABLE_POSTGRES_PASSWORD` or `PGPASSWORD`. It is never shown.

use crate::store::StoreError;
use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};

/// What a store's place begins with when it is a database.
const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];

/// Whether the place of a store is the URL of a database, and not a path.
///
/// ```
/// use fable_std::store::is_url;
/// use std::path::Path;
/// assert!(is_url(Path::new("postgres://ana@localhost/fable")) && !is_url(Path::new("users.fable")));
/// ```
#[must_use]
pub fn is_url(place: &Path) -> bool {
    place.to_str().is_some_and(|place| SCHEMES.iter().any(|scheme| place.starts_with(scheme)))
}

/// Whether a database has to show who it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    /// No TLS at all.
    Disable,
    /// TLS if the database has it.
    Prefer,
    /// TLS with anybody.
    Require,
    /// TLS with the host that was asked for.
    VerifyFull,
}

/// Where a database is. It is shown without its password.
///
/// ```
/// use fable_std::store::Place;
/// let place = Place::parse("postgres://ana:secret@localhost:5433/fable?sslmode=disable")?;
/// assert_eq!(place.to_string(), "postgres://ana@localhost:5433/fable");
/// assert!(!format!("{place:?}").contains("secret"));
/// assert!(Place::parse("postgres://ana:secret@local@host/fable").is_err());
/// # Ok::<(), fable_std::store::StoreError>(())
/// ```
#[derive(Clone)]
pub struct Place {
    pub(super) config: Config,
    pub(super) trust: Trust,
    /// The authorities that are believed, if they are not the public ones.
    pub(super) authorities: Option<PathBuf>,
    pub(super) schema: String,
}

impl Place {
    /// Reads a URL.
    ///
    /// # Errors
    /// [`StoreError::Place`], which does not repeat any of it.
    pub fn parse(url: &str) -> Result<Self, StoreError> {
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        let (mut rest, mut trust, mut authorities, mut schema) =
            (Vec::new(), None, None, "public".to_owned());
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            match key {
                "sslmode" => trust = Some(mode(value)?),
                "sslrootcert" => authorities = Some(PathBuf::from(decode(value)?)),
                "schema" => schema = decode(value)?,
                _ => rest.push(pair),
            }
        }
        if schema.is_empty() || schema.contains('\0') {
            return Err(StoreError::Place("`schema` is empty"));
        }
        let known = if rest.is_empty() { base.to_owned() } else { format!("{base}?{}", rest.join("&")) };
        let url = SCHEMES.iter().any(|scheme| known.starts_with(scheme));
        let config = known.parse::<Config>().ok().filter(|_| url);
        let mut config = config
            .ok_or(StoreError::Place("it is not like `postgres://user@host:5432/database?option=value`"))?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            config.host("localhost");
        }
        if config
            .get_hosts()
            .iter()
            .any(|host| matches!(host, Host::Tcp(name) if name.contains(['@', ':']) && name.parse::<IpAddr>().is_err()))
        {
            return Err(StoreError::Place(
                "its host is not one; in a password, write `@` as `%40`, `/` as `%2F` and `:` as `%3A`",
            ));
        }
        let local =
            config.get_hosts().iter().all(is_local) && config.get_hostaddrs().iter().all(IpAddr::is_loopback);
        let trust = trust.unwrap_or(if local { Trust::Prefer } else { Trust::VerifyFull });
        let sockets = !config.get_hosts().is_empty()
            && !config.get_hosts().iter().any(|host| matches!(host, Host::Tcp(_)));
        config.ssl_mode(match trust {
            _ if sockets => SslMode::Disable,
            Trust::Disable => SslMode::Disable,
            Trust::Prefer => SslMode::Prefer,
            Trust::Require | Trust::VerifyFull => SslMode::Require,
        });
        if config.get_password().is_none() {
            let password = ["FABLE_POSTGRES_PASSWORD", "PGPASSWORD"].iter().find_map(std::env::var_os);
            if let Some(password) = password {
                config.password(password.as_encoded_bytes());
            }
        }
        if config.get_application_name().is_none() {
            config.application_name("fable");
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(Duration::from_secs(5));
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(Duration::from_secs(10));
        }
        config
            .keepalives_idle(Duration::from_secs(20))
            .keepalives_interval(Duration::from_secs(5))
            .keepalives_retries(3);
        if config.get_target_session_attrs() == TargetSessionAttrs::Any {
            config.target_session_attrs(TargetSessionAttrs::ReadWrite); // a replica cannot be written
        }
        Ok(Self { config, trust, authorities, schema })
    }
}

/// Whether a host is this machine.
fn is_local(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => {
            name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
        }
        #[cfg(unix)]
        Host::Unix(_) => true,
    }
}

fn mode(value: &str) -> Result<Trust, StoreError> {
    Ok(match value {
        "disable" => Trust::Disable,
        "prefer" => Trust::Prefer,
        "require" => Trust::Require,
        "verify-full" => Trust::VerifyFull,
        _ => return Err(StoreError::Place("`sslmode` is `disable`, `prefer`, `require` or `verify-full`")),
    })
}

/// Replaces `%40` and the like.
fn decode(text: &str) -> Result<String, StoreError> {
    let wrong = || StoreError::Place("after `%` there have to be two hexadecimal digits");
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2).ok_or_else(wrong)?;
        bytes.push(u8::from_str_radix(digits, 16).map_err(|_| wrong())?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).map_err(|_| wrong())
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("postgres://")?;
        if let Some(user) = self.config.get_user() {
            write!(f, "{user}@")?;
        }
        let mut folder = None;
        for (place, host) in self.config.get_hosts().iter().enumerate() {
            match host {
                Host::Tcp(name) => {
                    let comma = if place > 0 { "," } else { "" };
                    let port = self.config.get_ports().get(place).or(self.config.get_ports().first());
                    write!(f, "{comma}{name}:{}", port.copied().unwrap_or(5432))?;
                }
                #[cfg(unix)]
                Host::Unix(path) => folder = Some(path),
            }
        }
        write!(f, "/{}", self.config.get_dbname().unwrap_or_default())?;
        let mut options = Vec::new();
        options.extend(folder.map(|folder| format!("host={}", folder.display())));
        options.extend((self.schema != "public").then(|| format!("schema={}", self.schema)));
        if options.is_empty() { Ok(()) } else { write!(f, "?{}", options.join("&")) }
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Place({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_never_shown() {
        for url in [
            "postgres://ana:s3cret@localhost/fable",
            "postgresql://ana:s3cret@db.example:6000/fable?sslmode=require",
            "postgres://ana@/fable?host=/run/postgresql&password=s3cret",
            "postgres://ana:s3cret@a,b:6000/fable?schema=x%20y",
        ] {
            let place = Place::parse(url).unwrap();
            assert!(place.config.get_password().is_some_and(|password| password == b"s3cret"), "{url}");
            assert!(!format!("{place}{place:?}{place:#?}").contains("s3cret"), "{place}");
        }
        for url in [
            "postgres://ana:s3cret@x@host/db",
            "postgres://ana:s3cret@host:s3cret/db",
            "postgres://h/db?s3cret=1",
        ] {
            let error = Place::parse(url).unwrap_err();
            assert!(!format!("{error}{error:?}").contains("s3cret"), "{error}");
        }
    }

    #[test]
    fn who_is_trusted_depends_on_where_it_is() {
        for (url, trust, mode) in [
            ("postgres://localhost/db", Trust::Prefer, SslMode::Prefer),
            ("postgres://127.0.0.1:9/db", Trust::Prefer, SslMode::Prefer),
            ("postgres://[::1]/db", Trust::Prefer, SslMode::Prefer),
            ("postgres://a@/db?host=/run", Trust::Prefer, SslMode::Disable),
            ("postgres://db.example/db", Trust::VerifyFull, SslMode::Require),
            ("postgres://localhost,db.example/db", Trust::VerifyFull, SslMode::Require),
            ("postgres://db.example/db?sslmode=disable", Trust::Disable, SslMode::Disable),
            ("postgres://db.example/db?sslmode=require", Trust::Require, SslMode::Require),
            (
                "postgres://localhost/db?sslmode=verify-full&sslrootcert=%2Froot.pem",
                Trust::VerifyFull,
                SslMode::Require,
            ),
        ] {
            let place = Place::parse(url).unwrap();
            assert_eq!((place.trust, place.config.get_ssl_mode()), (trust, mode), "{url}");
        }
        assert!(Place::parse("postgres://localhost/db?sslmode=allow").is_err());
        assert!(Place::parse("postgres://localhost/db?schema=").is_err());
        assert!(Place::parse("postgres://localhost/db?schema=%4").is_err());
        assert!(Place::parse("host=localhost").is_err());
        let place = Place::parse("postgres://localhost/db?schema=a%22b").unwrap();
        assert_eq!(place.to_string(), "postgres://localhost:5432/db?schema=a\"b");
    }
}
