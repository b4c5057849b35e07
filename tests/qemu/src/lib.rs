//! A board in QEMU with its serial port at hand.
//!
//! The images are those of the job `device` of `examples/firmware`; `tests/qemu/run` builds them and says where they are. A board is
//! started in a folder of its own, which holds its flash: killing QEMU and starting it again there is a power cut.

mod debugger;

pub use debugger::Crash;

use fable_std::device::{Device, DeviceError};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// One of the boards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Board {
    /// Its name, and that of its image.
    pub name: &'static str,
    /// Whether its flash is a file, which survives the end of QEMU.
    pub durable: bool,
}

/// All boards.
pub const BOARDS: [Board; 6] = [
    Board { name: "microbit", durable: false },
    Board { name: "netduino", durable: true },
    Board { name: "mps2", durable: true },
    Board { name: "mps2-an500", durable: true },
    Board { name: "hifive1", durable: true },
    Board { name: "virt", durable: true },
];

/// A line for each board: its name, target and `-icount` shift, and the command line of QEMU.
const MACHINES: &str = include_str!("../../../examples/firmware/boards.txt");

/// A board that runs; dropping it kills QEMU as a power cut would.
pub struct Running {
    qemu: Child,
    folder: PathBuf,
    image: PathBuf,
}

impl Board {
    /// A fresh folder for this board: no flash, no past.
    ///
    /// # Errors
    /// What the file system says.
    pub fn folder(&self, test: &str) -> io::Result<PathBuf> {
        let folder = std::env::temp_dir().join(format!("fable-{}-{test}-{}", self.name, std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder)?;
        if self.name == "virt" {
            let flash = File::create(folder.join("virt.flash"))?;
            flash.set_len(32 << 20)?;
        }
        Ok(folder)
    }

    /// Starts the board in its folder.
    ///
    /// # Errors
    /// When QEMU cannot be started.
    pub fn start(&self, folder: &Path) -> io::Result<Running> {
        self.start_image(folder, images()?.join(self.name))
    }

    /// Starts the board with the image that logs with defmt.
    ///
    /// # Errors
    /// When QEMU cannot be started.
    pub fn start_logging(&self, folder: &Path) -> io::Result<Running> {
        self.start_image(folder, images()?.join("log").join(self.name))
    }

    /// Starts the board with the image that has a place for a prior.
    ///
    /// # Errors
    /// When QEMU cannot be started.
    pub fn start_with_prior(&self, folder: &Path) -> io::Result<Running> {
        self.start_image(folder, images()?.join("prior").join(self.name))
    }

    fn start_image(&self, folder: &Path, image: PathBuf) -> io::Result<Running> {
        for socket in ["uart", "monitor", "debugger"] {
            let _ = fs::remove_file(folder.join(socket));
        }
        let mut lines = MACHINES.lines().map(str::split_whitespace);
        let line = lines.find_map(|mut words| (words.next()? == self.name).then_some(words));
        let mut machine = line.ok_or_else(|| io::Error::other("boards.txt has no such board"))?.skip(2);
        let qemu = Command::new(machine.next().unwrap_or_default())
            .args(machine)
            .arg(&image)
            .args([
                "-chardev",
                "socket,path=debugger,server=on,wait=off,id=debugger",
                "-gdb",
                "chardev:debugger",
            ])
            .args([
                "-display",
                "none",
                "-serial",
                "unix:uart,server=on,wait=off",
                "-monitor",
                "unix:monitor,server=on,wait=off",
            ])
            .args(["-semihosting-config", "enable=on,target=native"])
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(File::create(folder.join("log"))?)
            .stderr(File::create(folder.join("errors"))?)
            .spawn()?;
        Ok(Running { qemu, folder: folder.to_owned(), image })
    }
}

impl Running {
    /// The serial port, once it is there.
    ///
    /// # Errors
    /// When it does not come within ten seconds.
    pub fn port(&self) -> io::Result<UnixStream> {
        let port = connect(&self.folder.join("uart"))?;
        port.set_read_timeout(Some(Duration::from_secs(2)))?;
        Ok(port)
    }

