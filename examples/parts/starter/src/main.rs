//! Shows: a whole device in one file, to start from. It keeps its user in flash and answers a host.
//!
//! It runs in QEMU, on a Cortex-M4F, with nothing but `cortex-m-rt` and semihosting. The three things that a part has to supply are
//! at the end, lent from the machine that QEMU runs on: a flash, a port and random numbers. Put the drivers of your HAL in
//! their place; what stands before them stays.

#![no_std]
#![no_main]

use core::ops::Range;
use cortex_m_rt::entry;
use embedded_io::{ErrorKind, ErrorType, Read, Write};
use embedded_storage::nor_flash::{
    self, NorFlash, NorFlashErrorKind, ReadNorFlash, check_erase, check_read, check_write,
};
use fable_core::catalog::{Catalog, TAU2};
use fable_core::record::snapshot::max_len;
use fable_core::{Learner, Settings, Workspace};
use fable_embedded::flash::{Blocking, FlashError, FlashStore, Layout, StartError};
use fable_embedded::{Device, Server, entropy};
use semihosting::experimental::random;
use semihosting::fs::File;
use semihosting::io::{Read as _, Seek, SeekFrom, Stdin, Stdout, Write as _, stdin, stdout};
use semihosting::process;
use static_cell::ConstStaticCell;

/// What can be chosen; `fable catalog` shows it. Your own is a `const` as well.
static CATALOG: Catalog<'static> = TAU2;
/// The defaults, at a place of its own: hosts are place 0.
const SETTINGS: Settings<'static> = Settings { site: 1, ..Settings::DEFAULT };
/// Decisions that can wait for their reward.
const ROOM: usize = 8;

/// The region that is ours, in the flash: a page for the seed, and the store. One that cannot be used does not compile.
const REGION: Range<u32> = 0..64 * 1024;
const LAYOUT: Layout = {
    let page = Flash::ERASE_SIZE as u32;
    Layout::new::<Blocking<Flash>>(
        REGION.start + page,
        REGION.end - REGION.start - page,
        max_len::<f32>(&TAU2, ROOM),
    )
};

/// The user's memory and scratch are statics of zeros.
type Memory = Learner<f32, [f32; TAU2.state_len()], ROOM>;
type Scratch = Workspace<f32, [f32; TAU2.workspace_len()]>;
static MEMORY: ConstStaticCell<Memory> = ConstStaticCell::new(Learner::new(&TAU2));
static SCRATCH: ConstStaticCell<Scratch> = ConstStaticCell::new(Workspace::new(&TAU2));

#[entry]
fn main() -> ! {
    match run(MEMORY.take(), SCRATCH.take()) {
        Ok(()) => process::exit(0),
        Err(_) => process::exit(2), // a real device says so with a lamp; nothing was overwritten
    }
}

/// Restores the user, who is new if the region is blank, and serves until the port ends.
fn run(learner: &mut Memory, scratch: &mut Scratch) -> Result<(), StartError> {
    let flash = Flash::open().map_err(FlashError::Driver)?;
    let mut store = FlashStore::new(Blocking(flash), LAYOUT);
    let policy = store.start(&CATALOG, SETTINGS, learner, scratch, draw)?;
    let user = learner.bind(&policy, scratch).map_err(FlashError::from)?;
    // An application that decides for itself goes on with `server.device()` between two frames.
    let mut server = Server::new(Device::new(user, &mut store));
    // What a port reports, the host notices too, and it sends again.
    while let Some(mut port) = Port::open()
        && server.serve(&mut port).is_err()
    {}
    Ok(())
}

#[panic_handler]
fn panicked(_: &core::panic::PanicInfo<'_>) -> ! {
    cortex_m::peripheral::SCB::sys_reset()
}

/// 64 bits that nobody can guess; `None` if the source fails.
fn draw() -> Option<u64> {
    let word = || {
        let mut bytes = [0; 8];
        random::fill_bytes(&mut bytes).map(|()| u64::from_le_bytes(bytes))
    };
    entropy::seed_from(word).ok()
}

/// The port: standard input and output of QEMU.
struct Port(Stdin, Stdout);

impl Port {
    fn open() -> Option<Self> {
        Some(Self(stdin().ok()?, stdout().ok()?))
    }
}

impl ErrorType for Port {
    type Error = ErrorKind;
}

impl Read for Port {
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize, ErrorKind> {
        self.0.read(bytes).map_err(|_| ErrorKind::Other) // waits for the first byte; 0 when the host is gone
    }
}

impl Write for Port {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind> {
        self.1.write(bytes).map_err(|_| ErrorKind::Other)
    }

    fn flush(&mut self) -> Result<(), ErrorKind> {
        Ok(())
    }
}

/// The flash: a file that keeps to its rules. An erase sets a page to ones, a write only clears bits.
struct Flash(File);

impl Flash {
    fn open() -> Result<Self, NorFlashErrorKind> {
        let path = c"device.flash";
        let file = File::options().read(true).write(true).open(path);
        let blank = file.is_err();
        let file =
            file.or_else(|_| File::options().read(true).write(true).create(true).truncate(true).open(path));
        let mut flash = Self(file.map_err(|_| NorFlashErrorKind::Other)?);
        if blank {
            flash.erase(REGION.start, REGION.end)?;
        }
        Ok(flash)
    }

    fn at(&mut self, offset: u32) -> Result<&mut File, NorFlashErrorKind> {
        self.0.seek(SeekFrom::Start(u64::from(offset))).map_err(|_| NorFlashErrorKind::Other)?;
        Ok(&mut self.0)
    }
}

impl nor_flash::ErrorType for Flash {
    type Error = NorFlashErrorKind;
}

impl ReadNorFlash for Flash {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        check_read(self, offset, bytes.len())?;
        self.at(offset)?.read_exact(bytes).map_err(|_| NorFlashErrorKind::Other)
    }

    fn capacity(&self) -> usize {
        REGION.end as usize
    }
}

impl NorFlash for Flash {
    const WRITE_SIZE: usize = 4;
    const ERASE_SIZE: usize = 4096;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), NorFlashErrorKind> {
        check_erase(self, from, to)?;
        let file = self.at(from)?;
        (from..to)
            .step_by(64)
            .try_for_each(|_| file.write_all(&[0xff; 64]))
            .map_err(|_| NorFlashErrorKind::Other)
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
        check_write(self, offset, bytes.len())?;
        for (at, new) in (offset..).step_by(4).zip(bytes.as_chunks::<4>().0) {
            let mut old = [0; 4];
            ReadNorFlash::read(self, at, &mut old)?;
            let word = u32::from_le_bytes(old) & u32::from_le_bytes(*new);
            self.at(at)?.write_all(&word.to_le_bytes()).map_err(|_| NorFlashErrorKind::Other)?;
        }
        Ok(())
    }
}
