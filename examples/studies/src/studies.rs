//! The list of the studies.

use crate::report::Report;
use crate::setup::{Setup, StudyError};

pub mod adapt;
mod cold_start;
mod defaults;
mod devices;
mod drift;
mod fleet;
mod guarantees;
mod overview;
mod pahf;
mod pahf_real;
mod pahf_shopping;
pub mod people;
mod preferences;
mod probes;
mod prompts;
mod proxy;
pub(crate) mod rubric;
pub(crate) mod tau2;
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
    Study { name: "overview", about: overview::ABOUT, run: overview::run },
    Study { name: "two-direction", about: two_direction::ABOUT, run: two_direction::run },
    Study { name: "two-direction-text", about: two_direction::reading::ABOUT, run: two_direction::reading::run },
    Study { name: "tau2", about: tau2::ABOUT, run: tau2::run },
    Study { name: "pahf", about: pahf::ABOUT, run: pahf::run },
    Study { name: "pahf-shopping", about: pahf_shopping::ABOUT, run: pahf_shopping::run },
    Study { name: "pahf-embodied", about: pahf_real::ABOUT, run: pahf_real::run },
    Study { name: "pahf-assistant", about: pahf_real::ABOUT_SHOPPING, run: pahf_real::run_shopping },
    Study { name: "rubric", about: rubric::ABOUT, run: rubric::run },
    Study { name: "prompts", about: prompts::ABOUT, run: prompts::run },
    Study { name: "defaults", about: defaults::ABOUT, run: defaults::run },
    Study { name: "adapt", about: adapt::ABOUT, run: adapt::run },
    Study { name: "drift", about: drift::ABOUT, run: drift::run },
    Study { name: "cold-start", about: cold_start::ABOUT, run: cold_start::run },
    Study { name: "devices", about: devices::ABOUT, run: devices::run },
    Study { name: "people", about: people::ABOUT, run: people::run },
    Study { name: "preferences", about: preferences::ABOUT, run: preferences::run },
    Study { name: "proxy", about: proxy::ABOUT, run: proxy::run },
    Study { name: "probes", about: probes::ABOUT, run: probes::run },
    Study { name: "guarantees", about: guarantees::ABOUT, run: guarantees::run },
    Study { name: "fleet", about: fleet::ABOUT, run: fleet::run },
    Study { name: "fleet-real", about: fleet::ABOUT_REAL, run: fleet::run_real },
];

/// The study with a name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Study> {
    ALL.iter().find(|study| study.name == name)
}
