//! Sleep until a device calls, without interrupt handlers.
//!
//! Interrupts stay off: an interrupt that is enabled at its controller wakes the core from `wfi` all the same. While a
//! firmware waits for a request the core draws next to no power, and in QEMU the host's processor is free: a serial round
//! trip is a few times faster than with a core that spins.

#[cfg(target_arch = "arm")]
use super::mmio::SYSTEM;
#[cfg(target_arch = "riscv32")]
use super::mmio::{PLIC, PLIC_CONTEXT, PLIC_ENABLE, listen};

/// Sleeps until the interrupt `number` comes; returns at once when `ready`. It may also return for nothing.
#[cfg(target_arch = "arm")]
pub(crate) fn unless(number: u32, ready: impl FnOnce() -> bool) {
    const ENABLE: usize = 0x100;
    const DISABLE: usize = 0x180;
    const UNPEND: usize = 0x280;
    let (word, bit) = (number as usize / 32 * 4, 1 << (number % 32));
    cortex_m::interrupt::free(|_| {
        SYSTEM.write_at(UNPEND + word, bit);
        SYSTEM.write_at(ENABLE + word, bit);
        // What comes from here on is pending and ends the sleep, so nothing is missed between the question and `wfi`.
        if !ready() {
            cortex_m::asm::dsb();
            cortex_m::asm::wfi();
        }
        SYSTEM.write_at(DISABLE + word, bit);
        SYSTEM.write_at(UNPEND + word, bit);
    });
}

/// Sleeps until the interrupt `number`, below 32, comes; returns at once when `ready`. It may also return for nothing.
#[cfg(target_arch = "riscv32")]
pub(crate) fn unless(number: u32, ready: impl FnOnce() -> bool) {
    const THRESHOLD: usize = 0;
    const CLAIM: usize = 4;
    PLIC.write_at(4 * number as usize, 1); // its priority
    PLIC_ENABLE.write::<0>(1 << number);
    PLIC_CONTEXT.write::<THRESHOLD>(0);
    listen();
    // What comes from here on is pending and ends the sleep, so nothing is missed between the question and `wfi`.
    if !ready() {
        riscv::asm::wfi();
    }
    let claimed = PLIC_CONTEXT.read::<CLAIM>();
    if claimed != 0 {
        PLIC_CONTEXT.write::<CLAIM>(claimed);
    }
}
