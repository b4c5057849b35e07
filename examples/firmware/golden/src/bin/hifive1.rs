//! Shows: `tau2` decides and learns bit for bit as on a host, on an RV32IMAC without FPU and 16 KB of RAM.

#![no_std]
#![no_main]

use golden_firmware::{entry, exit, golden};

#[entry]
fn main() -> ! {
    exit(golden!(tau2, TAU2, f32, TAU2_F32, TAU2_F32_SNAPSHOT, TAU2_F32_RESUMED))
}
