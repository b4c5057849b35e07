//! Shows: serial port, flash, counters, stack mark and reset work on `hifive1`.

#![no_std]
#![no_main]

boards::firmware!(boards::Hifive1, boardtest::run);
