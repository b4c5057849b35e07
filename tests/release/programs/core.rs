//! fable-core from its archive, as on a device: memory of a fixed length, no allocator.

use fable_core::{Feasible, Learner, Policy, Request, Settings, Workspace, catalog::TAU2, user_hash};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut learner: Learner<f32, [f32; TAU2.state_len()], 8> = const { Learner::new(&TAU2) };
    let mut workspace: Workspace<f32, [f32; TAU2.workspace_len()]> = const { Workspace::new(&TAU2) };
    let policy = Policy::new(&TAU2, Settings::default())?;
    learner.start(&policy, user_hash("ana"))?;
    let mut user = learner.bind(&policy, &mut workspace)?;
    let context = TAU2.context(None, [])?;
    let (mut liked, everything) = (0, Feasible::all(&TAU2));
    for round in 0..60 {
        let decision = user.decide(&Request::new(&context, &everything))?;
        let pleased = decision.action.0 % 3 == 1;
        liked += usize::from(pleased && round >= 40);
        user.feedback(decision.id, if pleased { 0.8 } else { -0.4 })?;
    }
    assert!(liked >= 15, "{liked} of the last 20 were liked");
    println!("{liked} of the last 20 were liked");
    Ok(())
}
