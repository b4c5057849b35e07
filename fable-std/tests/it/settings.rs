//! Learner settings from flags and from files: the same names, the same meaning, and mistakes with their place.

use clap::{CommandFactory, Parser};
use fable_core::catalog::{AGENT, BlockSet, TAU2};
use fable_core::settings::{Deadline, Expiry};
use fable_core::settings::{OnChange, Scale};
use fable_core::{Exploration, Settings};
use fable_std::settings::{SettingsArguments, write};
use std::path::PathBuf;

#[derive(Parser)]
struct Command {
    #[command(flatten)]
    settings: SettingsArguments,
}

fn flags(arguments: &[&str]) -> SettingsArguments {
    Command::try_parse_from([&["command"], arguments].concat())
        .map_err(|error| error.to_string())
        .unwrap()
        .settings
}

/// A folder with files; what is told about them leaves the folder out.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// The settings of a file of `--settings` with this text.
    fn told(&self, text: &str) -> Result<Settings<'static>, String> {
        let file = self.file("s.toml", text);
        let flags = flags(&["--settings", file.to_str().unwrap()]);
        let folder = format!("{}{}", self.0.path().display(), std::path::MAIN_SEPARATOR);
        flags.resolve("agent", &AGENT).map_err(|error| error.to_string().replace(&folder, ""))
    }
}

/// Flag, its value, the same in TOML, and the setting that it makes.
fn table() -> [(&'static str, &'static str, &'static str, Settings<'static>); 25] {
    let base = Settings::DEFAULT;
    let mains = BlockSet::from_bits(0b1111);
    [
        ("--noise-variance", "0.5", "0.5", Settings { noise_variance: 0.5, ..base }),
        ("--precision-per-feature", "2", "2", Settings { precision_per_feature: 2.0, ..base }),
        ("--base-precision", "4", "4", Settings { base_precision: Some(4.0), ..base }),
        ("--cost-weight", "0", "0", Settings { cost_weight: 0.0, ..base }),
        ("--optimism", "0", "0", Settings { exploration: Exploration::Optimistic(0.0), ..base }),
        ("--nu", "1e-3", "1e-3", Settings { exploration: Exploration::Constant(0.001), ..base }),
        ("--delta", "0.1", "0.1", Settings { exploration: Exploration::Theorem { delta: 0.1 }, ..base }),
        ("--scale", "fixed", "\"fixed\"", Settings { scale: Scale::Fixed, ..base }),
        ("--half-life", "200", "200", Settings { half_life: Some(200), ..base }),
        ("--on-change", "tell", "\"tell\"", Settings { on_change: OnChange::Tell, ..base }),
        ("--on-change", "halve", "\"halve\"", Settings { on_change: OnChange::Halve, ..base }),
        ("--on-change", "reset", "\"reset\"", Settings { on_change: OnChange::Reset, ..base }),
        ("--alpha", "0.01", "0.01", Settings { alpha: 0.01, ..base }),
        ("--prior-radius", "2", "2", Settings { prior_radius: Some(2.0), ..base }),
        ("--noise-proxy", "1", "1", Settings { noise_proxy: Some(1.0), ..base }),
        ("--probe", "0.5", "0.5", Settings { probe: 0.5, ..base }),
        ("--min-evidence", "30", "30", Settings { min_evidence: 30, ..base }),
        ("--deadline", "rounds=20", "\"rounds=20\"", Settings { deadline: Deadline::Rounds(20), ..base }),
        ("--deadline", "time=3600", "\"time=3600\"", Settings { deadline: Deadline::Time(3600), ..base }),
        ("--expiry", "impute=-0.2", "\"impute=-0.2\"", Settings { expiry: Expiry::Impute(-0.2), ..base }),
        (
            "--retained",
            "memory,tool,style,task*style",
            "[\"memory\", \"tool\", \"style\", \"task*style\"]",
            Settings { retained: mains, ..base },
        ),
        ("--seed", "18446744073709551615", "18446744073709551615", Settings { seed: u64::MAX, ..base }),
        ("--site", "4294967295", "4294967295", Settings { site: u32::MAX, ..base }),
        ("--context-adapter", "mine-2", "\"mine-2\"", Settings { context_adapter: "mine-2", ..base }),
        ("--feedback-adapter", "stars", "\"stars\"", Settings { feedback_adapter: "stars", ..base }),
    ]
}

