//! Shows: a host goes on with a user of the npm package, or begins with one for it. The package's tests compare every decision.
//!
//! `cargo run -p fable-js --example host -- ROUNDS OUT [IN]` opens the snapshot IN, or begins with "ana", plays so many rounds on
//! `agent` with a fixed rule of contexts and rewards, prints the decisions, and writes the snapshot OUT.

use fable_core::catalog::AGENT;
use fable_core::{Context, Feasible, HostUser, Policy, Settings};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [rounds, out, rest @ ..] = &arguments[..] else { return Err("ROUNDS OUT [IN]".into()) };
    let policy = Policy::new(&AGENT, Settings { seed: 7, ..Settings::PROBING })?;
    let mut ana = match rest {
        [file, ..] => HostUser::<f32>::restore(&policy, &std::fs::read(file)?)?,
        [] => HostUser::new(&policy, "ana")?,
    };
    for _ in 0..rounds.parse()? {
        let round = ana.state().rounds();
        let signals = [0, 1, 2, 3].map(|signal| ((round + signal) % 9) as f32 / 8.0);
        let context = Context::new(&AGENT, Some(round as usize % AGENT.definition().tasks.len()), &signals)?;
        let decision = ana.decide(&context, &Feasible::all(&AGENT))?;
        println!("{} {}", decision.id, decision.action.0);
        ana.feedback(decision.id, f64::from((u32::from(decision.action.0) + round) % 5) / 2.0 - 1.0)?;
    }
    std::fs::write(out, ana.to_bytes())?;
    Ok(())
}
