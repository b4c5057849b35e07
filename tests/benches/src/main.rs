//! Times one round of Fable and of its peers, in turns. `--help` says more.

use std::error::Error;
use std::process::ExitCode;

use fable_benches::Real;
use fable_benches::eigen::Eigen;
use fable_benches::fable::Fable;
use fable_benches::floor::Floor;
use fable_benches::kernel::Kernel;
use fable_benches::peer::{Factor, Peer};
use fable_benches::rotation::{Lane, Table, nanoseconds, rotate};
use fable_benches::user::{Moment, lessons, moments};
use fable_core::catalog::{AGENT, Catalog, Definition};
use fable_core::{Decision, Policy, Scalar, Settings};
use nalgebra::{Cholesky, Dyn};

const HELP: &str = "\
Times one round (decide and learn) on the catalog `agent`: Fable, nalgebra, faer and, if installed, Eigen.

usage: fable-benches [--quick] [--check]

  --quick  a few seconds: fewer turns, and limits a fifth wider
  --check  exit code 1 when a limit is missed

A bordered peer is given Fable's idea to keep the information vector as one more row of the factor, which saves a solve.
Ratios compare each turn with Fable's in the same turn; the table shows their median, which the limits
are about. The ratio of minima is what an idle machine would show. Build once as it is and once
with RUSTFLAGS=\"-C target-cpu=x86-64-v3\".";

