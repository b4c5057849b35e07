//! The file that declares metrics, and what can be wrong with it.

use super::{COMMENT, Combine, Kind, Metric, Metrics};
use crate::toml_file::{self, Blame, FileError, Flaw, Mistake, Source};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::time::Duration;
use toml::Spanned;

/// How long the metrics of a decision are waited for unless something else is said.
pub(super) const WAIT: Duration = Duration::from_mins(10);
/// A week.
const LONGEST: u64 = 604_800;
/// Bytes of a name.
const MAX_NAME: usize = 256;
/// Most metrics of a file.
const MAX_METRICS: usize = 256;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    reward: Option<RewardTable>,
    #[serde(default)]
    metrics: BTreeMap<Spanned<String>, Spanned<MetricTable>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table like [reward] with combine = \"mean\"")]
struct RewardTable {
    combine: Option<Spanned<String>>,
    #[serde(default)]
    required: Vec<Spanned<String>>,
    wait: Option<Spanned<u64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a metric like { kind = \"boolean\" }")]
struct MetricTable {
    kind: Spanned<String>,
    range: Option<Spanned<Vec<f64>>>,
    better: Option<Spanned<String>>,
    weight: Option<Spanned<f64>>,
}

impl Metrics {
    /// Reads a file.
    ///
    /// # Errors
    /// An unreadable file, or a mistake in it with its place.
    pub fn open(file: &str) -> Result<Self, FileError> {
        let text = toml_file::text(file)?;
        Ok(Self::read(file, &text)?)
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// A mistake with its place.
    pub fn read(file: &str, text: &str) -> Result<Self, Mistake> {
        let source = Source { file, text };
        settle(source.parse()?).map_err(|blame| source.mistake(blame))
    }
}

fn settle(Document { reward, metrics: tables }: Document) -> Result<Metrics, Blame> {
    let mut metrics = Vec::with_capacity(tables.len() + 1);
    for (name, table) in tables {
        if name.get_ref().is_empty() || name.get_ref().len() > MAX_NAME || metrics.len() == MAX_METRICS {
            let text = format!(
                "the name of a metric has 1 to {MAX_NAME} bytes, and there are at most {MAX_METRICS}"
            );
            return Err(Blame::form(name.span(), text));
        }
        metrics.push(metric(name.into_inner(), table)?);
    }
    if !metrics.iter().any(|metric| metric.name == COMMENT) {
        metrics.push(Metric::comment());
        metrics.sort_by(|a, b| a.name.cmp(&b.name));
    }
    let RewardTable { combine, required, wait } = reward.unwrap_or_default();
    let waits = wait.as_ref().map(Spanned::span);
    let wait = wait.map_or(Ok(WAIT), |wait| match *wait.get_ref() {
        seconds @ 1..=LONGEST => Ok(Duration::from_secs(seconds)),
        _ => Err(Blame::form(wait.span(), format!("wait must be from 1 to {LONGEST} seconds"))),
    })?;
    let mut places: Vec<usize> = Vec::with_capacity(required.len());
    for name in &required {
        let place = metrics.iter().position(|metric| metric.name == *name.get_ref());
        let known = metrics.iter().map(|metric| metric.name.as_str());
        let unknown = || Blame::new(name.span(), Flaw::unknown("there is no metric", name.get_ref(), known));
        let place = place.ok_or_else(unknown)?;
        if places.contains(&place) {
            return Err(Blame::form(name.span(), format!("'{}' is required already", name.get_ref())));
        }
        places.push(place);
    }
    if let (true, Some(wait)) = (places.is_empty(), waits) {
        return Err(Blame::form(
            wait,
            "nothing is waited for: name metrics in required = [...], or leave wait out",
        ));
    }
    let combine = combined(combine, places.is_empty())?;
    Ok(Metrics { all: metrics, combine, required: places, wait })
}

/// How scores are combined; `at_once` when nothing is waited for.
fn combined(name: Option<Spanned<String>>, at_once: bool) -> Result<Combine, Blame> {
    let Some(name) = name else { return Ok(Combine::Mean) };
    let combine = match name.get_ref().as_str() {
        "mean" => Combine::Mean,
        "sum" => Combine::Sum,
        "first" => Combine::First,
        "last" => Combine::Last,
        other => {
            let known = ["mean", "sum", "first", "last"];
            return Err(Blame::new(
                name.span(),
                Flaw::unknown("metrics cannot be combined by", other, known),
            ));
        }
    };
    if combine == Combine::Last && at_once {
        let text = "without required metrics the first one is the reward: name those to wait for in required = [...]";
        return Err(Blame::form(name.span(), text));
    }
    Ok(combine)
}

fn metric(name: String, table: Spanned<MetricTable>) -> Result<Metric, Blame> {
    let place = table.span();
    let MetricTable { kind, range, better, weight } = table.into_inner();
    let kind = match (kind.get_ref().as_str(), range) {
        ("boolean", None) => Kind::Boolean,
        ("comment", None) => Kind::Comment,
        ("float", Some(range)) => bounds(&range)?,
        ("float", None) => return Err(Blame::new(place, Flaw::Missing("range".into()))),
        ("boolean" | "comment", Some(range)) => {
            return Err(Blame::form(range.span(), "only a metric of kind \"float\" has a range"));
        }
        (other, _) => {
            let known = ["boolean", "float", "comment"];
            return Err(Blame::new(kind.span(), Flaw::unknown("there is no kind of metric", other, known)));
        }
    };
    let lower_is_better = better.map_or(Ok(false), |better| match better.get_ref().as_str() {
        "higher" => Ok(false),
        "lower" => Ok(true),
        other => Err(Blame::new(better.span(), Flaw::unknown("better is not", other, ["higher", "lower"]))),
    })?;
    let weight = weight.map_or(Ok(1.0), |weight| match *weight.get_ref() {
        weight if (0.001..=100.0).contains(&weight) => Ok(weight),
        _ => Err(Blame::form(weight.span(), "a weight must be a number from 0.001 to 100")),
    })?;
    Ok(Metric { name, kind, lower_is_better, weight })
}

fn bounds(range: &Spanned<Vec<f64>>) -> Result<Kind, Blame> {
    match range.get_ref().as_slice() {
        [low, high] if low < high && (high - low).is_finite() => Ok(Kind::Float { low: *low, high: *high }),
        [_, _] => Err(Blame::form(
            range.span(),
            "a range goes from a lower number to a higher one: range = [0, 30]",
        )),
        _ => Err(Blame::form(range.span(), "a range is two numbers: range = [0, 30]")),
    }
}
