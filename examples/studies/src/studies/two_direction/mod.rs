//! Two contexts with opposite preferences: `web_search` is right for current information, `no_tool` for stable facts.
//!
//! The paper's last appendix: 20 prompts in a fixed order, reward +1 or -1, a learner that learns against one that does
//! not. The paper has one run and does not state its contexts; [`fit`] infers them from the probabilities that it does state, and
//! here are many seeds under what was inferred, and where the paper's run lies among them. [`reading`] is the same with contexts that are
//! read from the prompts.

mod fit;
mod likelihood;
mod lives;
pub(super) mod reading;
mod stage;
mod tables;

use crate::report::Report;
use crate::setup::{Setup, StudyError};
use crate::statistics::{mean, mean_interval, quantile};
use fable_core::Settings;
use fit::Fit;
use lives::{Pair, Run, pair, reward_until, values};
use stage::{Contexts, Tasks, WHOLE};

pub const ABOUT: &str =
    "20 prompts, web search against no tool: learning against frozen, under contexts inferred from the paper";

/// A column of the tables: contexts, settings, and the runs under them.
struct Column {
    name: String,
    key: &'static str,
    pair: Pair,
}

/// The contexts of an earlier version of this study, made up: the signals that the simulator gives to "Who won the match last night?" and to "How far
/// away is the moon?".
const INVENTED: Contexts = Contexts { tasks: Tasks::Own, tool_need: [0.8, 0.2], calm: fit::CALM };

/// Runs the study.
pub fn run(setup: &Setup) -> Result<Report, StudyError> {
    let fits = fit::every(setup)?;
    let best = *fits
        .iter()
        .min_by(|one, other| one.loss.total_cmp(&other.loss))
        .ok_or_else(|| StudyError::Failed("there are no contexts to fit".into()))?;
    let strengths = likelihood::both(&best)?;
    let (nu, _) =
        likelihood::likeliest(|nu| strengths.iter().map(|run| likelihood::log_likelihood(run, nu)).sum());
    let seeds = setup.scale(10_000, 40);
    let column =
        |name: String, key, settings: Settings<'static>, contexts: &Contexts| -> Result<Column, StudyError> {
            let pair =
                pair(setup, &format!("two-direction, {name}"), settings, &WHOLE.rounds(contexts)?, seeds)?;
            Ok(Column { name, key, pair })
        };
    let columns = [
        column(format!("inferred, nu {nu:.2}"), "inferred", best.scales.settings(nu), &best.contexts)?,
        column("inferred, nu 1".into(), "inferred.unit", best.scales.settings(1.0), &best.contexts)?,
        column("made up, own tasks".into(), "default.own", Settings::PAPER, &INVENTED)?,
        column(
            "made up, one task".into(),
            "default.one",
            Settings::PAPER,
            &Contexts { tasks: Tasks::Factual, ..INVENTED },
        )?,
    ];
    let mut report = Report::new("one learner, two contexts, opposite preferences");
    let [inferred, _, own, _] = &columns;
    old_goals(&mut report, &own.pair);
    goals(&mut report, &inferred.pair);
    told(&mut report, seeds);
    inference(setup, &mut report, &fits, &best)?;
    scale(&mut report, &strengths, nu);
    outcomes(setup, &mut report, &columns, &fits, nu)?;
    report.plot(tables::distribution(&inferred.pair));
    report.plot(tables::learning(&inferred.pair));
    for column in &columns {
        numbers(&mut report, &column.pair, column.key);
    }
    Ok(report)
}

fn central(values: &[f64]) -> (f64, f64) {
    (quantile(values, 0.05), quantile(values, 0.95))
}

fn within(values: &[f64], paper: f64) -> bool {
    central(values).0 <= paper && paper <= central(values).1
}

fn ends(values: &[f64]) -> String {
    format!("{} to {}", central(values).0, central(values).1)
}

