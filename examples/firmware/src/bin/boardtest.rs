//! Shows: serial port, flash, counters, stack mark and reset work on every board; `boards.sh` runs it in QEMU.
//!
//! A store without the mark is new. Then the firmware checks the flash, leaves a pattern and the mark, and resets. On the
//! next boot it finds the pattern, notes the boot and panics; on the one after that it runs into a fault; both reset it.
//! From then on it finds the pattern, checks the stack mark and the entropy, and serves blocks of 64 bytes on the serial
//! port: a block comes back as it is, one that starts with `MEASURE` has the instruction count checked first, and after one
//! that starts with `EXIT` QEMU ends with code 0. Whatever is not as it should be ends QEMU with code 1.

#![no_std]
#![no_main]

#[cfg(target_arch = "arm")]
use cortex_m::asm::delay;
#[cfg(target_arch = "riscv32")]
use riscv::asm::delay;

use core::hint::black_box;
use embedded_io::{Read, Write};
use embedded_storage::nor_flash::{NorFlash, NorFlashErrorKind, ReadNorFlash};
use firmware::boards::{Board, Here, exit, fault, println, stack};

firmware::firmware!(run);

/// The longest word of any board.
const LONGEST: usize = 8;
/// The mark of a store that has been checked, in page 2; the words after it are cleared, one at each boot.
const MARK: [u8; LONGEST] = *b"checked\0";
/// Bytes of a page.
const PAGE: usize = <Here as Board>::Flash::ERASE_SIZE;
/// Bytes of the pattern in page 1.
const PATTERN: usize = 512;

/// The whole test.
///
/// # Panics
/// On purpose, on the second boot: the panic must come back as a reset.
fn run() -> ! {
    let Ok(mut flash) = Here::flash() else { fail("the store cannot be opened") };
    let Ok(boots) = boots(&mut flash) else { fail("the store cannot be read") };
    let Some(boots) = boots else {
        if let Err(what) = check_flash(&mut flash) {
            fail(what)
        }
        println!("{}: {}, {} pages of {}", Here::NAME, Here::STORE, flash.capacity() / PAGE, PAGE);
        Here::reset()
    };
    if !check_pattern(&mut flash) {
        fail("the store did not survive")
    }
    if note_boot(&mut flash, boots).is_err() {
        fail("the boot cannot be noted")
    }
    match boots {
        0 => panic!("on purpose, to see the reset"),
        1 => fault(),
        _ => {}
    }
    check_stack();
    check_entropy();
    println!("{}: boot {boots}, the store is as it was", Here::NAME);
    #[allow(clippy::drop_non_drop, reason = "where it is a file, that is closed")]
    drop(flash);
    serve()
}

fn fail(what: &str) -> ! {
    println!("{}: FAIL {what}", Here::NAME);
    exit(1)
}

fn serve() -> ! {
    let mut uart = Here::uart();
    let mut block = [0; 64];
    let Ok(()) = uart.write_all(b"ready\n");
    loop {
        if uart.read_exact(&mut block).is_err() {
            fail("the serial port ended")
        }
        if block.starts_with(b"MEASURE") {
            check_count();
        }
        let (Ok(()), Ok(())) = (uart.write_all(&block), uart.flush());
        if block.starts_with(b"EXIT") {
            exit(0)
        }
    }
}

/// How often a checked store has been booted from; `None` for any other store.
fn boots<F: NorFlash>(flash: &mut F) -> Result<Option<u32>, F::Error> {
    let at = 2 * F::ERASE_SIZE as u32;
    let mut word = [0; LONGEST];
    flash.read(at, &mut word)?;
    if word != MARK {
        return Ok(None);
    }
    let mut boots = 0;
    loop {
        flash.read(at + LONGEST as u32 * (boots + 1), &mut word)?;
        if word == [0xFF; LONGEST] {
            return Ok(Some(boots));
        }
        boots += 1;
    }
}

fn note_boot<F: NorFlash>(flash: &mut F, boots: u32) -> Result<(), F::Error> {
    flash.write((2 * F::ERASE_SIZE + LONGEST) as u32 + LONGEST as u32 * boots, &[0; LONGEST])
}

/// Byte `at` of the pattern.
fn pattern(at: usize) -> u8 {
    (at * 31 + at / 256) as u8
}

fn check_pattern<F: NorFlash>(flash: &mut F) -> bool {
    (0..PATTERN).all(|at| {
        let mut byte = [0];
        flash.read((F::ERASE_SIZE + at) as u32, &mut byte).is_ok() && byte[0] == pattern(at)
    })
}

/// All bytes of `from..to` are `value`.
fn is_all<F: ReadNorFlash>(flash: &mut F, from: usize, to: usize, value: u8) -> bool {
    let mut bytes = [0; 64];
    (from..to)
        .step_by(bytes.len())
        .all(|at| flash.read(at as u32, &mut bytes).is_ok() && bytes.iter().all(|&b| b == value))
}

