//! The arithmetic against fractions of whole numbers, its laws, every mistake of a file, and metrics that wait.

use super::*;
use fable_core::DecisionId;
use proptest::prelude::*;
use std::time::Instant;

fn metrics(text: &str) -> Metrics {
    Metrics::read("m.toml", text).unwrap_or_else(|mistake| panic!("{mistake}"))
}

/// The metric `names[i]` has a range, a direction and a weight, all in thousandths.
#[derive(Clone, Debug)]
struct Declared {
    low: i32,
    width: u16,
    lower: bool,
    weight: u16,
}

fn declared() -> impl Strategy<Value = Vec<Declared>> {
    let one = (-100_000..100_000_i32, 1..u16::MAX, any::<bool>(), 1..20_000_u16);
    prop::collection::vec(
        one.prop_map(|(low, width, lower, weight)| Declared { low, width, lower, weight }),
        1..6,
    )
}

fn built(declared: &[Declared], combine: Combine) -> Metrics {
    let metric = |(place, declared): (usize, &Declared)| Metric {
        name: format!("m{place}"),
        kind: Kind::Float {
            low: f64::from(declared.low) / 1000.0,
            high: (f64::from(declared.low) + f64::from(declared.width)) / 1000.0,
        },
        lower_is_better: declared.lower,
        weight: f64::from(declared.weight) / 1000.0,
    };
    let metrics = declared.iter().enumerate().map(metric).collect();
    Metrics { all: metrics, combine, required: Vec::new(), wait: file::WAIT }
}

/// n / d
type Fraction = (i128, i128);

fn plus(a: Fraction, b: Fraction) -> Fraction {
    (a.0 * b.1 + b.0 * a.1, a.1 * b.1)
}

/// The reward in whole numbers, written without a look at the other one: the distance from the middle of the range in half widths.
fn oracle(declared: &[Declared], values: &[i32], mean: bool) -> f64 {
    let (mut sum, mut weights) = ((0, 1), 0);
    for (declared, value) in declared.iter().zip(values) {
        let (low, width) = (i128::from(declared.low), i128::from(declared.width));
        let inside = i128::from(*value).max(low).min(low + width);
        let from_middle = 2 * (inside - low) - width;
        let weight = i128::from(declared.weight);
        let sign = if declared.lower { -1 } else { 1 };
        sum = plus(sum, (sign * weight * from_middle, width));
        weights += weight;
    }
    let (numerator, denominator) = (sum.0, sum.1 * if mean { weights } else { 1000 }); // weights are in thousandths
    (numerator as f64 / denominator as f64).clamp(-1.0, 1.0)
}

fn scores(metrics: &Metrics, values: &[i32]) -> Vec<Scored> {
    let score = |(place, value): (usize, &i32)| {
        metrics.score(&format!("m{place}"), Value::Float(f64::from(*value) / 1000.0)).unwrap()
    };
    values.iter().enumerate().map(score).collect()
}

proptest! {
    #[test]
    fn rewards_are_those_of_exact_fractions(declared in declared(), seed in prop::collection::vec(-120_000..220_000_i32, 6)) {
        let values = &seed[..declared.len()];
        for (combine, mean) in [(Combine::Mean, true), (Combine::Sum, false)] {
            let metrics = built(&declared, combine);
            let reward = metrics.reward(&scores(&metrics, values)).unwrap();
            let expected = oracle(&declared, values, mean);
            prop_assert!((reward - expected).abs() < 1e-9, "{reward} {expected}");
        }
    }

    /// Always in [-1, 1], and better in every single metric is never worse, whatever finite number that is.
    #[test]
    fn rewards_are_in_range_and_monotone(
        declared in declared(),
        values in prop::collection::vec(prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO, 6),
        near in prop::collection::vec(-200.0..200.0_f64, 6),
        place in 0..6_usize,
        other in prop::num::f64::NORMAL,
        combine in prop::sample::select(vec![Combine::Mean, Combine::Sum, Combine::First, Combine::Last]),
        close in any::<bool>(),
    ) {
        let metrics = built(&declared, combine);
        let place = place % declared.len();
        let mut values = if close { near } else { values };
        let reward = |values: &[f64]| {
            let score = |at: usize| metrics.score(&format!("m{at}"), Value::Float(values[at])).unwrap();
            metrics.reward(&(0..declared.len()).map(score).collect::<Vec<_>>()).unwrap()
        };
        let before = (values[place], reward(&values));
        values[place] = if close { before.0 + other.abs().min(50.0) } else { other };
        let after = (values[place], reward(&values));
        prop_assert!((-1.0..=1.0).contains(&before.1) && (-1.0..=1.0).contains(&after.1), "{before:?} {after:?}");
        let ((_, less), (_, more)) = if before.0 <= after.0 { (before, after) } else { (after, before) };
        prop_assert!(if declared[place].lower { more <= less } else { less <= more }, "{before:?} {after:?}");
    }
}