    /// The device behind the port. A board that has just started loses what comes before its port is open, so it is asked
    /// until it answers.
    ///
    /// # Errors
    /// When it does not answer within twenty seconds.
    pub fn device(&self) -> Result<Device<UnixStream>, DeviceError> {
        let started = Instant::now();
        loop {
            let port = self.port().map_err(DeviceError::Port)?;
            match Device::open(port) {
                Err(DeviceError::Silent | DeviceError::Closed)
                    if started.elapsed() < Duration::from_secs(20) => {}
                device => return device,
            }
        }
    }

    /// Presses the reset button.
    ///
    /// # Errors
    /// When QEMU does not take it.
    pub fn reset(&self) -> io::Result<()> {
        let mut monitor = connect(&self.folder.join("monitor"))?;
        monitor.set_read_timeout(Some(Duration::from_secs(2)))?;
        wait_for(&mut monitor, b"(qemu) ")?;
        monitor.write_all(b"system_reset\n")?;
        wait_for(&mut monitor, b"(qemu) ") // a monitor whose connection has gone does nothing
    }

    /// Crashes the firmware where it is. If it sleeps, it crashes when it wakes.
    ///
    /// # Errors
    /// When QEMU does not take it, or nothing in the image can panic.
    pub fn crash(&self, crash: Crash) -> io::Result<()> {
        let port = connect(&self.folder.join("debugger"))?;
        port.set_read_timeout(Some(Duration::from_secs(2)))?;
        debugger::crash(port, &fs::read(&self.image)?, crash)
    }

    /// What the board has said through semihosting, as text.
    #[must_use]
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }

    /// What the board has logged with defmt, read by the program `log` of `fable-image`.
    ///
    /// # Errors
    /// When the image has no log, or the program is not there.
    pub fn logged(&self) -> io::Result<Vec<String>> {
        let log = File::open(self.folder.join("log"))?;
        let output = Command::new(images()?.join("log/read")).arg(&self.image).stdin(log).output()?;
        if !output.status.success() {
            return Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()));
        }
        Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
    }

    /// Waits for the firmware to end and returns its code.
    ///
    /// # Errors
    /// When it does not end within ten seconds, or by a signal.
    pub fn ended(&mut self) -> io::Result<i32> {
        let started = Instant::now();
        while started.elapsed() < Duration::from_secs(10) {
            if let Some(status) = self.qemu.try_wait()? {
                return status.code().ok_or_else(|| io::Error::other("ended by a signal"));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Err(io::Error::other("it goes on"))
    }

    /// What the board has said of panics and faults.
    #[must_use]
    pub fn errors(&self) -> String {
        fs::read_to_string(self.folder.join("errors")).unwrap_or_default()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let (_, _) = (self.qemu.kill(), self.qemu.wait());
    }
}

fn images() -> io::Result<PathBuf> {
    std::env::var_os("FABLE_FIRMWARE")
        .map(PathBuf::from)
        .ok_or_else(|| io::Error::other("tests/qemu/run builds the firmware first"))
}

/// Reads until these bytes have come.
fn wait_for(port: &mut UnixStream, end: &[u8]) -> io::Result<()> {
    let mut read = vec![];
    while !read.ends_with(end) {
        let mut byte = [0];
        port.read_exact(&mut byte)?;
        read.extend(byte);
    }
    Ok(())
}

fn connect(path: &Path) -> io::Result<UnixStream> {
    let started = Instant::now();
    loop {
        match UnixStream::connect(path) {
            Err(_) if started.elapsed() < Duration::from_secs(10) => {
                std::thread::sleep(Duration::from_millis(10));
            }
            port => return port,
        }
    }
}
