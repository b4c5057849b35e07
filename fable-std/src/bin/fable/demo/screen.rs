//! What is seen while Fable learns: a picture that moves in a terminal, or a few plain lines anywhere else.

use super::tastes::Tastes;
use console::{Style, Term, measure_text_width, style, truncate_str};
use fable_core::{Catalog, Feasible, UserError};
use fable_std::simulate::Asked;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::error::Error;
use std::io::{self, Write};
use std::thread::sleep;
use std::time::Duration;

/// A bar that is full: this much of the reward.
const FULL: f64 = 0.4;
/// Rounds that the rewards shown are the mean of.
const WINDOW: usize = 25;
const MAX_WIDTH: usize = 100;
const MIN_WIDTH: usize = 60;
/// Columns of plain lines.
const MAX_LINE: usize = 120;
/// Cells of the shortest bar: three on either side of its line.
const MIN_BAR: usize = 7;
/// How much longer a round is shown that makes something certain.
const MOMENT: Duration = Duration::from_millis(150);
/// What stands in front of a line of a round.
const HEAD: usize = 10;

/// One round, in words.
pub(super) struct Step {
    pub(super) round: u32,
    pub(super) asked: Asked,
    pub(super) task: String,
    pub(super) chosen: String,
    pub(super) why: String,
    pub(super) said: String,
    pub(super) reward: f64,
    /// What this round has made certain.
    pub(super) certain: Vec<String>,
    /// What is certain by now, in a line; empty where nothing can be.
    pub(super) standing: String,
}

/// The rewards of each way to live with the user, in the life that is shown.
pub(super) type Race<'r> = [(&'static str, &'r [f64])];

pub(super) enum Screen {
    Live { bar: ProgressBar, width: usize, slow: bool },
    Plain,
}