/// Those of an earlier version of this study, about the contexts that were made up.
fn old_goals(report: &mut Report, own: &Pair) {
    let (online, frozen) = (values(&own.online, Run::all), values(&own.frozen, Run::all));
    let told = |values: &[f64]| format!("central 90% is {}", ends(values));
    report.goal(
        "mean online accuracy at least 17 of 20",
        format!("{:.2}", mean(&online)),
        mean(&online) >= 17.0,
    );
    report.goal("the paper's 18 (online) in the central 90%", told(&online), within(&online, 18.0));
    report.goal("the paper's 14 (frozen) in the central 90%", told(&frozen), within(&frozen, 14.0));
}

/// About the contexts that are inferred.
fn goals(report: &mut Report, inferred: &Pair) {
    report.goals_set("2026-11-18");
    let told = |values: &[f64]| format!("central 90% is {}", ends(values));
    let (online, frozen) = (values(&inferred.online, Run::all), values(&inferred.frozen, Run::all));
    report.goal(
        "inferred contexts: the paper's 18 (online) in the central 90%",
        told(&online),
        within(&online, 18.0),
    );
    report.goal(
        "inferred contexts: the paper's 14 (frozen) in the central 90%",
        told(&frozen),
        within(&frozen, 14.0),
    );
    let (only_online, only_frozen): (Vec<f64>, Vec<f64>) =
        inferred.discordant().into_iter().map(|(online, frozen)| (online as f64, frozen as f64)).unzip();
    report.goal(
        "inferred contexts: the paper's 5 and 1 discordant rounds in the central 90%",
        format!("{} and {}", ends(&only_online), ends(&only_frozen)),
        within(&only_online, 5.0) && within(&only_frozen, 1.0),
    );
    let gain =
        mean(&values(&inferred.online, reward_until(20))) - mean(&values(&inferred.frozen, reward_until(20)));
    report.goal(
        "inferred contexts: learning adds at least half of the paper's 8 to the cumulative reward",
        format!("{gain:+.2}"),
        gain >= 4.0,
    );
}

fn told(report: &mut Report, seeds: usize) {
    report.text(&format!(
        "The paper's 20 prompts in their order, `web_search` against `no_tool` with `no_memory` and `concise` fixed, reward +1
         for the target action and -1 for the other, {seeds} seeds. Both policies of a seed have the same prior, contexts, reference, costs
         and scale and see the same draws; the one difference is that the frozen one learns nothing. Neither hears statements. No model
         is called: whether the host followed the instruction is not part of the reward in the paper either."
    ));
    report.text(
        "The first three goals are of an earlier version of this study and about contexts that were made up (the last two columns below): tool need 0.8 and
         0.2, `Settings::PAPER`, with a task for each kind of prompt or with one task. The others are about contexts that are inferred from
         what the paper states. They were set after the fit had been looked at and
         committed before the full run under it.",
    );
}

