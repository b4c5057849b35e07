//! Settings that are compared, and those that everything is relative to.

use fable_core::settings::{OnChange, Scale};
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

/// What ships.
pub const SHIPPED: Candidate = Candidate { name: "as shipped", settings: Settings::DEFAULT };
/// What ships, with the other scale.
pub const OTHER_SCALE: Candidate = Candidate {
    name: "the same, fixed scale",
    settings: Settings { scale: Scale::Fixed, ..Settings::DEFAULT },
};
/// What ships, for users who change: half is forgotten every 20 rewards.
pub const FADING: Candidate = Candidate {
    name: "as shipped, half-life 20",
    settings: Settings { half_life: Some(20), ..Settings::DEFAULT },
};
/// What ships, starting anew when a change is noticed.
pub const RESETTING: Candidate = Candidate {
    name: "as shipped, reset on a change",
    settings: Settings { on_change: OnChange::Reset, ..Settings::DEFAULT },
};

impl Candidate {
    /// What ships with another prior precision and constant of optimism.
    #[must_use]
    pub const fn optimistic(name: &'static str, precision_per_feature: f64, c: f64) -> Self {
        let settings =
            Settings { precision_per_feature, exploration: Exploration::Optimistic(c), ..Settings::DEFAULT };
        Self { name, settings }
    }

    /// How many seeds of the draws there are to be looked at: of the one that counts where there are none.
    #[must_use]
    pub const fn seeds(&self, of_draws: usize) -> usize {
        if matches!(self.settings.exploration, Exploration::Optimistic(_)) { 1 } else { of_draws }
    }

    /// The draw with another prior precision and scale.
    #[must_use]
    pub const fn draw(name: &'static str, base_precision: f64, nu: f64) -> Self {
        Self {
            name,
            settings: Settings {
                base_precision: Some(base_precision),
                exploration: Exploration::Constant(nu),
                ..DRAW.settings
            },
        }
    }
}
