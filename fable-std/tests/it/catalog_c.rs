//! `fable catalog c`: what is generated compiles as C99 and as C++ without a warning, and the library decides with it as the host does.

use fable_core::catalog::FeasibleError;
use fable_core::{Catalog, Context, Feasible, HostUser, Policy, Settings, UserError};
use fable_std::catalogs::{self, Arena, generate};
use fable_std::settings::SettingsArguments;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

const HERE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/generated");
const LIBRARY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../fable-embedded/c");
const LAMP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../fable-embedded/c/arduino/examples/Lamp");

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

/// `libfable.a` and `fable.h` for this machine, with a catalog compiled into it or without one.
fn build(name: &str, rust_file: Option<&Path>) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut build = Command::new(Path::new(LIBRARY).join("build"));
    build.args(["host", folder.to_str().unwrap()]).env("CARGO", env!("CARGO")).env_remove("FABLE_CATALOG");
    build.env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("generated"));
    // The size does not matter here, and a quick build has the same bits.
    build.envs([
        ("CARGO_PROFILE_C_OPT_LEVEL", "1"),
        ("CARGO_PROFILE_C_CODEGEN_UNITS", "16"),
        ("CARGO_PROFILE_C_LTO", "thin"),
    ]);
    if let Some(file) = rust_file {
        build.env("FABLE_CATALOG", file);
    }
    succeeded(&build.output().unwrap());
    folder
}

/// The library that takes any catalog.
fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| build("libfable", None))
}

const C: &[&str] = &["cc", "-std=c99"];
const CPP: &[&str] = &["c++", "-std=c++11", "-x", "c++"];

/// Compiles the program for a header in a folder and links it.
fn compile(
    compiler: &[&str],
    library: &Path,
    header: &Path,
    prefix: &str,
    flags: &[&str],
) -> (Output, PathBuf) {
    let program = header.with_extension(compiler[0]);
    let mut command = Command::new(compiler[0]);
    command
        .args(&compiler[1..])
        .args(["-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"])
        .args(flags);
    command.args([
        format!("-DHEADER=\"{}\"", header.display()),
        format!("-DLOWER={prefix}"),
        format!("-DUPPER={}", prefix.to_uppercase()),
    ]);
    command.arg("-I").arg(library).arg(format!("{HERE}/play.c")).args(["-x", "none", "-o"]).arg(&program);
    (command.arg(library.join("libfable.a")).output().unwrap(), program)
}

/// What the program prints, by fable-core.
fn expected(catalog: &Catalog<'_>, settings: Settings<'_>) -> String {
    let policy = Policy::<f32>::new(catalog, settings).unwrap();
    let mut ana = HostUser::<f32, 8>::new(&policy, "ana").unwrap();
    let mut out = format!("{:016x} {} {}\n", policy.fingerprint(), catalog.actions(), catalog.dimension());
    let (tasks, signals) = (catalog.definition().tasks.len(), catalog.definition().signals.len());
    for round in 0..24_usize {
        let task = if tasks == 0 || round % 5 == 4 { None } else { Some(round % tasks) };
        let levels: Vec<f32> =
            (0..signals).map(|signal| ((signal * 7 + round * 3) % 11) as f32 / 10.0).collect();
        let context = Context::new(catalog, task, &levels).unwrap();
        let mut user = ana.user();
        match user.decide(&fable_core::Request::new(&context, &Feasible::all(catalog))) {
            Err(UserError::Feasible(FeasibleError::Empty)) => out.push_str("29\n"),
            Err(error) => panic!("{error}"),
            Ok(decision) => {
                let reward = ((decision.action.index() * 7 + round * 3) % 9) as f64 / 4.0 - 1.0;
                let values: Vec<String> =
                    catalog.values(decision.action).unwrap().iter().map(u8::to_string).collect();
                user.feedback(decision.id, reward).unwrap();
                writeln!(
                    out,
                    "0 {} {:016x} {} 0",
                    decision.action.0,
                    decision.baseline.to_bits(),
                    values.join(" ")
                )
                .unwrap();
            }
        }
    }
    let bytes = ana.to_bytes();
    writeln!(
        out,
        "{} {:016x}",
        bytes.len(),
        bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
            (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        })
    )
    .unwrap();
    for action in 0..catalog.actions() {
        let mut told = String::new();
        catalog.instruct(fable_core::Action(action as u16), &mut told).unwrap();
        writeln!(out, "{}", told.bytes().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat())
            .unwrap();
    }
    out
}

