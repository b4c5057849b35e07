//! Lines for a person through semihosting, without `core::fmt`: formatting takes 6 KB of flash.

use core::panic::PanicInfo;
use semihosting::io::{self, Write};

/// A part of a line.
#[derive(Clone, Copy, Debug)]
pub enum Piece<'a> {
    /// As it stands.
    Text(&'a str),
    /// In decimal.
    Number(u32),
    /// In hexadecimal, 16 digits.
    Hex(u64),
}

/// Writes a line to QEMU's standard output. Without a host it goes nowhere.
#[inline(never)]
pub fn say(pieces: &[Piece<'_>]) {
    if let Ok(mut out) = io::stdout() {
        write(&mut out, pieces);
    }
}

/// Writes a line to QEMU's standard error.
#[inline(never)]
pub(crate) fn warn(pieces: &[Piece<'_>]) {
    if let Ok(mut out) = io::stderr() {
        write(&mut out, pieces);
    }
}

/// What a panic says: where, and its message if that is a constant.
#[cfg(feature = "located")]
pub(crate) fn panicked(board: &str, info: &PanicInfo<'_>) {
    let (file, line) = info.location().map_or(("", 0), |location| (location.file(), location.line()));
    let message = info.message().as_str().unwrap_or("a computed message");
    let [panicked, colon, end] = [": panicked at ", ":", ": "].map(Piece::Text);
    warn(&[
        Piece::Text(board),
        panicked,
        Piece::Text(file),
        colon,
        Piece::Number(line),
        end,
        Piece::Text(message),
    ]);
}

/// That there was a panic. Nothing is asked of it, so the linker keeps no names of files and no messages.
#[cfg(not(feature = "located"))]
pub(crate) fn panicked(board: &str, _: &PanicInfo<'_>) {
    warn(&[Piece::Text(board), Piece::Text(": panicked")]);
}

fn write(out: &mut dyn Write, pieces: &[Piece<'_>]) {
    for piece in pieces.iter().chain(&[Piece::Text("\n")]) {
        let mut digits = [0; 16];
        let bytes = match *piece {
            Piece::Text(text) => text.as_bytes(),
            Piece::Number(number) => decimal(number, &mut digits),
            Piece::Hex(number) => {
                for (digit, shift) in digits.iter_mut().rev().zip((0..64).step_by(4)) {
                    *digit = nibble((number >> shift) as u8 & 0xF);
                }
                &digits
            }
        };
        let _ = out.write(bytes);
    }
}

const fn nibble(value: u8) -> u8 {
    if value < 10 { b'0' + value } else { b'a' + value - 10 }
}

/// The digits, at the end of their place.
fn decimal(mut number: u32, place: &mut [u8; 16]) -> &[u8] {
    let mut first = place.len();
    for (at, digit) in place.iter_mut().enumerate().rev() {
        *digit = b'0' + (number % 10) as u8;
        (number, first) = (number / 10, at);
        if number == 0 {
            break;
        }
    }
    place.get(first..).unwrap_or_default()
}
