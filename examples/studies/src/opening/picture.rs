//! The picture: how rewards grow with requests, and how much of what could be gained is gained on each set of data.
//!
//! It is drawn by hand, letter by letter the same on every machine, so that a test can compare it with the committed one.

use super::Results;
use fable_std::svg::{escaped, opening, with_sign};
use std::fmt::Write;

/// What is to be seen.
pub(super) const TITLE: &str =
    "Rewards by request on simulated users, and how much of what could be gained is gained on data of people";

const WIDTH: f64 = 980.0;
const HEIGHT: f64 = 400.0;
/// Where the two halves are: left, top, width and height of what is between their axes.
const CURVES: [f64; 4] = [60.0, 62.0, 340.0, 280.0];
const BARS: [f64; 4] = [675.0, 62.0, 245.0, 280.0];

/// A curve: its column in `overview-curves`, its colour and whether it is dashed. The names stand at the ends of the curves.
const LINES: [(&str, &str, bool); 6] = [
    ("best possible", "#5a5a5a", true),
    ("Fable, as shipped", "#0072b2", false),
    ("the paper's draw", "#d55e00", false),
    ("one weight per complete action", "#009e73", false),
    ("rules alone", "#8c6428", true),
    ("anything", "#9a9a9a", true),
];

/// A set of data: its column in `defaults-comparison`, and what it is in plain words.
const WORLDS: [(&str, &str); 6] = [
    ("agent", "simulated, 300 requests"),
    ("tau2", "simulated service, 300"),
    ("rubric", "simulated tutoring, 300"),
    ("prompts", "exams, 3,000 questions"),
    ("camera", "cameras, 16 choices"),
    ("computer", "computers, 30 requests"),
];
const LEARNERS: [(&str, &str); 2] = [("today's defaults", "#0072b2"), ("the paper's draw", "#d55e00")];

/// The picture; `None` where its results are not there.
pub(super) fn draw(results: &Results) -> Option<String> {
    let mut svg = opening(WIDTH, HEIGHT);
    let _ = write!(
        svg,
        "\n<title>{}</title>\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#ffffff\"/>\n",
        escaped(TITLE)
    );
    curves(results, &mut svg)?;
    bars(results, &mut svg)?;
    svg.push_str("</svg>\n");
    Some(svg)
}

fn text(svg: &mut String, (x, y): (f64, f64), attributes: &str, words: &str) {
    let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" {attributes}>{}</text>", escaped(words));
}

fn line(svg: &mut String, (x1, y1): (f64, f64), (x2, y2): (f64, f64), attributes: &str) {
    let _ = writeln!(svg, "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" {attributes}/>");
}

fn curves(results: &Results, svg: &mut String) -> Option<()> {
    let rows = results.rows("overview-curves");
    let (heads, steps) = rows.split_first().filter(|(_, steps)| steps.len() > 1)?;
    let mut lines = Vec::new();
    for (name, colour, dashed) in LINES {
        let column = heads.iter().position(|head| head == name)?;
        let values: Option<Vec<f64>> =
            steps.iter().map(|step| super::first_number(step.get(column)?)).collect();
        lines.push((name, colour, dashed, values?));
    }
    let all = || lines.iter().flat_map(|(.., values)| values.iter().copied());
    let low = (all().fold(f64::INFINITY, f64::min) * 5.0).floor() / 5.0;
    let high = (all().fold(f64::NEG_INFINITY, f64::max) * 5.0).ceil() / 5.0;
    let [left, top, width, height] = CURVES;
    let y = |value: f64| top + height * (high - value) / (high - low);
    let x = |step: usize| left + width * (step as f64 + 0.5) / steps.len() as f64;
    text(
        svg,
        (left - 40.0, 24.0),
        "font-size=\"15\" font-weight=\"600\"",
        "Mean reward of what was chosen, by request",
    );
    text(svg, (left - 40.0, 43.0), "fill=\"#5a5a5a\"", "simulated users; from -1 to 1");
    for tick in 0..=((high - low) * 5.0).round() as i32 {
        let value = low + f64::from(tick) / 5.0;
        line(svg, (left, y(value)), (left + width, y(value)), "stroke=\"#e4e4e4\"");
        // Not a negative zero.
        let words = if value.abs() < 1e-9 { "0".to_owned() } else { with_sign(value, 1) };
        text(svg, (left - 8.0, y(value) + 4.0), "text-anchor=\"end\" fill=\"#5a5a5a\"", &words);
    }
    for (step, row) in steps.iter().enumerate().filter(|(step, _)| step % 3 == 0) {
        let words = row.first()?.replace(" to ", "\u{2013}");
        text(svg, (x(step), top + height + 20.0), "text-anchor=\"middle\" fill=\"#5a5a5a\"", &words);
    }
    text(
        svg,
        (left + width / 2.0, top + height + 42.0),
        "text-anchor=\"middle\" fill=\"#5a5a5a\"",
        "request",
    );
    // Names beside the ends, moved apart where curves end together.
    let mut ends: Vec<(f64, usize)> = Vec::new();
    for (index, (.., values)) in lines.iter().enumerate() {
        ends.push((y(*values.last()?), index));
    }
    ends.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut least = f64::NEG_INFINITY;
    for (place, index) in ends {
        let (name, colour, dashed, values) = lines.get(index)?;
        let points: Vec<String> = values
            .iter()
            .enumerate()
            .map(|(step, value)| format!("{:.1},{:.1}", x(step), y(*value)))
            .collect();
        let dash = if *dashed { " stroke-dasharray=\"6 4\"" } else { "" };
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2.5\"{dash}/>",
            points.join(" ")
        );
        least = place.max(least + 15.0);
        let words = if name.starts_with("one weight") { "every way apart" } else { *name };
        text(
            svg,
            (x(values.len() - 1) + 8.0, least + 4.0),
            &format!("fill=\"{colour}\" font-size=\"12\""),
            words,
        );
    }
    Some(())
}

