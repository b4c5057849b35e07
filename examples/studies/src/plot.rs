//! Plots as SVG: curves with bands, on plain or logarithmic axes.

use plotters::coord::Shift;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, ValueFormatter};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use std::ops::Range;

/// A plot with a name, for its file.
#[derive(Clone, Debug, Default)]
pub struct Plot {
    /// The name of its file, without the study's.
    pub name: String,
    /// What is to be seen.
    pub title: String,
    /// The axis to the right.
    pub x: Axis,
    /// The axis upwards.
    pub y: Axis,
    /// What is drawn.
    pub curves: Vec<Curve>,
}

/// An axis.
#[derive(Clone, Debug, Default)]
pub struct Axis {
    /// What it counts.
    pub label: String,
    /// Whether it is logarithmic; points that are not positive are left out then.
    pub logarithmic: bool,
}

/// A curve.
#[derive(Clone, Debug, Default)]
pub struct Curve {
    /// What the legend says.
    pub name: String,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
    /// What is shaded around it: x, lower and upper end.
    pub band: Vec<(f64, f64, f64)>,
    /// For what it is compared with.
    pub dashed: bool,
}

impl Plot {
    /// A plot on plain axes.
    #[must_use]
    pub fn new(name: &str, title: &str, x: &str, y: &str) -> Self {
        let axis = |label: &str| Axis { label: label.into(), logarithmic: false };
        Self { name: name.into(), title: title.into(), x: axis(x), y: axis(y), curves: Vec::new() }
    }

    /// The same with a logarithmic axis to the right.
    #[must_use]
    pub const fn log_x(mut self) -> Self {
        self.x.logarithmic = true;
        self
    }

    /// The same with a logarithmic axis upwards.
    #[must_use]
    pub const fn log_y(mut self) -> Self {
        self.y.logarithmic = true;
        self
    }

    /// Adds a curve.
    pub fn curve(&mut self, name: &str, points: Vec<(f64, f64)>) {
        self.curves.push(Curve { name: name.into(), points, ..Curve::default() });
    }

    /// Adds a dashed curve.
    pub fn dashed(&mut self, name: &str, points: Vec<(f64, f64)>) {
        self.curves.push(Curve { name: name.into(), points, dashed: true, ..Curve::default() });
    }

    /// Adds a curve with a band around it.
    pub fn banded(&mut self, name: &str, points: Vec<(f64, f64)>, band: Vec<(f64, f64, f64)>) {
        self.curves.push(Curve { name: name.into(), points, band, dashed: false });
    }
}

/// An axis with its ends.
struct Scale {
    logarithmic: bool,
    ends: Range<f64>,
}

impl Scale {
    /// Around these numbers, with a little room.
    fn around(axis: &Axis, numbers: impl Iterator<Item = f64>) -> Self {
        let scale = Self { logarithmic: axis.logarithmic, ends: 0.0..1.0 };
        let places = numbers.map(|number| scale.place(number)).filter(|place| place.is_finite());
        let (low, high) =
            places.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
        let ends = match (low <= high, (high - low) * 0.04) {
            (false, _) => 0.0..1.0,
            (true, room) if room > 0.0 => low - room..high + room,
            (true, _) => low - 0.5..high + 0.5,
        };
        Self { ends, ..scale }
    }

    /// Where a number is, on a plain scale.
    fn place(&self, number: f64) -> f64 {
        if self.logarithmic { libm::log10(number) } else { number }
    }
}

impl Ranged for Scale {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (low, high): (i32, i32)) -> i32 {
        let share = (self.place(*value) - self.ends.start) / (self.ends.end - self.ends.start);
        low + (f64::from(high - low) * share).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        let plain: RangedCoordf64 = self.ends.clone().into();
        if !self.logarithmic {
            return plain.key_points(hint);
        }
        let decades = self.ends.start.floor() as i32..=self.ends.end.ceil() as i32;
        let steps =
            decades.flat_map(|decade| [1.0, 2.0, 5.0].map(|step| step * libm::pow(10.0, f64::from(decade))));
        let steps: Vec<f64> = steps.filter(|step| self.ends.contains(&self.place(*step))).collect();
        // Over many decades the powers of ten are enough, or some of them.
        let few = if steps.len() > 3 * hint.max_num_points() { 6 } else { 3 };
        if steps.len() > hint.max_num_points() { steps.into_iter().step_by(few).collect() } else { steps }
    }

    fn range(&self) -> Range<f64> {
        let end = |place: f64| if self.logarithmic { libm::pow(10.0, place) } else { place };
        end(self.ends.start)..end(self.ends.end)
    }
}

