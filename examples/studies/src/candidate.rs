//! Settings that are compared, and those that everything is relative to.

use fable_core::{Exploration, Settings};

/// Settings with a name.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// As in tables.
    pub name: &'static str,
    /// The settings.
    pub settings: Settings<'static>,
}

/// A draw of scale 0.3 from an isotropic prior of precision 16: the defaults before there was anything else, and what every
/// comparison is relative to.
pub const DRAW: Candidate = Candidate { name: "draw, precision 16, nu = 0.3", settings: Settings::PAPER };

impl Candidate {
    /// The draw with another prior precision and scale.
    #[must_use]
    pub const fn draw(name: &'static str, base_precision: f64, nu: f64) -> Self {
        Self {
            name,
            settings: Settings { base_precision: Some(base_precision), exploration: Exploration::Constant(nu), ..DRAW.settings },
        }
    }
}
