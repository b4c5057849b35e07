//! Shows: agent on a Cortex-M4F with megabytes of RAM: restores from flash and serves the protocol.

#![no_std]
#![no_main]

device::device!(boards::Mps2, AGENT);
