//! Which functions of a firmware image can panic, and where in the source.
//!
//! The image is linked with `--emit-relocs`, so that every call in it is a relocation with an address and a symbol, and has line
//! tables, which say what was inlined at that address. Whatever calls the panic handler can panic. If the call is the standard
//! library's alone, its callers can panic; otherwise the innermost line outside the standard library is to blame: in
//! `bytes[..n]` that is the line with the brackets. A panic that optimization has removed is in no image and is not found.
//!
//! Calls must not be made one (`-C llvm-args='-enable-tail-merge=0 -enable-machine-outliner=never'`): one call for two panics has
//! no line. And panics must say where they happened, or the functions of `core` that they call are all the same. Then nothing is
//! missed silently: their places also stand in the image's constants, and each of those must have been found.

use addr2line::Context;
use addr2line::gimli::{Dwarf, EndianSlice, LittleEndian};
use object::read::elf::ElfFile32;
use object::{Architecture, Object, ObjectSection, ObjectSymbol, RelocationTarget, SectionKind, SymbolKind};
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::Path;

type Elf<'i> = ElfFile32<'i, object::LittleEndian>;
type Lines<'i> = Context<EndianSlice<'i, LittleEndian>>;

/// A place that can panic.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Site {
    /// The source, from the folder of the crate: `static_cell-2.1.1/src/lib.rs:188:13`.
    pub place: String,
    /// What panics there: `step_by`, `panic_fmt`.
    pub what: String,
    /// The function of the image it ended up in.
    pub function: String,
}

/// A function of the image.
struct Function {
    end: u64,
    name: String,
}

/// A reference to a function.
struct Reference {
    /// Where it is, if it is code.
    at: Option<u64>,
    /// The first address of the function referred to.
    target: u64,
}

/// Who made a call.
struct Blame {
    place: String,
    /// The function of the standard library that is inlined there, if any.
    inlined: Option<String>,
}

/// All places of an image that can panic.
///
/// # Errors
/// When the image cannot be read, has no panic handler, relocations or line tables, or holds the place of a panic that no call
/// leads to.
pub fn sites(image: &[u8]) -> Result<BTreeSet<Site>, Box<dyn Error>> {
    let elf = Elf::parse(image)?;
    let (lines, functions, references) = (lines(&elf)?, functions(&elf), references(&elf)?);
    let handler = functions.iter().find(|(_, function)| function.name.ends_with("rust_begin_unwind"));
    let (&handler, _) = handler.ok_or("the image has no panic handler")?;

    let mut found = BTreeSet::new();
    let (mut panicking, mut next) = (BTreeSet::from([handler]), vec![handler]);
    while let Some(target) = next.pop() {
        let callee = functions.get(&target).map_or("", |function| &function.name);
        for reference in references.iter().filter(|reference| reference.target == target) {
            let Some(at) = reference.at else {
                return Err(format!(
                    "{callee} can panic and is called through a pointer, nobody knows from where"
                )
                .into());
            };
            let (start, caller) =
                containing(&functions, at).ok_or_else(|| format!("there is no function at {at:#x}"))?;
            match blame(&lines, at)? {
                Some(Blame { place, inlined }) => {
                    let what = inlined.unwrap_or_else(|| last_name(callee).to_owned());
                    found.insert(Site { place, what, function: caller.name.clone() });
                }
                None if panicking.insert(start) => next.push(start),
                None => {}
            }
        }
    }
    for place in places(&elf)?.into_keys() {
        if !of_the_library(&place) && !found.iter().any(|site| site.place == from_crate(&place)) {
            return Err(format!("a message names {place}, but no call that panics was found there").into());
        }
    }
    Ok(found)
}

fn lines<'i>(elf: &Elf<'i>) -> Result<Lines<'i>, Box<dyn Error>> {
    let dwarf = Dwarf::load(|section| {
        let data = elf.section_by_name(section.name()).map_or(Ok(&[][..]), |section| section.data());
        data.map(|data| EndianSlice::new(data, LittleEndian))
    })?;
    Ok(Context::from_dwarf(dwarf)?)
}

fn functions(elf: &Elf<'_>) -> BTreeMap<u64, Function> {
    let functions = elf.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.size() > 0);
    let named = functions.map(|symbol| {
        let start = address(symbol.address());
        let name = format!("{:#}", rustc_demangle::demangle(symbol.name().unwrap_or_default()));
        (start, Function { end: start + symbol.size(), name })
    });
    named.collect()
}

/// An address of code without the mark of Thumb. RISC-V has no odd addresses.
const fn address(symbol: u64) -> u64 {
    symbol & !1
}

fn containing(functions: &BTreeMap<u64, Function>, at: u64) -> Option<(u64, &Function)> {
    let (&start, function) = functions.range(..=at).next_back()?;
    (at < function.end).then_some((start, function))
}

/// All references to functions, from code and from constants.
fn references(elf: &Elf<'_>) -> Result<Vec<Reference>, Box<dyn Error>> {
    let mut references = vec![];
    let loaded = [SectionKind::Text, SectionKind::ReadOnlyData, SectionKind::Data];
    for section in elf.sections().filter(|section| loaded.contains(&section.kind())) {
        for (at, relocation) in section.relocations() {
            let RelocationTarget::Symbol(symbol) = relocation.target() else { continue };
            let symbol = elf.symbol_by_index(symbol)?;
            if symbol.kind() == SymbolKind::Text {
                let at = (section.kind() == SectionKind::Text).then_some(at);
                references.push(Reference { at, target: address(symbol.address()) });
            }
        }
    }
    if references.is_empty() {
        Err("the image was not linked with --emit-relocs".into())
    } else {
        Ok(references)
    }
}

