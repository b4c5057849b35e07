//! The profile: a bounded list of promoted preferences, each with its provenance, and the sentences a host's prompt gets.
//!
//! A declared contrast is promoted when its coins or its [`Assessment`] say so; the learner then remembers which of the two, when, on
//! what interval and on how much evidence. Later it stands, is `doubtful` (its interval covers zero again) or `revoked` (its
//! interval lies on the other side, or its certificate was withdrawn; promoting that side replaces it). Promotion changes what an
//! assistant is told, never the posterior.
//!
//! ```
//! use fable_core::catalog::rubric::Level::{Five, One, Three};
//! use fable_core::catalog::{RUBRIC, rubric};
//! use fable_core::preference::{Standing, Verdict};
//! use fable_core::{HostUser, Policy, Settings};
//!
//! let policy = Policy::<f64>::new(&RUBRIC, Settings { base_precision: Some(1.0), ..Settings::PAPER })?;
//! let mut ana = HostUser::<f64>::new(&policy, "ana")?;
//! let mut user = ana.user();
//! let context = RUBRIC.context(None, [])?;
//! for _ in 0..100 {
//!     user.observe(&context, rubric::action([Five, Three, Three]), 0.9)?;
//!     user.observe(&context, rubric::action([One, Three, Three]), -0.9)?;
//! }
//! user.promote(0)?;
//!
//! let first = user.profile()[0];
//! assert_eq!((RUBRIC.contrasts()[usize::from(first.contrast)].name, first.verdict), ("rigor_5_over_1", Verdict::For));
//! assert_eq!(user.standing(&first)?, Standing::Holds);
//! let mut prompt = String::new();
//! user.write_profile(&mut prompt)?;
//! assert!(prompt.starts_with("The user prefers rigor=level_5 to rigor=level_1."));
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

use super::assess::{Assessment, Comparison, Verdict};
use crate::catalog::Catalog;
use core::fmt;

/// A promoted preference and where it comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Promotion {
    /// Position of the contrast in the catalog.
    pub contrast: u8,
    /// Which side was promoted.
    pub verdict: Verdict,
    /// Whether the guarantee held then.
    pub valid: bool,
    /// Which rule made it certain.
    pub by: Certifier,
    /// Decisions made by then.
    pub round: u32,
    /// The caller's time.
    pub time: u32,
    /// Evidence by then: rewards that bear on it, or coins.
    pub evidence: u32,
    /// Lower end of the interval then: of the residual difference, or of the average difference over the coins.
    pub lower: f32,
    /// Upper end of the interval then.
    pub upper: f32,
}

/// What made a preference certain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Certifier {
    /// The paper's rule: an [interval](super::Assessment) of the model, of what the user likes better than was known before.
    Ellipsoid,
    /// Fair coins: a [trial](super::Trial), of what the user reports in all. It needs no model.
    Probes,
}

/// What has become of a promoted preference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Standing {
    /// Its interval still lies on its side of zero, or its coins still speak for it.
    Holds,
    /// Its interval covers zero again.
    Doubtful,
    /// Its interval lies on the other side, or its certificate was withdrawn.
    Revoked,
}

impl Promotion {
    /// What an assessment of the same contrast says about this promotion, if it is one of the ellipsoid.
    #[must_use]
    #[inline]
    pub(super) fn assessed(&self, assessment: &Assessment) -> Standing {
        match self.verdict {
            Verdict::For if assessment.lower > 0.0 => Standing::Holds,
            Verdict::Against if assessment.upper < 0.0 => Standing::Holds,
            Verdict::For if assessment.upper < 0.0 => Standing::Revoked,
            Verdict::Against if assessment.lower > 0.0 => Standing::Revoked,
            _ => Standing::Doubtful,
        }
    }

    /// Writes the preference as a sentence: the catalog's own, or one made of its names.
    ///
    /// # Errors
    /// Only what the writer returns; a contrast that the catalog does not have writes nothing.
    pub fn write_sentence(&self, catalog: &Catalog<'_>, out: &mut impl fmt::Write) -> fmt::Result {
        let Some(contrast) = catalog.contrasts().get(usize::from(self.contrast)) else { return Ok(()) };
        let (own, better, worse) = match self.verdict {
            Verdict::For => (contrast.positive, contrast.prefer, contrast.over),
            Verdict::Against => (contrast.negative, contrast.over, contrast.prefer),
            Verdict::Open => return Ok(()),
        };
        if !own.is_empty() {
            return out.write_str(own);
        }
        let Some(component) =
            contrast.component().and_then(|index| Some((index, catalog.definition().components.get(index)?)))
        else {
            return Ok(());
        };
        let (index, component) = component;
        let value =
            |values: &[u8]| values.get(index).and_then(|value| component.values.get(usize::from(*value)));
        let (Some(better), Some(worse)) = (value(better), value(worse)) else { return Ok(()) };
        let task = contrast.task.and_then(|task| catalog.definition().tasks.get(usize::from(task)));
        if let Some(task) = task {
            write!(out, "For {task} the user prefers ")?;
        } else {
            out.write_str("The user prefers ")?;
        }
        write!(out, "{0}={1} to {0}={2}.", component.name, better.name, worse.name)
    }
}

impl Comparison {
    /// The contrast of a promotion.
    #[inline]
    pub(crate) fn promoted(catalog: &Catalog<'_>, promotion: &Promotion) -> Option<Self> {
        Self::declared(catalog, usize::from(promotion.contrast))
    }
}
