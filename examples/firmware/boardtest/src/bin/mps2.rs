//! Shows: serial port, flash, counters, stack mark and reset work on `mps2`.

#![no_std]
#![no_main]

boards::firmware!(boards::Mps2, boardtest::run);