/// Moments that repeat, few enough to stay in the cache.
const MOMENTS: usize = 64;
/// Lessons before the clock starts.
const WARM: usize = 2048;
/// Rounds in a slice.
const SLICE: usize = 64;
/// Decisions that wait for their reward while decisions alone are timed: Fable's ring.
const RING: usize = 8;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let (mut quick, mut check) = (false, false);
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--quick" => quick = true,
            "--check" => check = true,
            "--help" | "-h" => {
                println!("{HELP}");
                return Ok(ExitCode::SUCCESS);
            }
            unknown => return Err(format!("unknown argument {unknown}; try --help").into()),
        }
    }
    let turns = if quick { 40 } else { 600 };
    let mut report = Report { slack: if quick { 1.2 } else { 1.0 }, lines: Vec::new(), missed: false };
    println!("{}\n", machine());
    compare::<f32>("f32", turns, &mut report)?;
    compare::<f64>("f64", turns, &mut report)?;
    println!("{}", report.lines.join("\n"));
    Ok(if check && report.missed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The lines about limits.
struct Report {
    slack: f64,
    lines: Vec<String>,
    missed: bool,
}

impl Report {
    fn limit(&mut self, what: &str, value: f64, met: bool) {
        self.missed |= !met;
        self.lines.push(format!("{} {what}: {value:.2}", if met { "PASS" } else { "MISS" }));
    }

    fn at_least(&mut self, what: &str, value: f64, least: f64) {
        let least = least / self.slack;
        self.limit(&format!("{what} at least {least:.2}"), value, value >= least);
    }

    fn at_most(&mut self, what: &str, value: f64, most: f64) {
        let most = most * self.slack;
        self.limit(&format!("{what} at most {most:.2}"), value, value <= most);
    }
}

/// Everything for one scalar.
fn compare<T: Real>(scalar: &str, turns: usize, report: &mut Report) -> Result<(), Box<dyn Error>> {
    let policy = Policy::<T>::new(&AGENT, Settings::PAPER)?;
    let moments = moments(&policy, None, MOMENTS);
    let expected = warm_fable(&policy, &moments).scores(&moments[0]);
    let mut lanes = vec![
        fable("fable", &policy, &moments),
        apart("fable, decide", &policy, &moments, |decide, _| decide),
        apart("fable, learn", &policy, &moments, |_, learn| learn),
        floor("floor: what is read and written, moved", &policy, &moments),
        peer::<_, Cholesky<T, Dyn>, false>("nalgebra", &policy, &moments, &expected)?,
        peer::<_, Cholesky<T, Dyn>, true>("nalgebra, bordered", &policy, &moments, &expected)?,
    ];
    #[cfg(feature = "faer")]
    lanes.extend([
        peer::<_, fable_benches::faer::Llt<T>, false>("faer", &policy, &moments, &expected)?,
        peer::<_, fable_benches::faer::Llt<T>, true>("faer, bordered", &policy, &moments, &expected)?,
    ]);
    lanes.extend(eigen(&policy, &moments, &expected)?);
    rotate(&mut lanes, turns);
    println!("## {scalar}\n\n{}", Table(&lanes));
    for peer in lanes.iter().filter(|lane| matches!(lane.name.as_str(), "nalgebra" | "faer")) {
        report.at_least(&format!("{scalar} {} / fable", peer.name), peer.ratio(&lanes[0]), 4.0);
    }
    report.lines.push(format!(
        "{scalar} fable / floor: {:.2}, of minima {:.2}",
        1.0 / lanes[3].ratio(&lanes[0]),
        lanes[0].minimum() / lanes[3].minimum()
    ));
    report.at_most(&format!("{scalar} decide / round"), lanes[1].ratio(&lanes[0]), 0.6);
    report.at_most(&format!("{scalar} learn / round"), lanes[2].ratio(&lanes[0]), 0.6);

    // The defaults: exact standard deviations of all actions, and coins on top of them.
    let [optimistic, probing] =
        [Settings::DEFAULT, Settings::PROBING].map(|settings| Policy::<T>::new(&AGENT, settings));
    let (optimistic, probing) = (optimistic?, probing?);
    let mut lanes = [
        apart("fable, a draw", &policy, &moments, |decide, _| decide),
        timed("fable, a draw with its mean", &policy, &moments, Fable::decide_scored, |decide, _| decide),
        apart("fable, optimistic", &optimistic, &moments, |decide, _| decide),
        apart("fable, optimistic with coins", &probing, &moments, |decide, _| decide),
    ];
    rotate(&mut lanes, turns / 8);
    println!("One decision:\n\n{}", Table(&lanes));
    report.at_most(&format!("{scalar} a decision with coins / without"), lanes[3].ratio(&lanes[2]), 1.1);

    // The loops by themselves.
    let mut lanes = [
        kernel::<T>("a back-solve", |kernel, [x, _]| kernel.solve(x)),
        kernel::<T>("two in one pass", |kernel, [x, y]| kernel.solve_both(x, y)),
        kernel::<T>("an update", |kernel, [w, _]| kernel.update(w)),
    ];
    rotate(&mut lanes, turns);
    println!("The loops of a round:\n\n{}", Table(&lanes));
    report.lines.push(format!("{scalar} two solves in one pass / one: {:.2}", lanes[1].ratio(&lanes[0])));

    // The same task again and again: what other tasks there are must not matter.
    let names: Vec<String> = (0..64).map(|task| format!("task{task}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let wide = Catalog::try_new(Definition { tasks: &names, ..*AGENT.definition() })?;
    let wide = Policy::<T>::new(&wide, Settings::PAPER)?;
    let (few, many) = (one_task(&policy), one_task(&wide));
    let mut lanes = [fable("fable, 10 tasks", &policy, &few), fable("fable, 64 tasks", &wide, &many)];
    rotate(&mut lanes, 2 * turns);
    println!("Always the same task:\n\n{}", Table(&lanes));
    let ratio = lanes[1].ratio(&lanes[0]);
    report.at_most(&format!("{scalar} 10 and 64 tasks differ by a factor of"), ratio.max(1.0 / ratio), 1.1);
    Ok(())
}

fn one_task<T: Scalar>(policy: &Policy<'_, T>) -> Vec<Moment<T>> {
    moments(policy, Some(7), MOMENTS)
}

fn warm_fable<'a, T: Scalar>(policy: &'a Policy<'a, T>, moments: &[Moment<T>]) -> Fable<'a, T> {
    let mut fable = Fable::new(policy);
    lessons(moments, WARM).for_each(|(moment, action)| fable.observe(&moments[moment], action));
    fable
}

/// Nanoseconds a round, over the next slice of moments.
fn slice<'m, T: 'm>(
    moments: &mut impl Iterator<Item = &'m Moment<T>>,
    round: impl FnMut(&'m Moment<T>),
) -> f64 {
    per_round(nanoseconds(|| moments.take(SLICE).for_each(round)))
}

#[expect(clippy::cast_precision_loss, reason = "a small count")]
fn per_round(nanoseconds: f64) -> f64 {
    nanoseconds / SLICE as f64
}

/// Fable's rounds.
fn fable<'a, T: Scalar>(name: &str, policy: &'a Policy<'a, T>, moments: &'a [Moment<T>]) -> Lane<'a> {
    let mut fable = warm_fable(policy, moments);
    let mut moments = moments.iter().cycle();
    Lane::new(name, move || slice(&mut moments, |moment| fable.round(moment)))
}

/// Rounds in which nothing is done but what is moved in memory.
fn floor<'a, T: Scalar + 'a>(name: &str, policy: &Policy<'_, T>, moments: &'a [Moment<T>]) -> Lane<'a> {
    let mut floor = Floor::<T>::new(policy.catalog().layout());
    let mut moments = moments.iter().cycle();
    Lane::new(name, move || slice(&mut moments, |moment| floor.round(moment.context.task())))
}

/// One loop of a round, again and again.
fn kernel<'a, T: Scalar + 'a>(name: &str, work: fn(&mut Kernel<T>, &mut [Vec<T>; 2])) -> Lane<'a> {
    let (mut kernel, mut vectors) = (Kernel::<T>::new(AGENT.layout()), [Vec::new(), Vec::new()]);
    Lane::new(name, move || {
        per_round(nanoseconds(|| (0..SLICE).for_each(|_| work(&mut kernel, &mut vectors))))
    })
}

