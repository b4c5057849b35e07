//! Ports that never block for long: serial lines and TCP.
//!
//! A serial port is opened as a file and set up by `stty`, which every Unix has: a crate for serial ports would bring more
//! code than the rest of this module, only to set the same few flags. Windows is not supported.
//!
//! A port that has nothing to read, or cannot take what is written, says `Interrupted` after a twentieth of a second, so that
//! whoever waits can look at the clock.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, IsTerminal, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The longest that a port blocks.
const TICK: Duration = Duration::from_millis(50);

/// A serial port.
#[derive(Debug)]
pub struct Serial(File);

/// Opens a serial port as it is used here: raw, eight bits, no parity, no flow control.
///
/// # Errors
/// A path that cannot be opened or is not a serial port, or a setting that it does not take.
pub fn serial(path: &Path, baud: u32) -> io::Result<Serial> {
    // Once before opening, for ports that start to talk then, and once after, or what it was set to may be lost again.
    set_up(path, baud)?;
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let file = OpenOptions::new().read(true).write(true).custom_flags(flags).open(path)?;
    if !file.is_terminal() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "it is no serial port"));
    }
    set_up(path, baud)?;
    Ok(Serial(file))
}

fn set_up(path: &Path, baud: u32) -> io::Result<()> {
    let output = Command::new("stty")
        .arg(if cfg!(target_os = "linux") { "-F" } else { "-f" })
        .arg(path)
        .arg(baud.to_string())
        .args(["raw", "-echo", "cs8", "-parenb", "-cstopb", "-crtscts", "clocal", "min", "1", "time", "0"])
        .stdin(Stdio::null())
        .output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(io::Error::new(ErrorKind::InvalidInput, String::from_utf8_lossy(&output.stderr).trim().to_owned()))
}

impl Serial {
    /// Waits for a tick at most until the port is ready.
    fn wait(&self, ready: PollFlags) -> io::Result<()> {
        let tick = Timespec { tv_sec: 0, tv_nsec: TICK.subsec_nanos().into() };
        match poll(&mut [PollFd::new(&self.0, ready)], Some(&tick))? {
            0 => Err(ErrorKind::Interrupted.into()),
            _ => Ok(()),
        }
    }
}

impl Read for Serial {
    /// Nothing within a tick is an error of kind `Interrupted`.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.wait(PollFlags::IN)?;
        self.0.read(buffer).map_err(again)
    }
}

impl Write for Serial {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.wait(PollFlags::OUT)?;
        self.0.write(buffer).map_err(again)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(()) // nothing is held back here
    }
}

/// Not now: ask again.
fn again(error: io::Error) -> io::Error {
    match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => ErrorKind::Interrupted.into(),
        _ => error,
    }
}

/// A connection.
#[derive(Debug)]
pub struct Tcp(TcpStream);

/// Connects to a device behind a TCP server, such as a board in QEMU with `-serial tcp::4000,server`.
///
/// # Errors
/// No such host, or nobody there within the timeout.
pub fn tcp(address: &str, timeout: Duration) -> io::Result<Tcp> {
    let mut failed = io::Error::new(ErrorKind::NotFound, "no such host");
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, timeout) {
            Ok(stream) => {
                stream.set_read_timeout(Some(TICK))?;
                stream.set_write_timeout(Some(TICK))?;
                stream.set_nodelay(true)?;
                return Ok(Tcp(stream));
            }
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

impl Read for Tcp {
    /// Nothing within a tick is an error of kind `Interrupted`.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(again)
    }
}

impl Write for Tcp {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.0.write(buffer).map_err(again)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
