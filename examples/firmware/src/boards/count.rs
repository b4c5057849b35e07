//! Instructions of a piece of code, exact and repeatable under QEMU's `-icount`.
//!
//! With `-icount shift=S,sleep=off` an instruction takes 2^S ns of the board's time. RISC-V counts instructions itself
//! (`minstret`). On Arm the DWT's cycle counter reads 0 in QEMU, so SysTick measures the time: exact where an instruction
//! takes at least one tick. Without `-icount`, and on hardware, the numbers mean something else.

use core::hint::black_box;

/// Instructions that `f` takes, `u32::MAX` for more than can be counted.
///
/// What it costs to count is subtracted, to within the few instructions of calling `f`.
pub(crate) fn measure<T>(counter: &impl Counter, f: impl FnOnce() -> T) -> (T, u32) {
    let ((), empty) = counter.count(|| ());
    let (value, full) = counter.count(f);
    (value, full.map_or(u32::MAX, |full| counter.instructions(full.saturating_sub(empty.unwrap_or(0)))))
}

/// Something that counts while code runs.
pub(crate) trait Counter {
    /// Where it stands.
    fn now(&self) -> u32;

    /// Starts from zero.
    fn start(&self);

    /// What was counted from `begin` to `end`; `None` when it overflowed.
    fn between(&self, begin: u32, end: u32) -> Option<u32>;

    /// Counts as instructions.
    fn instructions(&self, counts: u32) -> u32;

    /// Counts while `f` runs. Not inlined, so that the code around `f` is the same wherever it is called from.
    #[inline(never)]
    fn count<T>(&self, f: impl FnOnce() -> T) -> (T, Option<u32>) {
        self.start();
        let begin = self.now();
        // `black_box` keeps the compiler from moving work of `f` out from between the readings.
        let value = black_box(black_box(f)());
        let end = self.now();
        (value, self.between(begin, end))
    }
}

/// SysTick at `hertz`, under `-icount shift=SHIFT`.
#[cfg(target_arch = "arm")]
#[derive(Debug)]
pub(crate) struct SysTick {
    /// Ticks per second of the board's time.
    pub(crate) hertz: u32,
    /// An instruction takes 2^shift ns.
    pub(crate) shift: u32,
}

#[cfg(target_arch = "arm")]
impl SysTick {
    const CONTROL: usize = 0x10;
    const RELOAD: usize = 0x14;
    const CURRENT: usize = 0x18;
    const ENABLE: u32 = 1 << 0 | 1 << 2; // from the core's clock
    const WRAPPED: u32 = 1 << 16;
}

#[cfg(target_arch = "arm")]
impl Counter for SysTick {
    fn now(&self) -> u32 {
        super::mmio::SYSTEM.read::<{ Self::CURRENT }>()
    }

    fn start(&self) {
        let system = super::mmio::SYSTEM;
        system.write::<{ Self::RELOAD }>(0x00FF_FFFF);
        system.write::<{ Self::CONTROL }>(Self::ENABLE);
        system.write::<{ Self::CURRENT }>(0);
        while self.now() == 0 {} // it reloads at the next tick
        system.read::<{ Self::CONTROL }>(); // clears WRAPPED
    }

    fn between(&self, begin: u32, end: u32) -> Option<u32> {
        let wrapped = super::mmio::SYSTEM.read::<{ Self::CONTROL }>() & Self::WRAPPED != 0;
        if wrapped { None } else { begin.checked_sub(end) } // it counts down
    }

    fn instructions(&self, ticks: u32) -> u32 {
        let nanoseconds = u64::from(ticks) * 1_000_000_000 / u64::from(self.hertz);
        let nearest = (nanoseconds + (1 << self.shift >> 1)) >> self.shift;
        u32::try_from(nearest).unwrap_or(u32::MAX)
    }
}

/// The count of retired instructions.
#[cfg(target_arch = "riscv32")]
#[derive(Debug)]
pub(crate) struct Retired;

#[cfg(target_arch = "riscv32")]
impl Counter for Retired {
    fn now(&self) -> u32 {
        riscv::register::minstret::read() as u32 // a register of 32 bits
    }

    fn start(&self) {}

    fn between(&self, begin: u32, end: u32) -> Option<u32> {
        Some(end.wrapping_sub(begin))
    }

    fn instructions(&self, counts: u32) -> u32 {
        counts
    }
}
