//! The report for a terminal of 80 columns.

use crate::bar::{bar, interval};
use console::{measure_text_width, style, truncate_str};
use fable_std::inspect::{
    BlockReport, ContrastReport, Inspection, PromotionReport, Selection, StateReport, Weight,
};
use std::fmt::Write;

/// Columns of the screen.
const WIDTH: usize = 80;
/// Cells of a bar to each side, at most.
const CELLS: usize = 12;
/// Columns after the bar of a weight: mean, sd and rewards.
const NUMBERS: usize = 25;
/// Columns of the interval, the estimate and the rewards of a contrast.
const ASSESSED: usize = 32;
/// Cells of an interval to each side.
const LINE: usize = 6;

/// The whole report, or the weights alone.
pub(super) fn told(name: &str, report: &Inspection, selection: Selection, weights_alone: bool) -> String {
    let mut out = format!("{}\n", style(truncate_str(name, WIDTH, "…")).bold());
    weights(&mut out, &report.blocks, selection);
    if !weights_alone {
        contrasts(&mut out, &report.contrasts);
        profile(&mut out, &report.contrasts);
        state(&mut out, &report.state);
    }
    out += "`fable inspect --help` explains the words.\n";
    out
}

/// Writing to a String cannot fail.
fn line(out: &mut String, text: &str) {
    let _ = writeln!(out, "{}", text.trim_end());
}

/// A number in seven columns.
fn number(value: f64) -> String {
    if value.abs() < 99.9995 { format!("{value:+.3}") } else { format!("{value:+.1e}") }
}

/// A number that is not negative.
fn unsigned(value: f64) -> String {
    number(value).trim_start_matches('+').to_owned()
}

/// The largest magnitude, which a bar is drawn against.
fn largest(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.map(f64::abs).fold(f64::MIN_POSITIVE, f64::max)
}

/// A text in so many columns.
fn fit(text: &str, columns: usize) -> String {
    let text = truncate_str(text, columns, "…");
    format!("{text}{}", " ".repeat(columns.saturating_sub(measure_text_width(&text))))
}

fn weights(out: &mut String, blocks: &[BlockReport], selection: Selection) {
    let shown = || blocks.iter().flat_map(|block| selection.of(block).0);
    let longest = shown().map(|weight| measure_text_width(&weight.words)).max().unwrap_or(0);
    let names = longest.clamp(20, WIDTH - NUMBERS - 12);
    let cells = ((WIDTH - NUMBERS - names - 4) / 2).min(CELLS);
    let full = largest(shown().map(|weight| weight.mean));
    let title = format!("Weights (a full bar is {})", unsigned(full));
    let before = 2 + names + 1 + 2 * cells + 1;
    line(
        out,
        &format!("\n{}{:>7} {:>7} {:>8}", style(fit(&title, before + 1)).bold(), "mean", "sd", "rewards"),
    );
    for block in blocks {
        let (shown, rest) = selection.of(block);
        let count = block.weights.len();
        let name = if block.name == block.words { String::new() } else { format!("{}: ", block.name) };
        let about = format!("({name}{count} weights)");
        line(out, &format!("{} {}", style(&block.words).bold(), style(about).dim()));
        for Weight { words, mean, sd, evidence, exact, .. } in shown {
            let rewards = format!("{}{evidence}", if *exact { "" } else { "<=" });
            let (name, bar, mean) = (fit(words, names), bar(*mean, full, cells), number(*mean));
            line(out, &format!("  {name} {bar} {mean:>7} {:>7} {rewards:>8}", unsigned(*sd)));
        }
        let rest = match (block.retained, shown.len(), rest) {
            (false, ..) => "not learned: left out by the settings".into(),
            (_, 0, 1..) => "nothing yet".into(),
            (_, _, 0) => continue,
            (_, _, rest) => format!("and {rest} more"),
        };
        line(out, &format!("  {}", style(rest).dim()));
    }
}

fn contrasts(out: &mut String, contrasts: &[ContrastReport]) {
    let full = largest(contrasts.iter().flat_map(|contrast| [contrast.lower, contrast.upper]));
    let names = WIDTH - 2 - ASSESSED - 2 * LINE - 3;
    let title = format!("Contrasts (a full side is {})", unsigned(full));
    let before = 2 + names + 2 * LINE + 2;
    line(
        out,
        &format!(
            "\n{}{:>8} {:^16} {:>7}",
            style(fit(&title, before)).bold(),
            "estimate",
            "interval",
            "rewards"
        ),
    );
    if contrasts.is_empty() {
        line(out, "  the catalog declares none; --contrast asks for one");
    }
    for contrast in contrasts {
        let ContrastReport { name, lower, mean, upper, evidence, .. } = contrast;
        let drawn = interval(*lower, *mean, *upper, full, LINE);
        let ends = format!("{} to {}", short(*lower), short(*upper));
        line(out, &format!("  {} {drawn} {:>7} {ends:^16} {evidence:>7}", fit(name, names), short(*mean)));
        let promoted = if contrast.promotion.is_some() { "" } else { "needs " };
        line(out, &format!("    {}", style(format!("{promoted}{}", contrast.needs)).dim()));
        if let Some(trial) = contrast.trial.as_ref().filter(|trial| trial.trials > 0) {
            line(out, &format!("    {}", style(&trial.words).dim()));
        }
    }
}

