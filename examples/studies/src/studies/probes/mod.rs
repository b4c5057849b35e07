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
pub const ABOUT: &str = "fair coins: false certificates, rounds to a certificate, what it costs, against two other rules";

/// Runs the study.
pub fn run(setup: &Setup) -> Result<Report, StudyError> {
    let mut report = Report::new("fair coins between two values, and what they certify");
    let parts: [fn(&Setup, &mut Report) -> Result<(), StudyError>; 9] = [
        null::certificates,
        null::intervals,
        effects::time_and_cost,
        effects::ellipsoid,
        change::coins,
        effects::rates,
        crowd::regret,
        host::study,
        change::study,
    ];
    for part in parts {
        part(setup, &mut report)?;
    }
    Ok(report)
}
