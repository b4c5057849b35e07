//! Shows: serial port, flash, counters, stack mark and reset work on `netduino`.

#![no_std]
#![no_main]

boards::firmware!(boards::Netduino, boardtest::run);
