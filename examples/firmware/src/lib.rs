//! Fable on microcontrollers: five boards in QEMU, and in `src/bin` the jobs they are given.
//!
//! | Job | What it does | Script |
//! |---|---|---|
//! | `device` | restores from flash, learns, serves the protocol on the serial port | `run`, `panics.sh` |
//! | `budget` | counts what a round of the device takes, and its stack | `budget.sh` |
//! | `minimal` | decides and learns, and nothing else: the least flash and stack | `budget.sh` |
//! | `golden` | comes to the pinned bits of `tests/golden` | `golden.sh` |
//! | `update` | goes to another catalog, with the power cut before every write and erase | `update.sh` |
//! | `boardtest` | checks [`boards`] | `boards.sh` |
//! | `versus` | plays the same rounds with nalgebra | `versus.sh` |
//!
//! An image is a job for a board: `cargo build --release --bin device --features netduino --target thumbv7em-none-eabihf`.
//! `boards.txt` has the boards with their targets. `src/proof.rs` is built and never run: it links only if nothing can panic.

#![no_std]

pub mod boards;
#[cfg(feature = "serve")]
pub mod device;
#[cfg(feature = "versus")]
pub mod versus;

#[cfg(target_arch = "arm")]
use {cortex_m as _, portable_atomic as _}; // a critical section, for static_cell where there is no compare-and-swap

/// Makes a program's entry, which paints the stack and calls `RUN`, and its panic handler, which resets: `firmware!(RUN)`.
#[macro_export]
macro_rules! firmware {
    ($run:path) => {
        #[$crate::boards::entry]
        fn main() -> ! {
            $crate::boards::stack::paint();
            $run()
        }

        #[panic_handler]
        fn panicked(info: &core::panic::PanicInfo<'_>) -> ! {
            $crate::boards::panicked(info)
        }
    };
}
