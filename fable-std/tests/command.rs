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

#[test]
fn mistakes_are_told_in_a_sentence() {
    let unknown = fable(&["catalog", "show", "golf"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(unknown.stdout.is_empty());
    let message = String::from_utf8(unknown.stderr).unwrap();
    assert_eq!(message, "fable: there is no catalog 'golf'; the catalogs that ship are agent, tau2, rubric\n");
    assert_eq!(fable(&[]).status.code(), Some(2));
    assert_eq!(fable(&["catalogue"]).status.code(), Some(2));
    assert!(fable(&["--help"]).status.success());
}
