//! What the demo says at its end: how it went, what was found out, and how sure that is.

use super::DemoArguments;
use super::lives;
use super::picture::Curve;
use super::tastes::{Taste, Tastes};
use fable_core::{Assessment, Certifier, Comparison, HostUser, Promotion, Verdict};
use fable_std::simulate::SimulatedUser;
use std::error::Error;
use std::fmt::Write;

/// Nearest preferences that are shown when none is promoted.
const NEAREST: usize = 3;

pub(super) fn text(
    arguments: &DemoArguments,
    user: &SimulatedUser<'_>,
    fable: &mut HostUser<'_, f32>,
    curves: &[Curve],
    tastes: &[Tastes<'_>],
) -> Result<String, Box<dyn Error>> {
    let mut out = String::new();
    rewards(&mut out, arguments.rounds, curves)?;
    found(&mut out, user, fable, tastes)?;
    preferences(&mut out, user, fable)?;
    writeln!(out, "The picture is in {}. `fable demo --help` explains the words.", arguments.svg.display())?;
    Ok(out)
}

fn rewards(out: &mut String, rounds: u32, curves: &[Curve]) -> std::fmt::Result {
    let lives = curves.first().map_or(0, |curve| curve.lives.len());
    let part = (rounds as usize / 6).max(1);
    let mean = |curve: &Curve, last: bool| {
        let sum: f64 = curve
            .lives
            .iter()
            .flat_map(|life| {
                let from = if last { life.len().saturating_sub(part) } else { 0 };
                life.iter().skip(from).take(part)
            })
            .sum();
        sum / (curve.lives.len() * part) as f64
    };
    let heads = [format!("first {part}"), format!("last {part}")];
    writeln!(out, "Mean reward of {lives} lives                 {:>10} {:>10}", heads[0], heads[1])?;
    for curve in curves {
        writeln!(out, "  {:<14} {:<22} {:>+10.2} {:>+10.2}", curve.name, curve.note, mean(curve, false), mean(curve, true))?;
    }
    writeln!(out)
}

/// The most and the least liked value of each component, as learned, beside the truth.
fn found(
    out: &mut String,
    user: &SimulatedUser<'_>,
    fable: &mut HostUser<'_, f32>,
    tastes: &[Tastes<'_>],
) -> Result<(), Box<dyn Error>> {
    let learned = lives::mean(fable)?;
    writeln!(out, "What was found in the life shown         {:>10} {:>10}", "learned", "hidden")?;
    let truth = |taste: &Taste<'_>| taste.strength(user.theta()).unwrap_or(0.0);
    for component in tastes {
        let ranked = component.ranked(&learned);
        let [(best, liked), .., (worst, disliked)] = ranked.as_slice() else { continue };
        writeln!(out, "  {:<10} likes     {:<19} {liked:>+8.2} {:>+10.2}", component.component, best.value, truth(best))?;
        writeln!(out, "  {:<10} dislikes  {:<19} {disliked:>+8.2} {:>+10.2}", "", worst.value, truth(worst))?;
    }
    Ok(writeln!(out)?)
}

/// The promoted preferences, or the nearest ones: those whose interval would have to shrink least to leave zero.
fn preferences(out: &mut String, user: &SimulatedUser<'_>, fable: &mut HostUser<'_, f32>) -> Result<(), Box<dyn Error>> {
    let catalog = user.catalog();
    let sentence = |contrast: u8, verdict: Verdict, out: &mut String| {
        Promotion { contrast, verdict, valid: true, by: Certifier::Coins, round: 0, at: 0, evidence: 0, lower: 0.0, upper: 0.0 }
            .write_sentence(catalog, out)
    };
    if !fable.learner().profile().is_empty() {
        writeln!(out, "Certain enough to be promoted to the assistant's prompt:")?;
        for promotion in fable.learner().profile() {
            write!(out, "  from round {:>4}   ", promotion.round)?;
            sentence(promotion.contrast, promotion.verdict, out)?;
            writeln!(out)?;
        }
        writeln!(out)?;
        return Ok(());
    }
    let mut nearest: Vec<(f64, u8, Assessment)> = Vec::new();
    for contrast in (0..).take(catalog.contrasts().len()) {
        if let Some(comparison) = Comparison::declared(catalog, usize::from(contrast)) {
            let assessment = fable.user().assess(&comparison)?;
            nearest.push((assessment.mean.abs() / assessment.radius, contrast, assessment));
        }
    }
    if nearest.is_empty() {
        return Ok(());
    }
    nearest.sort_by(|(one, ..), (other, ..)| other.total_cmp(one));
    writeln!(out, "Nothing is certain enough to be promoted to the prompt. Nearest (probability):")?;
    for (_, contrast, Assessment { mean, probability, .. }) in nearest.into_iter().take(NEAREST) {
        let (verdict, probability) = if mean < 0.0 { (Verdict::Against, 1.0 - probability) } else { (Verdict::For, probability) };
        write!(out, "  {:>3.0}%  ", 100.0 * probability)?;
        sentence(contrast, verdict, out)?;
        writeln!(out)?;
    }
    Ok(writeln!(out)?)
}
