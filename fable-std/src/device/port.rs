//! Ports with a timeout: serial lines and TCP.
//!
//! A serial port is opened as a file and set up by `stty`, which every Unix has: a crate for serial ports would bring more
//! code than the rest of this module, only to set the same few flags. Windows is not supported.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, IsTerminal, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// A serial port.
#[derive(Debug)]
pub struct Serial(File);

/// Opens a serial port as it is used here: raw, eight bits, no parity, no flow control.
///
/// # Errors
/// A path that cannot be opened or is not a serial port, or a setting that it does not take.
pub fn serial(path: &Path, baud: u32, timeout: Duration) -> io::Result<Serial> {
    // Once before opening, or a port without a carrier would block, and once after, or what it was set to may be lost again.
    set_up(path, baud, timeout)?;
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    if !file.is_terminal() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "it is no serial port"));
    }
    set_up(path, baud, timeout)?;
    Ok(Serial(file))
}

fn set_up(path: &Path, baud: u32, timeout: Duration) -> io::Result<()> {
    let tenths = (timeout.as_millis() / 100).clamp(1, 255).to_string();
    let output = Command::new("stty")
        .arg(if cfg!(target_os = "linux") { "-F" } else { "-f" })
        .arg(path)
        .arg(baud.to_string())
        .args(["raw", "-echo", "cs8", "-parenb", "-cstopb", "-crtscts", "clocal", "min", "0", "time", &tenths])
        .stdin(Stdio::null())
        .output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(io::Error::new(ErrorKind::InvalidInput, String::from_utf8_lossy(&output.stderr).trim().to_owned()))
}

impl Read for Serial {
    /// Nothing within the timeout is an error of kind `TimedOut`: a serial port has no end.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            0 => Err(ErrorKind::TimedOut.into()),
            count => Ok(count),
        }
    }
}

impl Write for Serial {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.0.write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Connects to a device behind a TCP server, such as a board in QEMU with `-serial tcp::4000,server`.
///
/// # Errors
/// No such host, or nobody there.
pub fn tcp(address: &str, timeout: Duration) -> io::Result<TcpStream> {
    let mut failed = io::Error::new(ErrorKind::NotFound, "no such host");
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, timeout) {
            Ok(stream) => {
                stream.set_read_timeout(Some(timeout))?;
                stream.set_nodelay(true)?;
                return Ok(stream);
            }
            Err(error) => failed = error,
        }
    }
    Err(failed)
}
