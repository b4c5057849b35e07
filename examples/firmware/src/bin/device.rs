//! Shows: Fable on a board. It restores its state from flash, learns, and serves the protocol on the serial port.

#![no_std]
#![no_main]

use firmware::device::{Parts, serve};

firmware::firmware!(run);

fn run() -> ! {
    let Parts { learner, workspace, store } = Parts::take();
    serve(learner, workspace, store)
}
