//! Shows: tau2 on an RV32IMAC with 16 KB of RAM: restores from flash and serves the protocol.

#![no_std]
#![no_main]

device::device!(boards::Hifive1, TAU2);
