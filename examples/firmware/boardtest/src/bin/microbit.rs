//! Shows: serial port, flash, counters, stack mark and reset work on `microbit`.

#![no_std]
#![no_main]

boards::firmware!(boards::Microbit, boardtest::run);
