//! The machine below Rust: device registers, flash arrays, the stack, and a jump to the reset vector.
//!
//! The only module with unsafe code. What it hands out is safe: a [`Device`] and an [`Array`] can be made here only, from the
//! addresses below, and every access stays inside them.

#![allow(unsafe_code)]

use super::say::Piece;
use core::arch::asm;
use core::ops::Range;
use core::ptr::{
    addr_of, read_volatile, with_exposed_provenance, with_exposed_provenance_mut, write_volatile,
};
use core::slice;

/// One peripheral: a page of 4 KiB with its registers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Device(usize);

#[cfg(target_arch = "arm")]
mod device {
    use super::{Array, Device};

    /// The System Control Space of every Cortex-M: SysTick at 0x10, the interrupt controller from 0x100.
    pub(crate) const SYSTEM: Device = Device(0xE000_E000);

    pub(crate) const NRF51_UART: Device = Device(0x4000_2000);
    pub(crate) const NRF51_RNG: Device = Device(0x4000_D000);
    pub(crate) const NRF51_NVMC: Device = Device(0x4001_E000);
    /// The last 64 KiB of the flash of an nRF51822.
    pub(crate) const NRF51_STORE: Array = Array { base: 0x0003_0000, len: 64 << 10 };

    pub(crate) const STM32_USART1: Device = Device(0x4001_1000);
    pub(crate) const STM32_GPIOA: Device = Device(0x4002_0000);
    pub(crate) const STM32_RCC: Device = Device(0x4002_3000); // at offset 0x800

    pub(crate) const CMSDK_UART0: Device = Device(0x4000_4000);
}

#[cfg(target_arch = "riscv32")]
mod device {
    use super::{Array, Device};

    /// The interrupt controller of both boards: priorities, what hart 0 listens to in M mode, and how it answers.
    pub(crate) const PLIC: Device = Device(0x0C00_0000);
    pub(crate) const PLIC_ENABLE: Device = Device(0x0C00_2000);
    pub(crate) const PLIC_CONTEXT: Device = Device(0x0C20_0000);

    pub(crate) const SIFIVE_UART0: Device = Device(0x1001_3000);
    pub(crate) const SIFIVE_GPIO: Device = Device(0x1001_2000);

    pub(crate) const VIRT_UART: Device = Device(0x1000_0000);
    pub(crate) const VIRT_TEST: Device = Device(0x0010_0000);
    /// The first 2 MiB of the second flash bank.
    pub(crate) const VIRT_STORE: Array = Array { base: 0x2200_0000, len: 2 << 20 };
}

pub(crate) use device::*;

impl Device {
    /// Reads the register at `OFFSET`.
    pub(crate) fn read<const OFFSET: usize>(self) -> u32 {
        const { assert!(OFFSET < 0x1000 && OFFSET.is_multiple_of(4)) };
        // SAFETY: an aligned register of one of the devices above; no Rust object lives there.
        unsafe { read_volatile(with_exposed_provenance(self.0 + OFFSET)) }
    }

    /// Writes the register at `OFFSET`.
    pub(crate) fn write<const OFFSET: usize>(self, value: u32) {
        const { assert!(OFFSET < 0x1000 && OFFSET.is_multiple_of(4)) };
        // SAFETY: as above; none of the devices reaches into memory that Rust owns.
        unsafe { write_volatile(with_exposed_provenance_mut(self.0 + OFFSET), value) }
    }

    /// Writes the register at `offset`, which wraps at the end of the page.
    pub(crate) fn write_at(self, offset: usize, value: u32) {
        // SAFETY: as in `write`.
        unsafe { write_volatile(with_exposed_provenance_mut(self.0 + (offset & 0xFFC)), value) }
    }

    /// Reads the register at `OFFSET` of a device with registers of one byte.
    #[cfg(target_arch = "riscv32")]
    pub(crate) fn read_byte<const OFFSET: usize>(self) -> u8 {
        const { assert!(OFFSET < 0x1000) };
        // SAFETY: as in `read`.
        unsafe { read_volatile(with_exposed_provenance(self.0 + OFFSET)) }
    }

    /// Writes the register at `OFFSET` of a device with registers of one byte.
    #[cfg(target_arch = "riscv32")]
    pub(crate) fn write_byte<const OFFSET: usize>(self, value: u8) {
        const { assert!(OFFSET < 0x1000) };
        // SAFETY: as in `write`.
        unsafe { write_volatile(with_exposed_provenance_mut(self.0 + OFFSET), value) }
    }
}

/// A memory-mapped flash array, read and written in words; its length is a power of two.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Array {
    base: u32,
    len: usize,
}

impl Array {
    /// Bytes.
    pub(crate) const fn len(self) -> usize {
        self.len
    }

    /// Where the array starts in the address space.
    #[cfg(target_arch = "arm")]
    pub(crate) const fn base(self) -> u32 {
        self.base
    }

    /// The address of the word that holds `offset`; an offset beyond the end wraps.
    const fn word(self, offset: usize) -> usize {
        self.base as usize + (offset & (self.len - 1) & !3)
    }

    /// Reads the word that holds `offset`.
    pub(crate) fn read(self, offset: usize) -> u32 {
        // SAFETY: an aligned word inside a flash array that the linker script leaves free.
        unsafe { read_volatile(with_exposed_provenance(self.word(offset))) }
    }

