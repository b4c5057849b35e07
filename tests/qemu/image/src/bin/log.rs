//! Prints the log of a firmware as it comes: `log IMAGE`, with what the firmware writes as standard input.

use fable_image::log::Log;
use std::error::Error;
use std::io::{Read, Write};
use std::process::ExitCode;

fn print() -> Result<(), Box<dyn Error>> {
    let image = std::env::args_os().nth(1).ok_or("which image?")?;
    let log = Log::of(&std::fs::read(image)?)?;
    let (mut reader, mut bytes) = (log.reader(), [0; 1024]);
    let (mut input, mut output) = (std::io::stdin(), std::io::stdout());
    loop {
        match input.read(&mut bytes)? {
            0 => return Ok(()),
            count => {
                for line in reader.read(bytes.get(..count).unwrap_or(&bytes)) {
                    writeln!(output, "{line}")?;
                }
            }
        }
    }
}

fn main() -> ExitCode {
    print().map_or_else(
        |error| {
            eprintln!("log: {error}");
            ExitCode::FAILURE
        },
        |()| ExitCode::SUCCESS,
    )
}
