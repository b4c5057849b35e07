//! Plays the script of `play.c` with the Rust crate and prints the same lines: what a C program has to come to.
//!
//! With `small` it leaves out the catalog `agent`; with `fingerprint` it only prints that of `reminders.rs`.

#[path = "../reminders.rs"]
#[allow(dead_code, reason = "the fingerprint is all that is asked for")]
mod reminders;

use fable_core::catalog::{
    AGENT, Block, Catalog, Component, Condition, Contrast, Definition, Part, TAU2, Term, Value,
};
use fable_core::catalog::{Direction, When};
use fable_core::explain::Source;
use fable_core::host::HostLearner;
use fable_core::preference::{Comparison, Standing, UserRule};
use fable_core::{
    Action, Context, Exploration, Feasible, Policy, Request, Rule, Settings, Statement, User, user_hash,
};
use std::error::Error;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// The lamp of `fable-std/README.md`.
const LAMP: Catalog<'static> = Catalog::new(Definition {
    name: "lamp",
    components: &[
        Component::new(
            "light",
            &[
                Value::new("off", "", 0.0),
                Value::new("warm", "Use warm light.", 0.02),
                Value::new("cold", "Use cold light.", 0.02),
            ],
        )
        .with_null(0),
        Component::new(
            "speech",
            &[Value::new("silent", "", 0.0), Value::new("spoken", "Say what you do.", 0.05)],
        ),
    ],
    tasks: &["reading", "dinner"],
    signals: &["daylight"],
    blocks: &[Block::main(0), Block::main(1).per_task(), Block::pair(0, 1)],
    terms: &[Term::new(-0.2, Condition::Above(0, 0.5), &[Part::new(0, &[1, 2])])],
    contrasts: &[Contrast::new("warm_over_cold_at_dinner", &[1, 0], &[2, 0])
        .when(Some(1), &[0.1])
        .says("The user likes warm light at dinner.", "")],
    rules: &[
        Rule::forbid("calm_dinner", &[Part::new(0, &[2]), Part::new(1, &[1])]).when(Condition::Tasks(&[1]))
    ],
});

/// FNV-1a of everything that was seen.
struct Sum(u64);

impl Sum {
    const NEW: Self = Self(0xcbf2_9ce4_8422_2325);

    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
    }

    fn number(&mut self, number: impl Into<u64>) {
        self.bytes(&number.into().to_le_bytes());
    }

    fn count(&mut self, number: usize) {
        self.number(number as u64);
    }

    fn float(&mut self, number: f64) {
        self.number(number.to_bits());
    }

    fn sign(&mut self, sign: i8) {
        self.number(i64::from(sign).cast_unsigned());
    }
}

struct Scene<'p> {
    policy: &'p Policy<'p, f32>,
    sum: Sum,
}

impl Scene<'_> {
    fn context(&self, round: usize) -> Outcome<Context> {
        let definition = self.policy.catalog().definition();
        let signals: Vec<f32> =
            (0..definition.signals.len()).map(|signal| ((round * 7 + signal * 3) % 5) as f32 / 4.0).collect();
        Ok(Context::new(
            self.policy.catalog(),
            (round % (definition.tasks.len() + 1)).checked_sub(1),
            &signals,
        )?)
    }

    fn explain(&mut self, user: &mut User<'_, f32>, id: fable_core::DecisionId) -> Outcome {
        let why = user.explain(id, None, None)?;
        for action in [why.chosen, why.intended, why.other] {
            self.sum.number(action.0);
        }
        self.sum.number(u8::from(why.feasible));
        self.sum.number(u8::from(why.explored));
        why.probed.words().iter().for_each(|word| self.sum.number(*word));
        self.sum.float(why.chosen_score);
        self.sum.float(why.other_score);
        for share in why.shares() {
            let (source, block) = match share.source {
                Source::Default => (0_u8, 0),
                Source::Cost => (1, 0),
                Source::Block(block) => (2, block),
                Source::Draw => (3, 0),
                Source::Bonus => (4, 0),
            };
            self.sum.number(source);
            self.sum.number(block);
            self.sum.count(share.chosen_coordinate.map_or(0, |coordinate| coordinate + 1));
            self.sum.count(share.other_coordinate.map_or(0, |coordinate| coordinate + 1));
            self.sum.float(share.chosen);
            self.sum.float(share.other);
        }
        Ok(())
    }

    fn states(&self, user: &mut User<'_, f32>) -> Outcome {
        let catalog = self.policy.catalog();
        let lamp = catalog.definition().name == "lamp";
        let first = Direction::prefer(catalog, &[(0, 1)], &[(0, 0)], When::Always)?;
        user.onboard(&Statement { direction: first, response: 1.0, precision: 4.0 })?;
        let when = if lamp { When::Task(1) } else { When::Always };
        let second = Direction::prefer(catalog, &[(1, 1)], &[(1, 0)], when)?;
        user.onboard(&Statement { direction: second, response: 1.0, precision: 2.0 })?;
        let third =
            Direction::from_names(catalog, &[(if lamp { "light=warm" } else { "style=concise" }, 1.0)])?;
        user.onboard(&Statement { direction: third, response: 0.5, precision: 1.0 })?;
        Ok(())
    }

    fn round(&mut self, user: &mut User<'_, f32>, round: usize) -> Outcome {
        let catalog = self.policy.catalog();
        let context = self.context(round)?;
        let mut feasible = Feasible::all(catalog);
        if round.is_multiple_of(3) {
            let first = &catalog.definition().components[0];
            let value = first.values[round % first.values.len()].name;
            feasible = if round.is_multiple_of(2) {
                feasible.forbid(catalog, &[(first.name, value)])?
            } else {
                feasible.require(catalog, &[(first.name, value)])?
            };
        }
        let request = Request::new(&context, &feasible).at(u32::try_from(round)?);
        let (best, score) = user.recommend(&request)?;
        self.sum.number(best.0);
        self.sum.float(f64::from(score));
        let decision = user.decide(&request)?;
        print!(" {}", decision.action.0);
        self.sum.number(decision.action.0);
        self.sum.float(decision.baseline);
        self.sum.number(decision.id.round);
        self.sum.number(decision.id.user);
        if round.is_multiple_of(7) {
            self.explain(user, decision.id)?;
        }
        let reward = ((decision.action.index() * 7 + round * 3) % 9) as f64 / 4.0 - 1.0;
        if round.is_multiple_of(11) {
            return Ok(());
        }
        if round.is_multiple_of(5) {
            user.feedback_weighted(decision.id, reward, 0.5, u32::try_from(round)?)?;
        } else {
            user.feedback(decision.id, reward)?;
        }
        if round.is_multiple_of(13) {
            user.observe(&context, Action(u16::try_from(catalog.actions() - 1)?), 0.25)?;
        }
        Ok(())
    }

    fn assess(&mut self, user: &mut User<'_, f32>) -> Outcome {
        for contrast in 0..self.policy.catalog().contrasts().len() {
            let comparison =
                Comparison::declared(self.policy.catalog(), contrast).ok_or("no such contrast")?;
            let known = user.assess(&comparison)?;
            let floats = [
                known.mean,
                known.sd,
                known.probability,
                known.beta,
                known.lower,
                known.upper,
                known.threshold,
            ];
            for number in floats {
                self.sum.float(number);
            }
            self.sum.float(known.gap.distance);
            self.sum.number(known.evidence);
            self.sum.number(known.gap.rounds.unwrap_or(u32::MAX));
            self.sum.sign(known.verdict.sign());
            self.sum.number(u8::from(known.valid));
        }
        Ok(())
    }

    fn profile(&mut self, user: &mut User<'_, f32>) -> Outcome {
        for promotion in user.profile().to_vec() {
            self.sum.number(promotion.contrast);
            self.sum.sign(promotion.verdict.sign());
            self.sum.number(u8::from(promotion.by == fable_core::preference::Certifier::Probes));
            self.sum.number(promotion.round);
            self.sum.number(promotion.evidence);
            let standing = match user.standing(&promotion)? {
                Standing::Holds => 0_u8,
                Standing::Doubtful => 1,
                Standing::Revoked => 2,
            };
            self.sum.number(standing);
            self.sum.float(promotion.lower.into());
            self.sum.float(promotion.upper.into());
        }
        let mut text = String::new();
        user.write_profile(&mut text)?;
        self.sum.count(text.len());
        self.sum.bytes(text.as_bytes());
        Ok(())
    }
}

