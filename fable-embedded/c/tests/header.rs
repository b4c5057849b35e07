//! The header and the crate agree. A C compiler computes every size, offset and number of the header. Every
//! function of the header is in the crate, and the reverse.

use fable_c::layout::LAYOUTS;
use fable_c::status::Status;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn header() -> String {
    fs::read_to_string(here().join("include/fable.h")).unwrap()
}

/// A separate folder for each test.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Compiles a source with all warnings as errors.
fn compile(compiler: &str, standard: &str, source: &Path, output: &Path, arguments: &[&str]) {
    let warnings = ["-pedantic", "-Wall", "-Wextra", "-Werror", "-Wconversion", "-Wshadow"];
    let standard = format!("-std={standard}");
    let mut command = Command::new(compiler);
    command
        .arg(standard)
        .args(warnings)
        .arg("-I")
        .arg(here().join("include"))
        .args(arguments)
        .arg(source)
        .arg("-o")
        .arg(output);
    let done =
        command.output().unwrap_or_else(|error| panic!("{compiler}: {error}; tests/run setup installs it"));
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// Compiles a program of these statements and returns its output lines.
fn ask(name: &str, statements: &str) -> Vec<String> {
    let (folder, text) = (
        folder(name),
        format!("#include <fable.h>\n#include <stdio.h>\nint main(void) {{\n{statements}return 0;\n}}\n"),
    );
    let (source, program) = (folder.join("ask.c"), folder.join("ask"));
    fs::write(&source, text).unwrap();
    compile("cc", "c99", &source, &program, &[]);
    let answer = Command::new(&program).output().unwrap();
    assert!(answer.status.success());
    String::from_utf8(answer.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn every_structure_is_laid_out_as_in_rust() {
    let (mut statements, mut expected) = (String::new(), vec![]);
    for layout in LAYOUTS {
        let name = layout.name;
        writeln!(statements, "{{ struct aligned {{ char first; {name} rest; }};").unwrap();
        writeln!(
            statements,
            "printf(\"{name} %zu %zu\\n\", sizeof({name}), offsetof(struct aligned, rest)); }}"
        )
        .unwrap();
        expected.push(format!("{name} {} {}", layout.size, layout.align));
        for (field, offset) in layout.fields {
            let field = field.trim_start_matches("r#");
            writeln!(statements, "printf(\"{name}.{field} %zu\\n\", offsetof({name}, {field}));").unwrap();
            expected.push(format!("{name}.{field} {offset}"));
        }
    }
    assert_eq!(ask("layout", &statements), expected);
    let known: BTreeSet<&str> = LAYOUTS.iter().map(|layout| layout.name).collect();
    let defined = header();
    let defined = defined
        .lines()
        .filter_map(|line| line.strip_prefix("} fable_"))
        .filter_map(|rest| rest.strip_suffix(';'));
    let defined: Vec<String> = defined.map(|name| format!("fable_{name}")).collect();
    assert_eq!(defined.iter().map(String::as_str).collect::<BTreeSet<_>>(), known);
}

#[test]
fn every_status_and_limit_has_its_number() {
    use fable_core::catalog::{MAX_ACTIONS, MAX_COMPONENTS, MAX_SIGNALS};
    let limits = [
        ("ABI", fable_c::ABI as usize),
        ("CAPACITY", fable_c::user::CAPACITY),
        ("ALIGNMENT", fable_c::user::ALIGNMENT),
        ("MAX_COMPONENTS", MAX_COMPONENTS),
        ("MAX_SIGNALS", MAX_SIGNALS),
        ("MAX_ACTIONS", MAX_ACTIONS),
        ("MAX_USER_RULES", fable_core::preference::MAX_USER_RULES),
    ];
    let constant = |name: &str| if name == "OK" { name.to_owned() } else { format!("ERR_{name}") };
    let numbers = Status::ALL.iter().map(|(name, number)| (constant(name), i64::from(*number)));
    let limits = limits.map(|(name, number)| (name.to_owned(), i64::try_from(number).unwrap()));
    let numbers: Vec<(String, i64)> = numbers.chain(limits).collect();
    let mut statements = String::new();
    for (name, _) in &numbers {
        writeln!(statements, "printf(\"%ld\\n\", (long)FABLE_{name});").unwrap();
    }
    let expected: Vec<String> = numbers.iter().map(|(_, number)| number.to_string()).collect();
    assert_eq!(ask("numbers", &statements), expected);

    // The header has no further status.
    let header = header();
    let statuses = header.split_once("FABLE_OK = 0,").unwrap().1.split_once("};").unwrap().0;
    let count = statuses.lines().filter(|line| line.trim_start().starts_with("FABLE_")).count();
    assert_eq!(count + 1, Status::ALL.len());
}

#[test]
fn every_function_is_on_both_sides() {
    let header = header();
    let mut declared = BTreeSet::new();
    for line in header
        .lines()
        .filter(|line| !line.starts_with([' ', '/', '#', '*', '\t']) && !line.starts_with("static inline"))
    {
        if let Some((before, _)) = line.split_once('(')
            && let Some(name) = before.rsplit([' ', '*']).next().filter(|name| name.starts_with("fable_"))
        {
            declared.insert(name.to_owned());
        }
    }
    let mut exported = BTreeSet::new();
    for file in fs::read_dir(here().join("src")).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        for rest in text.split("extern \"C\" fn ").skip(1) {
            exported.extend(
                rest.split(['(', '<']).next().filter(|name| name.starts_with("fable_")).map(str::to_owned),
            );
        }
    }
    assert!(exported.len() > 40, "{exported:?}");
    assert_eq!(declared, exported);
}

#[test]
fn the_header_compiles_alone_as_c_and_as_cpp() {
    let folder = folder("alone");
    for (compiler, standard, file) in [
        ("cc", "c99", "c99.c"),
        ("cc", "c11", "c11.c"),
        ("c++", "c++11", "c11.cpp"),
        ("c++", "c++20", "c20.cpp"),
    ] {
        let source = folder.join(file);
        // Includes the header twice and uses the initializers.
        let text = "#include <fable.h>\n#include <fable.h>\n\
                    extern const fable_settings a, b;\nextern const fable_request r;\n\
                    const fable_settings a = FABLE_SETTINGS_DEFAULT, b = FABLE_SETTINGS_PAPER;\n\
                    const fable_request r = {{0, 0, 0}, 0, 0, 0, 0};\n";
        fs::write(&source, text).unwrap();
        compile(compiler, standard, &source, &folder.join(format!("{file}.o")), &["-c"]);
    }
}
