//! Catalogs as TOML files: any catalog survives being written and read, and any text is a catalog or a mistake.

use fable_core::Catalog;
use fable_core::catalog::{
    AGENT, Block, Component, Condition, Contrast, Definition, Part, RUBRIC, TAU2, Term, Value,
};
use fable_std::catalogs::{self, Arena, CatalogFileError, read, write};
use fable_std::toml_file::{FileError, MAX_BYTES};
use proptest::prelude::*;

#[test]
fn the_catalogs_that_ship_survive_being_written_and_read() {
    for catalog in [&AGENT, &TAU2, &RUBRIC] {
        let arena = Arena::new();
        let again = read(&arena, "again.toml", &write(catalog)).unwrap();
        let (own, other) = (catalog.definition(), again.definition());
        assert_eq!(own.name, other.name);
        assert_eq!(own.components, other.components);
        assert_eq!(own.tasks, other.tasks);
        assert_eq!(own.signals, other.signals);
        assert_eq!(own.blocks, other.blocks);
        assert_eq!(own.terms, other.terms);
        assert_eq!(own.contrasts, other.contrasts);
        assert_eq!(catalog.fingerprint(), again.fingerprint());
    }
}

/// Numbers from which a definition is made; past their end everything is 0.
struct Tape<'t>(std::slice::Iter<'t, u32>);

impl Tape<'_> {
    fn below(&mut self, end: usize) -> usize {
        self.0.next().map_or(0, |number| *number as usize % end)
    }

    fn position(&mut self, end: usize) -> u8 {
        u8::try_from(self.below(end)).unwrap()
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// Names of different kinds may be the same.
    fn names<'a>(&mut self, arena: &'a Arena, count: usize) -> Vec<&'a str> {
        let name = |index| format!("{}{index}", self.pick(&["a", "Z-", "_", "0", "true"]));
        (0..count).map(name).map(|name| &*arena.alloc_str(&name)).collect()
    }

    fn text<'a>(&mut self, arena: &'a Arena) -> &'a str {
        let pieces = [
            "", "Answer.", "\"", "'", "\\", "\n", "\r\n", "\t", "\u{0}", "\u{7f}", "'''", "\"\"\"", "#", "{",
            "\u{e4}", " ",
        ];
        let pieces: String = (0..self.below(6)).map(|_| self.pick(&pieces)).collect();
        arena.alloc_str(&pieces)
    }

    fn double(&mut self) -> f64 {
        let fraction = self.below(1 << 30) as f64 / f64::from(1 << 30);
        self.pick(&[
            0.0,
            -0.0,
            0.1,
            1.0 / 3.0,
            5e-324,
            1e-300,
            99.999_999_999_999_99,
            100.0,
            fraction,
            100.0 * fraction,
        ])
    }

    fn single(&mut self) -> f32 {
        let fraction = self.below(1 << 24) as f32 / (1 << 24) as f32;
        self.pick(&[0.0, -0.0, 0.1, 0.65, 1.0 / 3.0, 1e-45, 1e-38, 1.0, fraction, fraction * 1e-20])
    }
}

fn component<'a>(tape: &mut Tape<'_>, arena: &'a Arena, name: &'a str) -> Component<'a> {
    let count = 1 + tape.below(5);
    let names = tape.names(arena, count);
    let values: Vec<_> =
        names.into_iter().map(|name| Value::new(name, tape.text(arena), tape.double())).collect();
    let null = tape.pick(&[None, Some(0)]).map(|_: u8| tape.position(count));
    Component { null, ..Component::new(name, arena.alloc_slice_copy(&values)) }
}

fn block(tape: &mut Tape<'_>, definition: &Definition<'_>) -> Block {
    let components: Vec<u8> =
        (0..=tape.below(3)).map(|_| tape.position(definition.components.len())).collect();
    let mut block = tape.pick(&[Block::product(&components), Block::complete()]);
    if tape.below(3) == 1 {
        block = block.per_task();
    }
    if tape.below(3) == 1 {
        block = block.scaled_by(tape.position(definition.signals.len().max(1)));
    }
    if tape.below(3) == 1 { block.without_null() } else { block }
}

