//! What is between a process and its database: it passes bytes on until it is told to cut, or to hold them back.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// What happens to bytes.
#[derive(Debug, Default)]
enum Plan {
    #[default]
    Pass,
    /// After so many more bytes to the server, or from it, the connection is cut.
    Cut { left: usize, upwards: bool },
    /// So many more messages pass; what the client says then is kept for later, and it is cut off.
    Hold { passing: usize },
}

#[derive(Debug, Default)]
struct State {
    plan: Plan,
    cuts: usize,
    held: Option<(TcpStream, Vec<u8>)>,
}

/// See the [module](self).
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    state: Arc<Mutex<State>>,
}

impl Proxy {
    /// One to a port of this machine.
    ///
    /// # Panics
    /// When there is no free port.
    #[must_use]
    pub fn to(server: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let (port, state) = (listener.local_addr().unwrap().port(), Arc::<Mutex<State>>::default());
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(("127.0.0.1", server)) else { continue };
                for (upwards, from, to) in [(true, &client, &server), (false, &server, &client)] {
                    let (from, to, state) =
                        (from.try_clone().unwrap(), to.try_clone().unwrap(), Arc::clone(&shared));
                    thread::spawn(move || pump(upwards, from, to, &state));
                }
            }
        });
        Self { port, state }
    }

    /// Its own port.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// After so many more bytes to the server, or from it, the connection is cut.
    pub fn cut_after(&self, left: usize, upwards: bool) {
        self.state().plan = Plan::Cut { left, upwards };
    }

    /// So many more messages pass; what the client says then is held back, and it is cut off.
    pub fn hold_after(&self, passing: usize) {
        self.state().plan = Plan::Hold { passing };
    }

    /// How often it has cut; it does not do so any more.
    #[must_use]
    pub fn cuts(&self) -> usize {
        let mut state = self.state();
        state.plan = Plan::Pass;
        std::mem::take(&mut state.cuts)
    }

    /// What was held back arrives now, and the server has answered it when this returns.
    ///
    /// # Panics
    /// When nothing was.
    pub fn release(&self) {
        let (mut server, bytes) = self.state().held.take().unwrap();
        server.write_all(&bytes).unwrap();
        server.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        let mut answer = [0; 4096];
        while matches!(server.read(&mut answer), Ok(1..)) {}
        drop(server.shutdown(Shutdown::Both));
    }
}

fn pump(upwards: bool, mut from: TcpStream, mut to: TcpStream, state: &Mutex<State>) {
    let mut bytes = vec![0; 65_536];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        let mut guard = state.lock().unwrap();
        let end = match &mut guard.plan {
            Plan::Cut { left, upwards: way } if *way == upwards => {
                let passed = count.min(*left);
                *left -= passed;
                (*left == 0).then_some(passed)
            }
            Plan::Hold { passing: passing @ 1.. } if upwards => {
                *passing -= 1;
                None
            }
            Plan::Hold { .. } if upwards => {
                guard.plan = Plan::Pass;
                drop(guard);
                let mut held = bytes[..count].to_vec();
                from.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
                while let Ok(count @ 1..) = from.read(&mut bytes) {
                    held.extend_from_slice(&bytes[..count]);
                }
                state.lock().unwrap().held = Some((to, held));
                drop(from.shutdown(Shutdown::Both));
                return;
            }
            _ => None,
        };
        if end.is_some() {
            guard.plan = Plan::Pass;
            guard.cuts += 1;
        }
        drop(guard);
        if to.write_all(&bytes[..end.unwrap_or(count)]).is_err() || end.is_some() {
            break;
        }
    }
    drop((from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both)));
}