fn resolve(source: &str) -> (&'static Catalog<'static>, Settings<'static>) {
    let catalog = catalogs::open(source).unwrap();
    (catalog, SettingsArguments::default().resolve(source, catalog).unwrap())
}

/// The README's catalog, awkward ones, a long text, in files.
fn sources(folder: &Path) -> Vec<(&'static str, String)> {
    let write = |name: &str, text: &str| {
        let file = folder.join(name);
        fs::write(&file, text).unwrap();
        file.to_str().unwrap().to_owned()
    };
    let (_, rest) = include_str!("../../README.md").split_once("```toml\n").unwrap();
    let lamp = write("lamp.toml", rest.split_once("```").unwrap().0);
    let awkward = fs::read_to_string(format!("{HERE}/awkward.toml")).unwrap().replace("NUL \\u0000, ", "");
    let values = (0..256).map(|value| format!("{{ name = \"{value}\" }}, ")).collect::<Vec<_>>().concat();
    let bytes = format!(
        "name = \"fable\"\n[[components]]\nname = \"byte\"\nvalues = [{values}]\n[dictionary]\nblocks = [{{ of = \"byte\" }}]\n"
    );
    let long = bytes
        .replace("\"fable\"", "\"9long\"")
        .replace("\"7\" }", &format!("\"7\", instruction = \"{}\" }}", "é?'\\\"".repeat(2000)));
    let clash = "name = \"clash\"\nsignals = [\"x\"]\ntasks = [\"size\"]\n[[components]]\nname = \"a\"\nvalues = [{ name = \"b_c\" }, { name = \"d\" }]\n\
        [[components]]\nname = \"a_b\"\nvalues = [{ name = \"c\" }]\n[[components]]\nname = \"signal\"\nvalues = [{ name = \"x\" }, { name = \"y\" }]\n\
        [[components]]\nname = \"user\"\nvalues = [{ name = \"size\" }]\n[dictionary]\nblocks = [{ of = \"*\" }]\n";
    vec![
        ("agent", "agent".into()),
        ("tau2", "tau2".into()),
        ("rubric", "rubric".into()),
        ("lamp", lamp),
        ("crate", write("awkward.toml", &awkward)),
        ("catalog_fable", write("bytes.toml", &bytes)),
        ("catalog_9long", write("long.toml", &long)),
        ("clash", write("clash.toml", clash)),
    ]
}

#[test]
fn generated_headers_are_the_catalogs_of_the_files() {
    let folder = tempfile::tempdir().unwrap();
    for (prefix, source) in sources(folder.path()) {
        let header = folder.path().join(format!("{prefix}.h"));
        succeeded(&fable(&["catalog", "c", &source, "--output", header.to_str().unwrap()]));
        let (catalog, settings) = resolve(&source);
        for compiler in [C, CPP] {
            let (output, program) = compile(compiler, library(), &header, prefix, &[]);
            succeeded(&output);
            assert_eq!(succeeded(&Command::new(program).output().unwrap()), expected(catalog, settings));
        }
    }
}

