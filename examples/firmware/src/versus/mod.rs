//! The same rounds of `agent` with Fable and with nalgebra, in turns in one image, printed as one line of `key=value` for
//! `versus.sh`.
//!
//! * `fable_decide`, `fable_learn`: instructions of one [`decide`](Fable::decide) and one [`feedback`](Fable::feedback), on average over
//!   [`ROUNDS`] rounds after [`LESSONS`] observations. `nalgebra_` and `bordered_` are those of the two [`Peer`]s.
//! * `ratio`: what a round takes with nalgebra, plainly written, in rounds with Fable.
//! * `roots`: what of `nalgebra_learn` is square roots in software. nalgebra without `std` takes them from libm, which does not
//!   know that a Cortex-M4F has an instruction for it. A reader may want to subtract it; `versus.sh` does.
//! * `other_actions`: rounds in which nalgebra chose another action; `apart`: the largest difference of two scores.
//!
//! That both do the same thing is checked in every round: they see the same requests, draw the same normals and learn
//! the same rewards, so every score that is looked at agrees within [`TOLERANCE`], and an action that only one of them chose
//! is that close to the best one for the other, too. Otherwise QEMU ends with code 1.
//!
//! Instructions are not cycles: on hardware a division takes longer than a sum.

mod peer;
mod user;

use crate::boards::{Board, exit, println};
use core::hint::black_box;
use fable_core::{
    Action, Decision, Feasible, Learner, Policy, Request, Settings, User as Fable, Workspace, catalog::AGENT,
};
use nalgebra::ComplexField;
use peer::{D, Peer, Tables};
use static_cell::{ConstStaticCell, StaticCell};
use user::{ACTIONS, Moment, User};

/// Observations that all learn before anything is counted: every coordinate occurs in one of them, so that no column of the
/// factor is left as it was, which Fable would skip.
const LESSONS: u32 = 1024;
/// Rounds that are counted.
const ROUNDS: u32 = 100;
/// How far two scores may be apart. Both add up thousands of products in `f32`, in different orders.
const TOLERANCE: f32 = 1e-5;
/// Who the draws are for.
const USER: u64 = 1;

type Memory = Learner<f32, [f32; AGENT.state_len()], 8>;
type Scratch = Workspace<f32, [f32; AGENT.workspace_len()]>;

/// Everyone who takes part.
struct Contenders {
    policy: &'static Policy<'static, f32>,
    fable: Fable<'static, f32>,
    tables: &'static mut Tables,
    nalgebra: &'static mut Peer<D>,
    bordered: &'static mut Peer<{ D + 1 }>,
    /// The largest difference of two scores so far.
    apart: f32,
    /// Rounds in which a peer chose another action.
    other_actions: u32,
}

/// Instructions of deciding and of learning, summed up.
#[derive(Clone, Copy, Default)]
struct Count {
    decide: u32,
    learn: u32,
}

/// Plays, prints and ends. Here and not in the binary: there nalgebra is inlined otherwise, and slower at `s`.
pub fn run<B: Board>() -> ! {
    let contenders = Contenders::new().ok_or("the contenders cannot be set up");
    match contenders.and_then(|mut contenders| contenders.play::<B>().map(|counts| (contenders, counts))) {
        Err(why) => {
            println!("FAIL {why}");
            exit(1)
        }
        Ok((contenders, counts)) => {
            let [fable, nalgebra, bordered] =
                counts.map(|count| Count { decide: count.decide / ROUNDS, learn: count.learn / ROUNDS });
            println!(
                "versus board={} catalog={} fable_decide={} fable_learn={} nalgebra_decide={} nalgebra_learn={} ratio={:.2} \
                 bordered_decide={} bordered_learn={} roots={} other_actions={} apart={:.1e}",
                B::NAME,
                AGENT.definition().name,
                fable.decide,
                fable.learn,
                nalgebra.decide,
                nalgebra.learn,
                nalgebra.round() / fable.round(),
                bordered.decide,
                bordered.learn,
                roots::<B>(),
                contenders.other_actions,
                contenders.apart,
            );
            exit(0)
        }
    }
}

impl Count {
    fn round(self) -> f64 {
        f64::from(self.decide + self.learn)
    }
}

/// Instructions of the square roots in one update of nalgebra, but for the one that each would take in hardware.
fn roots<B: Board>() -> u32 {
    let root = |square: f32| B::measure(|| ComplexField::sqrt(black_box(square))).1.saturating_sub(1);
    (0..D as u16).map(|column| root(16.0 + f32::from(column) / 4.0)).sum()
}

impl Contenders {
    fn new() -> Option<Self> {
        static MEMORY: ConstStaticCell<Memory> = ConstStaticCell::new(Learner::new(&AGENT));
        static WORKSPACE: ConstStaticCell<Scratch> = ConstStaticCell::new(Workspace::new(&AGENT));
        static POLICY: StaticCell<Policy<'static, f32>> = StaticCell::new();
        static TABLES: ConstStaticCell<Tables> = ConstStaticCell::new(Tables::EMPTY);
        static NALGEBRA: StaticCell<Peer<D>> = StaticCell::new();
        static BORDERED: StaticCell<Peer<{ D + 1 }>> = StaticCell::new();
        let policy: &'static Policy<'static, f32> = POLICY.init(Policy::new(&AGENT, Settings::PAPER).ok()?);
        let (memory, tables) = (MEMORY.take(), TABLES.take());
        memory.start(policy, USER).ok()?;
        tables.fill(&AGENT)?;
        Some(Self {
            fable: memory.bind(policy, WORKSPACE.take()).ok()?,
            tables,
            nalgebra: NALGEBRA.init(Peer::new(policy)?),
            bordered: BORDERED.init(Peer::new(policy)?),
            policy,
            apart: 0.0,
            other_actions: 0,
        })
    }