    /// The numbers in a range of bytes; none for a range that does not lie in the array or does not begin at a word. What is
    /// borrowed is not to be written: the store never writes to the slot of the prior that is in use.
    pub(crate) fn numbers(self, range: Range<u32>) -> &'static [f32] {
        let (start, end) = (range.start as usize, range.end as usize);
        if start >= end || end > self.len || !start.is_multiple_of(4) {
            return &[];
        }
        // SAFETY: aligned words inside a flash array that the linker script leaves free, and every word is a number. They
        // change by commands to the flash only, which go to other pages as long as the numbers are in use.
        unsafe {
            slice::from_raw_parts(with_exposed_provenance(self.base as usize + start), (end - start) / 4)
        }
    }

    /// Writes the word that holds `offset`: data or a command, as the flash takes it.
    pub(crate) fn write(self, offset: usize, value: u32) {
        // SAFETY: as above.
        unsafe { write_volatile(with_exposed_provenance_mut(self.word(offset)), value) }
    }
}

/// What the stack is painted with.
const PAINT: u32 = 0xCCCC_CCCC;

// Marks of the linker scripts of cortex-m-rt and riscv-rt; only their addresses mean something.
#[cfg(target_arch = "arm")]
unsafe extern "C" {
    static __sdata: u32;
    static __euninit: u32;
    #[link_name = "_stack_end"]
    static STACK_BOTTOM: u32;
    #[link_name = "_stack_start"]
    static STACK_TOP: u32;
}

#[cfg(target_arch = "riscv32")]
unsafe extern "C" {
    static __sdata: u32;
    static __euninit: u32;
    #[link_name = "__estack"]
    static STACK_BOTTOM: u32;
    #[link_name = "__sstack"]
    static STACK_TOP: u32;
    static _start: u32;
}

/// From the first to past the last byte of the static variables.
pub(crate) fn statics() -> (usize, usize) {
    (addr_of!(__sdata).addr(), addr_of!(__euninit).addr())
}

/// The lowest address of the stack and where it starts to grow down from.
pub(crate) fn stack() -> (usize, usize) {
    (addr_of!(STACK_BOTTOM).addr(), addr_of!(STACK_TOP).addr())
}

/// Paints the unused part of the stack, up to the stack pointer.
pub(crate) fn paint() {
    let bottom = stack().0;
    // SAFETY: an asm block without `nostack` owns what is below the stack pointer, and nothing else is in `bottom..sp`: no
    // heap, no second stack, and interrupt handlers leave nothing behind there.
    #[cfg(target_arch = "arm")]
    unsafe {
        asm!("mov {end}, sp", "b 3f", "2:", "stm {at}!, {{{paint}}}", "3:", "cmp {at}, {end}", "blo 2b",
            at = inout(reg) bottom => _, paint = in(reg) PAINT, end = out(reg) _);
    }
    // SAFETY: as above.
    #[cfg(target_arch = "riscv32")]
    unsafe {
        asm!("j 3f", "2:", "sw {paint}, 0({at})", "addi {at}, {at}, 4", "3:", "bltu {at}, sp, 2b",
            at = inout(reg) bottom => _, paint = in(reg) PAINT);
    }
}

/// Bytes at the low end of the stack that still have their paint.
pub(crate) fn painted() -> usize {
    let (bottom, top) = stack();
    let mut at = bottom;
    while at < top {
        // SAFETY: an aligned word of the stack region; the value is compared, never used.
        let word: u32 = unsafe { read_volatile(with_exposed_provenance(at)) };
        if word != PAINT {
            break;
        }
        at += 4;
    }
    at - bottom
}

/// Lets the interrupt controller wake the core.
#[cfg(target_arch = "riscv32")]
pub(crate) fn listen() {
    // SAFETY: interrupts are off in `mstatus`, where the runtime leaves them, so this never leads to a trap.
    unsafe { riscv::register::mie::set_mext() }
}

/// Starts the program again from its first instruction; devices keep their state.
#[cfg(target_arch = "riscv32")]
pub(crate) fn restart() -> ! {
    // SAFETY: `_start` sets up the stack and all static variables anew and needs nothing from before.
    unsafe { asm!("jr {start}", start = in(reg) addr_of!(_start), options(noreturn)) }
}

/// Says so and starts again.
#[cfg(target_arch = "arm")]
#[cortex_m_rt::exception]
unsafe fn HardFault(frame: &cortex_m_rt::ExceptionFrame) -> ! {
    super::say::warn(&[Piece::Text("fault at "), Piece::Hex(frame.pc().into())]);
    cortex_m::peripheral::SCB::sys_reset()
}

/// Says so and starts again. A jump would not do: a flash that is interrupted in a command goes on answering as if in it.
#[cfg(target_arch = "riscv32")]
#[unsafe(export_name = "ExceptionHandler")]
extern "C" fn faulted(_: &riscv_rt::TrapFrame) -> ! {
    let (cause, at) = (riscv::register::mcause::read().code(), riscv::register::mepc::read());
    super::say::warn(&[
        Piece::Text("fault "),
        Piece::Number(cause as u32),
        Piece::Text(" at "),
        Piece::Hex(at as u64),
    ]);
    <super::Here as super::Board>::reset()
}

/// Runs into an instruction that is none, to see what the board makes of a fault.
pub fn fault() -> ! {
    // SAFETY: the fault handler above takes over.
    #[cfg(target_arch = "arm")]
    unsafe {
        asm!("udf #0", options(noreturn))
    }
    // SAFETY: as above.
    #[cfg(target_arch = "riscv32")]
    unsafe {
        asm!("unimp", options(noreturn))
    }
}
