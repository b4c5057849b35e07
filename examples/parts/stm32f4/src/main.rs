//! Shows: Fable on an STM32F405RG, with the drivers of embassy-stm32.
//!
//! The store is in the part's own flash, the host at USART2, TX on PA2 and RX on PA3, 115,200 baud. The random number generator is
//! a noise source that watches itself. It wants a clock of 48 MHz, which the PLL makes from the internal oscillator.
//!
//! The part stands still while a sector is erased, which takes one to four seconds: what arrives then is lost, and sent again.

#![no_std]
#![no_main]

use embassy_embedded_hal::adapter::BlockingAsync;
use embassy_executor::Spawner;
use embassy_stm32::flash::{self, Bank1Region3};
use embassy_stm32::rcc::{
    AHBPrescaler, APBPrescaler, Pll, PllMul, PllPDiv, PllPreDiv, PllQDiv, PllSource, Sysclk,
};
use embassy_stm32::rng::{self, Rng};
use embassy_stm32::usart::{self, BufferedUart};
use embassy_stm32::{bind_interrupts, peripherals};
use fable_embedded::entropy;
use fable_embedded::flash::Layout;
use fable_part::{Memory, layout, serve_async};
use static_cell::ConstStaticCell;

include!(concat!(env!("OUT_DIR"), "/store.rs"));

type Flash = BlockingAsync<Bank1Region3<'static, flash::Blocking>>;
const LAYOUT: Layout = layout::<Flash>(&STORE);

bind_interrupts!(struct Irqs {
    USART2 => usart::BufferedInterruptHandler<peripherals::USART2>;
    RNG => rng::InterruptHandler<peripherals::RNG>;
});

/// 168 MHz, and 48 for the random number generator.
fn clocks() -> embassy_stm32::Config {
    let mut config = embassy_stm32::Config::default();
    config.rcc.pll_src = PllSource::HSI; // 16 MHz
    config.rcc.pll = Some(Pll {
        prediv: PllPreDiv::DIV8,
        mul: PllMul::MUL168,
        divp: Some(PllPDiv::DIV2),
        divq: Some(PllQDiv::DIV7),
        divr: None,
    });
    config.rcc.sys = Sysclk::PLL1_P;
    config.rcc.ahb_pre = AHBPrescaler::DIV1;
    config.rcc.apb1_pre = APBPrescaler::DIV4;
    config.rcc.apb2_pre = APBPrescaler::DIV2;
    config
}

#[embassy_executor::main]
async fn main(_spawner: Spawner) {
    static MEMORY: ConstStaticCell<Memory> = ConstStaticCell::new(Memory::EMPTY);
    static BUFFERS: ConstStaticCell<[[u8; 512]; 2]> = ConstStaticCell::new([[0; 512]; 2]);
    let part = embassy_stm32::init(clocks());
    let [received, sent] = BUFFERS.take();

    let mut rng = Rng::new(part.RNG, Irqs);
    let mut config = usart::Config::default();
    config.baudrate = 115_200;
    let Ok(mut port) = BufferedUart::new(part.USART2, part.PA3, part.PA2, sent, received, Irqs, config)
    else {
        return;
    };
    let flash =
        BlockingAsync::new(flash::Flash::new_blocking(part.FLASH).into_blocking_regions().bank1_region3);

    let stopped =
        serve_async(flash, LAYOUT, &mut port, MEMORY.take(), || entropy::seed_09(&mut rng).ok()).await;
    let _ = core::hint::black_box(stopped); // a debugger shows why; nothing was overwritten
}

#[panic_handler]
fn panicked(_: &core::panic::PanicInfo<'_>) -> ! {
    cortex_m::peripheral::SCB::sys_reset()
}
