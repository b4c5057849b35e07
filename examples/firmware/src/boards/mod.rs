//! The boards that Fable's firmware runs on: serial port, flash, instruction counts, stack mark, entropy and reset.
//!
//! A board is a type: `Microbit`, `Netduino`, `Mps2` (Arm), `Hifive1`, `Virt` (RISC-V). [`Here`] is the one that the image is
//! for, as the feature of its name says; programs call it as the trait [`Board`] has it.
//!
//! A panic says so through semihosting and resets; so does a fault. With the feature `located` it also says where and why: 6 KB
//! of file names and messages. All boards run in QEMU 7.2; the command line of each stands with its type. `-semihosting-config enable=on,target=native`
//! belongs to every one of them: messages, exit codes and, where QEMU has no writable flash, the store go through it. None
//! of this has run on hardware, where semihosting needs a debugger.
//!
//! | Board | Store | Word, page, size | Survives |
//! |---|---|---|---|
//! | `Microbit` | the chip's own flash, through its NVMC | 4 B, 1 KiB, 64 KiB | a reset, not the end of QEMU |
//! | `Virt` | CFI NOR flash, a file given to QEMU | 4 B, 256 KiB, 2 MiB | a killed QEMU |
//! | `Netduino` | `netduino.flash` through semihosting | 4 B, 128 KiB, 768 KiB | a killed QEMU |
//! | `Hifive1` | `hifive1.flash` through semihosting | 1 B, 4 KiB, 128 KiB | a killed QEMU |
//! | `Mps2` | `mps2.flash` through semihosting | 8 B, 4 KiB, 512 KiB | a killed QEMU |
//!
//! No register-access crate is used: five serial ports and two flash controllers are a few dozen registers, while the
//! crates of these five parts are five different dialects, and one of them would have to match what QEMU models anyway.

mod count;
pub mod hosted;
mod mmio;
mod say;
mod sleep;
pub mod stack;
pub mod uart;

#[cfg(target_arch = "riscv32")]
mod hifive1;
#[cfg(target_arch = "arm")]
mod microbit;
#[cfg(target_arch = "arm")]
mod mps2;
#[cfg(target_arch = "arm")]
mod netduino;
#[cfg(target_arch = "riscv32")]
mod virt;

use core::convert::Infallible;
use core::ops::Range;
use core::panic::PanicInfo;
use embedded_io::{Read, ReadReady, Write};
use embedded_storage::nor_flash::{MultiwriteNorFlash, NorFlashErrorKind};

#[cfg(target_arch = "arm")]
pub use cortex_m_rt::entry;
pub use mmio::fault;
#[cfg(target_arch = "riscv32")]
pub use riscv_rt::entry;
pub use say::{Piece, say};
pub use semihosting::{println, process::exit};

#[cfg(target_arch = "riscv32")]
pub use {hifive1::Hifive1, virt::Virt};
#[cfg(target_arch = "arm")]
pub use {microbit::Microbit, mps2::Mps2, netduino::Netduino};

#[cfg(feature = "hifive1")]
pub use Hifive1 as Here;
#[cfg(feature = "microbit")]
pub use Microbit as Here;
#[cfg(feature = "mps2")]
pub use Mps2 as Here;
#[cfg(feature = "netduino")]
pub use Netduino as Here;
#[cfg(feature = "virt")]
pub use Virt as Here;

/// What firmware needs from a board.
pub trait Board {
    /// The serial port that the protocol is served on.
    type Uart: Read<Error = Infallible> + ReadReady + Write;

    /// The store.
    type Flash: MultiwriteNorFlash<Error = NorFlashErrorKind>;

    /// The name in this repository.
    const NAME: &'static str;

    /// What the store is, to be told to a person.
    const STORE: &'static str;

    /// Whether the store has a place for a prior; it is mapped into memory then, and numbers are read where they lie.
    const PRIOR: bool = false;

    /// The numbers that lie in a range of a store that is mapped.
    #[must_use]
    fn numbers(_: Range<u32>) -> &'static [f32] {
        &[]
    }

    /// Switches the serial port on.
    fn uart() -> Self::Uart;

    /// Opens the store.
    ///
    /// # Errors
    /// `Other` when the host lends no file, `OutOfBounds` when the file is not a store of this board.
    fn flash() -> Result<Self::Flash, NorFlashErrorKind>;

    /// 64 bits for a seed; `None` when the source cannot deliver.
    fn entropy() -> Option<u64>;

    /// Runs `f` and counts its instructions, under the board's `-icount`; `u32::MAX` for more than can be counted.
    fn measure<T>(f: impl FnOnce() -> T) -> (T, u32);

    /// Starts the firmware again, with the store as it is.
    fn reset() -> !;
}

/// Says what happened and starts again.
pub fn panicked(info: &PanicInfo<'_>) -> ! {
    say::panicked(Here::NAME, info);
    Here::reset()
}
