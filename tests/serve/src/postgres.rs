//! A PostgreSQL of the tests' own: made in a temporary folder from the system's packages, and gone with the last test that uses it.
//!
//! The server believes everybody on its UNIX socket, and wants the password of `postgres` over TCP, where it also has TLS with a
//! certificate of its own. `fsync` is on, as it is where it matters.

use std::fmt::Write as _;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tempfile::TempDir;

/// The password of `postgres` over TCP.
pub const PASSWORD: &str = "an elephant/never:forgets";
/// The same in a URL.
pub const PASSWORD_IN_URL: &str = "an%20elephant%2Fnever%3Aforgets";

const MISSING: &str =
    "PostgreSQL is not installed; on Debian: apt-get install postgresql. Without it: FABLE_NO_POSTGRES=1";

/// A running server.
#[derive(Debug)]
pub struct Postgres {
    folder: TempDir,
    programs: PathBuf,
    port: u16,
    databases: AtomicU32,
}

/// A database of a server. It lives as long as somebody has one.
#[derive(Clone, Debug)]
pub struct Database {
    server: Arc<Postgres>,
    name: String,
}

impl Postgres {
    /// A server that all tests of a process share; `None` where tests are told to go without.
    ///
    /// # Panics
    /// If PostgreSQL is not installed, or does not start.
    #[must_use]
    pub fn shared() -> Option<Arc<Self>> {
        static SHARED: Mutex<Weak<Postgres>> = Mutex::new(Weak::new());
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(server) = shared.upgrade() {
            return Some(server);
        }
        let server = Self::start()?;
        *shared = Arc::downgrade(&server);
        Some(server)
    }

