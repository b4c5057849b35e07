//! The settings that are numbers, one row each: names, ranges and texts.

#![expect(clippy::unreadable_literal, reason = "the texts say them as they stand here")]

use crate::numbers::Range;

/// The name, range and texts of a setting that is a number.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Setting {
    /// The name of the field, of the key in a file and, with dashes, of the flag.
    pub name: &'static str,
    /// Its range.
    pub range: Range,
    /// The range in words.
    pub bounds: &'static str,
    /// Its effect, with range and default, for people who set it.
    pub help: &'static str,
}

macro_rules! table {
    ($(
        $constant:ident = $name:literal, $least:literal to $most:literal, $about:literal, $rest:literal;
    )+) => {
        $(
            #[doc = concat!($about, ": from ", stringify!($least), " to ", stringify!($most), $rest)]
            pub const $constant: Setting = Setting {
                name: $name,
                range: Range { least: $least as f64, most: $most as f64 },
                bounds: concat!("from ", stringify!($least), " to ", stringify!($most)),
                help: concat!($about, ": from ", stringify!($least), " to ", stringify!($most), $rest),
            };
        )+

        /// The whole table.
        pub const ALL: &[Setting] = &[$($constant),+];
    };
}

table! {
    NOISE_VARIANCE = "noise_variance", 0.0001 to 10000,
        "How much rewards scatter, as a variance",
        ", default 0.25. Larger learns more slowly.";
    PRECISION_PER_FEATURE = "precision_per_feature", 0.00001 to 10000,
        "How sure the prior is that a user has no special preference, per active feature",
        ", default 4: a score is 0 with a standard deviation of 1/2.";
    BASE_PRECISION = "base_precision", 0.001 to 10000,
        "The same per coordinate, instead",
        ", default the precision per feature times the number of blocks.";
    COST_WEIGHT = "cost_weight", 0 to 10,
        "How much the costs of values weigh against rewards",
        ", default 1. May be changed at any time.";
    OPTIMISM = "optimism", 0 to 1000,
        "How boldly to explore: so many standard deviations are added to each action's expected reward",
        ", default 1.5. Two thirds of it count where a prior was fitted. May be changed at any time.";
    NU = "nu", 0.000001 to 1000,
        "Explores by chance instead: scores from a draw with this many times the standard deviation",
        ".";
    DELTA = "delta", 0.000000000001 to 0.5,
        "Explores by the schedule of the regret theorem instead, which may fail with this probability",
        ".";
    ALPHA = "alpha", 0.000000000001 to 0.5,
        "Probability with which any promoted preference may ever be wrong",
        ", default 0.05.";
    PRIOR_RADIUS = "prior_radius", 0 to 1000000,
        "How far a user may be from the prior, which promotions assume",
        ", default sqrt(base precision).";
    NOISE_PROXY = "noise_proxy", 0.0001 to 10000,
        "Bound on the noise of rewards, which promotions assume",
        ", default the noise variance; 1 always does.";
    PROBE = "probe", 0 to 1,
        "How often a fair coin tries a preference the other way, to be sure, for each part of an action",
        ", default 0. May be changed at any time.";
    MIN_EVIDENCE = "min_evidence", 1 to 1000000000,
        "Rewards that must bear on a contrast before it is promoted",
        ", default 10.";
    HALF_LIFE = "half_life", 1 to 65535,
        "After so many rewards half of what is known is forgotten, for users who change",
        ", default none.";
    EXPIRY = "expiry", -1 to 1,
        "What is learned when no reward came in time: nothing (the default), or a reward like \
         impute=-0.2",
        ".";
}