    /// The lessons, the counted rounds and a look at all means; what Fable, nalgebra and nalgebra bordered took.
    fn play<B: Board>(&mut self) -> Result<[Count; 3], &'static str> {
        let mut user = User::new(0xFAB1E);
        self.teach(&mut user)?;
        let (mut counts, feasible) = ([Count::default(); 3], Feasible::all(&AGENT));
        for _ in 0..ROUNDS {
            let moment = user.moment(self.policy).ok_or("a request does not fit the catalog")?;
            self.round::<B>(&moment, &feasible, &mut counts)?;
        }
        for _ in 0..AGENT.definition().tasks.len() {
            let moment = user.moment(self.policy).ok_or("a request does not fit the catalog")?;
            self.compare_means(&moment)?;
        }
        Ok(counts)
    }

    /// Everyone learns the same.
    fn teach(&mut self, user: &mut User) -> Result<(), &'static str> {
        let Self { policy, fable, tables, nalgebra, bordered, .. } = self;
        let mut seen = [false; 256];
        for _ in 0..LESSONS {
            let (moment, action) =
                (user.moment(policy).ok_or("a request does not fit the catalog")?, user.action());
            let reward = moment.reward(action);
            fable.observe(&moment.context, action, reward).map_err(|_| "Fable refuses a lesson")?;
            nalgebra.learn(policy, tables, &moment, action, reward);
            bordered.learn(policy, tables, &moment, action, reward);
            tables
                .features(&moment.context, action)
                .iter()
                .for_each(|coordinate| seen[usize::from(*coordinate)] = true);
        }
        if seen.iter().take(D).all(|seen| *seen) { Ok(()) } else { Err("the lessons leave a coordinate out") }
    }

    /// One round of everyone: decide, agree, learn the reward of Fable's action.
    fn round<B: Board>(
        &mut self,
        moment: &Moment,
        feasible: &Feasible,
        counts: &mut [Count; 3],
    ) -> Result<(), &'static str> {
        let Self { policy, fable, tables, nalgebra, bordered, .. } = self;
        let request = Request::new(&moment.context, feasible);
        let (decision, first) = B::measure(|| fable.decide(&request));
        let (chosen, second) = B::measure(|| nalgebra.decide(policy, tables, USER, moment));
        let (also_chosen, third) = B::measure(|| bordered.decide(policy, tables, USER, moment));
        let decision = decision.map_err(|_| "Fable refuses to decide")?;
        for (count, instructions) in counts.iter_mut().zip([first, second, third]) {
            count.decide += instructions;
        }
        self.compare_draws(moment, &decision, [chosen, also_chosen])?;

        let Self { policy, fable, tables, nalgebra, bordered, .. } = self;
        let (action, reward) = (decision.action, moment.reward(decision.action));
        let (update, first) = B::measure(|| fable.feedback(decision.id, reward));
        let ((), second) = B::measure(|| nalgebra.learn(policy, tables, moment, action, reward));
        let ((), third) = B::measure(|| bordered.learn(policy, tables, moment, action, reward));
        update.map_err(|_| "Fable refuses a reward")?;
        for (count, instructions) in counts.iter_mut().zip([first, second, third]) {
            count.learn += instructions;
        }
        Ok(())
    }

    /// The sampled scores of Fable's best and second-best action, and those of what the peers chose, agree.
    fn compare_draws(
        &mut self,
        moment: &Moment,
        decision: &Decision,
        chosen: [Action; 2],
    ) -> Result<(), &'static str> {
        let explained = self.fable.explain(decision.id, None, None);
        let explained = explained.map_err(|_| "Fable cannot explain")?;
        let (best, second) = (explained.chosen_score as f32, explained.other_score as f32);
        let looked_at = [(explained.chosen, best), (explained.other, second)];
        for (action, score) in looked_at {
            self.agree(score, self.nalgebra.score(self.tables, moment, action))?;
            self.agree(score, self.bordered.score(self.tables, moment, action))?;
        }
        self.agree(best, self.nalgebra.score(self.tables, moment, chosen[0]))?;
        self.agree(best, self.bordered.score(self.tables, moment, chosen[1]))?;
        self.other_actions += u32::from(chosen != [decision.action; 2]);
        Ok(())
    }

    /// The mean scores of all actions agree.
    fn compare_means(&mut self, moment: &Moment) -> Result<(), &'static str> {
        self.nalgebra.mean(self.tables, moment);
        self.bordered.mean(self.tables, moment);
        for action in (0..ACTIONS as u16).map(Action) {
            let predicted = self.fable.predict(&moment.context, action, None);
            let mean = predicted.map_err(|_| "Fable does not predict")?.mean;
            self.agree(mean, self.nalgebra.score(self.tables, moment, action))?;
            self.agree(mean, self.bordered.score(self.tables, moment, action))?;
        }
        Ok(())
    }

    /// Two scores are the same but for rounding.
    fn agree(&mut self, fable: f32, peer: f32) -> Result<(), &'static str> {
        let apart = (fable - peer).abs();
        self.apart = self.apart.max(apart);
        if apart <= TOLERANCE { Ok(()) } else { Err("the scores differ: these are not the same computation") } // also for NaN
    }
}
