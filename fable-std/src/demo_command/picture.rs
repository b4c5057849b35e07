//! The picture: mean reward of four ways to live with the same user, as SVG.

use crate::svg::{escaped, opening, with_sign};
use std::fmt::Write;

const WIDTH: f64 = 840.0;
const HEIGHT: f64 = 440.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 684.0;
const TOP: f64 = 96.0;
const BOTTOM: f64 = 384.0;
/// Rounds on either side that a point of a curve is the mean of.
const SMOOTHING: usize = 7;
/// Least distance between the labels at the ends of the curves.
const LABEL_GAP: f64 = 36.0;

/// How a curve is drawn and what is written at its end.
pub(super) struct Curve {
    pub(super) name: &'static str,
    pub(super) note: &'static str,
    pub(super) colour: &'static str,
    pub(super) dashed: bool,
    /// A life each: the reward of every round.
    pub(super) lives: Vec<Vec<f64>>,
}

/// A drawn curve: its points and the band that holds the middle half of the lives.
struct Drawn {
    mean: Vec<f64>,
    band: Vec<(f64, f64)>,
}

/// The picture as the text of an SVG file.
pub(super) fn draw(title: &str, subtitle: &str, curves: &[Curve]) -> String {
    let drawn: Vec<Drawn> = curves.iter().map(summarise).collect();
    let rounds = drawn.iter().map(|curve| curve.mean.len()).max().unwrap_or(0).max(2);
    let ends = drawn.iter().flat_map(|curve| curve.band.iter().flat_map(|(low, high)| [*low, *high]));
    let (lowest, highest) = ends.fold((0.0_f64, 0.1_f64), |(low, high), value| (low.min(value), high.max(value)));
    let step = if highest - lowest > 0.5 { 0.2 } else { 0.1 };
    let (bottom, top) = ((lowest * 10.0).floor() / 10.0, (highest * 10.0).ceil() / 10.0);
    let x = |index: usize| LEFT + (RIGHT - LEFT) * index as f64 / (rounds - 1) as f64;
    let y = |value: f64| BOTTOM - (BOTTOM - TOP) * (value - bottom) / (top - bottom);

    let mut svg = String::new();
    let mut put = |line: String| {
        svg.push_str(&line);
        svg.push('\n');
    };
    put(opening(WIDTH, HEIGHT));
    put(format!("<title>{}</title>", escaped(title)));
    put(format!("<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"8\" fill=\"#fcfcfa\"/>"));
    put(format!("<text x=\"24\" y=\"36\" font-size=\"18\" font-weight=\"600\" fill=\"#1c1c1a\">{}</text>", escaped(title)));
    put(format!("<text x=\"24\" y=\"58\" fill=\"#6b6b66\">{}</text>", escaped(subtitle)));

    put("<g stroke=\"#e6e6e1\" stroke-width=\"1\">".into());
    let multiples = ((bottom / step).ceil() as i32)..=((top / step).floor() as i32);
    let levels: Vec<f64> = multiples.map(|multiple| f64::from(multiple) * step).collect();
    for level in &levels {
        let colour = if level.abs() < 1e-9 { " stroke=\"#b4b4ae\"" } else { "" };
        put(format!("<path d=\"M{LEFT} {0:.1}H{RIGHT}\"{colour}/>", y(*level)));
    }
    put("</g>".into());
    put("<g fill=\"#6b6b66\" text-anchor=\"end\">".into());
    for level in &levels {
        put(format!("<text x=\"{:.0}\" y=\"{:.1}\">{}</text>", LEFT - 10.0, y(*level) + 4.5, signed(*level)));
    }
    put("</g>".into());
    put(format!("<text x=\"{:.0}\" y=\"{:.0}\" fill=\"#6b6b66\" text-anchor=\"end\">reward</text>", LEFT - 10.0, TOP - 14.0));
    put("<g fill=\"#6b6b66\" text-anchor=\"middle\">".into());
    for round in ticks(rounds) {
        let place = x(round - 1);
        put(format!("<text x=\"{place:.1}\" y=\"{:.0}\">{round}</text>", BOTTOM + 22.0));
    }
    put(format!("<text x=\"{:.0}\" y=\"{:.0}\">round</text>", f64::midpoint(LEFT, RIGHT), BOTTOM + 42.0));
    put("</g>".into());

    for (curve, drawn) in curves.iter().zip(&drawn) {
        if !curve.dashed {
            let upper = drawn.band.iter().enumerate().map(|(index, (_, high))| (x(index), y(*high)));
            let lower = drawn.band.iter().enumerate().rev().map(|(index, (low, _))| (x(index), y(*low)));
            put(format!("<path d=\"{}Z\" fill=\"{}\" fill-opacity=\"0.12\"/>", path(upper.chain(lower)), curve.colour));
        }
    }
    for (curve, drawn) in curves.iter().zip(&drawn).rev() {
        let points = drawn.mean.iter().enumerate().map(|(index, value)| (x(index), y(*value)));
        let dash = if curve.dashed { " stroke-width=\"1.5\" stroke-dasharray=\"5 4\"" } else { " stroke-width=\"2.5\"" };
        let (points, colour) = (path(points), curve.colour);
        put(format!("<path d=\"{points}\" fill=\"none\" stroke=\"{colour}\" stroke-linejoin=\"round\"{dash}/>"));
    }
    let last: Vec<f64> = drawn.iter().map(|drawn| drawn.mean.last().copied().unwrap_or(0.0)).collect();
    for ((curve, value), place) in curves.iter().zip(&last).zip(spread(&last.iter().map(|value| y(*value)).collect::<Vec<_>>())) {
        let (left, colour) = (RIGHT + 12.0, curve.colour);
        put(format!(
            "<text x=\"{left:.0}\" y=\"{:.1}\" fill=\"{colour}\" font-weight=\"600\">{} {}</text>",
            place,
            curve.name,
            signed2(*value)
        ));
        put(format!("<text x=\"{left:.0}\" y=\"{:.1}\" fill=\"#6b6b66\" font-size=\"12\">{}</text>", place + 15.0, curve.note));
    }
    svg.push_str("</svg>\n");
    svg
}

