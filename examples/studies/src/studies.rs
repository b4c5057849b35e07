//! The list of the studies.

use crate::report::Report;
use crate::setup::{Setup, StudyError};

pub mod adapt;
mod cold_start;
mod defaults;
mod devices;
mod drift;
mod fleet;
mod guarantees;
mod overview;
mod pahf;
mod pahf_real;
mod pahf_shopping;
pub mod people;
mod preferences;
mod probes;
mod prompts;
mod proxy;
pub(crate) mod rubric;
pub(crate) mod tau2;
mod two_direction;

/// A study: its name on the command line, its summaries, and its function.
#[derive(Clone, Copy, Debug)]
pub struct Study {
    /// As on the command line and in the names of files.
    pub name: &'static str,
    /// One line, for the list on the command line.
    pub about: &'static str,
    /// One or two plain sentences, for `RESULTS.md`.
    pub summary: &'static str,
    /// Runs it.
    pub run: fn(&Setup) -> Result<Report, StudyError>,
}

/// Every study, in the order of `RESULTS.md`.
pub const ALL: &[Study] = &[
    Study {
        name: "overview",
        about: overview::ABOUT,
        summary: "Simulated users of the catalog `agent` send 60 requests each. The study compares the mean reward of \
                  Fable with four simpler policies and with the best possible one.",
        run: overview::run,
    },
    Study {
        name: "two-direction",
        about: two_direction::ABOUT,
        summary: "The paper's 20 prompts: web search is right for ten of them, no tool for the other ten. A learner is \
                  compared with a frozen copy of itself.",
        run: two_direction::run,
    },
    Study {
        name: "two-direction-text",
        about: two_direction::reading::ABOUT,
        summary: "The same prompts, with contexts that the rules of `fable-text` read from their words. The study \
                  needs the paper's source.",
        run: two_direction::reading::run,
    },
    Study {
        name: "tau2",
        about: tau2::ABOUT,
        summary: "Customer service in four domains, with two user profiles and the paper's policies. The host is \
                  simulated from recorded runs of tau2-bench.",
        run: tau2::run,
    },
    Study {
        name: "pahf",
        about: pahf::ABOUT,
        summary: "20 simulated personas in the paper's two environments, an office kitchen and an online shop, with \
                  180 actions. Rewards come from outcomes or from tastes.",
        run: pahf::run,
    },
    Study {
        name: "pahf-shopping",
        about: pahf_shopping::ABOUT,
        summary: "20 shoppers of the PAHF files choose one of three products or none. Their tastes change halfway.",
        run: pahf_shopping::run,
    },
    Study {
        name: "pahf-embodied",
        about: pahf_real::ABOUT,
        summary: "40 personas of the PAHF kitchen files, whose preferences change halfway. A host with fixed rules \
                  carries out all 180 actions of the catalog `agent`.",
        run: pahf_real::run,
    },
    Study {
        name: "pahf-assistant",
        about: pahf_real::ABOUT_SHOPPING,
        summary: "The shoppers of the PAHF files again, now with the 180 actions of an assistant. A host with fixed \
                  rules carries them out.",
        run: pahf_real::run_shopping,
    },
    Study {
        name: "rubric",
        about: rubric::ABOUT,
        summary: "27 ways to explain the problems of Math500 to one synthetic user. Answers, judge and default scores \
                  are simulated.",
        run: rubric::run,
    },
    Study {
        name: "prompts",
        about: prompts::ABOUT,
        summary: "Recorded answers of gpt-35-turbo to ten exams under four prompt styles. The learner has to find the \
                  best style for each exam.",
        run: prompts::run,
    },
    Study {
        name: "defaults",
        about: defaults::ABOUT,
        summary: "A sweep over 25 pairs of precision and exploration, on simulated users, recorded answers and people. \
                  The settings that ship are compared with the best pair.",
        run: defaults::run,
    },
    Study {
        name: "adapt",
        about: adapt::ABOUT,
        summary: "Settings for exploration and forgetting, on cold starts, thumbs up or down, and tastes that change. \
                  Users are simulated, except for the shoppers of PAHF.",
        run: adapt::run,
    },
    Study {
        name: "drift",
        about: drift::ABOUT,
        summary: "Simulated users whose tastes change at once, in one component, slowly, or back and forth. The study \
                  measures the gain and the cost of forgetting.",
        run: drift::run,
    },
    Study {
        name: "cold-start",
        about: cold_start::ABOUT,
        summary: "The first 60 requests after onboarding on `agent`. Statements are right, wrong or absent; in some \
                  rows SPCA reduces the dictionary.",
        run: cold_start::run,
    },
    Study {
        name: "devices",
        about: devices::ABOUT,
        summary: "One user with three devices that learn apart and merge their journals. They are compared with one \
                  learner that sees all requests.",
        run: devices::run,
    },
    Study {
        name: "people",
        about: people::ABOUT,
        summary: "265 people who chose cameras and 190 who rated computers. The study compares settings, with the base \
                  prior and with a prior fitted to other people.",
        run: people::run,
    },
    Study {
        name: "preferences",
        about: preferences::ABOUT,
        summary: "The people of the study `people`. Fable is compared with one rule for all of them, which is the mean \
                  of the fitted prior and never learns.",
        run: preferences::run,
    },
    Study {
        name: "proxy",
        about: proxy::ABOUT,
        summary: "100 simulated users talk through `fable proxy` to a simulated assistant, over HTTP. Rewards come \
                  from their words or from reported thumbs.",
        run: proxy::run,
    },
    Study {
        name: "probes",
        about: probes::ABOUT,
        summary: "Randomized probes between two values of a component, and certificates of a difference. The study \
                  measures false certificates, rounds to a certificate, and lost reward.",
        run: probes::run,
    },
    Study {
        name: "guarantees",
        about: guarantees::ABOUT,
        summary: "The paper's theorems beside simulations: regret, promotions, identifiability, and the smaller \
                  dictionary.",
        run: guarantees::run,
    },
    Study {
        name: "fleet",
        about: fleet::ABOUT,
        summary: "A prior fitted to the journals of many simulated users. The study measures the regret of new users \
                  in their first 30 rounds.",
        run: fleet::run,
    },
    Study {
        name: "fleet-real",
        about: fleet::ABOUT_REAL,
        summary: "The same with published data: each of 20 shoppers, and each of ten exams, is the new user once.",
        run: fleet::run_real,
    },
];

/// The study with a name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Study> {
    ALL.iter().find(|study| study.name == name)
}