fn save(what: &str, learner: &HostLearner<f32, 8>) -> Outcome {
    let bytes = learner.to_bytes()?;
    let mut sum = Sum::NEW;
    sum.bytes(&bytes);
    println!("{what} {} {:016x}", bytes.len(), sum.0);
    Ok(())
}

fn scene(name: &str, catalog: &Catalog<'_>, settings: Settings<'_>) -> Outcome {
    let policy = Policy::new(catalog, settings)?;
    println!("{name} {:016x}", policy.fingerprint());
    let mut learner = HostLearner::<f32, 8>::for_policy(&policy);
    learner.start(&policy, user_hash("ana"))?;
    let mut workspace = vec![0.0; catalog.workspace_len()];
    let mut scene = Scene { policy: &policy, sum: Sum::NEW };

    let mut user = learner.bind(&policy, &mut workspace)?;
    scene.states(&mut user)?;
    let never = UserRule::Never { component: 1, value: 0, when: When::Always };
    for round in 1..=60 {
        if round == 20 || round == 40 {
            user.set_user_rule(never, round == 20)?;
        }
        scene.round(&mut user, round)?;
        let promoted = if round.is_multiple_of(16) { user.promote(u32::try_from(round)?)? } else { 0 };
        scene.sum.number(promoted);
    }
    scene.assess(&mut user)?;
    scene.profile(&mut user)?;
    let mut text = String::new();
    catalog.instruct(Action(u16::try_from(catalog.actions() - 1)?), &mut text)?;
    scene.sum.count(text.len());
    scene.sum.bytes(text.as_bytes());
    println!("\nsum {:016x}", scene.sum.0);
    save("snapshot", &learner)?;
    let saved = learner.to_bytes()?;
    print!("after");
    scene.round(&mut learner.bind(&policy, &mut workspace)?, 61)?;
    println!();
    learner.restore(&policy, &saved)?;
    save("loaded", &learner)?;
    learner.bind(&policy, &mut workspace)?.forget()?;
    save("forgotten", &learner)?;
    print!("anew");
    scene.round(&mut learner.bind(&policy, &mut workspace)?, 1)?;
    println!();
    save("last", &learner)
}

fn main() -> Outcome {
    let argument = std::env::args().nth(1).unwrap_or_default();
    if argument == "fingerprint" {
        println!("{:016x}", reminders::POLICY.get().fingerprint());
        return Ok(());
    }
    scene("lamp", &LAMP, Settings { exploration: Exploration::Constant(0.5), ..Settings::DEFAULT })?;
    scene("tau2-paper", &TAU2, Settings::PAPER)?;
    scene("tau2", &TAU2, Settings { probe: 0.5, seed: 7, half_life: Some(40), ..Settings::DEFAULT })?;
    if argument != "small" {
        scene("agent", &AGENT, Settings::DEFAULT)?;
    }
    Ok(())
}