/// Rounds in which eight decisions come first and then their eight rewards, so that the two can be timed apart.
fn apart<'a, T: Scalar>(
    name: &str,
    policy: &'a Policy<'a, T>,
    moments: &'a [Moment<T>],
    pick: fn(f64, f64) -> f64,
) -> Lane<'a> {
    timed(name, policy, moments, Fable::decide, pick)
}

/// The same with another way to decide.
fn timed<'a, T: Scalar>(
    name: &str,
    policy: &'a Policy<'a, T>,
    moments: &'a [Moment<T>],
    decide: fn(&mut Fable<'a, T>, &Moment<T>) -> Decision,
    pick: fn(f64, f64) -> f64,
) -> Lane<'a> {
    let mut fable = warm_fable(policy, moments);
    let mut batches = moments.as_chunks::<RING>().0.iter().cycle();
    Lane::new(name, move || {
        let mut total = 0.0;
        for batch in batches.by_ref().take(SLICE / RING) {
            let mut decided = Vec::with_capacity(RING);
            let decide =
                nanoseconds(|| decided.extend(batch.iter().map(|moment| decide(&mut fable, moment))));
            let learn = nanoseconds(|| {
                for (moment, decision) in batch.iter().zip(&decided) {
                    fable.learn(decision.id, moment.rewards[decision.action.index()]);
                }
            });
            total += pick(decide, learn);
        }
        per_round(total)
    })
}

/// A peer's rounds.
fn peer<'a, T: Scalar, F: Factor<T> + 'a, const BORDERED: bool>(
    name: &str,
    policy: &'a Policy<'a, T>,
    moments: &'a [Moment<T>],
    expected: &[f64],
) -> Result<Lane<'a>, String> {
    let mut peer = Peer::<T, F, BORDERED>::new(policy);
    lessons(moments, WARM).for_each(|(moment, action)| peer.learn(&moments[moment], action));
    agree::<T>(name, &peer.scores(&moments[0]), expected)?;
    let mut moments = moments.iter().cycle();
    Ok(Lane::new(name, move || slice(&mut moments, |moment| peer.round(moment))))
}

/// Eigen's rounds, if it is installed.
fn eigen<'a, T: Scalar>(
    policy: &Policy<'_, T>,
    moments: &[Moment<T>],
    expected: &[f64],
) -> Result<Option<Lane<'a>>, Box<dyn Error>> {
    let Some(mut eigen) = Eigen::start(policy, moments)? else { return Ok(None) };
    lessons(moments, WARM).try_for_each(|(moment, action)| eigen.learn(moment, action))?;
    agree::<T>("Eigen", &eigen.scores(0)?, expected)?;
    Ok(Some(Lane::new("Eigen, bordered", move || per_round(eigen.rounds(SLICE).unwrap_or(f64::NAN)))))
}

/// A contender that has learned the same must think the same, or it is not doing the work.
fn agree<T: Scalar>(name: &str, scores: &[f64], expected: &[f64]) -> Result<(), String> {
    let tolerance = if size_of::<T>() == 4 { 1e-4 } else { 1e-10 };
    let close = |(score, expected): (&f64, &f64)| (score - expected).abs() < tolerance;
    if scores.len() == expected.len() && scores.iter().zip(expected).all(close) {
        Ok(())
    } else {
        Err(format!("{name} has learned something else"))
    }
}

/// The processor, and what of it the compiler was allowed to use.
fn machine() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info
        .lines()
        .find_map(|line| line.strip_prefix("model name"))
        .and_then(|rest| rest.split(": ").nth(1));
    let features = [
        ("sse2", cfg!(target_feature = "sse2")),
        ("avx", cfg!(target_feature = "avx")),
        ("avx2", cfg!(target_feature = "avx2")),
        ("fma", cfg!(target_feature = "fma")),
        ("avx512f", cfg!(target_feature = "avx512f")),
    ];
    let features: Vec<&str> = features.iter().filter(|(_, on)| *on).map(|(name, _)| *name).collect();
    let debug =
        if cfg!(debug_assertions) { "\nBuilt without optimization: the numbers mean nothing." } else { "" };
    format!("Processor: {}\nCompiled for: {}{debug}", model.unwrap_or("unknown"), features.join(" "))
}
