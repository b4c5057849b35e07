//! A snapshot made on one machine goes on on another: loaded from the pinned bytes, a run comes to the pinned end.

use crate::script::TAU2_SCRIPT;
use crate::user::Person;
use crate::{Fnv, Outcome, RING, SEED, outcome};
use fable_core::journal::Observation;
use fable_core::posterior::Storage;
use fable_core::record::Verifier;
use fable_core::settings::{Deadline, Expiry};
use fable_core::{Feasible, Learner, Policy, Request, Scalar, Settings};

/// Loads the end of the `tau2` run in chunks of 256 bytes and plays 60 more rounds in which decisions expire with an imputed
/// reward, preferences are promoted on thin evidence, and every tenth observation is unlearned.
///
/// # Panics
/// When `fable-core` refuses what the run asks for, which is a failure like another outcome.
pub fn resume<T: Scalar, S: Storage<T>>(
    stored: &[u8],
    learner: &mut Learner<T, S, RING>,
    workspace: &mut impl AsMut<[T]>,
) -> Outcome {
    let settings = Settings {
        seed: u64::from(SEED),
        deadline: Deadline::Time(4),
        expiry: Expiry::Impute(-0.125),
        alpha: 0.5,
        prior_radius: Some(0.0),
        min_evidence: 1,
        ..Settings::PAPER
    };
    let policy = Policy::new(TAU2_SCRIPT.catalog, settings).expect("settings in range");
    let mut verifier = Verifier::new(&policy);
    stored.chunks(256).try_for_each(|chunk| verifier.push(chunk)).expect("sound bytes");
    let verified = verifier.finish().expect("a whole snapshot");
    learner.clear();
    let mut loader = learner.load(&policy, verified).expect("a vacant learner with enough room");
    stored.chunks(256).try_for_each(|chunk| loader.push(chunk)).expect("the same bytes");
    loader.finish().expect("all of them");

    let mut user = learner.bind(&policy, workspace).expect("a loaded learner");
    let mut person = Person::new(TAU2_SCRIPT.catalog, SEED + 1);
    let mut decisions = Fnv::new();
    for round in 0..60 {
        let request = person.request();
        let rules = TAU2_SCRIPT.rules[person.below(TAU2_SCRIPT.rules.len())];
        let feasible = Feasible::new(TAU2_SCRIPT.catalog, rules).expect("rules that leave something");
        let wanted = Request::new(&request.context, &feasible).at(round);
        let decision = user.decide(&wanted).expect("a decision");
        decisions.add(u64::from(decision.id.round));
        decisions.add(u64::from(decision.action.0));
        let reward = person.reward(&request, decision.action);
        if person.below(4) > 0 {
            user.feedback(decision.id, reward).expect("a waiting decision");
            if round % 10 == 9 {
                let (context, action, baseline) = (request.context, decision.action, decision.baseline);
                let learned = Observation { context, action, baseline, reward, weight: 1.0 };
                user.unlearn(learned).expect("it was learned");
            }
        }
        decisions.add(u64::from(user.promote(round).expect("declared contrasts")));
    }
    outcome(learner, &decisions)
}