#[test]
fn every_setting_is_a_flag_and_a_key_and_can_be_written() {
    let folder = Folder::new();
    for (flag, value, toml, expected) in table() {
        assert_eq!(flags(&[flag, value]).resolve("agent", &AGENT).unwrap(), expected, "{flag}");
        let key = flag.trim_start_matches('-').replace('-', "_");
        assert_eq!(folder.told(&format!("[settings]\n{key} = {toml}\n")), Ok(expected), "{key}");
        assert_eq!(folder.told(&write(&expected, &AGENT)), Ok(expected), "{key}");
    }
    let known: Vec<String> =
        Command::command().get_arguments().map(|flag| flag.get_id().to_string()).collect();
    for key in known.iter().filter(|key| *key != "settings") {
        let flag = format!("--{}", key.replace('_', "-"));
        assert!(table().iter().any(|(tested, ..)| *tested == flag), "{flag} is not tested");
    }
    assert_eq!(folder.told("[settings]\n"), Ok(Settings::DEFAULT));
    let back = [
        "--deadline",
        "none",
        "--expiry",
        "nothing",
        "--half-life",
        "none",
        "--scale",
        "learned",
        "--on-change",
        "tell",
    ];
    assert_eq!(flags(&back).resolve("agent", &AGENT).unwrap(), Settings::DEFAULT);
}

#[test]
fn flags_win_over_the_file_which_wins_over_the_catalogs_own() {
    let folder = Folder::new();
    let own = "[settings]\nnoise_variance = 0.5\nbase_precision = 8\ncost_weight = 0.5\ndelta = 0.25\nretained = [\"style\"]\n";
    let catalog = folder.file("catalog.toml", &format!("{}{own}", fable_std::catalogs::write(&TAU2)));
    let catalog = catalog.to_str().unwrap();
    let opened = fable_std::catalogs::open(catalog).unwrap();
    assert_eq!(opened.definition(), TAU2.definition());
    let own = Settings {
        noise_variance: 0.5,
        base_precision: Some(8.0),
        cost_weight: 0.5,
        exploration: Exploration::Theorem { delta: 0.25 },
        retained: BlockSet::from_bits(0b100),
        ..Settings::DEFAULT
    };
    assert_eq!(flags(&[]).resolve(catalog, opened).unwrap(), own);

    let file = folder.file("settings.toml", "[settings]\nbase_precision = 9\ncost_weight = 0.6\nnu = 0.1\n");
    let file = file.to_str().unwrap();
    let both = Settings {
        base_precision: Some(9.0),
        cost_weight: 0.6,
        exploration: Exploration::Constant(0.1),
        ..own
    };
    assert_eq!(flags(&["--settings", file]).resolve(catalog, opened).unwrap(), both);

    let all = ["--settings", file, "--cost-weight", "0.7", "--delta", "0.5", "--retained", "tool"];
    let flagged = Settings {
        cost_weight: 0.7,
        exploration: Exploration::Theorem { delta: 0.5 },
        retained: BlockSet::from_bits(0b010),
        ..both
    };
    assert_eq!(flags(&all).resolve(catalog, opened).unwrap(), flagged);

    // The one precision replaces the other, and so do the ways to explore.
    let per_feature = Settings {
        precision_per_feature: 2.0,
        base_precision: None,
        exploration: Exploration::Optimistic(1.0),
        ..own
    };
    let given = flags(&["--precision-per-feature", "2", "--optimism", "1"]);
    assert_eq!(given.resolve(catalog, opened).unwrap(), per_feature);
    let file = folder.file("per_feature.toml", "[settings]\nprecision_per_feature = 2\n");
    let given = flags(&["--settings", file.to_str().unwrap(), "--base-precision", "3"])
        .resolve(catalog, opened)
        .unwrap();
    assert_eq!(given, Settings { precision_per_feature: 2.0, base_precision: Some(3.0), ..own });
}

