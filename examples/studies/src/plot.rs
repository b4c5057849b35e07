//! Plots as SVG: curves with bands, on plain or logarithmic axes.

use plotters::coord::Shift;
use plotters::prelude::*;

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

impl Axis {
    /// Where a number is on the axis.
    fn place(&self, value: f64) -> Option<f64> {
        let place = if self.logarithmic { libm::log10(value) } else { value };
        place.is_finite().then_some(place)
    }

    /// The ends of the axis with a little room.
    fn range(places: impl Iterator<Item = f64>) -> std::ops::Range<f64> {
        let (low, high) = places.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
        match (low.is_finite() && high.is_finite(), (high - low) * 0.05) {
            (false, _) => 0.0..1.0,
            (true, room) if room > 0.0 => low - room..high + room,
            (true, _) => low - 0.5..high + 0.5,
        }
    }

    fn tick(&self, place: f64) -> String {
        let value = if self.logarithmic { libm::pow(10.0, place) } else { place };
        let digits = if self.logarithmic && value < 10.0 { 2 } else { 3 };
        match value.abs() {
            0.0 => "0".into(),
            size if size >= 1e7 => format!("1e{:.1}", libm::log10(size)),
            size if size >= 1000.0 => format!("{value:.0}"),
            _ => format!("{value:.digits$}").trim_end_matches('0').trim_end_matches('.').into(),
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
    let area = SVGBackend::with_string(&mut text, (760, 420)).into_drawing_area();
    draw(plot, &area).map_err(|error| error.to_string())?;
    drop(area);
    Ok(text)
}

fn draw<'a>(plot: &Plot, area: &DrawingArea<SVGBackend<'a>, Shift>) -> Result<(), Box<dyn std::error::Error + 'a>> {
    area.fill(&WHITE)?;
    let point = |&(x, y): &(f64, f64)| Some((plot.x.place(x)?, plot.y.place(y)?));
    let ends = |&(x, low, high): &(f64, f64, f64)| Some([(x, low), (x, high)]);
    let all: Vec<(f64, f64)> = plot
        .curves
        .iter()
        .flat_map(|curve| curve.points.iter().copied().chain(curve.band.iter().filter_map(ends).flatten()))
        .filter_map(|at| point(&at))
        .collect();
    let (x_range, y_range) = (Axis::range(all.iter().map(|at| at.0)), Axis::range(all.iter().map(|at| at.1)));
    let mut chart = ChartBuilder::on(area)
        .caption(&plot.title, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(44)
        .y_label_area_size(64)
        .build_cartesian_2d(x_range, y_range)?;
    chart
        .configure_mesh()
        .x_desc(plot.x.label.as_str())
        .y_desc(plot.y.label.as_str())
        .x_label_formatter(&|place| plot.x.tick(*place))
        .y_label_formatter(&|place| plot.y.tick(*place))
        .light_line_style(TRANSPARENT)
        .draw()?;
    for (curve, colour) in plot.curves.iter().zip(COLOURS.iter().cycle()) {
        let lower = curve.band.iter().filter_map(|&(x, low, _)| point(&(x, low)));
        let upper = curve.band.iter().rev().filter_map(|&(x, _, high)| point(&(x, high)));
        let outline: Vec<(f64, f64)> = lower.chain(upper).collect();
        if !outline.is_empty() {
            chart.draw_series([Polygon::new(outline, colour.mix(0.15))])?;
        }
    }
    for (curve, colour) in plot.curves.iter().zip(COLOURS.iter().cycle()) {
        let (points, style) = (curve.points.iter().filter_map(point), colour.stroke_width(2));
        let series = if curve.dashed {
            chart.draw_series(DashedLineSeries::new(points, 6, 4, style))?
        } else {
            chart.draw_series(LineSeries::new(points, style))?
        };
        series.label(&curve.name).legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], style));
    }
    chart.configure_series_labels().border_style(BLACK.mix(0.2)).background_style(WHITE.mix(0.8)).draw()?;
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
        for part in ["<svg", "A title", "round", "regret", "one", "two", "<polygon", "</svg>"] {
            assert!(text.contains(part), "{part}");
        }
        assert_eq!(svg(&plot).unwrap(), text);
        svg(&Plot::new("empty", "", "", "")).unwrap();
        let mut flat = Plot::new("flat", "", "", "");
        flat.curve("constant", vec![(0.0, 1.0)]);
        svg(&flat).unwrap();
    }
}
