//! Probes: what fair coins certify, how soon, how often wrongly, and what they cost.

mod change;
mod coins;
mod crowd;
mod effects;
mod host;
mod life;
mod null;
mod person;
mod stopping;

use crate::report::Report;
use crate::setup::{Setup, StudyError};

/// The line in the list of studies.
pub const ABOUT: &str =
    "fair coins: false certificates, rounds to a certificate, what it costs, against two other rules";

/// Runs the study.
pub fn run(setup: &Setup) -> Result<Report, StudyError> {
    let mut report = Report::new("fair coins between two values, and what they certify");
    report.goals_set("2026-11-17");
    null::certificates(setup, &mut report)?;
    null::intervals(setup, &mut report)?;
    effects::time_and_cost(setup, &mut report)?;
    effects::ellipsoid(setup, &mut report)?;
    change::coins(setup, &mut report)?;
    effects::rates(setup, &mut report)?;
    crowd::regret(setup, &mut report)?;
    host::study(setup, &mut report)?;
    change::study(setup, &mut report)?;
    Ok(report)
}
