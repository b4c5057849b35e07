//! The same work for many seeds, on all cores, in order.

use crate::setup::{Setup, StudyError};
use indicatif::{ProgressBar, ProgressStyle};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Does `work(0)`, ..., `work(count - 1)` on the threads of the setup; the results are in order, whatever their number.
///
/// # Errors
/// The error of the earliest piece of work that failed.
///
/// ```
/// use studies::{Setup, parallel};
/// let squares = parallel::map(&Setup::for_tests(), "squares", 4, |index| Ok(index * index));
/// assert_eq!(squares.unwrap(), [0, 1, 4, 9]);
/// ```
pub fn map<T: Send>(
    setup: &Setup,
    label: &str,
    count: usize,
    work: impl Fn(usize) -> Result<T, StudyError> + Sync,
) -> Result<Vec<T>, StudyError> {
    let bar = bar(setup, label, count);
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                return done;
            }
            done.push((index, work(index)));
            bar.inc(1);
        }
    };
    let mut done: Vec<(usize, Result<T, StudyError>)> = thread::scope(|scope| {
        let workers: Vec<_> = (0..setup.threads.get().min(count)).map(|_| scope.spawn(worker)).collect();
        workers
            .into_iter()
            .flat_map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    bar.finish_and_clear();
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

fn bar(setup: &Setup, label: &str, count: usize) -> ProgressBar {
    if !setup.progress {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(count as u64).with_message(label.to_owned());
    match ProgressStyle::with_template("{msg:32} {wide_bar} {pos}/{len} {eta}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZero;

    #[test]
    fn the_number_of_threads_changes_nothing_and_the_first_error_wins() {
        let run = |threads| {
            let setup = Setup { threads: NonZero::new(threads).unwrap(), ..Setup::for_tests() };
            map(&setup, "", 100, |index| Ok(index * 3)).unwrap()
        };
        assert_eq!(run(1), run(7));
        let failing = map(&Setup::for_tests(), "", 100, |index| match index {
            17 | 60 => Err(StudyError::Failed(index.to_string().into())),
            _ => Ok(()),
        });
        assert_eq!(failing.unwrap_err().to_string(), "17");
        assert!(map(&Setup::for_tests(), "", 0, |_| Ok(())).unwrap().is_empty());
    }
}
