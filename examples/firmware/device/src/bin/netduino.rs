//! Shows: agent, d = 254, on a Cortex-M4F linked for 128 KiB of RAM: restores from flash and serves the protocol.

#![no_std]
#![no_main]

device::device!(boards::Netduino, AGENT);
