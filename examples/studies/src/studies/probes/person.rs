//! Who reports: what is liked, how rewards scatter, and when they come.

use fable_core::catalog::ContextError;
use fable_core::{Action, Catalog, Context};
use fable_simulate::Random;

/// How the level of all rewards moves, whatever is played.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Level {
    /// It stays.
    Still,
    /// A wave of 0.3 over 150 rounds, and a jump of 0.4 somewhere in 1,000.
    Drifting,
    /// Beside a wave of 0.2, what is liked turns round and back in 400 rounds.
    Turning,
}

/// What is said.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Says {
    /// A number, with uniform noise of this standard deviation.
    Graded(f64),
    /// +1 or -1 with the same mean.
    Thumbs,
    /// A number: with noise of 0.55 around what is liked by 0, of 0.1 around everything else.
    Uneven,
}

/// When it is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answers {
    /// At once.
    AtOnce,
    /// The worse it was the later: up to 30 rounds.
    Late,
    /// Only what pleased.
    IfPleased,
}

/// A person with one liked value in some components.
#[derive(Clone, Debug)]
pub struct Person {
    pub catalog: &'static Catalog<'static>,
    /// Component, value, and by how much more it is liked than each other value.
    pub likes: Vec<(usize, u8, f64)>,
    /// Whether what is reported has the catalog's costs in it.
    pub costs: bool,
    pub level: Level,
    pub says: Says,
    pub answers: Answers,
    /// The round from which what was liked is disliked.
    pub turns: Option<u32>,
    pub number: u64,
}

/// The standard deviation of the issue.
pub const SD: f64 = 0.3;

impl Person {
    /// Somebody to whom everything is the same.
    pub const fn indifferent(catalog: &'static Catalog<'static>, number: u64) -> Self {
        let (level, says, answers) = (Level::Still, Says::Graded(SD), Answers::AtOnce);
        Self { catalog, likes: Vec::new(), costs: false, level, says, answers, turns: None, number }
    }

    /// Likes the second value of a component better than the others.
    pub fn liking(catalog: &'static Catalog<'static>, component: usize, effect: f64, number: u64) -> Self {
        Self { likes: vec![(component, 1, effect)], ..Self::indifferent(catalog, number) }
    }

    /// Where the person is asked: in one of the contexts that contrasts are declared for, all alike.
    pub fn context(&self, round: u32) -> Result<Context, ContextError> {
        let (contrasts, definition) = (self.catalog.contrasts(), self.catalog.definition());
        if definition.tasks.is_empty() && definition.signals.is_empty() {
            return Context::new(self.catalog, None, &[]);
        }
        let any = self.random(round, 1).below(contrasts.len());
        let Some(contrast) = contrasts.get(any) else { return Context::new(self.catalog, None, &[]) };
        Context::new(self.catalog, contrast.task.map(usize::from), contrast.signals)
    }

    fn random(&self, round: u32, purpose: u64) -> Random {
        Random::new([self.number, u64::from(round), purpose, 0x9e50])
    }

    /// The middle of what is reported.
    fn middle(&self, action: Action, round: u32) -> f64 {
        let mut start = (self.level != Level::Still).then(|| self.random(0, 2));
        let mut unit = || start.as_mut().map_or(0.0, Random::unit);
        let (phase, jump) = (unit(), (1_000.0 * unit()) as u32);
        let wave = |period: f64| libm::sin(core::f64::consts::TAU * (phase + f64::from(round) / period));
        let (level, turn) = match self.level {
            Level::Still => (0.0, 1.0),
            Level::Drifting => (0.3 * wave(150.0) + if round > jump { 0.2 } else { -0.2 }, 1.0),
            Level::Turning => (0.2 * wave(150.0), wave(400.0)),
        };
        let turned = if self.turns.is_some_and(|turns| round >= turns) { -turn } else { turn };
        let values = self.catalog.values(action).unwrap_or_default();
        let liked = |(component, value, effect): &(usize, u8, f64)| {
            if values.get(*component) == Some(value) { 0.5 * effect } else { -0.5 * effect }
        };
        let cost = if self.costs { self.catalog.cost(action) } else { 0.0 };
        level + turned * self.likes.iter().map(liked).sum::<f64>() - cost
    }

    /// Half the width of the noise.
    fn width(&self, action: Action) -> f64 {
        let values = self.catalog.values(action).unwrap_or_default();
        let sd = match self.says {
            Says::Graded(sd) => sd,
            Says::Thumbs => 0.0,
            Says::Uneven
                if self.likes.iter().any(|(component, value, _)| values.get(*component) == Some(value)) =>
            {
                0.55
            }
            Says::Uneven => 0.1,
        };
        sd * 1.732_050_807_568_877_2
    }

    /// The mean of what is reported, exactly: rewards end at -1 and 1.
    pub fn expected(&self, action: Action, round: u32) -> f64 {
        let area = |x: f64| if x.abs() <= 1.0 { x * x / 2.0 } else { x.abs() - 0.5 };
        let (middle, width) = (self.middle(action, round), self.width(action));
        if width > 0.0 {
            (area(middle + width) - area(middle - width)) / (2.0 * width)
        } else {
            middle.clamp(-1.0, 1.0)
        }
    }

    /// What is reported; the noise is the same whatever was played.
    pub fn reward(&self, action: Action, round: u32) -> f64 {
        let (middle, noise) = (self.middle(action, round), self.random(round, 3).unit());
        match self.says {
            Says::Thumbs => f64::from(u8::from(noise < f64::midpoint(1.0, middle))) * 2.0 - 1.0,
            Says::Graded(_) | Says::Uneven => {
                (middle + self.width(action) * (2.0 * noise - 1.0)).clamp(-1.0, 1.0)
            }
        }
    }

    /// After how many rounds a reward comes; `None` for never.
    pub fn delay(&self, reward: f64) -> Option<u32> {
        match self.answers {
            Answers::AtOnce => Some(0),
            Answers::Late => Some((15.0 * (1.0 - reward)) as u32),
            Answers::IfPleased => (reward > 0.0).then_some(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::{deviation, mean};
    use fable_core::catalog::TAU2;

    #[test]
    fn rewards_have_the_mean_and_the_spread_that_they_stand_for() {
        for says in [Says::Graded(SD), Says::Graded(0.5), Says::Thumbs, Says::Uneven] {
            for level in [Level::Still, Level::Drifting, Level::Turning] {
                let person = Person { says, level, costs: true, ..Person::liking(&TAU2, 1, 0.5, 7) };
                let action = Action(4); // verify
                let errors: Vec<f64> = (1..=40_000)
                    .map(|round| person.reward(action, round) - person.expected(action, round))
                    .collect();
                assert!(mean(&errors).abs() < 0.02, "{says:?} {level:?}: {}", mean(&errors));
                if (says, level) == (Says::Graded(SD), Level::Still) {
                    assert!((deviation(&errors) - SD).abs() < 0.01);
                }
            }
        }
    }
}
