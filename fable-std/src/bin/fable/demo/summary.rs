//! What the demo says at its end: how it went, what was found out, and how sure that is.

use super::DemoArguments;
use super::lives;
use super::picture::Curve;
use super::tastes::{Taste, Tastes};
use super::trials::Trials;
use fable_core::preference::{Certifier, Standing, Trial, Verdict};
use fable_core::{HostUser, Promotion};
use fable_std::simulate::SimulatedUser;
use fable_std::text::wording;
use std::error::Error;
use std::fmt::Write;

/// Preferences that are shown of those that are not certain.
const NEAREST: usize = 3;

/// What coins must have won for that: less says nothing.
const WON: f64 = 1.5;

pub(super) fn text(
    arguments: &DemoArguments,
    user: &SimulatedUser<'_>,
    fable: &mut HostUser<'_, f32>,
    curves: &[Curve],
    tastes: &[Tastes<'_>],
    trials: &Trials,
) -> Result<String, Box<dyn Error>> {
    let mut out = String::new();
    rewards(&mut out, arguments.rounds, curves)?;
    found(&mut out, user, fable, tastes)?;
    preferences(&mut out, fable, trials)?;
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
        writeln!(
            out,
            "  {:<14} {:<22} {:>+10.2} {:>+10.2}",
            curve.name,
            curve.note,
            mean(curve, false),
            mean(curve, true)
        )?;
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
        writeln!(
            out,
            "  {:<10} likes     {:<19} {liked:>+8.2} {:>+10.2}",
            component.component,
            best.value,
            truth(best)
        )?;
        writeln!(out, "  {:<10} dislikes  {:<19} {disliked:>+8.2} {:>+10.2}", "", worst.value, truth(worst))?;
    }
    Ok(writeln!(out)?)
}

/// What has become certain and how sure that is, and what is nearest to it.
fn preferences(
    out: &mut String,
    fable: &mut HostUser<'_, f32>,
    trials: &Trials,
) -> Result<(), Box<dyn Error>> {
    let catalog = fable.policy().catalog();
    let mut user = fable.user();
    let promotions = user.profile().to_vec();
    if !promotions.is_empty() {
        writeln!(out, "Certain, so the assistant's prompt says it:")?;
    }
    for promotion in &promotions {
        let contrast = usize::from(promotion.contrast);
        let (trial, standing) = (user.trial(contrast)?, user.standing(promotion)?);
        writeln!(out, "  {}", wording::promotion(catalog, promotion))?;
        let provenance = wording::provenance(promotion);
        if standing != Standing::Holds {
            writeln!(out, "    {provenance}; {} since", wording::standing(standing))?;
            continue;
        }
        let (progress, mean) = (wording::progress(&trial), trial.average.mean);
        writeln!(out, "    {provenance}; by now {progress}")?;
        if let Some(truth) = trials.truth(contrast, &trial) {
            writeln!(out, "    {mean:+.2} on average over {} coins, really {truth:+.2}", trial.trials)?;
        }
    }
    let mut open: Vec<(u8, Trial)> = Vec::new();
    for contrast in (0..).take(catalog.contrasts().len()) {
        let trial = user.trial(contrast.into())?;
        if trial.e_value >= WON && !promotions.iter().any(|promotion| promotion.contrast == contrast) {
            open.push((contrast, trial));
        }
    }
    if catalog.contrasts().is_empty() {
        return Ok(());
    }
    open.sort_by(|(_, one), (_, other)| other.e_value.total_cmp(&one.e_value));
    let head = if promotions.is_empty() { "Nothing is certain yet." } else { "Not certain yet." };
    if !open.is_empty() {
        writeln!(out, "{head} Nearest, by what coins have won so far:")?;
    } else if promotions.is_empty() {
        writeln!(out, "{head}")?;
    }
    for (contrast, trial) in open.into_iter().take(NEAREST) {
        let verdict = if trial.average.mean < 0.0 { Verdict::Against } else { Verdict::For };
        let (coins, progress) = (trial.trials, wording::progress(&trial));
        let (lower, upper, valid) = (0.0, 0.0, false);
        let guess = Promotion {
            contrast,
            verdict,
            valid,
            by: Certifier::Probes,
            round: 0,
            time: 0,
            evidence: 0,
            lower,
            upper,
        };
        writeln!(out, "  {}", wording::promotion(catalog, &guess))?;
        writeln!(out, "    {coins} coin{}, {progress}", if coins == 1 { "" } else { "s" })?;
    }
    Ok(writeln!(out)?)
}
