//! How soon and how well a learner adapts: cold starts, thumbs, tastes that change. Every way of exploring and forgetting is a
//! row of [`CANDIDATES`]; one is chosen on half of the users and reported on the other half.

pub mod demo;
pub mod simulated;

use super::pahf_shopping;
use crate::setup::{Setup, StudyError};
use fable_core::Settings;

/// The quality of the four phases of `pahf-shopping` under several settings.
///
/// # Errors
/// The data is missing or cannot be read.
pub fn shopping(setup: &Setup, settings: &[Settings<'static>], seeds: usize) -> Result<Vec<[f64; 4]>, StudyError> {
    pahf_shopping::phases(setup, settings, seeds)
}