fn term<'a>(tape: &mut Tape<'_>, arena: &'a Arena, definition: &Definition<'a>) -> Term<'a> {
    let (signal, level) = (tape.position(definition.signals.len().max(1)), tape.single());
    let tasks: Vec<u8> = (0..=tape.below(3)).map(|_| tape.position(definition.tasks.len().max(1))).collect();
    let when = tape.pick(&[
        Condition::Always,
        Condition::Above(signal, level),
        Condition::AtLeast(signal, level),
        Condition::AtMost(signal, level),
        Condition::Below(signal, level),
        Condition::Tasks(arena.alloc_slice_copy(&tasks)),
    ]);
    let mut parts: Vec<Part<'a>> = Vec::new();
    for _ in 0..=tape.below(3) {
        let component = tape.position(definition.components.len());
        let mut values: Vec<u8> = Vec::new();
        for _ in 0..=tape.below(3) {
            let value = tape.position(definition.components[usize::from(component)].values.len());
            if !values.contains(&value) {
                values.push(value);
            }
        }
        if parts.iter().all(|part| part.component != component) {
            parts.push(Part::new(component, arena.alloc_slice_copy(&values)));
        }
    }
    Term::new(tape.pick(&[1.0, -1.0]) * tape.double(), when, arena.alloc_slice_copy(&parts))
}

fn contrast<'a>(
    tape: &mut Tape<'_>,
    arena: &'a Arena,
    definition: &Definition<'a>,
    name: &'a str,
) -> Contrast<'a> {
    let over: Vec<u8> =
        definition.components.iter().map(|component| tape.position(component.values.len())).collect();
    let mut prefer = over.clone();
    let differs = tape.below(over.len());
    prefer[differs] = tape.position(definition.components[differs].values.len());
    let task = tape.pick(&[None, Some(0)]).map(|_: u8| tape.position(definition.tasks.len().max(1)));
    let signals: Vec<f32> = definition.signals.iter().map(|_| tape.single()).collect();
    Contrast::new(name, arena.alloc_slice_copy(&prefer), arena.alloc_slice_copy(&over))
        .when(task, arena.alloc_slice_copy(&signals))
        .says(tape.text(arena), tape.text(arena))
}

/// A sound definition: of what the tape says, the items that core takes.
fn definition<'a>(tape: &mut Tape<'_>, arena: &'a Arena) -> Definition<'a> {
    let counts = [1 + tape.below(4), tape.below(4), tape.below(4), tape.below(5), 1];
    let [components, tasks, signals, contrasts, own] = counts.map(|count| tape.names(arena, count));
    let components: Vec<_> = components.into_iter().map(|name| component(tape, arena, name)).collect();
    let mut sound = Definition {
        name: own[0],
        components: arena.alloc_slice_copy(&components),
        tasks: arena.alloc_slice_copy(&tasks),
        signals: arena.alloc_slice_copy(&signals),
        blocks: arena.alloc_slice_copy(&[Block::main(0)]),
        ..Definition::EMPTY
    };
    let mut offer = |next: Definition<'a>| {
        if Catalog::try_new(next).is_ok() {
            sound = next;
        }
        sound
    };
    let mut now = offer(Definition::EMPTY);
    for _ in 0..tape.below(10) {
        let block = block(tape, &now);
        let blocks = if tape.below(9) == 1 { vec![block] } else { [now.blocks, &[block]].concat() };
        now = offer(Definition { blocks: arena.alloc_slice_copy(&blocks), ..now });
    }
    for _ in 0..tape.below(6) {
        let terms = [now.terms, &[term(tape, arena, &now)]].concat();
        now = offer(Definition { terms: arena.alloc_slice_copy(&terms), ..now });
    }
    for name in contrasts {
        let contrasts = [now.contrasts, &[contrast(tape, arena, &now, name)]].concat();
        now = offer(Definition { contrasts: arena.alloc_slice_copy(&contrasts), ..now });
    }
    now
}

