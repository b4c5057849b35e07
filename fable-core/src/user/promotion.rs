//! The profile: a bounded list of promoted preferences with their provenance, and their sentences for a
//! host's prompt.
//!
//! A declared contrast is promoted when its probes or its [`Assessment`] make it certain. The profile keeps
//! which of the two, the time, the interval and the evidence.
//!
//! Later a promotion is `doubtful` when its interval covers zero again. It is `revoked` when its interval
//! lies on the other side, or its certificate was withdrawn. A promotion of the other side replaces it.
//! Promotion changes what an assistant is told, never the posterior.
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
//! assert_eq!(RUBRIC.contrasts()[usize::from(first.contrast)].name, "rigor_5_over_1");
//! assert_eq!(first.verdict, Verdict::For);
//! assert_eq!(user.standing(&first)?, Standing::Holds);
//! let mut prompt = String::new();
//! user.write_profile(&mut prompt)?;
//! assert!(prompt.starts_with("The user prefers rigor=level_5 to rigor=level_1."));
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

use super::assess::{Assessment, Comparison, Verdict};
use crate::catalog::Catalog;
use core::fmt;

/// A promoted preference with its provenance.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Promotion {
    /// Position of the contrast in the catalog.
    pub contrast: u8,
    /// The promoted side.
    pub verdict: Verdict,
    /// The guarantee held at the promotion.
    pub valid: bool,
    /// The rule that made it certain.
    pub by: Certifier,
    /// Number of decisions before the promotion.
    pub round: u32,
    /// The caller's time.
    pub time: u32,
    /// Evidence at the promotion: rewards of actions with either value, or trials.
    pub evidence: u32,
    /// Lower end of the interval at the promotion: of the residual difference, or of the average difference
    /// over the trials.
    pub lower: f32,
    /// Upper end of the interval at the promotion.
    pub upper: f32,
}

/// The rule that made a preference certain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Certifier {
    /// The paper's rule: an [interval](super::Assessment) of the residual, that is of the difference to the
    /// reference score.
    Ellipsoid,
    /// Probes: a [trial](super::Trial) of the whole reward. It needs no model.
    Probes,
}

/// The present standing of a promotion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Standing {
    /// Its interval lies on its side of zero, or its certificate stands.
    Holds,
    /// Its interval covers zero again.
    Doubtful,
    /// Its interval lies on the other side, or its certificate was withdrawn.
    Revoked,
}

impl Promotion {
    /// The standing of a promotion by the ellipsoid, from an assessment of its contrast.
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
        let own = match self.verdict {
            Verdict::For => contrast.positive,
            Verdict::Against => contrast.negative,
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
        let (Some(prefer), Some(over)) = (value(contrast.prefer), value(contrast.over)) else {
            return Ok(());
        };
        let (better, worse) = if self.verdict == Verdict::For { (prefer, over) } else { (over, prefer) };
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
