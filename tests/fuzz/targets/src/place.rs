//! Any text is the URL of a database or an error. Nothing that is shown of it has its password.

use fable_std::store::{Place, is_url, shown};
use std::path::Path;

const PASSWORD: &str = "Zq7secret";

/// The parts of a URL before its password and after it.
pub fn place(data: &[u8]) {
    let text = crate::prefix(data);
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
        // A user that ends early leaves the password in the place of a host, a database or an option.
        // Then it is not a password.
        let password = index == 3 || !before.contains(['/', '?', '@', ':', '#']);
        assert!(!password || !told.contains(PASSWORD), "{url}: {told}");
    }
}