/// A library with the catalog in it decides the same; with the header of another catalog it does not link.
#[test]
fn a_library_that_was_built_for_a_catalog_links_with_its_header_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let lamp = sources(folder.path()).into_iter().find(|(prefix, _)| *prefix == "lamp").unwrap().1;
    let generate = |arguments: &[&str], file: &Path| {
        succeeded(&fable(&[&["catalog"], arguments, &["--output", file.to_str().unwrap()]].concat()));
    };
    generate(&["rust", &lamp], &path("lamp.rs"));
    generate(&["c", &lamp, "--builtin"], &path("lamp.h"));
    generate(&["c", &lamp, "--builtin", "--noise-variance", "0.5"], &path("other.h"));
    let built = build("libfable-lamp", Some(&path("lamp.rs")));
    let (catalog, settings) = resolve(&lamp);
    for compiler in [C, CPP] {
        let (output, program) = compile(compiler, &built, &path("lamp.h"), "lamp", &["-DBUILTIN"]);
        succeeded(&output);
        assert_eq!(succeeded(&Command::new(program).output().unwrap()), expected(catalog, settings));
    }
    let (output, _) = compile(C, &built, &path("other.h"), "lamp", &["-DBUILTIN"]);
    assert!(
        !output.status.success() && text(&output.stderr).contains("fable_catalog_"),
        "{}",
        text(&output.stderr)
    );
    let (output, _) = compile(C, library(), &path("lamp.h"), "lamp", &["-DBUILTIN"]);
    assert!(
        !output.status.success() && text(&output.stderr).contains("fable_catalog_"),
        "{}",
        text(&output.stderr)
    );
}

/// What was changed by hand is refused when the policy is made, and another fable.h when it is compiled.
#[test]
fn a_changed_header_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let header = folder.path().join("tau2.h");
    let code = succeeded(&fable(&["catalog", "c", "tau2"]));
    for (from, to) in [
        ("0.02}", "0.03}"),
        ("/* noise_variance */ 0.25", "/* noise_variance */ 0.5"),
        ("{\"style\"", "{\"manner\""),
    ] {
        assert_eq!(code.matches(from).count(), 1, "{from}");
        fs::write(&header, code.replace(from, to)).unwrap();
        let (output, program) = compile(C, library(), &header, "tau2", &[]);
        succeeded(&output);
        let ran = Command::new(program).output().unwrap();
        assert!(!ran.status.success() && text(&ran.stdout).starts_with("policy: "), "{}", text(&ran.stdout));
    }
    let other = folder.path().join("other");
    fs::create_dir(&other).unwrap();
    let own = fs::read_to_string(library().join("fable.h")).unwrap();
    fs::write(other.join("fable.h"), own.replace("#define FABLE_ABI ", "#define FABLE_ABI 9")).unwrap();
    fs::copy(library().join("libfable.a"), other.join("libfable.a")).unwrap();
    fs::write(&header, code).unwrap();
    let said = text(&compile(C, &other, &header, "tau2", &[]).0.stderr);
    assert!(said.contains("generated for another version of fable.h"), "{said}");
}

#[test]
fn what_c_cannot_have_is_refused() {
    for name in ["LAMP", "fable_lamp", "9", "", "a-b", "lämp", "_x"] {
        let output = fable(&["catalog", "c", "tau2", "--name", name]);
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(text(&output.stderr).contains("cannot be the name: names in C begin with it"), "{name}");
    }
    let output = fable(&["catalog", "c", &format!("{HERE}/awkward.toml")]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("a text of C ends at a zero byte"), "{}", text(&output.stderr));
    let arena = Arena::new();
    let zero = "name = \"z\"\n[[components]]\nname = \"c\"\nvalues = [{ name = \"v\" }]\n[dictionary]\nblocks = [{ of = \"c\" }]\n";
    let catalog = catalogs::read(&arena, "z.toml", zero).unwrap();
    let settings = Settings { feedback_adapter: "a\0b", ..Settings::DEFAULT };
    let heading = generate::Heading { source: "z.toml", name: None };
    assert_eq!(
        generate::c(&catalog, &settings, &heading).unwrap_err(),
        generate::GenerateError::Zero("a\\0b".into())
    );
}

/// The header beside the Arduino sketch is that of the TOML file beside it.
#[test]
fn the_header_of_the_sketch_is_what_is_generated() {
    let generated = succeeded(&fable(&["catalog", "c", &format!("{LAMP}/lamp.toml")]));
    assert_eq!(
        fs::read_to_string(format!("{LAMP}/lamp.h")).unwrap(),
        generated,
        "run `fable catalog c` in {LAMP}"
    );
}
