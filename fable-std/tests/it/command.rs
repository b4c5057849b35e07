//! The command as a person uses it, mistakes included.

use std::process::{Command, Output};

fn fable(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fable")).args(arguments).output().unwrap()
}

#[test]
fn catalog_show_lists_everything() {
    let json = fable(&["catalog", "show", "agent", "--json"]);
    assert!(json.status.success());
    let value: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(value["dimension"], 254);
    assert_eq!(value["actions"], 180);
    assert_eq!(value["coordinates"].as_array().unwrap().len(), 254);
    assert_eq!(value["components"]["tool"][5], "ask_user");
    assert_eq!(value["state_bytes"]["f32"], 104_636);

    let text = String::from_utf8(fable(&["catalog", "show", "tau2"]).stdout).unwrap();
    assert!(text.contains("state        1856 bytes in f32, 3712 in f64\n"), "{text}");
    assert!(text.contains("memory=conversation*tool=verify\n"), "{text}");
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

#[test]
fn a_catalog_can_be_printed_as_toml_and_checked() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.toml");
    let file = file.to_str().unwrap();
    for name in ["agent", "tau2", "rubric"] {
        let toml = fable(&["catalog", "show", name, "--toml"]);
        assert!(toml.status.success());
        std::fs::write(file, toml.stdout).unwrap();
        for format in ["--json", "--toml"] {
            let (own, other) =
                (fable(&["catalog", "show", name, format]), fable(&["catalog", "show", file, format]));
            assert_eq!(text(own.stdout), text(other.stdout), "{name} {format}");
        }
    }
    let checked = fable(&["catalog", "check", file, "--nu", "0.5", "--seed", "3"]);
    assert!(checked.status.success());
    let checked = text(checked.stdout);
    assert!(checked.starts_with("catalog      rubric\nrigor        level_1 level_3 level_5\n"), "{checked}");
    assert!(checked.contains("\nactions      27\n") && checked.contains("\nnu = 0.5\n"), "{checked}");

    // What `check` prints about settings is what can be written into the file.
    let (_, settings) = checked.split_once("\n\n").unwrap();
    let catalog = std::fs::read_to_string(file).unwrap();
    std::fs::write(file, format!("{catalog}\n{settings}")).unwrap();
    assert_eq!(text(fable(&["catalog", "check", file]).stdout), checked);
}

#[test]
fn a_mistake_in_a_file_is_told_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let told = |text: &str, flags: &[&str]| {
        std::fs::write(folder.path().join("mine.toml"), text).unwrap();
        let command = [&["catalog", "check", "mine.toml"], flags].concat();
        let output =
            Command::new(env!("CARGO_BIN_EXE_fable")).args(command).current_dir(&folder).output().unwrap();
        assert!(output.stdout.is_empty());
        (output.status.code(), self::text(output.stderr))
    };
    let tau2 = text(fable(&["catalog", "show", "tau2", "--toml"]).stdout);
    let says = r#"
fable: mine.toml:35:21: there is no component 'tol'; did you mean 'tool'? Known: memory, tool, style
   35 |   { of = ["memory", "tol"] },
      |                     ^^^^^
"#;
    let (code, message) = told(&tau2.replace("\"tool\"]", "\"tol\"]"), &[]);
    assert_eq!((code, message.as_str()), (Some(2), says.trim_start()));

    let settings = "[settings]\nnu = 0\n";
    let line = tau2.lines().count() + 2;
    let says = format!("fable: mine.toml:{line}:6: nu must be a number from 0.000001 to 1000\n");
    let (code, message) = told(&format!("{tau2}{settings}"), &[]);
    assert!(code == Some(2) && message.starts_with(&says), "{message}");
    let (code, message) = told(&tau2, &["--alpha", "2"]);
    assert_eq!(
        (code, message.as_str()),
        (Some(2), "fable: --alpha: alpha must be a number from 0.000000000001 to 0.5\n")
    );
    let (code, message) = told(&tau2, &["--settings", "none.toml"]);
    assert!(code == Some(1) && message.starts_with("fable: none.toml: "), "{message}");
}

#[test]
fn every_help_has_a_summary_examples_and_exit_codes() {
    const COMMANDS: [&[&str]; 12] = [
        &[],
        &["demo"],
        &["chat"],
        &["inspect"],
        &["evaluate"],
        &["catalog"],
        &["catalog", "show"],
        &["catalog", "check"],
        &["device"],
        &["prior"],
        &["prior", "fit"],
        &["prior", "address"],
    ];
    for command in COMMANDS {
        for flag in ["-h", "--help"] {
            let help = fable(&[command, &[flag]].concat());
            assert!(help.status.success());
            let help = text(help.stdout);
            assert!(help.lines().next().unwrap().contains(' '), "{help}");
            assert!(help.contains("\nExamples:\n  fable "), "{help}");
            assert!(flag == "-h" || help.contains("Exit codes: 0 "), "{help}");
        }
    }
}

#[test]
fn an_amount_that_is_none_is_told() {
    let wrong = fable(&["serve", "--cache", "1024 users"]);
    assert_eq!(wrong.status.code(), Some(2));
    let message = text(wrong.stderr);
    assert!(
        message
            .contains("an amount is a whole number of bytes, or of KB, MB, GB, KiB, MiB or GiB, like 256MiB"),
        "{message}"
    );
}

#[test]
fn completions_for_every_shell() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = fable(&["completions", shell]);
        assert!(script.status.success());
        let script = text(script.stdout);
        for word in [
            "catalog",
            "chat",
            "demo",
            "device",
            "evaluate",
            "inspect",
            "prior",
            "completions",
            "--noise-variance",
        ] {
            assert!(script.contains(word.trim_start_matches('-')), "{shell}: {word}");
        }
    }
    let wrong = fable(&["completions", "dos"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(wrong.stderr).contains("bash"));
}

/// The bash script as bash uses it: completing `fable catalog sh` gives `show`.
#[test]
fn bash_completes() {
    let script = text(fable(&["completions", "bash"]).stdout);
    let asked =
        "COMP_WORDS=(fable catalog sh); COMP_CWORD=2; _fable fable sh catalog; echo \"${COMPREPLY[@]}\"";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("completions");
    std::fs::write(&file, format!("{script}\n{asked}\n")).unwrap(); // as an argument it is too long
    let output = match Command::new("bash").arg(&file).output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return, // no bash, nothing to complete
        output => output.unwrap(),
    };
    assert_eq!(text(output.stdout), "show\n");
}

#[test]
fn mistakes_are_told_in_a_sentence() {
    let unknown = fable(&["catalog", "show", "golf"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(unknown.stdout.is_empty());
    let message = String::from_utf8(unknown.stderr).unwrap();
    assert_eq!(
        message,
        "fable: there is no catalog 'golf'; the catalogs that ship are agent, tau2, rubric, and a file ends in .toml\n"
    );
    assert_eq!(fable(&["catalogue"]).status.code(), Some(2));
    assert_eq!(fable(&["catalog", "show", "tau2", "--json", "--toml"]).status.code(), Some(2));
    assert_eq!(fable(&["catalog", "check"]).status.code(), Some(2));
    let missing = fable(&["catalog", "show", "missing.toml"]);
    assert_eq!(missing.status.code(), Some(1));
    assert!(text(missing.stderr).starts_with("fable: missing.toml: "));
}