fn bars(results: &Results, svg: &mut String) -> Option<()> {
    let [left, top, width, height] = BARS;
    text(
        svg,
        (left - 140.0, 24.0),
        "font-size=\"15\" font-weight=\"600\"",
        "Share gained of what could be gained over chance",
    );
    for ((_, colour), (x, words)) in
        LEARNERS.iter().zip([(left - 140.0, "Fable, as shipped"), (left, "the paper's draw")])
    {
        let _ = writeln!(svg, "<rect x=\"{x:.1}\" y=\"33.0\" width=\"12\" height=\"12\" fill=\"{colour}\"/>");
        text(svg, (x + 18.0, 43.0), "fill=\"#5a5a5a\"", words);
    }
    for tick in 0..=4 {
        let x = left + width * f64::from(tick) / 4.0;
        line(svg, (x, top), (x, top + height), "stroke=\"#e4e4e4\"");
        text(
            svg,
            (x, top + height + 20.0),
            "text-anchor=\"middle\" fill=\"#5a5a5a\"",
            &format!("{}%", 25 * tick),
        );
    }
    let words = "0%: any allowed choice; 100%: the best possible choice every time";
    text(
        svg,
        (left + width, top + height + 42.0),
        "text-anchor=\"end\" fill=\"#5a5a5a\" font-size=\"12\"",
        words,
    );
    let step = height / WORLDS.len() as f64;
    for (index, (column, name)) in WORLDS.iter().enumerate() {
        let above = top + step * index as f64;
        text(svg, (left - 10.0, above + step / 2.0 + 4.0), "text-anchor=\"end\" font-size=\"12\"", name);
        for (place, (row, colour)) in LEARNERS.iter().enumerate() {
            let share = 1.0 - longest(&results.cell("defaults-comparison", row, column)?)?;
            let (y, size) = (above + 7.0 + 16.0 * place as f64, width * share.clamp(0.0, 1.0));
            let _ = writeln!(
                svg,
                "<rect x=\"{left:.1}\" y=\"{y:.1}\" width=\"{size:.1}\" height=\"14\" fill=\"{colour}\"/>"
            );
            text(
                svg,
                (left + size + 5.0, y + 11.5),
                "font-size=\"11\" fill=\"#333333\"",
                &format!("{:.0}%", 100.0 * share),
            );
        }
    }
    Some(())
}

/// The relative regret at the longest time: the last number of `0.449 (0.67 to 0.21)`.
fn longest(cell: &str) -> Option<f64> {
    cell.trim_end_matches(')').rsplit(' ').next()?.parse().ok()
}
