//! Shows: every pinned run, `f32` and `f64`, bit for bit as on a host, on a Cortex-M4F and on a Cortex-M7.

#![no_std]
#![no_main]

use golden_firmware::{entry, exit, golden};

#[entry]
fn main() -> ! {
    let tau2 = [
        golden!(tau2, TAU2, f32, TAU2_F32, TAU2_F32_SNAPSHOT, TAU2_F32_RESUMED),
        golden!(tau2, TAU2, f64, TAU2_F64, TAU2_F64_SNAPSHOT, TAU2_F64_RESUMED),
    ];
    let agent = [golden!(agent, AGENT, f32, AGENT_F32), golden!(agent, AGENT, f64, AGENT_F64)];
    exit(tau2 == [true; 2] && agent == [true; 2])
}
