//! The simulated host and customer: how long an answer gets, whether the customer likes that, whether the task succeeds.
//!
//! [`Host::STATED`] is the host of an earlier version of this study, made up before its first run: the success rates are the
//! paper's host row by domain, and its own length was set so that its alignment is the paper's 0.435. The hosts of today's
//! study have their numbers from recorded runs (`bench.rs`); how an alignment follows from words is the same.

use crate::draw::{chance, normal};
use fable_core::Action;
use fable_core::catalog::tau2::{Memory, Style, Tool, parts};
use fable_simulate::Random;

/// The domains and the host's task success in each, from the paper.
pub const DOMAINS: [(&str, f64); 4] =
    [("Airline", 0.850), ("Retail", 0.883), ("Telecom", 0.483), ("Banking Knowledge", 0.217)];

/// What a customer likes to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// Brief answers, the outcome first.
    Efficient,
    /// An explanation, but no essay.
    Guided,
}

pub const PROFILES: [Profile; 2] = [Profile::Efficient, Profile::Guided];

impl Profile {
    /// The style that the profile asks for, and its opposite.
    pub const fn styles(self) -> (Style, Style) {
        match self {
            Self::Efficient => (Style::Concise, Style::Guided),
            Self::Guided => (Style::Guided, Style::Concise),
        }
    }

    /// A, from the number of words. Efficient: 1 up to 40 words, 0 from 140. Guided: 0 up to 60, 1 from 160 to 240, 0 from 400.
    pub fn alignment(self, words: f64) -> f64 {
        match self {
            Self::Efficient => ((140.0 - words) / 100.0).clamp(0.0, 1.0),
            Self::Guided => ((words - 60.0) / 100.0).min((400.0 - words) / 160.0).clamp(0.0, 1.0),
        }
    }
}

/// The numbers of the host in a domain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Host {
    /// The median length of an answer of the host alone.
    pub own: f64,
    /// The median length under each style, in the order of the catalog.
    pub styles: [f64; 3],
    /// What verifying and what considering the conversation multiply the length with.
    pub careful: f64,
    /// How far a style moves the length of an answer: 1 as stated, 0 not at all.
    pub verbosity: f64,
    /// Standard deviation of the logarithm of the length.
    pub spread: f64,
    /// What a promoted sentence about style multiplies the length with, or divides it by.
    pub sentence: f64,
    /// The share of failures that verifying prevents.
    pub verify: f64,
    /// Whether tasks can fail.
    pub failing: bool,
    /// Whether success is drawn; otherwise it is its probability.
    pub luck: bool,
    /// The share of alignment in the reward; success has the rest.
    pub share: f64,
}

impl Host {
    pub const STATED: Self = Self {
        own: 130.0,
        styles: [90.0, 60.0, 140.0],
        careful: 1.1,
        verbosity: 1.0,
        spread: 0.35,
        sentence: 1.1,
        verify: 0.0,
        failing: true,
        luck: true,
        share: 0.25,
    };
}

/// What the host is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// Nothing.
    Nothing,
    /// What the customer likes, by whoever knows it.
    Preference(Profile),
    /// An action, and by how many promoted sentences longer answers are wanted (negative: shorter).
    Action(Action, i32),
}

/// A task: some are decided, solved always or never; the others succeed at the domain's rate each time.
#[derive(Clone, Copy, Debug)]
pub struct Task {
    pub rate: f64,
    pub decided: Option<bool>,
    /// The logarithm of how much longer answers get than usual.
    pub words: f64,
}

impl Task {
    /// A task of a domain with this rate, in an earlier version of this study: half of them are decided.
    pub fn draw(random: &mut Random, rate: f64) -> Self {
        let (decided, solved) = (chance(random, 0.5), chance(random, rate));
        Self { rate, decided: decided.then_some(solved), words: 0.0 }
    }
}

/// What came of an episode.
#[derive(Clone, Copy, Debug, Default)]
pub struct Episode {
    pub success: f64,
    pub alignment: f64,
    pub cost: f64,
    /// The share of alignment in the reward.
    pub share: f64,
}

impl Episode {
    /// clip(2 [(1 - share) R + share A] - 1 - weight c), the paper's signal with the share 0.25 and the weight 0.2.
    pub fn signal(&self, weight: f64) -> f64 {
        (2.0 * ((1.0 - self.share) * self.success + self.share * self.alignment) - 1.0 - weight * self.cost)
            .clamp(-1.0, 1.0)
    }

