//! The store on a disk that loses its power, is full, or fails.

mod anew;
mod disk;
mod errors;
mod life;
mod power;

pub(super) use disk::Disk;