#[test]
fn a_flag_out_of_range_is_named() {
    let told = |arguments: &[&str]| flags(arguments).resolve("agent", &AGENT).unwrap_err().to_string();
    for (flag, value, says) in [
        ("--noise-variance", "0", "noise_variance must be a number from 0.0001 to 10000"),
        ("--base-precision", "-1", "base_precision must be a number from 0.001 to 10000"),
        ("--cost-weight", "-0.5", "cost_weight must be a number from 0 to 10"),
        ("--precision-per-feature", "0", "precision_per_feature must be a number from 0.00001 to 10000"),
        ("--optimism", "-1", "optimism must be a number from 0 to 1000"),
        ("--nu", "nan", "nu must be a number from 0.000001 to 1000"),
        ("--delta", "0.6", "delta must be a number from 0.000000000001 to 0.5"),
        ("--half-life", "70000", "half_life must be a number from 1 to 65535"),
        ("--alpha", "inf", "alpha must be a number from 0.000000000001 to 0.5"),
        ("--prior-radius", "-3", "prior_radius must be a number from 0 to 1000000"),
        ("--noise-proxy", "1e5", "noise_proxy must be a number from 0.0001 to 10000"),
        ("--min-evidence", "0", "min_evidence must be a number from 1 to 1000000000"),
        ("--expiry", "impute=-2", "expiry must be a number from -1 to 1"),
        (
            "--retained",
            "style,task*stile",
            "there is no block 'task*stile'; did you mean 'task*style'? Known: memory, tool, style, task*style, task*tool, \
             memory_need*memory, tool_need*tool, risk*style, ambiguity*style, memory*tool, memory*style, tool*style",
        ),
    ] {
        assert_eq!(told(&[flag, value]), format!("{flag}: {says}"));
    }
    for (arguments, says) in [
        (
            &["--nu", "1", "--delta", "0.1"][..],
            "the argument '--nu <NUMBER>' cannot be used with '--delta <NUMBER>'",
        ),
        (
            &["--optimism", "1", "--nu", "1"],
            "the argument '--optimism <NUMBER>' cannot be used with '--nu <NUMBER>'",
        ),
        (
            &["--optimism", "1", "--delta", "0.1"],
            "the argument '--optimism <NUMBER>' cannot be used with '--delta <NUMBER>'",
        ),
        (
            &["--precision-per-feature", "4", "--base-precision", "16"],
            "the argument '--precision-per-feature <NUMBER>' cannot be used with '--base-precision <NUMBER>'",
        ),
        (&["--scale", "wide"], "a scale is fixed or learned, not 'wide'"),
        (&["--half-life", "0"], "a half-life is none, or a whole number of rewards from 1 to 65535, not '0'"),
        (&["--on-change", "forget"], "what is done on a change is tell, halve or reset, not 'forget'"),
        (
            &["--deadline", "soon"],
            "a deadline is none, rounds=N or time=N, with N from 0 to 4294967295, not 'soon'",
        ),
        (&["--deadline", "rounds=-1"], "a deadline is none, rounds=N or time=N"),
        (
            &["--expiry", "impute=much"],
            "an expiry is nothing or impute=REWARD, with a reward from -1 to 1, not 'impute=much'",
        ),
        (&["--seed", "-1"], "'-1'"),
    ] {
        let error = Command::try_parse_from([&["command"], arguments].concat()).err().unwrap().to_string();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn a_mistake_in_the_table_is_told_with_its_place() {
    let folder = Folder::new();
    for (line, says) in [
        (
            "noise_variance = 0",
            "s.toml:3:18: noise_variance must be a number from 0.0001 to 10000\n{line}\n      |                  ^",
        ),
        (
            "min_evidence = 0",
            "s.toml:3:16: min_evidence must be a number from 1 to 1000000000\n{line}\n      |                ^",
        ),
        (
            "alpha = nan",
            "s.toml:3:9: alpha must be a number from 0.000000000001 to 0.5\n{line}\n      |         ^^^",
        ),
        (
            "delta = 0.1",
            "s.toml:3:9: optimism, nu and delta exclude each other; write one of them\n{line}\n      |         ^^^",
        ),
        (
            "optimism = 1",
            "s.toml:2:6: optimism, nu and delta exclude each other; write one of them\n    2 | nu = 0.1\n      |      ^^^",
        ),
        (
            "scale = \"wide\"",
            "s.toml:3:9: a scale is fixed or learned, not 'wide'\n{line}\n      |         ^^^^^^",
        ),
        (
            "half_life = 0.5",
            "s.toml:3:13: a half-life is none, or a whole number of rewards from 1 to 65535, not '0.5'\n{line}\n      |             ^^^",
        ),
        (
            "on_change = \"\"",
            "s.toml:3:13: what is done on a change is tell, halve or reset, not ''\n{line}\n      |             ^^",
        ),
        (
            "expiry = \"impute=3\"",
            "s.toml:3:10: expiry must be a number from -1 to 1\n{line}\n      |          ^^^^^^^^^^",
        ),
        (
            "expiry = 0.5",
            "s.toml:3:10: expected text in quotes, found floating point `0.5`\n{line}\n      |          ^^^",
        ),
        (
            "deadline = \"3 days\"",
            "s.toml:3:12: a deadline is none, rounds=N or time=N, with N from 0 to 4294967295, not '3 days'\n{line}\n      |            ^^^^^^^^",
        ),
        (
            "seed = -1",
            "s.toml:3:8: expected a whole number from 0, found integer `-1`\n{line}\n      |        ^^",
        ),
        (
            "min_evidence = 2.5",
            "s.toml:3:16: expected a whole number from 0 to 4294967295, found floating point `2.5`\n{line}\n      |                ^^^",
        ),
        (
            "noise-variance = 1",
            "s.toml:3:1: there is no key 'noise-variance'; did you mean 'noise_variance'? Known: noise_variance, \
             precision_per_feature, base_precision, cost_weight, optimism, nu, delta, scale, half_life, on_change, alpha, prior_radius, noise_proxy, probe, min_evidence, deadline, expiry, retained, seed, site, \
             context_adapter, feedback_adapter\n{line}\n      | ^^^^^^^^^^^^^^",
        ),
        (
            "retained = [\"golf\"]",
            "s.toml:3:12: there is no block 'golf'; known: memory, tool, style, task*style, task*tool, memory_need*memory, \
             tool_need*tool, risk*style, ambiguity*style, memory*tool, memory*style, tool*style\n{line}\n      |            ^^^^^^^^",
        ),
        (
            "retained = []",
            "s.toml:3:12: retained must keep at least one block and only blocks that the catalog has\n{line}\n      |            ^^",
        ),
    ] {
        let says = says.replace("{line}", &format!("    3 | {line}"));
        assert_eq!(folder.told(&format!("[settings]\nnu = 0.1\n{line}\n")).unwrap_err(), says);
    }
    assert_eq!(
        folder.told("[settings]\nprecision_per_feature = 4\nbase_precision = 16\n").unwrap_err(),
        "s.toml:3:18: precision_per_feature and base_precision exclude each other; write one of them\n    3 | base_precision = 16\n      \
         |                  ^^"
    );
    assert_eq!(
        folder.told("nu = 0.1\n").unwrap_err(),
        "s.toml:1:1: 'nu' is a setting; write it below [settings]\n    1 | nu = 0.1\n      | ^^"
    );
    assert_eq!(
        folder.told("name = \"x\"\n").unwrap_err(),
        "s.toml: there is no table [settings] in this file"
    );
    let missing = flags(&["--settings", "missing.toml"]).resolve("agent", &AGENT).unwrap_err();
    assert!(missing.to_string().starts_with("missing.toml: "), "{missing}");
}

#[test]
fn the_help_says_the_defaults() {
    let help = Command::command().render_long_help().to_string();
    let Settings {
        noise_variance, precision_per_feature, cost_weight, exploration, alpha, min_evidence, ..
    } = Settings::DEFAULT;
    let optimism = exploration.nu(1, 1);
    for (flag, default) in [
        ("--noise-variance", noise_variance),
        ("--precision-per-feature", precision_per_feature),
        ("--cost-weight", cost_weight),
        ("--optimism", optimism),
        ("--alpha", alpha),
        ("--min-evidence", f64::from(min_evidence)),
    ] {
        let (_, text) = help.split_once(&format!("{flag} <")).unwrap();
        assert!(text.lines().nth(1).unwrap().contains(&format!("default {default}")), "{flag}: {text}");
    }
}
