//! The report as a picture: contrasts with their intervals on top, below them the weights, block by block.
//!
//! Colours follow the reader's scheme, light or dark. All blocks share one axis, so their bars can be compared.

use super::{BlockReport, ContrastReport, Inspection, Selection, TrialReport};
use crate::svg::{escaped, opening, round_up, with_sign};

const WIDTH: f64 = 1040.0;
const MARGIN: f64 = 24.0;
const GAP: f64 = 24.0;
/// Width of one of two columns.
const COLUMN: f64 = (WIDTH - 2.0 * MARGIN - GAP) / 2.0;
const TOP: f64 = 84.0;
const ROW: f64 = 20.0;
const HEAD: f64 = 34.0;
const AXIS: f64 = 30.0;
/// Letters of a label that fit before its plot.
const LETTERS: usize = 40;
/// Where the plot of a weight begins and ends in its column.
const WEIGHTS: (f64, f64) = (254.0, COLUMN - 56.0);
/// Where the plot of a contrast begins and ends.
const CONTRASTS: (f64, f64) = (254.0, 636.0);
/// Standard deviations to each side that a weight's line is long.
const DEVIATIONS: f64 = 2.0;

const STYLE: &str = "<style>
.ground{fill:#fcfcfa}.ink{fill:#1c1c1a}.soft{fill:#6b6b66}.grid{stroke:#e6e6e1}.zero{stroke:#a3a39c}
.for{fill:#1666b0}.against{fill:#c4661f}.range{stroke:#4c4c47;stroke-width:1.5}.range.sure{stroke:#1c1c1a;stroke-width:3}
.coins{stroke:#1d8a6a;stroke-width:1.5}.coins.sure{stroke-width:3}
@media (prefers-color-scheme: dark){
.ground{fill:#1c1c1b}.ink{fill:#f0f0ec}.soft{fill:#a8a8a1}.grid{stroke:#343431}.zero{stroke:#77776f}
.for{fill:#5aa9ee}.against{fill:#ee9a55}.range{stroke:#c4c4bc}.range.sure{stroke:#ffffff}.coins{stroke:#4fc9a4}}
</style>";

/// From numbers to places: zero in the middle, `full` at both ends.
#[derive(Clone, Copy)]
struct Scale {
    left: f64,
    right: f64,
    full: f64,
}

impl Scale {
    fn x(&self, value: f64) -> f64 {
        let share = (value / self.full).clamp(-1.0, 1.0);
        f64::midpoint(self.left, self.right) + share * (self.right - self.left) / 2.0
    }

    /// Grid, zero line and tick labels of a panel whose rows are between two heights.
    fn axis(&self, lines: &mut Vec<String>, top: f64, bottom: f64, [left, right]: [&str; 2]) {
        let (zero, y) = (self.x(0.0), top - 8.0);
        lines.push(text("soft", zero - 8.0, y, "font-size=\"11\" text-anchor=\"end\"", &format!("← {left}")));
        lines.push(text("soft", zero + 8.0, y, "font-size=\"11\"", &format!("{right} →")));
        let decimals = (1.0 - self.full.log10().floor()).clamp(1.0, 9.0) as usize;
        for share in [-1.0, -0.5, 0.5, 1.0, 0.0] {
            let (x, class) = (self.x(share * self.full), if share == 0.0 { "zero" } else { "grid" });
            lines.push(format!("<path class=\"{class}\" d=\"M{x:.1} {top:.1}V{bottom:.1}\"/>"));
            let label = if share == 0.0 { "0".into() } else { with_sign(share * self.full, decimals) };
            let y = bottom + 15.0;
            lines.push(format!(
                "<text class=\"soft\" x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"11\" text-anchor=\"middle\">{label}</text>"
            ));
        }
    }
}

/// The picture as the text of an SVG file.
#[must_use]
pub fn draw(name: &str, report: &Inspection, selection: Selection) -> String {
    let state = &report.state;
    let title = format!("What Fable believes about {name}");
    let coins = if report.contrasts.iter().any(|contrast| tried(contrast).is_some()) {
        " Below it: the average of coins."
    } else {
        ""
    };
    let subtitle = format!(
        "{} rounds, {} rewards, catalog {}. Contrasts: estimate, and the interval that holds for all time.{coins} \
         Weights: mean, and {DEVIATIONS} sd to each side, in reward.",
        state.rounds, state.rewards, state.catalog
    );
    let mut lines = vec![
        text("ink", MARGIN, 38.0, "font-size=\"18\" font-weight=\"600\"", &cut(&title, 100)),
        text("soft", MARGIN, 60.0, "", &subtitle),
    ];
    let mut below = TOP;
    if !report.contrasts.is_empty() {
        below = contrasts(&mut lines, &report.contrasts, below) + GAP;
    }
    let shown = || report.blocks.iter().flat_map(|block| selection.of(block).0);
    let full = round_up(shown().map(|weight| weight.mean.abs() + DEVIATIONS * weight.sd).fold(0.0, f64::max));
    let mut ends = [below, below];
    for report in &report.blocks {
        let side = usize::from(ends[1] < ends[0]); // the shorter column
        let left = MARGIN + side as f64 * (COLUMN + GAP);
        let scale = Scale { left: left + WEIGHTS.0, right: left + WEIGHTS.1, full };
        ends[side] = block(&mut lines, report, selection, left, ends[side], scale) + GAP;
    }
    let height = ends[0].max(ends[1]);
    let ground = format!("<rect class=\"ground\" width=\"{WIDTH}\" height=\"{height}\" rx=\"8\"/>");
    let head =
        [opening(WIDTH, height), format!("<title>{}</title>", escaped(&title)), STYLE.to_owned(), ground];
    head.into_iter().chain(lines).chain(["</svg>\n".to_owned()]).collect::<Vec<_>>().join("\n")
}

fn text(class: &str, x: f64, y: f64, more: &str, words: &str) -> String {
    format!("<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" {more}>{}</text>", escaped(words))
}

/// A text of at most so many letters.
fn cut(text: &str, letters: usize) -> String {
    if text.chars().count() <= letters {
        return text.to_owned();
    }
    text.chars().take(letters.saturating_sub(1)).chain(['…']).collect()
}

/// The panel of the contrasts; where it ends.
fn contrasts(lines: &mut Vec<String>, contrasts: &[ContrastReport], top: f64) -> f64 {
    let ends = contrasts.iter().flat_map(|contrast| [contrast.lower, contrast.upper]);
    let averages = contrasts.iter().filter_map(tried).flat_map(|trial| [trial.lower, trial.upper]);
    let full = round_up(ends.chain(averages).map(f64::abs).fold(0.0, f64::max));
    let scale = Scale { left: MARGIN + CONTRASTS.0, right: MARGIN + CONTRASTS.1, full };
    lines.push(text("ink", MARGIN, top + 18.0, "font-size=\"14\" font-weight=\"600\"", "Contrasts"));
    let bottom = top + HEAD + ROW * contrasts.len() as f64;
    scale.axis(lines, top + HEAD - 4.0, bottom, ["the second is better, in reward", "the first is better"]);
    for (row, contrast) in contrasts.iter().enumerate() {
        let y = top + HEAD + ROW * (row as f64 + 0.5);
        let label = "font-size=\"12\" text-anchor=\"end\"";
        lines.push(text("ink", scale.left - 12.0, y + 4.0, label, &cut(&contrast.name, LETTERS)));
        let sure = if contrast.verdict == 0 { "" } else { " sure" };
        let (from, to) = (scale.x(contrast.lower), scale.x(contrast.upper));
        lines.push(format!("<path class=\"range{sure}\" d=\"M{from:.1} {y:.1}H{to:.1}\"/>"));
        let (x, class) = (scale.x(contrast.mean), side(contrast.mean));
        lines.push(format!("<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5\"/>"));
        let needs = match tried(contrast) {
            _ if contrast.promotion.is_some() => contrast.needs.clone(),
            Some(trial) => trial.words.clone(),
            None => format!("needs {}", contrast.needs),
        };
        if let Some(trial) = tried(contrast) {
            let (from, mean, to, sure) = (
                scale.x(trial.lower),
                scale.x(trial.mean),
                scale.x(trial.upper),
                if trial.certified == 0 { "" } else { " sure" },
            );
            let (y, low, high) = (y + 7.0, y + 4.0, y + 10.0);
            lines.push(format!(
                "<path class=\"coins{sure}\" d=\"M{from:.1} {y:.1}H{to:.1}M{mean:.1} {low:.1}V{high:.1}\"/>"
            ));
        }
        lines.push(text(
            "ink",
            scale.right + 16.0,
            y + 4.0,
            "font-size=\"12\"",
            &with_sign(contrast.mean, 2),
        ));
        lines.push(text("soft", scale.right + 60.0, y + 4.0, "font-size=\"12\"", &cut(&needs, 54)));
    }
    bottom + AXIS
}

/// What coins have shown about a contrast, if there were any.
fn tried(contrast: &ContrastReport) -> Option<&TrialReport> {
    contrast.trial.as_ref().filter(|trial| trial.trials > 0)
}

fn side(value: f64) -> &'static str {
    if value < 0.0 { "against" } else { "for" }
}

/// The panel of a block; where it ends.
fn block(
    lines: &mut Vec<String>,
    block: &BlockReport,
    selection: Selection,
    left: f64,
    top: f64,
    scale: Scale,
) -> f64 {
    let (shown, rest) = selection.of(block);
    lines.push(text("ink", left, top + 18.0, "font-size=\"14\" font-weight=\"600\"", &cut(&block.words, 36)));
    let about = match (block.retained, shown.len(), rest) {
        (false, ..) => "not learned".into(),
        (_, 0, 1..) => "nothing yet".into(),
        (_, count, 0) => format!("{count} weights"),
        (_, count, rest) => format!("{count} of {}", count + rest),
    };
    lines.push(text("soft", left + COLUMN, top + 18.0, "font-size=\"12\" text-anchor=\"end\"", &about));
    if shown.is_empty() {
        return top + HEAD;
    }
    let bottom = top + HEAD + ROW * shown.len() as f64;
    scale.axis(lines, top + HEAD - 4.0, bottom, ["disliked", "liked"]);
    for (row, weight) in shown.iter().enumerate() {
        let y = top + HEAD + ROW * (row as f64 + 0.5);
        let label = "font-size=\"12\" text-anchor=\"end\"";
        lines.push(text("ink", scale.left - 12.0, y + 4.0, label, &cut(&weight.words, LETTERS)));
        let (zero, mean) = (scale.x(0.0), scale.x(weight.mean));
        let (x, width, class) = (zero.min(mean), (mean - zero).abs(), side(weight.mean));
        lines.push(format!(
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"12\"/>",
            y - 6.0
        ));
        let spread = DEVIATIONS * weight.sd;
        let (from, to) = (scale.x(weight.mean - spread), scale.x(weight.mean + spread));
        lines.push(format!("<path class=\"range\" d=\"M{from:.1} {y:.1}H{to:.1}\"/>"));
        let number = "font-size=\"12\" text-anchor=\"end\"";
        lines.push(text("soft", left + COLUMN, y + 4.0, number, &with_sign(weight.mean, 3)));
    }
    bottom + AXIS
}
