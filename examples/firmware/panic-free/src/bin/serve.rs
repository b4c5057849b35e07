//! Shows: no panic is reachable in the server of `fable-embedded`, from the bytes of a port to the learner and back. Links
//! only if the compiler has proved every panicking branch away. It is built, never run.

#![no_std]
#![no_main]

use core::convert::Infallible;
use embedded_io::{ErrorType, Read, Write};
use fable_core::catalog::AGENT;
use fable_core::{Learner, Policy, Settings, Workspace};
use fable_embedded::{Server, Volatile};
use panic_never as _;

/// Everything comes from outside, so that nothing can be computed at build time.
pub struct World {
    learner: Learner<f32, [f32; AGENT.state_len()], 8>,
    workspace: Workspace<f32, [f32; AGENT.workspace_len()]>,
    settings: Settings<'static>,
    user: u64,
    port: Port,
}

/// A register that bytes are read from and written to.
pub struct Port {
    received: fn() -> Option<u8>,
    send: fn(u8),
}

impl ErrorType for Port {
    type Error = Infallible;
}

impl Read for Port {
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize, Infallible> {
        let mut count = 0;
        for slot in bytes {
            let Some(byte) = (self.received)() else { break };
            *slot = byte;
            count += 1;
        }
        Ok(count)
    }
}

impl Write for Port {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Infallible> {
        for byte in bytes {
            (self.send)(*byte);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

fn live(world: &mut World) -> Option<()> {
    let policy = Policy::new(&AGENT, world.settings).ok()?;
    world.learner.start(&policy, world.user).ok()?;
    let keep = Volatile::<4096>::VACANT;
    let mut server = Server::new(&policy, &mut world.learner, &mut world.workspace, keep).ok()?;
    server.serve(&mut world.port).ok()
}

/// The entry; the linker keeps what it reaches.
#[unsafe(no_mangle)]
pub extern "C" fn _start(world: &mut World) -> bool {
    live(world).is_some()
}