#[test]
fn the_widest_and_the_narrowest_range_have_their_ends() {
    for (low, high) in [(-8e307, 8e307), (0.0, f64::MIN_POSITIVE), (1.0, 1.0_f64.next_up()), (-5e-324, 0.0)] {
        let metric =
            Metric { name: "m".into(), kind: Kind::Float { low, high }, lower_is_better: false, weight: 1.0 };
        assert_eq!(
            [low, high].map(|x| metric.score(Value::Float(x)).unwrap()),
            [Some(-1.0), Some(1.0)],
            "{low} {high}"
        );
    }
}

#[test]
fn booleans_comments_and_wrong_values() {
    let metrics = metrics("[metrics.failed]\nkind = \"boolean\"\nbetter = \"lower\"\n");
    let score = |name, value| metrics.score(name, value).map(|scored| scored.score);
    assert_eq!(score("failed", Value::Boolean(true)), Ok(Some(-1.0)));
    assert_eq!(score("failed", Value::Boolean(false)), Ok(Some(1.0)));
    assert!(score("comment", Value::Text("thanks, that's perfect")).unwrap() > Some(0.8));
    assert_eq!(score("comment", Value::Text("Now translate it into French")), Ok(None));
    let wrong = |name, value| metrics.score(name, value).unwrap_err().to_string();
    assert_eq!(wrong("failed", Value::Float(1.0)), "the value of 'failed' is true or false");
    assert_eq!(wrong("comment", Value::Boolean(true)), "the value of 'comment' is a text");
    assert_eq!(wrong("fail", Value::Boolean(true)), "there is no metric 'fail'; known: comment, failed");
    assert_eq!(Metrics::default().score("reward", Value::Float(f64::NAN)), Err(MetricError::NotFinite));
    assert_eq!(Metrics::default().score("reward", Value::Float(0.25)).unwrap().score, Some(0.25));
    assert_eq!(metrics.reward(&[Scored { metric: 0, score: None }]), None);
}

#[test]
fn mistakes_are_told_with_their_place() {
    let float = "[metrics.m]\nkind = \"float\"\nrange = [0, 1]\n";
    for (text, place, said) in [
        (
            "[metrics.m]\nkind = \"flaot\"\n".to_owned(),
            (2, 8),
            "there is no kind of metric 'flaot'; did you mean 'float'? Known: boolean, float, comment",
        ),
        (
            "[metrics.m]\nkind = \"float\"\n".to_owned(),
            (1, 1),
            "this table needs the key 'range': range = [0, 30]",
        ),
        (
            "[metrics.m]\nrange = [0, 1]\n".to_owned(),
            (1, 1),
            "this table needs the key 'kind': kind = \"boolean\"",
        ),
        (
            "[metrics.m]\nkind = \"boolean\"\nrange = [0, 1]\n".to_owned(),
            (3, 9),
            "only a metric of kind \"float\" has a range",
        ),
        (
            "[metrics.m]\nkind = \"float\"\nrange = [1, 1]\n".to_owned(),
            (3, 9),
            "a range goes from a lower number to a higher one: range = [0, 30]",
        ),
        (
            "[metrics.m]\nkind = \"float\"\nrange = [0, nan]\n".to_owned(),
            (3, 9),
            "a range goes from a lower number to a higher one: range = [0, 30]",
        ),
        (
            "[metrics.m]\nkind = \"float\"\nrange = [0]\n".to_owned(),
            (3, 9),
            "a range is two numbers: range = [0, 30]",
        ),
        (format!("{float}weight = 0\n"), (4, 10), "a weight must be a number from 0.001 to 100"),
        (format!("{float}weight = nan\n"), (4, 10), "a weight must be a number from 0.001 to 100"),
        (format!("{float}better = \"more\"\n"), (4, 10), "better is not 'more'; known: higher, lower"),
        (
            format!("{float}bettr = \"lower\"\n"),
            (4, 1),
            "there is no key 'bettr'; did you mean 'better'? Known: kind, range, better, weight",
        ),
        (
            format!("{float}[reward]\nrequired = [\"n\"]\n"),
            (5, 13),
            "there is no metric 'n'; known: comment, m",
        ),
        (format!("{float}[reward]\nrequired = [\"m\", \"m\"]\n"), (5, 18), "'m' is required already"),
        (
            format!("{float}[reward]\nrequired = [\"m\"]\nwait = 0\n"),
            (6, 8),
            "wait must be from 1 to 604800 seconds",
        ),
        (
            format!("{float}[reward]\nwait = 5\n"),
            (5, 8),
            "nothing is waited for: name metrics in required = [...], or leave wait out",
        ),
        (
            format!("{float}[reward]\ncombine = \"median\"\n"),
            (5, 11),
            "metrics cannot be combined by 'median'; did you mean 'mean'? Known: mean, sum, first, last",
        ),
        (
            format!("{float}[reward]\ncombine = \"last\"\n"),
            (5, 11),
            "without required metrics the first one is the reward: name those to wait for in required = [...]",
        ),
        (
            "[metrics.\"\"]\nkind = \"boolean\"\n".to_owned(),
            (1, 10),
            "the name of a metric has 1 to 256 bytes, and there are at most 256",
        ),
        (
            "[metric.m]\nkind = \"boolean\"\n".to_owned(),
            (1, 2),
            "there is no key 'metric'; did you mean 'metrics'? Known: reward, metrics",
        ),
    ] {
        let mistake = Metrics::read("m.toml", &text).expect_err(&text);
        assert_eq!(
            ((mistake.line, mistake.column), mistake.flaw.to_string().as_str()),
            (place, said),
            "{text}"
        );
    }
}

