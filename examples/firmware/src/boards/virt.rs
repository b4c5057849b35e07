//! QEMU's RISC-V `virt`: RV32IMAFC here, plenty of RAM, and flash that lives in a file.

use super::count::{Retired, measure};
use super::hosted::random;
use super::mmio::{VIRT_STORE, VIRT_TEST, VIRT_UART};
use super::uart::{Port, Uart};
use super::{Board, sleep};
use core::ops::Range;
use embedded_storage::nor_flash::{
    ErrorType, MultiwriteNorFlash, NorFlash, NorFlashErrorKind, ReadNorFlash, check_erase, check_read,
    check_write,
};

/// QEMU's `virt`, `qemu-system-riscv32 -M virt -bios ELF -drive if=pflash,unit=1,file=FILE,format=raw -serial ...` with a
/// file of exactly 32 MiB; counts with `-icount shift=0,sleep=off`. With `-kernel`, or as unit 0, it hangs.
#[derive(Debug)]
pub struct Virt;

impl Board for Virt {
    type Uart = Uart<Ns16550>;
    type Flash = CfiFlash;

    const NAME: &'static str = "virt";
    const STORE: &'static str = "CFI NOR flash, the file of pflash unit 1";

    const PRIOR: bool = true;

    fn numbers(range: Range<u32>) -> &'static [f32] {
        VIRT_STORE.numbers(range)
    }

    fn uart() -> Self::Uart {
        Uart::open()
    }

    fn flash() -> Result<CfiFlash, NorFlashErrorKind> {
        Ok(CfiFlash(()))
    }

    fn entropy() -> Option<u64> {
        random()
    }

    fn measure<T>(f: impl FnOnce() -> T) -> (T, u32) {
        measure(&Retired, f)
    }

    fn reset() -> ! {
        const RESET: u32 = 0x7777;
        VIRT_TEST.write::<0>(RESET);
        loop {
            core::hint::spin_loop();
        }
    }
}

/// The 16550 that QEMU models.
#[derive(Debug)]
pub struct Ns16550(());

const DATA: usize = 0;
const INTERRUPT_ENABLE: usize = 1;
const FIFO_CONTROL: usize = 2;
const LINE_CONTROL: usize = 3;
const LINE_STATUS: usize = 5;
const DATA_READY: u8 = 1 << 0;
const TRANSMIT_EMPTY: u8 = 1 << 5;

impl Port for Ns16550 {
    fn open() -> Self {
        VIRT_UART.write_byte::<LINE_CONTROL>(1 << 7); // the first two registers are the divisor
        VIRT_UART.write_byte::<DATA>(2); // 3.6864 MHz / 16 / 115,200
        VIRT_UART.write_byte::<INTERRUPT_ENABLE>(0);
        VIRT_UART.write_byte::<LINE_CONTROL>(0b11); // 8N1
        // FIFOs on and empty; an interrupt at 8 bytes, or 4 byte times after the last: QEMU then hands over 8 at once.
        VIRT_UART.write_byte::<FIFO_CONTROL>(0b10 << 6 | 0b111);
        VIRT_UART.write_byte::<INTERRUPT_ENABLE>(DATA_READY);
        VIRT_UART.read_byte::<DATA>(); // QEMU looks for input again after this, not after emptying the FIFO
        Self(())
    }

    fn has_byte(&self) -> bool {
        VIRT_UART.read_byte::<LINE_STATUS>() & DATA_READY != 0
    }

    fn sleep(&mut self) {
        sleep::unless(10, || self.has_byte());
    }

    fn take(&mut self) -> u8 {
        VIRT_UART.read_byte::<DATA>()
    }

    fn has_room(&self) -> bool {
        VIRT_UART.read_byte::<LINE_STATUS>() & TRANSMIT_EMPTY != 0
    }

    fn put(&mut self, byte: u8) {
        VIRT_UART.write_byte::<DATA>(byte);
    }
}