impl ValueFormatter<f64> for Scale {
    fn format(value: &f64) -> String {
        match value.abs() {
            0.0 => "0".into(),
            size if size >= 1e6 => format!("{value:.0e}"),
            size if size >= 100.0 => format!("{value:.0}"),
            size if size < 1e-3 => format!("{value:.0e}"),
            _ => format!("{value:.3}").trim_end_matches('0').trim_end_matches('.').into(),
        }
    }
}

/// Colours that the colour-blind can tell apart (Okabe and Ito), the darker ones first.
const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(90, 90, 90),
    RGBColor(140, 100, 40),
];

/// The plot as the text of an SVG file.
///
/// # Errors
/// What the drawing library says, in words.
pub fn svg(plot: &Plot) -> Result<String, String> {
    let mut text = String::new();
    let area = SVGBackend::with_string(&mut text, (WIDTH, 420)).into_drawing_area();
    draw(plot, &area).map_err(|error| error.to_string())?;
    drop(area);
    Ok(text)
}

const WIDTH: u32 = 860;
/// What the names of the curves take, to the right.
const NAMES: u32 = 240;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

fn draw<'a>(plot: &Plot, area: &Area<'a>) -> Result<(), Box<dyn std::error::Error + 'a>> {
    area.fill(&WHITE)?;
    let (left, right) = area.split_horizontally(WIDTH - NAMES);
    let ends = |&(x, low, high): &(f64, f64, f64)| [(x, low), (x, high)];
    let shown = |(x, y): &(f64, f64)| !(plot.x.logarithmic && *x <= 0.0 || plot.y.logarithmic && *y <= 0.0);
    let all = || {
        let curves = plot.curves.iter();
        curves
            .flat_map(|curve| curve.points.iter().copied().chain(curve.band.iter().flat_map(ends)))
            .filter(shown)
    };
    let (x, y) = (Scale::around(&plot.x, all().map(|at| at.0)), Scale::around(&plot.y, all().map(|at| at.1)));
    let mut chart = ChartBuilder::on(&left)
        .caption(&plot.title, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(44)
        .y_label_area_size(64)
        .build_cartesian_2d(x, y)?;
    let labels = (plot.x.label.as_str(), plot.y.label.as_str());
    chart.configure_mesh().x_desc(labels.0).y_desc(labels.1).light_line_style(TRANSPARENT).draw()?;
    for (curve, colour) in plot.curves.iter().zip(COLOURS.iter().cycle()) {
        let lower = curve.band.iter().map(|&(x, low, _)| (x, low)).filter(shown);
        let upper = curve.band.iter().rev().map(|&(x, _, high)| (x, high)).filter(shown);
        let outline: Vec<(f64, f64)> = lower.chain(upper).collect();
        if !outline.is_empty() {
            chart.draw_series([Polygon::new(outline, colour.mix(0.15))])?;
        }
    }
    for ((curve, colour), row) in plot.curves.iter().zip(COLOURS.iter().cycle()).zip(0..) {
        let (points, style) = (curve.points.iter().copied().filter(shown), colour.stroke_width(2));
        let (height, key) = (52 + 22 * row, [0, 24]);
        if curve.dashed {
            chart.draw_series(DashedLineSeries::new(points, 6, 4, style))?;
            right.draw(&PathElement::new(key.map(|x| (x / 3, height)), style))?;
            right.draw(&PathElement::new(key.map(|x| (16 + x / 3, height)), style))?;
        } else {
            chart.draw_series(LineSeries::new(points, style))?;
            right.draw(&PathElement::new(key.map(|x| (x, height)), style))?;
        }
        right.draw(&Text::new(curve.name.as_str(), (32, height - 6), ("sans-serif", 12)))?;
    }
    area.present()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_bands_and_degenerate_plots_are_drawn() {
        let mut plot = Plot::new("name", "A title", "round", "regret").log_x().log_y();
        plot.banded("one", vec![(1.0, 2.0), (10.0, 3.0)], vec![(1.0, 1.0, 4.0), (10.0, 2.0, 5.0)]);
        plot.dashed("two", vec![(0.0, 2.0), (1.0, 2.0), (10.0, 2.0)]);
        let text = svg(&plot).unwrap();
        for part in ["<svg", "A title", "round", "regret", "one", "two", "<polygon", "\n5\n", "</svg>"] {
            assert!(text.contains(part), "{part}");
        }
        assert_eq!(svg(&plot).unwrap(), text);
        svg(&Plot::new("empty", "", "", "")).unwrap();
        let mut flat = Plot::new("flat", "", "", "");
        flat.curve("constant", vec![(0.0, 1.0)]);
        svg(&flat).unwrap();
    }
}
