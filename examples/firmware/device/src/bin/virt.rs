//! Shows: agent on RISC-V with file-backed NOR flash: restores from flash and serves the protocol.

#![no_std]
#![no_main]

device::device!(boards::Virt, AGENT);