    /// A new server.
    ///
    /// # Panics
    /// If PostgreSQL is not installed, or does not start.
    #[must_use]
    pub fn start() -> Option<Arc<Self>> {
        if std::env::var_os("FABLE_NO_POSTGRES").is_some_and(|skip| skip == "1") {
            println!("skipped: FABLE_NO_POSTGRES is set");
            return None;
        }
        let versions = fs::read_dir("/usr/lib/postgresql").expect(MISSING).flatten();
        let newest = versions
            .map(|version| version.path().join("bin"))
            .filter(|programs| programs.join("initdb").exists())
            .max();
        let programs = newest.expect(MISSING);
        let folder = tempfile::tempdir().expect("there has to be a temporary folder");
        let port = TcpListener::bind(("127.0.0.1", 0))
            .and_then(|socket| socket.local_addr())
            .expect("a free port")
            .port();
        let server = Self { folder, programs, port, databases: AtomicU32::new(0) };
        server.make();
        server.resume();
        Some(Arc::new(server))
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Something as the user of the server, who may not be root.
    fn command(&self, program: &Path) -> Command {
        let mut command = if is_root() {
            let mut command = Command::new("runuser");
            command.args(["-u", "postgres", "--"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        command.current_dir(self.folder.path()).stdin(Stdio::null());
        command
    }

    fn make(&self) {
        let own = self.folder.path();
        if is_root() {
            run(Command::new("chown").arg("postgres").arg(own));
        }
        let password = own.join("password");
        fs::write(&password, PASSWORD).expect("a temporary file");
        let mut initdb = self.command(&self.programs.join("initdb"));
        initdb.arg("-D").arg(self.data()).args(["-U", "postgres", "-E", "UTF8", "--locale=C", "-N"]);
        initdb
            .args(["--auth-local=trust", "--auth-host=scram-sha-256"])
            .arg(format!("--pwfile={}", password.display()));
        run(&mut initdb);
        self.certify();
        let mut settings = String::from(
            "\nlisten_addresses = '127.0.0.1'\nmax_connections = 200\nshared_buffers = '64MB'\nssl = on\n",
        );
        let _ = writeln!(settings, "port = {}\nunix_socket_directories = '{}'", self.port, own.display());
        let _ =
            writeln!(settings, "ssl_cert_file = '{0}/tls.pem'\nssl_key_file = '{0}/tls.key'", own.display());
        let file = self.data().join("postgresql.conf");
        let all = fs::read_to_string(&file).expect("the server's settings") + &settings;
        fs::write(&file, all).expect("the server's settings");
    }

    /// A certificate for `localhost` that is its own authority.
    fn certify(&self) {
        let own = self.folder.path();
        let config = own.join("tls.conf");
        let text = "[req]\nprompt = no\ndistinguished_name = name\nx509_extensions = more\n[name]\nCN = localhost\n[more]\n\
            basicConstraints = critical, CA:FALSE\nsubjectAltName = DNS:localhost, IP:127.0.0.1\n";
        fs::write(&config, text).expect("a temporary file");
        let mut openssl = self.command(Path::new("openssl"));
        openssl.args([
            "req",
            "-x509",
            "-nodes",
            "-days",
            "2",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
        ]);
        openssl.arg("-config").arg(config).args(["-keyout", "tls.key", "-out", "tls.pem"]);
        run(&mut openssl);
    }

    /// The authority that the server's certificate is signed by, in PEM.
    #[must_use]
    pub fn authority(&self) -> PathBuf {
        self.folder.path().join("tls.pem")
    }

    /// The port on `127.0.0.1`.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Ends the server at once, as if its machine had stopped.
    ///
    /// # Panics
    /// If it does not end.
    pub fn stop(&self) {
        run(self.command(&self.programs.join("pg_ctl")).arg("-D").arg(self.data()).args([
            "-m",
            "immediate",
            "-w",
            "stop",
        ]));
    }

    /// Starts it again.
    ///
    /// # Panics
    /// If it does not start.
    pub fn resume(&self) {
        let mut command = self.command(&self.programs.join("pg_ctl"));
        command
            .arg("-D")
            .arg(self.data())
            .arg("-l")
            .arg(self.folder.path().join("log"))
            .args(["-w", "-s", "start"]);
        run(&mut command);
    }

    /// Inserts of small rows that pgbench commits in a second, one by one.
    ///
    /// # Panics
    /// If it does not say.
    #[must_use]
    pub fn pgbench(&self, clients: usize, seconds: usize) -> f64 {
        self.ask(
            "postgres",
            "DROP TABLE IF EXISTS bench; CREATE TABLE bench (number bigserial PRIMARY KEY, bytes bytea)",
        );
        let script = self.folder.path().join("insert.sql");
        fs::write(&script, "INSERT INTO bench (bytes) VALUES (decode(repeat('5a', 80), 'hex'));\n")
            .expect("a temporary file");
        let mut pgbench = self.command(&self.programs.join("pgbench"));
        pgbench.arg("-h").arg(self.folder.path()).args([
            "-p",
            &self.port.to_string(),
            "-U",
            "postgres",
            "-n",
            "-M",
            "prepared",
        ]);
        pgbench
            .args(["-c", &clients.to_string(), "-j", "2", "-T", &seconds.to_string(), "-f"])
            .arg(script)
            .arg("postgres");
        let said = run(&mut pgbench);
        let rate = said.lines().find_map(|line| line.strip_prefix("tps = ")?.split(' ').next()?.parse().ok());
        rate.unwrap_or_else(|| panic!("{said}"))
    }

    /// What a statement says about a database.
    ///
    /// # Panics
    /// If the server refuses it.
    pub fn ask(&self, database: &str, statement: &str) -> String {
        let mut psql = self.command(&self.programs.join("psql"));
        psql.arg("-h").arg(self.folder.path()).args([
            "-p",
            &self.port.to_string(),
            "-U",
            "postgres",
            "-d",
            database,
        ]);
        psql.args(["-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-c", statement]);
        run(&mut psql)
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let mut stop = self.command(&self.programs.join("pg_ctl"));
        stop.arg("-D").arg(self.data()).args(["-m", "immediate", "-w", "stop"]);
        drop(stop.stdout(Stdio::null()).stderr(Stdio::null()).status()); // it may have ended already
    }
}

impl Database {
    /// A new database, of a server that is shared.
    ///
    /// # Panics
    /// As for [`Postgres::shared`].
    #[must_use]
    pub fn new() -> Option<Self> {
        Some(Self::of(&Postgres::shared()?))
    }

    /// A new database of a server.
    ///
    /// # Panics
    /// If the server refuses it.
    #[must_use]
    pub fn of(server: &Arc<Postgres>) -> Self {
        let name = format!("test{}", server.databases.fetch_add(1, Ordering::Relaxed));
        server.ask("postgres", &format!("CREATE DATABASE {name}"));
        Self { server: Arc::clone(server), name }
    }

    /// The server.
    #[must_use]
    pub fn server(&self) -> &Postgres {
        &self.server
    }

    /// Over the UNIX socket.
    #[must_use]
    pub fn url(&self) -> String {
        let Postgres { folder, port, .. } = &*self.server;
        format!("postgres://postgres@/{}?host={}&port={port}", self.name, folder.path().display())
    }

    /// Over TCP, through another port if there is something in between.
    #[must_use]
    pub fn url_at(&self, port: u16) -> String {
        format!("postgres://postgres:{PASSWORD_IN_URL}@127.0.0.1:{port}/{}", self.name)
    }

    /// What a statement says, if it says something.
    ///
    /// # Panics
    /// If the server refuses it.
    #[expect(clippy::must_use_candidate)]
    pub fn ask(&self, statement: &str) -> String {
        self.server.ask(&self.name, statement)
    }
}

fn is_root() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().any(|line| line.starts_with("Uid:\t0\t"))
}

/// Runs a program that has to succeed.
fn run(command: &mut Command) -> String {
    // What a server inherits it keeps open, so its log is elsewhere.
    let shown = format!("{command:?}");
    let output = command.output().unwrap_or_else(|error| panic!("{shown}: {error}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
    assert!(output.status.success(), "{shown}: {}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}
