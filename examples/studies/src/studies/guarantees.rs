//! The theorems against what happens: regret, promotions, identifiability, and the smaller dictionary.

#[cfg(test)]
mod dense;
mod formulas;
mod horizon;
mod promotions;
mod reach;
mod regret;
mod user;

use crate::report::Report;
use crate::setup::{Setup, StudyError};

pub const ABOUT: &str =
    "regret, promotions, identifiability and the smaller dictionary, beside what the theorems say";

/// Runs the study.
pub fn run(setup: &Setup) -> Result<Report, StudyError> {
    let mut report = Report::new("the theorems against what happens");
    regret::study(setup, &mut report)?;
    promotions::wrong(setup, &mut report)?;
    promotions::time(setup, &mut report)?;
    reach::study(setup, &mut report)?;
    horizon::study(setup, &mut report)?;
    Ok(report)
}
