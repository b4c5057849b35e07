//! Shows: Fable on an RP2040, with the drivers of embassy-rp.
//!
//! The store is at the end of the external flash, the host at UART0, TX on GP0 and RX on GP1 as on the Raspberry Pi Pico, 115,200
//! baud. **There is no random number generator on this part**: the bits are those of its ring oscillator, which the data sheet does
//! not offer for security. They lean and follow each other; a seed is mixed from 1,024 of them, and should not be
//! guessed from the last one, but nobody has measured how many of its 64 bits are random.

#![no_std]
#![no_main]

use embassy_embedded_hal::adapter::BlockingAsync;
use embassy_executor::Spawner;
use embassy_rp::clocks::RoscRng;
use embassy_rp::flash::{self, Blocking};
use embassy_rp::uart::{self, BufferedInterruptHandler, BufferedUart};
use embassy_rp::{bind_interrupts, peripherals};
use fable_embedded::entropy;
use fable_embedded::flash::Layout;
use fable_part::{Memory, layout, serve_async};
use portable_atomic as _; // a critical section, for static_cell: the part has no compare-and-swap
use static_cell::ConstStaticCell;

include!(concat!(env!("OUT_DIR"), "/store.rs"));

/// Bytes of the flash chip beside the part.
const FLASH: usize = 2 << 20;

type Flash = BlockingAsync<flash::Flash<'static, peripherals::FLASH, Blocking, FLASH>>;
const LAYOUT: Layout = layout::<Flash>(&STORE);

bind_interrupts!(struct Irqs {
    UART0_IRQ => BufferedInterruptHandler<peripherals::UART0>;
});

#[embassy_executor::main]
async fn main(_spawner: Spawner) {
    static MEMORY: ConstStaticCell<Memory> = ConstStaticCell::new(Memory::EMPTY);
    static BUFFERS: ConstStaticCell<[[u8; 512]; 2]> = ConstStaticCell::new([[0; 512]; 2]);
    let part = embassy_rp::init(embassy_rp::config::Config::default());
    let [received, sent] = BUFFERS.take();

    let mut config = uart::Config::default();
    config.baudrate = 115_200;
    let mut port = BufferedUart::new(part.UART0, part.PIN_0, part.PIN_1, Irqs, sent, received, config);
    let flash = Flash::new(flash::Flash::new_blocking(part.FLASH));

    let stopped =
        serve_async(flash, LAYOUT, &mut port, MEMORY.take(), || entropy::seed_09(&mut RoscRng).ok()).await;
    let _ = core::hint::black_box(stopped); // a debugger shows why; nothing was overwritten
}

#[panic_handler]
fn panicked(_: &core::panic::PanicInfo<'_>) -> ! {
    cortex_m::peripheral::SCB::sys_reset()
}