fn id(round: u32) -> DecisionId {
    DecisionId { user: 7, incarnation: 0, site: 0, round }
}

#[test]
fn metrics_wait_for_those_that_are_required() {
    let metrics = metrics(
        "[reward]\nrequired = [\"a\", \"b\"]\nwait = 60\n[metrics]\na = { kind = \"boolean\" }\nb = { kind = \"boolean\" }\n",
    );
    assert!(metrics.waits() && !Metrics::default().waits());
    let (mut gathering, start) = (Gathering::default(), Instant::now());
    let yes = |name| metrics.score(name, Value::Boolean(true)).unwrap();
    let comment = metrics.score("comment", Value::Text("that is wrong")).unwrap();
    assert_eq!(gathering.add(&metrics, id(1), yes("a"), start), Ok(Next::Waits(vec!["b"])));
    assert_eq!(gathering.add(&metrics, id(1), yes("a"), start), Err(Unheld::Twice));
    assert_eq!(gathering.add(&metrics, id(1), comment, start), Ok(Next::Waits(vec!["b"])));
    assert_eq!(gathering.add(&metrics, id(2), comment, start), Ok(Next::Waits(vec!["a", "b"])));
    let Ok(Next::Ready(gathered)) = gathering.add(&metrics, id(1), yes("b"), start) else {
        panic!("b is there")
    };
    assert_eq!(gathered.came, [yes("a"), comment, yes("b")]);
    assert_eq!(gathering.len(), 1);
    // What could not be learned is held again, as it was before.
    gathering.put_back(gathered);
    assert_eq!(gathering.add(&metrics, id(1), comment, start), Err(Unheld::Twice));
    assert!(matches!(gathering.add(&metrics, id(1), yes("b"), start), Ok(Next::Ready(_))));

    let seconds = |seconds| start + Duration::from_secs(seconds);
    assert_eq!(gathering.add(&metrics, id(3), yes("b"), seconds(30)), Ok(Next::Waits(vec!["a"])));
    assert_eq!(gathering.due(&metrics, seconds(59)), None);
    assert_eq!(gathering.due(&metrics, seconds(60)).map(|held| held.decision), Some(id(2)));
    assert_eq!(gathering.due(&metrics, seconds(89)), None);
    assert_eq!(gathering.rest().map(|held| held.decision).collect::<Vec<_>>(), [id(3)]);
    assert!(gathering.is_empty() && gathering.due(&metrics, seconds(900)).is_none());
}

/// Decisions that are finished leave nothing behind, and those that are not have a limit.
#[test]
fn memory_is_bounded() {
    let metrics = metrics(
        "[reward]\nrequired = [\"a\", \"b\"]\n[metrics]\na = { kind = \"boolean\" }\nb = { kind = \"boolean\" }\n",
    );
    let (mut gathering, now) = (Gathering::default(), Instant::now());
    let yes = |name| metrics.score(name, Value::Boolean(true)).unwrap();
    for round in 0..20_000 {
        gathering.add(&metrics, id(round), yes("a"), now).unwrap();
        gathering.add(&metrics, id(round), yes("b"), now).unwrap();
    }
    assert_eq!(gathering.len(), 0);
    assert!(gathering.order.len() < 3000);
    for round in 0..MAX_WAITING as u32 {
        gathering.add(&metrics, id(round), yes("a"), now).unwrap();
    }
    assert_eq!(gathering.add(&metrics, id(u32::MAX), yes("a"), now), Err(Unheld::Full));
    assert!(matches!(gathering.add(&metrics, id(5), yes("b"), now), Ok(Next::Ready(_))));
    gathering.add(&metrics, id(u32::MAX), yes("a"), now).unwrap();
}
