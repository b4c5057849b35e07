//! SiFive HiFive1: FE310, RV32IMAC, 16 KiB of RAM.

use super::count::{Retired, measure};
use super::hosted::{HostFlash, random};
use super::mmio::{SIFIVE_GPIO, SIFIVE_UART0, restart};
use super::uart::{Port, Uart};
use super::{Board, sleep};
use embedded_storage::nor_flash::NorFlashErrorKind;

/// HiFive1, `qemu-system-riscv32 -M sifive_e -kernel ELF -serial ...`; counts with `-icount shift=0,sleep=off`.
///
/// QEMU models the board's SPI flash as ROM. The store is a file with its geometry.
#[derive(Debug)]
pub struct Hifive1;

impl Board for Hifive1 {
    type Uart = Uart<SifiveUart>;
    type Flash = HostFlash<1, 4096, 32>;

    const NAME: &'static str = "hifive1";
    const STORE: &'static str = "the file hifive1.flash, through semihosting";

    fn uart() -> Self::Uart {
        Uart::open()
    }

    fn flash() -> Result<Self::Flash, NorFlashErrorKind> {
        HostFlash::open(c"hifive1.flash")
    }

    fn entropy() -> Option<u64> {
        random()
    }

    fn measure<T>(f: impl FnOnce() -> T) -> (T, u32) {
        measure(&Retired, f)
    }

    /// The FE310 resets through its watchdog, which QEMU 7.2 does not model: the firmware starts again by a jump.
    fn reset() -> ! {
        restart()
    }
}

/// UART0 on pins 16 and 17.
#[derive(Debug)]
pub struct SifiveUart(());

const PIN_FUNCTION: usize = 0x38;
const TRANSMIT: usize = 0x00;
const RECEIVE: usize = 0x04;
const TRANSMIT_CONTROL: usize = 0x08;
const RECEIVE_CONTROL: usize = 0x0C;
const INTERRUPT_ENABLE: usize = 0x10;
const PENDING: usize = 0x14;
const DIVISOR: usize = 0x18;
const FULL: u32 = 1 << 31;
const RECEIVED: u32 = 1 << 1;

impl Port for SifiveUart {
    fn open() -> Self {
        SIFIVE_GPIO.write::<PIN_FUNCTION>(SIFIVE_GPIO.read::<PIN_FUNCTION>() | 0b11 << 16);
        SIFIVE_UART0.write::<DIVISOR>(138); // 16 MHz / 115,200
        SIFIVE_UART0.write::<TRANSMIT_CONTROL>(1);
        SIFIVE_UART0.write::<RECEIVE_CONTROL>(1); // on, and pending from the first byte
        SIFIVE_UART0.write::<INTERRUPT_ENABLE>(RECEIVED);
        Self(())
    }

    fn has_byte(&self) -> bool {
        SIFIVE_UART0.read::<PENDING>() & RECEIVED != 0 // reading RECEIVE would take the byte
    }

    fn sleep(&mut self) {
        sleep::unless(3, || self.has_byte());
    }

    fn take(&mut self) -> u8 {
        SIFIVE_UART0.read::<RECEIVE>().to_le_bytes()[0]
    }

    fn has_room(&self) -> bool {
        SIFIVE_UART0.read::<TRANSMIT>() & FULL == 0
    }

    fn put(&mut self, byte: u8) {
        SIFIVE_UART0.write::<TRANSMIT>(u32::from(byte));
    }
}
