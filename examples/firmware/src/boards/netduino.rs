//! Netduino Plus 2: STM32F405, Cortex-M4F, linked for the 128 KiB of SRAM1 and SRAM2.

use super::count::{SysTick, measure};
use super::hosted::{HostFlash, random};
use super::mmio::{STM32_GPIOA, STM32_RCC, STM32_USART1};
use super::uart::{Port, Uart};
use super::{Board, sleep};
use cortex_m::peripheral::SCB;
use embedded_storage::nor_flash::NorFlashErrorKind;

/// Netduino Plus 2, `qemu-system-arm -M netduinoplus2 -kernel ELF -serial ...`; counts with `-icount shift=3,sleep=off`.
///
/// QEMU models the chip's flash as ROM. The store is a file with the pages of sectors 6 to 11, which the chip would give.
#[derive(Debug)]
pub struct Netduino;

impl Board for Netduino {
    type Uart = Uart<Stm32Usart>;
    type Flash = HostFlash<4, { 128 << 10 }, 6>;

    const NAME: &'static str = "netduino";
    const STORE: &'static str = "the file netduino.flash, through semihosting";

    fn uart() -> Self::Uart {
        Uart::open()
    }

    fn flash() -> Result<Self::Flash, NorFlashErrorKind> {
        HostFlash::open(c"netduino.flash")
    }

    fn entropy() -> Option<u64> {
        random()
    }

    fn measure<T>(f: impl FnOnce() -> T) -> (T, u32) {
        measure(&SysTick { hertz: 168_000_000, shift: 3 }, f)
    }

    fn reset() -> ! {
        SCB::sys_reset()
    }
}

/// USART1 on PA9 and PA10, from the 16 MHz that the chip starts with. Clocks and pins are written blindly: QEMU does not
/// model them, and code that waits for a clock to be ready hangs there.
#[derive(Debug)]
pub struct Stm32Usart(());

const AHB1_ENABLE: usize = 0x830;
const APB2_ENABLE: usize = 0x844;
const PIN_MODE: usize = 0x00;
const PIN_FUNCTION_HIGH: usize = 0x24;
const STATUS: usize = 0x00;
const DATA: usize = 0x04;
const BAUD_RATE: usize = 0x08;
const CONTROL1: usize = 0x0C;
const NOT_EMPTY: u32 = 1 << 5;
const TRANSMIT_EMPTY: u32 = 1 << 7;

impl Port for Stm32Usart {
    fn open() -> Self {
        STM32_RCC.write::<AHB1_ENABLE>(STM32_RCC.read::<AHB1_ENABLE>() | 1 << 0);
        STM32_RCC.write::<APB2_ENABLE>(STM32_RCC.read::<APB2_ENABLE>() | 1 << 4);
        let mode = STM32_GPIOA.read::<PIN_MODE>() & !(0b1111 << 18);
        STM32_GPIOA.write::<PIN_MODE>(mode | 0b1010 << 18);
        let function = STM32_GPIOA.read::<PIN_FUNCTION_HIGH>() & !(0xFF << 4);
        STM32_GPIOA.write::<PIN_FUNCTION_HIGH>(function | 0x77 << 4);
        STM32_USART1.write::<BAUD_RATE>(139); // 16 MHz / 115,200
        STM32_USART1.write::<CONTROL1>(1 << 13 | 1 << 5 | 1 << 3 | 1 << 2); // on, receive interrupt, both ways
        Self(())
    }

    fn has_byte(&self) -> bool {
        STM32_USART1.read::<STATUS>() & NOT_EMPTY != 0
    }

    fn sleep(&mut self) {
        sleep::unless(37, || self.has_byte());
    }

    fn take(&mut self) -> u8 {
        STM32_USART1.read::<DATA>().to_le_bytes()[0]
    }

    fn has_room(&self) -> bool {
        STM32_USART1.read::<STATUS>() & TRANSMIT_EMPTY != 0
    }

    fn put(&mut self, byte: u8) {
        STM32_USART1.write::<DATA>(u32::from(byte));
    }
}