/// The fit, and how well it is determined.
fn inference(setup: &Setup, report: &mut Report, fits: &[Fit], best: &Fit) -> Result<(), StudyError> {
    report.heading("What the four probabilities say about the contexts");
    report.text(
        "The paper states four probabilities of its working posterior: that the right action has the higher score, for both kinds of
         prompts, before and after its online run; and it states the 20 actions and rewards of that run. So the run can be learned from again
         under any contexts and settings, without a draw, and the four numbers compared. Unknown: the cost weight, the base precision, the
         noise variance, whether there is a task, the tool needs. Default score and costs are those of Appendix F. For each kind of tasks and each pair of
         tool needs in tenths the three numbers are fitted by a grid and a pattern search.",
    );
    report.table(tables::fits(fits));
    let [[a, b], [c, d]] = best.probabilities;
    report.text(&format!(
        "Least squares in units of the rounding, for the best tool needs of each row; in how many of the pairs of tool needs the
         first three print as published and the fourth is not lower; and the range that cost weight, precision and noise variance have over
         those. The best of all is {} with tool needs {} and {}: {a:.3}, {b:.3}, {c:.3} and {d:.4}, where the paper has 0.529, 0.511, 0.885 and
         0.999. No setting that was tried gives the first three and 0.999: after nine successes in ten the posterior is surer than that, and a
         paper may print 0.999 for what would round to 1.",
        best.contexts.tasks.name(),
        best.contexts.tool_need[0],
        best.contexts.tool_need[1],
    ));
    let [cost_weight, precision, noise] = fit::ranges(setup, best)?;
    report.text(&format!(
        "With the tool needs of the best, rounding leaves a cost weight from {:.2} to {:.2}, a precision from {:.2} to {:.2} and a noise variance
         from {:.3} to {:.3}. What is determined: the first two probabilities give the ratio of 0.18 - 0.08 lambda to 0.08 lambda, hence lambda,
         about 0.6 whatever the contexts, and then the precision, given the number of features. It is not the 1 that this catalog ships. The tool need of
         stable facts cannot be below 0.2, where the default score speaks against tools. A task each is out: what is learned about one kind
         of prompt would not be unlearned by the other, and 0.885 would be higher. What is not determined: whether there was one task or none, how far apart the
         tool needs were (the noise variance makes up for it), and risk and ambiguity, which hardly count where both contexts have the same.",
        cost_weight.0, cost_weight.1, precision.0, precision.1, noise.0, noise.1,
    ));
    for (name, (least, most)) in
        ["cost_weight", "precision", "noise"].into_iter().zip([cost_weight, precision, noise])
    {
        report.number(format!("fit.{name}.least"), least);
        report.number(format!("fit.{name}.most"), most);
    }
    report.number("fit.loss", best.loss);
    report.number("fit.cost_weight", best.scales.cost_weight);
    report.number("fit.precision", best.scales.precision);
    report.number("fit.noise", best.scales.noise);
    for (place, probability) in best.probabilities.as_flattened().iter().enumerate() {
        report.number(format!("fit.probability.{place}"), *probability);
    }
    report.number("fit.kinds", fits.iter().filter(|fit| fit.fits()).count() as f64);
    Ok(())
}

/// What the actions say about the scale of the draw.
fn scale(report: &mut Report, strengths: &[Vec<f64>; 2], nu: f64) {
    report.heading("What the actions say about the scale of the draw");
    let [online, frozen] = strengths;
    let table = tables::scale(online, frozen);
    report.text(
        "With two actions the probability of the paper's choice in each round is exact, given the fit, the rounds before it and a scale nu.
         Log likelihood of the 20 actions of the paper's runs:",
    );
    report.table(table);
    let both = |nu: f64| likelihood::log_likelihood(online, nu) + likelihood::log_likelihood(frozen, nu);
    let (_, (least, most)) = likelihood::likeliest(both);
    let unit = |strengths: &[f64]| likelihood::log_likelihood(strengths, 1.0);
    report.text(&format!(
        "The likeliest scale of both runs together is {nu:.2}, and {least:.2} to {most:.2} is within 1.92 of it. The runs share a seed and are
         not independent, so this interval is too narrow if anything. With nu = 1 the frozen control tosses nearly fair coins (0.529
         and 0.511) and its 14 of 20 is luck; a smaller scale explains it. And with a small scale the online run is nearly certain, its two
         mistakes included: what was learned from the first prompt is carried over to the second, which is of the other kind, and what was
         learned from the second and third to the fourth. The difference between the
         likeliest scale and 1 is {:.1} nats.",
        both(nu) - unit(online) - unit(frozen),
    ));
    report.plot(tables::rounds(online, frozen, nu));
    report.number("nu", nu);
    report.number("nu.least", least);
    report.number("nu.most", most);
    report.number("likelihood.online", likelihood::log_likelihood(online, nu));
    report.number("likelihood.frozen", likelihood::log_likelihood(frozen, nu));
    report.number("likelihood.unit", unit(online) + unit(frozen));
}