/// Erase, write, the rules of NOR flash, bounds; leaves the pattern and the mark.
fn check_flash<F: NorFlash<Error = NorFlashErrorKind>>(flash: &mut F) -> Result<(), &'static str> {
    let (page, end) = (F::ERASE_SIZE, flash.capacity());
    let word = F::WRITE_SIZE;
    let first_pages =
        flash.erase(0, 3 * page as u32).and_then(|()| flash.erase((end - page) as u32, end as u32));
    first_pages.map_err(|_| "erase failed")?;
    if !is_all(flash, 0, 3 * page, 0xFF) || !is_all(flash, end - page, end, 0xFF) {
        return Err("an erased page is not all ones");
    }

    let last_word = (end - word) as u32;
    let written =
        flash.write(0, &[0xA5; 300][..296]).and_then(|()| flash.write(last_word, &[0x5A; LONGEST][..word]));
    written.map_err(|_| "write failed")?;
    let mut bytes = [0; 17];
    flash.read(283, &mut bytes).map_err(|_| "an unaligned read failed")?;
    if bytes[..13] != [0xA5; 13] || bytes[13..] != [0xFF; 4] {
        return Err("a write is not what is read, or wrote more");
    }
    flash.write(0, &[0x0F; 64]).map_err(|_| "a second write failed")?;
    if !is_all(flash, 0, 64, 0x05) || !is_all(flash, 64, 256, 0xA5) {
        return Err("a write did not just clear bits");
    }

    let last_page = flash.erase(0, page as u32);
    last_page.map_err(|_| "erase failed")?;
    let mut bytes = [0; LONGEST];
    flash.read(last_word, &mut bytes[..word]).map_err(|_| "read failed")?;
    if !is_all(flash, 0, page, 0xFF) || bytes[..word] != [0x5A; LONGEST][..word] {
        return Err("an erase did too little or too much");
    }

    let past = Err(NorFlashErrorKind::OutOfBounds);
    let unaligned = Err(NorFlashErrorKind::NotAligned);
    if flash.write(end as u32, &[0; LONGEST][..word]) != past
        || flash.read(end as u32 - 1, &mut [0; 2]) != past
    {
        return Err("an access past the end was not refused");
    }
    if flash.erase(end as u32, (end + page) as u32) != past || flash.erase(1, page as u32) != unaligned {
        return Err("an erase out of place was not refused");
    }
    if word > 1
        && (flash.write(1, &[0; LONGEST][..word]) != unaligned || flash.write(0, &[0; 1]) != unaligned)
    {
        return Err("half a word was not refused");
    }

    let left = (0..PATTERN).step_by(LONGEST).try_for_each(|at| {
        let mut bytes = [0; LONGEST];
        bytes.iter_mut().zip(at..).for_each(|(byte, at)| *byte = pattern(at));
        flash.write((page + at) as u32, &bytes)
    });
    left.and_then(|()| flash.write(2 * page as u32, &MARK)).map_err(|_| "write failed")
}

/// Takes `SIZE` bytes of stack.
#[inline(never)]
fn deep<const SIZE: usize>() -> u8 {
    let bytes = black_box([1; SIZE]);
    bytes[SIZE / 2]
}

fn check_stack() {
    stack::paint();
    let before = stack::used();
    black_box(deep::<1024>());
    let after = stack::used();
    println!(
        "{}: {} bytes of static RAM, stack {before} and {after} bytes of {}",
        Here::NAME,
        stack::statics(),
        stack::size()
    );
    // at most two copies of the array
    if !(before + 1024..before + 2048 + 256).contains(&after) || stack::used() != after {
        fail("the stack mark is wrong")
    }
}

fn check_entropy() {
    match (Here::entropy(), Here::entropy()) {
        (Some(a), Some(b)) if a != b => {}
        _ => fail("no entropy"),
    }
}

/// Instructions of `rounds` rounds of a loop of two instructions, which `delay` is on both architectures. Around the
/// loop there are 6 (RISC-V), 8 (M0) and 11 (M4) more between the readings, as the disassembly has it and as it is counted.
#[inline(never)]
fn count(rounds: u32) -> u32 {
    let argument = if cfg!(target_arch = "arm") { rounds - 1 } else { 2 * (rounds - 1) };
    Here::measure(|| delay(argument)).1
}

fn check_count() {
    const ROUNDS: [u32; 3] = [1_000, 10_000, 100_000];
    let counts = ROUNDS.map(count);
    let again = ROUNDS.map(count);
    let ((), empty) = Here::measure(|| ());
    println!("{}: {ROUNDS:?} rounds of 2 instructions count {counts:?}, nothing counts {empty}", Here::NAME);
    let right =
        ROUNDS.iter().zip(counts).all(|(rounds, count)| (2 * rounds..2 * rounds + 16).contains(&count));
    if !right || again != counts || empty > 1 {
        fail("instructions are miscounted")
    }
}
