//! Bars and intervals made of letters, centred on zero.

use console::style;

/// ▐██│ or │███▌, `cells` to each side; half a cell is the smallest step, and `full` fills a side.
pub(crate) fn bar(value: f64, full: f64, cells: usize) -> String {
    let halves = ((value.abs() / full * 2.0 * cells as f64).round() as usize).min(2 * cells);
    let (blocks, half) = ("█".repeat(halves / 2), halves % 2 == 1);
    let space = " ".repeat(cells - halves.div_ceil(2));
    if value < 0.0 {
        format!(
            "{space}{}│{}",
            style(format!("{}{blocks}", if half { "▐" } else { "" })).yellow(),
            " ".repeat(cells)
        )
    } else {
        format!(
            "{}│{}{space}",
            " ".repeat(cells),
            style(format!("{blocks}{}", if half { "▌" } else { "" })).cyan()
        )
    }
}

/// ──●─┼─── : the interval from `lower` to `upper` and the estimate in it, with zero in the middle.
pub(crate) fn interval(lower: f64, mean: f64, upper: f64, full: f64, cells: usize) -> String {
    let column = |value: f64| ((1.0 + value / full).clamp(0.0, 2.0) * cells as f64).round() as usize;
    // What excludes zero is not drawn over it, however close it comes.
    let from = column(lower).max(if lower > 0.0 { cells + 1 } else { 0 });
    let to = column(upper).min(if upper < 0.0 { cells.saturating_sub(1) } else { 2 * cells });
    let at = column(mean).clamp(from.min(to), to.max(from));
    let drawn: String = (0..=2 * cells)
        .map(|column| match (column == at, column == cells, (from..=to).contains(&column)) {
            (true, ..) => '●',
            (_, true, true) => '┼',
            (_, true, false) => '│',
            (_, _, true) => '─',
            _ => ' ',
        })
        .collect();
    match (lower > 0.0, upper < 0.0) {
        (true, _) => style(drawn).cyan().to_string(),
        (_, true) => style(drawn).yellow().to_string(),
        _ => drawn,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_and_intervals_keep_their_width() {
        console::set_colors_enabled(false);
        assert_eq!(bar(0.15, 0.2, 4), "    │███ ");
        assert_eq!(bar(-0.175, 0.2, 4), "▐███│    ");
        assert_eq!(bar(f64::NAN, 0.2, 2), "  │  ");
        assert_eq!(interval(-0.1, 0.05, 0.2, 0.2, 4), "  ──┼●───");
        assert_eq!(interval(0.1, 0.15, 9.0, 0.2, 4), "    │ ─●─");
        assert_eq!(interval(0.001, 0.01, 0.1, 0.2, 4), "    │●─  ");
        assert_eq!(interval(-0.1, -0.01, -0.001, 0.2, 4), "  ─●│    ");
        assert_eq!(interval(-0.01, 0.0, 0.01, 0.2, 4), "    ●    ");
        for value in [0.0, 1e300, -1e300, f64::INFINITY, f64::NAN] {
            assert_eq!(bar(value, 0.2, 5).chars().count(), 11);
            assert_eq!(interval(-value, value, value, 0.2, 5).chars().count(), 11);
        }
    }
}
