//! The list of the studies.

use crate::report::Report;
use crate::setup::{Setup, StudyError};

mod fleet;
mod guarantees;
mod two_direction;

/// A study: its name on the command line, what it is about, and how it is run.
#[derive(Clone, Copy, Debug)]
pub struct Study {
    /// As on the command line and in the names of files.
    pub name: &'static str,
    /// One line.
    pub about: &'static str,
    /// Runs it.
    pub run: fn(&Setup) -> Result<Report, StudyError>,
}

/// Every study, in the order of `RESULTS.md`.
pub const ALL: &[Study] = &[
    Study { name: "two-direction", about: two_direction::ABOUT, run: two_direction::run },
    Study { name: "guarantees", about: guarantees::ABOUT, run: guarantees::run },
    Study { name: "fleet", about: fleet::ABOUT, run: fleet::run },
    Study { name: "fleet-real", about: fleet::ABOUT_REAL, run: fleet::run_real },
];

/// The study with a name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Study> {
    ALL.iter().find(|study| study.name == name)
}
