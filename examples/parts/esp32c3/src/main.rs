//! Shows: Fable on an ESP32-C3, with esp-hal and esp-storage, in the plain form: no executor, nothing is waited for elsewhere.
//!
//! The store is a partition of the external flash, the host at UART1, TX on GPIO4 and RX on GPIO5, 115,200 baud; UART0 is the
//! boot loader's. The random numbers are true ones: while they are drawn, noise of the ADC is mixed in.

#![no_std]
#![no_main]

use esp_hal::rng::{Trng, TrngSource};
use esp_hal::uart::{Config, Uart};
use esp_storage::FlashStorage;
use fable_embedded::entropy;
use fable_embedded::flash::{Blocking, Layout};
use fable_part::{Memory, layout, serve};
use static_cell::ConstStaticCell;

include!(concat!(env!("OUT_DIR"), "/store.rs"));

const LAYOUT: Layout = layout::<Blocking<FlashStorage<'static>>>(&STORE);

esp_bootloader_esp_idf::esp_app_desc!();

#[esp_hal::main]
fn main() -> ! {
    static MEMORY: ConstStaticCell<Memory> = ConstStaticCell::new(Memory::EMPTY);
    let part = esp_hal::init(esp_hal::Config::default());

    let _noise = TrngSource::new(part.RNG, part.ADC1);
    let draw = || entropy::seed(&mut Trng::try_new().ok()?).ok();
    let flash = Blocking(FlashStorage::new(part.FLASH));
    if let Ok(port) = Uart::new(part.UART1, Config::default().with_baudrate(115_200)) {
        let mut port = port.with_tx(part.GPIO4).with_rx(part.GPIO5);
        let stopped = serve(flash, LAYOUT, &mut port, MEMORY.take(), draw);
        let _ = core::hint::black_box(stopped); // a debugger shows why; nothing was overwritten
    }
    loop {
        core::hint::spin_loop();
    }
}

#[panic_handler]
fn panicked(_: &core::panic::PanicInfo<'_>) -> ! {
    esp_hal::system::software_reset()
}