/// A number in six columns.
fn short(value: f64) -> String {
    if value.abs() < 99.995 { format!("{value:+.2}") } else { format!("{value:+.0e}") }
}

fn profile(out: &mut String, contrasts: &[ContrastReport]) {
    line(out, &format!("\n{}", style("Profile").bold()));
    let promotions = contrasts.iter().filter_map(|contrast| contrast.promotion.as_ref());
    let mut some = false;
    for promotion in promotions {
        some = true;
        wrapped(out, &promotion.sentence, 2);
        let ends = format!("{} to {}", short(promotion.lower), short(promotion.upper));
        let PromotionReport { provenance, standing, .. } = promotion;
        wrapped(out, &format!("{provenance}, interval {ends}; {standing}"), 4);
    }
    if !some {
        line(out, "  nothing is promoted");
    }
}

/// A text in lines, each so many columns in.
fn wrapped(out: &mut String, text: &str, indent: usize) {
    let mut row = String::new();
    for word in text.split_whitespace() {
        if !row.is_empty() && measure_text_width(&row) + 1 + measure_text_width(word) > WIDTH - indent {
            line(out, &format!("{:indent$}{row}", ""));
            row.clear();
        }
        row += if row.is_empty() { "" } else { " " };
        row += word;
    }
    line(out, &format!("{:indent$}{row}", ""));
}

/// Whether the user seems to have changed.
fn changed(state: &StateReport) -> String {
    match state.rewards_since_change {
        None => "no change noticed".into(),
        Some(0) => "seems to have changed just now".into(),
        Some(1) => "seems to have changed one reward ago".into(),
        Some(rewards @ 254..) => format!("seems to have changed {rewards} or more rewards ago"),
        Some(rewards) => format!("seems to have changed {rewards} rewards ago"),
    }
}

/// Which place it is, and which others are known, if there are several.
fn places(state: &StateReport) -> String {
    let own = if state.site == 0 { String::new() } else { format!(", place {}", state.site) };
    let others: Vec<String> =
        state.merged.iter().map(|(site, events)| format!("{events} events of place {site}")).collect();
    if others.is_empty() { own } else { format!("{own}; with {}", others.join(", ")) }
}

fn state(out: &mut String, state: &StateReport) {
    let of = state.dimension;
    let learned =
        state.learned.map_or_else(String::new, |learned| format!("{learned:.1} of {of} directions"));
    let movable =
        state.movable.map_or_else(String::new, |movable| format!("{movable} of {of} weights are movable"));
    let learned: Vec<String> = [learned, movable].into_iter().filter(|words| !words.is_empty()).collect();
    let sound = if state.sound { "finite" } else { "NOT SOUND" };
    let rows = [
        (
            "rounds",
            format!("{} decisions, {} rewards, {} waiting", state.rounds, state.rewards, state.waiting),
        ),
        ("learned", learned.join("; ")),
        ("information", format!("{:.2}; beta is {:.2}", state.log_det_ratio, state.beta)),
        ("guarantee", state.guarantee.sentence().to_owned()),
        ("surprise", format!("{:.2} times what is expected; {}", state.scale, changed(state))),
        ("numbers", format!("{sound}, pivots from {:.4} to {:.4}", state.pivots.least, state.pivots.most)),
        ("size", format!("{} bytes in {}", state.bytes, state.scalar)),
        ("catalog", format!("{}, fingerprint {}", state.catalog, state.catalog_fingerprint)),
        (
            "settings",
            format!(
                "fingerprint {}{}",
                state.fingerprint,
                if state.fitted_prior { ", with a fitted prior" } else { "" }
            ),
        ),
        ("user", format!("{}, incarnation {}{}", state.user, state.incarnation, places(state))),
        ("version", format!("records {}, arithmetic {}", state.version, state.numeric_revision)),
    ];
    line(out, &format!("\n{}", style("State").bold()));
    for (label, value) in rows {
        line(out, &truncate_str(&format!("  {label:<12} {value}"), WIDTH, "…"));
    }
}
