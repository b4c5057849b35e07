//! Another static library of Rust in the same program, with std: what both bring along must not meet.

/// Says how many words there are, from the heap, and lives through a panic.
#[unsafe(no_mangle)]
pub extern "C" fn other_words() -> i32 {
    let words: Vec<String> = "one two three".split(' ').map(String::from).collect();
    let caught = std::panic::catch_unwind(|| panic!("of the other library"));
    if caught.is_err() { i32::try_from(words.len()).unwrap_or(-1) } else { -1 }
}