#[test]
fn the_definitions_of_the_properties_have_everything() {
    let (mut blocks, mut terms, mut contrasts, mut clashes) = (0, 0, 0, 0);
    for seed in 0..200_u32 {
        let numbers: Vec<u32> =
            (0..300).map(|index: u32| (index + 300 * seed).wrapping_mul(2_654_435_761) >> 7).collect();
        let arena = Arena::new();
        let definition = definition(&mut Tape(numbers.iter()), &arena);
        blocks +=
            usize::from(definition.blocks.iter().any(|block| block.is_complete() || block.is_without_null()));
        terms += usize::from(definition.terms.iter().any(|term| term.applies.len() > 1));
        contrasts += usize::from(definition.contrasts.len() > 1);
        clashes += usize::from(
            definition.components.iter().any(|component| definition.signals.contains(&component.name)),
        );
    }
    assert!(
        blocks > 10 && terms > 10 && contrasts > 10 && clashes > 10,
        "{blocks} {terms} {contrasts} {clashes}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_catalog_survives_being_written_and_read(numbers in prop::collection::vec(any::<u32>(), 0..400)) {
        let arena = Arena::new();
        let catalog = Catalog::try_new(definition(&mut Tape(numbers.iter()), &arena)).unwrap();
        let text = write(&catalog);
        let again = read(&arena, "any.toml", &text).unwrap_or_else(|mistake| panic!("{mistake}\n{text}"));
        prop_assert_eq!(catalog.definition(), again.definition());
        prop_assert_eq!(catalog.fingerprint(), again.fingerprint());
        prop_assert_eq!(text, write(&again));
    }

    /// Something is cut out of a sound file or put into it.
    #[test]
    fn a_damaged_file_is_a_catalog_or_a_mistake_with_a_place(
        from in any::<prop::sample::Index>(), length in 0_usize..40, with in "(\\PC|[\\n\"'=\\[\\]{}.,]){0,6}",
    ) {
        let text = write(&AGENT);
        let start = from.index(text.len());
        let end = text.floor_char_boundary(start + length);
        let text = format!("{}{with}{}", &text[..start], &text[end.max(start)..]);
        if let Err(mistake) = read(&Arena::new(), "damaged.toml", &text) {
            let line = text.split('\n').nth(mistake.line - 1).unwrap();
            prop_assert_eq!(line.trim_end_matches('\r'), &mistake.excerpt);
            prop_assert!(mistake.column <= line.chars().count() + 1);
            prop_assert!(mistake.to_string().ends_with('^'));
        }
    }

    #[test]
    fn any_text_is_a_catalog_or_a_mistake(text in "\\PC*") {
        let _ = read(&Arena::new(), "any.toml", &text).map_err(|mistake| mistake.to_string());
    }
}

/// Opens a file with this content; what is told about it calls it `f.toml`.
fn open(content: &[u8]) -> Result<&'static Catalog<'static>, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f.toml");
    std::fs::write(&path, content).unwrap();
    let path = path.to_str().unwrap();
    catalogs::open(path).map_err(|error| error.to_string().replace(path, "f.toml"))
}

#[test]
fn open_takes_names_and_files() {
    for name in catalogs::NAMES {
        assert_eq!(catalogs::open(name).unwrap().definition().name, name);
    }
    assert_eq!(open(write(&RUBRIC).as_bytes()).unwrap().definition(), RUBRIC.definition());
    for name in ["golf", "", "agents", "toml", ".toml "] {
        assert!(
            matches!(catalogs::open(name), Err(CatalogFileError::NoSuchCatalog(wrong)) if wrong == name),
            "{name:?}"
        );
    }
    for path in ["missing.toml", "./missing", "agent.toml", "/"] {
        assert!(
            matches!(catalogs::open(path), Err(CatalogFileError::File(FileError::Unreadable { .. }))),
            "{path}"
        );
    }
}

#[test]
fn files_that_are_no_text_or_too_long_are_refused() {
    let says = "f.toml:2:5: a TOML file is UTF-8 text, and this byte is none\n    2 | # gr\u{fffd}\u{fffd}e\n      |     ^";
    assert_eq!(open(b"name = \"lamp\"\n# gr\xfc\xdfe\n").unwrap_err(), says);
    let most = usize::try_from(MAX_BYTES).unwrap();
    let mut full = write(&TAU2).into_bytes();
    full.resize(most, b'\n');
    assert_eq!(open(&full).unwrap().fingerprint(), TAU2.fingerprint());
    full.push(b'\n');
    assert_eq!(open(&full).unwrap_err(), "f.toml: larger than 1 MiB, which no catalog is");
}

#[test]
fn the_readme_has_a_sound_catalog() {
    let readme = include_str!("../../README.md");
    let (_, rest) = readme.split_once("```toml\n").unwrap();
    let (text, _) = rest.split_once("```").unwrap();
    let catalog = open(text.as_bytes()).unwrap();
    assert_eq!((catalog.actions(), catalog.dimension()), (6, 13), "as the README says");
}
