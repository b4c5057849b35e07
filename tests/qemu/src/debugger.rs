//! QEMU's debugger port, used for one thing: to make a firmware crash wherever it happens to be.
//!
//! The firmware is stopped, its registers changed, and let go. For a panic the program counter goes to one of the functions of
//! `core` that take nothing but the place to blame, so what runs from there on is what a real panic runs; for a fault the core
//! finds nothing that it can execute. A core that sleeps crashes when it wakes. What is spoken is GDB's remote protocol.

use fable_image::panics::{PanicFunction, panic_function};
use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;

/// How a firmware crashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crash {
    /// A panic.
    Panic,
    /// Something that the core cannot execute.
    Fault,
}

/// Crashes the firmware behind a debugger port. `image` is what it runs.
///
/// # Errors
/// When the port does not answer as it should, or nothing in the image can panic.
pub fn crash(port: UnixStream, image: &[u8], crash: Crash) -> io::Result<()> {
    let panic = panic_function(image).map_err(|error| io::Error::other(error.to_string()))?;
    let mut debugger = Debugger(port);
    let mut words = debugger.registers()?; // connecting has stopped it
    let set = if panic.arm { arm } else { risc_v };
    set(&mut words, &panic, crash).ok_or_else(|| io::Error::other("a register is missing"))?;
    debugger.set_registers(&words)?;
    debugger.ask("D").map(drop)
}

/// Registers as `g` has them: r0 to r15, nine that nobody has any more, and the status.
fn arm(words: &mut [u32], panic: &PanicFunction, crash: Crash) -> Option<()> {
    const STATUS: usize = 41;
    /// Whether the next instructions are conditional, which would go on at the new place.
    const CONDITIONAL: u32 = 0x0600_fc00;
    /// These cores have Thumb instructions only.
    const THUMB: u32 = 1 << 24;
    match crash {
        Crash::Panic => {
            *words.get_mut(0)? = panic.location;
            *words.get_mut(15)? = panic.function;
            *words.get_mut(STATUS)? &= !CONDITIONAL;
        }
        Crash::Fault => *words.get_mut(STATUS)? &= !THUMB,
    }
    Some(())
}

/// Registers as `g` has them: x0 to x31 and the program counter.
fn risc_v(words: &mut [u32], panic: &PanicFunction, crash: Crash) -> Option<()> {
    const NOWHERE: u32 = 0x0b00_0000;
    match crash {
        Crash::Panic => {
            *words.get_mut(10)? = panic.location;
            *words.get_mut(32)? = panic.function;
        }
        Crash::Fault => *words.get_mut(32)? = NOWHERE,
    }
    Some(())
}

struct Debugger(UnixStream);

impl Debugger {
    fn registers(&mut self) -> io::Result<Vec<u32>> {
        let text = self.ask("g")?;
        let word = |digits: &[u8]| {
            let value =
                std::str::from_utf8(digits).ok().and_then(|digits| u32::from_str_radix(digits, 16).ok());
            value.map(u32::swap_bytes).ok_or_else(|| io::Error::other("a register is no number"))
        };
        text.as_bytes().chunks_exact(8).map(word).collect()
    }

    fn set_registers(&mut self, words: &[u32]) -> io::Result<()> {
        let mut packet = String::from("G");
        for word in words {
            let _ = write!(packet, "{:08x}", word.swap_bytes()); // writing to a String cannot fail
        }
        let answer = self.ask(&packet)?;
        if answer == "OK" {
            Ok(())
        } else {
            Err(io::Error::other(format!("the registers were not set: {answer}")))
        }
    }

    /// Sends a packet, which is its text between `$` and `#` and the sum of its bytes, and returns the answer to it.
    fn ask(&mut self, text: &str) -> io::Result<String> {
        let sum = text.bytes().fold(0_u8, u8::wrapping_add);
        self.0.write_all(format!("${text}#{sum:02x}").as_bytes())?;
        loop {
            let packet = self.packet()?;
            self.0.write_all(b"+")?;
            if !packet.starts_with('T') {
                return Ok(packet); // the others say that it has stopped
            }
        }
    }

    fn packet(&mut self) -> io::Result<String> {
        let mut text = vec![];
        while self.byte()? != b'$' {}
        loop {
            match self.byte()? {
                b'#' => break,
                byte => text.push(byte),
            }
        }
        self.0.read_exact(&mut [0; 2])?; // its sum: nothing is lost on this line
        String::from_utf8(text).map_err(io::Error::other)
    }

    fn byte(&mut self) -> io::Result<u8> {
        let mut byte = [0];
        self.0.read_exact(&mut byte)?;
        let [byte] = byte;
        Ok(byte)
    }
}
