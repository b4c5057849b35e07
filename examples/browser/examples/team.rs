//! Shows: how the prior of the page's team was made. Lives of simulated members are recorded, a prior is fitted to their rewards as
//! `fable prior fit` does it, and what is left of it goes to `src/team.bin`: two bytes for each coordinate.
//!
//! ```sh
//! cargo run --release -p fable-browser --example team              # says what the prior is worth to members who were not in the fit
//! cargo run --release -p fable-browser --example team -- --write   # and writes it
//! ```

use fable_browser::team::{FITTED_TO, Fitted, member, pack};
use fable_core::journal::Observation;
use fable_core::posterior::Prior;
use fable_core::{Feasible, HostUser, Policy, Settings};
use fable_js::AGENT;
use fable_simulate::SimulatedUser;
use fable_std::prior::{Evidence, Options, Population, fit};
use std::error::Error;

/// Members that the prior is fitted to, and the rounds of each.
const MEMBERS: u64 = 60;
const ROUNDS: u32 = 100;
/// How many imagined members hold the spread back: what `fit` chooses by members who are left out, if it is asked to. That takes a minute,
/// and the test makes the fit again.
const IMAGINED: f64 = 4064.0;
/// People whom it is tried on: those of the page.
const UNSEEN: u64 = 100;

/// What one person's rounds show, and the mean rewards of what was chosen in the first 50 and in all of them.
fn live(
    policy: &Policy<'static, f32>,
    person: &SimulatedUser<'static>,
    rounds: u32,
) -> Result<(Evidence, [f64; 2]), Box<dyn Error>> {
    let everything = Feasible::all(&AGENT);
    let mut user = HostUser::<f32>::new(policy, "simulated")?;
    let (mut evidence, mut sums) = (Evidence::default(), [0.0; 2]);
    for round in 1..=rounds {
        let context = person.request(round)?.context;
        let decision = user.decide(&context, &everything)?;
        let reward = person.reward(round, &context, decision.action);
        user.feedback(decision.id, reward)?;
        let observation = Observation {
            context,
            action: decision.action,
            baseline: decision.baseline,
            reward,
            weight: 1.0,
        };
        evidence.reward(policy, &observation);
        let expected = person.expected(&context, decision.action);
        sums[0] += if round <= 50 { expected / 50.0 } else { 0.0 };
        sums[1] += expected / f64::from(rounds);
    }
    Ok((evidence, sums))
}

/// The prior of members whom nobody meets on the page, and its bytes.
fn fitted() -> Result<(Population, Vec<u8>), Box<dyn Error>> {
    let mut journals = Vec::new();
    for seed in FITTED_TO..FITTED_TO + MEMBERS {
        let policy = Policy::new(&AGENT, Settings { seed, ..Settings::PROBING })?;
        journals.push(live(&policy, &member(seed)?, ROUNDS)?.0);
    }
    let population = fit(
        &Policy::new(&AGENT, Settings::PROBING)?,
        &journals,
        &Options { shrinkage: Some(IMAGINED), ..Options::default() },
    )?;
    let bytes = pack(&population.prior.mean(), &population.prior.deviations());
    Ok((population, bytes))
}

/// Mean rewards in the first 50 rounds and in 200, of people of the page.
fn worth(
    prior: Prior<'static, f32>,
    person: impl Fn(u64) -> SimulatedUser<'static>,
) -> Result<[f64; 2], Box<dyn Error>> {
    let mut sums = [0.0; 2];
    for seed in 0..UNSEEN {
        let policy = Policy::with_prior(&AGENT, Settings { seed, ..Settings::PROBING }, prior)?;
        let (_, means) = live(&policy, &person(seed), 200)?;
        sums.iter_mut().zip(means).for_each(|(sum, mean)| *sum += mean / UNSEEN as f64);
    }
    Ok(sums)
}

fn main() -> Result<(), Box<dyn Error>> {
    let (population, bytes) = fitted()?;
    println!("{MEMBERS} members, {} rewards", population.observations);
    let informed: &'static Fitted = Box::leak(Box::new(Fitted::of(&bytes)));
    for (name, prior) in [("without", Prior::Isotropic), ("with", informed.prior())] {
        let [early, all] = worth(prior, |seed| member(seed).expect("a member of the page"))?;
        println!(
            "{name} it: mean reward {early:.3} in the first 50 rounds, {all:.3} in 200, of {UNSEEN} members who were not in the fit"
        );
        let [early, all] = worth(prior, |seed| SimulatedUser::new(&AGENT, seed))?;
        println!(
            "{name} it: mean reward {early:.3} in the first 50 rounds, {all:.3} in 200, of {UNSEEN} strangers, who are not of the team"
        );
    }
    if std::env::args().any(|argument| argument == "--write") {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/src/team.bin"), bytes)?;
    }
    Ok(())
}

#[test]
fn the_fit_is_the_one_that_ships() {
    let (_, bytes) = fitted().unwrap();
    assert!(
        bytes == include_bytes!("../src/team.bin"),
        "run `cargo run --release -p fable-browser --example team -- --write`"
    );
}
