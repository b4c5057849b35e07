//! What happens when this program itself is wrong, or a library that it is made of: one line and an exit code of its own.

use crate::stderr;
use std::panic::{self, PanicHookInfo};

/// The exit code of it.
pub(crate) const EXIT: u8 = 70;
/// Characters of the reason that are shown.
const LONGEST: usize = 300;

/// From here on a panic in any thread ends the process at once. Nothing waits for the thread that is gone, and what was answered
/// is on disk as after `kill -9`.
pub(crate) fn install() {
    panic::set_hook(Box::new(|info| {
        stderr::line(&told(info));
        stderr::flush();
        std::process::exit(EXIT.into());
    }));
}

fn told(info: &PanicHookInfo<'_>) -> String {
    let reason = info.payload_as_str().unwrap_or("no reason given");
    let reason: String =
        reason.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(LONGEST).collect();
    let place = info
        .location()
        .map_or_else(|| "unknown".into(), |place| format!("{}:{}", place.file(), place.line()));
    format!("fable: a fault inside fable: {reason} ({place}); please report it")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;
    use std::time::{Duration, Instant};

    const CHILD: &str = "FABLE_TEST_PANICS";

    /// This test's own process, started again, is the one that panics: in a thread for which the others wait.
    #[test]
    fn a_panic_in_any_thread_ends_the_process_with_one_line() {
        if std::env::var_os(CHILD).is_some() {
            install();
            let (_kept, never) = std::sync::mpsc::channel::<()>();
            std::thread::spawn(|| panic!("the cat\nis on\n  the keyboard"));
            let _ = never.recv();
        }
        let own = std::env::current_exe().unwrap();
        let mut command = Command::new(own);
        command.args([
            "--exact",
            "fault::tests::a_panic_in_any_thread_ends_the_process_with_one_line",
            "--nocapture",
        ]);
        let started = Instant::now();
        let output = command.env(CHILD, "1").env("RUST_BACKTRACE", "1").output().unwrap();
        assert!(started.elapsed() < Duration::from_mins(1));
        assert_eq!(output.status.code(), Some(EXIT.into()), "{output:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.starts_with("fable: a fault inside fable: the cat is on the keyboard ("), "{said}");
        assert!(said.trim_end().ends_with("); please report it") && said.contains("fault.rs:"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}
