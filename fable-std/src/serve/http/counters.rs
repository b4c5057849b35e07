//! Counts of requests, errors and times, and how Prometheus reads them. No name of a user is in them.

use super::fault::Fault;
use super::routes::ROUTES;
use crate::serve::Gauges;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Upper ends of the buckets, in microseconds and as Prometheus writes them in seconds.
const BUCKETS: [(u64, &str); 15] = [
    (100, "0.0001"),
    (250, "0.00025"),
    (500, "0.0005"),
    (1_000, "0.001"),
    (2_500, "0.0025"),
    (5_000, "0.005"),
    (10_000, "0.01"),
    (25_000, "0.025"),
    (50_000, "0.05"),
    (100_000, "0.1"),
    (250_000, "0.25"),
    (500_000, "0.5"),
    (1_000_000, "1"),
    (2_500_000, "2.5"),
    (10_000_000, "10"),
];

/// How long requests took.
#[derive(Debug, Default)]
struct Histogram {
    /// One per bucket, and one for what took longer.
    counts: [AtomicU64; BUCKETS.len() + 1],
    microseconds: AtomicU64,
}

/// See the [module](self).
#[derive(Debug)]
pub(super) struct Counters {
    /// By route.
    times: Vec<Histogram>,
    /// By [`Fault::position`].
    errors: Vec<AtomicU64>,
    /// Rewards of several metrics that the learner refused when it was time for them.
    late: AtomicU64,
}

/// What is counted elsewhere.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Now {
    pub(super) service: Gauges,
    pub(super) in_flight: usize,
    pub(super) connections: usize,
    pub(super) waiting: usize,
}

impl Counters {
    pub(super) fn new() -> Self {
        let times = ROUTES.iter().map(|_| Histogram::default()).collect();
        Self { times, errors: Fault::all().map(|_| AtomicU64::new(0)).collect(), late: AtomicU64::new(0) }
    }

    pub(super) fn took(&self, route: usize, time: Duration) {
        let Some(histogram) = self.times.get(route) else { return };
        let microseconds = time.as_micros() as u64;
        let bucket = BUCKETS.partition_point(|(end, _)| *end < microseconds);
        if let Some(count) = histogram.counts.get(bucket) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        histogram.microseconds.fetch_add(microseconds, Ordering::Relaxed);
    }

    pub(super) fn refused(&self, fault: Fault) {
        if let Some(count) = self.errors.get(fault.position()) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(super) fn late(&self) {
        self.late.fetch_add(1, Ordering::Relaxed);
    }

    /// All of it in Prometheus' text format.
    pub(super) fn write(&self, now: &Now) -> String {
        let mut text = String::with_capacity(16 << 10);
        let Gauges { users_in_memory: users, bytes_in_memory: bytes, commits, conflicts, events, .. } =
            now.service;
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        for (name, kind, help, value) in [
            ("fable_users_in_memory", "gauge", "Users in memory.", users),
            ("fable_users_in_memory_bytes", "gauge", "Bytes that the users in memory take.", bytes),
            ("fable_commits_total", "counter", "Commits of the store.", commits),
            (
                "fable_conflicts_total",
                "counter",
                "Requests computed again because the user had changed.",
                conflicts,
            ),
            ("fable_events_total", "counter", "Events that were stored.", events),
            (
                "fable_http_requests_in_flight",
                "gauge",
                "Requests that wait for the learners.",
                now.in_flight as u64,
            ),
            ("fable_http_connections", "gauge", "Open connections.", now.connections as u64),
            (
                "fable_metrics_waiting",
                "gauge",
                "Decisions whose metrics wait for others.",
                now.waiting as u64,
            ),
            (
                "fable_metrics_refused_total",
                "counter",
                "Rewards of waiting metrics that were refused.",
                load(&self.late),
            ),
        ] {
            let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}\n"); // a String takes everything
        }
        text.push_str("# HELP fable_http_errors_total Refused requests by code.\n# TYPE fable_http_errors_total counter\n");
        for (fault, count) in Fault::all().zip(&self.errors) {
            let _ = writeln!(text, "fable_http_errors_total{{code=\"{}\"}} {}", fault.name(), load(count));
        }
        let counted: Vec<(&str, Vec<u64>, u64)> = ROUTES
            .iter()
            .zip(&self.times)
            .map(|(route, times)| {
                (route.label, times.counts.iter().map(load).collect(), load(&times.microseconds))
            })
            .collect();
        text.push_str(
            "# HELP fable_http_requests_total Requests by op.\n# TYPE fable_http_requests_total counter\n",
        );
        for (label, counts, _) in &counted {
            let _ =
                writeln!(text, "fable_http_requests_total{{op=\"{label}\"}} {}", counts.iter().sum::<u64>());
        }
        text.push_str(
            "# HELP fable_http_request_seconds Time to an answer by op.\n# TYPE fable_http_request_seconds histogram\n",
        );
        for (label, counts, microseconds) in &counted {
            let mut sum = 0;
            for (count, end) in counts.iter().zip(BUCKETS.iter().map(|(_, end)| *end).chain(["+Inf"])) {
                sum += count;
                let _ =
                    writeln!(text, "fable_http_request_seconds_bucket{{op=\"{label}\",le=\"{end}\"}} {sum}");
            }
            let seconds = *microseconds as f64 / 1e6;
            let _ = writeln!(text, "fable_http_request_seconds_sum{{op=\"{label}\"}} {seconds}");
            let _ = writeln!(text, "fable_http_request_seconds_count{{op=\"{label}\"}} {sum}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::refusal::Code;

    #[test]
    fn times_are_in_their_buckets() {
        let counters = Counters::new();
        for microseconds in [0, 100, 101, 1_000, 10_000_000, 10_000_001] {
            counters.took(1, Duration::from_micros(microseconds));
        }
        counters.took(usize::MAX, Duration::ZERO); // nothing
        counters.refused(Fault::Code(Code::Expired));
        let text = counters.write(&Now { in_flight: 3, ..Now::default() });
        let label = ROUTES[1].label;
        let bucket = |end: &str| {
            let start = format!("fable_http_request_seconds_bucket{{op=\"{label}\",le=\"{end}\"}} ");
            text.lines().find_map(|line| line.strip_prefix(&start)).unwrap().parse::<u64>().unwrap()
        };
        assert_eq!(["0.0001", "0.00025", "0.001", "2.5", "10", "+Inf"].map(bucket), [2, 3, 4, 4, 5, 6]);
        for line in [
            "fable_http_errors_total{code=\"expired\"} 1",
            "fable_http_errors_total{code=\"busy\"} 0",
            "fable_http_requests_in_flight 3",
            &format!("fable_http_requests_total{{op=\"{label}\"}} 6"),
            &format!("fable_http_request_seconds_sum{{op=\"{label}\"}} 20.001202"),
        ] {
            assert!(text.lines().any(|own| own == line), "{line}\n{text}");
        }
    }
}
