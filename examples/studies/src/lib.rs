//! The studies of the paper and checks of its guarantees, each reproducible by one command.
//!
//! A study is a file with a `run` that takes a [`Setup`] and gives a [`Report`]: prose, tables, plots and a flat list of
//! named numbers. To add one, write the file and add a line to [`studies::ALL`]. What is compared is in [`policies`]:
//! configurations of one learner. Everything is a function of the seeds, on any number of threads.

pub mod candidate;
pub mod data;
pub mod draw;
pub mod endpoint;
pub mod files;
pub mod markdown;
pub mod opening;
pub mod parallel;
pub mod plot;
pub mod policies;
pub mod report;
pub mod setup;
pub mod spread;
pub mod statistics;
pub mod studies;

pub use report::{Report, Table};
pub use setup::{Setup, StudyError};
