//! The picture: mean reward of four ways to live with the same user, as SVG.

use fable_std::svg::{escaped, opening, with_sign};
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
/// The lowest place of a label.
const LOWEST_LABEL: f64 = HEIGHT - 32.0;

/// Colours, for readers of light and of dark pages.
const STYLE: &str = "
.paper{fill:#fcfcfa}.ink,.best{fill:#1c1c1a}.quiet{fill:#6b6b66}.grid,.axis{stroke:#e6e6e1}.axis{stroke:#b4b4ae}
.fable{fill:#1666b0;stroke:#1666b0}.flat{fill:#bd5d16;stroke:#bd5d16}.rules{fill:#74746e;stroke:#74746e}.best{stroke:#3a3a37}
@media(prefers-color-scheme:dark){
.paper{fill:#161b22}.ink,.best{fill:#ececea}.quiet{fill:#9ca3ab}.grid,.axis{stroke:#2b323b}.axis{stroke:#5c6670}
.fable{fill:#5aa9f0;stroke:#5aa9f0}.flat{fill:#e8924c;stroke:#e8924c}.rules{fill:#a3a39c;stroke:#a3a39c}.best{stroke:#d4d4d0}
}
text{stroke:none!important}.band{fill-opacity:.13;stroke:none!important}
.line,.dashed{fill:none!important;stroke-linejoin:round;stroke-width:2.5}.dashed{stroke-width:1.5;stroke-dasharray:5 4}
";

/// How a curve is drawn and what is written at its end.
pub(super) struct Curve {
    pub(super) name: &'static str,
    pub(super) note: &'static str,
    /// Its colour, a class of [`STYLE`].
    pub(super) class: &'static str,
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
    let (lowest, highest) =
        ends.fold((0.0_f64, 0.1_f64), |(low, high), value| (low.min(value), high.max(value)));
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
    put(format!("<style>{STYLE}</style>"));
    put(format!("<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"8\" class=\"paper\"/>"));
    put(format!(
        "<text x=\"24\" y=\"36\" font-size=\"18\" font-weight=\"600\" class=\"ink\">{}</text>",
        escaped(title)
    ));
    put(format!("<text x=\"24\" y=\"58\" class=\"quiet\">{}</text>", escaped(subtitle)));

    let multiples = ((bottom / step).ceil() as i32)..=((top / step).floor() as i32);
    for level in multiples.map(|multiple| f64::from(multiple) * step) {
        let class = if level.abs() < 1e-9 { "axis" } else { "grid" };
        put(format!("<path d=\"M{LEFT} {:.1}H{RIGHT}\" class=\"{class}\"/>", y(level)));
        let (left, height) = (LEFT - 10.0, y(level) + 4.5);
        put(format!(
            "<text x=\"{left}\" y=\"{height:.1}\" text-anchor=\"end\" class=\"quiet\">{}</text>",
            signed(level)
        ));
    }
    let middle = f64::midpoint(TOP, BOTTOM);
    put(format!(
        "<text transform=\"translate(20 {middle}) rotate(-90)\" text-anchor=\"middle\" class=\"quiet\">mean reward</text>"
    ));
    for round in ticks(rounds) {
        let place = x(round - 1);
        put(format!("<path d=\"M{place:.1} {BOTTOM}v5\" class=\"axis\"/>"));
        put(format!(
            "<text x=\"{place:.1}\" y=\"{}\" text-anchor=\"middle\" class=\"quiet\">{round}</text>",
            BOTTOM + 22.0
        ));
    }
    let middle = f64::midpoint(LEFT, RIGHT);
    put(format!(
        "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\" class=\"quiet\">round</text>",
        BOTTOM + 42.0
    ));

    for (curve, drawn) in curves.iter().zip(&drawn).filter(|(curve, _)| !curve.dashed) {
        let upper = drawn.band.iter().enumerate().map(|(index, (_, high))| (x(index), y(*high)));
        let lower = drawn.band.iter().enumerate().rev().map(|(index, (low, _))| (x(index), y(*low)));
        put(format!("<path d=\"{}Z\" class=\"{} band\"/>", path(upper.chain(lower)), curve.class));
    }
    for (curve, drawn) in curves.iter().zip(&drawn).rev() {
        let points = drawn.mean.iter().enumerate().map(|(index, value)| (x(index), y(*value)));
        let kind = if curve.dashed { "dashed" } else { "line" };
        put(format!("<path d=\"{}\" class=\"{} {kind}\"/>", path(points), curve.class));
    }
    let last: Vec<f64> = drawn.iter().map(|drawn| drawn.mean.last().copied().unwrap_or(0.0)).collect();
    let heights: Vec<f64> = last.iter().map(|value| y(*value)).collect();
    for ((curve, value), place) in curves.iter().zip(&last).zip(spread(&heights)) {
        let Curve { name, note, class, .. } = curve;
        let (left, value, below) = (RIGHT + 12.0, signed2(*value), place + 15.0);
        put(format!(
            "<text x=\"{left}\" y=\"{place:.1}\" font-weight=\"600\" class=\"{class}\">{name} {value}</text>"
        ));
        put(format!("<text x=\"{left}\" y=\"{below:.1}\" font-size=\"12\" class=\"quiet\">{note}</text>"));
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
    (0..numbers.len())
        .map(|index| window(index).iter().sum::<f64>() / window(index).len().max(1) as f64)
        .collect()
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
    let step =
        [1, 2, 5, 10].into_iter().map(|step| step * scale).find(|step| rounds / step <= 6).unwrap_or(rounds);
    [1].into_iter().chain((1..=rounds / step).map(|tick| tick * step).filter(|tick| *tick > 1)).collect()
}

/// The heights of labels, pushed apart where they would touch, down and then up from the picture's edge; their order stays.
fn spread(heights: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..heights.len()).collect();
    let height = |index: usize| heights.get(index).copied().unwrap_or(0.0);
    order.sort_by(|one, other| height(*one).total_cmp(&height(*other)));
    let mut places = heights.to_vec();
    let mut least = f64::NEG_INFINITY;
    for &index in &order {
        if let Some(place) = places.get_mut(index) {
            *place = place.max(least);
            least = *place + LABEL_GAP;
        }
    }
    let mut most = LOWEST_LABEL;
    for &index in order.iter().rev() {
        if let Some(place) = places.get_mut(index) {
            *place = place.min(most);
            most = *place - LABEL_GAP;
        }
    }
    places
}

fn signed(value: f64) -> String {
    if value.abs() < 1e-9 { "0".into() } else { with_sign(value, 1) }
}

fn signed2(value: f64) -> String {
    with_sign(value, 2)
}

#[cfg(test)]
mod tests {
    use super::{LABEL_GAP, LOWEST_LABEL, TOP, escaped, spread, ticks};

    #[test]
    fn labels_never_touch_and_stay_in_the_picture() {
        for heights in [
            [100.0, 110.0, 120.0, 300.0],
            [380.0, 381.0, 384.0, 384.0],
            [384.0, 96.0, 97.0, 384.0],
            [96.0; 4],
        ] {
            let places = spread(&heights);
            let mut order: Vec<usize> = (0..4).collect();
            order.sort_by(|one, other| places[*one].total_cmp(&places[*other]));
            assert!(
                order.windows(2).all(|pair| places[pair[1]] - places[pair[0]] >= LABEL_GAP - 1e-9),
                "{places:?}"
            );
            assert!(order.windows(2).all(|pair| heights[pair[0]] <= heights[pair[1]]), "{places:?}");
            assert!(places.iter().all(|place| (TOP..=LOWEST_LABEL).contains(place)), "{places:?}");
        }
        assert_eq!(spread(&[100.0, 200.0]), [100.0, 200.0]);
    }

    #[test]
    fn ticks_are_few_and_round() {
        assert_eq!(ticks(300), [1, 50, 100, 150, 200, 250, 300]);
        for rounds in 20..=2_000 {
            let ticks = ticks(rounds);
            assert!(
                (3..=8).contains(&ticks.len()) && ticks.last().is_some_and(|last| *last <= rounds),
                "{rounds}: {ticks:?}"
            );
        }
    }

    #[test]
    fn words_of_a_catalog_cannot_break_the_picture() {
        assert_eq!(escaped("<a> & \u{e9}"), "&lt;a&gt; &amp; \u{e9}");
    }
}
