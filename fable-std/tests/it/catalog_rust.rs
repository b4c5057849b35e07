//! `fable catalog rust`: what is generated compiles against fable-core without std and without a warning, and is the catalog of the file.

#[path = "../generated/report.rs"]
mod report;

use fable_std::catalogs::{self, generate};
use fable_std::settings::SettingsArguments;
use report::report;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const CORE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../fable-core");
const LOCK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.lock");
const AWKWARD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/generated/awkward.toml");
const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/catalogs/lamp.toml");

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn succeeded(output: &Output) -> String {
    assert!(output.status.success(), "{}\n{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

fn fable(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fable")).args(arguments).output().unwrap()
}

/// A crate without std in a folder of its own, with these modules.
struct Crate(PathBuf);

impl Crate {
    fn new(name: &str, modules: &[(&str, String)]) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(folder.join("src")).unwrap();
        let manifest = format!(
            "[package]\nname = \"{name}\"\nedition = \"2024\"\n[workspace]\n[dependencies]\nfable-core = {{ path = '{CORE}', features = ['alloc'] }}\n\
             [profile.dev]\ndebug = false\n"
        );
        fs::write(folder.join("Cargo.toml"), manifest).unwrap();
        fs::copy(LOCK, folder.join("Cargo.lock")).unwrap();
        let mut library =
            "#![no_std]\n//! Generated catalogs.\n#![deny(missing_docs, unsafe_code)]\n".to_owned();
        let mut main = format!(
            "include!({:?});\nfn main() {{\n",
            concat!(env!("CARGO_MANIFEST_DIR"), "/tests/generated/report.rs")
        );
        for (module, code) in modules {
            fs::write(folder.join("src").join(format!("{module}.rs")), code).unwrap();
            let at = format!("{name}::{module}").replace('-', "_");
            writeln!(library, "/// A catalog.\npub mod {module};").unwrap();
            writeln!(main, "println!(\"= {module}\\n{{}}\", report(&{at}::CATALOG, {at}::SETTINGS));")
                .unwrap();
            writeln!(main, "assert_eq!({at}::POLICY.get().settings(), &{at}::SETTINGS);").unwrap();
            writeln!(main, "assert_eq!(size_of_val({at}::Memory::<1>::NEW.learner()), size_of::<fable_core::Learner<f32, [f32; {at}::CATALOG.state_len()], 1>>());").unwrap();
        }
        fs::write(folder.join("src/lib.rs"), library).unwrap();
        fs::write(folder.join("src/main.rs"), main + "}\n").unwrap();
        Self(folder)
    }

    fn cargo(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Cargo without the network, with a folder for what it builds that all these crates share and keep.
    fn command(&self, arguments: &[&str]) -> Command {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("generated");
        let mut cargo = Command::new(env!("CARGO"));
        let (options, rest) =
            arguments.split_at(arguments.iter().position(|own| *own == "--").unwrap_or(arguments.len()));
        cargo.args(options).args(["--offline", "--quiet"]).args(rest);
        cargo.current_dir(&self.0).env("CARGO_TARGET_DIR", target).env_remove("RUSTFLAGS");
        cargo
    }
}

/// The file of a catalog in the README, which is the first TOML there.
fn readme_lamp(folder: &Path) -> String {
    let (_, rest) = include_str!("../../README.md").split_once("```toml\n").unwrap();
    let file = folder.join("lamp.toml");
    fs::write(&file, rest.split_once("```").unwrap().0).unwrap();
    file.to_str().unwrap().to_owned()
}

/// As wide as catalogs get: 256 values, and eight components.
fn wide(folder: &Path) -> [String; 2] {
    let values = |count: usize| {
        (0..count).map(|value| format!("{{ name = \"{value}\" }}, ")).collect::<Vec<_>>().concat()
    };
    let component =
        |name: &str, count| format!("[[components]]\nname = \"{name}\"\nvalues = [{}]\n", values(count));
    let bytes =
        format!("name = \"bytes\"\n{}[dictionary]\nblocks = [{{ of = \"byte\" }}]\n", component("byte", 256));
    let eight: String = ["a", "b", "c", "d", "e", "f", "g", "h"].map(|name| component(name, 2)).concat();
    let eight = format!(
        "name = \"eight\"\n{eight}[dictionary]\nblocks = [{{ of = \"a\" }}, {{ of = [\"h\", \"b\", \"d\"] }}]\n"
    );
    [("bytes.toml", bytes), ("eight.toml", eight)].map(|(name, text)| {
        let file = folder.join(name);
        fs::write(&file, text).unwrap();
        file.to_str().unwrap().to_owned()
    })
}

/// Every catalog that ships, the README's, and awkward ones: compiled, run and compared with what the host makes of the file.
#[test]
fn generated_catalogs_are_those_of_the_files() {
    let folder = tempfile::tempdir().unwrap();
    let [bytes, eight] = wide(folder.path());
    let sources = [
        ("agent", "agent".to_owned()),
        ("tau2", "tau2".into()),
        ("rubric", "rubric".into()),
        ("lamp", readme_lamp(folder.path())),
        ("fixture", FIXTURE.into()),
        ("awkward", AWKWARD.into()),
        ("bytes", bytes),
        ("eight", eight),
    ];
    let modules: Vec<(&str, String)> = sources
        .iter()
        .map(|(module, source)| {
            let file = folder.path().join("generated.rs");
            let told = succeeded(&fable(&["catalog", "rust", source, "--output", file.to_str().unwrap()]));
            assert!(told.contains("generated.rs: the catalog "), "{told}");
            let code = fs::read_to_string(file).unwrap();
            assert_eq!(code, succeeded(&fable(&["catalog", "rust", source])), "the same on standard output");
            (*module, code)
        })
        .collect();
    let made = Crate::new("generated-catalogs", &modules);
    let ran = succeeded(&made.cargo(&["run"]));
    let expected: Vec<String> = sources
        .iter()
        .map(|(module, source)| {
            let catalog = catalogs::open(source).unwrap();
            let settings = SettingsArguments::default().resolve(source, catalog).unwrap();
            format!("= {module}\n{}\n", report(catalog, settings))
        })
        .collect();
    let expected = expected.concat();
    for (own, other) in ran.lines().zip(expected.lines()) {
        assert_eq!(own, other);
    }
    assert_eq!(ran, expected);
    assert!(
        expected.lines().filter(|line| line.starts_with("Decision ")).count() > 300,
        "something was decided"
    );

    let clippy = made.cargo(&["clippy", "--lib", "--", "-Dwarnings", "-Wclippy::pedantic"]);
    succeeded(&clippy);
    for config in ["max_width=100,use_small_heuristics=Default", "max_width=130,use_small_heuristics=Max"] {
        for (module, _) in &modules {
            let mut rustfmt = Command::new("rustfmt");
            let file = made.0.join("src").join(format!("{module}.rs"));
            rustfmt.args(["--check", "--edition", "2024", "--config", config]).arg(file);
            succeeded(&rustfmt.output().unwrap());
        }
    }
}

/// Names of positions are those of the catalog, whatever they had to become.
#[test]
fn positions_have_names() {
    let code = succeeded(&fable(&["catalog", "rust", "tau2"]));
    let main = "#![allow(missing_docs)]\nuse named_positions::tau2::*;\nfn main() {\n\
        let chosen = action(MemoryValue::Conversation, Tool::AskIfMissing, Style::Guided);\n\
        assert_eq!(CATALOG.action_name(chosen).unwrap().to_string(), \"memory=conversation*tool=ask_if_missing*style=guided\");\n\
        for index in 0..18 {\n\
            let own = fable_core::Action(index);\n\
            let (memory, tool, style) = (MemoryValue::of(own).unwrap(), Tool::of(own).unwrap(), Style::of(own).unwrap());\n\
            assert_eq!(action(memory, tool, style), own);\n\
            assert_eq!(CATALOG.values(own).unwrap(), [memory.index(), tool.index(), style.index()]);\n\
        }\n\
        assert_eq!((MemoryValue::of(fable_core::Action(18)), Tool::from_index(3)), (None, None));\n\
        assert_eq!((MemoryValue::POSITION, Tool::POSITION, Style::POSITION), (0, 1, 2));\n\
        assert_eq!(CATALOG.contrasts()[contrast::CONCISE_OVER_GUIDED].name, \"concise_over_guided\");\n}\n";
    let made = Crate::new("named-positions", &[("tau2", code)]);
    fs::write(made.0.join("src/main.rs"), main).unwrap();
    succeeded(&made.cargo(&["run"]));
}

/// What fable-embedded's README says about firmware: generated in build.rs, included, and used.
#[test]
fn the_firmware_in_the_readme_compiles() {
    let folder = tempfile::tempdir().unwrap();
    let lamp = fs::read_to_string(readme_lamp(folder.path())).unwrap();
    let made = Crate::new("readme-firmware", &[]);
    let (_, section) = include_str!("../../../fable-embedded/README.md")
        .split_once("## One catalog for host and device")
        .unwrap();
    let blocks: Vec<&str> = section
        .split("```rust,ignore\n")
        .skip(1)
        .take(3)
        .map(|rest| rest.split_once("```").unwrap().0)
        .collect();
    let (build, include) = blocks[1].split_once("// src/main.rs\n").unwrap();
    let write = |file: &str, text: &str| fs::write(made.0.join(file), text).unwrap();
    write("lamp.toml", &lamp);
    write("build.rs", build);
    let frame = "#![deny(warnings)]\nuse fable_core::{Request, user_hash};\n\
        pub struct ConstStaticCell<T>(T);\nimpl<T> ConstStaticCell<T> {\n    pub const fn new(own: T) -> Self {\n        Self(own)\n    }\n\
        pub fn take(&'static self) -> &'static mut T where T: Clone {\n        Box::leak(Box::new(self.0.clone()))\n    }\n}\n\
        pub fn off() {}\npub fn warm() {}\npub fn cold() {}\n";
    let body = format!(
        "pub fn round(daylight: f32) -> Result<(), Box<dyn std::error::Error>> {{\n{}\n    Ok(())\n}}\n",
        blocks[2]
    );
    write("src/lib.rs", &format!("{frame}{include}{body}"));
    fs::remove_file(made.0.join("src/main.rs")).unwrap();
    let command = Path::new(env!("CARGO_BIN_EXE_fable")).parent().unwrap();
    let path = std::env::join_paths(
        std::iter::once(command.to_owned())
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    );
    let output = made.command(&["check", "--lib"]).env("PATH", path.unwrap()).output().unwrap();
    succeeded(&output);
}

/// A changed number does not compile, and the compiler says why; a changed text is wording and does. So does a name.
#[test]
fn a_changed_file_does_not_compile() {
    let code = succeeded(&fable(&["catalog", "rust", "tau2", "--context-adapter", "v1"]));
    let check = |from: &str, to: &str| {
        assert_eq!(code.matches(from).count(), 1, "{from}");
        Crate::new("changed-catalog", &[("tau2", code.replace(from, to))]).cargo(&["check", "--lib"])
    };
    succeeded(&check("Answer directly.", "Answer at once."));
    for (from, to) in [
        (
            "Conversation = \"conversation\", 0.02, \"Consider the whole conversation.\";",
            "Conversation = \"conversation\", 0.03, \"\";",
        ),
        ("Block::pair(1, 2)", "Block::pair(1, 2).per_task()"),
        ("Style: \"style\"", "Style: \"manner\""),
        ("context_adapter: \"v1\"", "context_adapter: \"v2\""),
        ("noise_variance: 0.25", "noise_variance: 0.26"),
        ("noise_variance: 0.25", "noise_variance: -1.0"),
    ] {
        let output = check(from, to);
        let said = text(&output.stderr);
        assert!(!output.status.success(), "{from} -> {to} compiles");
        let reason = [
            "generate the file again",
            "a block is per task but the catalog has no tasks",
            "a setting is out of its range",
        ];
        assert!(reason.iter().any(|reason| said.contains(reason)), "{said}");
    }
}

/// Components may have the names of the types in the module, and signals those of components.
#[test]
fn names_that_a_module_has_taken_are_changed() {
    let taken = ["memory", "policy", "task_", "marker", "block", "rule", "self", "x", "memory-value"];
    let components = taken.map(|name| {
        format!("[[components]]\nname = \"{name}\"\nvalues = [{{ name = \"a\" }}, {{ name = \"b\" }}]\n")
    });
    let blocks = taken.map(|name| format!("{{ of = \"{name}\", scaled_by = \"x\" }}"));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("taken.toml");
    let text = format!(
        "name = \"taken\"\nsignals = [\"x\", \"definition\"]\n{}[dictionary]\nblocks = [{}]\n",
        components[..8].concat(),
        blocks[..8].join(", ")
    );
    fs::write(&file, text).unwrap();
    let code = succeeded(&fable(&["catalog", "rust", file.to_str().unwrap()]));
    assert!(code.contains("enum MemoryValue: \"memory\"") && code.contains("SIGNAL_X = \"x\";"), "{code}");
    succeeded(&Crate::new("taken-names", &[("taken", code)]).cargo(&["run"]));
    let heading = generate::Heading { source: "/home/x/\n*/lamp.toml", name: None };
    let code = generate::rust(&fable_core::catalog::TAU2, &fable_core::Settings::DEFAULT, &heading).unwrap();
    assert!(code.contains(" from \"lamp.toml\";"), "{code}");
}

/// The source was overwritten with what was made of it, by the same name or another one of it.
#[test]
fn the_source_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let file = readme_lamp(folder.path());
    let before = fs::read(&file).unwrap();
    let settings = folder.path().join("settings.toml");
    fs::write(&settings, "[settings]\nalpha = 0.1\n").unwrap();
    let [link, hard] = ["link.toml", "hard.toml"].map(|name| folder.path().join(name));
    std::os::unix::fs::symlink(&file, &link).unwrap();
    fs::hard_link(&file, &hard).unwrap();
    let dotted = folder.path().join(".").join("lamp.toml");
    let settings = settings.to_str().unwrap();
    for output in
        [file.as_str(), dotted.to_str().unwrap(), link.to_str().unwrap(), hard.to_str().unwrap(), settings]
    {
        for language in ["rust", "c"] {
            let refused = fable(&["catalog", language, &file, "--settings", settings, "--output", output]);
            assert_eq!((refused.status.code(), text(&refused.stdout)), (Some(2), String::new()));
            let told = text(&refused.stderr);
            assert!(told.contains(output) && told.contains("the file that is read"), "{told}");
        }
    }
    assert!(
        before == fs::read(&file).unwrap() && fs::read_to_string(settings).unwrap().starts_with("[settings]")
    );
    let other = folder.path().join("lamp.rs");
    for _ in 0..2 {
        succeeded(&fable(&["catalog", "rust", &file, "--output", other.to_str().unwrap()]));
    }
}
