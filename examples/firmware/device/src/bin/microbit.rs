//! Shows: tau2 on a Cortex-M0 with 16 KB of RAM: restores from flash and serves the protocol.

#![no_std]
#![no_main]

device::device!(boards::Microbit, TAU2);