/// The innermost line at an address that is not the standard library's.
fn blame(lines: &Lines<'_>, at: u64) -> Result<Option<Blame>, Box<dyn Error>> {
    let mut frames = lines.find_frames(at).skip_all_loads()?;
    let mut inlined = None;
    while let Some(frame) = frames.next()? {
        let location = frame.location.as_ref().ok_or_else(|| format!("there is no line for {at:#x}"))?;
        let file = location.file.unwrap_or_default();
        if !of_the_library(file) {
            let place = format!(
                "{}:{}:{}",
                from_crate(file),
                location.line.unwrap_or(0),
                location.column.unwrap_or(0)
            );
            return Ok(Some(Blame { place, inlined }));
        }
        let function = frame.function.as_ref().and_then(|function| function.raw_name().ok());
        inlined =
            function.map(|name| last_name(&format!("{:#}", rustc_demangle::demangle(&name))).to_owned());
    }
    Ok(None)
}

fn of_the_library(file: &str) -> bool {
    file.starts_with("/rustc/") || file.contains("/library/core/src/")
}

/// A path from the folder of the crate; what is relative has the folder before it where the compiler was run.
fn from_crate(file: &str) -> &str {
    let folder = file.find("/src/").and_then(|end| file.get(..end)).and_then(|folder| folder.rfind('/'));
    folder.and_then(|slash| file.get(slash + 1..)).unwrap_or(file)
}

/// `core::panicking::panic_fmt` without its path, `new<Range<u32>>` without its types.
fn last_name(name: &str) -> &str {
    let mut depth = 0;
    let before_types = name.trim_end_matches(|letter: char| {
        let inside = depth > 0 || letter == '>';
        depth += i32::from(letter == '>') - i32::from(letter == '<');
        inside
    });
    let name = before_types.trim_end_matches("::");
    name.rsplit("::").next().unwrap_or(name)
}

/// The places that messages name, and where: every `core::panic::Location` among the constants, which is a pointer to a file
/// name, its length, line and column.
fn places(elf: &Elf<'_>) -> Result<BTreeMap<String, u64>, Box<dyn Error>> {
    let constants = elf.section_by_name(".rodata").ok_or("the image has no constants")?;
    let (start, bytes) = (constants.address(), constants.data()?);
    let place = |(at, words): (u64, &[[u8; 4]])| {
        let [pointer, length, line, column] = *words else { return None };
        let [length, line, column] = [length, line, column].map(u32::from_le_bytes);
        let first = usize::try_from(u64::from(u32::from_le_bytes(pointer)).checked_sub(start)?).ok()?;
        let file = bytes.get(first..first.checked_add(length as usize)?)?;
        let file = std::str::from_utf8(file)
            .ok()
            .filter(|file| Path::new(file).extension().is_some_and(|extension| extension == "rs"))?;
        Some((format!("{file}:{line}:{column}"), at))
    };
    Ok((start..).step_by(4).zip(bytes.as_chunks().0.windows(4)).filter_map(place).collect())
}

/// What to call for a panic.
pub struct PanicFunction {
    /// Whether the image is for Arm; otherwise it is for RISC-V.
    pub arm: bool,
    /// A function of `core` whose only argument is the place that the message names.
    pub function: u32,
    /// Such a place, or nothing if no message names one.
    pub location: u32,
}

/// A function that panics, and an argument for it.
///
/// # Errors
/// When it is not an image, or nothing in it panics.
pub fn panic_function(image: &[u8]) -> Result<PanicFunction, Box<dyn Error>> {
    let elf = Elf::parse(image)?;
    let simple = |name: &str| {
        name == "core::option::unwrap_failed" || name.starts_with("core::panicking::panic_const::")
    };
    let function =
        functions(&elf).into_iter().find(|(_, function)| simple(&function.name)).map(|(start, _)| start);
    let (function, location) =
        (function.ok_or("nothing in the image panics")?, places(&elf)?.into_values().next().unwrap_or(0));
    let arm = elf.architecture() == Architecture::Arm;
    Ok(PanicFunction { arm, function: u32::try_from(function)?, location: u32::try_from(location)? })
}

#[cfg(test)]
mod tests {
    use super::{from_crate, last_name};

    #[test]
    fn names_of_functions() {
        for (name, short) in [
            ("core::panicking::panic_fmt", "panic_fmt"),
            ("new<core::ops::Range<u32>>", "new"),
            ("core::array::<impl core::ops::IndexMut<I> for [T; N]>::index_mut", "index_mut"),
            ("<usize as core::slice::SliceIndex<[T]>>::index", "index"),
            ("core::slice::get::<usize>", "get"),
        ] {
            assert_eq!(last_name(name), short);
        }
    }

    #[test]
    fn paths_start_at_the_crate() {
        assert_eq!(from_crate("static_cell-2.1.1/src/lib.rs"), "static_cell-2.1.1/src/lib.rs");
        assert_eq!(
            from_crate("fable-embedded/postcard-1.1.3/src/de/flavors.rs"),
            "postcard-1.1.3/src/de/flavors.rs"
        );
        assert_eq!(from_crate("examples/firmware/src/boards/uart.rs"), "firmware/src/boards/uart.rs");
    }
}
