//! Timing in turns, and what is told about it.

use std::fmt;
use std::time::Instant;

/// One contender: something that runs a slice and says how many nanoseconds a round of it took.
pub struct Lane<'a> {
    /// What is timed.
    pub name: String,
    slice: Box<dyn FnMut() -> f64 + 'a>,
    samples: Vec<f64>,
}

impl<'a> Lane<'a> {
    /// A contender that has not run yet.
    pub fn new(name: impl Into<String>, slice: impl FnMut() -> f64 + 'a) -> Self {
        Self { name: name.into(), slice: Box::new(slice), samples: Vec::new() }
    }

    /// Half of the slices were faster.
    #[must_use]
    pub fn median(&self) -> f64 {
        median(self.samples.clone())
    }

    /// The fastest slice.
    #[must_use]
    pub fn minimum(&self) -> f64 {
        self.samples.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// How much longer this took than `other`: the median over the turns, each compared with the same turn of the other.
    #[must_use]
    pub fn ratio(&self, other: &Self) -> f64 {
        median(self.samples.iter().zip(&other.samples).map(|(own, other)| own / other).collect())
    }
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Lets every contender run a slice, again and again; the first turn does not count, and neither does the slice before each that does:
/// whoever ran before, perhaps in a process of its own, has left its own things in the caches.
pub fn rotate(lanes: &mut [Lane<'_>], turns: usize) {
    for turn in 0..=turns {
        for lane in &mut *lanes {
            (lane.slice)();
            let nanoseconds = (lane.slice)();
            if turn > 0 {
                lane.samples.push(nanoseconds);
            }
        }
    }
}

/// Nanoseconds that something takes.
#[expect(clippy::cast_precision_loss, reason = "minutes fit")]
pub fn nanoseconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_nanos() as f64
}

/// A Markdown table with the first contender as the measure.
pub struct Table<'t, 'a>(pub &'t [Lane<'a>]);

impl fmt::Display for Table<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| one round | median us | minimum us | ratio | ratio of minima |\n|---|---:|---:|---:|---:|"
        )?;
        for lane in self.0 {
            let (median, minimum) = (lane.median() / 1e3, lane.minimum() / 1e3);
            let (ratio, of_minima) = (lane.ratio(&self.0[0]), lane.minimum() / self.0[0].minimum());
            writeln!(f, "| {} | {median:.2} | {minimum:.2} | {ratio:.2} | {of_minima:.2} |", lane.name)?;
        }
        Ok(())
    }
}
