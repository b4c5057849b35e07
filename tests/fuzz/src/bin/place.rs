//! Any text is the URL of a database or an error; nothing that is shown of it has its password.
#![no_main]

use fable_std::store::{Place, is_url, shown};
use libfuzzer_sys::fuzz_target;
use std::path::Path;

const PASSWORD: &str = "Zq7secret";

// What a URL has before its password, and after it.
fuzz_target!(|text: &str| {
    let place = Path::new(text);
    if let Ok(parsed) = Place::parse(text) {
        assert!(is_url(place) && shown(place) == parsed.to_string());
    }
    if text.contains("Zq7") || text.contains("secret") {
        return;
    }
    let (before, after) = text.split_once('\0').unwrap_or((text, ""));
    let urls = [
        format!("postgres://{before}:{PASSWORD}@{after}"),
        format!("postgresql://{before}:{PASSWORD}%40@{after}"),
        format!("postgres://{before}:{PASSWORD}@localhost/{after}"),
        format!("postgres://ana@localhost/fable?{before}&password={PASSWORD}&{after}"),
    ];
    for (index, url) in urls.iter().enumerate() {
        let told = match Place::parse(url) {
            Ok(place) => format!("{place} {place:?}"),
            Err(error) => format!("{error} {error:?}"),
        };
        let told = format!("{told} {}", shown(Path::new(url)));
        // A user that ends early leaves the password where a host, a database or an option would be: then it is not one.
        let password = index == 3 || !before.contains(['/', '?', '@', ':', '#']);
        assert!(!password || !told.contains(PASSWORD), "{url}: {told}");
    }
});
