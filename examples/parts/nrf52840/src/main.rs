//! Shows: Fable on an nRF52840, with the drivers of embassy-nrf.
//!
//! The store is in the part's own flash, through its NVMC, the host at a UARTE, TX on P0.06 and RX on P0.08 as on the
//! nRF52840-DK, 115,200 baud. The random number generator is a noise source with bias correction on.

#![no_std]
#![no_main]

use embassy_embedded_hal::adapter::BlockingAsync;
use embassy_executor::Spawner;
use embassy_nrf::buffered_uarte::{self, BufferedUarte};
use embassy_nrf::{bind_interrupts, nvmc::Nvmc, peripherals, rng::Rng, uarte};
use fable_embedded::entropy;
use fable_embedded::flash::Layout;
use fable_part::{Memory, layout, serve_async};
use static_cell::ConstStaticCell;

include!(concat!(env!("OUT_DIR"), "/store.rs"));

type Flash = BlockingAsync<Nvmc<'static>>;
const LAYOUT: Layout = layout::<Flash>(&STORE);

bind_interrupts!(struct Irqs {
    UARTE0 => buffered_uarte::InterruptHandler<peripherals::UARTE0>;
});

#[embassy_executor::main]
async fn main(_spawner: Spawner) {
    static MEMORY: ConstStaticCell<Memory> = ConstStaticCell::new(Memory::EMPTY);
    static BUFFERS: ConstStaticCell<[[u8; 512]; 2]> = ConstStaticCell::new([[0; 512]; 2]);
    let part = embassy_nrf::init(embassy_nrf::config::Config::default());
    let [received, sent] = BUFFERS.take();

    let mut rng = Rng::new_blocking(part.RNG);
    rng.set_bias_correction(true);
    let mut config = uarte::Config::default();
    config.baudrate = uarte::Baudrate::Baud115200;
    let mut port = BufferedUarte::new(
        part.UARTE0,
        part.TIMER0,
        part.PPI_CH0,
        part.PPI_CH1,
        part.PPI_GROUP0,
        part.P0_08,
        part.P0_06,
        Irqs,
        config,
        received,
        sent,
    );
    let flash = BlockingAsync::new(Nvmc::new(part.NVMC));

    let stopped = serve_async(flash, LAYOUT, &mut port, MEMORY.take(), || entropy::seed(&mut rng).ok()).await;
    let _ = core::hint::black_box(stopped); // a debugger shows why; nothing was overwritten
}

#[panic_handler]
fn panicked(_: &core::panic::PanicInfo<'_>) -> ! {
    cortex_m::peripheral::SCB::sys_reset()
}
