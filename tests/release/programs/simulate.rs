//! fable-simulate from its archive: a learner gets better with a simulated user.

use fable_core::{Feasible, HostUser, Policy, Settings, catalog::AGENT};
use fable_simulate::SimulatedUser;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let user = SimulatedUser::new(&AGENT, 7);
    let mut ana = HostUser::<f32>::new(&Policy::new(&AGENT, Settings::default())?, "ana")?;
    let (everything, mut halves) = (Feasible::all(&AGENT), [0.0; 2]);
    for round in 1..=200 {
        let asked = user.request(round)?;
        let decision = ana.decide(&asked.context, &everything)?;
        let reward = user.reward(round, &asked.context, decision.action);
        ana.feedback(decision.id, reward)?;
        halves[usize::from(round > 100)] += reward / 100.0;
    }
    assert!(halves[1] > halves[0], "{halves:?}");
    println!("mean reward {:+.2}, then {:+.2}", halves[0], halves[1]);
    Ok(())
}
