//! fable-embedded from its archive: a device whose user survives a restart, in flash that its mock plays.

use fable_core::record::snapshot::max_len;
use fable_core::{Feasible, Learner, Policy, Request, Settings, Workspace, catalog::TAU2, user_hash};
use fable_embedded::flash::{Blocking, FlashStore, Layout};
use fable_embedded::{Device, mock::Mock};

type Flash = Mock<4, 1024>;
const LAYOUT: Layout = Layout::new::<Blocking<Flash>>(0, 16 * 1024, max_len::<f32>(&TAU2, 8));

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let policy = Policy::new(&TAU2, Settings::default())?;
    let mut store = FlashStore::new(Blocking(Flash::new(16)), LAYOUT);
    store.format(&policy, user_hash("ana"), 8)?;
    for expected in 0..3 {
        let mut learner: Learner<f32, [f32; TAU2.state_len()], 8> = const { Learner::new(&TAU2) };
        let mut workspace: Workspace<f32, [f32; TAU2.workspace_len()]> = const { Workspace::new(&TAU2) };
        store.restore(&policy, &mut learner, &mut workspace)?;
        let mut device = Device::new(learner.bind(&policy, &mut workspace)?, &mut store);
        let decision = device.decide(&Request::new(&TAU2.context(None, [])?, &Feasible::all(&TAU2)))?;
        assert_eq!(decision.id.round, expected + 1, "the rounds before the restart are known");
        device.feedback(decision.id, 0.5)?;
    }
    println!("three rounds, with a restart before each");
    Ok(())
}
