//! What Linux knows about a process.

use std::fs;

/// Processor time so far, by thread, the busiest first, in seconds.
#[must_use]
pub fn processor_time(process: u32) -> Vec<(String, f64)> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let time = |thread: fs::DirEntry| {
        let text = fs::read_to_string(thread.path().join("stat")).ok()?;
        let (name, fields) =
            (text.split_once('(')?.1.split_once(')')?.0.to_owned(), text.rsplit_once(')')?.1);
        let ticks = fields.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok());
        Some((name, ticks.sum::<f64>() / 100.0))
    };
    let mut times: Vec<(String, f64)> = threads.filter_map(time).collect();
    times.sort_by(|a, b| b.1.total_cmp(&a.1));
    times
}

/// Memory in bytes: now and at most so far.
#[must_use]
pub fn memory(process: u32) -> (u64, u64) {
    let text = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let kilobytes = |key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key))?;
        line.split_whitespace().next()?.parse::<u64>().ok()
    };
    (kilobytes("VmRSS:").unwrap_or(0) << 10, kilobytes("VmHWM:").unwrap_or(0) << 10)
}