/// What such a learner does, over seeds.
fn outcomes(
    setup: &Setup,
    report: &mut Report,
    columns: &[Column; 4],
    fits: &[Fit],
    nu: f64,
) -> Result<(), StudyError> {
    report.heading("What such a learner does");
    report.table(tables::summary(columns));
    report.text(
        "Mean over seeds, with the central 90% of them in brackets. _Made up_ are the contexts of an earlier version of this study under `Settings::PAPER`. With one
         task the two contexts differ in one number, the tool need, and what is learned about one kind of prompt is carried over to the other, and
         unlearned again; a small noise variance, as in the fit, unlearns quickly. A task type is how a context says that two kinds of requests
         are different: with a task each it takes no unlearning.",
    );
    let [inferred, unit, ..] = columns;
    let same = [&inferred.pair, &unit.pair].map(Pair::same_as_published);
    report.text(&format!(
        "Exactly 18 online has {:.1}% of the seeds with the likeliest scale and {:.1}% with nu = 1; exactly 14 frozen {:.1}% and {:.1}%; exactly 5
         and 1 discordant rounds {:.1}% and {:.1}%.",
        100.0 * same[0][0], 100.0 * same[1][0], 100.0 * same[0][1], 100.0 * same[1][1], 100.0 * same[0][2], 100.0 * same[1][2],
    ));
    // Whether the outcome depends on what the probabilities leave open.
    let mut others: Vec<(f64, f64, Contexts)> = Vec::new();
    for fit in fits.iter().filter(|fit| fit.fits()) {
        let rounds = WHOLE.rounds(&fit.contexts)?;
        let pair =
            pair(setup, "two-direction, other fits", fit.scales.settings(nu), &rounds, setup.scale(500, 10))?;
        others.push((
            mean(&values(&pair.online, Run::all)),
            mean(&values(&pair.frozen, Run::all)),
            fit.contexts,
        ));
    }
    others.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (Some(least), Some(most)) = (others.first(), others.last()) else {
        return Err(StudyError::Failed("no contexts fit".into()));
    };
    let named = |contexts: &Contexts| {
        format!("{}, {} and {}", contexts.tasks.name(), contexts.tool_need[0], contexts.tool_need[1])
    };
    let frozen: Vec<f64> = others.iter().map(|(_, frozen, _)| *frozen).collect();
    let middle = quantile(&others.iter().map(|(online, ..)| *online).collect::<Vec<_>>(), 0.5);
    report.text(&format!(
        "What the probabilities leave open matters for the online learner. Over the {} kinds of contexts that fit, with the same scale ({} seeds
         each), its mean of correct choices goes from {:.1} ({}) to {:.1} ({}), with a median of {middle:.1}; the frozen one has {:.1} to {:.1} in all of them.
         So the probabilities do not say how well such a learner does, only that the paper's run is one that such learners have.",
        others.len(), setup.scale(500, 10), least.0, named(&least.2), most.0, named(&most.2), quantile(&frozen, 0.0), quantile(&frozen, 1.0),
    ));
    report.number("fits.online.least", least.0);
    report.number("fits.online.most", most.0);
    report.table(tables::probes(columns));
    report.text(
        "Probability of the working posterior that the right action has the higher score, at the start and at the end of our
         runs. The paper's run is one such run, and its end is among ours if the inference is right.",
    );
    Ok(())
}

fn numbers(report: &mut Report, pair: &Pair, settings: &str) {
    let (online, frozen) = (values(&pair.online, Run::all), values(&pair.frozen, Run::all));
    let difference: Vec<f64> = online.iter().zip(&frozen).map(|(online, frozen)| online - frozen).collect();
    report.number(format!("{settings}.online"), mean(&online));
    report.number(format!("{settings}.frozen"), mean(&frozen));
    report.number(format!("{settings}.difference.lower"), mean_interval(&difference).0);
    report.number(format!("{settings}.mcnemar"), mean(&pair.mcnemar()));
    for (probe, name) in ["current", "stable"].into_iter().enumerate() {
        for (time, when) in ["initial", "final"].into_iter().enumerate() {
            let at = |run: &Run| {
                run.probes.get(time).and_then(|probes| probes.get(probe)).copied().unwrap_or_default()
            };
            report.number(format!("{settings}.{name}.{when}"), mean(&values(&pair.online, at)));
        }
    }
}
