//! Arm MPS2+ with plenty of RAM, for comparisons on target: the AN386 image, a Cortex-M4F at 25 MHz, or the AN500, a Cortex-M7.

use super::count::{SysTick, measure};
use super::hosted::{HostFlash, random};
use super::mmio::CMSDK_UART0;
use super::uart::{Port, Uart};
use super::{Board, sleep};
use cortex_m::peripheral::SCB;
use embedded_storage::nor_flash::NorFlashErrorKind;

/// MPS2+, `qemu-system-arm -M mps2-an386 -kernel ELF -serial ...` or `mps2-an500`; counts with `-icount shift=6,sleep=off`.
///
/// The board has no flash that could be written; the file in its place has words of 8 bytes, as chips with ECC have.
#[derive(Debug)]
pub struct Mps2;

impl Board for Mps2 {
    type Uart = Uart<CmsdkUart>;
    type Flash = HostFlash<8, 4096, 128>;

    const NAME: &'static str = "mps2";
    const STORE: &'static str = "the file mps2.flash, through semihosting";

    fn uart() -> Self::Uart {
        Uart::open()
    }

    fn flash() -> Result<Self::Flash, NorFlashErrorKind> {
        HostFlash::open(c"mps2.flash")
    }

    fn entropy() -> Option<u64> {
        random()
    }

    fn measure<T>(f: impl FnOnce() -> T) -> (T, u32) {
        measure(&SysTick { hertz: 25_000_000, shift: 6 }, f)
    }

    fn reset() -> ! {
        SCB::sys_reset()
    }
}

/// UART0 of the Cortex-M System Design Kit.
#[derive(Debug)]
pub struct CmsdkUart(());

const DATA: usize = 0x00;
const STATE: usize = 0x04;
const CONTROL: usize = 0x08;
const INTERRUPT: usize = 0x0C;
const BAUD_DIVISOR: usize = 0x10;
const TRANSMIT_FULL: u32 = 1 << 0;
const RECEIVE_FULL: u32 = 1 << 1;

impl Port for CmsdkUart {
    fn open() -> Self {
        CMSDK_UART0.write::<BAUD_DIVISOR>(217); // 25 MHz / 115,200
        CMSDK_UART0.write::<CONTROL>(1 << 3 | 0b11); // receive interrupt, both ways
        CMSDK_UART0.read::<DATA>(); // a stale byte; and QEMU looks for input again after this, not after the line above
        Self(())
    }

    fn has_byte(&self) -> bool {
        CMSDK_UART0.read::<STATE>() & RECEIVE_FULL != 0
    }

    fn sleep(&mut self) {
        CMSDK_UART0.write::<INTERRUPT>(RECEIVE_FULL);
        sleep::unless(0, || self.has_byte());
    }

    fn take(&mut self) -> u8 {
        CMSDK_UART0.read::<DATA>().to_le_bytes()[0]
    }

    fn has_room(&self) -> bool {
        CMSDK_UART0.read::<STATE>() & TRANSMIT_FULL == 0
    }

    fn put(&mut self, byte: u8) {
        CMSDK_UART0.write::<DATA>(u32::from(byte));
    }
}
