//! Shows: serial port, flash, counters, stack mark and reset work on `virt`.

#![no_std]
#![no_main]

boards::firmware!(boards::Virt, boardtest::run);