/// The first eight sectors of 256 KiB of the second flash bank: two 16-bit chips side by side with Intel's command set, so
/// every command is given twice and every status comes twice.
///
/// Words are programmed through the chips' buffer, up to 256 bytes at once: QEMU writes the file once for each buffer, and
/// changing between commands and reading is what takes its time (100 KB word by word: 18 s).
#[derive(Debug)]
pub struct CfiFlash(());

/// Bytes programmed at once; a buffer does not cross a multiple of its size.
const BUFFER: usize = 256;

const READ_ARRAY: u32 = 0x00FF_00FF;
const PROGRAM: u32 = 0x00E8_00E8;
const ERASE: u32 = 0x0020_0020;
const CONFIRM: u32 = 0x00D0_00D0;
const CLEAR_STATUS: u32 = 0x0050_0050;
const BOTH: u32 = 0x0001_0001;
const READY: u32 = 0x0080_0080;
const REFUSED: u32 = 0x003A_003A; // erase, program, voltage, locked

/// Waits for both chips and returns their status.
fn status(offset: usize) -> u32 {
    loop {
        let status = VIRT_STORE.read(offset);
        if status & READY == READY {
            return status;
        }
    }
}

/// Confirms a command, waits until it is done and goes back to reading.
fn confirm(offset: usize) -> Result<(), NorFlashErrorKind> {
    VIRT_STORE.write(offset, CONFIRM);
    let status = status(offset);
    VIRT_STORE.write(offset, CLEAR_STATUS);
    VIRT_STORE.write(offset, READ_ARRAY);
    if status & REFUSED == 0 { Ok(()) } else { Err(NorFlashErrorKind::Other) }
}

fn erase(sector: usize) -> Result<(), NorFlashErrorKind> {
    VIRT_STORE.write(sector, ERASE);
    confirm(sector)
}

/// Programs up to a buffer of words.
fn program(offset: usize, words: &[[u8; 4]]) -> Result<(), NorFlashErrorKind> {
    // Flash clears bits and never sets them; QEMU's would store the words as they are.
    let mut cleared = [0; BUFFER / 4];
    for ((slot, word), at) in cleared.iter_mut().zip(words).zip((offset..).step_by(4)) {
        *slot = VIRT_STORE.read(at) & u32::from_le_bytes(*word);
    }
    VIRT_STORE.write(offset, PROGRAM);
    status(offset);
    VIRT_STORE.write(offset, (words.len() as u32 - 1) * BOTH);
    for (&word, at) in cleared.iter().take(words.len()).zip((offset..).step_by(4)) {
        VIRT_STORE.write(at, word);
    }
    confirm(offset)
}

impl ErrorType for CfiFlash {
    type Error = NorFlashErrorKind;
}

impl ReadNorFlash for CfiFlash {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        check_read(self, offset, bytes.len())?;
        for (at, byte) in (offset as usize..).zip(bytes) {
            *byte = VIRT_STORE.read(at).to_le_bytes()[at % 4];
        }
        Ok(())
    }

    fn capacity(&self) -> usize {
        VIRT_STORE.len()
    }
}

impl NorFlash for CfiFlash {
    const WRITE_SIZE: usize = 4;
    const ERASE_SIZE: usize = 256 << 10;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), NorFlashErrorKind> {
        check_erase(self, from, to)?;
        (from as usize..to as usize).step_by(Self::ERASE_SIZE).try_for_each(erase)
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
        check_write(self, offset, bytes.len())?;
        let (mut at, (mut words, _)) = (offset as usize, bytes.as_chunks());
        while !words.is_empty() {
            let room = (BUFFER - at % BUFFER) / 4;
            let (now, later) = words.split_at(room.min(words.len()));
            program(at, now)?;
            at += 4 * now.len();
            words = later;
        }
        Ok(())
    }
}

impl MultiwriteNorFlash for CfiFlash {}