    /// U, the personalized reward.
    pub fn utility(&self) -> f64 {
        f64::midpoint(self.signal(0.2), 1.0)
    }
}

impl Host {
    /// The median length of an answer.
    fn words(&self, told: Told) -> f64 {
        let styled = |style: Style| {
            let words = self.styles.get(usize::from(style.index())).copied().unwrap_or(self.own);
            self.own * libm::pow(words / self.own, self.verbosity)
        };
        match told {
            Told::Nothing => self.own,
            Told::Preference(profile) => styled(profile.styles().0),
            Told::Action(action, longer) => parts(action).map_or(self.own, |(memory, tool, style)| {
                let checked = if tool == Tool::Verify { self.careful } else { 1.0 };
                let recalled = if memory == Memory::Conversation { self.careful } else { 1.0 };
                styled(style) * checked * recalled * libm::pow(self.sentence, f64::from(longer))
            }),
        }
    }

    /// The probability of success.
    pub fn success(&self, task: &Task, told: Told) -> f64 {
        let verified = matches!(told, Told::Action(action, _) if parts(action).is_some_and(|(_, tool, _)| tool == Tool::Verify));
        let rate = task.decided.map_or(task.rate, |solved| f64::from(u8::from(solved)));
        if !self.failing {
            return 1.0;
        }
        if verified { rate + (1.0 - rate) * self.verify } else { rate }
    }

    /// One episode.
    pub fn serve(
        &self,
        task: &Task,
        profile: Profile,
        told: Told,
        cost: f64,
        random: &mut Random,
    ) -> Episode {
        let probability = self.success(task, told);
        let drawn = f64::from(u8::from(chance(random, probability)));
        let words = self.words(told) * libm::exp(task.words) * libm::exp(self.spread * normal(random));
        let success = if self.luck { drawn } else { probability };
        Episode { success, alignment: profile.alignment(words), cost, share: self.share }
    }

    /// The mean alignment in a usual task.
    pub fn expected_alignment(&self, profile: Profile, told: Told) -> f64 {
        self.alignment_in(0.0, profile, told)
    }

    /// The mean alignment in a task with longer or shorter answers, by quadrature over the length.
    fn alignment_in(&self, longer: f64, profile: Profile, told: Told) -> f64 {
        let (mut sum, mut weights) = (0.0, 0.0);
        let usual = self.words(told) * libm::exp(longer);
        for step in -40..=40 {
            let z = f64::from(step) / 10.0;
            let weight = libm::exp(-z * z / 2.0);
            sum += weight * profile.alignment(usual * libm::exp(self.spread * z));
            weights += weight;
        }
        sum / weights
    }

    /// What an action is worth to a profile in a task.
    pub fn expected(&self, task: &Task, profile: Profile, action: Action, cost: f64) -> f64 {
        let told = Told::Action(action, 0);
        let (success, alignment) = (self.success(task, told), self.alignment_in(task.words, profile, told));
        2.0 * ((1.0 - self.share) * success + self.share * alignment) - 0.2 * cost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::mean;

    #[test]
    fn the_signal_is_the_papers() {
        let episode = Episode { success: 1.0, alignment: 0.6, cost: 0.1, share: 0.25 };
        assert!((episode.signal(0.2) - (2.0 * (0.75 + 0.15) - 1.0 - 0.02)).abs() < 1e-15);
        assert!((episode.utility() - f64::midpoint(episode.signal(0.2), 1.0)).abs() < 1e-15);
        assert_eq!(Episode::default().signal(0.2), -1.0);
    }

    #[test]
    fn the_host_alone_has_the_papers_alignment_and_success() {
        let both = PROFILES.map(|profile| Host::STATED.expected_alignment(profile, Told::Nothing));
        assert!((mean(&both) - 0.435).abs() < 0.01, "{both:?}");
        for (name, rate) in DOMAINS {
            let mut random = Random::new([1, 2, 3, 4]);
            let serve = |random: &mut Random| {
                let task = Task::draw(random, rate);
                Host::STATED.serve(&task, Profile::Guided, Told::Nothing, 0.0, random)
            };
            let episodes: Vec<Episode> = (0..20_000).map(|_| serve(&mut random)).collect();
            let average = |of: fn(&Episode) -> f64| mean(&episodes.iter().map(of).collect::<Vec<_>>());
            assert!((average(|episode| episode.success) - rate).abs() < 0.015, "{name}");
            assert!((average(|episode| episode.alignment) - both[1]).abs() < 0.01, "{name}");
        }
    }
}