fn summarise(curve: &Curve) -> Drawn {
    let lives: Vec<Vec<f64>> = curve.lives.iter().map(|life| smooth(life)).collect();
    let rounds = lives.iter().map(Vec::len).min().unwrap_or(0);
    let mut drawn = Drawn { mean: Vec::with_capacity(rounds), band: Vec::with_capacity(rounds) };
    for round in 0..rounds {
        let mut values: Vec<f64> = lives.iter().filter_map(|life| life.get(round).copied()).collect();
        values.sort_by(f64::total_cmp);
        let quantile = |share: usize| values.get((values.len() - 1) * share / 4).copied().unwrap_or(0.0);
        drawn.mean.push(values.iter().sum::<f64>() / values.len() as f64);
        drawn.band.push((quantile(1), quantile(3)));
    }
    let (low, high): (Vec<f64>, Vec<f64>) = drawn.band.iter().copied().unzip();
    drawn.band = smooth(&low).into_iter().zip(smooth(&high)).collect();
    drawn
}

/// Each number as the mean of it and its neighbours.
fn smooth(numbers: &[f64]) -> Vec<f64> {
    let window = |index: usize| {
        let (from, to) = (index.saturating_sub(SMOOTHING), (index + SMOOTHING + 1).min(numbers.len()));
        numbers.get(from..to).unwrap_or_default()
    };
    (0..numbers.len()).map(|index| window(index).iter().sum::<f64>() / window(index).len().max(1) as f64).collect()
}

fn path(points: impl Iterator<Item = (f64, f64)>) -> String {
    let mut text = String::new();
    for (index, (x, y)) in points.enumerate() {
        let _ = write!(text, "{}{x:.1} {y:.1}", if index == 0 { "M" } else { "L" }); // writing to a String cannot fail
    }
    text
}

/// Round numbers of rounds, five or so, the first and the last among them.
fn ticks(rounds: usize) -> Vec<usize> {
    let scale = 10_usize.pow((rounds.max(1) / 5).max(1).ilog10());
    let step = [1, 2, 5, 10].into_iter().map(|step| step * scale).find(|step| rounds / step <= 6).unwrap_or(rounds);
    [1].into_iter().chain((1..=rounds / step).map(|tick| tick * step).filter(|tick| *tick > 1)).collect()
}

/// The heights of labels, pushed apart where they would touch; their order stays.
fn spread(heights: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..heights.len()).collect();
    let height = |index: usize| heights.get(index).copied().unwrap_or(0.0);
    order.sort_by(|one, other| height(*one).total_cmp(&height(*other)));
    let mut places = vec![0.0; heights.len()];
    let mut least = f64::NEG_INFINITY;
    for index in order {
        let place = height(index).max(least);
        if let Some(slot) = places.get_mut(index) {
            *slot = place;
        }
        least = place + LABEL_GAP;
    }
    places
}

fn signed(value: f64) -> String {
    if value.abs() < 1e-9 { "0".into() } else { with_sign(value, 1) }
}

fn signed2(value: f64) -> String {
    with_sign(value, 2)
}