impl Screen {
    /// A moving picture if standard output is a terminal with room for it, and escape codes are welcome.
    pub(super) fn new(plain: bool, fast: bool, rounds: u32, tastes: &[Tastes<'_>]) -> Self {
        let (height, width) = Term::stdout().size();
        let width = usize::from(width).saturating_sub(1).min(MAX_WIDTH);
        let needed = 17 + panel(tastes, &[], width).len();
        let dumb = std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
        let unwelcome = dumb || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        if plain
            || unwelcome
            || !Term::stdout().is_term()
            || width < MIN_WIDTH
            || usize::from(height) < needed
        {
            console::set_colors_enabled(false);
            return Self::Plain;
        }
        let bar = ProgressBar::with_draw_target(Some(rounds.into()), ProgressDrawTarget::stdout_with_hz(30));
        if let Ok(style) = ProgressStyle::with_template(&format!(
            "{{msg}}\n {{bar:{}.cyan/dim}} {{pos}}/{{len}}",
            width - 14
        )) {
            bar.set_style(style.progress_chars("━━╌"));
        }
        Self::Live { bar, width, slow: !fast }
    }

    /// Characters that fit after the head of a line.
    pub(super) fn columns(&self) -> usize {
        match self {
            Self::Live { width, .. } => width - HEAD,
            Self::Plain => MAX_LINE - HEAD,
        }
    }

    /// Says what is going to happen.
    pub(super) fn open(&self, catalog: &Catalog<'_>, feasible: &Feasible) -> io::Result<()> {
        let (actions, allowed) = (catalog.actions(), feasible.len());
        let mut out = io::stdout().lock();
        writeln!(
            out,
            "{}",
            style("Fable learns what a simulated user likes, from one number per request.").bold()
        )?;
        writeln!(out, "{actions} actions, {allowed} of them allowed. What the user likes is hidden.")?;
        if matches!(self, Self::Plain) { writeln!(out) } else { Ok(()) }
    }

    /// Shows a round, and waits as long as it takes to read the first ones.
    pub(super) fn show(
        &self,
        step: &Step,
        rounds: u32,
        race: &Race<'_>,
        tastes: &[Tastes<'_>],
        theta: impl FnOnce() -> Result<Vec<f64>, UserError>,
    ) -> Result<(), Box<dyn Error>> {
        match self {
            Self::Plain if is_milestone(step.round, rounds) || !step.certain.is_empty() => {
                let mut out = io::stdout().lock();
                writeln!(out, "round {}", step.round)?;
                for line in card(step) {
                    writeln!(out, "{line}")?;
                }
                for sentence in &step.certain {
                    writeln!(out, "  {:<7} {sentence}", "certain")?;
                }
                let means =
                    race.iter().map(|(name, rewards)| format!("{name} {:+.2}", recent(rewards, step.round)));
                writeln!(out, "  {:<7} {}\n", "lately", means.collect::<Vec<_>>().join(", "))?;
            }
            Self::Plain => {}
            Self::Live { bar, width, slow } => {
                let mut lines = vec![String::new()];
                lines.extend(card(step));
                let sure = if step.standing.starts_with("nothing") {
                    Style::new().dim()
                } else {
                    Style::new().bold().green()
                };
                lines.push(format!(
                    "{} {}",
                    style(format!("  {:<1$}", "certain", HEAD - 3)).dim(),
                    sure.apply_to(&step.standing)
                ));
                lines.push(String::new());
                lines.extend(panel(tastes, &theta()?, *width));
                lines.push(String::new());
                lines.push(style(format!("  {:<1$}lately", "reward", width - 8)).dim().to_string());
                lines.extend(
                    race.iter().map(|(name, rewards)| sparkline(name, rewards, step.round, rounds, *width)),
                );
                lines.push(String::new());
                let lines: Vec<_> = lines.iter().map(|line| truncate_str(line, *width, "…")).collect();
                bar.set_position(step.round.into());
                bar.set_message(lines.join("\n"));
                if *slow {
                    sleep(pause(step.round, rounds));
                    sleep(if step.certain.is_empty() { Duration::ZERO } else { MOMENT });
                }
            }
        }
        Ok(())
    }

    /// Leaves the last picture standing.
    pub(super) fn finish(&self) {
        if let Self::Live { bar, .. } = self {
            bar.abandon();
            println!("\n");
        }
    }
}

/// The rounds that are told in plain lines: the first ones, then ever fewer, and the last.
fn is_milestone(round: u32, rounds: u32) -> bool {
    matches!(round, 1..=3 | 10 | 30 | 100 | 300 | 1_000) || round == rounds
}

/// Fourteen seconds or less in all, most of them for the first rounds.
fn pause(round: u32, rounds: u32) -> Duration {
    match round {
        0..=4 => Duration::from_millis(900),
        5..=16 => Duration::from_millis(250),
        _ => (Duration::from_secs(7) / (rounds - 16)).min(Duration::from_millis(80)),
    }
}

fn card(step: &Step) -> Vec<String> {
    let head = |word: &str| style(format!("  {word:<width$}", width = HEAD - 3)).dim().to_string();
    let reward = if step.reward < 0.0 { Style::new().yellow() } else { Style::new().green() };
    vec![
        format!("{} \"{}\" {}", head("asked"), step.asked.text, style(&step.task).dim()),
        format!("{} {}", head("chosen"), style(&step.chosen).bold()),
        format!("{} {}", head("why"), step.why),
        format!("{} {} \"{}\"", head("reward"), reward.apply_to(format!("{:+.2}", step.reward)), step.said),
    ]
}

/// The components side by side, a bar for each value.
fn panel(tastes: &[Tastes<'_>], theta: &[f64], width: usize) -> Vec<String> {
    let beside = (width / 26).clamp(1, tastes.len().max(1));
    let column = width / beside;
    let mut lines = Vec::new();
    for row in tastes.chunks(beside) {
        let blocks: Vec<Vec<String>> = row.iter().map(|tastes| bars(tastes, theta, column)).collect();
        for line in 0..blocks.iter().map(Vec::len).max().unwrap_or(0) {
            let cells = blocks.iter().map(|block| {
                let cell = block.get(line).map_or("", String::as_str);
                format!("{cell}{}", " ".repeat(column.saturating_sub(measure_text_width(cell))))
            });
            lines.push(cells.collect::<String>());
        }
    }
    lines
}

/// A component and its values, each with a bar that grows to the right when liked and to the left when not.
fn bars(tastes: &Tastes<'_>, theta: &[f64], width: usize) -> Vec<String> {
    let names = tastes.values.iter().map(|taste| taste.value).chain([tastes.component]);
    let longest = names.map(|name| name.chars().count()).max().unwrap_or(0);
    let longest = longest.min(width.saturating_sub(MIN_BAR + 3));
    let cells = width.saturating_sub(longest + 4) / 2;
    let name = |name: &str, columns: usize| format!("{:<columns$}", truncate_str(name, columns, "…"));
    let mut lines =
        vec![style(format!("  {} {:>cells$}│+", name(tastes.component, longest), "-")).dim().to_string()];
    for taste in &tastes.values {
        lines.push(match taste.strength(theta) {
            Some(strength) => format!("  {} {}", name(taste.value, longest), bar(strength, cells)),
            None => {
                style(format!("  {} forbidden", name(taste.value, longest.min(width.saturating_sub(12)))))
                    .dim()
                    .to_string()
            }
        });
    }
    lines
}

/// How much a value is liked.
fn bar(strength: f64, cells: usize) -> String {
    crate::bar::bar(strength, FULL, cells)
}

/// The rewards so far, a column for every so many rounds.
fn sparkline(name: &str, rewards: &[f64], round: u32, rounds: u32, width: usize) -> String {
    const STEPS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let columns = width.saturating_sub(22).max(1);
    let place = |column: usize| column * rounds as usize / columns;
    let column = |index: usize| {
        let (from, to) = (place(index), place(index + 1).min(round as usize));
        let rewards = rewards.get(from..to.max(from)).unwrap_or_default();
        if rewards.is_empty() {
            return ' ';
        }
        let mean = rewards.iter().sum::<f64>() / rewards.len() as f64;
        let height = ((mean + 0.2) * 8.0).clamp(0.0, 7.0) as usize; // -0.2 is the floor, 0.8 the ceiling
        STEPS.get(height).copied().unwrap_or(' ')
    };
    let columns: String = (0..columns).map(column).collect();
    let colour = if name == "Fable" { Style::new().cyan() } else { Style::new().dim() };
    format!("  {name:<13} {} {:+.2}", colour.apply_to(columns), recent(rewards, round))
}

/// The mean of the last rewards.
fn recent(rewards: &[f64], round: u32) -> f64 {
    let round = (round as usize).min(rewards.len());
    let last = rewards.get(round.saturating_sub(WINDOW)..round).unwrap_or_default();
    last.iter().sum::<f64>() / last.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::{bar, pause};
    use std::time::Duration;

    /// However many rounds there are, nobody waits longer than this.
    #[test]
    fn pauses_take_15_seconds_at_most() {
        for rounds in [20, 21, 60, 300, 1_000, 2_000] {
            let total: Duration = (1..=rounds).map(|round| pause(round, rounds)).sum();
            assert!(total <= Duration::from_secs(15), "{rounds}: {total:?}");
        }
    }

    #[test]
    fn bars_have_one_width_and_grow_from_the_line() {
        console::set_colors_enabled(false);
        assert_eq!(bar(0.0, 3), "   \u{2502}   ");
        assert_eq!(bar(0.2, 3), "   \u{2502}\u{2588}\u{258c} ");
        assert_eq!(bar(-0.2, 3), " \u{2590}\u{2588}\u{2502}   ");
        assert_eq!(bar(9.0, 3), "   \u{2502}\u{2588}\u{2588}\u{2588}");
        assert_eq!(bar(f64::NAN, 3), bar(0.0, 3));
    }
}
