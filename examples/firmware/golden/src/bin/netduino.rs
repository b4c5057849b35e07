//! Shows: `agent`, d = 254, decides and learns bit for bit as on a host, on a Cortex-M4F with 128 KiB of RAM.

#![no_std]
#![no_main]

use golden_firmware::{entry, exit, golden};

#[entry]
fn main() -> ! {
    let tau2 = golden!(tau2, TAU2, f32, TAU2_F32, TAU2_F32_SNAPSHOT, TAU2_F32_RESUMED);
    let agent = golden!(agent, AGENT, f32, AGENT_F32);
    exit(tau2 && agent)
}
