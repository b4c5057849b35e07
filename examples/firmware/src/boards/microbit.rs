//! BBC micro:bit: nRF51822, Cortex-M0, 16 KiB of RAM, 256 KiB of flash.

use super::count::{SysTick, measure};
use super::mmio::{NRF51_NVMC, NRF51_RNG, NRF51_STORE, NRF51_UART};
use super::uart::{Port, Uart};
use super::{Board, sleep};
use core::ops::Range;
use cortex_m::peripheral::SCB;
use embedded_storage::nor_flash::{
    ErrorType, MultiwriteNorFlash, NorFlash, NorFlashErrorKind, ReadNorFlash, check_erase, check_read,
    check_write,
};

/// BBC micro:bit, `qemu-system-arm -M microbit -kernel ELF -serial ...`; counts with `-icount shift=6,sleep=off`.
#[derive(Debug)]
pub struct Microbit;

impl Board for Microbit {
    type Uart = Uart<Nrf51Uart>;
    type Flash = Nrf51Flash;

    const NAME: &'static str = "microbit";
    const STORE: &'static str = "the chip's own flash, 0x30000 to 0x40000";

    const PRIOR: bool = cfg!(feature = "prior");

    fn numbers(range: Range<u32>) -> &'static [f32] {
        NRF51_STORE.numbers(range)
    }

    fn uart() -> Self::Uart {
        Uart::open()
    }

    fn flash() -> Result<Nrf51Flash, NorFlashErrorKind> {
        Ok(Nrf51Flash(()))
    }

    fn entropy() -> Option<u64> {
        Some(random())
    }

    fn measure<T>(f: impl FnOnce() -> T) -> (T, u32) {
        measure(&SysTick { hertz: 16_000_000, shift: 6 }, f)
    }

    fn reset() -> ! {
        SCB::sys_reset()
    }
}

/// The nRF51's UART, on the pins that lead to the micro:bit's USB.
#[derive(Debug)]
pub struct Nrf51Uart {
    /// A byte is on its way out; the first one finds no `TXDRDY` before it.
    sending: bool,
}

const START_RX: usize = 0x000;
const START_TX: usize = 0x008;
const RXD_READY: usize = 0x108;
const TXD_READY: usize = 0x11C;
const INTERRUPT_ENABLE: usize = 0x304;
const ENABLE: usize = 0x500;
const PIN_TXD: usize = 0x50C;
const PIN_RXD: usize = 0x514;
const RXD: usize = 0x518;
const TXD: usize = 0x51C;
const BAUD_RATE: usize = 0x524;

impl Port for Nrf51Uart {
    fn open() -> Self {
        NRF51_UART.write::<PIN_TXD>(24);
        NRF51_UART.write::<PIN_RXD>(25);
        NRF51_UART.write::<BAUD_RATE>(0x01D7_E000);
        NRF51_UART.write::<ENABLE>(4);
        NRF51_UART.write::<RXD_READY>(0);
        NRF51_UART.write::<TXD_READY>(0);
        NRF51_UART.write::<INTERRUPT_ENABLE>(1 << 2); // RXD_READY
        NRF51_UART.write::<START_RX>(1);
        NRF51_UART.write::<START_TX>(1);
        Self { sending: false }
    }

    fn has_byte(&self) -> bool {
        NRF51_UART.read::<RXD_READY>() != 0
    }

    fn sleep(&mut self) {
        sleep::unless(2, || self.has_byte());
    }

    fn take(&mut self) -> u8 {
        NRF51_UART.write::<RXD_READY>(0); // first: reading RXD announces the next byte
        NRF51_UART.read::<RXD>().to_le_bytes()[0]
    }

    fn has_room(&self) -> bool {
        !self.sending || NRF51_UART.read::<TXD_READY>() != 0
    }

    fn put(&mut self, byte: u8) {
        NRF51_UART.write::<TXD_READY>(0);
        NRF51_UART.write::<TXD>(u32::from(byte));
        self.sending = true;
    }
}

/// The end of the nRF51's flash: 64 pages of 1 KiB, written in words.
///
/// The core stands still while the controller works, so the firmware may run from the same flash.
#[derive(Debug)]
pub struct Nrf51Flash(());

const READY: usize = 0x400;
const CONFIG: usize = 0x504;
const ERASE_PAGE: usize = 0x508;
const READ_ONLY: u32 = 0;
const WRITE_ENABLED: u32 = 1;
const ERASE_ENABLED: u32 = 2;

/// Configures the controller for one piece of work and back.
fn with_nvmc(mode: u32, work: impl FnOnce()) {
    let wait = || while NRF51_NVMC.read::<READY>() & 1 == 0 {};
    NRF51_NVMC.write::<CONFIG>(mode);
    wait();
    work();
    wait();
    NRF51_NVMC.write::<CONFIG>(READ_ONLY);
    wait();
}

impl ErrorType for Nrf51Flash {
    type Error = NorFlashErrorKind;
}

impl ReadNorFlash for Nrf51Flash {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        check_read(self, offset, bytes.len())?;
        for (at, byte) in (offset as usize..).zip(bytes) {
            *byte = NRF51_STORE.read(at).to_le_bytes()[at % 4];
        }
        Ok(())
    }

    fn capacity(&self) -> usize {
        NRF51_STORE.len()
    }
}

impl NorFlash for Nrf51Flash {
    const WRITE_SIZE: usize = 4;
    const ERASE_SIZE: usize = 1024;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), NorFlashErrorKind> {
        check_erase(self, from, to)?;
        for page in (from..to).step_by(Self::ERASE_SIZE) {
            with_nvmc(ERASE_ENABLED, || NRF51_NVMC.write::<ERASE_PAGE>(NRF51_STORE.base() + page));
        }
        Ok(())
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
        check_write(self, offset, bytes.len())?;
        let (words, _) = bytes.as_chunks();
        for (at, &word) in (offset as usize..).step_by(4).zip(words) {
            with_nvmc(WRITE_ENABLED, || NRF51_STORE.write(at, u32::from_le_bytes(word)));
        }
        Ok(())
    }
}

impl MultiwriteNorFlash for Nrf51Flash {}

/// Eight bytes of the nRF51's random number generator, with its bias correction on. QEMU takes them from the host, or from
/// its `-seed`.
fn random() -> u64 {
    const START: usize = 0x000;
    const STOP: usize = 0x004;
    const VALUE_READY: usize = 0x100;
    const CORRECTED: usize = 0x504;
    const VALUE: usize = 0x508;
    NRF51_RNG.write::<CORRECTED>(1);
    NRF51_RNG.write::<VALUE_READY>(0);
    NRF51_RNG.write::<START>(1);
    let bytes = [(); 8].map(|()| {
        while NRF51_RNG.read::<VALUE_READY>() == 0 {}
        NRF51_RNG.write::<VALUE_READY>(0);
        NRF51_RNG.read::<VALUE>().to_le_bytes()[0]
    });
    NRF51_RNG.write::<STOP>(1);
    u64::from_le_bytes(bytes)
}
