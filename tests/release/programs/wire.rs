//! fable-wire from its archive: a request as a frame, and read again.

use fable_wire::{Draft, Fault, Frame, MAX_FRAME, Request};

fn main() -> Result<(), Fault> {
    let mut buffer = [0; MAX_FRAME];
    let request = Request::Profile { index: 3 };
    let mut sent = Draft::request(&mut buffer, 1, &request).seal().to_vec();
    assert_eq!(sent.pop(), Some(0), "a zero ends a frame");
    assert_eq!(Frame::open(&mut sent)?.request()?.0, request);
    println!("a request of {} bytes, read again", sent.len() + 1);
    Ok(())
}
